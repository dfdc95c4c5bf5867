"""The choice among true readings of a loop: what it costs to write each down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline.columns import Integers, Mask, begins_run
from burstline.identity import Sites
from burstline.structure.exact.loopnest import Body, Cost
from burstline.structure.exact.occurrences import Lanes
from burstline.structure.program.length import period_length
from burstline.structure.program.rules import (
    MOST_BRANCHES,
    EntryPlaces,
    names_an_end,
    words_for,
)
from burstline.structure.program.runs import Runs

Masks = npt.NDArray[np.bool_]


_FEW: Final = 4
"""Trip counts that are told one by one."""

_LONG: Final = 3
"""Commas from which on a set of iterations is a list, that costs as much as trip counts."""


class _Item(NamedTuple):
    """A call or a loop of a body, or a condition on some."""

    elements: list[int]
    inner: Cost
    # of a condition: the iterations in which it holds, how many on each lane, and what the
    # words for it cost
    holds: Mask | None = None
    counts: Integers | None = None
    own: Cost = Cost()


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The iterations of a loop, entry after entry and lane after lane."""

    executed: Masks  # (elements, iterations)
    trips: Integers  # (entries,)
    entry_lane: Integers
    place: Integers  # (iterations,) iterations of the entry before each
    to_end: Integers  # and behind it
    lane: Integers  # (iterations,)
    lane_begin: Integers  # (lanes with iterations,)

    @classmethod
    def of(cls, executed: Masks, begins: Mask, lane: Integers) -> Level:
        """The iterations in which elements are executed, and which of them begin an entry."""
        begin = np.flatnonzero(begins)
        trips = np.diff(np.append(begin, len(lane)))
        place = np.arange(len(lane)) - np.repeat(begin, trips)
        return cls(
            executed=executed,
            trips=trips,
            entry_lane=lane[begin],
            place=place,
            to_end=np.repeat(trips, trips) - 1 - place,
            lane=np.cumsum(begins_run(lane)) - 1,
            lane_begin=np.flatnonzero(begins_run(lane)),
        )

    def cost(self) -> Cost:
        """What the loop, and the conditions in it, cost."""
        everything = np.ones(len(self.lane), np.bool_)
        inside = self._body([*range(len(self.executed))], everything)
        if (self.trips == 1).all():
            return inside  # it is none, but calls in another order than their lines
        return inside.plus(Cost(0, 1)).plus(self._trips_cost())

    def _trips_cost(self) -> Cost:
        trips = self.trips
        if (trips == trips[0]).all():
            return Cost(0, 1)
        begin = np.flatnonzero(begins_run(self.entry_lane))
        parts = np.split(trips, begin[1:])
        if all((part == part[0]).all() for part in parts):
            return Cost(0, 2)
        entry = np.arange(len(trips)) - np.repeat(begin, list(map(len, parts)))
        other = int((entry != 0).argmax())
        rise, run = trips[other] - trips[0], entry[other]
        if np.array_equal((trips - trips[0]) * run, entry * rise):
            return Cost(0, 2)
        different = {part.tobytes(): part for part in parts}.values()
        told = len(different) == 1 and len(parts[0]) <= _FEW  # one by one
        return Cost(int(not told), 2 + 2 * max(map(period_length, different)))

    def _counts(self, rows: Masks) -> npt.NDArray[np.int64]:
        """In how many iterations of each lane each row is true, (..., lanes)."""
        return np.add.reduceat(rows, self.lane_begin, axis=-1, dtype=np.int64)

    def _body(self, elements: list[int], among: Mask) -> Cost:
        """What the elements of a body cost that is executed in some iterations."""
        total = self._counts(among)
        counts = self._counts(self.executed[elements])
        depends: list[bool] = np.any((counts > 0) & (counts < total), axis=1).tolist()
        if not any(depends):
            return Cost(0, len(elements))
        keys = {
            e: self.executed[e].tobytes() for e, d in zip(elements, depends, strict=True) if d
        }
        items: list[_Item] = []
        at = 0
        while at < len(elements):
            end = at + 1
            if not depends[at]:
                items.append(_Item(elements[at:end], Cost(0, 1)))
            else:
                end = self._end_of_condition(elements, keys, at)
                items.append(self._item(elements[at:end], self.executed[elements[at]], among))
            at = end
        return self._with_conditions_in_others(items, among, total)

    def _item(self, elements: list[int], holds: Mask, among: Mask) -> _Item:
        own = self._condition(holds, among)
        return _Item(elements, self._body(elements, holds), holds, self._counts(holds), own)

    def _with_conditions_in_others(
        self, items: list[_Item], among: Mask, total: Integers
    ) -> Cost:
        """What the items of a body cost, conditions in others where that is shorter."""
        cost = self._conditions(items, total)
        at = 0
        while at + 1 < len(items):
            first, second = items[at : at + 2]
            if (holds := _wider_condition(first.holds, second.holds)) is not None:
                both = self._item(first.elements + second.elements, holds, among)
                other = [*items[:at], both, *items[at + 2 :]]
                less = self._conditions(other, total)
                if less.rank < cost.rank:
                    items, cost = other, less
                    at = max(at - 1, 0)
                    continue
            at += 1
        return cost

    def _end_of_condition(self, elements: list[int], keys: dict[int, bytes], begin: int) -> int:
        end = position = begin + 1
        first = elements[begin]
        rest = [keys.get(e) for e in elements]
        while position < len(elements) and elements[position] in keys:
            if rest[position] == rest[begin]:
                end = position + 1
            elif rest[begin] not in rest[position:] or np.any(
                self.executed[elements[position]] & ~self.executed[first]
            ):
                break
            position += 1
        return end

    def _conditions(self, items: list[_Item], total: Integers) -> Cost:
        cost = Cost()
        at = 0
        while at < len(items):
            branches = self._branches(items[at : at + MOST_BRANCHES], total)
            chain = items[at : at + branches]
            for item in chain:
                cost = cost.plus(item.inner)
                if branches == 1 or item is not chain[-1]:
                    cost = cost.plus(item.own)
            at += branches
        return cost

    def _branches(self, items: list[_Item], total: Integers) -> int:
        first = items[0].counts
        if first is None:
            return 1
        wanted = total * (first > 0)
        held = np.zeros_like(wanted)
        together = np.zeros(len(self.lane), np.int64)
        for count, item in enumerate(items, start=1):
            if item.holds is None or item.counts is None:
                return 1
            held = held + item.counts
            if (held > wanted).any() or not np.array_equal(item.counts > 0, first > 0):
                return 1
            together += item.holds
            if np.array_equal(held, wanted):
                return count if together.max() == 1 else 1
        return 1

    def _condition(self, holds: Mask, among: Mask) -> Cost:
        """What the words for a condition cost, and the condition itself."""
        lanes = np.flatnonzero(self._counts(holds) > 0).tolist()
        alone = [among & (self.lane == lane) for lane in lanes]
        together = np.logical_or.reduce(alone)
        words = self._words(together, holds)
        if words is not None:
            return Cost(0, 2 + _list_length(words), 1 if names_an_end(words) else 2)
        by_rank = [self._words(each, holds) for each in alone] if len(lanes) > 1 else []
        known = [_list_length(words) for words in by_rank if words is not None]
        if known and len(known) == len(by_rank):
            return Cost(1, 3 + max(known), 2)
        when = [np.flatnonzero(holds[each]) for each in alone]
        return Cost(1, 3 + 2 * int(np.diff(Runs.of(when).begin).max()), 2)

    def _words(self, among: Mask, holds: Mask) -> str | None:
        return words_for(EntryPlaces(self.place[among], self.to_end[among], holds[among]))


