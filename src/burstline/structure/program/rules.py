"""When conditions hold: the rule that the iterations follow in which they do, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from burstline.structure.program.nodes import Call, Condition, Loop
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
    for chain in chains(items, around):
        for item in chain:
            if isinstance(item, Condition):
                is_else = len(chain) > 1 and item is chain[-1]
                yield is_else or rule(item, around) is not None
                yield from _explained(item.items, None)
                continue
            if item.when is None and item.probability < 1:
                yield False
            if isinstance(item, Loop):
                yield from _explained(item.items, item)


def rule(condition: Condition, around: Loop | None) -> str | None:
    """When a condition holds in the loop around it, in words that are true of all its ranks."""
    if around is None or around.trips is None:
        return None
    lanes = np.flatnonzero(condition.executions).tolist()
    texts = {_holds(condition.when.values(k), around.trips.values(k)) for k in lanes}
    return texts.pop() if len(texts) == 1 else None


def chains(items: Sequence[Item], around: Loop | None) -> Iterator[Sequence[Item]]:
    """The items of a body, neighbouring conditions of which always one holds as one chain."""
    begin = 0
    while begin < len(items):
        end = begin + _branches(items[begin:], around)
        yield items[begin:end]
        begin = end


def _branches(items: Sequence[Item], around: Loop | None) -> int:
    """How many of the items are the chain that begins with the first; 1 if none does."""
    first = items[0]
    if around is None or not isinstance(first, Condition):
        return 1
    wanted = around.executions * (first.executions > 0)
    total = np.zeros_like(wanted)
    for count, item in enumerate(items, start=1):
        if not isinstance(item, Condition) or item.ranks != first.ranks:
            return 1
        total = total + item.executions
        if (total > wanted).any():
            return 1
        if np.array_equal(total, wanted):
            lanes = np.flatnonzero(wanted).tolist()
            return count if all(_is_apart(items[:count], lane) for lane in lanes) else 1
    return 1


def _is_apart(branches: Sequence[Item], lane: int) -> bool:
    """Whether no two conditions hold in one iteration of a lane."""
    when = [item.when.values(lane) for item in branches if item.when is not None]
    together = np.concatenate(when)
    return len(np.unique(together)) == len(together)


def size(items: Sequence[Item], around: Loop | None) -> int:
    """The nodes of a body and in it: its calls, loops and conditions, a chain as one."""
    total = 0
    for chain in chains(items, around):
        total += 1
        for item in chain:
            if not isinstance(item, Call):
                total += size(item.items, item if isinstance(item, Loop) else None)
    return total


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
