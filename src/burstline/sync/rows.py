"""Everything that synchronises as rows in order on each location, for a replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline.columns import (
    UNKNOWN,
    AnyIntegers,
    Integers,
    Mask,
    begins_run,
    prefix_sums,
    take,
)
from burstline.model import COLLECTIVES, TOGETHER, role_of
from burstline.sync.columns import Sync

PLACES: Final = 4
"""Places of an event ordinal: before its enter, the enter, in it, the leave."""
BEFORE, ENTER, INSIDE, LEAVE = range(PLACES)

MESSAGE, RENDEZVOUS, COLLECTIVE, INIT, FINALIZE, TEAM, BARRIER, LOCK = range(8)
"""Kinds of rows."""


# Of one place, who leaves a barrier comes first, then who others wait for, then who waits.
_LEAVES, _GIVES, _TAKES = range(3)

_PACKABLE: Final = 1 << 62
_CREATES: Final = ("MPI_Comm_create", "MPI_Comm_dup", "MPI_Comm_split", "MPI_Comm_idup")


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of what synchronises, sorted by location and place; 25 bytes each.

    A row that takes from a source happens after all rows that give to it, and all that give
    to the source before that one.
    """

    begin: Integers  # (locations + 1,)
    place: Integers  # PLACES * event ordinal + the place of it; rising on a location
    time_ns: Integers  # as recorded
    gives: AnyIntegers  # a source, or -1
    takes: AnyIntegers
    kind: AnyIntegers
    before: AnyIntegers  # (sources,) a lower one that it goes on from, or -1

    @property
    def kernel(self) -> tuple[AnyIntegers, ...]:
        """The columns that kernels take."""
        return self.begin, self.gives, self.takes, self.before

    @property
    def location(self) -> Integers:
        """Location of each row."""
        return np.repeat(np.arange(len(self.begin) - 1), np.diff(self.begin))

    def of_calls(self) -> Rows:
        """The rows of MPI alone."""
        chosen = (self.kind != TEAM) & (self.kind != BARRIER) & (self.kind != LOCK)
        return Rows(
            prefix_sums(chosen.astype(np.int64))[self.begin],
            self.place[chosen],
            self.time_ns[chosen],
            self.gives[chosen],
            self.takes[chosen],
            self.kind[chosen],
            self.before,
        )

    def steps(self, stamp: Integers) -> Integers:
        """How much a stamp grows from row to row on each location, from 0 to the first."""
        steps = stamp.copy()
        steps[1:] -= stamp[:-1]
        first = self.begin[:-1][np.diff(self.begin) > 0]
        steps[first] = stamp[first]
        return steps


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
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


def replay(rows: Rows, models: Sequence[Weights]) -> Replayed:
    """Stamps by each of the models, in one replay of the rows in order of cause and effect."""
    nothing = np.zeros(0, np.int64)
    stamps, order, begin, members = _core.replay(
        rows.kernel,
        [(m.step, nothing if m.floor is None else m.floor, m.latency) for m in models],
    )
    cycles = np.split(members, begin[1:-1]) if len(members) else []
    return Replayed(stamps, order, sorted(cycle.tolist() for cycle in cycles))


def rows_of(
    sync: Sync,
    *,
    certain_only: bool = False,
    rendezvous: Mask | None = None,
    in_order: bool = True,
    together: bool = False,
) -> Rows:
    """The rows of all that synchronises; as if all were of one location if not `in_order`.

    `certain_only` leaves out what need not wait by the standard of MPI: members of collectives
    that nothing is sent to, Init, Finalize and the creation of communicators. The call that
    completes the send of a message of `rendezvous` waits for the call that posts its receive;
    they are those of synchronous sends if only what is certain is wanted, else by default none.
    If members of collectives are `together`, each waits for all of the others.
    """
    rows = _RowList()
    if rendezvous is None:
        rendezvous = synchronous(sync) & certain_only
    _add_messages(rows, sync, rendezvous)
    _add_collectives(rows, sync, certain_only=certain_only, together=together)
    for world in () if certain_only else sync.worlds:
        _add_world(rows, sync, world.start, INIT)
        _add_world(rows, sync, world.end, FINALIZE)
    _add_teams(rows, sync)
    _add_barriers(rows, sync)
    locks = sync.locks
    source = rows.sources(len(locks.location))
    rows.add(
        LOCK,
        locks.holder,
        locks.released_seq * PLACES + INSIDE,
        locks.released_ns,
        gives=source,
    )
    rows.add(
        LOCK,
        locks.location,
        locks.acquire_seq * PLACES + INSIDE,
        locks.acquire_ns,
        takes=source,
    )
    return rows.sorted(sync.locations) if in_order else rows.unsorted()


