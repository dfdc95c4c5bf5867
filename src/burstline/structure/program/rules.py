"""When conditions hold: the rule that the iterations follow in which they do, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeGuard

import numpy as np

from burstline.structure.program.nodes import Condition, Loop
from burstline.structure.program.ranks import compact

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from burstline.columns import Integers
    from burstline.structure.program.nodes import Item

_FEW: Final = 4
_TEENS: Final = range(11, 14)
_ENDINGS: Final = {1: "st", 2: "nd", 3: "rd"}


class Conditions(NamedTuple):
    """How many conditions a program has, by whether the iterations follow a rule."""

    explained: int
    unexplained: int

    @classmethod
    def of(cls, items: Sequence[Item]) -> Conditions:
        """The conditions in a program; calls and loops made now and then are such."""
        explained = list(_explained(items, None))
        return cls(sum(explained), len(explained) - sum(explained))


def _explained(items: Sequence[Item], around: Loop | None) -> Iterator[bool]:
    before: Item | None = None
    for item in items:
        if isinstance(item, Condition):
            yield rule(item, around) is not None or is_otherwise(item, before, around)
            yield from _explained(item.items, None)
        else:
            if item.when is None and item.probability < 1:
                yield False
            if isinstance(item, Loop):
                yield from _explained(item.items, item)
        before = item


def rule(condition: Condition, around: Loop | None) -> str | None:
    """When a condition holds in the loop around it, in words that are true of all its ranks."""
    if around is None or around.trips is None:
        return None
    lanes = np.flatnonzero(condition.executions).tolist()
    texts = {_holds(condition.when.values(k), around.trips.values(k)) for k in lanes}
    return texts.pop() if len(texts) == 1 else None


def is_otherwise(
    condition: Item | None, before: Item | None, around: Loop | None
) -> TypeGuard[Condition]:
    """Whether an item is a condition that holds exactly when the one before does not."""
    if not (isinstance(condition, Condition) and isinstance(before, Condition)):
        return False
    if around is None or not np.array_equal(
        condition.executions + before.executions, around.executions * (condition.executions > 0)
    ):
        return False
    lanes = np.flatnonzero(condition.executions).tolist()
    return all(
        not np.isin(condition.when.values(lane), before.when.values(lane)).any()
        for lane in lanes
    )


def _holds(when: Integers, trips: Integers) -> str | None:
    """In which iterations something happens; None if there are no few words for it."""
    begins = np.cumsum(trips) - trips
    entry = np.searchsorted(begins, when, side="right") - 1
    place = when - begins[entry]
    to_end = trips[entry] - 1 - place
    for distance, name in ((place, "first"), (to_end, "last")):
        if len(when) == len(trips) and not distance.any():
            return f"{name} iteration"
        if len(when) == trips.sum() - len(trips) and distance.all():
            return f"not {name} iteration"
    every = _in_each(place, entry, trips)
    return None if every is None else _set_text(every, int(trips.max()))


def _in_each(place: Integers, entry: Integers, trips: Integers) -> Integers | None:
    """The iterations of an entry in which something happens, if all entries agree."""
    first = place[entry == 0]
    if trips.min() != trips.max() or len(place) != len(first) * len(trips):
        return None
    return first if np.array_equal(place, np.tile(first, len(trips))) else None


def _set_text(chosen: Integers, total: int) -> str | None:
    """A set of iterations 0..total-1, counted from 1; None if it is long."""
    if len(chosen) == 1:
        return f"iteration == {chosen[0] + 1}"
    steps = np.unique(np.diff(chosen))
    step = int(steps[0])
    if len(steps) == 1 and step > 1 and chosen[-1] + step >= total:
        since = f", from iteration {chosen[0] + 1}" if chosen[0] != step - 1 else ""
        last = 0 if step % 100 in _TEENS else step % 10
        return f"every {step}{_ENDINGS.get(last, 'th')} iteration{since}"
    inside = compact((chosen + 1).tolist())
    outside = compact((np.setdiff1d(np.arange(total), chosen) + 1).tolist())
    if inside.count(",") >= _FEW and outside.count(",") >= _FEW:
        return None
    if outside.count(",") < inside.count(","):
        return f"iteration not in {{{outside}}}"
    return f"iteration in {{{inside}}}"
