"""Who causes waits: costs of delays, the critical path, and what its imbalance costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline._core import Wait
from burstline.columns import UNKNOWN, AnyIntegers, Floats, Integers, mask_at
from burstline.synchronisation import INSIDE, PLACES, Sync
from burstline.waits.metrics import DELAY_TYPES, METRICS, SUMS, WAITS
from burstline.waits.points import PointColumns, PointList
from burstline.waits.severities import Severities
from burstline.waits.stops import segments_of
from burstline.waits.times import Nodes, process_threads

MESSAGE_WAITS: Final = {
    Wait.LATE_SENDER: ("latesender", "ls"),
    Wait.LATE_RECEIVER: ("latereceiver", "lr"),
}
"""Waits for messages: in names of their metrics, and in those by effect."""


@dataclass(frozen=True, slots=True, eq=False)
class MarkedPoints:
    """Points that are no meetings, by the numbers under which they were added."""

    serial: tuple[Integers, Integers, Integers, Integers]  # location, from, to, idle threads
    end_location: int  # where the critical path ends: in a call of MPI_Finalize, or
    end: int  # UNKNOWN: at the end of the location


def add_marks(sync: Sync, points: PointList, forks: Integers) -> MarkedPoints:
    """Add the borders of serial stretches, and the enter of the last MPI_Finalize."""
    calls = sync.calls
    finals = np.concatenate([np.zeros(0, np.int64), *(each.end for each in sync.worlds)])
    if len(finals):
        last = finals[np.argmax(calls.enter_ns[finals])]
        end_location = int(calls.location[last])
        where = calls.enter_seq[[last]] * PLACES + INSIDE
        end = int(points.add(calls.location[[last]], where)[0])
    else:
        end_location, end = _last_location(sync), UNKNOWN
    return MarkedPoints(_serial_stretches(sync, points, forks), end_location, end)


def _last_location(sync: Sync) -> int:
    latest = np.full(sync.locations, np.iinfo(np.int64).min)
    for rows in (sync.calls, sync.regions):
        np.maximum.at(latest, rows.location, rows.leave_ns)
    latest[sync.thread != 0] = np.iinfo(np.int64).min
    return int(np.argmax(latest)) if len(latest) else 0


def _serial_stretches(
    sync: Sync, points: PointList, forks: Integers
) -> tuple[Integers, Integers, Integers, Integers]:
    teams = sync.teams
    stretches: list[tuple[int, int, int, int]] = []
    if len(teams.fork_location):
        never = np.iinfo(np.int64).max // PLACES - 2
        parts = np.flatnonzero(teams.forked_here & teams.is_outermost[teams.team])
        location = sync.regions.location[teams.region[parts]]
        for master, workers in process_threads(sync):
            mine = parts[location == master]
            seqs = np.append(teams.join_seq[teams.team[mine]], never)
            # Behind the join, which may be the event that leaves the region, too.
            marks = points.add(np.full(len(seqs), master), (seqs + 1) * PLACES)
            borders = zip(
                [UNKNOWN, *marks[:-1].tolist()], [*forks[mine].tolist(), int(marks[-1])],
                strict=True,
            )  # fmt: skip
            stretches += [(master, start, end, len(workers)) for start, end in borders]
    columns = np.array(stretches, np.int64).reshape(-1, 4)
    return columns[:, 0], columns[:, 1], columns[:, 2], columns[:, 3]


@dataclass(frozen=True, slots=True, eq=False)
class StretchTimes:
    """The time of call paths alone between neighbouring points of each location."""

    begin: Integers
    node: AnyIntegers
    time_ns: Integers
    location: AnyIntegers  # (rows,)

    @property
    def kernel(self) -> tuple[AnyIntegers, ...]:
        """The columns that kernels take."""
        return self.begin, self.node, self.time_ns


def stretches_of(sync: Sync, points: PointColumns, nodes: int) -> tuple[StretchTimes, int]:
    """Where the time went between points, and how many intervals outlived those around."""
    begin, node, time_ns, clipped = segments_of(sync, points.begin, points.place, nodes)
    first = begin[points.begin + np.arange(len(points.begin))]
    location = np.repeat(np.arange(sync.locations, dtype=np.int32), np.diff(first))
    return StretchTimes(begin, node, time_ns, location), clipped


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What tells the causes of waits: where threads met, and what each spent in between."""

    sync: Sync
    nodes: Nodes
    severities: Severities
    points: PointColumns
    stretches: StretchTimes
    like_scalasca: bool


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """What each wait was explained by, by point."""

    excess_ns: Floats  # what the causing side did more since both met
    waits_ns: Floats  # what it waited itself
    passed_on_ns: Floats  # how much of the wait any later wait for a message passed on
    blamed: AnyIntegers  # the call path that the causing side spent most more in, or -1
    unexplained: int
    out_of_order: int


