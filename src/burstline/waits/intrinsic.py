"""A run as the program alone would need it: no noise of the machine, all else the same.

Each stretch of computation takes what it did, in counted work, times what a unit of work takes
on the mean at that place of the program, over all ranks and occurrences. A stretch inside of
MPI or of the OpenMP runtime takes the least it took there. What threads then still wait for
each other is the program's own doing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline import _core
from burstline.clocks import Effort, efforts_of, readings_of, restamp, stamps_of
from burstline.columns import UNKNOWN, take
from burstline.errors import NotEnoughDataError
from burstline.sync import rows_of
from burstline.waits.metrics import WAITS
from burstline.waits.times import Nodes

if TYPE_CHECKING:
    import pyarrow as pa

    from burstline.clocks import Readings
    from burstline.columns import Integers
    from burstline.profile import Profile
    from burstline.sync import Intervals, Sync
    from burstline.trace import Trace

_CLOCKS: Final = ("lt_stmt", "lt_bb", "lt_hwctr")
"""Clocks that count work, the most exact one first."""


@dataclass(frozen=True, slots=True, eq=False)
class Intrinsic:
    """What a program makes itself wait, and what the machine added.

    Attributes
    ----------
    clock : str
        Whose efforts were taken as work.
    profile : Profile
        The waits of the run as the program alone would need it, in ns.
    extrinsic : dict of str to ndarray
        By wait state, what was waited more than that, in ns, (call paths, locations).
    excess_ns : dict of str to int
        By wait state, what was waited less than that, in all.
    """

    clock: str
    profile: Profile
    extrinsic: dict[str, Integers]
    excess_ns: dict[str, int]

    def totals(self) -> dict[str, tuple[int, int]]:
        """What is intrinsic and what extrinsic of each wait state, ns."""
        return {
            name: (
                int(self.profile.total(name)) if name in self.profile.stored else 0,
                int(values.sum()),
            )
            for name, values in self.extrinsic.items()
        }

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        totals = self.totals()
        return {
            "clock": self.clock,
            "metrics": {name: intrinsic for name, (intrinsic, _) in totals.items()},
            "extrinsic": {name: extrinsic for name, (_, extrinsic) in totals.items()},
            "excess": self.excess_ns,
        }


def divided(recorded: Profile, alone: Profile, clock: str) -> Intrinsic:
    """The waits of a run beside those that its program alone makes, of the same call paths."""
    extrinsic, excess = {}, {}
    for name in WAITS:
        if name not in recorded.stored and name not in alone.stored:
            continue
        ours, theirs = (
            profile.exclusive(name)
            if name in profile.stored
            else np.zeros((profile.call_paths.num_rows, profile.locations.num_rows), np.int64)
            for profile in (recorded, alone)
        )
        extrinsic[name] = np.maximum(0, ours - theirs)
        excess[name] = int(np.maximum(0, theirs - ours).sum())
    return Intrinsic(clock, alone, extrinsic, excess)


def work_clock(trace: Trace) -> str:
    """The clock whose efforts are taken as work: the first whose counters were recorded."""
    readings = readings_of(trace)
    reason = ""
    for name in _CLOCKS:
        try:
            next(efforts_of(trace, readings, [Effort(name, call_cost=0)]))
        except NotEnoughDataError as error:
            reason = reason or str(error)
        else:
            return name
    raise NotEnoughDataError(f"what is intrinsic is told from counted work: {reason}")


def without_noise(trace: Trace, sync: Sync, nodes_table: pa.Table, clock: str) -> Trace:
    """The trace as its program alone would need it, stamps in ns."""
    readings = readings_of(trace)
    durations = _durations(trace, sync, readings, Nodes(nodes_table), clock)
    [stamps] = stamps_of(rows_of(sync), readings, [durations])
    return restamp(trace, stamps, left_out=("readings",))


def _durations(
    trace: Trace, sync: Sync, readings: Readings, nodes: Nodes, clock: str
) -> Integers:
    """How long what each event ends would have taken without noise, ns."""
    [counted] = efforts_of(trace, readings, [Effort(clock, call_cost=0)])
    node = nodes_before(trace, sync, readings)
    length = lengths(trace, readings)
    computes = np.array([category == "" for category in nodes.category], bool)
    duration = np.ones(len(readings), np.int64)
    rows = np.flatnonzero(take(computes, node, missing=False))
    count = len(nodes)
    work, time = (
        np.bincount(node[rows], values[rows], minlength=count)
        for values in (counted.ticks, length)
    )
    pace = time / np.maximum(work, 1)
    duration[rows] = np.rint(pace[node[rows]] * counted.ticks[rows])
    rows = np.flatnonzero((node >= 0) & ~take(computes, node, missing=False))
    kind = 2 * node[rows] + _ends(sync, readings)[rows]
    least = np.full(2 * count, np.iinfo(np.int64).max)
    np.minimum.at(least, kind, length[rows])
    duration[rows] = least[kind]
    return np.maximum(duration, 1, out=duration)


def lengths(trace: Trace, readings: Readings) -> Integers:
    """How long before each event the one before it on its location was, ns; 0 of the first."""
    length = np.diff(readings.times(trace), prepend=0)
    length[readings.begin[:-1][np.diff(readings.begin) > 0]] = 0
    return np.maximum(0, length)


def _ends(sync: Sync, readings: Readings) -> Integers:
    """Which events are the leave of a call or a region: 1 or 0."""
    ends = np.zeros(len(readings), np.int64)
    for intervals in (sync.calls, sync.regions):
        row = readings.rows(intervals.location, intervals.leave_seq)
        ends[row] = readings.seq[row] == intervals.leave_seq
    return ends


def nodes_before(trace: Trace, sync: Sync, readings: Readings) -> Integers:
    """The call path that each event ends a stretch of, -1 of none."""
    open_call = _open_before(sync.calls, readings, np.zeros(0, np.int64))
    open_region = _open_before(sync.regions, readings, _parents(trace, sync))
    entered = [
        take(intervals.enter_seq, row)
        for intervals, row in ((sync.calls, open_call), (sync.regions, open_region))
    ]
    in_call = (open_call >= 0) & ((open_region < 0) | (entered[0] > entered[1]))
    node = np.where(in_call, take(sync.calls.node, open_call), UNKNOWN)
    in_region = ~in_call & (open_region >= 0)
    node = np.where(in_region, take(sync.regions.node, open_region), node)
    outside = ~in_call & ~in_region
    if len(sync.between):
        last = _left_before(sync.calls, readings)
        node = np.where(outside, take(sync.between, last), node)
    else:
        node = np.where(outside, sync.programs[2][readings.location], node)
    return node.astype(np.int64)


def _parents(trace: Trace, sync: Sync) -> Integers:
    """The region around each region, -1 for none."""
    location, parent = trace.arrays("regions", "location", "parent")
    row = sync.regions.begin[location] + parent
    return np.where((parent >= 0) & (row < np.arange(len(row))), row, UNKNOWN)


def _open_before(intervals: Intervals, readings: Readings, parent: Integers) -> Integers:
    """The innermost interval that was open before each event of its location, -1 for none."""
    columns = (intervals.begin, intervals.enter_seq, intervals.leave_seq, parent)
    return _core.innermost(columns, readings.location, readings.seq.astype(np.int64))


def _left_before(calls: Intervals, readings: Readings) -> Integers:
    """The last call that each event's location had left before it, -1 for none."""
    row = np.full(len(readings), UNKNOWN)
    for place in range(len(calls.begin) - 1):
        first, last = calls.begin[place], calls.begin[place + 1]
        span = slice(int(readings.begin[place]), int(readings.begin[place + 1]))
        seq = readings.seq[span]
        left = np.searchsorted(calls.leave_seq[first:last], seq) - 1
        row[span] = np.where(left >= 0, first + left, UNKNOWN)
    return row