def synchronous(sync: Sync) -> Mask:
    """Which messages have a send that is complete only after the receive has begun."""
    messages = sync.messages
    sends = sync.are("MPI_Ssend", "MPI_Issend")
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
    known &= ~take(sync.are("MPI_Bsend", "MPI_Ibsend"), messages.send, missing=False)
    enter, leave = (take(column, messages.done) for column in (calls.enter_ns, calls.leave_ns))
    posted, size = take(calls.enter_ns, messages.post), messages.sent_bytes
    eager = known & (posted - leave > leave - enter)
    waited = known & (enter < posted) & (posted < leave)
    waited &= size > size[eager].max(initial=-1)
    return must_wait | (known & (size >= size[waited].min(initial=np.iinfo(np.int64).max)))


class _RowList:
    """Rows as they are made, in any order."""

    _FIELDS: Final[dict[str, npt.DTypeLike]] = {
        "location": np.int64, "place": np.int64, "time_ns": np.int64, "gives": np.int32,
        "takes": np.int32, "kind": np.uint8, "tie": np.uint8,
    }  # fmt: skip

    def __init__(self) -> None:
        nothing = np.zeros(0, np.uint8)
        self._parts: dict[str, list[npt.NDArray[Any]]] = {n: [nothing] for n in self._FIELDS}
        self._before: list[AnyIntegers] = []
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
        kind: int,
        location: AnyIntegers,
        place: Integers,
        time_ns: Integers,
        *,
        gives: Integers | int = UNKNOWN,
        takes: Integers | int = UNKNOWN,
        tie: int | None = None,
    ) -> None:
        """Add rows of one kind."""
        if tie is None:
            tie = _GIVES if isinstance(takes, int) else _TAKES
        columns = (location, place, time_ns, gives, takes, kind, tie)
        for (name, type_), column in zip(self._FIELDS.items(), columns, strict=True):
            values = np.asarray(column).astype(type_, copy=False)
            self._parts[name].append(np.broadcast_to(values, len(location)))

    def unsorted(self) -> Rows:
        """The rows as they were added; they are here no more."""
        place = self._column("place")
        return self._rows(np.array([0, len(place)]), place, slice(None))

    def sorted(self, locations: int) -> Rows:
        """The rows in order; they are here no more."""
        location, place, tie = (self._column(name) for name in ("location", "place", "tie"))
        # Sorting by one number takes a third of the time of sorting by three.
        highest = int(place.max(initial=0)) + 1
        if (
            highest < _PACKABLE // (max(locations, 1) * (_TAKES + 1))
            and place.min(initial=0) >= 0
        ):
            order = np.argsort((location * highest + place) * (_TAKES + 1) + tie, kind="stable")
        else:
            order = np.lexsort((tie, place, location))
        begin = np.searchsorted(location[order], np.arange(locations + 1)).astype(np.int64)
        del location, tie
        return self._rows(begin, place, order)

    def _column(self, name: str) -> npt.NDArray[Any]:
        return np.concatenate(self._parts.pop(name), dtype=self._FIELDS[name])

    def _rows(self, begin: Integers, place: Integers, order: Integers | slice) -> Rows:
        columns = {name: self._column(name)[order] for name in ("gives", "takes", "kind")}
        time_ns = self._column("time_ns")[order]
        return Rows(
            begin=begin,
            place=place[order],
            time_ns=time_ns if isinstance(order, slice) else _rising(begin, time_ns),
            before=np.concatenate([np.zeros(0, np.int32), *self._before]),
            **columns,
        )


def _rising(begin: Integers, time_ns: Integers) -> Integers:
    """Times of which none is before the one before it on its location."""
    falls = np.flatnonzero(np.diff(time_ns) < 0) + 1
    location = np.searchsorted(begin, falls, "right") - 1
    for place in np.unique(location[falls != begin[location]]).tolist():
        span = slice(int(begin[place]), int(begin[place + 1]))
        time_ns[span] = np.maximum.accumulate(time_ns[span])
    return time_ns


def _add_messages(rows: _RowList, sync: Sync, rendezvous: Mask) -> None:
    messages, calls = sync.messages, sync.calls
    source = rows.sources(len(messages.send))
    rows.add(
        MESSAGE,
        messages.sender,
        messages.send_seq * PLACES + INSIDE,
        messages.send_ns,
        gives=source,
    )
    rows.add(
        MESSAGE, messages.receiver, messages.receive_seq * PLACES + INSIDE, messages.receive_ns,
        takes=source,
    )  # fmt: skip
    k = np.flatnonzero(rendezvous & (messages.done >= 0) & (messages.post >= 0))
    source, done, post = rows.sources(len(k)), messages.done[k], messages.post[k]
    rows.add(
        RENDEZVOUS, messages.receiver[k], calls.enter_seq[post] * PLACES + ENTER,
        calls.enter_ns[post], gives=source,
    )  # fmt: skip
    rows.add(
        RENDEZVOUS, messages.sender[k], calls.leave_seq[done] * PLACES + LEAVE,
        calls.leave_ns[done], takes=source,
    )  # fmt: skip


