"""When conditions hold: the rule that the iterations follow in which they do, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from burstline.columns import Integers, Mask, mask_at, ranges
from burstline.structure.program.nodes import Call, Condition, Item, Loop
from burstline.structure.program.ranks import compact
from burstline.structure.program.runs import Runs

MOST_BRANCHES: Final = 32
"""Conditions of a chain; more of them are no choice that anybody reads as one."""

_FEW: Final = 4
_TEENS: Final = range(11, 14)
_ENDINGS: Final = {1: "st", 2: "nd", 3: "rd"}


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """The body that some items are in: that of a loop, or of a condition in it."""

    loop: Loop | None = None  # the innermost; None outside loops
    # (lanes,) how often the body was executed; None for the program
    executions: Integers | None = None
    held: Runs | None = None  # the iterations of the loop in which it was; None for all

    def inner(self, item: Loop | Condition) -> Around:
        """The body of an item in this one."""
        if isinstance(item, Loop):
            return Around(item, item.executions)
        return Around(self.loop, item.executions, self.iterations(item.when))

    def iterations(self, when: Runs) -> Runs:
        """The iterations of the loop that are those executions of the body."""
        return when if self.held is None else when.out_of(self.held)


class Conditions(NamedTuple):
    """How many conditions a program has, by whether the iterations follow a rule."""

    explained: int
    unexplained: int

    @classmethod
    def of(cls, items: Sequence[Item], around: Around | None = None) -> Conditions:
        """The conditions in a body, or the program; calls made now and then are such."""
        explained = list(_explained(items, around or Around()))
        return cls(sum(explained), len(explained) - sum(explained))


def _explained(items: Sequence[Item], around: Around) -> Iterator[bool]:
    for chain in chains(items, around):
        for item in chain:
            if isinstance(item, Condition):
                is_else = len(chain) > 1 and item is chain[-1]
                yield is_else or rule(item, around) is not None
                yield from _explained(item.items, around.inner(item))
                continue
            if item.when is None and item.probability < 1:
                yield False
            if isinstance(item, Loop):
                yield from _explained(item.items, around.inner(item))


def rule(condition: Condition, around: Around) -> str | None:
    """When a condition holds in the loop around it, in words that are true of all its ranks."""
    lanes = np.flatnonzero(condition.executions).tolist()
    return _rule_on(condition, around, lanes)


def follows_a_rule_by_rank(condition: Condition, around: Around) -> bool:
    """Whether a condition holds by some rule on each lane."""
    lanes = np.flatnonzero(condition.executions).tolist()
    return all(_rule_on(condition, around, [lane]) is not None for lane in lanes)


def _rule_on(condition: Condition, around: Around, lanes: Sequence[int]) -> str | None:
    if around.loop is None or around.loop.trips is None:
        return None
    trips_of, held = around.loop.trips, around.held
    places: dict[tuple[bytes, ...], EntryPlaces] = {}
    for lane in lanes:
        own = [runs for runs in (condition.when, trips_of, held) if runs is not None]
        key = tuple(runs.key_on(lane) for runs in own)
        if key not in places:
            among = None if held is None else held.values(lane)
            places[key] = EntryPlaces.of(
                condition.when.values(lane), trips_of.values(lane), among
            )
    return words_for(EntryPlaces(*map(np.concatenate, zip(*places.values(), strict=True))))


def chains(items: Sequence[Item], around: Around) -> Iterator[Sequence[Item]]:
    """The items of a body, neighbouring conditions of which always one holds as one chain."""
    begin = 0
    while begin < len(items):
        end = begin + _branches(items[begin : begin + MOST_BRANCHES], around)
        yield items[begin:end]
        begin = end


def _branches(items: Sequence[Item], around: Around) -> int:
    """How many of the items are the chain that begins with the first; 1 if none does."""
    first = items[0]
    if around.executions is None or not isinstance(first, Condition):
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


def size(items: Sequence[Item], around: Around) -> int:
    """The nodes of a body and in it: its calls, loops and conditions, a chain as one."""
    total = 0
    for chain in chains(items, around):
        total += 1
        for item in chain:
            if not isinstance(item, Call):
                total += size(item.items, around.inner(item))
    return total


class EntryPlaces(NamedTuple):
    """Executions of the body around a condition, by their place in entries of the loop."""

    place: Integers  # iterations of the entry before it
    to_end: Integers  # and behind it
    chosen: Mask  # whether the condition held

    @classmethod
    def of(cls, when: Integers, trips: Integers, among: Integers | None) -> EntryPlaces:
        """Those of a lane, all iterations of the loop or some `among` them."""
        place = ranges(0, trips)
        to_end = np.repeat(trips, trips) - 1 - place
        if among is not None:
            place, to_end = place[among], to_end[among]
        chosen = mask_at(when, len(place))
        return cls(place, to_end, chosen)


def names_an_end(words: str) -> bool:
    """Whether a rule is the plainest there is: about the first iteration, or the last."""
    return words.endswith(("first iteration", "last iteration"))


def weight_of_rules(items: Sequence[Item], around: Around) -> tuple[int, int]:
    """What is less for plainer rules: conditions; twice, and in letters, that name no end."""
    total = letters = 0
    for chain in chains(items, around):
        for item in chain:
            if isinstance(item, Call):
                continue
            inner = weight_of_rules(item.items, around.inner(item))
            total, letters = total + inner[0], letters + inner[1]
            if isinstance(item, Condition):
                is_else = len(chain) > 1 and item is chain[-1]
                words = "" if is_else else rule(item, around) or ""
                is_plain = is_else or names_an_end(words)
                total += 1 if is_plain else 2
                letters += 0 if is_plain else len(words)
    return total, letters


def words_for(places: EntryPlaces) -> str | None:
    """In which iterations something happens; None if there are no few words for it."""
    for distance, name in ((places.place, "first"), (places.to_end, "last")):
        is_as_named = places.chosen == (distance == 0)
        if is_as_named.all():
            return f"{name} iteration"
        if not is_as_named.any():
            return f"not {name} iteration"
    there = np.zeros((2, int(places.place.max()) + 1), np.bool_)
    there[places.chosen.view(np.int8), places.place] = True
    if (there[0] & there[1]).any():
        return None
    return set_text(np.flatnonzero(there[1]), np.flatnonzero(there[0]))


def set_text(chosen: Integers, others: Integers) -> str | None:
    """A set of iterations that is none of the others, counted from 1; None if it is long."""
    if len(chosen) == 1:
        return f"iteration == {chosen[0] + 1}"
    steps = chosen[1:] - chosen[:-1]
    step = int(steps[0])
    if step > 1 and (steps == step).all() and chosen[-1] + step > others.max(initial=0):
        since = f", from iteration {chosen[0] + 1}" if chosen[0] != step - 1 else ""
        last = 0 if step % 100 in _TEENS else step % 10
        return f"every {step}{_ENDINGS.get(last, 'th')} iteration{since}"
    inside = compact((chosen + 1).tolist())
    outside = compact((others + 1).tolist())
    if inside.count(",") >= _FEW and outside.count(",") >= _FEW:
        return None
    if outside.count(",") < inside.count(","):
        return f"iteration not in {{{outside}}}"
    return f"iteration in {{{inside}}}"
