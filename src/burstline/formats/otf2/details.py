"""Events that describe MPI calls, in the form in which requests and messages are followed.

::

    kernel's records ─► Details: partners by world rank, communicators by row
    a non-blocking collective: what its completion says is told where it was started
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline.formats.otf2.collective_operations import COLLECTIVE_OPERATIONS, NO_ROOT
from burstline.formats.raw.calls import Calls, Details
from burstline.formats.raw.collectives import PART_COLUMNS
from burstline.formats.raw.layout import ANY_SOURCE, Kind
from burstline.schema import NO_VALUE, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from burstline.formats.oddities import Oddities
    from burstline.formats.otf2.communicators import Communicators
    from burstline.formats.otf2.places import Standing
    from burstline.formats.raw.calls import Facts

    Integers = npt.NDArray[np.int64]
    Table = dict[str, npt.NDArray[Any]]

STARTED: Final = 17
"""The kernel's number for the start of a non-blocking collective."""

_PARTNERED: Final = np.array([Kind.SEND, Kind.RECEIVE])
_COLLECTIVES: Final = np.array([Kind.COLLECTIVE, Kind.COLLECTIVE_DONE])
_OF_CALLS: Final = np.array(
    [
        Kind.SEND,
        Kind.SEND_DONE,
        Kind.POST,
        Kind.RECEIVE,
        Kind.CANCELLED,
        Kind.COLLECTIVE,
        STARTED,
        Kind.COLLECTIVE_DONE,
        Kind.RMA,
        Kind.IO,
    ]
)
_ROOT_SELF: Final = 0xFFFFFFFE


def calls_of(table: Table, operations: Sequence[str]) -> Calls:
    """Take the kernel's calls."""
    names = ("location", "call", "operation", "enter_ns", "leave_ns", "enter_seq", "leave_seq")
    columns = {name: table[name] for name in names}
    return Calls(**columns, path=table["path"], names=tuple(operations))


def details_of(
    records: Table,
    standing: Standing,
    communicators: Communicators,
    windows: dict[int, int],
    odd: Oddities,
) -> tuple[Details, Table]:
    """Take the records of calls, and give them with the kernel's own columns.

    Parameters
    ----------
    records : dict of str to ndarray
        The kernel's table.
    standing : Standing
        Where locations stand.
    communicators : Communicators
        Those of MPI.
    windows : dict of int to int
        Communicator of each window.
    odd : Oddities
        Told of records outside of calls, and of communicators that are not defined.

    Returns
    -------
    details : Details
        Requests are counted from 1; 0 is none.
    own : dict of str to ndarray
        The kernel's columns of the same records.
    """
    mine = np.flatnonzero(np.isin(records["kind"], _OF_CALLS))
    homeless = mine[records["call"][mine] < 0]
    if len(homeless):
        text = f"{standing.name[int(records['location'][homeless[0]])]}"
        odd.note("record_without_call", "loss", text, len(homeless))
    mine = mine[records["call"][mine] >= 0]
    own = {name: column[mine] for name, column in records.items()}
    kind = own["kind"].astype(np.int64)
    location = own["location"].astype(np.int64)
    process = standing.places.process[location]
    reference = own["b"].copy()
    remote = kind == Kind.RMA
    reference[remote] = [windows.get(one, -1) for one in own["b"][remote].tolist()]
    named = np.isin(kind, np.append(_PARTNERED, _COLLECTIVES)) | remote
    row = np.full(len(kind), UNKNOWN, np.int64)
    row[named] = communicators.rows(reference[named], process[named])
    lost = np.flatnonzero(named & (row < 0))
    if len(lost):
        text = f"{standing.name[int(location[lost[0]])]}: communicator {reference[lost[0]]}"
        odd.note("communicator_not_defined", "loss", text, len(lost))
    partner = np.full(len(kind), ANY_SOURCE, np.int64)
    partnered = np.isin(kind, _PARTNERED) | remote
    partner[partnered] = communicators.world_ranks(
        reference[partnered], process[partnered], own["a"][partnered]
    )
    partner[partnered & (partner < 0)] = 1 << 30  # nobody: told as a rank that is not there
    details = Details(
        kind=np.where(kind == STARTED, Kind.COLLECTIVE, kind),
        call=own["call"],
        location=location,
        index=own["seq"],
        request=own["e"] + 1,
        communicator=row,
        partner=partner,
        tag=np.where(np.isin(kind, _PARTNERED), own["c"], UNKNOWN),
        op=np.where(remote, own["c"], 0),
        b=np.zeros(len(kind), np.int64),
        c=np.maximum(own["d"], 0),
    )
    details.request[kind == Kind.COLLECTIVE] = 0
    return details, own


