"""A run as the program alone would need it: no noise of the machine, all else the same.

Each stretch of computation takes what it did, in counted work, times what a unit of work takes
at that place of the program: the median over the stretches of all ranks and occurrences. Noise
adds time and no work, so it moves no median, unless it is in half of the stretches. A stretch
inside of MPI or of the OpenMP runtime takes the least it took there. What threads then still
wait for each other is the program's own doing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from burstline import _core
from burstline.clocks import Effort, Readings, efforts_of, readings_of, restamp, stamps_of
from burstline.columns import UNKNOWN, AnyIntegers, Floats, Integers, begins_run, take
from burstline.errors import NotEnoughDataError
from burstline.model import METRICS, Profile, Trace, Values
from burstline.synchronisation import Intervals, Sync, rows_of
from burstline.waits.absence import as_computing, regions_around
from burstline.waits.metrics import WAITS, exclusive_or_zero
from burstline.waits.stops import left_before
from burstline.waits.times import Nodes

_CLOCKS: Final = ("lt_stmt", "lt_bb", "lt_hwctr")
"""Clocks that count work, the most exact one first."""
_CAUSES: Final = "delay"
_CALL_PATHS_TOLD: Final = 20
_SHORT: Final = 0.1
"""Of what a unit of work shares its stretch with on the mean: shorter ones tell no rate."""


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
    extrinsic_causes : ndarray
        What delays cost more than in that run, in ns, (call paths, locations).
    alone : tuple of (int, int, int)
        Call path, rank and ns of computation that one rank alone executes: what is noise there
        cannot be told from work, and counts as the program's own.
    """

    clock: str
    profile: Profile
    extrinsic: dict[str, Integers]
    excess_ns: dict[str, int]
    extrinsic_causes: Integers
    alone: tuple[tuple[int, int, int], ...]

    def totals(self) -> dict[str, tuple[int, int]]:
        """What is intrinsic and what extrinsic of each wait state, ns."""
        return {
            name: (int(self.waits(name).sum()), int(values.sum()))
            for name, values in self.extrinsic.items()
        }

    def waits(self, name: str) -> Integers:
        """The intrinsic waits of a kind, in ns, (call paths, locations)."""
        return exclusive_or_zero(self.profile, name)

    @property
    def causes(self) -> Integers:
        """What delays cost in the run of the program alone, in ns, (call paths, locations)."""
        return self.waits("delay")

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        totals = self.totals()
        call_paths = {
            name: self._call_paths(self.waits(name), values)
            for name, values in self.extrinsic.items()
        }
        call_paths["delay"] = self._call_paths(self.causes, self.extrinsic_causes)
        return {
            "clock": self.clock,
            "metrics": {name: intrinsic for name, (intrinsic, _) in totals.items()},
            "extrinsic": {name: extrinsic for name, (_, extrinsic) in totals.items()},
            "excess": self.excess_ns,
            "call_paths": {name: rows for name, rows in call_paths.items() if rows},
            "one_rank_alone": [
                {"path": list(self.profile.path(row)), "rank": rank, "computing_ns": time_ns}
                for row, rank, time_ns in self.alone
            ],
        }

    def _call_paths(self, intrinsic: Integers, extrinsic: Integers) -> list[dict[str, Any]]:
        """The call paths with most, by rank."""
        ranks = self.profile.locations["rank"].to_pylist()
        return [
            {
                "path": list(self.profile.path(row)),
                "rank": ranks[location],
                "intrinsic": int(intrinsic[row, location]),
                "extrinsic": int(extrinsic[row, location]),
            }
            for row, location in largest_cells(intrinsic, extrinsic, _CALL_PATHS_TOLD)
        ]


def largest_cells(intrinsic: Integers, extrinsic: Integers, most: int) -> list[tuple[int, int]]:
    """Call paths and locations where most is intrinsic or extrinsic, the largest first."""
    larger = np.maximum(intrinsic, extrinsic)
    cells = np.argsort(-larger, axis=None, kind="stable")[:most].tolist()
    places = (divmod(cell, larger.shape[1]) for cell in cells)
    return [(row, location) for row, location in places if larger[row, location] > 0]


