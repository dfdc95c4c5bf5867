"""Other programs that make the same calls, as what a nest did suggests them.

Where the calls between two entries of a loop are left out, the entries look like one, and a
loop around another that makes no call of its own leaves no trace: both are told by counting. A
call that only the first iteration makes, or the last, looks as if it stood beside its loop:
its line tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

import numpy as np

from burstline.columns import Integers
from burstline.structure.exact.callgraph import CallGraph
from burstline.structure.exact.loopnest import Body, first_call
from burstline.structure.exact.occurrences import Executions, Nest
from burstline.structure.program.runs import Runs

ByLane = Sequence[Integers]

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
    """A body with a call in the loop beside it, among the lines of which it stands."""
    for at, (one, other) in enumerate(pairwise(body.elements)):
        call, loop = (other, one) if isinstance(one, Body) else (one, other)
        if isinstance(call, Body) or not isinstance(loop, Body):
            continue
        behind = (graph.stands_before(call, first_call(each)) for each in loop.elements)
        place = next((k for k, is_behind in enumerate(behind) if is_behind), 0)
        if place or (call == other and graph.stands_before(call, first_call(loop))):
            more = (*loop.elements[:place], call, *loop.elements[place:])
            inside = replace(loop, elements=more)
            yield replace(
                body, elements=(*body.elements[:at], inside, *body.elements[at + 2 :])
            )


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
    for period in _possible_periods(runs, trips):
        when = [[each.values(lane) for lane in lanes] for each in runs]
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


def _possible_periods(when: Sequence[Runs], trips: ByLane) -> list[tuple[int, ...]]:
    """The distances on each lane at which elements are executed, that divide all entries."""
    found: dict[tuple[int, ...], None] = {}
    # neighbours are at no distance
    for runs in (runs for runs in when if not (runs.step == 1).any()):
        lanes = [runs.values(lane) for lane in range(len(trips))]
        each = [int(np.gcd.reduce(np.diff(own))) for own in lanes]  # 0 where nobody can tell
        period = tuple(own or max(each) for own in each)
        whole = not any((own % p).any() for own, p in zip(trips, period, strict=True) if p)
        if min(period) > 1 and whole:
            found[period] = None
    return list(found)[:_MOST_PERIODS]


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
    return not any(((own - place) % each).any() for own, each in zip(when, period, strict=True))


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
