"""Clocks that disagree: stamps that break cause and effect, counted, and corrected.

Clocks are first set by the collectives that all leave at once, unless more is wrong then.
What is left is corrected by the controlled logical clock [1]_ [2]_. Forward, whatever would
come before its cause is moved behind it, and all that follows on its location with it; the
shift decays. Backward, each jump is spread over what came before it, as far as what waits for
the events of that location allows.

.. [1] R. Rabenseifner, The controlled logical clock: a global time for trace based software
   monitoring of parallel applications in workstation clusters, PDP 1997,
   DOI 10.1109/EMPDP.1997.581919.
.. [2] D. Becker, R. Rabenseifner, F. Wolf, J. C. Linford, Scalable timestamp synchronization
   for event traces of message-passing applications, Parallel Computing 35(12), 2009,
   DOI 10.1016/j.parco.2008.12.012.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from burstline import _core
from burstline.clocks.restamping import restamped
from burstline.columns import NO_VALUE, UNKNOWN, AnyIntegers, Floats, Integers, prefix_sums
from burstline.model import Trace
from burstline.synchronisation import ReplayModel, Rows, replay

LARGEST_DRIFT: Final = 100e-6
"""No clock is told to run faster or slower than that: crystals do not."""

_LIKELY_DRIFT: Final = 20e-6
_FINEST_NS: Final = 1000.0
_MOST_MEMBERS: Final = 200_000
_ROUNDS: Final = 50


DECAY_BITS: Final = 13
"""A shift decays, and a jump is spread, by 122 ppm of the time: faster than clocks drift."""


@dataclass(frozen=True, slots=True)
class Violations:
    """Rows whose stamp is before that of their cause, and by how much at worst."""

    count: int
    worst_ns: int


def violations(rows: Rows) -> Violations:
    """The violations of the clock condition by recorded stamps; rows need no order."""
    early = _core.source_times(rows.kernel, rows.time_ns)
    early = np.where(early == np.iinfo(np.int64).min, rows.time_ns, early) - rows.time_ns
    return Violations(int(np.count_nonzero(early > 0)), int(early.max(initial=0)))


def controlled_clock(rows: Rows, latency_ns: int = 1) -> Integers:
    """Stamps of rows without violations of the clock condition, (rows,)."""
    time = rows.time_ns
    step = rows.steps(time) - rows.steps(time >> DECAY_BITS)
    model = ReplayModel(step, latency_ns, floor=time)
    replayed = replay(rows, [model])
    [stamps] = replayed.stamps
    return _core.amortised(rows.kernel, replayed.order, time, stamps, latency_ns, DECAY_BITS)


def corrected(trace: Trace, rows: Rows, latency_ns: int = 1) -> tuple[Trace, int]:
    """A trace with moved stamps, and how far the one that moved most did.

    Threads of a process have one clock, and move together. Events between two rows of a
    location move in proportion; those before the first and after the last one, with it.
    """
    [process] = trace.arrays("locations", "process")
    # Clocks set by collectives count, unless the worst violation is greater then.
    set_ = aligned(rows, process)
    is_worse = violations(set_).worst_ns > violations(rows).worst_ns
    together, order = _by_process(rows if is_worse else set_, process)
    shift = np.empty(len(order), np.int64)
    shift[order] = controlled_clock(together, latency_ns)
    shift -= rows.time_ns
    if not shift.any():
        return trace, 0
    return restamped(trace, partial(_moved_stamps, rows, shift)), int(shift.max())


def _by_process(rows: Rows, process: AnyIntegers) -> tuple[Rows, Integers]:
    """The rows of each process in order of time, as if of one location, and which they are.

    As they are where threads of a process break cause and effect among themselves.
    """
    as_they_are = np.arange(len(rows.place))
    names, owner = np.unique(process, return_inverse=True)
    if len(names) == len(process):
        return rows, as_they_are
    position = np.empty(len(as_they_are), np.int64)
    position[replay(rows, []).order] = as_they_are
    owner = owner[rows.location]
    order = np.lexsort((position, rows.time_ns, owner))
    columns = ("place", "time_ns", "signals", "awaits", "of_collective")
    together = replace(
        rows,
        begin=prefix_sums(np.bincount(owner, minlength=len(names))),
        **{name: getattr(rows, name)[order] for name in columns},
    )
    return (rows, as_they_are) if replay(together, []).cycles else (together, order)


def _moved_stamps(
    rows: Rows,
    shift: Integers,
    location: AnyIntegers,
    time: Integers,
    place: Integers,
    *,
    first: bool,
) -> Integers:
    """Moved times, by place where that is told; of rows at one, by the first or the last."""
    moved = time.copy()
    order = np.argsort(location, kind="stable")
    begin = np.searchsorted(location[order], np.arange(len(rows.begin)))
    for k in range(len(rows.begin) - 1):
        span = slice(int(rows.begin[k]), int(rows.begin[k + 1]))
        if not shift[span].any():
            continue
        chosen = order[begin[k] : begin[k + 1]]
        chosen = chosen[(time[chosen] != NO_VALUE) & (time[chosen] != UNKNOWN)]
        moves, has_place = (rows.time_ns[span], shift[span]), place[chosen] >= 0
        for events, key, wanted in (
            (chosen[has_place], rows.place[span], place),
            (chosen[~has_place], rows.time_ns[span], time),
        ):
            moved[events] += _shifts(moves, time[events], key, wanted[events], first=first)
    return moved


def _shifts(
    moves: tuple[Integers, Integers],
    time: Integers,
    key: Integers,
    wanted: Integers,
    *,
    first: bool,
) -> Integers:
    """How far events move, by a rising key of rows: when these were, and how far they do."""
    time_ns, shift = moves
    before = np.searchsorted(key, wanted, "right") - 1
    if first:
        left = np.minimum(np.searchsorted(key, wanted, "left"), len(key) - 1)
        before = np.where(key[left] == wanted, left, before)
    after = np.minimum(before + 1, len(key) - 1)
    before = np.maximum(before, 0)
    length = time_ns[after] - time_ns[before]
    inside = np.clip(time - time_ns[before], 0, length)
    inside[key[before] == wanted] = 0
    share = np.divide(inside, length, out=np.zeros(len(time)), where=length > 0)
    more = np.floor(share * (shift[after] - shift[before]))
    return shift[before] + more.astype(np.int64)


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