def divided(recorded: Profile, alone: Profile, work: Work) -> Intrinsic:
    """The waits of a run beside those that its program alone makes, of the same call paths."""
    extrinsic, excess = {}, {}
    for name in (*WAITS, _CAUSES):
        if name not in recorded.stored and name not in alone.stored:
            continue
        ours, theirs = (exclusive_or_zero(profile, name) for profile in (recorded, alone))
        extrinsic[name] = np.maximum(0, ours - theirs)
        excess[name] = int(np.maximum(0, theirs - ours).sum())
    shape = recorded.call_paths.num_rows, recorded.locations.num_rows
    causes = extrinsic.pop(_CAUSES, np.zeros(shape, np.int64))
    excess.pop(_CAUSES, None)
    rows = zip(*(each.tolist() for each in work.alone), strict=True)
    return Intrinsic(work.clock, alone, extrinsic, excess, causes, tuple(rows))


def with_parts(profile: Profile, intrinsic: Intrinsic) -> Profile:
    """A profile with intrinsic and extrinsic waits, and what causes them, as metrics."""
    table, stored = profile.metrics.to_pylist(), dict(profile.stored)
    titles = {row["name"]: row["title"] for row in intrinsic.profile.metrics.to_pylist()}
    titles = {row["name"]: row["title"] for row in table} | titles
    present = list(intrinsic.extrinsic)
    for kind, title, description, waits, causes in (
        ("intrinsic", "Intrinsic", "as the program alone makes it", intrinsic.waits,
         intrinsic.causes),
        ("extrinsic", "Extrinsic", "as the machine added it", intrinsic.extrinsic.__getitem__,
         intrinsic.extrinsic_causes),
    ):  # fmt: skip
        values = {name: waits(name) for name in present}
        whole = sum(values.values(), np.zeros(causes.shape, np.int64))
        added: list[tuple[str, str, int | None, Integers]] = [
            (f"{kind}_waits", f"{title} waits", None, whole)
        ]
        added += [
            (f"{kind}_{name}", f"{titles[name]}", len(table), each)
            for name, each in values.items()
        ]
        added.append((f"{kind}_delay", f"{title} delay costs", None, causes))
        for name, shown, parent, each in added:
            about = {"title": shown, "description": description, "combined": "sum"}
            row = {"metric": len(table), "parent": parent, "name": name, "unit": "ns"}
            table.append(row | about)
            rows = np.flatnonzero(each.any(axis=1))
            stored[name] = Values(rows.astype(np.int32), each[rows], inclusive=False)
    metrics = pa.Table.from_pylist(table, METRICS)
    return replace(profile, metrics=metrics, stored=stored)


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


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """How long each event's stretch takes without noise, and where noise cannot be told."""

    clock: str
    readings: Readings
    durations: Integers  # (events,) ns
    alone: tuple[Integers, Integers, Integers]  # call path, rank and ns of one rank's own


def work_of(trace: Trace, sync: Sync, nodes_table: pa.Table, clock: str) -> Work:
    """How long what each event ends would have taken without noise."""
    readings, nodes = readings_of(trace), Nodes(nodes_table)
    [counted] = efforts_of(trace, readings, [Effort(clock, call_cost=0)])
    # Who sleeps where others compute does what they do, and what takes longer is noise.
    node = take(as_computing(nodes_table), nodes_before(trace, sync, readings))
    length = lengths(trace, readings)
    computes = nodes.computes
    duration = np.ones(len(readings), np.int64)
    rows = np.flatnonzero(take(computes, node, missing=False))
    pace = _median_paces(node[rows], length[rows], counted.ticks[rows], len(nodes))
    duration[rows] = np.rint(pace[node[rows]] * counted.ticks[rows])
    alone = _of_one_rank(node[rows], sync.rank[readings.location[rows]], length[rows])
    rows = np.flatnonzero((node >= 0) & ~take(computes, node, missing=False))
    kind = 2 * node[rows] + _is_leave(sync, readings)[rows]
    least = np.full(2 * len(nodes), np.iinfo(np.int64).max)
    np.minimum.at(least, kind, length[rows])
    duration[rows] = least[kind]
    return Work(clock, readings, np.maximum(duration, 1, out=duration), alone)


