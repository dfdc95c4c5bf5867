"""Entries of a loop that look like one, told apart by counting iterations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from burstline.columns import Integers, Mask, ranges

ByLane = Sequence[Integers]
Masks = npt.NDArray[np.bool_]

_MOST_PERIODS: Final = 4
"""Periods of a loop that are tried."""

_WORK: Final = 10_000_000
"""Elements and iterations that are looked at to find these."""

_LONGEST_FIRST: Final = 1000
"""Iterations of the first of entries that grow."""

_MOST_RISE: Final = 8
"""By how many iterations an entry may have more than the one before."""


def hidden_loops(
    depends: Sequence[bool], executed: Sequence[Masks], trips: ByLane
) -> Iterator[tuple[tuple[int, ...], int, int, int]]:
    """Loops in one that nobody saw: iterations of each entry, and the elements they are of.

    By which elements depend on conditions, and which of these each iteration of each lane
    executes, (elements, iterations). The iterations are those of the first entry on each lane,
    with their rise; the elements are told by their first, and the one behind the last.
    """
    for most, rise in _possible_periods(executed, trips):
        inside = _in_another(executed, trips, most, rise)
        begin, end = _parted(depends, *inside)
        if begin < end:
            yield most, rise, begin, end


def shared_trips(trips: ByLane) -> tuple[int, ...]:
    """The iterations that entries of a lane have a multiple of, or 0; empty if no news."""
    shared = tuple(int(np.gcd.reduce(own)) if len(own) else 0 for own in trips)
    is_news = any((own != n).any() for own, n in zip(trips, shared, strict=True))
    return shared if is_news and max(shared) > 1 else ()


def equal_parts(symbol: npt.NDArray[np.int32], begins: Mask) -> Integers:
    """The calls with which entries are made once more, as often in each; empty if in none."""
    begin = np.flatnonzero(begins)
    entries = np.split(symbol, begin[1:])
    lengths = np.array([*map(len, entries)])
    often = np.gcd.reduce(np.bincount(entries[0]))
    for times in reversed(_divisors([int(np.gcd.reduce(lengths, initial=often))])):
        whole = zip(entries, (lengths // times).tolist(), strict=True)
        if all(np.array_equal(entry[part:], entry[:-part]) for entry, part in whole):
            part = np.arange(1, times) * (lengths // times)[:, np.newaxis]
            return (begin[:, np.newaxis] + part).ravel()
    return np.zeros(0, np.int64)


def _possible_periods(
    executed: Sequence[Masks], trips: ByLane
) -> list[tuple[tuple[int, ...], int]]:
    """Iterations on each lane after which most elements repeat, and by how many these rise."""
    shared = [int(np.gcd.reduce(own)) for own in trips]
    entered = [each for each in shared if each]
    own = zip(executed, shared, strict=True)
    periods = [
        # that of a single lane is one of the others
        *([tuple(_period(rows, each) for rows, each in own)] if len(trips) > 1 else []),
        *(tuple(d for _ in trips) for d in _divisors(entered)),  # as often on all lanes
        *(tuple(each // d for each in shared) for d in _divisors(entered)),  # as many on all
    ]
    told = [[each] for each in sorted({n for own in trips for n in own.tolist()})]
    most_trips = told[-1][0]
    rising_sums = [each for each in sums(told) if each[2] > len(told)]
    ways = [(most, 0) for most in dict.fromkeys(periods) if 1 < max(most) < most_trips]
    ways += [((first,) * len(trips), rise) for first, rise, _ in rising_sums]
    tried = _WORK // max(sum(rows.size for rows in executed), 1)

    def irregular(way: tuple[tuple[int, ...], int]) -> tuple[int, int]:
        most, rise = way
        begins = [entry_begins(own, n, rise) for own, n in zip(trips, most, strict=True)]
        return sum(map(_irregular, executed, begins)), _unlike(executed, begins)

    return sorted(ways[: max(tried, _MOST_PERIODS)], key=irregular)[:_MOST_PERIODS]


def sums(parts: Sequence[Sequence[int]]) -> Iterator[tuple[int, int, int]]:
    """A first trip count, the rise, and how many entries, of which all trip counts are sums."""
    for rise in range(1, _MOST_RISE + 1):
        for first, counts in _sums(parts, rise):
            if max(counts) > 2:  # two are the sum of some in any case
                yield first, rise, sum(counts)


def sums_by_lane(
    of_lanes: Sequence[Sequence[Sequence[int]]],
) -> Iterator[tuple[tuple[int, ...], int]]:
    """The trip counts of a first entry on each lane, and how many more each has.

    Of each part of a lane anew, so that all trip counts are sums of these, of some of more. The
    first is the same on all lanes where that can be, else as long as it can be on each.
    """
    entered = [parts for parts in of_lanes if parts]
    for rise in range(1, _MOST_RISE + 1):
        found: list[dict[int, list[int]]] = []
        for parts in entered:
            found.append(dict(_sums(parts, rise)))
            if not found[-1]:
                break
        if not found[-1]:
            continue
        shared = sorted(set[int].intersection(*map(set, found)))
        ways = [[first] * len(found) for first in shared]
        if not shared:
            ways = [[*map(max, found)]]
        for way in ways:
            counts = [n for own, first in zip(found, way, strict=True) for n in own[first]]
            if max(counts) > 2 and sum(counts) > sum(map(len, chain.from_iterable(entered))):
                own = iter(way)
                yield tuple(next(own) if parts else 0 for parts in of_lanes), rise


def as_many_on_all(of_lanes: Sequence[Sequence[Sequence[int]]]) -> tuple[int, ...]:
    """The iterations on each lane of as many entries as that of the most has, in each part.

    Empty if that is no news, or if the iterations of some part are no multiple of them.
    """
    most = max(len(part) for parts in of_lanes for part in parts)
    totals = [{sum(part) for part in parts} for parts in of_lanes]
    if any(len(own) > 1 or any(total % most for total in own) for own in totals):
        return ()
    is_news = any(len(part) < most for parts in of_lanes for part in parts)
    return tuple(sum(own) // most for own in totals) if is_news else ()


def _sums(parts: Sequence[Sequence[int]], rise: int) -> Iterator[tuple[int, list[int]]]:
    """What the first entry may have so that all trip counts are sums, and of how many each."""
    different = list(dict.fromkeys(map(tuple, parts)))
    for first in range(1, min(*map(min, different), _LONGEST_FIRST) + 1):
        counts: dict[tuple[int, ...], int] = {}
        for part in different:
            counts[part] = _entries_in(part, first, rise)
            if not counts[part]:
                break
        else:
            yield first, [counts[tuple(part)] for part in parts]


def _entries_in(trips: Sequence[int], first: int, rise: int) -> int:
    """How many entries of rising trip counts some sums are of; 0 if they are of none."""
    count = 0
    for each in trips:
        total = 0
        while total < each:
            total += first + rise * count
            count += 1
        if total != each:
            return 0
    return count


def _in_another(
    executed: Sequence[Masks], trips: ByLane, most: tuple[int, ...], rise: int
) -> tuple[int, int]:
    """How many elements stand before a loop of so many iterations in another, and behind it."""
    # what only the first of these executes stands before the inner loop, what only the last
    # does behind it
    begins = [entry_begins(own, n, rise) for own, n in zip(trips, most, strict=True)]
    ends = [
        np.append(own[1:], n.sum())[: len(own)] - 1
        for own, n in zip(begins, trips, strict=True)
    ]
    first, last = (_only_in(some, executed) for some in (begins, ends))
    before = [*first, False].index(False)
    behind = [*last[::-1], False].index(False)
    return before, min(behind, len(first) - before)


def _parted(depends: Sequence[bool], before: int, behind: int) -> tuple[int, int]:
    """The elements between so many at the beginning and at the end, each on a condition."""
    begin, end = 0, len(depends)
    while begin < min(before, end) and depends[begin]:
        begin += 1
    while end > max(len(depends) - behind, begin) and depends[end - 1]:
        end -= 1
    return begin, end


def entry_begins(trips: Integers, most: int, rise: int) -> Integers:
    """The iterations of a lane in which the inner loop is entered, if these are its entries."""
    begins: list[int] = []
    at = 0
    for each in trips.tolist():
        end, count = at + each, 0
        while at < end:
            begins.append(at)
            at += (most or each) + rise * count
            count += 1
        at = end
    return np.array(begins, np.int64)


def _divisors(numbers: Sequence[int]) -> list[int]:
    """The divisors that numbers share, but for 1."""
    most = math.gcd(*numbers)
    return [d for d in range(2, most + 1) if most % d == 0]


def _period(executed: Masks, iterations: int) -> int:
    """The period that a lane repeats most of its elements in, a divisor of its iterations."""
    periods = _divisors([iterations])[: max(_WORK // max(executed.size, 1), 1)] or [1]
    total = executed.shape[1]
    return min(periods, key=lambda period: _irregular(executed, np.arange(0, total, period)))


def _irregular(executed: Masks, begins: Integers) -> int:
    """How many elements an inner loop does now and then, and not at its ends alone."""
    if not (total := executed.shape[1]):
        return 0
    behind = np.append(begins[1:], total)
    place = ranges(0, behind - begins)
    order = np.argsort(place, kind="stable")
    at = np.flatnonzero(np.diff(place[order], prepend=-1))
    of_place = executed[:, order]
    some = np.logical_or.reduceat(of_place, at, axis=1)
    repeats = (some == np.logical_and.reduceat(of_place, at, axis=1)).all(axis=1)
    made, first, last = (
        rows.sum(axis=1) for rows in (executed, executed[:, begins], executed[:, behind - 1])
    )
    return int(np.count_nonzero(~repeats & (made != first) & (made != last)))


def _unlike(executed: Sequence[Masks], begins: Sequence[Integers]) -> int:
    """How many elements some lane makes where another does not, from either end of entries."""
    if len(executed) == 1:
        return 0
    longest = max(rows.shape[1] for rows in executed)
    made = np.zeros((2, 2, len(executed[0]), longest), np.bool_)  # from where, and whether
    for rows, own in zip(executed, begins, strict=True):
        trips = np.append(own[1:], rows.shape[1]) - own
        place = ranges(0, trips)
        has_it = rows.any(axis=1)
        for some, at in zip(made, (place, np.repeat(trips, trips) - 1 - place), strict=True):
            for element in np.flatnonzero(has_it).tolist():
                some[0, element, at[rows[element]]] = True
                some[1, element, at[~rows[element]]] = True
    return int(np.count_nonzero((made[:, 0] & made[:, 1]).any(axis=-1).all(axis=0)))


def _only_in(iterations: ByLane, executed: Sequence[Masks]) -> list[bool]:
    """Which elements are executed in some iterations alone, on each lane."""
    both = zip(executed, iterations, strict=True)
    only = [rows.sum(axis=1) == rows[:, own].sum(axis=1) for rows, own in both]
    return np.all(only, axis=0).tolist()
