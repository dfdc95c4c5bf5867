"""Waits in collectives, by what an operation asks of its members; Init and Finalize."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from burstline._core import Wait
from burstline.columns import UNKNOWN, AnyIntegers, Integers, Mask, prefix_sums
from burstline.synchronisation import INSIDE, PLACES, Collectives, Sync
from burstline.waits.points import PointList
from burstline.waits.severities import Severities


def _names(words: str) -> tuple[str, ...]:
    return tuple(f"MPI_{word}" for word in words.split())


BARRIERS: Final = _names("Barrier")
N_TO_N: Final = _names(
    "Allgather Allgatherv Allreduce Alltoall Reduce_scatter Reduce_scatter_block"
)
ONE_TO_N: Final = _names("Bcast Scatter Scatterv")
N_TO_ONE: Final = _names("Reduce Gather Gatherv")
SCANS: Final = _names("Scan Exscan")
_EARLIEST: Final = np.iinfo(np.int64).min
_LATEST: Final = np.iinfo(np.int64).max


class _Members:
    """Members of the instances of some operations, and reductions over each instance."""

    def __init__(self, sync: Sync, names: tuple[str, ...]) -> None:
        every = sync.collectives
        wanted = np.array([name in names for name in sync.operations] or [False], bool)
        sizes = np.diff(every.begin)
        chosen = (every.operation >= 0) & wanted[every.operation] & (sizes > 1)
        self._take(every, np.flatnonzero(chosen), sizes)

    def _take(self, every: Collectives, instances: Integers, sizes: Integers) -> None:
        self.sizes = sizes[instances]
        self.begin = prefix_sums(self.sizes)[:-1]
        shift = np.repeat(every.begin[instances] - self.begin, self.sizes)
        rows = np.arange(len(shift)) + shift
        self.instance = np.repeat(np.arange(len(instances)), self.sizes)
        self.communicator = every.communicator[instances]
        self.location = every["location"][rows]
        self.call = every.call[rows]
        self.b, self.d = every["begin_ns"][rows], every["end_ns"][rows]
        self.end_seq = every["end_seq"][rows]
        self.sent, self.received = (
            every["sent_bytes"][rows] > 0,
            every["received_bytes"][rows] > 0,
        )
        self.is_root = every["comm_rank"][rows] == every.root[instances][self.instance]

    def __len__(self) -> int:
        return len(self.location)

    def latest(self, among: Mask) -> Integers:
        """Row of the last of some members to begin, the lowest of equals; -1 without any."""
        return _latest(self.begin, self.instance, np.where(among, self.b, _EARLIEST))

    def any(self, which: Mask) -> Mask:
        """Whether any member of each instance is one of some."""
        return np.logical_or.reduceat(which, self.begin) if len(self) else np.zeros(0, bool)

    def spread(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A value of each instance for each of its members."""
        return values[self.instance]


def _latest(begin: Integers, instance: Integers, b: Integers) -> Integers:
    if not len(b):
        return np.zeros(0, np.int64)
    highest = np.maximum.reduceat(b, begin)
    rows = np.where(b == highest[instance], np.arange(len(b)), len(b))
    return np.where(highest == _EARLIEST, UNKNOWN, np.minimum.reduceat(rows, begin))


def add_collective_waits(sync: Sync, severities: Severities, points: PointList) -> None:
    """Add waits in collectives of all kinds, and the points where members met."""
    members = _Members(sync, BARRIERS)
    everybody = np.ones(len(members), bool)
    latest = members.latest(everybody)
    wait, completion = _meet(sync, points, members, everybody, latest, type_=Wait.BARRIER)
    _add(sync, severities, "mpi_barrier_wait", members, wait, start_ns=members.b)
    until = members.d - completion
    _add(sync, severities, "mpi_barrier_completion", members, completion, start_ns=until)
    _add_n_to_n(sync, severities, points)
    _add_one_to_n(sync, severities, points)
    _add_n_to_one(sync, severities, points)
    _add_scans(sync, severities)


def apart(sync: Sync) -> Integers:
    """Members of each collective that one left before another came whom it depends on.

    No MPI does that: the calls are of several collectives, or the clocks of ranks differ.
    """
    sizes = [np.zeros(0, np.int64)]
    for names in (BARRIERS, N_TO_N, ONE_TO_N, N_TO_ONE):
        members = _Members(sync, names)
        gives, takes = members.sent, members.received
        if names is BARRIERS:
            gives, takes = np.ones((2, len(members)), bool)
        elif names is ONE_TO_N:
            gives, takes = gives & members.is_root, takes & ~members.is_root
        elif names is N_TO_ONE:
            takes = takes & members.is_root
        latest = members.latest(gives)
        begins = np.where(latest >= 0, members.b[latest] if len(members) else 0, _EARLIEST)
        sizes.append(members.sizes[_least(members, members.d, takes) < begins])
    return np.concatenate(sizes)


