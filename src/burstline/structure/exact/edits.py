"""Other ways to read one loop, a step from the one that it is read in.

Where the calls between two entries of a loop are left out, the entries look like one, and a
loop around another that makes no call of its own leaves no trace: both are told by counting. A
call that only the first iteration makes, or the last, looks as if it stood beside its loop:
its line tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import chain, combinations, pairwise
from operator import or_
from typing import Final

import numpy as np

from burstline.structure.exact.body import Body, calls_in, first_call
from burstline.structure.exact.callgraph import CallGraph
from burstline.structure.exact.choice import ReadingCosts

_MOST_ELEMENTS: Final = 16
"""Elements of a loop up to which all steps are tried; of a larger one, inner loops alone."""


def edits(
    body: Body, graph: CallGraph, judge: ReadingCosts, *, is_program: bool
) -> Iterator[Body]:
    """The body of a loop, or of the program, with one change each."""
    yield from _with_ends_outside(body, judge)
    yield from _with_calls_inside(body, graph, judge)
    yield from _with_conditions_inside(body, judge)
    yield from _with_call_before(body, graph, judge)
    yield from _with_loops_together(body, graph)
    if not is_program and len(body.elements) > _MOST_ELEMENTS:
        yield from _with_inner_loops(body, judge)
    elif not is_program:
        yield from _in_order(body, graph, judge)
        yield from _with_iterations_together(body)
        yield from judge.with_hidden_loops(body)
        for other in _entered_by_count(body, judge):
            yield other
            yield from judge.with_ends_apart(other)
        for other in chain(_in_one(body), _with_inner_loops(body, judge)):
            yield other
            yield from _entered_by_count(other, judge)
        for other in _without_loops(body, graph):
            yield other
            yield from judge.with_iterations_apart(other)
            yield from judge.with_hidden_loops(other)


def _with_ends_outside(body: Body, judge: ReadingCosts) -> Iterator[Body]:
    """A body with what only the first or last iteration of a loop in it does beside that."""
    for at, loop in body.loops:
        before, behind = judge.at_ends(loop)
        for begin, end in {(before, behind), (before, 0), (0, behind)} - {(0, 0)}:
            if begin + end < len(loop.elements):
                left = len(loop.elements) - end
                inner = loop.of(loop.elements[begin:left])
                yield body.put(at, at + 1, *loop.put(begin, left, inner).elements)


def _with_calls_inside(body: Body, graph: CallGraph, judge: ReadingCosts) -> Iterator[Body]:
    """A body with calls in the loop beside them, among the lines of which they stand."""
    yield from _with_calls_by_line(body, graph, judge)
    for at, loop in body.loops:
        if not loop.hides_entries:
            ordered = loop.of(_by_line(loop.elements, graph)).parted(frozenset(), ())
            if loop.apart or loop.cuts or ordered.elements != loop.elements:
                yield from _with_calls_by_line(body.put(at, at + 1, ordered), graph, judge)


def _with_calls_by_line(body: Body, graph: CallGraph, judge: ReadingCosts) -> Iterator[Body]:
    """A body with calls in the loop beside them, among the lines of which they stand."""
    for at, loop in body.loops:
        for beside, is_behind in (
            (body.elements[:at][::-1], False),
            (body.elements[at + 1 :], True),
        ):
            is_left = is_behind and judge.differs_by_lane(loop)
            inside = _with_calls_among(
                loop, beside, graph, is_behind=is_behind, is_left=is_left
            )
            ways = [*enumerate(inside, 1)]
            # of equal readings the first is kept: as many calls as lines tell, or else as few
            for moved, other in ways if is_left else reversed(ways):
                before = at if is_behind else at - moved
                behind = at + 1 + (moved if is_behind else 0)
                apart = judge.with_ends_apart(other), judge.with_iterations_apart(other)
                for inner in chain([other], *apart):
                    yield body.put(before, behind, inner)


def _with_calls_among(
    loop: Body,
    beside: Sequence[int | Body],
    graph: CallGraph,
    *,
    is_behind: bool,
    is_left: bool,
) -> Iterator[Body]:
    """A loop with more and more calls beside it that stand among its lines, or maybe behind."""
    last: int | None = None
    for call in beside:
        if isinstance(call, Body):
            return
        ahead = (graph.stands_before(call, first_call(each)) for each in loop.elements)
        nowhere = len(loop.elements) if is_left else 0
        place = next((k for k, is_ahead in enumerate(ahead) if is_ahead), nowhere)
        if not place and not (is_behind and graph.stands_before(call, first_call(loop))):
            return
        if last is not None:
            place = max(place, last + 1) if is_behind else min(place, last)
        loop, last = loop.put(place, place, call), place
        yield loop


def _with_conditions_inside(body: Body, judge: ReadingCosts) -> Iterator[Body]:
    """A body with the calls of a condition beside a loop in that, at its beginning or end."""
    for begin, end in judge.conditions(body):
        some, loops = body.elements[begin:end], dict(body.loops)
        if loop := loops.get(end):
            yield body.put(begin, end + 1, loop.of([*some, *loop.elements]))
        if loop := loops.get(begin - 1):
            yield body.put(begin - 1, end, loop.of([*loop.elements, *some]))


def _with_call_before(body: Body, graph: CallGraph, judge: ReadingCosts) -> Iterator[Body]:
    """A body with the call before a loop in that, where it leaves something out."""
    for at, (call, loop) in enumerate(pairwise(body.elements)):
        if isinstance(loop, Body) and not isinstance(call, Body) and judge.conditions(loop):
            elements = _by_line([call, *loop.elements], graph)
            behind = elements[elements.index(call) + 1 :]
            if behind and len(elements) <= _MOST_ELEMENTS:
                inner = loop.parted(frozenset({(call, first_call(behind[0]))}), ())
                yield body.put(at, at + 2, inner.of(elements))


def _with_loops_together(body: Body, graph: CallGraph) -> Iterator[Body]:
    """A body with two neighbouring loops as one, in the order of their lines.

    Some lane has to be in both: nothing else tells that loops of different ranks are one.
    """
    for at, (loop, other) in enumerate(pairwise(body.elements)):
        if (
            isinstance(loop, Body)
            and isinstance(other, Body)
            and _share_lanes(loop, other, graph)
        ):
            both = Body(_by_line([*loop.elements, *other.elements], graph))
            if len(both.elements) <= _MOST_ELEMENTS:
                yield body.put(at, at + 2, both)


def _share_lanes(loop: Body, other: Body, graph: CallGraph) -> bool:
    """Whether some kind of lanes makes calls of both loops."""
    own, others = (
        reduce(or_, (graph.kinds_of_site[call] for call in calls_in(each)))
        for each in (loop, other)
    )
    return bool(own & others)


def _without_loops(body: Body, graph: CallGraph) -> Iterator[Body]:
    """A body of all calls that are in loops in its loops, too, in the order of their lines."""
    calls = calls_in(body)
    if body.loops and len(calls) <= _MOST_ELEMENTS:
        yield body.of(_by_line(calls, graph)).parted(frozenset(), ())


def _by_line(elements: Sequence[int | Body], graph: CallGraph) -> tuple[int | Body, ...]:
    """Elements in the order of the lines of their first calls."""
    return tuple(sorted(elements, key=lambda each: graph.place[first_call(each)]))


def _in_order(body: Body, graph: CallGraph, judge: ReadingCosts) -> Iterator[Body]:
    """A body with its elements in the order of their lines, some of them, or all."""
    places = [graph.place[first_call(each)] for each in body.elements]
    first = places.index(min(places))
    orders = [np.argsort(places).tolist(), [*range(first, len(places)), *range(first)]]
    back = [at for at in range(1, len(places)) if places[at] < places[at - 1]]
    orders += [_with_later_behind(places, at) for at in back]
    called = judge.order_of_calls(body)
    if _follow_their_lines([first_call(body.elements[k]) for k in called], graph):
        orders.append(called)
    for order in orders:
        elements = [body.elements[k] for k in order]
        if tuple(elements) != body.elements:
            yield body.of(elements)
            if body.apart:
                yield body.of(elements).parted(frozenset(), body.cuts)


def _follow_their_lines(calls: Sequence[int], graph: CallGraph) -> bool:
    """Whether calls are in the order of their lines, but where a line makes several."""
    seen = {graph.paths[call] for call in calls[:1]}
    for before, call in pairwise(calls):
        if graph.goes_back_in(before, call) is not None and graph.paths[call] not in seen:
            return False
        seen.add(graph.paths[call])
    return True


def _with_later_behind(places: Sequence[int], at: int) -> list[int]:
    """The order of elements with those that stand before one of an earlier line behind it."""
    begin = at
    while begin and places[begin - 1] > places[at]:
        begin -= 1
    end = max(k for k in range(at, len(places)) if places[k] < places[begin]) + 1
    return [*range(begin), *range(at, end), *range(begin, at), *range(end, len(places))]


def _in_one(body: Body) -> Iterator[Body]:
    """A body with the elements of a loop in it in place of that."""
    for at, loop in body.loops:
        cuts = tuple(sorted({*body.cuts, *loop.cuts, *loop.anew}))
        yield body.put(at, at + 1, *loop.elements).parted(body.apart | loop.apart, cuts)
    for most in (1, _MOST_ELEMENTS):
        short = [(at, loop) for at, loop in body.loops if len(loop.elements) <= most]
        if len(short) > 1:
            plain = body
            for at, loop in reversed(short):
                plain = plain.put(at, at + 1, *loop.elements)
            yield plain


def _with_iterations_together(body: Body) -> Iterator[Body]:
    """A body with fewer iterations, where elements that follow each other are not apart."""
    for pair in sorted(body.apart):
        yield body.parted(body.apart - {pair}, body.cuts)
    if len(body.apart) > 1:
        yield body.parted(frozenset(), body.cuts)
    if body.cuts:
        yield body.parted(body.apart, ())


def _with_inner_loops(body: Body, judge: ReadingCosts) -> Iterator[Body]:
    """A body with some of its elements in one more loop."""
    loops = dict(body.loops)
    found = [
        ends for ends in judge.stretches(body) if ends[1] - ends[0] > 1 or ends[0] not in loops
    ]
    for begin, end in found:
        yield _with_loop(body, begin, end)
    for one, other in combinations(sorted(found, reverse=True), 2):
        if other[1] <= one[0]:
            yield _with_loop(_with_loop(body, *one), *other)


def _entered_by_count(body: Body, judge: ReadingCosts) -> Iterator[Body]:
    """A body with a loop in it whose entries look like fewer, told by counting iterations."""
    for at, loop in body.loops:
        if not loop.hides_entries:
            for most, rise in judge.entries_by_count(loop, body):
                yield body.put(at, at + 1, loop.entered_by_count(most, rise))


def _with_loop(body: Body, begin: int, end: int) -> Body:
    """A body with a loop of the elements between two places in their place."""
    return body.put(begin, end, Body(body.elements[begin:end]))
