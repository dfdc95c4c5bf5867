"""Clocks of processes brought together by the collectives that all leave at once.

Nobody leaves an N x N collective before its last member has come, and then all of them do,
but for how long each takes to wake. Where they seem not to, their clocks differ. Cause and
effect alone bound a clock by the fastest message in each direction; this tells where between
the bounds it most likely is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from burstline.columns import UNKNOWN, AnyIntegers, Floats, Integers
from burstline.synchronisation import Rows

LARGEST_DRIFT: Final = 100e-6
"""No clock is told to run faster or slower than that: crystals do not."""

_LIKELY_DRIFT: Final = 20e-6
_FINEST_NS: Final = 1000.0
_MOST_MEMBERS: Final = 200_000
_ROUNDS: Final = 50


@dataclass(frozen=True, slots=True, eq=False)
class _Meetings:
    """Members of N x N collectives; some, evenly, where there are very many."""

    meeting: Integers
    process: AnyIntegers
    leave_ns: Integers
    # The shortest time that a member was in it: then the last one came and all could leave.
    scale_ns: Floats


def aligned(rows: Rows, process: AnyIntegers) -> Rows:
    """The rows by clocks set and paced so that members leave N x N collectives together.

    Each process's clock gets an offset and a drift: those with the least sum of absolute
    distances, in units of each meeting's scale. No stamp moves back.
    """
    meetings = _meetings_of(rows, process)
    if not len(meetings.meeting):
        return rows
    middle = int(meetings.leave_ns.mean())
    offset, drift = _fitted_clocks(meetings, middle, int(process.max()) + 1)
    owner = process[rows.location]
    ahead = offset[owner] + drift[owner] * (rows.time_ns - middle)
    return replace(rows, time_ns=rows.time_ns + np.rint(ahead.max() - ahead).astype(np.int64))


def _meetings_of(rows: Rows, process: AnyIntegers) -> _Meetings:
    """The members of all sources that exactly those take from who give to it, two or more."""
    location, of_collective = rows.location, rows.of_collective
    sides = []
    for side in (rows.signals, rows.awaits):
        chosen = np.flatnonzero(of_collective & (side != UNKNOWN))
        sides.append(chosen[np.lexsort((location[chosen], side[chosen]))])
    begin, end = sides
    came, left = (np.bincount(side, minlength=len(rows.before)) for side in
                  (rows.signals[begin], rows.awaits[end]))  # fmt: skip
    meets = (came == left) & (came > 1)
    begin, end = begin[meets[rows.signals[begin]]], end[meets[rows.awaits[end]]]
    apart = rows.awaits[end[location[begin] != location[end]]]
    meets[apart] = False
    kept = meets[rows.awaits[end]]
    begin, end = begin[kept], end[kept]
    meeting = np.cumsum(meets)[rows.awaits[end]] - 1
    step = -(-len(end) // _MOST_MEMBERS)
    if step > 1:
        begin, end, meeting = (each[meeting % step == 0] for each in (begin, end, meeting))
        meeting //= step
    inside = (rows.time_ns[end] - rows.time_ns[begin]).astype(float)
    shortest = np.full(int(meeting.max(initial=-1)) + 1, np.inf)
    np.minimum.at(shortest, meeting, inside)
    return _Meetings(
        meeting, process[location[end]], rows.time_ns[end], shortest[meeting] + _FINEST_NS
    )


def _fitted_clocks(meetings: _Meetings, middle: int, processes: int) -> tuple[Floats, Floats]:
    """How far each clock is ahead at `middle`, and how much faster it runs.

    Least absolute distances by weighted least squares in rounds: in turn when each meeting
    ended, and a line through what each process's clock showed then. A drift counts as
    unlikely as far as it is above what crystals have, so that a few meetings tell none.
    """
    meeting, process, scale = meetings.meeting, meetings.process, meetings.scale_ns
    shown = (meetings.leave_ns - middle).astype(float)
    offset, drift = np.zeros(processes), np.zeros(processes)
    weight: Floats = 1 / scale**2
    for _ in range(_ROUNDS):
        true = shown - offset[process] - drift[process] * shown
        ended = np.bincount(meeting, weight * true) / np.bincount(meeting, weight)
        weight = 1 / (scale * np.maximum(np.abs(true - ended[meeting]), _FINEST_NS))
        ahead = shown - ended[meeting]
        count, first, second, sum_, product = (
            np.bincount(process, weight * each, minlength=processes)
            for each in (np.ones(len(shown)), shown, shown**2, ahead, ahead * shown)
        )
        count = np.where(count > 0, count, 1)
        squares = second + 1 / _LIKELY_DRIFT**2 - first**2 / count
        drift = (product - first * sum_ / count) / squares
        drift = np.clip(drift, -LARGEST_DRIFT, LARGEST_DRIFT)
        offset = (sum_ - drift * first) / count
    return offset, drift
