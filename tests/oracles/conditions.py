"""Slow, readable twin of the kernel that puts conditions around the elements of a loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import accumulate, groupby, pairwise
from operator import or_
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline.columns import Integers, Mask, begins_run
from burstline.structure.exact.body import Cost
from burstline.structure.exact.nodes import Part
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

_LONG, _MANY_NUMBERS = 3, 4
"""Stretches and numbers up to which a set of iterations is no list, which costs more."""

_LONG_AGAIN, _MANY_AGAIN = 4, 6
"""Those up to which it is none if it is the same whenever the loop is entered."""

_SHORT: Final = 4
"""Neighbouring conditions up to which any of them may be in one that none of them is."""

_MANY: Final = 16
"""Neighbouring conditions from which on not all ways to put some into one are tried."""

_BY_RULE: Final = 2
"""What a condition costs whose iterations follow a rule."""


class Written(NamedTuple):
    """The parts of a body, and what they cost."""

    cost: Cost = Cost()
    parts: tuple[Part, ...] = ()

    def plus(self, other: Written) -> Written:
        """Those of both, one behind the other."""
        return Written(self.cost.plus(other.cost), self.parts + other.parts)


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The iterations of a loop, entry after entry and lane after lane.

    Sets of iterations are integers with a bit for each.
    """

    executed: Sequence[int]  # in which iterations each element is
    everything: int  # all iterations
    lanes: Sequence[int]  # those of each lane
    trips: Integers  # (entries,)
    entry_lane: Integers
    place: Integers  # (iterations,) iterations of the entry before each
    to_end: Integers  # and behind it
    # what was found before, to be looked up
    owns: dict[tuple[int, int], Cost] = field(default_factory=dict)
    insides: dict[tuple[int, int], Written] = field(default_factory=dict)
    own_lanes: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, executed: Masks, begins: Mask, lane: Integers) -> Level:
        """The iterations in which elements are executed, and which of them begin an entry."""
        begin = np.flatnonzero(begins)
        trips = np.diff(np.append(begin, len(lane)))
        place = np.arange(len(lane)) - np.repeat(begin, trips)
        lane_begin = np.flatnonzero(begins_run(lane)).tolist()
        ends = [*lane_begin[1:], len(lane)]
        return cls(
            executed=_as_sets(executed),
            everything=(1 << len(lane)) - 1,
            lanes=[(1 << b) - (1 << a) for a, b in zip(lane_begin, ends, strict=True)],
            trips=trips,
            entry_lane=lane[begin],
            place=place,
            to_end=np.repeat(trips, trips) - 1 - place,
        )

    def cost(self) -> Cost:
        """What the loop, and the conditions in it, cost."""
        inside = self.written().cost
        if (self.trips == 1).all():
            return inside  # it is none, but calls in another order than their lines
        return inside.plus(Cost(0, 1)).plus(trips_cost(self.trips, self.entry_lane))

    def written(self) -> Written:
        """The elements of the body, with conditions around what not all iterations execute."""
        return self._body(range(len(self.executed)), self.everything)

    def _body(self, elements: Sequence[int], among: int) -> Written:
        """The elements of a body that is executed in some iterations."""
        body = Written()
        depends = groupby(elements, lambda e: self.is_condition(self.executed[e], among))
        for is_condition, group in depends:
            some = tuple(group)
            always = Written(Cost(0, len(some)), some)
            body = body.plus(self._conditions(some, among) if is_condition else always)
        return body

    def is_condition(self, holds: int, among: int) -> bool:
        """Whether a lane is in some, but not all of the iterations."""
        return holds != among & self.lanes_of(holds)

    def lanes_of(self, some: int) -> int:
        """All iterations of the lanes that are in some of them."""
        if some not in self.own_lanes:
            self.own_lanes[some] = sum(lane for lane in self.lanes if lane & some)
        return self.own_lanes[some]

    def _conditions(self, elements: Sequence[int], among: int) -> Written:
        """Neighbouring elements, all of which depend on some condition."""
        alike = [tuple(same) for _, same in groupby(elements, self.executed.__getitem__)]
        run = _Run(self, alike, [self.executed[same[0]] for same in alike], among)
        best = [Written()]
        for begin in reversed(range(len(alike))):
            ways = (part.plus(best[len(alike) - end]) for part, end in run.beginning(begin))
            best.append(min(ways, key=lambda way: way.cost.words))
        return best[-1]

    def inside(self, elements: Sequence[int], holds: int) -> Written:
        """Elements that are executed only in iterations in which a condition holds."""
        ends = elements[0], elements[-1]
        if ends not in self.insides:
            self.insides[ends] = self._body(elements, holds)
        return self.insides[ends]

    def own(self, holds: int, among: int) -> Cost:
        """What the words for a condition cost, and the condition itself."""
        if (holds, among) not in self.owns:
            self.owns[holds, among] = self._own(holds, among)
        return self.owns[holds, among]

    def _own(self, holds: int, among: int) -> Cost:
        lanes = [lane & among for lane in self.lanes if lane & holds]
        words = self._words(reduce(or_, lanes), holds)
        if words is not None:
            if names_an_end(words):
                return Cost(0, 2, 1)
            return Cost(0, 2, 2, lists=self._list_length(words), letters=len(words))
        by_rank = [self._words(each, holds) for each in lanes] if len(lanes) > 1 else []
        known = [self._list_length(words) for words in by_rank if words is not None]
        if known and len(known) == len(by_rank):
            return Cost(1, 3, 2, lists=max(known))
        chosen = self._mask(holds)
        when = [np.flatnonzero(chosen[self._mask(each)]) for each in lanes]
        return Cost(1, 3 + 2 * int(np.diff(Runs.of(when).begin).max()), 2)

    def _list_length(self, words: str) -> int:
        """What words cost beside a rule in this loop."""
        several = self.entry_lane[self.trips > 1]
        return list_length(words, is_again=len(several) > len(np.unique(several)))

    def _mask(self, iterations: int) -> Mask:
        size = len(self.place)
        data = iterations.to_bytes((size + 7) // 8, "little")
        bits = np.unpackbits(np.frombuffer(data, np.uint8), count=size, bitorder="little")
        return bits.view(np.bool_)

    def _words(self, among: int, holds: int) -> str | None:
        """The words for when a condition holds in some iterations."""
        some = self._mask(among)
        chosen = self._mask(holds)[some]
        return words_for(EntryPlaces(self.place[some], self.to_end[some], chosen))


def trips_cost(trips: Integers, lane: Integers, place: Integers | None = None) -> Cost:
    """What the trip counts of entries cost, by the iteration around that each is in.

    Without these, as if each iteration around had one.
    """
    if (trips == trips[0]).all():
        return Cost(0, 1)
    begin = np.flatnonzero(begins_run(lane))
    parts = np.split(trips, begin[1:])
    if all((part == part[0]).all() for part in parts):
        return Cost(0, 2)
    if place is None:
        place = np.arange(len(trips)) - np.repeat(begin, list(map(len, parts)))
    other = int((place != place[0]).argmax())
    rise, run = trips[other] - trips[0], place[other] - place[0]
    if run and np.array_equal((trips - trips[0]) * run, (place - place[0]) * rise):
        return Cost(0, 2)
    different = {part.tobytes(): part for part in parts}.values()
    stretches = max(map(period_length, different))
    # one by one, or as one that repeats itself
    told = len(different) == 1 and (len(parts[0]) <= _FEW or stretches == 1)
    return Cost(int(not told), 2 + 2 * stretches)


class _Run(NamedTuple):
    """Neighbours in a body that is executed in some iterations, each only in some of these."""

    level: Level
    alike: Sequence[tuple[int, ...]]  # elements that are executed in the same iterations
    holds: Sequence[int]  # which these are
    among: int

    def beginning(self, begin: int) -> Iterator[tuple[Written, int]]:
        """The conditions that may begin at a place, and where they end."""
        unions = [*accumulate(self.holds[begin:], or_)]
        for end in self._ends(begin, unions):
            union = unions[end - begin - 1]
            if end == begin + 1 or self._may_be_one(begin, end, union):
                yield self._condition(begin, end, union), end
        grown = [0, *(k for k in range(1, len(unions)) if unions[k] != unions[k - 1])]
        always = (k for k in grown if not self.level.is_condition(unions[k], self.among))
        if (last := next(always, None)) is not None:
            whole, many = begin + last + 1, len(self.alike) > _MANY
            # what holds only with the last of the conditions may stand in that
            for end in range(whole, (whole if many else len(self.alike)) + 1):
                chains = [*self._chains(begin, end)]
                if not chains:
                    break
                yield from ((chain, end) for chain in chains)

    def _ends(self, begin: int, unions: Sequence[int]) -> Iterable[int]:
        """Where a condition that begins at a place may end: anywhere, if neighbours are few.

        Of many, all ways would take the fourth power of their number. There it ends with
        itself, or with the last one of the same condition if all between hold only with it.
        """
        if len(self.alike) <= _MANY:
            return range(begin + 1, len(self.alike) + 1)
        own = self.holds[begin]
        within = [k for k, union in enumerate(unions) if union == own == self.holds[begin + k]]
        return sorted({begin + 1, begin + within[-1] + 1})

    def _condition(self, begin: int, end: int, union: int, *, is_else: bool = False) -> Written:
        elements = [e for same in self.alike[begin:end] for e in same]
        inside = self.level.inside(elements, union)
        own = Cost(conditions=1) if is_else else self.level.own(union, self.among)
        return Written(inside.cost.plus(own), (inside.parts,))

    def _may_be_one(self, begin: int, end: int, union: int) -> bool:
        """Whether it may be shorter to write one condition around several."""
        if not self.level.is_condition(union, self.among):
            return False
        holds = self.holds[begin:end]
        if any(not self.level.is_condition(each, union) for each in holds):
            return True
        # else it costs words of its own: those in it must have been longer than by a rule
        if len(self.holds) > _SHORT:
            return False
        owns = [self.level.own(each, self.among).words[0] for each in holds]
        least = _BY_RULE * len(owns) - (_BY_RULE if self._breaks(begin, end) else 0)
        if sum(owns) <= least + _BY_RULE:
            return False
        own = self.level.own(union, self.among)
        return not own.unexplained and sum(owns) > least + own.words[0]

    def _chains(self, begin: int, end: int) -> Iterator[Written]:
        """Conditions one of which always holds, the last of them without words."""
        breaks = self._breaks(begin, end)
        if not breaks or len(breaks) >= MOST_BRANCHES:
            return
        yield self._chain([begin, *breaks, end])
        owns = (self.level.own(each, self.among).words[0] for each in self.holds[begin:end])
        if len(breaks) > 1 and max(owns) > _BY_RULE:
            for one in breaks:
                yield self._chain([begin, one, end])

    def _chain(self, places: Sequence[int]) -> Written:
        chain = Written()
        for begin, end in pairwise(places):
            union = reduce(or_, self.holds[begin:end])
            chain = chain.plus(self._condition(begin, end, union, is_else=end == places[-1]))
        return chain

    def _breaks(self, begin: int, end: int) -> list[int]:
        """The places between two neighbours before which all is done in other iterations."""
        holds = self.holds[begin:end]
        before = [*accumulate(holds, or_)]
        behind = [*accumulate(holds[::-1], or_)][::-1]
        lanes = self.level.lanes_of
        return [
            begin + k
            for k, (a, b) in enumerate(zip(before, behind[1:], strict=False), 1)
            if not a & b and lanes(a) == lanes(b)
        ]


def _as_sets(masks: Masks) -> list[int]:
    packed = np.packbits(masks, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def list_length(words: str, *, is_again: bool) -> int:
    """What words cost beside a rule: a long list as much as trip counts of its numbers.

    Lists may be longer that are the same in several entries of a loop.
    """
    long, most = (_LONG_AGAIN, _MANY_AGAIN) if is_again else (_LONG, _MANY_NUMBERS)
    stretches = words.split(", ")
    # three numbers at equal distances may be so by chance
    numbers = sum(3 if " by " in each else 1 + (".." in each) for each in stretches)
    told = 0 if len(stretches) > long else most
    return 1 + 2 * (numbers - told) if numbers > told else 0