def _add_n_to_n(sync: Sync, severities: Severities, points: PointList) -> None:
    members = _Members(sync, N_TO_N)
    takes_part = members.sent | members.received
    latest = members.latest(takes_part)
    first_end = _least(members, members.d, takes_part)
    last_begin = np.where(latest >= 0, members.b[latest] if len(members) else 0, _LATEST)
    overlaps = first_end > last_begin
    # Else only who sends makes others wait, and only who receives and came before waits.
    sends_last = members.latest(members.sent)
    latest = np.where(overlaps, latest, sends_last)
    of_member = members.spread(latest)
    is_latest = of_member == np.arange(len(members))
    earlier = members.received & (of_member >= 0)
    earlier &= members.b < members.b[np.maximum(of_member, 0)]
    meets = np.where(members.spread(overlaps), takes_part, is_latest | earlier)
    wait, completion = _meet(sync, points, members, meets, latest, type_=Wait.N_TO_N)
    _add(sync, severities, "mpi_wait_nxn", members, wait, start_ns=members.b)
    _add(
        sync,
        severities,
        "mpi_nxn_completion",
        members,
        completion,
        start_ns=members.d - completion,
    )


def _add_one_to_n(sync: Sync, severities: Severities, points: PointList) -> None:
    members = _Members(sync, ONE_TO_N)
    root = members.latest(members.is_root & members.sent)
    of_member = members.spread(root)
    waits = members.received & ~members.is_root & (of_member >= 0)
    waits &= members.b < members.b[np.maximum(of_member, 0)]
    waits_any = members.any(waits)
    meets = waits | (members.is_root & members.spread(waits_any))
    wait, _ = _meet(
        sync, points, members, meets, np.where(waits_any, root, UNKNOWN), type_=Wait.ONE_TO_N,
        ends=waits,
    )  # fmt: skip
    _add(sync, severities, "mpi_latebroadcast", members, wait, start_ns=members.b)


def _add_n_to_one(sync: Sync, severities: Severities, points: PointList) -> None:
    members = _Members(sync, N_TO_ONE)
    latest = members.latest(members.sent)
    of_member = members.spread(latest)
    waits = members.is_root & members.received & (of_member >= 0)
    waits &= members.b < members.b[np.maximum(of_member, 0)]
    waits_any = members.any(waits)
    is_latest = (of_member == np.arange(len(members))) & members.spread(waits_any)
    latest = np.where(waits_any, latest, UNKNOWN)
    wait, _ = _meet(sync, points, members, waits | is_latest, latest, type_=Wait.N_TO_ONE)
    _add(sync, severities, "mpi_earlyreduce", members, wait, start_ns=members.b)


def _add_scans(sync: Sync, severities: Severities) -> None:
    members = _Members(sync, SCANS)
    if not len(members):
        return
    # The latest of the ranks up to each that sends: a running maximum within instances.
    begins = np.where(members.sent, members.b, _EARLIEST)
    ranks = np.argsort(np.argsort(begins, kind="stable"), kind="stable")
    lifted = np.maximum.accumulate(ranks + members.instance * len(begins))
    latest = np.sort(begins)[lifted - members.instance * len(begins)]
    wait = np.maximum(0, np.minimum(latest, members.d) - members.b)
    wait[~(members.sent | members.received) | (latest == _EARLIEST)] = 0
    _add(sync, severities, "mpi_earlyscan", members, wait, start_ns=members.b)


def _meet(
    sync: Sync,
    points: PointList,
    members: _Members,
    meets: Mask,
    latest: Integers,
    *,
    type_: Wait,
    ends: Mask | None = None,
) -> tuple[Integers, Integers]:
    """Waits and completions of the members that wait for the latest of each instance.

    Completion is the time after the wait and after the earliest end, of all that meet or of
    `ends` among them.
    """
    wait, completion = np.zeros((2, len(members)), np.int64)
    rows = np.flatnonzero(meets & (members.spread(latest) >= 0))
    if not len(rows):
        return wait, completion
    cause = members.spread(latest)[rows]
    first_end = members.spread(_least(members, members.d, meets if ends is None else ends))
    until = np.minimum(members.b[cause], members.d[rows])
    wait[rows] = np.maximum(0, until - members.b[rows])
    completion[rows] = np.maximum(0, members.d[rows] - np.maximum(first_end[rows], until))
    number = np.full(len(members), UNKNOWN, np.int64)
    number[rows] = points.count + np.arange(len(rows))
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
        peer=members.spread(points.groups(members.communicator))[rows],
        interval=call,
    )
    return wait, completion


def _least(members: _Members, values: Integers, among: Mask) -> Integers:
    if not len(members):
        return np.zeros(0, np.int64)
    return np.minimum.reduceat(np.where(among, values, _LATEST), members.begin)


def _add(
    sync: Sync,
    severities: Severities,
    metric: str,
    members: _Members,
    value: Integers,
    *,
    start_ns: Integers,
) -> None:
    rows = np.flatnonzero(value)
    node = sync.calls.node[members.call[rows]]
    severities.add(metric, node, members.location[rows], value[rows], start_ns[rows])


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
    location, b, d = calls.location[rows], calls.enter_ns[rows], calls.leave_ns[rows]
    latest = int(np.argmax(b))
    until = np.minimum(b[latest], d)
    waits = np.maximum(0, until - b)
    completion = np.maximum(0, d - np.maximum(d.min(), until))
    node = calls.node[rows]
    if len(rows) > 1:
        if wait:
            severities.add("mpi_finalize_wait", node, location, waits, b)
        else:
            severities.add("mpi_init_completion", node, location, completion, d - completion)
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
