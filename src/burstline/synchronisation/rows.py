"""Everything that synchronises as rows in order on each location, for a replay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline.columns import (
    UNKNOWN,
    AnyIntegers,
    ColumnParts,
    Integers,
    Mask,
    begins_run,
    take,
)
from burstline.model import COLLECTIVES, TOGETHER, role_of
from burstline.synchronisation.columns import Sync
from burstline.synchronisation.intervals import Intervals

PLACES: Final = 4
"""Places of an event ordinal: before its enter, the enter, in it, the leave."""
BEFORE, ENTER, INSIDE, LEAVE = range(PLACES)

# Of one place, who leaves a barrier comes first, then who others wait for, then who waits.
_LEAVES, _SIGNALS, _AWAITS = range(3)

_PACKABLE: Final = 1 << 62
_CREATES: Final = ("MPI_Comm_create", "MPI_Comm_dup", "MPI_Comm_split", "MPI_Comm_idup")


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of what synchronises, sorted by location and place; 25 bytes each.

    A row that awaits a source happens after all rows that signal it, and all that signal
    the source before that one.
    """

    begin: Integers  # (locations + 1,)
    place: Integers  # PLACES * event ordinal + the place of it; rising on a location
    time_ns: Integers  # as recorded
    signals: AnyIntegers  # a source, or -1
    awaits: AnyIntegers
    of_collective: Mask
    before: AnyIntegers  # (sources,) a lower one that it goes on from, or -1
    kernel: tuple[AnyIntegers, ...] = field(init=False, repr=False)  # what kernels take

    def __post_init__(self) -> None:
        columns = self.begin, self.signals, self.awaits, self.before
        object.__setattr__(self, "kernel", columns)

    @property
    def location(self) -> Integers:
        """Location of each row."""
        return np.repeat(np.arange(len(self.begin) - 1), np.diff(self.begin))

    def steps(self, stamp: Integers) -> Integers:
        """How much a stamp grows from row to row on each location, from 0 to the first."""
        steps = stamp.copy()
        steps[1:] -= stamp[:-1]
        first = self.begin[:-1][np.diff(self.begin) > 0]
        steps[first] = stamp[first]
        return steps


@dataclass(frozen=True, slots=True, eq=False)
class ReplayModel:
    """A model of a replay: a stamp is the latest of three, where a row has them.

    They are the stamp before it on its location and `step` (from 0 to the first), its `floor`,
    and the stamp of its source and `latency`.
    """

    step: Integers
    latency: int = 0
    floor: Integers | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Replayed:
    """What a replay says of its rows."""

    stamps: list[Integers]  # by model
    order: Integers  # rows as they were replayed
    cycles: list[list[int]]  # rows that wait for each other; stamped without their sources


def replay(rows: Rows, models: Sequence[ReplayModel]) -> Replayed:
    """Stamps by each of the models, in one replay of the rows in order of cause and effect."""
    nothing = np.zeros(0, np.int64)
    stamps, order, begin, members = _core.replay(
        rows.kernel,
        [(m.step, nothing if m.floor is None else m.floor, m.latency) for m in models],
    )
    cycles = np.split(members, begin[1:-1]) if len(members) else []
    return Replayed(stamps, order, sorted(cycle.tolist() for cycle in cycles))


class Scenario(NamedTuple):
    """What waits for what in a replay of a run."""

    # Without what need not wait by the standard of MPI: members of collectives that nothing is
    # sent to, Init, Finalize and the creation of communicators.
    certain_only: bool = False
    # Messages of which the call that completes the send waits for the call that posts the
    # receive; None: of none.
    waiting_sends: Callable[[Sync], Mask] | None = None
    together: bool = False  # each member of a collective waits for all of the others
    with_threads: bool = True  # threads wait for each other, too


