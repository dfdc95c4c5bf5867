"""Other programs that make the same calls, as what a nest did suggests them.

Where the calls between two entries of a loop are left out, the entries look like one, and a
loop around another that makes no call of its own leaves no trace: both are told by counting. A
call that only the first iteration makes, or the last, looks as if it stood beside its loop:
its line tells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from burstline.columns import Integers
from burstline.structure.exact.callgraph import CallGraph
from burstline.structure.exact.loopnest import Body, first_call
from burstline.structure.exact.occurrences import Executions, Nest

ByLane = Sequence[Integers]
Masks = npt.NDArray[np.bool_]

_MOST_PERIODS: Final = 4
"""Periods of a loop that are tried."""

_WORK: Final = 10_000_000
"""Elements and iterations that are looked at to find these."""

_LONGEST_FIRST: Final = 1000
"""Iterations of the first of entries that grow."""

_MOST_RISE: Final = 4
"""By how many iterations an entry may have more than the one before."""


def variants(
    program: Body, nest: Nest, executions: Executions, graph: CallGraph
) -> Iterator[Body]:
    """The program with one change each."""
    for number, body in enumerate(_program_and_loops(program)):
        for other in _with_calls_by_line(body, graph):
            yield _with_loop(program, number, other)
    for number, body in enumerate(_program_and_loops(program)):
        if number and not body.most:
            for other in _entered_by_count(number, body, nest, executions):
                yield _with_loop(program, number, other)


def _with_calls_by_line(body: Body, graph: CallGraph) -> Iterator[Body]:
    """A body with calls in the loop beside them, among the lines of which they stand."""
    for at, loop in enumerate(body.elements):
        if not isinstance(loop, Body):
            continue
        for beside, is_behind in (
            (body.elements[:at][::-1], False),
            (body.elements[at + 1 :], True),
        ):
            inside = _with_calls_among(loop, beside, graph, is_behind=is_behind)
            for count, other in reversed([*enumerate(inside, 1)]):
                before = at if is_behind else at - count
                behind = at + 1 + (count if is_behind else 0)
                yield replace(
                    body, elements=(*body.elements[:before], other, *body.elements[behind:])
                )


def _with_calls_among(
    loop: Body, beside: Sequence[int | Body], graph: CallGraph, *, is_behind: bool
) -> Iterator[Body]:
    """A loop with more and more of the calls beside it, if they stand among its lines."""
    last: int | None = None
    for call in beside:
        if isinstance(call, Body):
            return
        ahead = (graph.stands_before(call, first_call(each)) for each in loop.elements)
        place = next((k for k, is_ahead in enumerate(ahead) if is_ahead), 0)
        if not place and not (is_behind and graph.stands_before(call, first_call(loop))):
            return
        if last is not None:
            place = max(place, last + 1) if is_behind else min(place, last)
        loop = replace(loop, elements=(*loop.elements[:place], call, *loop.elements[place:]))
        last = place
        yield loop


def _entered_by_count(
    number: int, loop: Body, nest: Nest, executions: Executions
) -> Iterator[Body]:
    """A loop that is entered anew by count, or is in another that nobody saw."""
    lanes = range(executions.lanes)
    trips = [executions.trips_of(number).values(lane) for lane in lanes]
    if nest.loop_parent[number] > 0 and (most := _entries_in_one(trips)):
        yield replace(loop, most=most)
    if nest.loop_parent[number] > 0:
        for most, rise in _entries_that_rise(number, nest, executions):
            yield replace(loop, most=most, rise=rise)
    unexplained = _is_unexplained(loop)
    if not unexplained and not _has_conditions(loop):
        return
    loops = iter(np.flatnonzero(nest.loop_parent == number) + len(nest.symbol_loop))
    elements = [e if isinstance(e, int) else int(next(loops)) for e in loop.elements]
    runs = [executions.of_element(e) for e in elements]
    depends = [each.leaves_out(executions.iterations[number]) for each in runs]
    some = [each for each, is_some in zip(runs, depends, strict=True) if is_some]
    keys = [(trips[k].tobytes(), *(each.part(k, 1).key() for each in some)) for k in lanes]
    alike = {key: k for k, key in enumerate(dict.fromkeys(keys))}  # lanes that do the same
    chosen = [keys.index(key) for key in alike]
    trips = [trips[lane] for lane in chosen]
    when = [[each.values(lane) for lane in chosen] for each in some]
    rising = unexplained or _has_lists(loop)
    for most, rise in _possible_periods(when, trips, rising=rising):
        inside = _in_another(when, trips, most, rise)
        begin, end = _parted(depends, *inside)
        inner = Body(
            loop.elements[begin:end], most=tuple(most[alike[key]] for key in keys), rise=rise
        )
        around = Body((*loop.elements[:begin], inner, *loop.elements[end:]))
        # around all of the loop, another one only helps to find rules
        if begin < end and (unexplained or len(around.elements) > 1):
            yield around


def _parted(depends: Sequence[bool], before: int, behind: int) -> tuple[int, int]:
    """The elements between so many at the beginning and at the end, each on a condition."""
    begin, end = 0, len(depends)
    while begin < min(before, end) and depends[begin]:
        begin += 1
    while end > max(len(depends) - behind, begin) and depends[end - 1]:
        end -= 1
    return begin, end


def _entries_that_rise(
    number: int, nest: Nest, executions: Executions
) -> Iterator[tuple[tuple[int, ...], int]]:
    """Iterations of the first entry, and how many more each has, if all entries are sums."""
    around = nest.loop_parent[number]
    lanes = range(executions.lanes)
    entries: dict[bytes, Integers] = {}
    for lane in lanes:
        own = executions.trips_of(number).values(lane)
        when = executions.of_element(len(nest.symbol_loop) + number).values(lane)
        outer = executions.trips_of(around).values(lane)
        begin = np.searchsorted(when, np.cumsum(outer) - outer)
        for part in np.split(own, begin[1:]):
            entries[part.tobytes()] = part
    parts = [part.tolist() for part in entries.values() if len(part)]
    if len({trips for part in parts for trips in part}) > 1:
        for first, rise, count in _sums(parts):
            if count > sum(map(len, parts)):
                yield (first,) * executions.lanes, rise


def _sums(parts: Sequence[Sequence[int]]) -> Iterator[tuple[int, int, int]]:
    """The trip counts of a first entry, how many more each has, and how many entries there are.

    Of each part anew, so that all trip counts in it are sums of these.
    """
    for rise in range(1, _MOST_RISE + 1):
        for first in range(1, min(*map(min, parts), _LONGEST_FIRST) + 1):
            counts = [_entries_in(part, first, rise) for part in parts]
            if all(counts):
                yield first, rise, sum(counts)


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


def _is_unexplained(loop: Body) -> bool:
    """Whether conditions of the loop itself, or its trip counts, follow no rule."""
    if loop.whole is None or loop.inner is None:
        return True
    return loop.whole.unexplained > loop.inner.unexplained


def _has_conditions(loop: Body) -> bool:
    """Whether the loop itself has conditions."""
    if loop.whole is None or loop.inner is None:
        return True
    return loop.whole.conditions > loop.inner.conditions


def _has_lists(loop: Body) -> bool:
    """Whether conditions of the loop itself hold by rules that are long lists."""
    return loop.whole is None or loop.inner is None or loop.whole.lists > loop.inner.lists


def _entries_in_one(trips: ByLane) -> tuple[int, ...]:
    """The fewest iterations on each lane, if other entries have a multiple of these."""
    entered = [own for own in trips if len(own)]
    several = any(own.max() > own.min() > 1 for own in entered)
    told = not any((own % own.min()).any() for own in entered)
    return tuple(int(own.min()) if len(own) else 0 for own in trips) if several and told else ()


def _possible_periods(
    when: Sequence[ByLane], trips: ByLane, *, rising: bool
) -> list[tuple[tuple[int, ...], int]]:
    """Iterations on each lane after which most elements repeat, and by how many these rise."""
    executed = [_on_lane(lane, when, own) for lane, own in enumerate(trips)]
    shared = [int(np.gcd.reduce(own)) for own in trips]
    entered = [each for each in shared if each]
    periods = [
        tuple(_period(rows, each) for rows, each in zip(executed, shared, strict=True)),
        *(tuple(d for _ in trips) for d in _divisors(entered)),  # as often on all lanes
        *(tuple(each // d for each in shared) for d in _divisors(entered)),  # as many on all
    ]
    told = [[each] for each in sorted({n for own in trips for n in own.tolist()})]
    most_trips = told[-1][0]
    sums = [each for each in _sums(told) if each[2] > len(told)] if rising else []
    ways = [(most, 0) for most in dict.fromkeys(periods) if 1 < max(most) < most_trips]
    ways += [((first,) * len(trips), rise) for first, rise, _ in sums]
    tried = _WORK // max(sum(rows.size for rows in executed), 1)

    def irregular(way: tuple[tuple[int, ...], int]) -> int:
        most, rise = way
        begins = (_begins(own, n, rise) for own, n in zip(trips, most, strict=True))
        return sum(map(_irregular, executed, begins))

    return sorted(ways[: max(tried, _MOST_PERIODS)], key=irregular)[:_MOST_PERIODS]


def _divisors(numbers: Sequence[int]) -> list[int]:
    """The divisors that numbers share, but for 1."""
    most = math.gcd(*numbers)
    return [d for d in range(2, most + 1) if most % d == 0]


def _on_lane(lane: int, when: Sequence[ByLane], trips: Integers) -> Masks:
    """Which elements each iteration of a lane executes, (elements, iterations)."""
    executed = np.zeros((len(when), int(trips.sum())), np.bool_)
    for row, lanes in zip(executed, when, strict=True):
        row[lanes[lane]] = True
    return executed


def _period(executed: Masks, iterations: int) -> int:
    """The period that a lane repeats most of its elements in, a divisor of its iterations."""
    periods = _divisors([iterations])[: max(_WORK // max(executed.size, 1), 1)] or [1]
    total = executed.shape[1]
    return min(periods, key=lambda period: _irregular(executed, np.arange(0, total, period)))


def _irregular(executed: Masks, begins: Integers) -> int:
    """How many elements an inner loop does now and then, and not at its ends alone."""
    total = executed.shape[1]
    ends = np.append(begins[1:], total) - 1
    place = np.arange(total) - np.repeat(begins, np.diff(np.append(begins, total)))
    irregular = 0
    for row in executed:
        counts = np.bincount(place, row), np.bincount(place, ~row)
        repeats = not np.any((counts[0] > 0) & (counts[1] > 0))
        made = int(row.sum())
        irregular += not repeats and made not in {int(row[begins].sum()), int(row[ends].sum())}
    return irregular


def _in_another(
    when: Sequence[ByLane], trips: ByLane, most: tuple[int, ...], rise: int
) -> tuple[int, int]:
    """How many elements stand before a loop of so many iterations in another, and behind it."""
    # what only the first of these executes stands before the inner loop, what only the last
    # does behind it
    begins = [_begins(own, n, rise) for own, n in zip(trips, most, strict=True)]
    ends = [np.append(own[1:], n.sum()) - 1 for own, n in zip(begins, trips, strict=True)]
    first, last = ([_is_within(lanes, all_of) for lanes in when] for all_of in (begins, ends))
    before = [*first, False].index(False)
    behind = [*last[::-1], False].index(False)
    return before, min(behind, len(when) - before)


def _begins(trips: Integers, most: int, rise: int) -> Integers:
    """The iterations of a lane in which the inner loop is entered, if these are its entries."""
    begins: list[int] = []
    at = 0
    for each in trips.tolist():
        end, count = at + each, 0
        while at < end:
            begins.append(at)
            at += (most or each) + rise * count
            count += 1
    return np.array(begins, np.int64)


def _is_within(when: ByLane, iterations: ByLane) -> bool:
    """Whether an element is executed in some iterations alone, on each lane."""
    return all(
        len(own) <= len(all_of) and np.isin(own, all_of).all()
        for own, all_of in zip(when, iterations, strict=True)
    )


def _program_and_loops(program: Body) -> Iterator[Body]:
    """The program and its loops, each before those in it."""
    yield program
    for element in program.elements:
        if isinstance(element, Body):
            yield from _program_and_loops(element)


def _with_loop(program: Body, number: int, other: Body) -> Body:
    """The program with another body in place of that of a loop, or its own."""
    numbers = iter(range(number + 1))

    def rebuilt(body: Body) -> Body:
        if next(numbers, None) == number:
            return other
        elements = tuple(rebuilt(e) if isinstance(e, Body) else e for e in body.elements)
        return replace(body, elements=elements)

    return rebuilt(program)
