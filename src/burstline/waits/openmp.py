"""Waits of threads for each other: forks, barriers of a team, locks."""

from __future__ import annotations

from typing import Final

import numpy as np

from burstline._core import Wait
from burstline.columns import (
    UNKNOWN,
    AnyIntegers,
    Integers,
    distinct,
    enclosing,
    ranges,
    run_lengths,
)
from burstline.synchronisation import INSIDE, PLACES, Sync
from burstline.waits.points import PointList
from burstline.waits.severities import Contributions, Severities

LEAST_COMPARED: Final = 0.01
"""Share of the ticks from which the analysis is made without them, too."""


def add_openmp_waits(sync: Sync, severities: Severities, points: PointList) -> Integers:
    """Add waits of threads and where teams met; the points of forks, by part of a team."""
    forks = _add_forks(sync, severities, points)
    _add_barriers(sync, severities, points)
    locks, regions = sync.locks, sync.regions
    wait = lock_waits(sync)
    acquiring = Contributions.entered(regions, locks.region)
    for kind, rows in (("critical", locks.is_critical), ("api", ~locks.is_critical)):
        severities.add(f"omp_lock_contention_{kind}", acquiring.of(rows), wait[rows])
    return forks


def _add_forks(sync: Sync, severities: Severities, points: PointList) -> Integers:
    teams, regions = sync.teams, sync.regions
    region = teams.region
    node, location, enter = entered = Contributions.entered(regions, region)
    forked = entered._replace(start_ns=enter - teams.fork_ns)
    severities.add("omp_fork", forked, teams.fork_ns)
    severities.add("omp_management", forked, teams.fork_ns)
    left = entered._replace(start_ns=regions.leave_ns[region])
    severities.add("omp_management", left, teams.join_ns)
    earliest = np.full(len(teams.fork_location), np.iinfo(np.int64).max)
    np.minimum.at(earliest, teams.team, enter)
    # A worker's path to its fork goes on with the thread that forked.
    number = np.full(len(teams.fork_location), UNKNOWN, np.int64)
    number[teams.team[teams.forked_here]] = points.count + np.flatnonzero(teams.forked_here)
    return points.add(
        location,
        regions.enter_seq[region] * PLACES + INSIDE,
        node=node,
        in_team=True,
        total=teams.fork_ns,
        completion=enter - earliest[teams.team],
        cause=np.where(teams.forked_here, UNKNOWN, number[teams.team]),
        interval=region,
    )


def _add_barriers(sync: Sync, severities: Severities, points: PointList) -> None:
    barriers, regions = sync.barriers, sync.regions
    region = barriers.region
    begin = barriers.begin[:-1]
    instance = np.repeat(np.arange(len(begin)), run_lengths(begin, len(region)))
    node, location, enter = entered = Contributions.entered(regions, region)
    highest = np.maximum.reduceat(enter, begin)
    rows = np.where(enter == highest[instance], np.arange(len(enter)), len(enter))
    latest = np.minimum.reduceat(rows, begin)[instance]
    wait = highest[instance] - enter
    for kind, chosen in (("e", barriers.is_explicit), ("i", ~barriers.is_explicit)):
        severities.add(f"omp_{kind}barrier_wait", entered.of(chosen), wait[chosen])
    points.add(
        location,
        regions.leave_seq[region] * PLACES + INSIDE,
        node=node,
        type_=int(Wait.OMP_BARRIER),
        in_team=True,
        wait=wait,
        total=regions.leave_ns[region] - enter,
        cause=np.where(wait > 0, points.count + latest, UNKNOWN),
        interval=region,
    )


def lock_waits(sync: Sync) -> Integers:
    """How long each acquisition of a lock waited for who held it."""
    return np.maximum(
        0, sync.locks.before["release_ns"] - sync.regions.enter_ns[sync.locks.region]
    )


def holders_nodes(sync: Sync, rows: Integers) -> AnyIntegers:
    """The call path in which the holder of a lock spent most time while it had it, or -1."""
    locks, regions = sync.locks, sync.regions
    if not len(rows):
        return np.zeros(0, np.int32)
    # Regions in the order of their locations and events, whose ordinals thus become one.
    far = (
        int(max(regions.leave_seq.max(initial=0), locks.acquired["acquire_seq"].max(initial=0)))
        + 2
    )
    offset = regions.location.astype(np.int64) * far
    enter = offset + regions.enter_seq
    around = enclosing(enter, offset + np.minimum(regions.leave_seq, far - 1))
    own_ns = regions.leave_ns - regions.enter_ns
    inner = np.flatnonzero(around >= 0)
    own_ns = own_ns - np.bincount(around[inner], own_ns[inner], len(own_ns)).astype(np.int64)
    holder = locks.before["location"][rows].astype(np.int64) * far
    first, last = (
        np.searchsorted(enter, holder + seq[rows])
        for seq in (locks.before["acquire_seq"], locks.before["release_seq"])
    )
    count = np.maximum(last - first, 0)
    wait = np.repeat(np.arange(len(rows)), count)
    inside = ranges(first, count)
    # What is left is the section's own, whose region was entered last before.
    held_ns = locks.before["release_ns"] - locks.before["acquire_ns"]
    rest_ns = held_ns[rows] - np.bincount(wait, own_ns[inside], len(rows))
    wait = np.append(wait, np.arange(len(rows)))
    node = regions.node[np.append(inside, np.maximum(first - 1, 0))]
    first, pair = distinct(wait, node)
    wait, time_ns = wait[first], np.bincount(pair, np.append(own_ns[inside], rest_ns))
    order = np.lexsort((time_ns, wait))
    longest = order[np.flatnonzero(np.diff(wait[order], append=-1))]
    return node[first][longest].astype(np.int32)


def add_modelled(
    sync: Sync, severities: Severities, constructs: tuple[Integers, Integers], cost: int
) -> None:
    """Add the ticks of calls into the OpenMP runtime to the management of their constructs."""
    regions, teams = sync.regions, sync.teams
    master = np.flatnonzero(teams.forked_here)
    mine = teams.region[master]
    # What lies behind the region, up to the join, is management anyhow.
    joined = mine[regions.leave_seq[mine] >= teams.join_seq[teams.team[master]]]
    for rows in (*constructs, joined):
        inside = rows[regions.leave_ns[rows] - regions.enter_ns[rows] >= cost]
        ticks = np.full(len(inside), cost)
        severities.add("omp_management", Contributions.entered(regions, inside), ticks)
