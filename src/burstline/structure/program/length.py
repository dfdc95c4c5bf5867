"""How long a program is, written down: of two true readings, the shorter tells more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from burstline.columns import Integers
from burstline.identity import Path
from burstline.structure.program.nodes import Call, Condition, Item, Loop
from burstline.structure.program.rules import Around, chains, follows_a_rule_by_rank, rule
from burstline.structure.program.runs import Runs
from burstline.structure.program_order import parting, paths_to_compare

_MOST_PERIODS: Final = 64
"""Periods that are tried; numbers that seem to have more possible ones have none."""

_NOTHING: Final = Around()


def description_length(items: Sequence[Item], around: Around = _NOTHING) -> int:
    """The length of a program, by its nodes, trip counts, conditions and lines in disorder.

    Each call, loop and condition counts 1, an ``else`` 0, and each two neighbours against the
    order of their lines 1. Trip counts of a loop: 1 if constant, 2 if constant on each lane or
    linear in the iteration of the loop around, else 2 and 2 for each progression of their
    shortest period. When a condition holds: 1 if by a rule, 2 if by one on each lane, else 2
    and 2 for each progression. Where lanes differ, the longest counts. A part of a program is
    told `around` what.
    """
    return length_of(items, around) + _lines_in_disorder(items)


def length_of(items: Sequence[Item], around: Around) -> int:
    """The length of a body, without lines in disorder."""
    total = 0
    for chain in chains(items, around):
        for item in chain:
            if isinstance(item, Call):
                total += 1
                continue
            total += length_of(item.items, around.inner(item))
            if isinstance(item, Loop):
                total += 1 + _trips_length(item, around)
            elif len(chain) == 1 or item is not chain[-1]:
                total += 1 + _when_length(item, around)
    return total


def _when_length(condition: Condition, around: Around) -> int:
    if rule(condition, around) is not None:
        return 1
    if follows_a_rule_by_rank(condition, around):
        return 2
    return 2 + 2 * int(np.diff(condition.when.begin).max())


def _trips_length(loop: Loop, around: Around) -> int:
    if loop.trips is None:
        return 1
    # of lanes with the same numbers, one
    lanes = np.flatnonzero(loop.executions).tolist()
    different = {loop.trips.key_on(lane): lane for lane in lanes}
    trips = [loop.trips.values(lane) for lane in different.values()]
    if all((each == each[0]).all() for each in trips):
        return 1 if len({int(each[0]) for each in trips}) == 1 else 2
    if _is_linear(loop, around):
        return 2
    return 2 + 2 * max(map(period_length, trips))


def _is_linear(loop: Loop, around: Around) -> bool:
    """Whether all trip counts are a + b·k, k the iteration of the loop around."""
    if around.loop is None or around.loop.trips is None or loop.when is None:
        return False
    own, places = [], []
    when = around.iterations(loop.when)
    for lane in np.flatnonzero(loop.executions).tolist():
        outer = around.loop.trips.values(lane)
        iterations = when.values(lane)
        begins = np.cumsum(outer) - outer
        entry = np.searchsorted(begins, iterations, side="right") - 1
        places.append(iterations - begins[entry])
        own.append(loop.trips.values(lane))  # type: ignore[union-attr]
    trips, place = np.concatenate(own), np.concatenate(places)
    other = int((place != place[0]).argmax())
    run, rise = place[other] - place[0], trips[other] - trips[0]
    return bool(run) and np.array_equal((trips - trips[0]) * run, (place - place[0]) * rise)


def period_length(numbers: Integers) -> int:
    """How many progressions the shortest period has of which the numbers are repetitions."""
    data, width = numbers.tobytes(), numbers.itemsize
    starts = np.flatnonzero(numbers[1:] == numbers[0])[:_MOST_PERIODS] + 1
    period = next(
        (at for at in starts.tolist() if data.startswith(data[at * width :])), len(numbers)
    )
    return int(Runs.of([numbers[:period]]).begin[-1])


def _lines_in_disorder(items: Sequence[Item]) -> int:
    """How many neighbours in a body stand against the order of their lines."""
    body = list(_calls_and_loops(items))
    against = 0
    for before, after in pairwise(body):
        lines = parting(_end_path(before, -1), _end_path(after, 0))
        against += lines is not None and lines[2] < lines[1]
    return against + sum(
        _lines_in_disorder(item.items) for item in body if isinstance(item, Loop)
    )


def _calls_and_loops(items: Sequence[Item]) -> Iterator[Call | Loop]:
    """The calls and loops of a body, those of its conditions too."""
    for item in items:
        if isinstance(item, Condition):
            yield from _calls_and_loops(item.items)
        else:
            yield item


def _end_path(item: Item, end: int) -> Path:
    """The call path to the first or the last call of an item."""
    while not isinstance(item, Call):
        item = item.items[end]
    (path,) = paths_to_compare([item])
    return path
