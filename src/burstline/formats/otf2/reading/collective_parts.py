"""Parts of collectives, from the records that begin and end them.

What the completion of a non-blocking one says is told where it was started.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline._core import RecordKind
from burstline.columns import ordinal_within
from burstline.formats.intake import PART_COLUMNS, Kind
from burstline.formats.otf2.numbers import COLLECTIVE_OPERATIONS, NO_ROOT
from burstline.schema import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from burstline.columns import Integers, Mask
    from burstline.formats.intake import Calls, Defects, Details, Facts
    from burstline.formats.otf2.reading.communicators import Communicators
    from burstline.formats.otf2.reading.places import Standing
    from burstline.formats.otf2.reading.records import Records


_ROOT_SELF: Final = 0xFFFFFFFE


def collective_parts(
    details: Details,
    own: Records,
    calls: Calls,
    ends: Integers,
    *,
    standing: Standing,
    communicators: Communicators,
    odd: Defects,
) -> tuple[dict[str, Integers], Integers]:
    """Parts of collectives, and the call of each; those that never completed are noted.

    `details` and `own` are what :func:`burstline.formats.otf2.reading.details.details_of`
    gave, `ends` what ended each request.
    """
    start, end, blocking = _ended(details, own, ends, standing, odd)
    begin_seq = np.where(blocking, own["begin_seq"][start], own["seq"][start])
    begin_ns = np.where(blocking, own["begin_ns"][start], own["time_ns"][start])
    location = details.location[start]
    process = standing.places.process[location]
    order = np.lexsort((begin_seq, location, begin_ns, process))
    start, end, blocking, process = start[order], end[order], blocking[order], process[order]
    rank = standing.places.rank[process]
    root = _roots(own, end, process, rank, communicators)
    sent = own["sent"][end]
    received = own["received"][end]
    call = details.call[start]
    columns = {
        "location": details.location[start],
        "call": calls.call[call],
        "done_call": calls.call[details.call[end]],
        "begin_ns": begin_ns[order],
        "end_ns": own["time_ns"][end],
        "begin_seq": begin_seq[order],
        "end_seq": own["seq"][end],
        "sent_bytes": sent,
        "received_bytes": received,
        "communicator": details.communicator[end],
        "sequence": ordinal_within(details.communicator[end], process),
        "operation": _operations(calls, call, own["operation"][end]),
        "own_root": np.where(root == rank, rank, UNKNOWN),
        "named_root": root,
    }
    return {name: columns[name].astype(np.int64) for name in PART_COLUMNS}, call


def describe_parts(parts: Mapping[str, Integers], call: Integers, facts: Facts) -> None:
    """Note with the calls the communicator, root and bytes of their collectives."""
    own = parts["own_root"] >= 0
    facts.communicator(call, parts["communicator"])
    facts.root(call[own], parts["own_root"][own])
    facts.add_bytes("sent", call, parts["sent_bytes"])
    facts.add_bytes("received", call, parts["received_bytes"])


def _ended(
    details: Details, own: Records, ends: Integers, standing: Standing, odd: Defects
) -> tuple[Integers, Integers, Mask]:
    """The records that begin and end collectives, and whether they are blocking."""
    start = np.flatnonzero(details.kind == Kind.COLLECTIVE)
    blocking = own["kind"][start] == RecordKind.COLLECTIVE
    end = np.where(blocking, start, ends[start])
    lost = start[end < 0]
    if len(lost):
        text = standing.name[int(details.location[lost[0]])]
        odd.note("collective_never_completed", "loss", text, len(lost))
    kept = (end >= 0) & (details.communicator[end] >= 0)
    return start[kept], end[kept], blocking[kept]


def _roots(
    own: Records, end: Integers, process: Integers, rank: Integers, communicators: Communicators
) -> Integers:
    told = own["root"][end]
    world = communicators.world_ranks(
        own["communicator"][end], process, np.where(told < 1 << 31, told, -1)
    )
    return np.where(told == _ROOT_SELF, rank, np.where(told == NO_ROOT, UNKNOWN, world))


def _operations(calls: Calls, call: Integers, told: Integers) -> Integers:
    """The operation of each part: that of its call, unless the record names another."""
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
