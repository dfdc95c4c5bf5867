"""Waits in collectives, by what an operation asks of its members; Init and Finalize."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline._core import Wait
from burstline.columns import (
    UNKNOWN,
    AnyIntegers,
    Integers,
    Mask,
    placed,
    prefix_sums,
    ranges,
    take,
)
from burstline.synchronisation import INSIDE, PLACES, Sync
from burstline.waits.points import PointList
from burstline.waits.severities import Contributions, Severities

_EARLIEST: Final = np.iinfo(np.int64).min
_LATEST: Final = np.iinfo(np.int64).max


class _Members:
    """Members of the instances of some operations, and reductions over each instance."""

    def __init__(self, sync: Sync, words: str) -> None:
        every = sync.collectives
        names = {f"MPI_{word}" for word in words.split()}
        wanted = np.array([name in names for name in sync.operations] or [False], bool)
        sizes = np.diff(every.begin)
        chosen = (every.operation >= 0) & wanted[every.operation] & (sizes > 1)
        instances = np.flatnonzero(chosen)
        self.sizes = sizes[instances]
        self.begin = prefix_sums(self.sizes)[:-1]
        rows = ranges(every.begin[instances], self.sizes)
        self.instance = np.repeat(np.arange(len(instances)), self.sizes)
        self.communicator = every.communicator[instances]
        self.location = every["location"][rows]
        self.call = every.call[rows]
        self._node = sync.calls.node
        self.begin_ns, self.end_ns = every["begin_ns"][rows], every["end_ns"][rows]
        self.end_seq = every["end_seq"][rows]
        self.sends = every["sent_bytes"][rows] > 0
        self.receives = every["received_bytes"][rows] > 0
        self.is_root = every["comm_rank"][rows] == every.root[instances][self.instance]

    def __len__(self) -> int:
        return len(self.location)

    def add(
        self, severities: Severities, metric: str, value: Integers, start_ns: Integers
    ) -> None:
        """Add the times of those that have any to a metric."""
        rows = np.flatnonzero(value)
        node, location = self._node[self.call[rows]], self.location[rows]
        severities.add(metric, Contributions(node, location, start_ns[rows]), value[rows])

    def latest(self, among: Mask) -> Integers:
        """Row of the last of some members to begin, the lowest of equals; -1 without any."""
        begins = np.where(among, self.begin_ns, _EARLIEST)
        highest = np.maximum.reduceat(begins, self.begin)
        rows = np.where(begins == highest[self.instance], np.arange(len(self)), len(self))
        return np.where(highest == _EARLIEST, UNKNOWN, np.minimum.reduceat(rows, self.begin))

    def earliest_end(self, among: Mask) -> Integers:
        """When the first of some members of each instance ended."""
        return np.minimum.reduceat(np.where(among, self.end_ns, _LATEST), self.begin)

    def any(self, which: Mask) -> Mask:
        """Whether any member of each instance is one of some."""
        return np.logical_or.reduceat(which, self.begin)

    def of_instance(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A value of each instance for each of its members."""
        return values[self.instance]


class _Meeting(NamedTuple):
    """Who meets in an instance, and whom they wait for."""

    meets: Mask  # (members,)
    latest: Integers  # (instances,) the member that all others wait for, or -1
    ends: Mask  # (members,) those of which the first end completes it


class _WaitRule(NamedTuple):
    """How members of some operations wait: who signals whom, and who meets then."""

    operations: str
    type_: Wait
    wait: str  # metric
    completion: str  # metric, or empty
    sides: Callable[[_Members], tuple[Mask, Mask]]  # who signals, and who awaits that
    meeting: Callable[[_Members, Mask, Mask], _Meeting]


def _overlapping_meet(members: _Members, signals: Mask, awaits: Mask) -> _Meeting:
    """All that take part; where no time is common, only who awaits a later one that signals."""
    takes_part = signals | awaits
    latest = members.latest(takes_part)
    overlaps = members.earliest_end(takes_part) > take(members.begin_ns, latest, _LATEST)
    latest = np.where(overlaps, latest, members.latest(signals))
    is_latest, earlier = _around_latest(members, latest, awaits)
    meets = np.where(members.of_instance(overlaps), takes_part, is_latest | earlier)
    return _Meeting(meets, latest, meets)


