"""The records of a thread on its way to tables: when each happened, and in which call.

::

    records ──► moments (time, ordinal of the event) ──► calls: enter, leave
           └──► records of a call, with its number
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from burstline.columns import begins_run
from burstline.formats.raw.files.layout import EVENTS, LATEST, TIMED, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from burstline.columns import Integers, Mask
    from burstline.formats.intake import Defects
    from burstline.formats.raw.files.folder import RawFile
    from burstline.formats.raw.processes.clocks import Correction


_EVENTS: Final = np.array(EVENTS, np.uint16)
_TIMED: Final = np.array(TIMED, np.uint16)
_COLUMNS: Final = ("records", "kind", "time_ns", "seq", "number")


class Life(NamedTuple):
    """First and last moment of a location, in ns."""

    born_ns: int
    died_ns: int


class Cut(NamedTuple):
    """A place between two records of a thread, before a call, and what went before it."""

    record: int
    """Records before."""
    call: int
    """Calls before."""
    seq: int
    """Ordinal of the last event before, -1 without one."""
    local_ns: int
    """Latest local time before."""
    enter_ns: int
    enter_seq: int
    """When the call after is entered; at the end of the thread, when that ends."""
    leave_ns: int = 0
    leave_seq: int = 0
    """When the call before was left."""
    left: int = 0
    """Record of that leave: readings from there on count for the burst that the cut is in."""


class Slice(NamedTuple):
    """The records of a thread between two cuts."""

    begin: Cut
    end: Cut
    calls: int
    """Calls of the whole thread."""


@dataclass(slots=True, eq=False)
class Timeline:
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
        return np.flatnonzero(np.isin(self.kind, np.array(kinds, np.uint16)))

    def leaves(self) -> tuple[Integers, Integers]:
        """Time and ordinal of the leave of each call.

        A call that was never left ends when the next is entered, the last one with the
        location itself.
        """
        time = np.append(self.time_ns[self.enter[1:]], self.next_ns)[: len(self.enter)]
        seq = np.append(self.seq[self.enter[1:]], self.next_seq)[: len(self.enter)]
        left = self.leave >= 0
        time[left] = self.time_ns[self.leave[left]]
        seq[left] = self.seq[self.leave[left]]
        return time, seq

    def only(self, *kinds: Kind) -> Timeline:
        """The records of some kinds alone, without calls."""
        return self._some(self.of(*kinds))

    def upto(self, record: int) -> Timeline:
        """The records before one of the file, without calls."""
        return self._some(slice(0, int(np.searchsorted(self.number, record))))

    def behind(self, record: int) -> Timeline:
        """One record of the file and those behind it, without calls."""
        return self._some(slice(int(np.searchsorted(self.number, record)), None))

    def _some(self, rows: Integers | slice) -> Timeline:
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
) -> Timeline:
    """The records of a thread, or of a slice of it, with their times and calls; O(records)."""
    begin = start_of(file) if part is None else part.begin
    records = file.records[begin.record : None if part is None else part.end.record]
    kind = np.ascontiguousarray(records["kind"])
    local = _times(file, records, kind, begin, defects)
    time_ns = correction.apply(local)
    seq = np.cumsum(np.isin(kind, _EVENTS)) + begin.seq
    call = np.cumsum(kind == Kind.ENTER) - 1
    enter = np.flatnonzero(kind == Kind.ENTER)
    born_ns = int(correction.apply(np.array([_born(file)]))[0])
    last_ns = max(int(time_ns[-1]) if len(time_ns) else 0, born_ns)
    last_seq = int(seq[-1]) if len(seq) else begin.seq
    found = Timeline(
        location=location,
        name=file.path.name,
        records=records,
        kind=kind,
        time_ns=time_ns,
        seq=seq,
        call=call,
        enter=enter,
        leave=np.zeros(0, np.int64),
        born_ns=born_ns,
        died_ns=last_ns,
        last_seq=last_seq,
        number=np.arange(begin.record, begin.record + len(records)),
        first_call=begin.call,
        calls=len(enter) if part is None else part.calls,
        next_ns=last_ns if part is None else part.end.enter_ns,
        next_seq=last_seq + 1 if part is None else part.end.enter_seq,
        local_ns=int(local[-1]) if len(local) else begin.local_ns,
    )
    found.leave = _leaves(found, defects)
    return found


def joined(lines: Sequence[Timeline]) -> Timeline:
    """Records of a location behind each other, without calls."""
    none = np.zeros(0, np.int64)
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(line, name) for line in lines]) for name in _COLUMNS
    }
    return replace(lines[-1], call=none, enter=none, leave=none, **columns)


def start_of(file: RawFile) -> Cut:
    """The place before the first record of a file."""
    return Cut(0, 0, -1, _born(file), 0, 0)


def born_ns(file: RawFile, correction: Correction) -> int:
    """When a thread was first watched, by the common clock."""
    return int(correction.apply(np.array([_born(file)]))[0])


def _born(file: RawFile) -> int:
    begin = file.outline.first_ns
    if begin < 0:
        begin = min(file.start_ns, LATEST - 1)
    return file.start_ns if 0 < file.start_ns <= begin else begin


def _times(
    file: RawFile,
    records: npt.NDArray[Any],
    kind: npt.NDArray[np.uint16],
    begin: Cut,
    defects: Defects,
) -> Integers:
    """The local time of each record after a cut."""
    time = np.ascontiguousarray(records["time"])
    timed = np.isin(kind, _TIMED)
    absurd = timed & (time >= LATEST)
    defects.note("time_absurd", "loss", _place(file, absurd, begin), np.count_nonzero(absurd))
    timed &= ~absurd
    local = np.full(len(time), begin.local_ns, np.int64)
    local[timed] = np.maximum(time[timed].astype(np.int64), _born(file))
    running = np.maximum(np.maximum.accumulate(local), begin.local_ns)
    back = timed & (local < running)
    defects.note(
        "time_runs_backwards", "error", _place(file, back, begin), np.count_nonzero(back)
    )
    return running


def _place(file: RawFile, wrong: Mask, begin: Cut) -> str:
    first = begin.record + int(wrong.argmax()) if len(wrong) else 0
    return f"{file.path.name}: record {first}"


def _leaves(found: Timeline, defects: Defects) -> Integers:
    leave = np.full(len(found.enter), -1, np.int64)
    rows = np.flatnonzero(found.kind == Kind.LEAVE)
    call = found.call[rows]
    first = begins_run(call)
    inside = first & (call >= 0)
    leave[call[inside]] = rows[inside]
    for kind, wrong in (
        ("leave_without_enter", rows[~inside]),
        ("call_left_as_another", _renamed(found, leave)),
    ):
        if len(wrong):
            number = found.number[wrong[0]]
            defects.note(kind, "loss", f"{found.name}: record {number}", len(wrong))
    return leave


def _renamed(found: Timeline, leave: Integers) -> Integers:
    left = leave >= 0
    op = found.records["op"]
    return leave[left][op[found.enter[left]] != op[leave[left]]]
