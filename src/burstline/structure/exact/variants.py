"""Other programs that make the same calls, as what a nest did suggests them.

Where the calls between two entries of a loop are left out, the entries look like one, and a
loop around another that makes no call of its own leaves no trace: both are told by counting. A
call that only the first iteration makes, or the last, looks as if it stood beside its loop:
its line tells.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from burstline.columns import Integers
from burstline.structure.exact.callgraph import CallGraph
from burstline.structure.exact.entries import ByLane, hidden_loops, sums
from burstline.structure.exact.loopnest import Body, first_call
from burstline.structure.exact.occurrences import Executions, Nest


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
            for moved, other in reversed([*enumerate(inside, 1)]):
                before = at if is_behind else at - moved
                behind = at + 1 + (moved if is_behind else 0)
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
    for most, rise, begin, end in hidden_loops(depends, when, trips):
        on_lanes = tuple(most[alike[key]] for key in keys)
        inner = Body(loop.elements[begin:end], most=on_lanes, rise=rise)
        around = Body((*loop.elements[:begin], inner, *loop.elements[end:]))
        # around all of the loop, another one only helps to find rules
        if unexplained or len(around.elements) > 1:
            yield around


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
        for first, rise, in_all in sums(parts):
            if in_all > sum(map(len, parts)):
                yield (first,) * executions.lanes, rise


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


def without_loops(program: Body, chosen: Collection[int]) -> Body:
    """The program with the elements of some loops in place of these, by their numbers."""
    number = count(1)

    def rebuilt(body: Body) -> Body:
        elements: list[int | Body] = []
        for element in body.elements:
            if isinstance(element, int):
                elements.append(element)
                continue
            is_chosen = next(number) in chosen
            inner = rebuilt(element)
            elements += inner.elements if is_chosen else [inner]
        return replace(body, elements=tuple(elements))

    return rebuilt(program)
