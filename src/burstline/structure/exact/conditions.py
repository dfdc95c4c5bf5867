"""The conditions in a body, around those of its elements where they take the fewest words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline.columns import Integers, Mask
from burstline.structure.exact.body import Cost
from burstline.structure.program.runs import Runs

Masks = npt.NDArray[np.bool_]

Part = int | tuple["Part", ...]
"""An element of a body, or what is in a condition."""

_BEGIN, _END = -1, -2
"""What the kernel writes around the elements of a condition."""


def loop_cost(executed: Masks, begins: Mask, lane: Integers) -> Cost:
    """What a loop, and the conditions in it, cost.

    By the iterations in which each element is executed, entry after entry and lane after lane,
    and which of them begin an entry.
    """
    return _cost(_core.loop_cost(executed, begins, lane))


def trips_cost(trips: Integers, lane: Integers, place: Integers | None = None) -> Cost:
    """What the trip counts of entries cost, by the iteration around that each is in.

    Without these, as if each iteration around had one.
    """
    return _cost(_core.trips_cost(trips, lane, trips[:0] if place is None else place))


def _cost(told: tuple[int, int, int, int, int]) -> Cost:
    unexplained, length, conditions, letters, lists = told
    return Cost(unexplained, length, conditions, letters=letters, lists=lists)


def conditional_body(when: Sequence[Runs], trips: Runs) -> tuple[Part, ...]:
    """The elements of a body, with conditions around what not all iterations execute.

    By the iterations of each element on each lane.
    """
    parts: list[list[Part]] = [[]]
    for each in _core.conditional_body(*_iterations(when, trips)).tolist():
        if each == _BEGIN:
            parts.append([])
        elif each == _END:
            inside = tuple(parts.pop())
            parts[-1].append(inside)
        else:
            parts[-1].append(each)
    return tuple(parts[0])


def _iterations(when: Sequence[Runs], trips: Runs) -> tuple[Masks, Mask, Integers]:
    """What each iteration executes, which begin an entry, their lane; of equal lanes one."""
    lanes = range(len(trips.begin) - 1)
    iterations = np.array([trips.values(lane).sum() for lane in lanes])
    depends = [runs.leaves_out(iterations) for runs in when]
    some = [runs for runs, is_some in zip(when, depends, strict=True) if is_some]
    different = {tuple(r.key_on(k) for r in (trips, *some)): k for k in lanes}
    own = list(different.values())
    total = int(iterations[own].sum())
    executed, begins = np.ones((len(when), total), np.bool_), np.zeros(total, np.bool_)
    executed[depends] = False
    before = np.cumsum(iterations[own]) - iterations[own]
    for place, lane in zip(before.tolist(), own, strict=True):
        for row in np.flatnonzero(depends).tolist():
            executed[row, place + when[row].values(lane)] = True
        each = trips.values(lane)
        begins[place + np.cumsum(each) - each] = True
    return executed, begins, np.repeat(np.arange(len(own)), iterations[own])


def elements_in(part: Part) -> list[int]:
    """The elements of a part, in their order."""
    return [part] if isinstance(part, int) else [e for p in part for e in elements_in(p)]
