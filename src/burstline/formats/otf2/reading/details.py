"""Events that describe MPI calls, in the form in which requests and messages are followed.

::

    kernel's records ─► Details: partners by world rank, communicators by row
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline._core import RecordKind, TransferEvent
from burstline.formats.intake import ANY_SOURCE, LARGEST, PROC_NULL, Calls, Details, Kind
from burstline.formats.otf2.reading.matched import resolve
from burstline.formats.otf2.reading.records import OF_CALLS, Records, raw_kinds, raw_transfers
from burstline.schema import NO_VALUE, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from burstline.columns import Columns, Integers
    from burstline.formats.intake import Defects
    from burstline.formats.otf2.reading.communicators import Communicators
    from burstline.formats.otf2.reading.places import Standing


REQUEST_MARK: Final = 1 << 62
"""Requests are told with this bit turned over: 0 is none here, and a request in archives."""

_PARTNERED: Final = np.array([RecordKind.SEND, RecordKind.RECEIVE, RecordKind.PROBE])
_DIRECT: Final = np.array([RecordKind.SEND, RecordKind.RECEIVE])
_WITHOUT_REQUEST: Final = np.array(
    [RecordKind.COLLECTIVE, RecordKind.RMA, RecordKind.IO, RecordKind.PROBE]
)
_TRANSFERS: Final = {
    TransferEvent.PUT: "RmaPut",
    TransferEvent.GET: "RmaGet",
    TransferEvent.ATOMIC: "RmaAtomic",
}
_LARGEST_TAG: Final = (1 << 31) - 1
_COLLECTIVES: Final = np.array([RecordKind.COLLECTIVE, RecordKind.COLLECTIVE_DONE])


def calls_of(table: Columns, operations: Sequence[str]) -> Calls:
    """Take the kernel's calls."""
    names = ("location", "call", "operation", "enter_ns", "leave_ns", "enter_seq", "leave_seq")
    columns = {name: table[name] for name in names}
    return Calls(**columns, path=table["path"], names=tuple(operations))


def details_of(
    records: Records,
    standing: Standing,
    communicators: Communicators,
    windows: dict[int, int],
    odd: Defects,
) -> tuple[Details, Records, Integers]:
    """The records of calls, as details and as the kernel has them, and their probes.

    Requests of details have :data:`REQUEST_MARK` turned over, 0 is none. A probe is the row
    of the record that matched the message of a post or receive, else -1.
    """
    mine = np.flatnonzero(np.isin(records["kind"], OF_CALLS))
    inside = records["call"][mine] >= 0
    if not inside.all():
        _note_homeless(records, mine[~inside], standing, odd)
        mine = mine[inside]
    own, probe = resolve(records.pick(mine), standing.places.process, standing.name, odd)
    _check_numbers(own, standing, odd)
    kind = own["kind"]
    location = own["location"].astype(np.int64)
    process = standing.places.process[location]
    reference = own["communicator"].copy()
    remote = kind == RecordKind.RMA
    reference[remote] = [windows.get(one, -1) for one in own["window"][remote].tolist()]
    partnered = np.isin(kind, _PARTNERED) | remote | (probe >= 0)
    named = np.isin(kind, _COLLECTIVES) | partnered
    row = np.full(len(kind), UNKNOWN, np.int64)
    row[named] = communicators.rows(reference[named], process[named])
    _note_undefined(np.flatnonzero(named & (row < 0)), location, reference, standing, odd)
    partner = np.full(len(kind), ANY_SOURCE, np.int64)
    partner[partnered] = communicators.world_ranks(
        reference[partnered], process[partnered], own["partner"][partnered]
    )
    nobody = partnered & (partner < 0)
    partner[nobody] = PROC_NULL
    _note_strangers(own, np.flatnonzero(nobody & (row >= 0)), reference, standing, odd)
    asked = np.where(
        np.isin(kind, _DIRECT), own["has_request"] != 0, ~np.isin(kind, _WITHOUT_REQUEST)
    )
    details = Details(
        kind=raw_kinds(own),
        call=own["call"],
        location=location,
        index=own["seq"],
        request=np.where(asked, own["request"] ^ REQUEST_MARK, 0),
        communicator=row,
        partner=partner,
        tag=np.where(partnered & ~remote, own["tag"], UNKNOWN),
        variant=raw_transfers(own),
        first=np.zeros(len(kind), np.int64),
        second=own["bytes"],
    )
    return details, own, probe


