"""What threads of a process wait for: forks and joins, barriers of a team, locks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from burstline.columns import (
    NO_VALUE,
    UNKNOWN,
    AnyIntegers,
    Integers,
    Mask,
    begins_run,
    enclosing,
    row_of,
    take,
)
from burstline.model import Trace
from burstline.synchronisation.intervals import Intervals, Recorded, narrow


@dataclass(frozen=True, slots=True, eq=False)
class Teams:
    """Threads in teams: a row is a thread's part in a parallel region."""

    region: AnyIntegers  # row of `regions`: the parallel region, or its stand-in; rising
    team: AnyIntegers  # row of `teams`
    outer: AnyIntegers  # row of `regions` that begins and ends the part: `region`, or around it
    forked_here: Mask
    fork_ns: Integers  # (parts,) time from the fork to the enter; never negative
    join_ns: Integers  # from the leave to the join
    fork_location: AnyIntegers  # (teams,) the location that forked each team
    forked_ns: Integers  # (teams,) the fork and the join there: when, and event ordinals
    joined_ns: Integers
    fork_seq: Integers
    join_seq: Integers
    is_outermost: Mask  # (teams,) whether no team is around it


@dataclass(frozen=True, slots=True, eq=False)
class Barriers:
    """Barriers of teams: those of an instance are beside each other, in order of location."""

    begin: Integers  # (instances + 1,)
    region: AnyIntegers  # row of `regions`
    is_explicit: Mask


@dataclass(frozen=True, slots=True, eq=False)
class Locks:
    """Acquisitions of locks after a release by somebody else, or oneself."""

    acquired: Recorded  # rows of `locks`
    before: Recorded  # those of who held each before, and released it
    region: AnyIntegers  # row of `regions` that the lock was acquired in
    is_critical: Mask


def teams_of(trace: Trace, node: AnyIntegers) -> tuple[Teams, AnyIntegers]:
    """The parts of threads in teams, and nodes of regions without those that stand twice."""
    location, region, team, enter, leave, enter_seq = trace.arrays(
        "regions", "location", "region", "team", "enter_ns", "leave_ns", "enter_seq"
    )
    ids, parent, fork_location, fork_ns, join_ns, fork_seq, join_seq = trace.arrays(
        "teams", "team", "parent", "fork_location", "fork_ns", "join_ns", "fork_seq", "join_seq"
    )
    stands_for = _has_role(trace, region, "team")
    of_team = np.where(team >= 0, row_of(ids, team), UNKNOWN)
    rows = np.flatnonzero((_has_role(trace, region, "parallel") | stands_for) & (of_team >= 0))
    alone = np.flatnonzero(_has_role(trace, region, "outlined") & (of_team >= 0))
    rows = np.sort(np.append(rows, _without_others(alone, rows, of_team, location)))
    # Parallel regions first: a thread's `team` stands for one only where there is none.
    order = rows[np.lexsort((enter_seq[rows], stands_for[rows], location[rows], of_team[rows]))]
    first = begins_run(of_team[order], location[order])
    by_row = np.argsort(order[first])
    part = order[first][by_row]
    outer = order[np.roll(first, -1)][by_row]
    duplicates = order[~first & stands_for[order]]
    node = node.copy()
    node[duplicates] = UNKNOWN
    chosen = of_team[part]
    return (
        Teams(
            narrow(part),
            narrow(chosen),
            narrow(outer),
            fork_location[chosen] == location[part],
            np.maximum(0, enter[part] - fork_ns[chosen]),
            np.maximum(0, join_ns[chosen] - leave[part]),
            fork_location,
            fork_ns,
            join_ns,
            fork_seq,
            join_seq,
            parent < 0,
        ),
        node,
    )


def _without_others(
    bodies: Integers, parts: Integers, of_team: Integers, location: AnyIntegers
) -> Integers:
    """The first body of a parallel region on each thread of which only bodies are told."""
    if not len(bodies):
        return bodies
    places = int(location.max()) + 1
    key = of_team * places + location
    bodies = bodies[np.unique(key[bodies], return_index=True)[1]]
    return bodies[~np.isin(key[bodies], key[parts])]


def barriers_of(trace: Trace) -> Barriers:
    """The barriers of teams of several threads."""
    location, region, team, ordinal = trace.arrays(
        "regions", "location", "region", "team", "barrier_ordinal"
    )
    explicit = _has_role(trace, region, "barrier")
    barrier = explicit | _has_role(trace, region, "implicit_barrier")
    rows = np.flatnonzero(barrier & (team >= 0) & (ordinal >= 0))
    rows = rows[np.lexsort((location[rows], ordinal[rows], team[rows]))]
    starts = np.flatnonzero(begins_run(team[rows], ordinal[rows]))
    begin = np.append(starts, len(rows)).astype(np.int64)
    return Barriers(begin, narrow(rows), explicit[rows])


def locks_of(trace: Trace, regions: Intervals) -> Locks:
    """The acquisitions of locks that were held before."""
    location, lock, order, acquire_seq, release_ns = trace.arrays(
        "locks", "location", "lock", "order", "acquire_seq", "release_ns"
    )
    (process,) = trace.arrays("locations", "process")
    by_order = np.lexsort((order, lock, process[location]))
    process, lock, order = process[location][by_order], lock[by_order], order[by_order]
    follows = ~begins_run(process, lock) & (np.diff(order, prepend=order[:1]) == 1)
    now = np.flatnonzero(follows)
    now = now[release_ns[by_order[now - 1]] != NO_VALUE]
    rows = by_order[now]
    around = _innermost_region(regions, location[rows], acquire_seq[rows])
    # One that stands twice has no place of its own, and is no region that takes locks.
    inside = around >= 0
    inside[inside] = regions.node[around[inside]] >= 0
    rows, around, now = rows[inside], around[inside], now[inside]
    before = by_order[now - 1]
    (region,) = trace.arrays("regions", "region")
    is_critical = _has_role(trace, region[around], "critical", "critical_sblock")
    acquired, held = (Recorded(trace.table("locks"), narrow(of)) for of in (rows, before))
    return Locks(acquired, held, narrow(around), is_critical)


def _innermost_region(regions: Intervals, location: AnyIntegers, seq: Integers) -> Integers:
    """The innermost region open at some events, -1 without one."""
    places = np.repeat(np.arange(len(regions.begin) - 1), np.diff(regions.begin))
    enter, leave = (each.astype(np.int64) for each in (regions.enter_seq, regions.leave_seq))
    # behind all of a location
    far = 2 + max(each.max(initial=0) for each in (enter, leave, seq))
    # an event ends before it begins: nothing is inside of it
    starts = np.concatenate([places * far + enter, location.astype(np.int64) * far + seq])
    ends = starts + np.concatenate([leave - enter, np.full(len(seq), -1)])
    order = np.argsort(starts, kind="stable")
    around = np.empty(len(order), np.int64)
    around[order] = take(order, enclosing(starts[order], ends[order]))
    return around[len(enter) :]


def _has_role(trace: Trace, region: AnyIntegers, *wanted_roles: str) -> Mask:
    roles = trace.region_defs["role"].to_pylist()
    wanted = np.array([each in wanted_roles for each in roles] or [False], bool)
    return wanted[region] if wanted.any() else np.zeros(len(region), bool)
