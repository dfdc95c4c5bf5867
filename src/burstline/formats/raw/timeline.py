"""The records of a thread on its way to tables: when each happened, and in which call.

::

    records ──► moments (time, ordinal of the event) ──► calls: enter, leave
           └──► records of a call, with its number
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from burstline.columns import begins_run
from burstline.formats.raw.layout import EVENTS, LATEST, TIMED, Kind

if TYPE_CHECKING:
    import numpy.typing as npt

    from burstline.columns import Integers, Mask
    from burstline.formats.intake import Defects
    from burstline.formats.raw.clocks import Correction
    from burstline.formats.raw.files import RawFile


_EVENTS: Final = np.array(EVENTS, np.uint16)
_TIMED: Final = np.array(TIMED, np.uint16)


class Life(NamedTuple):
    """First and last moment of a location, in ns."""

    born_ns: int
    died_ns: int


@dataclass(slots=True, eq=False)
class Timeline:
    """The records of one location in time.

    Attributes
    ----------
    location : int
        Its row in `locations`.
    name : str
        Of its file.
    records : ndarray of RECORD
        As written.
    kind : ndarray of uint16, shape (records,)
        What each is.
    time_ns : ndarray of int64, shape (records,)
        When it happened, by the common clock: never before the record before it.
    seq : ndarray of int64, shape (records,)
        Ordinal of the last event up to it, -1 before the first.
    call : ndarray of int64, shape (records,)
        The call entered last, -1 before the first.
    enter, leave : ndarray of int64, shape (calls,)
        Its records by call; leave is -1 where the call was never left.
    born_ns, died_ns : int
        First and last moment.
    """

    location: int
    name: str
    records: npt.NDArray[Any]
    kind: npt.NDArray[np.uint16]
    time_ns: Integers
    seq: Integers
    call: Integers
    enter: Integers
    leave: Integers
    born_ns: int
    died_ns: int

    def of(self, *kinds: Kind) -> Integers:
        """Give the records of some kinds, in order."""
        if len(kinds) == 1:
            return np.flatnonzero(self.kind == kinds[0])
        return np.flatnonzero(np.isin(self.kind, np.array(kinds, np.uint16)))

    def leaves(self) -> tuple[Integers, Integers]:
        """Give time and ordinal of the leave of each call.

        A call that was never left ends when the next is entered, the last one with the
        location itself.
        """
        time = np.append(self.time_ns[self.enter[1:]], self.died_ns)[: len(self.enter)]
        seq = np.append(self.seq[self.enter[1:]], self.last_seq + 1)[: len(self.enter)]
        left = self.leave >= 0
        time[left] = self.time_ns[self.leave[left]]
        seq[left] = self.seq[self.leave[left]]
        return time, seq

    @property
    def last_seq(self) -> int:
        """Ordinal of the last event, -1 without any."""
        return int(self.seq[-1]) if len(self.seq) else -1

    def when(self, local: npt.NDArray[np.uint64], correction: Correction) -> Integers:
        """Give further local times by the common clock, within the location's life."""
        sane = np.where(local < LATEST, local, 0).astype(np.int64)
        return np.clip(correction.apply(sane), self.born_ns, self.died_ns)


def timeline(location: int, file: RawFile, correction: Correction, odd: Defects) -> Timeline:
    """Order the records of a thread.

    Parameters
    ----------
    location : int
        Its row in `locations`.
    file : RawFile
        What it wrote.
    correction : Correction
        Of its clock.
    odd : Defects
        Told of times and calls that cannot be.

    Returns
    -------
    Timeline
        The records with their times and calls.

    Notes
    -----
    O(records).
    """
    kind = np.ascontiguousarray(file.records["kind"])
    local, born = _times(file, kind, odd)
    time_ns = correction.apply(local)
    seq = np.cumsum(np.isin(kind, _EVENTS)) - 1
    call = np.cumsum(kind == Kind.ENTER) - 1
    found = Timeline(
        location=location,
        name=file.path.name,
        records=file.records,
        kind=kind,
        time_ns=time_ns,
        seq=seq,
        call=call,
        enter=np.flatnonzero(kind == Kind.ENTER),
        leave=np.zeros(0, np.int64),
        born_ns=int(correction.apply(np.array([born]))[0]),
        died_ns=int(time_ns[-1]) if len(time_ns) else 0,
    )
    found.died_ns = max(found.died_ns, found.born_ns)
    found.leave = _leaves(found, odd)
    return found


def born_ns(file: RawFile, correction: Correction) -> int:
    """Give when a thread was first watched, by the common clock."""
    return int(correction.apply(np.array([_born(file)]))[0])


def _born(file: RawFile) -> int:
    begin = file.outline.first_ns
    if begin < 0:
        begin = min(file.start_ns, LATEST - 1)
    return file.start_ns if 0 < file.start_ns <= begin else begin


def _times(file: RawFile, kind: npt.NDArray[np.uint16], odd: Defects) -> tuple[Integers, int]:
    """Give the local time of each record, and when the thread was first watched."""
    time = np.ascontiguousarray(file.records["time"])
    timed = np.isin(kind, _TIMED)
    absurd = timed & (time >= LATEST)
    odd.note("time_absurd", "loss", _place(file, absurd), np.count_nonzero(absurd))
    timed &= ~absurd
    known = time[timed].astype(np.int64)
    born = _born(file)
    local = np.full(len(time), born, np.int64)
    local[timed] = np.maximum(known, born)
    running = np.maximum.accumulate(local)
    back = timed & (local < running)
    odd.note("time_runs_backwards", "error", _place(file, back), np.count_nonzero(back))
    return running, born


def _place(file: RawFile, wrong: Mask) -> str:
    return f"{file.path.name}: record {int(wrong.argmax()) if len(wrong) else 0}"


def _leaves(found: Timeline, odd: Defects) -> Integers:
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
            odd.note(kind, "loss", f"{found.name}: record {wrong[0]}", len(wrong))
    return leave


def _renamed(found: Timeline, leave: Integers) -> Integers:
    left = leave >= 0
    op = found.records["op"]
    return leave[left][op[found.enter[left]] != op[leave[left]]]