def rows_of(sync: Sync, scenario: str, *, in_order: bool = True) -> Rows:
    """The rows of one of `SCENARIOS`; as if all were of one location if not `in_order`."""
    how, rows = SCENARIOS[scenario], _RowList()
    _add_messages(rows, sync, how)
    _add_collectives(rows, sync, how)
    for world in () if how.certain_only else sync.worlds:
        _add_world(rows, sync, world.start)
        _add_world(rows, sync, world.end)
    if how.with_threads:
        _add_teams(rows, sync)
        _add_barriers(rows, sync)
        _add_locks(rows, sync)
    return rows.sorted(sync.locations) if in_order else rows.unsorted()


def synchronous(sync: Sync) -> Mask:
    """Which messages have a send that is complete only after the receive has begun."""
    messages = sync.messages
    sends = sync.mask_of("MPI_Ssend", "MPI_Issend")
    return messages.done_known & take(sends, messages.send, missing=False)


def rendezvous(sync: Sync) -> Mask:
    """Which messages have a send that waits for the receive, as far as the trace shows.

    They are as large as one that did, and larger than all that were sent before their receive
    was posted. Only a send that was early by more than it lasted counts among these: clocks
    may disagree.
    """
    messages, calls = sync.messages, sync.calls
    must_wait = synchronous(sync)
    known = messages.done_known & (messages.done >= 0) & (messages.post >= 0) & ~must_wait
    known &= ~take(sync.mask_of("MPI_Bsend", "MPI_Ibsend"), messages.send, missing=False)
    enter, leave = (take(column, messages.done) for column in (calls.enter_ns, calls.leave_ns))
    posted, size = take(calls.enter_ns, messages.post), messages["sent_bytes"]
    eager = known & (posted - leave > leave - enter)
    waited = known & (enter < posted) & (posted < leave)
    waited &= size > size[eager].max(initial=-1)
    return must_wait | (known & (size >= size[waited].min(initial=np.iinfo(np.int64).max)))


_CORRECTED: Final = Scenario(certain_only=True, waiting_sends=rendezvous)
SCENARIOS: Final = {
    # as it was recorded: whether causes are before their effects
    "recorded": Scenario(certain_only=True, waiting_sends=synchronous),
    "corrected": _CORRECTED,
    "ideal network": _CORRECTED._replace(with_threads=False),
    "without noise": Scenario(),
    # on a logical clock, by who waits in a collective
    "causal": Scenario(),
    "full": Scenario(together=True),
}
"""What a run is replayed as; how long all else takes is said by the models of a replay."""


