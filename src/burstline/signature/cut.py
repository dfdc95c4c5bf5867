"""A consistent cut: where every process stops, so that nobody waits for what never comes.

The *place* of a call is how many events its process has left before it; a call is made if the
cut of its process is behind its place. A message crosses a cut if one of its ends is made and
the other is not; so does a collective that only some of its members make.

Only calls near the cut have places. All others are before it or behind it, whatever it will be:
so messages are gone through one part after the other, and few of them are held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from burstline.columns import (
    UNKNOWN,
    AnyIntegers,
    Integers,
    Ordinals,
    begins_run,
    coded,
    numpy_columns,
    ordinal_within,
    placed,
    run_lengths,
    take,
)
from burstline.model import CODES, TOGETHER, Trace
from burstline.signature.events import Events

_EAGER_BYTES: Final = 4096  # what every MPI sends without asking the receiver
_BEFORE: Final = -2
"""The place of a call that is made, wherever the cut is."""
_BEHIND: Final = 1 << 60
"""The place of a call that is not made, unless the cut is behind what was looked at."""
_FARTHER: Final = 8  # times, where the cut is behind what was looked at
_MESSAGES: Final = (
    "sender_location", "receiver_location", "send_call", "send_done_call", "post_call",
    "receive_call", "send_done_ns", "post_ns", "sent_bytes",
)  # fmt: skip


class Edges(NamedTuple):
    """Calls by process and place, of which each demands another: (process, place) each."""

    process: Integers
    place: Integers
    needed: Integers
    needed_place: Integers


_NO_CALLS: Final = np.zeros((3, 0), np.int64)
_NO_EDGES: Final = Edges(*(np.zeros(0, np.int64) for _ in range(4)))


@dataclass(frozen=True, slots=True, eq=False)
class HappensBefore:
    """What a cut must respect: whoever makes a call of `strict` or `least` makes another."""

    # sends and the completion of their receives, both ways; collectives; last: all complete
    strict: Edges
    # what must be made so that all calls before the cut return; messages may be in flight
    least: Edges


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """How many events each process makes, and how many messages are in flight then."""

    counts: Integers  # (processes,)
    crossing: int


_Ends = Mapping[int, tuple[int, int, int]]
"""Of each process how many events are wanted, how many there are at most, and the bound."""


class Near(NamedTuple):
    """The places of the calls of some processes near a cut."""

    process: Integers  # (processes,) which they are
    total: Integers  # (processes,) all events of each
    # (3, processes) how many of them the cut makes at least; at most, unless messages are in
    # flight; and what has this place or a greater one is behind it
    counts: Integers
    location: Integers  # (locations,) those of them that make calls
    of_process: Integers  # (locations,)
    # (4, locations) ordinals: of the first call, the first near one, the first one behind the
    # near ones, and the one that would follow the last
    ends: Integers
    near: Integers  # (3, calls) location, ordinal and place of each that is near
    joint: Integers  # (3, calls) process, operation and place: what all members make together

    @classmethod
    def of_all(cls, parts: Iterable[Near]) -> Near:
        """The places of the processes of all parts, in order."""
        return cls(*(np.concatenate(columns, axis=-1) for columns in zip(*parts, strict=True)))


class _Thread(NamedTuple):
    """The calls of a thread, and which of them are events."""

    first: int  # row of the first one
    call: AnyIntegers  # (calls,) ordinal of each
    row: Integers  # (events,)
    place: Integers  # (events + 1,) of each event; last how many events its process has

    def begin(self, place: int) -> int:
        """The first row of a place, or of a greater one."""
        before = int(np.searchsorted(self.place, place))
        if before > len(self.row):
            return self.first + len(self.call)
        return int(self.row[before - 1]) + 1 if before else self.first

    def ordinal(self, row: int) -> int:
        """The ordinal of a call, or of one behind the last."""
        number = row - self.first
        return int(self.call[number]) if number < len(self.call) else int(self.call[-1]) + 1

    def places(self, rows: Integers) -> Integers:
        """The place of calls, by their rows: of no event that of the one that follows it."""
        return self.place[np.searchsorted(self.row, rows)]


def places_near(trace: Trace, events: Events, ends: _Ends) -> Near:
    """The places of calls of some processes, of each from `wanted` up to `bound`."""
    location, call = trace.arrays("calls", "location", "call")
    codes, names = coded(trace.table("calls")["operation"])
    together = np.flatnonzero(np.array([*(name in TOGETHER for name in names), False])[codes])
    operation = np.array([*(CODES.get(name, UNKNOWN) for name in names), UNKNOWN])[codes]
    of_process, offsets = events.processes_at(trace), trace.offsets("calls")
    threads: list[tuple[int, ...]] = []
    near, joint = [_NO_CALLS], [_NO_CALLS]
    for process, (wanted, _, bound) in ends.items():
        row = events.row[events.of(process)]
        caller = location[row]
        for thread in np.flatnonzero(of_process == process).tolist():
            first, last = offsets[thread : thread + 2].tolist()
            if first == last:
                continue
            turn = np.flatnonzero(caller == thread)
            own = _Thread(first, call[first:last], row[turn], np.append(turn, len(row)))
            low, high = own.begin(wanted), own.begin(bound)
            threads.append((thread, process, *map(own.ordinal, (first, low, high, last))))
            rows = np.arange(low, high)
            near.append(_columns(thread, call[low:high], own.places(rows)))
            rows = together[slice(*np.searchsorted(together, [first, last]))]
            joint.append(_columns(process, operation[rows], own.places(rows)))
    location, of_process, *ordinals = np.array(threads, np.int64).reshape(-1, 6).T
    return Near(
        process=np.array(list(ends), np.int64),
        total=np.array([events.count(process) for process in ends], np.int64),
        counts=np.array(list(ends.values()), np.int64).reshape(-1, 3).T,
        location=location,
        of_process=of_process,
        ends=np.stack(ordinals),
        near=np.concatenate(near, axis=1),
        joint=np.concatenate(joint, axis=1),
    )


def _columns(one: int, *others: AnyIntegers) -> Integers:
    return np.stack([np.full(len(others[0]), one), *others]).astype(np.int64)


def place_cut(trace: Trace, places: Callable[[int], Near]) -> Cut:
    """The cut of a trace, by the places of calls up to where it is expected, or farther."""
    times = 1
    while True:
        near = places(times)
        wanted, most, bound = near.counts
        cut = cut_of(happens_before(trace, near), wanted, most)
        if (cut.counts <= bound).all() or (bound > near.total).all():
            return Cut(np.minimum(cut.counts, near.total), cut.crossing)
        times *= _FARTHER


def happens_before(trace: Trace, near: Near) -> HappensBefore:
    """What the messages and collectives of a trace demand of each other near a cut."""
    places = _CallPlaces(near, trace.rows("locations"))
    forth, back, waits = [_NO_EDGES], [_NO_EDGES], [_NO_EDGES]
    for part in trace.batches("messages", _MESSAGES):
        sender, receiver, *calls, done_ns, post_ns, size = numpy_columns(part, *_MESSAGES)
        sent, completed = (places(sender, call) for call in calls[:2])
        posted, received = (places(receiver, call) for call in calls[2:])
        forth.append(_edges_between(sent, received))
        back.append(_edges_between(received, sent))
        # A small send that was complete before its receive was posted waits for nobody.
        may_wait = (done_ns >= post_ns) | (size > _EAGER_BYTES)
        completed = np.where(may_wait, completed[0], UNKNOWN), completed[1]
        waits.append(_edges_between(completed, posted))
    members = [_member_edges(places, each) for each in _whole_collectives(trace)]
    members.append(_joint_call_edges(near))
    return HappensBefore(
        _all_edges(*forth, *back, *members), _all_edges(*back, *waits, *members)
    )


class _CallPlaces:
    """The process and place of calls, by their locations and ordinals."""

    def __init__(self, near: Near, locations: int) -> None:
        location, call, self._place = near.near[:, np.lexsort((near.near[1], near.near[0]))]
        self._rows = Ordinals(location, call)
        self._process = placed(near.of_process, near.location, locations, UNKNOWN)
        self._ends = np.zeros((4, locations), np.int64)
        self._ends[:, near.location] = near.ends

    def __call__(self, location: AnyIntegers, call: AnyIntegers) -> tuple[Integers, Integers]:
        row = self._rows.rows(location, call)
        first, low, high, last = self._ends[:, location]
        is_before, is_behind = (call >= first) & (call < low), (call >= high) & (call < last)
        place = np.where(
            is_before, _BEFORE, np.where(is_behind, _BEHIND, take(self._place, row))
        )
        is_there = (row >= 0) | is_before | is_behind
        return np.where(is_there, self._process[location], UNKNOWN), place


def _edges_between(one: tuple[Integers, Integers], other: tuple[Integers, Integers]) -> Edges:
    """What calls demand of others, each a process and a place; not what no cut changes."""
    (process, place), (needed, needed_place) = one, other
    known = (process >= 0) & (needed >= 0) & (place != _BEHIND) & (needed_place != _BEFORE)
    return Edges(*(column[known] for column in (process, place, needed, needed_place)))


def _whole_collectives(trace: Trace) -> Iterator[Integers]:
    """The members of collectives, some after others: of which, at which location and call."""
    columns = "collective", "location", "call"
    held = _NO_CALLS
    for part in trace.batches("collective_members", columns):
        held = np.concatenate([held, np.stack(numpy_columns(part, *columns))], axis=1)
        # The last one may go on in the next part.
        whole = int(np.searchsorted(held[0], held[0, -1:]).sum())
        yield held[:, :whole]
        held = held[:, whole:]
    yield held


def _member_edges(places: _CallPlaces, members: Integers) -> Edges:
    """Each member of a collective demands the next one of it, and the last the first."""
    collective, *call = members
    process, place = places(*call)
    is_known = process >= 0
    if not is_known.any():
        return _NO_EDGES
    collective, process, place = (each[is_known] for each in (collective, process, place))
    starts = np.flatnonzero(begins_run(collective))
    lengths = run_lengths(starts, len(collective))
    following = np.arange(1, len(collective) + 1)
    following[starts + lengths - 1] = starts
    # What all of them have made, or none of them, tells nothing.
    least, most = (of.reduceat(place, starts) for of in (np.minimum, np.maximum))
    tells = np.flatnonzero(np.repeat((least != _BEHIND) & (most != _BEFORE), lengths))
    after = following[tells]
    return _edges_between((process[tells], place[tells]), (process[after], place[after]))


def _joint_call_edges(near: Near) -> Edges:
    """Calls that all members make together and that are no instances: the k-th of each process.

    Only where all processes make the same of them: what is on a part of the ranks is not told.
    """
    process, operation, place = near.joint
    turn = ordinal_within(process)
    order = np.lexsort((process, turn))
    processes = len(near.process)
    shape = (len(process) // max(processes, 1), processes)
    operations = operation[order][: shape[0] * processes].reshape(shape)
    if len(process) != operations.size or (operations != operations[:, :1]).any():
        return _NO_EDGES
    process, place = process[order].reshape(shape), place[order].reshape(shape)
    following = np.roll(process, -1, axis=1), np.roll(place, -1, axis=1)
    return Edges(process.ravel(), place.ravel(), following[0].ravel(), following[1].ravel())


def _all_edges(*parts: Edges) -> Edges:
    return Edges(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def cut_of(demands: HappensBefore, wanted: Integers, most: Integers) -> Cut:
    """The first cut not before what is wanted that nothing crosses, if it is below `most`.

    Else messages may be in flight, but every call that is made returns.
    """
    strict = closure(demands.strict, wanted)
    if (strict <= most).all():
        return Cut(strict, 0)
    least = closure(demands.least, wanted)
    ends = demands.strict
    made = ends.place < least[ends.process]
    return Cut(least, int(np.count_nonzero(made & (ends.needed_place >= least[ends.needed]))))


def closure(ends: Edges, wanted: Integers) -> Integers:
    """The least counts from `wanted` on that meet all demands."""
    counts = wanted.copy()
    open_ends = ends
    while True:
        # What is needed already, or needed by none up to now, is looked at again only if
        # it is open: ends that are met stay met, for counts only grow.
        unmet = open_ends.needed_place >= counts[open_ends.needed]
        open_ends = Edges(*(column[unmet] for column in open_ends))
        made = open_ends.place < counts[open_ends.process]
        if not made.any():
            return counts
        np.maximum.at(counts, open_ends.needed[made], open_ends.needed_place[made] + 1)
