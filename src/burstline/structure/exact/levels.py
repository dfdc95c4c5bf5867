"""What it costs to write down one loop, without what is in the loops in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.columns import begins_run
from burstline.structure.exact.loopnest import Cost
from burstline.structure.program.length import period_length
from burstline.structure.program.rules import MOST_BRANCHES, Places, words_for
from burstline.structure.program.runs import Runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from burstline.columns import Integers, Mask

    Masks = npt.NDArray[np.bool_]


_EXPLAINED: Final = 2
"""The most that trip counts cost that follow a rule."""

_LONG: Final = 3
"""Commas from which on a set of iterations is a list, that costs as much as trip counts."""


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
        length = self._trips_length()
        return inside.plus(Cost(int(length > _EXPLAINED), 1 + length))

    def _trips_length(self) -> int:
        trips = self.trips
        if (trips == trips[0]).all():
            return 1
        begin = np.flatnonzero(begins_run(self.entry_lane))
        parts = np.split(trips, begin[1:])
        if all((part == part[0]).all() for part in parts):
            return 2
        entry = np.arange(len(trips)) - np.repeat(begin, list(map(len, parts)))
        other = int((entry != 0).argmax())
        rise, run = trips[other] - trips[0], entry[other]
        if np.array_equal((trips - trips[0]) * run, entry * rise):
            return 2
        different = {part.tobytes(): part for part in parts}.values()
        return 2 + 2 * max(map(period_length, different))

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
        cost = Cost()
        keys = {
            e: self.executed[e].tobytes() for e, d in zip(elements, depends, strict=True) if d
        }
        items: list[list[int] | None] = []
        at = 0
        while at < len(elements):
            end = at + 1
            if not depends[at]:
                items.append(None)
                cost = cost.plus(Cost(0, 1))
            else:
                end = self._end_of_condition(elements, keys, at)
                items.append(elements[at:end])
                cost = cost.plus(self._body(elements[at:end], self.executed[elements[at]]))
            at = end
        return cost.plus(self._conditions(items, among, total))

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

    def _conditions(self, items: list[list[int] | None], among: Mask, total: Integers) -> Cost:
        cost = Cost()
        at = 0
        while at < len(items):
            branches = self._branches(items[at : at + MOST_BRANCHES], among, total)
            for item in items[at : at + branches][: None if branches == 1 else -1]:
                if item is not None:
                    cost = cost.plus(self._condition(self.executed[item[0]], among))
            at += branches
        return cost

    def _branches(self, items: list[list[int] | None], among: Mask, total: Integers) -> int:
        if items[0] is None:
            return 1
        first = self._counts(self.executed[items[0][0]])
        wanted = total * (first > 0)
        held = np.zeros_like(wanted)
        together = np.zeros(len(among), np.int64)
        for count, item in enumerate(items, start=1):
            if item is None:
                return 1
            own = self._counts(self.executed[item[0]])
            if not np.array_equal(own > 0, first > 0):
                return 1
            held = held + own
            together += self.executed[item[0]]
            if (held > wanted).any():
                return 1
            if np.array_equal(held, wanted):
                return count if together.max() == 1 else 1
        return 1

    def _condition(self, holds: Mask, among: Mask) -> Cost:
        """What the words for a condition cost, and the condition itself."""
        lanes = np.flatnonzero(self._counts(holds) > 0).tolist()
        alone = [among & (self.lane == lane) for lane in lanes]
        together = np.logical_or.reduce(alone)
        if (length := self._words_length(together, holds)) is not None:
            return Cost(0, 2 + length, 1)
        by_rank = [self._words_length(each, holds) for each in alone] if len(lanes) > 1 else []
        if by_rank and (most := _most(by_rank)) is not None:
            return Cost(1, 3 + most, 1)
        when = [np.flatnonzero(holds[each]) for each in alone]
        return Cost(1, 3 + 2 * int(np.diff(Runs.of(when).begin).max()), 1)

    def _words_length(self, among: Mask, holds: Mask) -> int | None:
        """What the words for a condition cost beside it, 0 for a rule; None without words."""
        words = words_for(Places(self.place[among], self.to_end[among], holds[among]))
        if words is None:
            return None
        if words.count(",") < _LONG:
            return 0
        # one loop for two, and a list of where the inner one ended
        listed = [np.unique(self.place[among & rows]) for rows in (holds, ~holds)]
        return 1 + 2 * min(map(len, listed))


def _most(lengths: Sequence[int | None]) -> int | None:
    """The greatest length; None where one is not known."""
    known = [each for each in lengths if each is not None]
    return max(known) if len(known) == len(lengths) else None
