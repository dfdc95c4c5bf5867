"""What it costs to write readings of a loop down, told by the calls in it and no others."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline.columns import Integers, Mask, begins_run, mask_at, ranges, run_lengths
from burstline.identity import Sites
from burstline.structure.exact.body import Body, Cost, first_call, loop_cost, trips_cost
from burstline.structure.exact.cuts import cuts, cuts_by_trips, ends_in_two
from burstline.structure.exact.entries import (
    Masks,
    as_many_on_all,
    equal_parts,
    hidden_loops,
    shared_trips,
    sums_by_lane,
)
from burstline.structure.kinds import alike_lanes, lanes_of

_MOST_READINGS: Final = 60
"""How often the calls are read in all, before the search for the shortest is cut off."""

_MOST_OTHERS: Final = 20
"""How often they are read to tell entries apart."""

_FEW_LOOKS: Final = 1_000_000
"""Calls that are read for both in any case."""

_MOST_APART: Final = 4
"""Ways to part iterations that are told by what they cost."""

_MOST_STRETCHES: Final = 6
"""Elements of a loop that are tried as one in it."""

_SPARSEST: Final = 64
"""Elements and iterations for each call, at most: nobody knows a loop that does so little."""

_FEW_EXECUTIONS: Final = 1 << 12
"""Of elements in iterations, up to which it is kept what loops of such iterations cost."""

_NOWHERE: Final = np.zeros(0, np.int64)


class _Entered(NamedTuple):
    """The calls of one loop, entry after entry."""

    symbol: npt.NDArray[np.int32]
    place: Integers  # in the sequence
    begins: Mask  # whether an entry begins
    lane: Integers


class _Elements(NamedTuple):
    """The elements of a loop."""

    of_symbol: npt.NDArray[np.int32]  # which one each site is in
    is_loop: Mask
    again: Integers  # places where a loop is entered anew that nobody sees


class _Run(NamedTuple):
    """What a loop executes, entry after entry and lane after lane."""

    element: npt.NDArray[np.int32]
    begins: Mask  # whether an entry begins
    lane: Integers
    place: Integers  # of the first call in the sequence
    calls: int

    def new(self, loop: Body) -> Mask:
        """Where iterations begin."""
        return self.parted(self.begins, len(loop.elements), *_parted(loop))

    def parted(self, begins: Mask, elements: int, apart: Integers, cuts: Integers) -> Mask:
        """Where iterations begin: where some do, and between elements, or at places."""
        return _core.iteration_begins(
            self.element, begins, self.place, elements, apart, cuts
        ).view(np.bool_)

    def always_together(self, elements: int) -> set[tuple[int, int]]:
        """Pairs of elements the second of which is next to the first, and nowhere else."""
        most = elements + 1  # one is nowhere
        before = np.where(self.begins, elements, np.append(elements, self.element[:-1]))
        after = np.append(np.where(self.begins[1:], elements, self.element[1:]), elements)
        pairs = np.append(self.element * most + after, before * most + self.element)
        one, other = np.divmod(np.unique(pairs), most)
        leads, follows = np.bincount(one), np.bincount(other)
        alone = (leads[one] == 1) & (follows[other] == 1)
        return {*zip(one[alone].tolist(), other[alone].tolist(), strict=True)}

    def is_even(self, new: Mask) -> bool:
        """Whether all entries on a lane have the same number of iterations."""
        entry = np.flatnonzero(self.begins)
        trips = np.add.reduceat(new, entry, dtype=np.int64)
        return _are_even(trips, self.lane[entry])

    def irregular(self, new: Mask, elements: int) -> int:
        """How many elements some iterations of a place from either end execute, and not all."""
        return _core.irregular_elements(self.element, self.begins, new, elements)


def _are_even(trips: Integers, lane: Integers) -> bool:
    """Whether all entries of a loop on a lane have the same number of iterations."""
    return bool(((lane[1:] != lane[:-1]) | (trips[1:] == trips[:-1])).all())


class _Entries(NamedTuple):
    """The entries of a loop, lane after lane."""

    trips: Integers
    lane: Integers
    first: Integers  # place of the first call in the sequence
    even: bool  # whether all on a lane have the same number of iterations

    def by_lane(self, lanes: int) -> list[Integers]:
        """The trip counts on each lane."""
        return [self.trips[self.lane == lane] for lane in range(lanes)]

    def beyond(self, around: _Iterations) -> Cost:
        """What the trip counts cost beside what they would without the iterations around."""
        number = np.searchsorted(around.first, self.first, side="right") - 1
        begin = np.flatnonzero(around.begins)
        place = number - begin[np.searchsorted(begin, number, side="right") - 1]
        here, there = (trips_cost(self.trips, self.lane, each) for each in (place, None))
        return Cost(here.unexplained - there.unexplained, here.length - there.length)


class _Iterations(NamedTuple):
    """What the iterations of a loop do, entry after entry and lane after lane."""

    executed: Masks  # (elements, iterations)
    begins: Mask  # whether an entry begins
    lane: Integers
    first: Integers  # place of the first call in the sequence

    def cost(self) -> Cost:
        """What the loop, and the conditions in it, cost."""
        return loop_cost(self.executed, self.begins, self.lane)

    def entries(self) -> _Entries:
        """The entries of the loop."""
        begin = np.flatnonzero(self.begins)
        trips, lane = run_lengths(begin, len(self.lane)), self.lane[begin]
        return _Entries(trips, lane, self.first[begin], _are_even(trips, lane))


@dataclass(slots=True)
class _Left:
    """Calls that may still be looked at."""

    calls: int
    others: int = 0  # to tell entries apart


@dataclass(slots=True, eq=False)
class ReadingCosts:
    """Tells what readings of a loop cost, from the calls in it and no others."""

    sequence: npt.NDArray[np.int32]  # calls of lanes that differ, one lane after another
    lane: Integers
    alike: Sequence[int]  # for each lane, the one among those that differ that is equal
    symbols: int
    left: _Left
    known: dict[Any, Body] = field(default_factory=dict)  # the best readings
    told: dict[Any, Cost | None] = field(default_factory=dict)
    costs: dict[tuple[bytes, ...], Cost] = field(default_factory=dict)
    entered: dict[frozenset[int], _Entered] = field(default_factory=dict)
    entries: dict[Hashable, _Entries | None] = field(default_factory=dict)
    anew: Integers = field(default_factory=_NOWHERE.copy)  # places of more entries of loops

    @classmethod
    def of(cls, sites: Sites, lane_begin: Integers) -> ReadingCosts:
        """The judge of the readings of the calls of some lanes."""
        first, alike = alike_lanes(sites.of_call, lane_begin)
        sequence = lanes_of(sites.of_call, lane_begin, first)
        judge = cls(
            sequence=sequence,
            lane=np.repeat(np.arange(len(first)), np.diff(lane_begin)[first]),
            alike=alike.tolist(),
            symbols=len(sites),
            left=_Left(max(_MOST_READINGS * len(sequence), _FEW_LOOKS)),
        )
        # without lines, calls are at the sites that make loops short: counts make up more
        return judge.once_more() if sites.has_paths else judge

    @property
    def lanes(self) -> int:
        """Lanes that differ."""
        return len(set(self.alike))

    def once_more(self) -> ReadingCosts:
        """The same judge, who looks at calls as often again."""
        most = max(_MOST_OTHERS * len(self.sequence), _FEW_LOOKS)
        self.left.others = most
        return self

    def cost(self, loop: Body, around: Body | None = None, *, is_other: bool) -> Cost | None:
        """What a loop costs, without the loops in it; None if that takes too long to tell."""
        uneven = [each for _, each in loop.loops if self._uneven(each, loop)]
        key: list[Hashable] = [loop.most, loop.rise, loop.apart, loop.cuts, loop.anew]
        key += map(_key, loop.elements)
        key += uneven
        if loop.rise and around is not None:
            key += [around.made, around.anew]
        if (read := tuple(key)) not in self.told:
            if (self.left.others if is_other else self.left.calls) <= 0:
                return None
            calls = len(self._entered(loop.made).symbol)
            if is_other:
                self.left.others -= calls
            else:
                self.left.calls -= calls
            iterations = self._iterations(loop, around)
            own = iterations and self._cost(iterations)
            own = own and own.plus(Cost(0, -len(loop.loops)))
            for element in uneven:
                entries = self._uneven(element, loop)
                if own and entries and iterations:
                    own = own.plus(entries.beyond(iterations))
            self.told[read] = own
        return self.told[read]

    def _cost(self, iterations: _Iterations) -> Cost:
        """What a loop of such iterations costs; many small loops have the same."""
        if iterations.executed.size > _FEW_EXECUTIONS:
            return iterations.cost()
        key = tuple(column.tobytes() for column in iterations[:3])
        if key not in self.costs:
            self.costs[key] = iterations.cost()
        return self.costs[key]

    def _entries(self, loop: Body, around: Body | None = None) -> _Entries | None:
        """The entries of a loop; None if its iterations have hardly any calls."""
        key = loop, (around.made, around.anew) if around and loop.rise else None
        if key not in self.entries:
            iterations = self._iterations(loop, around)
            self.entries[key] = iterations and iterations.entries()
        return self.entries[key]

    def _uneven(self, loop: Body, around: Body) -> _Entries | None:
        """The entries of a loop in another; None if each lane has those of one trip count."""
        entries = self._entries(loop, around)
        return None if entries is None or entries.even else entries

    def shared_trips(self, loop: Body) -> tuple[int, ...]:
        """The iterations on each lane that entries have a multiple of; empty if no news."""
        if self.left.others <= 0 or (entries := self._entries(loop)) is None:
            return ()
        most = shared_trips(entries.by_lane(self.lanes))
        return self._on_all(most) if most else ()

    def entries_by_count(
        self, loop: Body, around: Body
    ) -> Iterator[tuple[tuple[int, ...], int]]:
        """The iterations that may tell entries, on each lane, and by how many they rise."""
        entries = self._entries(loop)
        if entries is None or (entries.trips == entries.trips[0]).all():
            return
        outer = self._entries(around)
        if outer is None or self.left.others <= 0:
            return
        self.left.others -= int(outer.trips.sum())
        of_all = int(np.gcd.reduce(entries.trips))
        for most in {self.shared_trips(loop), (of_all,) * len(self.alike)} - {()}:
            if 1 < max(most) < entries.trips.max():
                yield most, 0
        number = np.searchsorted(outer.first, entries.first, side="right")
        at = np.append(0, np.flatnonzero(np.diff(number)) + 1)
        of_lane: dict[int, list[list[int]]] = {}
        parts = np.split(entries.trips, at[1:])
        for lane, own in zip(entries.lane[at].tolist(), parts, strict=True):
            of_lane.setdefault(lane, []).append(own.tolist())
        lanes = [of_lane.get(lane, []) for lane in range(self.lanes)]
        if most := as_many_on_all(lanes):
            yield self._on_all(most), 0
        for first, rise in sums_by_lane(lanes):
            yield self._on_all(first), rise

    def with_iterations_apart(self, loop: Body) -> Iterator[Body]:
        """A loop with more iterations, where elements that follow each other are apart."""
        run = self._run(loop)
        new = run.new(loop)
        count = len(loop.elements)
        if self.left.others <= 0 or count * int(new.sum()) > _SPARSEST * run.calls:
            return
        pairs = run.element[:-1].astype(np.int64) * count + run.element[1:]
        found = [divmod(pair, count) for pair in np.unique(pairs[~new[1:]]).tolist()]
        alone = run.always_together(count)
        found = [pair for pair in found if pair not in alone]
        most = run.irregular(new, count)
        ways: list[tuple[bool, int, tuple[tuple[int, int], ...]]] = []
        for apart in _neighbours(found):
            together = np.array(sorted(a * count + b for a, b in apart), np.int64)
            parted = run.parted(new, count, together, _NOWHERE)
            irregular = run.irregular(parted, count)
            if irregular > most:
                continue
            is_even = run.is_even(parted)
            if is_even or irregular < most:
                ways.append((not is_even, irregular, apart))
        for _, _, apart in sorted(ways)[:_MOST_APART]:
            named = frozenset(
                (first_call(loop.elements[a]), first_call(loop.elements[b])) for a, b in apart
            )
            yield loop.parted(loop.apart | named, loop.cuts)
        wholes = [loop]
        if loop.apart or loop.cuts:
            wholes.append(loop.parted(frozenset(), ()))
        for whole in wholes:
            before = new if whole is loop else run.new(whole)
            for parted in cuts(run.element, run.begins, run.lane, before):
                yield whole.cut(run.place[parted & ~before].tolist())

    def with_ends_apart(self, loop: Body) -> Iterator[Body]:
        """A loop whose first iterations, or last, are two: one element never goes on behind."""
        run = self._run(loop)
        new = run.new(loop)
        if self.left.others <= 0 or len(loop.elements) * int(new.sum()) > _SPARSEST * run.calls:
            return
        count = len(loop.elements)
        most = run.irregular(new, count)
        ways: list[tuple[bool, int, tuple[int, ...]]] = []
        for parted in ends_in_two(run.element, run.begins, new, count):
            irregular = run.irregular(parted, count)
            if irregular <= most:
                more = run.place[parted & ~new].tolist()
                ways.append((not run.is_even(parted), irregular, tuple(more)))
        for _, _, more in sorted(ways)[:_MOST_APART]:
            yield loop.cut(more)

    def with_plainer_trips(self, loop: Body) -> Iterator[Body]:
        """A loop with one more iteration in entries, where that makes trip counts plainer."""
        if self.left.others <= 0:
            return
        run = self._run(loop)
        new = run.new(loop)
        for parted in cuts_by_trips(run.element, run.begins, run.lane, new):
            yield loop.cut(run.place[parted & ~new].tolist())

    def with_hidden_loops(self, loop: Body) -> Iterator[Body]:
        """Loops of some elements of a loop in it, whose entries nobody saw, in its place."""
        if self.left.others <= 0 or (iterations := self._iterations(loop)) is None:
            return
        depends = _leaves_out(iterations)
        if not depends.any():
            return
        rows, trips = iterations.executed[depends], iterations.entries().by_lane(self.lanes)
        executed = [rows[:, iterations.lane == lane] for lane in range(self.lanes)]
        for most, rise, begin, end in hidden_loops(depends.tolist(), executed, trips):
            inner = Body(loop.elements[begin:end], most=self._on_all(most), rise=rise)
            yield loop.put(begin, end, inner)

    def stretches(self, loop: Body) -> list[tuple[int, int]]:
        """Elements of a loop that may be one in it: those that an iteration comes back to."""
        run = self._run(loop)
        back = np.flatnonzero(run.new(loop)[1:] & ~run.begins[1:])
        pairs = run.element[back + 1].astype(np.int64) * len(loop.elements) + run.element[back]
        found, counts = np.unique(pairs, return_counts=True)
        often = found[np.argsort(-counts, kind="stable")].tolist()
        spans = [divmod(each, len(loop.elements)) for each in often]
        inside = [(begin, end + 1) for begin, end in spans if begin <= end]
        return [each for each in inside if each != (0, len(loop.elements))][:_MOST_STRETCHES]

    def at_ends(self, loop: Body) -> tuple[int, int]:
        """How many elements only first iterations begin with, and only last ones end with."""
        iterations = self._iterations(loop)
        if iterations is None:
            return 0, 0
        first, last = iterations.begins, np.append(iterations.begins[1:], True)
        inside: list[list[bool]] = [
            np.any(iterations.executed & ~ends, axis=1).tolist() for ends in (first, last)
        ]
        return [*inside[0], True].index(True), [*inside[1][::-1], True].index(True)

    def conditions(self, loop: Body) -> list[tuple[int, int]]:
        """Neighbouring elements executed in the same iterations of a loop, but not in all."""
        iterations = self._iterations(loop)
        if iterations is None:
            return []
        depends = _leaves_out(iterations)
        same = np.all(iterations.executed[1:] == iterations.executed[:-1], axis=1)
        bounds = [0, *(np.flatnonzero(~same) + 1).tolist(), len(depends)]
        return [(begin, end) for begin, end in pairwise(bounds) if depends[begin]]

    def order_of_calls(self, loop: Body) -> list[int]:
        """The elements of a loop in the order in which they are executed most often."""
        run = self._run(loop)
        count = len(loop.elements)
        inside = ~run.begins[1:]
        pairs = run.element[:-1][inside].astype(np.int64) * count + run.element[1:][inside]
        follows = np.bincount(pairs, minlength=count * count).reshape(count, count)
        return _ordered_by(follows)

    def made(self, calls: Sequence[int]) -> tuple[bytes, ...]:
        """What is equal for calls of loops that are made in the same order, one for one."""
        entered = self._entered(frozenset(calls))
        name = np.zeros(self.symbols, np.int32)
        name[list(calls)] = np.arange(len(calls))
        columns = name[entered.symbol], entered.begins, entered.lane
        return tuple(column.tobytes() for column in columns)

    def differs_by_lane(self, loop: Body) -> bool:
        """Whether a loop has other trip counts on some lanes, and the same in all entries."""
        if self.left.others <= 0 or (entries := self._entries(loop)) is None:
            return False
        return entries.even and bool((entries.trips != entries.trips[0]).any())

    def equal_entries(self, loop: Body) -> tuple[int, ...]:
        """Where a loop makes the same calls once more, equally often in each of its entries."""
        calls = self._entered(loop.made)
        if loop.hides_entries or self.left.others <= 0 or len(loop.made) == 1:
            return ()
        self.left.others -= len(calls.symbol)
        return tuple(calls.place[equal_parts(calls.symbol, calls.begins)].tolist())

    def entered_at(self, places: Sequence[int]) -> ReadingCosts:
        """The same judge, for whom loops are entered at some more places."""
        own = self.sequence, self.lane, self.alike, self.symbols, self.left
        return ReadingCosts(*own, costs=self.costs, anew=np.array(places, np.int64))

    def entering(self, loop: Body, places: Sequence[int]) -> Body:
        """A loop with entries at some places, and the loops in it that go on at these."""
        at = np.array(places, np.int64)
        inside = np.isin(self.sequence, list(loop.made))
        goes_on = at[inside[at - 1] & inside[at]].tolist()
        entered = loop.with_loops(lambda each: self.entering(each, places))
        return replace(entered, anew=tuple(sorted({*loop.anew, *goes_on})))

    def on_all_lanes(self, cuts: Sequence[int]) -> Integers:
        """The places of cuts in the sequence of the calls of all lanes."""
        begin = np.flatnonzero(begins_run(self.lane))
        length = run_lengths(begin, len(self.lane))[np.array(self.alike)]
        at = np.array(cuts, np.int64)
        own = [at[self.lane[at] == each] - first for each, first in enumerate(begin.tolist())]
        places = np.cumsum(length) - length
        return np.concatenate(
            [own[each] + place for each, place in zip(self.alike, places, strict=True)]
        )

    def _on_all(self, most: Sequence[int]) -> tuple[int, ...]:
        return tuple(most[lane] for lane in self.alike)

    def _iterations(self, loop: Body, around: Body | None = None) -> _Iterations | None:
        """The iterations of a loop; None if they have hardly any calls."""
        count = len(loop.elements)
        found = _core.loop_iterations(
            self._entered(loop.made), self._elements(loop), *_parted(loop), _SPARSEST
        )
        if found is None:
            return None
        executed, begins, lane, first = found
        rows = executed.view(np.bool_).reshape(count, -1)
        iterations = _Iterations(rows, begins.view(np.bool_), lane, first)
        return self._entered_again(loop, iterations, around)

    def _run(self, loop: Body) -> _Run:
        """The elements of a loop in the order in which they are executed."""
        entered = self._entered(loop.made)
        element, begins, lane, place = _core.loop_run(entered, self._elements(loop))
        return _Run(element, begins.view(np.bool_), lane, place, len(entered.symbol))

    def _elements(self, loop: Body) -> _Elements:
        """What is in a loop."""
        of_symbol = np.zeros(self.symbols, np.int32)
        is_loop = np.zeros(len(loop.elements), np.bool_)
        again: list[Integers] = []
        for number, element in enumerate(loop.elements):
            if isinstance(element, int):
                of_symbol[element] = number
                continue
            of_symbol[list(element.made)] = number
            is_loop[number] = True
            if element.hides_entries and (entries := self._entries(element, loop)):
                again.append(entries.first)
        return _Elements(of_symbol, is_loop, np.concatenate(again) if again else _NOWHERE)

    def _entered_again(
        self, loop: Body, iterations: _Iterations, around: Body | None
    ) -> _Iterations:
        """The iterations, with the entries that are told by counting."""
        if loop.anew:
            anew = iterations.begins | np.isin(iterations.first, loop.anew)
            iterations = iterations._replace(begins=anew)
        if not loop.most:
            return iterations
        of_lane = dict(zip(self.alike, loop.most, strict=True))
        most = np.array([of_lane[lane] for lane in sorted(of_lane)])
        begin = np.flatnonzero(iterations.begins)
        trips = run_lengths(begin, len(iterations.lane))
        again = iterations.begins.copy()
        if not loop.rise:
            again |= ranges(0, trips) % np.maximum(most[iterations.lane], 1) == 0
            return iterations._replace(begins=again)
        outer = self._entered((around or loop).made)
        anew = np.union1d(outer.place[outer.begins], around.anew if around else ())
        number = np.searchsorted(anew, iterations.first[begin], side="right")
        lanes = most[iterations.lane[begin]]
        last = count = 0
        for entry, start, each, first in zip(
            number.tolist(), begin.tolist(), trips.tolist(), lanes.tolist(), strict=True
        ):
            count = count if entry == last else 0
            last, at, end = entry, start, start + each
            while at < end:
                again[at] = True
                at += first + loop.rise * count
                count += 1
        return iterations._replace(begins=again)

    def _entered(self, nodes: frozenset[int]) -> _Entered:
        """The calls of a loop."""
        if nodes not in self.entered:
            place = np.flatnonzero(mask_at(list(nodes), self.symbols)[self.sequence])
            begins = np.ones(len(place), np.bool_)
            begins[1:] = place[1:] - place[:-1] > 1
            begins |= begins_run(self.lane[place])
            if len(self.anew):
                begins |= np.isin(place, self.anew)
            self.entered[nodes] = _Entered(
                self.sequence[place], place, begins, self.lane[place]
            )
        return self.entered[nodes]


def _parted(loop: Body) -> tuple[Integers, Integers]:
    """The pairs of elements of a loop that are apart, each as one number, and its cuts."""
    pairs = _NOWHERE
    if loop.apart:
        named = {first_call(element): k for k, element in enumerate(loop.elements)}
        own = [pair for pair in loop.apart if named.keys() >= {*pair}]
        numbers = (named[one] * len(loop.elements) + named[other] for one, other in own)
        pairs = np.array(sorted(numbers), np.int64)
    cuts = sorted({*loop.cuts, *loop.anew})
    return pairs, np.array(cuts, np.int64) if cuts else _NOWHERE


def _ordered_by(follows: Integers) -> list[int]:
    """Elements in an order that most often has those before them that they follow."""
    order = [*range(len(follows))]
    gain = follows - follows.T  # of having one before another
    for _ in order:
        moved = False
        for one in [*order]:
            at = order.index(one)
            rest = order[:at] + order[at + 1 :]
            gains = np.cumsum([0, *(gain[other, one] for other in rest)])  # at each place
            best = int(gains.argmax())
            if gains[best] > gains[at]:
                order, moved = [*rest[:best], one, *rest[best:]], True
        if not moved:
            break
    return order


def _neighbours(pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[tuple[int, int], ...]]:
    """Pairs of elements that may be apart together: of one, and of those that are nearest."""
    seen = set()
    for side in (0, 1):
        for one in sorted({pair[side] for pair in pairs}):
            others = sorted(
                (pair for pair in pairs if pair[side] == one), key=lambda p: p[1] - p[0]
            )
            for end in range(1, len(others) + 1):
                together = tuple(sorted(others[:end]))
                if together not in seen:
                    seen.add(together)
                    yield together


def _key(element: int | Body) -> Hashable:
    """What is equal for elements that are executed in the same iterations."""
    if isinstance(element, int):
        return element
    return element if element.hides_entries else element.made


def _leaves_out(iterations: _Iterations) -> Mask:
    """Which elements are executed in some, but not all iterations of a lane."""
    bounds = np.append(np.flatnonzero(begins_run(iterations.lane)), len(iterations.lane))
    counts = np.add.reduceat(iterations.executed, bounds[:-1], axis=1, dtype=np.int64)
    return np.any((counts > 0) & (counts < bounds[1:] - bounds[:-1]), axis=1)
