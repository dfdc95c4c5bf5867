"""What divides the computing of a thread: calls of MPI, and teams that it forks.

A team counts as if it was a call: what its first thread computes before the fork and after the
join are two places.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from burstline import _core
from burstline.columns import AnyIntegers, Integers, take
from burstline.model import last_until
from burstline.synchronisation import Sync


@dataclass(frozen=True, slots=True, eq=False)
class Stops:
    """Calls in no team, and teams in no other, by location and event."""

    location: AnyIntegers
    enter_ns: Integers
    leave_ns: Integers
    node: AnyIntegers
    row: Integers  # of `calls`; behind those, of the `regions` that are teams

    def before_others(self) -> Integers:
        """The stops that another follows on their location."""
        return np.flatnonzero(self.location[:-1] == self.location[1:])


def stops_of(sync: Sync) -> Stops:
    """The stops of all locations, those of teams only between the calls of theirs."""
    calls, regions, teams = sync.calls, sync.regions, sync.teams
    parts = _outermost(sync)
    region, team = teams.region[parts], teams.team[parts]
    columns = [
        np.concatenate(pair)
        for pair in (
            (calls.location, regions.location[region]),
            (calls.enter_seq, teams.fork_seq[team]),
            (calls.enter_ns, teams.forked_ns[team]),
            (calls.leave_seq, teams.join_seq[team]),
            (calls.leave_ns, teams.joined_ns[team]),
            (calls.node, regions.node[region]),
            (np.arange(len(calls.node)), len(calls.node) + region),
        )
    ]
    order = np.lexsort((columns[1], columns[0]))
    location, seq, enter, joined, leave, node, row = (column[order] for column in columns)
    # Calls between the fork and the join of the last team before them are in it.
    is_team = row >= len(calls.node)
    last = np.maximum.accumulate(np.where(is_team, np.arange(len(row)), -1))
    inside = ~is_team & (last >= 0) & (location[last] == location) & (seq < joined[last])
    return Stops(*(column[~inside] for column in (location, enter, leave, node, row)))


def computing(sync: Sync) -> tuple[Stops, Integers, AnyIntegers]:
    """All stops, those of them behind which something computes, and its call path there."""
    stops = stops_of(sync)
    rows = stops.before_others()
    place = take(np.concatenate([sync.computation_node, sync.resumed]), stops.row[rows])
    return stops, rows[place >= 0], place[place >= 0]


def _outermost(sync: Sync) -> Integers:
    """The parts in teams that count as stops: of threads that call MPI before and after."""
    calls, teams = sync.calls, sync.teams
    parts = np.flatnonzero(teams.forked_here & teams.is_outermost[teams.team])
    team = teams.team[parts]
    location = sync.regions.location[teams.region[parts]]
    some = calls.begin[location + 1] > calls.begin[location]
    parts, team, location = parts[some], team[some], location[some]
    first, last = calls.begin[location], calls.begin[location + 1] - 1
    chosen = (calls.enter_seq[first] < teams.fork_seq[team]) & (
        teams.join_seq[team] <= calls.enter_seq[last]
    )
    region = teams.region[parts]
    chosen &= (sync.regions.node[region] >= 0) & (
        sync.regions.leave_seq[region] <= teams.join_seq[team]
    )
    return parts[chosen]


def walked(sync: Sync) -> tuple[tuple[AnyIntegers, ...], AnyIntegers]:
    """Calls as kernels take them, joins of teams among them as such, and what follows each."""
    calls, regions, teams = sync.calls, sync.regions, sync.teams
    if not (sync.resumed >= 0).any():
        return calls.kernel, sync.computation_node
    parts = np.flatnonzero(teams.forked_here & (sync.resumed[teams.region] >= 0))
    region = teams.region[parts]
    now = regions.leave_ns[region] + teams.join_ns[parts]
    seq = teams.join_seq[teams.team[parts]]
    location = np.concatenate([calls.location, regions.location[region]])
    columns = (
        (calls.enter_ns, now),
        (calls.leave_ns, now),
        (calls.enter_seq, seq),
        (calls.leave_seq, seq),
        (calls.node, regions.node[region]),
        (sync.computation_node, sync.resumed[region]),
    )
    joined = [np.concatenate(pair) for pair in columns]
    order = np.lexsort((joined[2], location))
    begin = np.searchsorted(location[order], np.arange(sync.locations + 1))
    *kernel, following = (column[order] for column in joined)
    return (begin, *kernel), following


def segments_of(
    sync: Sync, begin: Integers, place: Integers, nodes: int
) -> tuple[Integers, AnyIntegers, Integers, int]:
    """Where the time went between points of each location: as the kernel has it."""
    (calls, following), teams = walked(sync), sync.teams
    parts = (
        teams.region.astype(np.int64), teams.fork_ns, teams.join_ns,
        teams.forked_here.view(np.uint8),
    )  # fmt: skip
    return _core.segments(
        sync.programs, calls, following, sync.regions.kernel, parts, begin, place, nodes
    )


def left_before(sync: Sync, location: AnyIntegers, seq: Integers) -> AnyIntegers:
    """What follows the last call or team that a location left before each event, or -1."""
    (begin, _, _, _, leave_seq, _), following = walked(sync)
    where = np.repeat(np.arange(sync.locations), np.diff(begin))
    return take(following, last_until((where, leave_seq), (location, seq - 1)))