def _followers_meet(members: _Members, signals: Mask, awaits: Mask) -> _Meeting:
    """Those that await a later one, and that one, which may end at any time."""
    latest = members.latest(signals)
    is_latest, waits = _around_latest(members, latest, awaits)
    any_waits = members.any(waits)
    meets = waits | (is_latest & members.of_instance(any_waits))
    return _Meeting(meets, np.where(any_waits, latest, UNKNOWN), waits)


def _root_meets(members: _Members, signals: Mask, awaits: Mask) -> _Meeting:
    """The root, and the last that it awaits."""
    meeting = _followers_meet(members, signals, awaits)
    return meeting._replace(ends=meeting.meets)


def _around_latest(members: _Members, latest: Integers, awaits: Mask) -> tuple[Mask, Mask]:
    """Which member is the latest one of its instance, and which await it and began before."""
    of_member = members.of_instance(latest)
    before = members.begin_ns < take(members.begin_ns, of_member, _EARLIEST)
    return of_member == np.arange(len(members)), awaits & before


_RULES: Final = (
    _WaitRule(
        "Barrier", Wait.BARRIER, "mpi_barrier_wait", "mpi_barrier_completion",
        lambda m: (np.ones(len(m), bool), np.ones(len(m), bool)),
        lambda m, signals, awaits: _Meeting(awaits, m.latest(signals), awaits),
    ),
    _WaitRule(
        "Allgather Allgatherv Allreduce Alltoall Reduce_scatter Reduce_scatter_block",
        Wait.N_TO_N, "mpi_wait_nxn", "mpi_nxn_completion",
        lambda m: (m.sends, m.receives), _overlapping_meet,
    ),
    _WaitRule(
        "Bcast Scatter Scatterv", Wait.ONE_TO_N, "mpi_latebroadcast", "",
        lambda m: (m.sends & m.is_root, m.receives & ~m.is_root), _followers_meet,
    ),
    _WaitRule(
        "Reduce Gather Gatherv", Wait.N_TO_ONE, "mpi_earlyreduce", "",
        lambda m: (m.sends, m.receives & m.is_root), _root_meets,
    ),
)  # fmt: skip


class Scans(NamedTuple):
    """Waits in scans, whose members meet nowhere: each waits for the last of those below it."""

    call: AnyIntegers  # row of `calls`
    cause: AnyIntegers  # row of the call of the rank that came last
    wait_ns: Integers


def add_collective_waits(sync: Sync, severities: Severities, points: PointList) -> Scans:
    """Add waits in collectives of all kinds, and the points where members met."""
    for rule in _RULES:
        members = _Members(sync, rule.operations)
        meeting = rule.meeting(members, *rule.sides(members))
        wait, completion = _synchronise(sync, points, members, meeting, rule.type_)
        members.add(severities, rule.wait, wait, members.begin_ns)
        if rule.completion:
            members.add(severities, rule.completion, completion, members.end_ns - completion)
    return _add_scans(sync, severities)


def apart(sync: Sync) -> Integers:
    """Members of each collective that one left before another came whom it depends on.

    No MPI does that: the calls are of several collectives, or the clocks of ranks differ.
    """
    sizes = [np.zeros(0, np.int64)]
    for rule in _RULES:
        members = _Members(sync, rule.operations)
        signals, awaits = rule.sides(members)
        begins = take(members.begin_ns, members.latest(signals), _EARLIEST)
        sizes.append(members.sizes[members.earliest_end(awaits) < begins])
    return np.concatenate(sizes)


def _add_scans(sync: Sync, severities: Severities) -> Scans:
    members = _Members(sync, "Scan Exscan")
    # The latest of the ranks up to each that sends: a running maximum within instances.
    begins = np.where(members.sends, members.begin_ns, _EARLIEST)
    order = np.argsort(begins, kind="stable")
    ranks = np.argsort(order, kind="stable")
    lifted = np.maximum.accumulate(ranks + members.instance * len(begins))
    latest = order[lifted - members.instance * len(begins)]
    until = begins[latest]
    wait = np.maximum(0, np.minimum(until, members.end_ns) - members.begin_ns)
    wait[~(members.sends | members.receives) | (until == _EARLIEST)] = 0
    members.add(severities, "mpi_earlyscan", wait, members.begin_ns)
    rows = np.flatnonzero(wait)
    return Scans(members.call[rows], members.call[latest[rows]], wait[rows])