def collective_parts(
    details: Details,
    own: Table,
    calls: Calls,
    ends: Integers,
    *,
    standing: Standing,
    communicators: Communicators,
    facts: Facts,
    odd: Oddities,
) -> dict[str, Integers]:
    """Take the parts of collectives, and tell the calls about them.

    Parameters
    ----------
    details, own : Details, dict of str to ndarray
        What :func:`details_of` gave.
    calls : Calls
        All calls.
    ends : ndarray of int64, shape (records,)
        What ended each request.
    standing, communicators
        Where locations stand, and the communicators.
    facts : Facts
        Told of roots and bytes.
    odd : Oddities
        Told of collectives that never completed: nobody knows what they were.

    Returns
    -------
    dict of str to ndarray of int64
        :data:`burstline.formats.raw.collectives.PART_COLUMNS`.
    """
    start, end, blocking = _ended(details, own, ends, standing, odd)
    begin_seq = np.where(blocking, own["f"][start], own["seq"][start])
    begin_ns = np.where(blocking, own["g"][start], own["time_ns"][start])
    location = details.location[start]
    process = standing.places.process[location]
    order = np.lexsort((begin_seq, location, begin_ns, process))
    start, end, blocking, process = start[order], end[order], blocking[order], process[order]
    rank = standing.places.rank[process]
    root = _roots(own, end, process, rank, communicators)
    sent = own["d"][end]
    received = np.where(blocking, own["e"][end], own["f"][end])
    call = details.call[start]
    facts.communicator(call, details.communicator[end])
    facts.root(call[root == rank], rank[root == rank])
    facts.add_bytes("sent", call, np.maximum(sent, 0))
    facts.add_bytes("received", call, np.maximum(received, 0))
    columns = {
        "location": details.location[start],
        "call": calls.call[call],
        "done_call": calls.call[details.call[end]],
        "begin_ns": begin_ns[order],
        "end_ns": own["time_ns"][end],
        "begin_seq": begin_seq[order],
        "end_seq": own["seq"][end],
        "sent_bytes": np.maximum(sent, 0),
        "received_bytes": np.maximum(received, 0),
        "communicator": details.communicator[end],
        "sequence": _sequences(details.communicator[end], process),
        "operation": _operations(calls, call, own["c"][end]),
        "own_root": np.where(root == rank, rank, UNKNOWN),
        "named_root": root,
    }
    return {name: columns[name].astype(np.int64) for name in PART_COLUMNS}


def _ended(
    details: Details, own: Table, ends: Integers, standing: Standing, odd: Oddities
) -> tuple[Integers, Integers, npt.NDArray[np.bool_]]:
    """Give the records that begin and end collectives, and whether they are blocking."""
    start = np.flatnonzero(details.kind == Kind.COLLECTIVE)
    blocking = own["kind"][start] == Kind.COLLECTIVE
    end = np.where(blocking, start, ends[start])
    lost = start[end < 0]
    if len(lost):
        text = standing.name[int(details.location[lost[0]])]
        odd.note("collective_never_completed", "loss", text, len(lost))
    kept = (end >= 0) & (details.communicator[end] >= 0)
    return start[kept], end[kept], blocking[kept]