def without_noise(trace: Trace, sync: Sync, work: Work) -> Trace:
    """The trace as its program alone would need it, stamps in ns."""
    [stamps] = stamps_of(rows_of(sync, "without noise"), work.readings, [work.durations])
    return restamp(trace, stamps, left_out=("readings",))


def _median_paces(node: Integers, length: Integers, work: Integers, nodes: int) -> Floats:
    """What a unit of work takes at each place, ns: the median of its stretches.

    The lower one, as noise makes no stretch shorter; of those that hold the work: what a short
    one takes is that of being recorded.
    """
    work = np.maximum(work, 1).astype(np.float64)
    sums, squares = (np.bincount(node, each, nodes) for each in (work, work * work))
    usual = np.divide(squares, sums, out=np.zeros(nodes), where=sums > 0)
    long = np.flatnonzero(work >= _SHORT * usual[node])
    node, rate = node[long], length[long] / work[long]
    order = np.lexsort((rate, node))
    node, rate = node[order], rate[order]
    first = np.flatnonzero(begins_run(node))
    last = np.append(first[1:], len(node)) - 1
    pace = np.zeros(nodes)
    pace[node[first]] = rate[(first + last) // 2]
    return pace


def _of_one_rank(
    node: Integers, rank: AnyIntegers, length: Integers
) -> tuple[Integers, Integers, Integers]:
    """Call paths in which one rank alone computes, that rank, and how long; longest first."""
    nothing = np.zeros(0, np.int64)
    if not len(node) or rank.min() == rank.max():
        return nothing, nothing, nothing
    count = int(node.max()) + 1
    low, high = np.full(count, np.iinfo(np.int64).max), np.full(count, UNKNOWN)
    np.minimum.at(low, node, rank)
    np.maximum.at(high, node, rank)
    time = np.bincount(node, length, count).astype(np.int64)
    alone = np.flatnonzero((low == high) & (time > 0))
    alone = alone[np.argsort(-time[alone], kind="stable")]
    return alone, low[alone], time[alone]


def lengths(trace: Trace, readings: Readings) -> Integers:
    """How long before each event the one before it on its location was, ns; 0 of the first."""
    length = np.diff(readings.times(trace), prepend=0)
    length[readings.begin[:-1][np.diff(readings.begin) > 0]] = 0
    return np.maximum(0, length)


def _is_leave(sync: Sync, readings: Readings) -> Integers:
    """Which events are the leave of a call or a region: 1 or 0."""
    ends = np.zeros(len(readings), np.int64)
    for intervals in (sync.calls, sync.regions):
        row = readings.rows(intervals.location, intervals.leave_seq)
        ends[row] = readings.seq[row] == intervals.leave_seq
    return ends


def nodes_before(trace: Trace, sync: Sync, readings: Readings) -> Integers:
    """The call path that each event ends a stretch of, -1 of none."""
    open_call = _open_before(sync.calls, readings, np.zeros(0, np.int64))
    open_region = _open_before(sync.regions, readings, regions_around(trace, sync))
    entered = [
        take(intervals.enter_seq, row)
        for intervals, row in ((sync.calls, open_call), (sync.regions, open_region))
    ]
    in_call = (open_call >= 0) & ((open_region < 0) | (entered[0] > entered[1]))
    node = np.where(in_call, take(sync.calls.node, open_call), UNKNOWN)
    in_region = ~in_call & (open_region >= 0)
    node = np.where(in_region, take(sync.regions.node, open_region), node)
    outside = ~in_call & ~in_region
    if len(sync.computation_node):
        left = left_before(sync, readings.location, readings.seq.astype(np.int64))
        node = np.where(outside, left, node)
    else:
        node = np.where(outside, sync.programs[2][readings.location], node)
    return node.astype(np.int64)


def _open_before(intervals: Intervals, readings: Readings, parent: Integers) -> Integers:
    """The innermost interval that was open before each event of its location, -1 for none."""
    columns = (intervals.begin, intervals.enter_seq, intervals.leave_seq, parent)
    return _core.innermost(columns, readings.location, readings.seq.astype(np.int64))
