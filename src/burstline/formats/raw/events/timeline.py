"""The records of a thread on its way to tables: when each happened, and in which call.

::

    records ──► moments (time, ordinal of the event) ──► calls: enter, leave
           └──► records of a call, with its number
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline.columns import Integers, begins_run
from burstline.formats.intake import Defects
from burstline.formats.raw.files.folder import RawFile
from burstline.formats.raw.files.layout import EVENTS, LATEST, ONE_THREAD, TIMED, Kind, table_of
from burstline.formats.raw.processes.clocks import Correction
from burstline.model import NEVER_LEFT

_EVENTS: Final = table_of(EVENTS)
_TIMED: Final = table_of(TIMED)
_table_of: Final = cache(table_of)
_COLUMNS: Final = ("records", "kind", "time_ns", "seq", "number")


class Life(NamedTuple):
    """First and last moment of a location, in ns."""

    born_ns: int
    died_ns: int


class CutPoint(NamedTuple):
    """A place between two records of a thread, before a call, and what went before it."""

    record: int  # records before
    call: int  # calls before
    seq: int  # ordinal of the last event before, -1 without one
    local_ns: int  # latest local time before
    # when the call after is entered; at the end of the thread, when that ends
    enter_ns: int
    enter_seq: int
    # when the call before was left
    leave_ns: int = 0
    leave_seq: int = 0
    # record of that leave: readings from there on count for the burst that the cut is in
    left: int = 0


class Slice(NamedTuple):
    """The records of a thread between two cuts."""

    begin: CutPoint
    end: CutPoint
    calls: int  # of the whole thread


@dataclass(slots=True, eq=False)
class ThreadTimeline:
    """The records of one location in time, or some of them in a row."""

    location: int  # its row in `locations`
    name: str  # of its file
    records: npt.NDArray[Any]  # as written
    kind: npt.NDArray[np.uint16]  # (records,) what each is
    # (records,) when it happened, by the common clock: never before the record before it
    time_ns: Integers
    seq: Integers  # (records,) ordinal of the last event up to it, -1 before the first
    call: Integers  # (records,) the call entered last, -1 before the first
    # (calls,) its records by call; leave is -1 where the call was never left
    enter: Integers
    leave: Integers
    # first and last moment of the location
    born_ns: int
    died_ns: int
    last_seq: int  # ordinal of its last event, -1 without any
    number: Integers  # (records,) which record of the file each is
    first_call: int  # which call of the location the first is
    calls: int  # calls of the location
    # when the call after the last one is entered, or the location ends
    next_ns: int
    next_seq: int
    local_ns: int  # latest local time

    def of(self, *kinds: Kind) -> Integers:
        """The records of some kinds, in order."""
        if len(kinds) == 1:
            return np.flatnonzero(self.kind == kinds[0])
        return np.flatnonzero(_table_of(kinds)[self.kind])

    def leaves(self) -> tuple[Integers, Integers]:
        """Time and ordinal of the leave of each call; those never left end with the next."""
        time = np.append(self.time_ns[self.enter[1:]], self.next_ns)[: len(self.enter)]
        seq = np.append(self.seq[self.enter[1:]], self.next_seq)[: len(self.enter)]
        left = self.leave >= 0
        time[left] = self.time_ns[self.leave[left]]
        seq[left] = self.seq[self.leave[left]]
        if self.first_call + len(left) == self.calls:
            seq[-1:][~left[-1:]] = NEVER_LEFT
        return time, seq

    def only(self, *kinds: Kind) -> ThreadTimeline:
        """The records of some kinds alone, without calls."""
        return self._some(self.of(*kinds))

    def upto(self, record: int) -> ThreadTimeline:
        """The records before one of the file, without calls."""
        return self._some(slice(0, int(np.searchsorted(self.number, record))))

    def behind(self, record: int) -> ThreadTimeline:
        """One record of the file and those behind it, without calls."""
        return self._some(slice(int(np.searchsorted(self.number, record)), None))

    def note(self, defects: Defects, kind: str, severity: str, rows: Integers) -> None:
        """Note what is odd in some records, where the first of them stands."""
        place = f"{self.name}: "
        defects.note_rows(kind, severity, "record {}", self.number[rows], place=place)

    def _some(self, rows: Integers | slice) -> ThreadTimeline:
        none = np.zeros(0, np.int64)
        columns: dict[str, Any] = {name: getattr(self, name)[rows] for name in _COLUMNS}
        return replace(self, call=none, enter=none, leave=none, **columns)

    def when(self, local: npt.NDArray[np.uint64], correction: Correction) -> Integers:
        """Further local times by the common clock, within the location's life."""
        sane = np.where(local < LATEST, local, 0).astype(np.int64)
        return np.clip(correction.apply(sane), self.born_ns, self.died_ns)


