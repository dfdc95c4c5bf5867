"""What it costs to write readings of a loop down, told by the calls in it and no others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from burstline.columns import Integers, Mask, begins_run
from burstline.identity import Sites
from burstline.structure.exact.conditions import Level
from burstline.structure.exact.loopnest import Body, Cost
from burstline.structure.exact.occurrences import Lanes

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