def _synchronise(
    sync: Sync, points: PointList, members: _Members, meeting: _Meeting, type_: Wait
) -> tuple[Integers, Integers]:
    """Waits for the latest of each instance; completion is after these and the earliest end."""
    wait, completion = np.zeros((2, len(members)), np.int64)
    latest = members.of_instance(meeting.latest)
    rows = np.flatnonzero(meeting.meets & (latest >= 0))
    if not len(rows):
        return wait, completion
    cause = latest[rows]
    first_end = members.of_instance(members.earliest_end(meeting.ends))
    until = np.minimum(members.begin_ns[cause], members.end_ns[rows])
    wait[rows] = np.maximum(0, until - members.begin_ns[rows])
    completion[rows] = np.maximum(0, members.end_ns[rows] - np.maximum(first_end[rows], until))
    number = placed(points.count + np.arange(len(rows)), rows, len(members), UNKNOWN)
    call, calls = members.call[rows], sync.calls
    points.add(
        members.location[rows],
        members.end_seq[rows] * PLACES + INSIDE,
        node=calls.node[call],
        type_=int(type_),
        wait=wait[rows],
        total=calls.leave_ns[call] - calls.enter_ns[call],
        completion=completion[rows],
        cause=np.where(wait[rows] > 0, number[cause], UNKNOWN),
        peer=members.of_instance(points.groups(members.communicator))[rows],
        interval=call,
    )
    return wait, completion


def add_world(sync: Sync, severities: Severities, points: PointList) -> tuple[Integers, bool]:
    """Add what MPI_Init and MPI_Finalize synchronise; numbers of the points of the start.

    Whether the trace has all calls of MPI_Init is told, too: else all ranks of an application
    that call MPI meet at the latest first event.
    """
    starts = [np.zeros(0, np.int64)]
    has_start = True
    for number, world in enumerate(sync.worlds):
        group = points.groups(np.full(2, FIRST_WORLD - number))
        if len(world.end):
            _add_world_points(sync, severities, points, world.end, group[:1], wait=True)
        if len(world.start):
            starts.append(
                _add_world_points(sync, severities, points, world.start, group[1:], wait=False)
            )
        elif len(world.locations):
            starts.append(_add_virtual_start(sync, points, world.locations, group[1:]))
            has_start = False
    return np.concatenate(starts), has_start


def _add_world_points(
    sync: Sync,
    severities: Severities,
    points: PointList,
    rows: Integers,
    group: Integers,
    *,
    wait: bool,
) -> Integers:
    calls = sync.calls
    node, location, b = entered = Contributions.entered(calls, rows)
    d = calls.leave_ns[rows]
    latest = int(np.argmax(b))
    until = np.minimum(b[latest], d)
    waits = np.maximum(0, until - b)
    completion = np.maximum(0, d - np.maximum(d.min(), until))
    if len(rows) > 1:
        if wait:
            severities.add("mpi_finalize_wait", entered, waits)
        else:
            completing = entered._replace(start_ns=d - completion)
            severities.add("mpi_init_completion", completing, completion)
    first = points.count
    return points.add(
        location,
        calls.leave_seq[rows] * PLACES + INSIDE,
        node=node,
        wait=waits if wait else 0,
        total=d - b,
        completion=completion,
        cause=np.where(waits > 0, first + latest, UNKNOWN) if wait else UNKNOWN,
        peer=group,
        interval=rows,
    )


FIRST_WORLD: Final = -2
"""The set of locations of the first application: no communicator has this number or less."""


def _add_virtual_start(
    sync: Sync, points: PointList, masters: AnyIntegers, group: Integers
) -> Integers:
    calls, regions = sync.calls, sync.regions
    first_ns, chosen = [], []
    for location in masters.tolist():
        rows = [
            (rows.enter_ns[rows.begin[location] : rows.begin[location + 1]],
             rows.enter_seq[rows.begin[location] : rows.begin[location + 1]])
            for rows in (calls, regions)
        ]  # fmt: skip
        enter, seq = (np.concatenate(parts) for parts in zip(*rows, strict=True))
        first_ns.append(int(enter.min()))
        chosen.append((enter, seq))
    latest = max(first_ns, default=0)
    never = np.iinfo(np.int64).max // PLACES - 1
    seqs = [int(seq[enter >= latest].min(initial=never)) for enter, seq in chosen]
    return points.add(masters, np.array(seqs, np.int64) * PLACES, peer=group)
