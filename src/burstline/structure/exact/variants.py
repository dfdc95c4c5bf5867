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
    unexplained = _is_unexplained(loop)
    if not unexplained and not _has_conditions(loop):
        return
    inner = iter(np.flatnonzero(nest.loop_parent == number) + len(nest.symbol_loop))
    elements = [e if isinstance(e, int) else int(next(inner)) for e in loop.elements]
    runs = [executions.of_element(e) for e in elements]
    when = [[each.values(lane) for lane in lanes] for each in runs]
    for period in _possible_periods(when, trips):
        around = _in_another(loop, when, period)
        # around all of the loop, another one only helps to find rules
        if around is not None and (unexplained or len(around.elements) > 1):
            yield around


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


def _entries_in_one(trips: ByLane) -> tuple[int, ...]:
    """The fewest iterations on each lane, if other entries have a multiple of these."""
    entered = [own for own in trips if len(own)]
    several = any(own.max() > own.min() > 1 for own in entered)
    told = not any((own % own.min()).any() for own in entered)
    return tuple(int(own.min()) if len(own) else 0 for own in trips) if several and told else ()


def _possible_periods(when: Sequence[ByLane], trips: ByLane) -> list[tuple[int, ...]]:
    """Iterations on each lane after which elements repeat; those that most of them do first."""
    executed = [_on_lane(lane, when, own) for lane, own in enumerate(trips)]
    shared = [int(np.gcd.reduce(own)) for own in trips]
    entered = [each for each in shared if each]
    periods = [
        *(tuple(d for _ in trips) for d in _divisors(entered)),  # as often on all lanes
        *(tuple(each // d for each in shared) for d in _divisors(entered)),  # as many on all
        tuple(_period(rows, each) for rows, each in zip(executed, shared, strict=True)),
    ]
    found = {
        period: sum(_irregular(rows, p) for rows, p in zip(executed, period, strict=True))
        for period in periods
        if max(period) > 1
    }
    return sorted(found, key=found.__getitem__)[:_MOST_PERIODS]


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
    periods = _divisors([iterations]) or [1]
    return min(periods, key=lambda period: _irregular(executed, period))


def _irregular(executed: Masks, period: int) -> int:
    """How many elements are no part of a period, nor at its beginning or end alone."""
    if period == 0 or executed.size == 0:
        return 0
    rows = executed.reshape(len(executed), -1, period)
    repeats = (rows == rows[:, :1]).all(axis=(1, 2))
    at_an_end = ~rows[:, :, 1:].any(axis=(1, 2)) | ~rows[:, :, :-1].any(axis=(1, 2))
    return int((~repeats & ~at_an_end).sum())


def _in_another(loop: Body, when: Sequence[ByLane], period: tuple[int, ...]) -> Body | None:
    """A loop of so many iterations in another; None if nothing is left for the inner one."""
    # what only the first of so many iterations executes stands before the inner loop, what only
    # the last does behind it
    first = [_is_at(0, lanes, period) for lanes in when]
    last = [_is_at(-1, lanes, period) for lanes in when]
    begin, end = 0, len(when)
    while begin < end and first[begin]:
        begin += 1
    while begin < end and last[end - 1]:
        end -= 1
    if begin == end:
        return None
    inner = Body(loop.elements[begin:end], most=period)
    return Body((*loop.elements[:begin], inner, *loop.elements[end:]))


def _is_at(place: int, when: ByLane, period: tuple[int, ...]) -> bool:
    """Whether an element is executed at one place of the period alone, on each lane."""
    return not any(
        ((own - place) % each).any() for own, each in zip(when, period, strict=True) if each
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