def add_delay_costs(of: Evidence, marks: MarkedPoints) -> Explained:
    """Add what delays cost others, and which waits for messages pass on."""
    sync, severities, points = of.sync, of.severities, of.points
    location, start, end, threads = marks.serial
    start = np.where(start >= 0, points.row[start], UNKNOWN)
    end = points.row[end]
    order = np.lexsort((end, location))
    serial = tuple(
        np.ascontiguousarray(column[order]) for column in (location, start, end, threads)
    )
    short, long_, excess, waits, passed_on, blamed, unexplained, out_of_order = _core.delays(
        points.kernel,
        of.stretches.kernel,
        serial,
        len(of.nodes),
        int((sync.thread == 0).sum()),
        of.like_scalasca,
    )
    for name, *costs in zip(DELAY_TYPES, short, long_, strict=True):
        for metric, (node, cost) in zip(
            (f"delay_{name}", f"delay_{name}_longterm"), costs, strict=True
        ):
            by_node = np.argsort(node)
            severities.add_rows(
                metric, node[by_node], cost.reshape(-1, sync.locations)[by_node]
            )
    explained = Explained(excess, waits, passed_on, blamed, unexplained, out_of_order)
    for type_, whole, metric, complement, value in divided_waits(points, explained):
        rows = np.flatnonzero((points.type == int(type_)) & (points.wait_ns > 0))
        severities.add_cells(metric, points.node[rows], points.location[rows], value[rows])
        severities.add_rows(complement, *severities.rows(whole))
        part, values = severities.rows(metric)
        severities.add_rows(complement, part, -values)
    return explained


def divided_waits(
    points: PointColumns, explained: Explained
) -> Iterator[tuple[Wait, str, str, str, Floats]]:
    """Waits for messages by what caused them and what they cause, one kind and all others.

    The type of the waits, their metric, those of both kinds, and how much of each wait is of
    the first kind, (points,).
    """
    whole = explained.excess_ns + explained.waits_ns
    share = np.divide(points.wait_ns, whole, out=np.zeros_like(whole), where=whole > 0)
    indirect = np.minimum(1, share) * explained.waits_ns
    for type_, (wait, letters) in MESSAGE_WAITS.items():
        by_cause = f"mpi_wait_indirect_{wait}", f"mpi_wait_direct_{wait}"
        by_effect = f"mpi_wait_propagating_{letters}", f"mpi_wait_terminal_{letters}"
        yield type_, f"mpi_{wait}", *by_cause, indirect
        yield type_, f"mpi_{wait}", *by_effect, explained.passed_on_ns


def add_sums(severities: Severities) -> None:
    """Add the metrics that are nothing but sums of those below them."""
    for metric in reversed(METRICS):
        if metric.parent in SUMS and metric.name in severities:
            severities.add_rows(metric.parent, *severities.rows(metric.name))
            if metric.name in severities.by_part:
                severities.add_parts(metric.parent, severities.by_part[metric.name])


def add_critical_path(
    of: Evidence, marks: MarkedPoints, starts: Integers, measured: Integers
) -> bool:
    """Add the critical path and what it costs; whether stamps made it a circle."""
    severities, points = of.severities, of.points
    stops = mask_at(points.row[starts], len(points.type))
    end = int(points.row[marks.end]) if marks.end >= 0 else UNKNOWN
    path, _, broken = _core.critical_path(
        points.kernel,
        of.stretches.kernel,
        len(of.nodes),
        marks.end_location,
        end,
        stops.view(np.uint8),
    )
    path = path.reshape(severities.shape)
    severities.add_dense("critical_path", path)
    length = path.sum(axis=1)
    useful = _useful_time(of, measured)
    rows = np.flatnonzero(length > 0)
    activities = np.minimum(length[rows, None], useful[rows])
    severities.add_rows("critical_path_activities", rows, activities)
    beside = useful.copy()
    beside[rows] = np.maximum(0, useful[rows] - length[rows, None])
    severities.add_dense("non_critical_path_activities", np.maximum(0, beside, out=beside))
    _add_path_imbalance(of, path, measured)
    _add_impact(of, path, useful)
    return broken