def _role(operation: str, *, certain_only: bool, together: bool) -> str:
    """How members of a collective wait for each other; a function: they do not."""
    if together and operation in COLLECTIVES and "eighbor" not in operation:
        return "all2all"
    if operation in TOGETHER:
        return "barrier" if operation.startswith(_CREATES) and not certain_only else "function"
    if operation not in COLLECTIVES or "eighbor" in operation:
        return "function"
    # Nobody knows which members of these send something to which.
    uneven = certain_only and operation.lower().endswith(("toallv", "toallw"))
    return "function" if uneven else role_of(operation)


def _add_collectives(rows: _RowList, sync: Sync, *, certain_only: bool, together: bool) -> None:
    every = sync.collectives
    instance = np.repeat(np.arange(len(every.begin) - 1), np.diff(every.begin))
    operation = every.operation[instance] if len(instance) else instance
    is_root = every.comm_rank == every.root[instance]
    sends, receives = every.sent_bytes > 0, every.received_bytes > 0
    everybody = np.ones(len(instance), bool)
    if not certain_only:
        sends = receives = everybody

    roles = [
        _role(name, certain_only=certain_only, together=together)
        for name in (*sync.operations, "")
    ]
    meets, scans, n_to_n, one_to_n, n_to_one = (
        np.array([each == role for each in roles], bool)[operation]
        for role in ("barrier", "other collective", "all2all", "one2all", "all2one")
    )
    gives = meets | (n_to_n & sends) | (one_to_n & is_root & sends) | (n_to_one & sends) | scans
    takes = meets | (n_to_n & receives) | (one_to_n & ~is_root & receives) | scans
    takes |= n_to_one & is_root & receives
    source = rows.sources(len(every.begin) - 1)[instance]
    links = np.flatnonzero(scans)
    starts = begins_run(instance[links])
    source[links] = chain = rows.chain(starts)
    taken = source.copy()
    without_own = np.array([name.endswith("xscan") for name in (*sync.operations, "")], bool)
    exclusive = without_own[operation[links]]
    taken[links] = np.where(exclusive, np.where(starts, UNKNOWN, chain - 1), chain)
    k = np.flatnonzero(gives)
    place = every.begin_seq[k] * PLACES + INSIDE
    rows.add(COLLECTIVE, every.location[k], place, every.begin_ns[k], gives=source[k])
    k = np.flatnonzero(takes)
    place = every.end_seq[k] * PLACES + INSIDE
    rows.add(COLLECTIVE, every.location[k], place, every.end_ns[k], takes=taken[k])


def _add_world(rows: _RowList, sync: Sync, k: Integers, kind: int) -> None:
    if not len(k):
        return
    calls, source = sync.calls, np.repeat(rows.sources(1), len(k))
    location = calls.location[k]
    rows.add(
        kind, location, calls.enter_seq[k] * PLACES + ENTER, calls.enter_ns[k], gives=source
    )
    rows.add(
        kind, location, calls.leave_seq[k] * PLACES + LEAVE, calls.leave_ns[k], takes=source
    )


def _add_teams(rows: _RowList, sync: Sync) -> None:
    teams, regions = sync.teams, sync.regions
    part, team = teams.outer, teams.team
    has_parts = np.unique(team)
    fork, join = rows.sources(len(teams.fork_location)), rows.sources(len(teams.fork_location))
    location = regions.location[part]
    rows.add(
        TEAM, teams.fork_location[has_parts], teams.fork_seq[has_parts] * PLACES + BEFORE,
        teams.forked_ns[has_parts], gives=fork[has_parts],
    )  # fmt: skip
    rows.add(
        TEAM, location, regions.enter_seq[part] * PLACES + ENTER, regions.enter_ns[part],
        takes=fork[team],
    )  # fmt: skip
    rows.add(
        TEAM, location, regions.leave_seq[part] * PLACES + LEAVE, regions.leave_ns[part],
        gives=join[team],
    )  # fmt: skip
    rows.add(
        TEAM, teams.fork_location[has_parts], teams.join_seq[has_parts] * PLACES + LEAVE,
        teams.joined_ns[has_parts], takes=join[has_parts],
    )  # fmt: skip


def _add_barriers(rows: _RowList, sync: Sync) -> None:
    barriers, regions = sync.barriers, sync.regions
    k = barriers.region
    sizes = np.diff(barriers.begin)
    source = np.repeat(rows.sources(len(sizes)), sizes)
    location = regions.location[k]
    rows.add(
        BARRIER,
        location,
        regions.enter_seq[k] * PLACES + ENTER,
        regions.enter_ns[k],
        gives=source,
    )
    rows.add(
        BARRIER, location, regions.leave_seq[k] * PLACES + LEAVE, regions.leave_ns[k],
        takes=source, tie=_LEAVES,
    )  # fmt: skip