class _RowList:
    """Rows as they are made, in any order."""

    _TYPES: Final[dict[str, npt.DTypeLike]] = {
        "location": np.int64, "place": np.int64, "time_ns": np.int64, "signals": np.int32,
        "awaits": np.int32, "of_collective": np.bool_, "tie": np.uint8,
    }  # fmt: skip

    def __init__(self) -> None:
        self._columns = ColumnParts(self._TYPES)
        self._before: list[AnyIntegers] = [np.zeros(0, np.int32)]
        self._sources = 0

    def sources(self, count: int) -> Integers:
        """Numbers of new sources."""
        numbers = np.arange(self._sources, self._sources + count)
        self._before.append(np.full(count, UNKNOWN, np.int32))
        self._sources += count
        return numbers

    def chain(self, starts: Mask) -> Integers:
        """Numbers of new sources, each going on from the one before it but where one starts."""
        numbers = self.sources(len(starts))
        self._before[-1] = np.where(starts, UNKNOWN, numbers - 1).astype(np.int32)
        return numbers

    def add(
        self,
        location: AnyIntegers,
        seq: Integers,
        place: int,
        time_ns: Integers,
        *,
        signals: Integers | int = UNKNOWN,
        awaits: Integers | int = UNKNOWN,
        of_collective: Integers | int = False,
        tie: Integers | int | None = None,
    ) -> None:
        """Add rows at a place of event ordinals."""
        if tie is None:
            tie = _SIGNALS if isinstance(awaits, int) else _AWAITS
        at = seq * PLACES + place
        self._columns.add(
            len(location), location, at, time_ns, signals, awaits, of_collective, tie
        )

    def add_enters(self, of: Intervals, k: AnyIntegers, **links: Integers | int) -> None:
        """Add rows where some calls or regions are entered."""
        self.add(of.location[k], of.enter_seq[k], ENTER, of.enter_ns[k], **links)

    def add_leaves(self, of: Intervals, k: AnyIntegers, **links: Integers | int) -> None:
        """Add rows where some calls or regions are left."""
        self.add(of.location[k], of.leave_seq[k], LEAVE, of.leave_ns[k], **links)

    def unsorted(self) -> Rows:
        """The rows as they were added; they are here no more."""
        begin = np.array([0, self._columns.count])
        return self._rows(begin, self._columns.take("place"), slice(None))

    def sorted(self, locations: int) -> Rows:
        """The rows in order; they are here no more."""
        columns = self._columns
        location, place, tie = (columns.take(name) for name in ("location", "place", "tie"))
        # Sorting by one number takes a third of the time of sorting by three.
        highest = int(place.max(initial=0)) + 1
        most = _PACKABLE // (max(locations, 1) * (_AWAITS + 1))
        if highest < most and place.min(initial=0) >= 0:
            key = (location * highest + place) * (_AWAITS + 1) + tie
            order = np.argsort(key, kind="stable")
        else:
            order = np.lexsort((tie, place, location))
        begin = np.searchsorted(location[order], np.arange(locations + 1)).astype(np.int64)
        del location, tie
        return self._rows(begin, place, order)

    def _rows(self, begin: Integers, place: Integers, order: Integers | slice) -> Rows:
        columns = {
            name: self._columns.take(name)[order]
            for name in ("signals", "awaits", "of_collective")
        }
        time_ns = self._columns.take("time_ns")[order]
        return Rows(
            begin=begin,
            place=place[order],
            time_ns=time_ns if isinstance(order, slice) else never_falling(begin, time_ns),
            before=np.concatenate(self._before),
            **columns,
        )


def never_falling(begin: Integers, time_ns: Integers) -> Integers:
    """Times of which none is before the one before it on its location, in place."""
    falls = np.flatnonzero(np.diff(time_ns) < 0) + 1
    location = np.searchsorted(begin, falls, "right") - 1
    for place in np.unique(location[falls != begin[location]]).tolist():
        span = slice(int(begin[place]), int(begin[place + 1]))
        time_ns[span] = np.maximum.accumulate(time_ns[span])
    return time_ns


def _add_messages(rows: _RowList, sync: Sync, how: Scenario) -> None:
    messages = sync.messages
    source = rows.sources(len(messages.send))
    columns = messages["sender_location"], messages["send_seq"], INSIDE, messages["send_ns"]
    rows.add(*columns, signals=source)
    receiver, received_ns = messages["receiver_location"], messages["receive_ns"]
    rows.add(receiver, messages["receive_seq"], INSIDE, received_ns, awaits=source)
    if how.waiting_sends is None:
        return
    k = np.flatnonzero(how.waiting_sends(sync) & (messages.done >= 0) & (messages.post >= 0))
    source = rows.sources(len(k))
    rows.add_enters(sync.calls, messages.post[k], signals=source)
    rows.add_leaves(sync.calls, messages.done[k], awaits=source)


def _role_in(operation: str, how: Scenario) -> str:
    """How members of a collective wait for each other; a function: they do not."""
    if how.together and operation in COLLECTIVES and "eighbor" not in operation:
        return "all2all"
    if operation in TOGETHER:
        meets = operation.startswith(_CREATES) and not how.certain_only
        return "barrier" if meets else "function"
    if operation not in COLLECTIVES or "eighbor" in operation:
        return "function"
    # Nobody knows which members of these send something to which.
    uneven = how.certain_only and operation.lower().endswith(("toallv", "toallw"))
    return "function" if uneven else role_of(operation)