def _useful_time(of: Evidence, measured: Integers) -> Floats:
    """Time without waits; of workers, up to the last meeting of each parallel region."""
    sync, points, stretches, shape = of.sync, of.points, of.stretches, of.severities.shape
    waits = np.flatnonzero(points.wait_ns > 0)
    if not (sync.thread != 0).any():
        return measured - dense(
            shape, points.node[waits], points.location[waits], points.wait_ns[waits]
        )
    meets = points.in_team & (points.type == int(Wait.OMP_BARRIER))
    is_worker = sync.thread != 0
    # Segment k of a location ends at its point k, and a last one follows.
    segment_of_point = np.arange(len(meets)) + points.location
    ends_at_barrier = np.zeros(len(meets) + sync.locations, bool)
    ends_at_barrier[segment_of_point] = meets
    number = np.repeat(np.arange(len(ends_at_barrier)), np.diff(stretches.begin))
    counts = ~is_worker[stretches.location] | ends_at_barrier[number]
    useful = dense(
        shape, stretches.node[counts], stretches.location[counts], stretches.time_ns[counts]
    )
    counted = ~is_worker[points.location]
    if len(meets):
        counted |= ends_at_barrier[np.minimum(segment_of_point + 1, len(ends_at_barrier) - 1)]
    return useful - dense(
        shape, points.node[counted], points.location[counted], points.wait_ns[counted]
    )


def dense(
    shape: tuple[int, int],
    node: AnyIntegers,
    location: AnyIntegers,
    value: Integers | None = None,
) -> npt.NDArray[Any]:
    """Sums of values by call path and location, in doubles; without values, how many."""
    cells = node.astype(np.int64)
    cells *= shape[1]
    cells += location
    return np.bincount(cells, value, minlength=shape[0] * shape[1]).reshape(shape)


def _add_path_imbalance(of: Evidence, path: Floats, measured: Integers) -> None:
    severities, nodes = of.severities, of.nodes
    busy = measured.copy()
    for metric in ("omp_management", *(WAITS.keys() - {"omp_idle_threads"})):
        rows, values = severities.rows(metric)
        busy[rows] -= values
    busy[[category == "omp_ordered" for category in nodes.category]] = 0
    length, mean = path.sum(axis=1), busy.mean(axis=1)
    if of.like_scalasca:
        # Scalasca compares a call path with all that is below it.
        length, mean = nodes.inclusive(length), nodes.inclusive(mean)
    rows = np.flatnonzero((length > mean) & (length > 0))
    share = path[rows] / length[rows, None]
    severities.add_rows("critical_path_imbalance", rows, share * (length - mean)[rows, None])


def _add_impact(of: Evidence, path: Floats, useful: Floats) -> None:
    """Spread what each location lacks over the critical path, by what it lacks it in."""
    length = path.sum(axis=1, keepdims=True)
    whole = length.sum()
    lacks = whole - useful.sum(axis=0)
    outside = whole - np.where(useful > 0, np.maximum(useful, length), 0).sum(axis=0)
    rows = np.flatnonzero(length > 0)
    length, path, useful = length[rows], path[rows], useful[rows]
    impacts = []
    for shares, lack in (
        (np.maximum(0, length - useful), lacks),
        (np.where(useful == 0, length, 0), outside),
    ):
        total = shares.sum(axis=0)
        if of.like_scalasca and not total.all():  # Scalasca 2.6 divides by 0 and loses all
            impacts.append(np.zeros_like(path))
            continue
        cost = (shares * (lack / np.where(total > 0, total, 1))).sum(axis=1, keepdims=True)
        impacts.append(np.maximum(0, cost) * path / length)
    whole_cost, inter = (np.rint(impact).astype(np.int64) for impact in impacts)
    intra = np.where(whole_cost != 0, whole_cost - inter, 0)
    if not of.like_scalasca:  # it may find more lacking between partitions than in all
        inter, intra = np.minimum(inter, whole_cost), np.maximum(0, intra)
    of.severities.add_rows("critical_imbalance_impact", rows, whole_cost)
    of.severities.add_rows("inter_partition_imbalance", rows, inter)
    of.severities.add_rows("intra_partition_imbalance", rows, intra)