def _roots(
    own: Table, end: Integers, process: Integers, rank: Integers, communicators: Communicators
) -> Integers:
    told = own["a"][end]
    world = communicators.world_ranks(
        own["b"][end], process, np.where(told < 1 << 31, told, -1)
    )
    return np.where(told == _ROOT_SELF, rank, np.where(told == NO_ROOT, UNKNOWN, world))


def _operations(calls: Calls, call: Integers, told: Integers) -> Integers:
    """Give the operation of each part: that of its call, unless the record names another."""
    codes = {name: code for code, name in enumerate(calls.names)}
    of_call = calls.operation[call].astype(np.int64)
    names = calls.names
    result = of_call.copy()
    pairs = np.stack([of_call, told])
    for code, number in np.unique(pairs, axis=1).T.tolist():
        if not 0 <= number < len(COLLECTIVE_OPERATIONS):
            continue
        plain = names[code].removesuffix("_init").lower()
        named = f"MPI_{COLLECTIVE_OPERATIONS[number]}"
        if plain not in (named.lower(), f"mpi_i{COLLECTIVE_OPERATIONS[number].lower()}") and (
            "Neighbor" not in names[code] and "neighbor" not in names[code]
        ):
            result[(of_call == code) & (told == number)] = codes[named]
    return result


def _sequences(communicator: Integers, process: Integers) -> Integers:
    """Count the parts of each process on each communicator, in order."""
    order = np.lexsort((process, communicator))
    of, by = communicator[order], process[order]
    new = np.ones(len(order), bool)
    new[1:] = (of[1:] != of[:-1]) | (by[1:] != by[:-1])
    starts = np.flatnonzero(new)
    sequence = np.empty(len(order), np.int64)
    sequence[order] = np.arange(len(order)) - np.repeat(
        starts, np.diff(starts, append=len(order))
    )
    return sequence


def stamped(details: Details, own: Table, calls: Calls) -> tuple[Details, Calls]:
    """Give the records as if each were a call of its own, entered and left at its stamp.

    A blocking send is complete when its call is left, and a blocking receive is posted when
    its call is entered.
    """
    columns = {
        name: getattr(calls, name)[details.call].astype(np.int64)
        for name in ("location", "call", "operation", "path")
    }
    posts = (details.kind == Kind.RECEIVE) & (details.request == 0)
    sends = details.kind == Kind.SEND
    for name, stamp, of_call in (
        ("enter_ns", "time_ns", posts),
        ("leave_ns", "time_ns", sends),
        ("enter_seq", "seq", posts),
        ("leave_seq", "seq", sends),
    ):
        columns[name] = np.where(of_call, getattr(calls, name)[details.call], own[stamp])
    rows = np.arange(len(details))
    return replace(details, call=rows), Calls(**columns, names=calls.names)


class Told:
    """Facts of calls, told by records that stand for calls.

    Parameters
    ----------
    facts : Facts
        Those of the calls.
    call : ndarray of int64, shape (records,)
        The call of each record.
    """

    def __init__(self, facts: Facts, call: Integers) -> None:
        self._facts, self._call = facts, call

    def partner(
        self, call: Integers, partner: Integers, tag: Integers, *, received: bool
    ) -> None:
        """Note partners."""
        self._facts.partner(self._call[call], partner, tag, received=received)

    def communicator(self, call: Integers, communicator: Integers) -> None:
        """Note communicators."""
        self._facts.communicator(self._call[call], communicator)

    def add_bytes(self, name: str, call: Integers, size: Integers) -> None:
        """Add to the bytes sent or received."""
        self._facts.add_bytes(name, self._call[call], size)


def without_requests(halves: dict[str, Integers], name: str) -> None:
    """Give the ids of requests back as the source has them."""
    asked = halves[name]
    halves[name] = np.where(asked == NO_VALUE, NO_VALUE, asked - 1)