def timeline(
    location: int,
    file: RawFile,
    correction: Correction,
    defects: Defects,
    part: Slice | None = None,
) -> ThreadTimeline:
    """The records of a thread, or of a slice of it, with their times and calls; O(records)."""
    begin = start_of(file) if part is None else part.begin
    records = file.records[begin.record : None if part is None else part.end.record]
    kind = np.ascontiguousarray(records["kind"])
    local = _local_times(file, records, kind, begin, defects)
    time_ns = correction.apply(local)
    seq = np.cumsum(_EVENTS[kind]) + begin.seq
    call = np.cumsum(kind == Kind.ENTER) - 1
    enter = np.flatnonzero(kind == Kind.ENTER)
    birth_ns = born_ns(file, correction)
    last_ns = max(int(time_ns[-1]) if len(time_ns) else 0, birth_ns)
    last_seq = int(seq[-1]) if len(seq) else begin.seq
    line = ThreadTimeline(
        location=location,
        name=file.path.name,
        records=records,
        kind=kind,
        time_ns=time_ns,
        seq=seq,
        call=call,
        enter=enter,
        leave=np.zeros(0, np.int64),
        born_ns=birth_ns,
        died_ns=last_ns,
        last_seq=last_seq,
        number=np.arange(begin.record, begin.record + len(records)),
        first_call=begin.call,
        calls=len(enter) if part is None else part.calls,
        next_ns=last_ns if part is None else part.end.enter_ns,
        next_seq=last_seq + 1 if part is None else part.end.enter_seq,
        local_ns=int(local[-1]) if len(local) else begin.local_ns,
    )
    line.leave = _leaves_of_calls(line, defects)
    return line


def joined(lines: Sequence[ThreadTimeline]) -> ThreadTimeline:
    """Records of a location behind each other, without calls."""
    none = np.zeros(0, np.int64)
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(line, name) for line in lines]) for name in _COLUMNS
    }
    return replace(lines[-1], call=none, enter=none, leave=none, **columns)


def start_of(file: RawFile) -> CutPoint:
    """The place before the first record of a file."""
    return CutPoint(0, 0, -1, _first_moment(file), 0, 0)


def born_ns(file: RawFile, correction: Correction) -> int:
    """When a thread was first watched, by the common clock."""
    return int(correction.apply(np.array([_first_moment(file)]))[0])


def _first_moment(file: RawFile) -> int:
    begin = file.outline.first_ns
    if begin < 0:
        begin = min(file.start_ns, LATEST - 1)
    return file.start_ns if 0 < file.start_ns <= begin else begin


def _local_times(
    file: RawFile,
    records: npt.NDArray[Any],
    kind: npt.NDArray[np.uint16],
    begin: CutPoint,
    defects: Defects,
) -> Integers:
    """The local time of each record after a cut."""
    time = np.ascontiguousarray(records["time"])
    timed = _TIMED[kind]
    absurd = timed & (time >= LATEST)
    timed &= ~absurd
    # files of a thread each tell when they were opened, not from when on it has events
    early = _EVENTS[kind] & (time < (0 if file.version == ONE_THREAD else file.start_ns))
    local = np.full(len(time), begin.local_ns, np.int64)
    local[timed] = np.maximum(time[timed].astype(np.int64), _first_moment(file))
    running = np.maximum(np.maximum.accumulate(local), begin.local_ns)
    back = timed & (local < running)
    for name, severity, wrong in (
        ("time_absurd", "loss", absurd),
        ("time_before_thread", "error", early),
        ("time_runs_backwards", "error", back),
    ):
        first = begin.record + int(wrong.argmax()) if len(wrong) else 0
        text = f"{file.path.name}: record {first}"
        defects.note(name, severity, text, np.count_nonzero(wrong))
    return running


def _leaves_of_calls(line: ThreadTimeline, defects: Defects) -> Integers:
    leave = np.full(len(line.enter), -1, np.int64)
    rows = np.flatnonzero(line.kind == Kind.LEAVE)
    call = line.call[rows]
    inside = begins_run(call) & (call >= 0)
    leave[call[inside]] = rows[inside]
    left, op = leave >= 0, line.records["op"]
    renamed = leave[left][op[line.enter[left]] != op[leave[left]]]
    line.note(defects, "leave_without_enter", "loss", rows[~inside])
    line.note(defects, "call_left_as_another", "loss", renamed)
    return leave