def _note_homeless(records: Records, at: Integers, standing: Standing, odd: Defects) -> None:
    """Tell of records outside of calls: of files and transfers other paradigms have some."""
    kind = records["kind"][at]
    odd.note_named(
        "event_not_used", "info", "IoOperationComplete", np.count_nonzero(kind == RecordKind.IO)
    )
    remote = records["event"][at[kind == RecordKind.RMA]]
    for event, name in _TRANSFERS.items():
        odd.note_named("event_not_used", "info", name, np.count_nonzero(remote == event))
    lost = at[(kind != RecordKind.IO) & (kind != RecordKind.RMA)]
    if len(lost):
        text = f"{standing.name[int(records['location'][lost[0]])]}"
        odd.note("record_without_call", "loss", text, len(lost))


def _note_undefined(
    lost: Integers, location: Integers, reference: Integers, standing: Standing, odd: Defects
) -> None:
    """Tell of records whose communicator is not defined."""
    if len(lost):
        text = f"{standing.name[int(location[lost[0]])]}: communicator {reference[lost[0]]}"
        odd.note("communicator_not_defined", "loss", text, len(lost))


def _check_numbers(own: Records, standing: Standing, odd: Defects) -> None:
    """Tell of sizes and tags that no run has; such a size is taken for 0.

    Of such a tag 31 bits are kept.
    """
    kind, name = own["kind"], standing.name
    tagged = np.isin(kind, _PARTNERED) | (kind == RecordKind.POST)
    wrong = np.flatnonzero(tagged & (own["tag"] > _LARGEST_TAG))
    if len(wrong):
        text = f"{name[int(own['location'][wrong[0]])]}: tag {own['tag'][wrong[0]]}"
        odd.note("tag_absurd", "loss", text, len(wrong))
        own["tag"][wrong] &= _LARGEST_TAG
    for column, which in (
        ("bytes", np.ones(len(kind), bool)),  # in the place of what collectives sent
        ("received", kind == RecordKind.COLLECTIVE),
        ("received", kind == RecordKind.COLLECTIVE_DONE),
    ):
        size = own[column]
        wrong = np.flatnonzero(which & ((size < 0) | (size >= LARGEST)))
        if len(wrong):
            first = int(size[wrong[0]]) & 0xFFFFFFFFFFFFFFFF
            text = f"{name[int(own['location'][wrong[0]])]}: {first} bytes"
            odd.note("size_absurd", "loss", text, len(wrong))
            size[wrong] = 0


def _note_strangers(
    own: Records, rows: Integers, reference: Integers, standing: Standing, odd: Defects
) -> None:
    """Tell of partners that are no member of their communicator."""
    remote = own["kind"][rows] == RecordKind.RMA
    for kind, lost in (
        ("message_of_unknown_rank", rows[~remote]),
        ("transfer_of_unknown_rank", rows[remote]),
    ):
        if len(lost):
            at = lost[0]
            place = standing.name[int(own["location"][at])]
            text = f"{place}: rank {own['partner'][at]} of communicator {reference[at]}"
            odd.note(kind, "loss", text, len(lost))


def stamped(details: Details, own: Records, calls: Calls) -> tuple[Details, Calls]:
    """The records as if each were a call of its own, entered and left at its stamp.

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


def with_own_requests(halves: Mapping[str, Integers], name: str) -> dict[str, Integers]:
    """Halves whose ids of requests are those of the archive."""
    asked = halves[name]
    return {**halves, name: np.where(asked == NO_VALUE, NO_VALUE, asked ^ REQUEST_MARK)}
