"""What lies in each part of a run, of what is not added up call by call: times and costs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from burstline import _core
from burstline._core import Wait
from burstline.columns import AnyIntegers, Floats, Integers, Mask, sums_by
from burstline.synchronisation import INSIDE, PLACES, Intervals, Sync
from burstline.waits import causes
from burstline.waits.causes import MESSAGE_WAITS, Explained, divided_waits
from burstline.waits.metrics import DELAY_TYPES
from burstline.waits.parts import Parts
from burstline.waits.points import PointColumns, column_at
from burstline.waits.severities import Severities
from burstline.waits.stops import segments_of
from burstline.waits.times import Nodes, kinds_of_time, process_threads

_Pieces = tuple[AnyIntegers, AnyIntegers, Integers, Integers]


def apportion(whole: int, weight: Floats, most: Integers | None = None) -> Integers:
    """A whole number in parts by weight, each rounded down or up and none above `most`."""
    if not whole:
        return np.zeros(len(weight), np.int64)
    total = weight.sum()
    exact = weight * (whole / total) if total > 0 else np.full(len(weight), whole / len(weight))
    room = np.full(len(weight), np.iinfo(np.int64).max) if most is None else most
    made = np.minimum(np.floor(exact).astype(np.int64), room)
    order = np.argsort(made - exact, kind="stable")
    while left := whole - int(made.sum()):
        step = 1 if left > 0 else -1
        free = order[(made < room)[order] if left > 0 else (made > 0)[order]]
        made[free[: abs(left)]] += step
        if not len(free):
            made[order[0]] += left
    return made


def add_visits(sync: Sync, severities: Severities, region_enters: Mask) -> Integers:
    """How often call paths were entered, by location; added up in each part, too."""
    parts, visits = severities.parts, np.zeros(severities.shape, np.int64)
    for node, location, time_ns in _visits(sync, region_enters):
        visits += causes.dense(severities.shape, node, location)
        if parts is not None:
            severities.add_parts("visits", parts.counted(location, time_ns))
    return visits


def _visits(
    sync: Sync, region_enters: Mask
) -> Iterator[tuple[AnyIntegers, AnyIntegers, Integers]]:
    """Call path, location and time of each entry, some at a time."""
    calls, regions, (begin, _, root) = sync.calls, sync.regions, sync.programs
    every = np.arange(sync.locations)
    for node, location, time_ns, enters in (
        (root, every, begin, None),
        (calls.node, calls.location, calls.enter_ns, None),
        (regions.node, regions.location, regions.enter_ns, region_enters),
        (sync.computation_node, calls.location, calls.leave_ns, None),
        (sync.resumed, regions.location, regions.leave_ns, None),
    ):
        if not len(node):
            continue
        chosen = node >= 0 if enters is None else (node >= 0) & enters
        rows = slice(None) if chosen.all() else np.flatnonzero(chosen)
        yield node[rows], location[rows], time_ns[rows]


def add_times(sync: Sync, nodes: Nodes, severities: Severities) -> None:
    """Add the tree of times in each part, and how long each thread computed there."""
    parts = severities.parts
    if parts is None:
        return
    location, node, part, length = pieces = _timeline_pieces(sync, nodes, parts)

    categories = list(dict.fromkeys(nodes.category))
    category = np.array([categories.index(each) for each in nodes.category], np.int64)
    shape = len(categories), len(parts.keys)
    by_category, managed = (
        sums_by((category[node], part), length, shape),
        np.zeros(shape, np.int64),
    )
    for _, of, part_of_team, lasts in _team_management(sync, parts):
        np.add.at(managed, (category[of], part_of_team), lasts)
    management = np.arange(len(categories)), managed
    for metric, _, values in kinds_of_time(categories, by_category, management):
        severities.add_parts(metric, values.sum(axis=0))
    severities.computed = computed_in(sync, nodes, parts, pieces)
    severities.spent = sums_by((part, location), length, severities.computed.shape)
    severities.add_parts("time", severities.spent.sum(axis=1))
    if not len(sync.teams.fork_location):
        return
    serial = nodes.parallel[node] < 0
    threads = np.zeros(sync.locations, np.int64)
    idle = np.zeros(len(parts.keys), np.int64)
    missing = severities["omp_limited_parallelism"]
    for master, workers in process_threads(sync):
        threads[master] = len(workers)
        lacks = missing[:, workers].sum(axis=1)
        for parallel in np.flatnonzero(lacks).tolist():
            rows = (location == master) & (nodes.parallel[node] == parallel)
            weight = parts.sums(part[rows], length[rows])
            idle += apportion(int(lacks[parallel]), weight.astype(float))
    severities.add_parts("omp_limited_parallelism", idle)
    idle = idle + parts.sums(part[serial], (length * threads[location])[serial])
    severities.add_parts("omp_idle_threads", idle)
    severities.add_parts("time", idle)


def computed_in(
    sync: Sync, nodes: Nodes, parts: Parts, pieces: _Pieces | None = None
) -> Integers:
    """How long each thread computed in each part, (parts, locations); not to manage teams."""
    computes = nodes.computes
    location, node, part, length = pieces or _timeline_pieces(sync, nodes, parts, computes)
    rows = computes[node]
    shape = len(parts.keys), sync.locations
    computed = sums_by((part[rows], location[rows]), length[rows], shape)
    for where, managed, part_of_team, lasts in _team_management(sync, parts):
        here = computes[managed]
        np.subtract.at(computed, (part_of_team[here], where[here]), lasts[here])
    return computed


def _team_management(sync: Sync, parts: Parts) -> Iterator[_Pieces]:
    """Location, node, part and length of each piece of the forks of teams, and of the joins."""
    region, regions, teams = sync.teams.region, sync.regions, sync.teams
    for begin, lasts in (
        (regions.enter_ns[region] - teams.fork_ns, teams.fork_ns),
        (regions.leave_ns[region], teams.join_ns),
    ):
        row, part, length = parts.split_at_borders(regions.location[region], begin, lasts)
        yield regions.location[region[row]], regions.node[region[row]], part, length


def _timeline_pieces(
    sync: Sync, nodes: Nodes, parts: Parts, wanted: Mask | None = None
) -> _Pieces:
    """Location, node, part and length of each piece of the time line in one part and node."""
    location, node, start, time = time_line(sync, len(nodes))
    if wanted is not None:
        chosen = np.flatnonzero(wanted[node])
        location, node = location[chosen], node[chosen]
        start, time = start[chosen], time[chosen]
    row, part, length = parts.split_at_borders(location, start, time)
    return location[row], node[row], part, length


def time_line(sync: Sync, nodes: int) -> _Pieces:
    """Location, node, start and length of each stretch in which a thread is in one node."""
    # The walk over events is cut behind each of them: what is in a segment ends with its event.
    location, place, stamp = (np.concatenate(parts) for parts in zip(
        *(_event_stamps(rows, ends) for rows, ends in (
            (sync.calls, sync.calls.leave_ns), (sync.regions, _ends_with_joins(sync)),
        )), strict=True,
    ))  # fmt: skip
    order, points = _core.order_within(location, place, sync.locations)
    place, stamp = place[order], stamp[order]
    del location, order
    begin, node, time, _ = segments_of(sync, points, place, nodes)
    # Each location has a segment before each of its events, and one after the last of them.
    pieces = np.diff(begin)
    where = np.repeat(np.arange(sync.locations, dtype=np.int32), np.diff(points) + 1)
    end = np.repeat(np.insert(stamp, points[1:], sync.programs[1]), pieces)
    return np.repeat(where, pieces), node, end - time, time


def _ends_with_joins(sync: Sync) -> Integers:
    """When each region ends, those of teams with the time until the join."""
    leave = sync.regions.leave_ns.copy()
    leave[sync.teams.region] += sync.teams.join_ns
    return leave


def _event_stamps(rows: Intervals, end_ns: Integers) -> tuple[AnyIntegers, Integers, Integers]:
    """Location, place behind it, and stamp of each event of some intervals."""
    chosen = np.flatnonzero(rows.node >= 0)
    where = rows.location[chosen]
    return (
        np.concatenate([where, where]),
        np.concatenate([
            rows.enter_seq[chosen] * PLACES + INSIDE, (rows.leave_seq[chosen] + 1) * PLACES,
        ]),
        np.concatenate([rows.enter_ns[chosen], end_ns[chosen]]),
    )  # fmt: skip


def add_costs(
    sync: Sync, severities: Severities, points: PointColumns, explained: Explained
) -> None:
    """Add costs of delays in each part, as the waits lie that they cause, and kinds of wait."""
    parts = severities.parts
    if parts is None:
        return
    rows = np.flatnonzero(
        (points.wait_ns > 0) & (points.cause >= 0) & (points.type != int(Wait.NONE))
    )
    start = column_at(sync, "enter_ns", points.interval[rows], points.in_team[rows])
    wait, type_ = points.wait_ns[rows], points.type[rows]
    row, part, length = parts.split_at_borders(points.location[rows], start, wait)
    whole = explained.excess_ns[rows] + explained.waits_ns[rows]
    share = np.divide(wait, whole, out=np.zeros(len(rows)), where=whole > 0)
    of_message = np.isin(type_, [int(kind) for kind in MESSAGE_WAITS])
    share = np.where(of_message, np.minimum(1, share), share)

    def weights(value: Floats, kind: int) -> Floats:
        chosen = type_[row] == kind
        scaled = (value / wait)[row[chosen]] * length[chosen]
        return np.bincount(part[chosen], scaled, minlength=len(parts.keys)).astype(float)

    idle = severities.by_part.get("omp_idle_threads", np.zeros(len(parts.keys), np.int64))
    for kind, name in enumerate(DELAY_TYPES):
        for metric, cause in (
            (f"delay_{name}", explained.excess_ns),
            (f"delay_{name}_longterm", explained.waits_ns),
        ):  # fmt: skip
            if metric in severities:
                by = (
                    idle.astype(float)
                    if name == "ompidle"
                    else weights(share * cause[rows], kind)
                )
                severities.add_parts(metric, apportion(int(severities[metric].sum()), by))
    for type_of, whole_metric, metric, complement, value in divided_waits(points, explained):
        most = severities.by_part.get(whole_metric)
        if most is not None:
            weight = weights(value[rows], int(type_of))
            some = apportion(int(severities[metric].sum()), weight, most)
            severities.add_parts(metric, some)
            severities.add_parts(complement, most - some)