def _add_collectives(rows: _RowList, sync: Sync, how: Scenario) -> None:
    every = sync.collectives
    instance = np.repeat(np.arange(len(every.begin) - 1), np.diff(every.begin))
    operation = every.operation[instance] if len(instance) else instance
    is_root = every["comm_rank"] == every.root[instance]
    sends, receives = every["sent_bytes"] > 0, every["received_bytes"] > 0
    everybody = np.ones(len(instance), bool)
    if not how.certain_only:
        sends = receives = everybody

    roles = [_role_in(name, how) for name in (*sync.operations, "")]
    meets, scans, n_to_n, one_to_n, n_to_one = (
        np.array([each == role for each in roles], bool)[operation]
        for role in ("barrier", "other collective", "all2all", "one2all", "all2one")
    )
    signals = meets | scans | ((n_to_n | n_to_one | (one_to_n & is_root)) & sends)
    awaits = n_to_n | (n_to_one & is_root) | (one_to_n & ~is_root)
    awaits = meets | scans | (awaits & receives)
    source = rows.sources(len(every.begin) - 1)[instance]
    links = np.flatnonzero(scans)
    starts = begins_run(instance[links])
    source[links] = chain = rows.chain(starts)
    awaited = source.copy()
    without_own = np.array([name.endswith("xscan") for name in (*sync.operations, "")], bool)
    exclusive = without_own[operation[links]]
    awaited[links] = np.where(exclusive, np.where(starts, UNKNOWN, chain - 1), chain)
    k = np.flatnonzero(signals)
    columns = every["location"][k], every["begin_seq"][k], INSIDE, every["begin_ns"][k]
    rows.add(*columns, of_collective=True, signals=source[k])
    k = np.flatnonzero(awaits)
    columns = every["location"][k], every["end_seq"][k], INSIDE, every["end_ns"][k]
    rows.add(*columns, of_collective=True, awaits=awaited[k])


def _add_world(rows: _RowList, sync: Sync, k: Integers) -> None:
    if len(k):
        source = np.repeat(rows.sources(1), len(k))
        rows.add_enters(sync.calls, k, signals=source)
        rows.add_leaves(sync.calls, k, awaits=source)


def _add_teams(rows: _RowList, sync: Sync) -> None:
    teams, regions = sync.teams, sync.regions
    part, team = teams.outer, teams.team
    has_parts = np.unique(team)
    fork, join = rows.sources(len(teams.fork_location)), rows.sources(len(teams.fork_location))
    location = teams.fork_location[has_parts]
    columns = teams.fork_seq[has_parts], BEFORE, teams.forked_ns[has_parts]
    rows.add(location, *columns, signals=fork[has_parts])
    rows.add_enters(regions, part, awaits=fork[team])
    rows.add_leaves(regions, part, signals=join[team])
    columns = teams.join_seq[has_parts], LEAVE, teams.joined_ns[has_parts]
    rows.add(location, *columns, awaits=join[has_parts])


def _add_barriers(rows: _RowList, sync: Sync) -> None:
    sizes = np.diff(sync.barriers.begin)
    source = np.repeat(rows.sources(len(sizes)), sizes)
    rows.add_enters(sync.regions, sync.barriers.region, signals=source)
    rows.add_leaves(sync.regions, sync.barriers.region, awaits=source, tie=_LEAVES)


def _add_locks(rows: _RowList, sync: Sync) -> None:
    held, now = sync.locks.before, sync.locks.acquired
    source = rows.sources(len(sync.locks.region))
    columns = held["location"], held["release_seq"], INSIDE, held["release_ns"]
    rows.add(*columns, signals=source)
    columns = now["location"], now["acquire_seq"], INSIDE, now["acquire_ns"]
    rows.add(*columns, awaits=source)
