"""Events that describe MPI calls, in the form in which requests and messages are followed.

``core/otf2_records.hpp`` has the kinds of records, and the names of the values of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline._core import RecordKind, TransferEvent
from burstline.columns import Columns, Integers, placed
from burstline.formats.intake import ANY_SOURCE, LARGEST, PROC_NULL, Calls, DetailKind, Details
from burstline.formats.otf2.reading.basis import ArchiveBasis
from burstline.model import NO_VALUE, UNKNOWN

_COLUMN_OF: Final = _core.otf2_record_fields()
_RAW_KINDS: Final = {
    **{
        RecordKind[kind.name]: kind
        for kind in DetailKind
        if kind.name in RecordKind.__members__
    },
    RecordKind.MATCHED_RECEIVE: DetailKind.RECEIVE,
    RecordKind.MATCHED_POST: DetailKind.POST,
    RecordKind.MATCHED_COMPLETE: DetailKind.RECEIVE,
    RecordKind.COLLECTIVE_START: DetailKind.COLLECTIVE,
}
_RAW_KIND: Final = np.array([_RAW_KINDS.get(kind, UNKNOWN) for kind in sorted(RecordKind)])

OF_CALLS: Final = np.flatnonzero(_RAW_KIND != UNKNOWN)
"""Kinds of records that describe a call."""


class EventRecords:
    """Some records of the kernel; ``records["tag"]`` are the tags of those that have one."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns["kind"])

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self._columns[_COLUMN_OF.get(name, name)]

    def pick(self, rows: npt.NDArray[Any]) -> EventRecords:
        """Some of the records."""
        return EventRecords({name: column[rows] for name, column in self._columns.items()})

    def rows_of(self, *kinds: RecordKind) -> Integers:
        """The rows of some kinds, ascending."""
        if len(kinds) == 1:
            return np.flatnonzero(self["kind"] == int(kinds[0]))
        return np.flatnonzero(np.isin(self["kind"], np.array(kinds)))

    def of(self, *kinds: RecordKind) -> EventRecords:
        """The records of some kinds, in order."""
        return self.pick(self.rows_of(*kinds))


def raw_kinds(records: EventRecords) -> Integers:
    """The raw format's kind of each record of a call."""
    return _RAW_KIND[records["kind"]]


REQUEST_MARK: Final = 1 << 62
"""Bit flipped in ids of requests, because 0 is a request in archives and none here."""

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


def with_matches(records: EventRecords, basis: ArchiveBasis) -> tuple[EventRecords, Integers]:
    """The records, of matched messages with their sender and tag, and the probe of each."""
    # MPI_Mprobe ─message─► MPI_Mrecv, or MPI_Imrecv ─request─► its completion. Without a probe
    # they are dropped; the others are changed in place.
    kind = records["kind"]
    matched = records.rows_of(
        RecordKind.MATCHED_RECEIVE, RecordKind.MATCHED_POST, RecordKind.MATCHED_COMPLETE
    )
    if not len(matched):
        return records, np.broadcast_to(np.int64(UNKNOWN), len(kind))
    probe = np.full(len(kind), UNKNOWN, np.int64)
    matched_kind = kind[matched]
    posts = matched[matched_kind == RecordKind.MATCHED_POST]
    done = matched[matched_kind == RecordKind.MATCHED_COMPLETE]
    seeks = matched[matched_kind != RecordKind.MATCHED_COMPLETE]
    probes = records.rows_of(RecordKind.PROBE)
    process = basis.places.process[records["location"]]
    probe[seeks] = _last_before(seeks, probes, records["message"], process, records)
    post = _last_before(done, posts, records["request"], process, records)
    probe[done] = np.where(post >= 0, probe[post], UNKNOWN)
    resolved = matched[probe[matched] >= 0]
    for name in ("partner", "communicator", "tag"):
        records[name][resolved] = records[name][probe[resolved]]
    records["has_request"][matched] = matched_kind != RecordKind.MATCHED_RECEIVE
    is_post = matched_kind == RecordKind.MATCHED_POST
    records["kind"][matched] = np.where(is_post, RecordKind.POST, RecordKind.RECEIVE)
    lost = matched[probe[matched] < 0]
    basis.note("matched_receive_without_probe", records["location"][lost])
    stays = np.ones(len(kind), bool)
    stays[lost] = False
    row = np.append(np.cumsum(stays) - 1, UNKNOWN)
    return records.pick(stays), row[probe[stays]]


def _last_before(
    later: Integers, earlier: Integers, key: Integers, process: Integers, records: EventRecords
) -> Integers:
    """The last earlier record of the key and process of each later one, used once; else -1."""
    # Messages, like requests, are numbered by process, and numbers are used again.
    rows = np.concatenate([earlier, later])
    is_later = np.arange(len(rows)) >= len(earlier)
    order = np.lexsort(
        (is_later, records["seq"][rows], records["time_ns"][rows], key[rows], process[rows])
    )
    rows, is_later = rows[order], is_later[order]
    fits = is_later[1:] & ~is_later[:-1]
    for column in (key, process):
        fits &= column[rows[1:]] == column[rows[:-1]]
    row = placed(rows[:-1][fits], rows[1:][fits], len(key), UNKNOWN)
    return row[later]