def _list_length(words: str) -> int:
    """What words cost beside a rule: a long list as much as trip counts of its numbers."""
    stretches = words.split(", ")
    if len(stretches) <= _LONG:
        return 0
    # three numbers at equal distances may be so by chance
    return 1 + 2 * sum(3 if " by " in each else 1 + (".." in each) for each in stretches)


def _wider_condition(first: Mask | None, second: Mask | None) -> Mask | None:
    """When one of two conditions holds without which the other does not; None if none does."""
    if first is None or second is None:
        return None
    if not np.any(second & ~first):
        return first
    return None if np.any(first & ~second) else second


_MOST_READINGS: Final = 60
"""How often the calls are read in all, before the search for the shortest is cut off."""

_SPARSEST: Final = 64
"""Elements and iterations for each call, at most: nobody knows a loop that does so little."""


@dataclass(frozen=True, slots=True, eq=False)
class _Entered:
    """The calls of one loop, entry after entry."""

    symbol: npt.NDArray[np.int32]
    begins: Mask  # whether an entry begins
    lane: Integers


@dataclass(slots=True, eq=False)
class ReadingCosts:
    """Tells what readings of a loop cost, from the calls in it and no others."""

    sequence: npt.NDArray[np.int32]  # calls of lanes that differ, one lane after another
    lane: Integers
    symbols: int
    calls_left: int
    known: dict[Any, Body] = field(default_factory=dict)  # the best readings
    told: dict[tuple[tuple[int, ...], ...], Cost | None] = field(default_factory=dict)
    entered: dict[frozenset[int], _Entered] = field(default_factory=dict)

    @classmethod
    def of(cls, sites: Sites, lanes: Lanes) -> ReadingCosts:
        """The judge of the readings of the calls of some lanes."""
        bounds = pairwise(lanes.lane_begin.tolist())
        own = [sites.of_call[begin:end] for begin, end in bounds]
        different = list({lane.tobytes(): lane for lane in own}.values())
        sequence = np.concatenate(different)
        lane = np.repeat(np.arange(len(different)), list(map(len, different)))
        most = _MOST_READINGS * len(sequence)
        return cls(sequence, lane, len(sites), most)

    def cost(self, elements: Sequence[Sequence[int]], is_loop: Sequence[bool]) -> Cost | None:
        """What a loop of some elements costs, without what is in the loops among these.

        None if calls have been looked at often enough, or iterations have hardly any.
        """
        key = tuple(
            (loop, *sorted(nodes)) for nodes, loop in zip(elements, is_loop, strict=True)
        )
        if key not in self.told:
            entered = self._entered([node for element in elements for node in element])
            if self.calls_left <= 0:
                return None
            self.calls_left -= len(entered.symbol)
            self.told[key] = self._cost(entered, elements, np.array(is_loop))
        return self.told[key]

    def _cost(
        self, entered: _Entered, elements: Sequence[Sequence[int]], is_loop: Mask
    ) -> Cost | None:
        element_of = np.zeros(self.symbols, np.int32)
        for number, nodes in enumerate(elements):
            element_of[nodes] = number
        element = element_of[entered.symbol]
        # a loop in it is executed once, however many calls it makes
        again = np.zeros(len(element), np.bool_)
        again[1:] = element[1:] == element[:-1]
        kept = entered.begins | ~(again & is_loop[element])
        element, begins, lane = element[kept], entered.begins[kept], entered.lane[kept]
        goes_back = np.ones(len(element), np.bool_)
        goes_back[1:] = element[1:] <= element[:-1]
        new = begins | goes_back
        if len(elements) * int(new.sum()) > _SPARSEST * len(entered.symbol):
            return None
        executed = np.zeros((len(elements), int(new.sum())), np.bool_)
        executed[element, np.cumsum(new) - 1] = True
        level = Level.of(executed, begins[new], lane[new])
        return level.cost().plus(Cost(0, -int(is_loop.sum())))

    def _entered(self, nodes: Sequence[int]) -> _Entered:
        """The calls of a loop."""
        key = frozenset(nodes)
        if key not in self.entered:
            inside = np.zeros(self.symbols, np.bool_)
            inside[nodes] = True
            place = np.flatnonzero(inside[self.sequence])
            begins = np.ones(len(place), np.bool_)
            begins[1:] = np.diff(place) > 1
            begins |= begins_run(self.lane[place])
            self.entered[key] = _Entered(self.sequence[place], begins, self.lane[place])
        return self.entered[key]
