"""Where a process too large to be read at once is cut, and what its slices need of each other.

::

    records ──cut before calls──► slices ┬─ requests that end in another slice ──► entries
                                         ├─ borders of regions, gaps ──► one thin timeline
                                         └─ last readings, operations

A process is cut where only one thread calls MPI: the order of its calls is that of its records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline.columns import Integers, Mask, begins_run, row_of
from burstline.formats.intake import FITS, PROBED, Defects
from burstline.formats.raw.events.calls import ENTRY, Operations, names_operation
from burstline.formats.raw.events.counters import (
    CounterReadings,
    Counters,
    LastRead,
    last_known,
)
from burstline.formats.raw.events.timeline import (
    CutPoint,
    Slice,
    ThreadTimeline,
    joined,
    start_of,
    timeline,
)
from burstline.formats.raw.files.folder import RawFile
from burstline.formats.raw.files.layout import LATEST, OF_THE_CALL, Kind
from burstline.formats.raw.files.pieces import Pieces
from burstline.formats.raw.processes.clocks import Correction
from burstline.model import read_at_starts

Entries = npt.NDArray[Any]
Member = tuple[int, Any]
"""A record of a request, behind the number of its slice."""

BORDERS: Final = (
    Kind.REGION_ENTER, Kind.REGION_LEAVE, Kind.LOOP_ENTER, Kind.LOOP_LEAVE, Kind.OMP, Kind.GAP,
    Kind.PAUSE, Kind.OVERHEAD, Kind.SAMPLE,
)  # fmt: skip
"""What is put together for a whole process: it goes on across cuts, and is little."""

_OPS: Final = 1 << 16
_FEW: Final = 1 << 16


class CutSlice(NamedTuple):
    """A slice of a thread that calls MPI, and what it needs of others."""

    span: Slice
    # records of others that start or end its requests
    earlier: Entries
    later: Entries
    readings: dict[int, LastRead]  # what was read of each counter before its first reading
    unread: ThreadTimeline | None  # readings behind the last call before it


class Cuts(NamedTuple):
    """The slices of a thread that calls MPI, and what goes on across their cuts."""

    slices: list[CutSlice]  # in order
    at_starts: Mask  # (counters,) counters that are read where a burst begins
    borders: ThreadTimeline | None  # its records of :data:`BORDERS`, if they are few
    operations: Operations  # those of all its calls
    defects: Defects  # operations that nobody knows


def cut(
    file: RawFile,
    correction: Correction,
    most: int,
    *,
    numbers: Mapping[int, str],
    counters: Counters,
    places: Mapping[int, int],
) -> Cuts:
    """The slices of a thread, of at most so many records as far as calls allow; O(records)."""
    walk = _Walk(file, correction, counters, places)
    for first, last in _slice_ranges(file.records, most):
        walk.take(first, last)
        file.release()
    return walk.finish(numbers)


def _slice_ranges(records: npt.NDArray[Any] | Pieces, most: int) -> Iterator[tuple[int, int]]:
    """First and last record of each slice: each but the first begins with a call."""
    first = 0
    while first < len(records):
        begin, last = first + 1, len(records)
        while begin + most <= len(records) or first + 1 < begin < len(records):
            enters = np.flatnonzero(records[begin : begin + most]["kind"] == Kind.ENTER)
            if len(enters):
                # A slice that is longer than wanted ends with the first call.
                last = begin + int(enters[-1 if begin == first + 1 else 0])
                break
            begin += most
        yield first, last
        first = last


class _Walk:
    """Goes through a thread once, slice after slice."""

    def __init__(
        self,
        file: RawFile,
        correction: Correction,
        counters: Counters,
        places: Mapping[int, int],
    ) -> None:
        self._file, self._correction = file, correction
        self._counters, self._places = counters, places
        self._cut = start_of(file)
        self._cuts: list[CutPoint] = [self._cut]
        self._known: dict[int, LastRead] = {}
        self._readings: list[dict[int, LastRead]] = []
        self._rest: ThreadTimeline | None = None
        self._at_starts = np.zeros(len(counters.names), bool)
        self._missing = set(places.values())
        self._requests, self._probes = _Open(FITS), _Open(PROBED)
        self._visits: list[Member] = []
        self._borders: list[ThreadTimeline] = []
        self._border_count = 0
        self._unread: list[ThreadTimeline | None] = []
        self._entered = np.zeros(_OPS, np.int64)
        self._named = np.zeros(_OPS, np.int64)

    def take(self, first: int, last: int) -> None:
        end = self._cut._replace(record=last)
        whole = Slice(self._cut, end, 0)
        line = timeline(0, self._file, self._correction, Defects(), whole)
        end = self._behind(line, last)
        line.next_ns, line.next_seq = end.enter_ns, end.enter_seq
        leave_ns, leave_seq = line.leaves()
        if len(line.enter) and last < len(self._file.records):
            left = int(line.leave[-1])
            end = end._replace(
                leave_ns=int(leave_ns[-1]),
                leave_seq=int(leave_seq[-1]),
                left=last if left < 0 else first + left,
            )
        self._follow(line, leave_ns, leave_seq)
        self._read(line, leave_ns, leave_seq, end)
        self._count(line)
        self._keep(line.only(*BORDERS))
        self._cut = end
        self._cuts.append(end)

    def _behind(self, line: ThreadTimeline, last: int) -> CutPoint:
        local, seq = line.local_ns, line.last_seq
        enter_ns = line.died_ns
        if last < len(self._file.records):
            time = int(self._file.records[last]["time"])
            enter_local = max(local, time) if time < LATEST else local
            enter_ns = int(self._correction.apply(np.array([enter_local]))[0])
        call = self._cut.call + len(line.enter)
        return CutPoint(last, call, seq, local, enter_ns, seq + 1, left=last)

    def _follow(self, line: ThreadTimeline, leave_ns: Integers, leave_seq: Integers) -> None:
        number = len(self._cuts) - 1
        rows = line.of(*OF_THE_CALL)
        rows = rows[(line.call[rows] >= 0) & (line.records["time"][rows] != 0)]
        entries = np.zeros(len(rows), ENTRY)
        call = line.call[rows]
        entries["record"] = line.records[rows]
        entries["number"] = line.number[rows]
        entries["call"] = call + line.first_call
        enter = line.enter[call]
        entries["enter_ns"], entries["leave_ns"] = line.time_ns[enter], leave_ns[call]
        entries["enter_seq"], entries["leave_seq"] = line.seq[enter], leave_seq[call]
        for start, end in self._requests.feed(entries, number):
            self._visit(start, end)
        for probe, receive in self._probes.feed(entries, number):
            before = self._requests.before(receive, entries)
            self._visit(probe, receive, *([] if before is None else [before]))

    def _visit(self, *members: Member) -> None:
        """Let records of different slices know each other."""
        for place, _ in members:
            self._visits += [(place, entry) for other, entry in members if other != place]

    def _read(
        self, line: ThreadTimeline, leave_ns: Integers, leave_seq: Integers, end: CutPoint
    ) -> None:
        """Remember the last readings before where those of the next slice begin."""
        self._unread.append(self._rest)
        rest = [] if self._rest is None else [self._rest]
        read = joined([*rest, line.only(Kind.COUNTERS)])
        readable, self._rest = read.upto(end.left), joined([read.behind(end.left)])
        self._readings.append(self._known)
        if self._missing and len(line.enter):
            readings = CounterReadings(self._counters, Defects())
            readings.add(readable, self._places, self._known)
            if self._cut.call:
                leave_ns = np.append(self._cut.leave_ns, leave_ns)
                leave_seq = np.append(self._cut.leave_seq, leave_seq)
            bursts = len(leave_ns) - 1
            next_seq = line.seq[line.enter][len(line.enter) - bursts :]
            self._at_starts |= read_at_starts(
                leave_ns[:bursts], leave_seq[:bursts], next_seq, list(readings.columns()[1:])
            )
            self._missing -= set(np.flatnonzero(self._at_starts).tolist())
        self._known = last_known(readable, self._places, self._known)

    def _keep(self, borders: ThreadTimeline) -> None:
        self._borders.append(borders)
        self._border_count += len(borders.kind)
        if self._border_count > _FEW:  # they are read again when they are needed
            self._borders = [borders.upto(0)]

    def _count(self, line: ThreadTimeline) -> None:
        op = line.records["op"]
        self._entered += np.bincount(op[line.enter], minlength=_OPS)
        rows = np.flatnonzero(names_operation(line.kind, op) & (line.call >= 0))
        self._named += np.bincount(op[rows] >> np.uint16(1), minlength=_OPS)

    def finish(self, numbers: Mapping[int, str]) -> Cuts:
        calls = self._cuts[-1].call
        spans = [Slice(begin, end, calls) for begin, end in pairwise(self._cuts)]
        operations, defects = Operations(numbers), Defects()
        for counts in (self._entered, self._named):
            used = np.flatnonzero(counts)
            operations.add(used, counts[used], defects)
        borders = joined(self._borders) if self._border_count <= _FEW else None
        visits: list[list[Entries]] = [[] for _ in spans]
        for place, entry in self._visits:
            visits[place].append(entry)
        slices = []
        columns = spans, visits, self._readings, self._unread
        for span, entries, readings, unread in zip(*columns, strict=True):
            visitors = np.array(entries, ENTRY)
            visitors = visitors[np.unique(visitors["number"], return_index=True)[1]]
            is_earlier = visitors["number"] < span.begin.record
            visits_of_span = visitors[is_earlier], visitors[~is_earlier]
            slices.append(CutSlice(span, *visits_of_span, readings, unread))
        return Cuts(slices, self._at_starts, borders, operations, defects)


def borders_of(
    file: RawFile, correction: Correction, slices: Sequence[CutSlice]
) -> ThreadTimeline:
    """The records of a thread that are put together for all of it."""
    lines = []
    for part in slices:
        lines.append(timeline(0, file, correction, Defects(), part.span).only(*BORDERS))
        file.release()
    return joined(lines)


class _Open:
    """Requests whose last record so far may be ended by one of a later slice."""

    def __init__(self, fits: Mask) -> None:
        self._fits = fits
        self._ends: Mask = np.any(fits, axis=0)
        self._starts: Mask = np.any(fits, axis=1)
        self._open = self._was_open = np.zeros(0, np.int64), np.zeros(0, ENTRY)

    def feed(self, entries: Entries, number: int) -> Iterator[tuple[Member, Member]]:
        """Take in the records of a slice, and give ends in it with their earlier starts."""
        kind = entries["record"]["kind"]
        self._was_open = self._open
        if not len(self._open[0]) and not self._starts[kind].any():
            return
        entries = entries[(self._starts | self._ends)[kind]]
        kind, request = entries["record"]["kind"], entries["record"]["time"]
        order = np.lexsort((self._key(entries), request))
        first = begins_run(request[order])
        begins, ends = entries[order[first]], entries[order[np.append(first, True)[1:]]]
        slices, waiting = self._open
        at = row_of(begins["record"]["time"], waiting["record"]["time"])
        again = at >= 0
        fresh = ends[self._starts[ends["record"]["kind"]]]
        self._open = (
            np.concatenate([slices[~again], np.full(len(fresh), number)]),
            np.concatenate([waiting[~again], fresh]),
        )
        for row in np.flatnonzero(again).tolist():
            start, end = waiting[row], begins[at[row]]
            if self._fits[start["record"]["kind"], end["record"]["kind"]]:
                yield (int(slices[row]), start.copy()), (number, end.copy())

    def before(self, end: Member, entries: Entries) -> Member | None:
        """The record of the same request before one of the slice that was taken in last."""
        number, record = end
        kind = entries["record"]["kind"]
        is_same = entries["record"]["time"] == record["record"]["time"]
        entries = entries[is_same & (self._starts | self._ends)[kind]]
        key = self._key(entries)
        rows = np.lexsort((entries["number"], key))
        place = int(np.flatnonzero(entries["number"][rows] == record["number"])[0])
        if place:
            return number, entries[rows[place - 1]].copy()
        slices, waiting = self._was_open
        row = np.flatnonzero(waiting["record"]["time"] == record["record"]["time"])
        return (int(slices[row[0]]), waiting[row[0]].copy()) if len(row) else None

    def _key(self, entries: Entries) -> Integers:
        is_end = self._ends[entries["record"]["kind"]]
        return np.where(is_end, entries["leave_ns"], entries["enter_ns"])