def details_of(
    records: EventRecords, basis: ArchiveBasis
) -> tuple[Details, EventRecords, Integers]:
    """Records of calls as details, as the kernel has them, and the rows of their probes."""
    rows = np.flatnonzero(np.isin(records["kind"], OF_CALLS))
    inside = records["call"][rows] >= 0
    if not inside.all():
        _note_outside(records, rows[~inside], basis)
        rows = rows[inside]
    of_calls, probe = with_matches(records.pick(rows), basis)
    _limit_numbers(of_calls, basis)
    kind = of_calls["kind"]
    location = of_calls["location"].astype(np.int64)
    process = basis.places.process[location]
    reference = of_calls["communicator"].copy()
    remote = kind == RecordKind.RMA
    windows = basis.archive.defined.windows
    reference[remote] = [windows.get(row, -1) for row in of_calls["window"][remote].tolist()]
    partnered = np.isin(kind, _PARTNERED) | remote | (probe >= 0)
    named = np.isin(kind, _COLLECTIVES) | partnered
    row = np.full(len(kind), UNKNOWN, np.int64)
    row[named] = basis.communicators.rows(reference[named], process[named])
    lost = np.flatnonzero(named & (row < 0))
    detail = ": communicator {}"
    basis.note("communicator_not_defined", location[lost], detail, reference[lost])
    partner = np.full(len(kind), ANY_SOURCE, np.int64)
    partner[partnered] = basis.communicators.world_ranks(
        reference[partnered], process[partnered], of_calls["partner"][partnered]
    )
    nobody = partnered & (partner < 0)
    partner[nobody] = PROC_NULL
    _note_strangers(of_calls, np.flatnonzero(nobody & (row >= 0)), reference, basis)
    asked = np.where(
        np.isin(kind, _DIRECT), of_calls["has_request"] != 0, ~np.isin(kind, _WITHOUT_REQUEST)
    )
    details = Details(
        kind=raw_kinds(of_calls),
        call=of_calls["call"],
        location=location,
        index=of_calls["seq"],
        request=np.where(asked, of_calls["request"] ^ REQUEST_MARK, 0),
        communicator=row,
        partner=partner,
        tag=np.where(partnered & ~remote, of_calls["tag"], UNKNOWN),
        variant=np.where(remote, of_calls["way"], 0),  # a kernel's `Way` is a `Transfer`
        first=np.zeros(len(kind), np.int64),
        second=of_calls["bytes"],
    )
    return details, of_calls, probe


def _note_outside(records: EventRecords, rows: Integers, basis: ArchiveBasis) -> None:
    # Files and transfers of other paradigms than MPI are no loss.
    kind, event = records["kind"][rows], records["event"][rows]
    is_file, is_remote = kind == RecordKind.IO, kind == RecordKind.RMA
    not_used = {name: is_remote & (event == number) for number, name in _TRANSFERS.items()}
    for name, which in {"IoOperationComplete": is_file, **not_used}.items():
        basis.defects.note_named("event_not_used", "info", name, np.count_nonzero(which))
    basis.note("record_without_call", records["location"][rows[~is_file & ~is_remote]])


def _limit_numbers(records: EventRecords, basis: ArchiveBasis) -> None:
    """Note impossible sizes and tags; sets such sizes to 0 and cuts such tags to 31 bits."""
    kind, location, tag = records["kind"], records["location"], records["tag"]
    tagged = np.isin(kind, _PARTNERED) | (kind == RecordKind.POST)
    wrong = np.flatnonzero(tagged & (tag > _LARGEST_TAG))
    basis.note("tag_absurd", location[wrong], ": tag {}", tag[wrong])
    tag[wrong] &= _LARGEST_TAG
    # `bytes` stand in the place of what collectives sent.
    collectives = (("received", _COLLECTIVES[[kind]]) for kind in range(2))
    for column, kinds in (("bytes", OF_CALLS), *collectives):
        size = records[column]
        wrong = np.flatnonzero(np.isin(kind, kinds) & ((size < 0) | (size >= LARGEST)))
        unsigned = size[wrong].astype(np.uint64)
        basis.note("size_absurd", location[wrong], ": {} bytes", unsigned)
        size[wrong] = 0


def _note_strangers(
    records: EventRecords, rows: Integers, reference: Integers, basis: ArchiveBasis
) -> None:
    remote = records["kind"][rows] == RecordKind.RMA
    for kind, lost in (
        ("message_of_unknown_rank", rows[~remote]),
        ("transfer_of_unknown_rank", rows[remote]),
    ):
        detail = ": rank {} of communicator {}"
        values = records["partner"][lost], reference[lost]
        basis.note(kind, records["location"][lost], detail, *values)


def as_instant_calls(
    details: Details, records: EventRecords, calls: Calls
) -> tuple[Details, Calls]:
    """The records as if each were a call that was entered and left when it was recorded."""
    columns = {
        name: getattr(calls, name)[details.call].astype(np.int64)
        for name in ("location", "call", "operation", "path")
    }
    # A blocking receive is posted when its call is entered; a blocking send ends with it.
    posts = (details.kind == DetailKind.RECEIVE) & (details.request == 0)
    sends = details.kind == DetailKind.SEND
    for name, stamp, of_call in (
        ("enter_ns", "time_ns", posts),
        ("leave_ns", "time_ns", sends),
        ("enter_seq", "seq", posts),
        ("leave_seq", "seq", sends),
    ):
        columns[name] = np.where(of_call, getattr(calls, name)[details.call], records[stamp])
    rows = np.arange(len(details))
    return replace(details, call=rows), Calls(**columns, names=calls.names)


def with_own_requests(halves: Mapping[str, Integers], name: str) -> dict[str, Integers]:
    """Halves whose ids of requests are those of the archive."""
    request = halves[name]
    return {**halves, name: np.where(request == NO_VALUE, NO_VALUE, request ^ REQUEST_MARK)}
