"""Other ways to read one loop, a step from the one that it is read in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from burstline.structure.exact.callgraph import CallGraph
from burstline.structure.exact.loopnest import Body, Judge, first_call

_MOST_ELEMENTS: Final = 8
"""Elements of a loop up to which it is read in other ways."""


def edits(body: Body, graph: CallGraph, judge: Judge, *, is_program: bool) -> Iterator[Body]:
    """The body of a loop, or of the program, with one change each."""
    yield from _with_ends_outside(body, judge)
    if not is_program and len(body.elements) <= _MOST_ELEMENTS:
        yield from _in_order(body, graph)
        yield from _with_iterations_together(body)
        yield from _in_one(body)
        yield from judge.with_hidden_loops(body)
        yield from _with_inner_loops(body, judge)


def _with_ends_outside(body: Body, judge: Judge) -> Iterator[Body]:
    """A body with what only the first or last iteration of a loop in it does beside that."""
    for at, loop in enumerate(body.elements):
        if isinstance(loop, Body) and not loop.most:
            before, behind = judge.at_ends(loop)
            for begin, end in {(before, behind), (before, 0), (0, behind)} - {(0, 0)}:
                if begin + end < len(loop.elements):
                    left = len(loop.elements) - end
                    inner = _of(loop, loop.elements[begin:left])
                    put = (*loop.elements[:begin], inner, *loop.elements[left:])
                    yield _of(body, (*body.elements[:at], *put, *body.elements[at + 1 :]))


def _of(body: Body, elements: Sequence[int | Body]) -> Body:
    """A body of other elements."""
    return replace(body, elements=tuple(elements), whole=None, inner=None)


def _in_order(body: Body, graph: CallGraph) -> Iterator[Body]:
    """A body with its elements in the order of their lines, or beginning with the first."""
    places = [graph.place[first_call(each)] for each in body.elements]
    ordered = [body.elements[k] for k in np.argsort(places).tolist()]
    first = places.index(min(places))
    turned = [*body.elements[first:], *body.elements[:first]]
    for elements in (ordered, turned):
        if tuple(elements) != body.elements:
            yield _of(body, elements)


def _in_one(body: Body) -> Iterator[Body]:
    """A body with the elements of a loop in it in place of that."""
    for at, loop in enumerate(body.elements):
        if isinstance(loop, Body):
            elements = (*body.elements[:at], *loop.elements, *body.elements[at + 1 :])
            yield replace(_of(body, elements), apart=body.apart | loop.apart)


def _with_iterations_together(body: Body) -> Iterator[Body]:
    """A body with fewer iterations, where elements that follow each other are not apart."""
    for pair in sorted(body.apart):
        yield replace(body, apart=body.apart - {pair}, whole=None)
    if len(body.apart) > 1:
        yield replace(body, apart=frozenset(), whole=None)


def _with_inner_loops(body: Body, judge: Judge) -> Iterator[Body]:
    """A body with some of its elements in one more loop."""
    for begin, end in judge.stretches(body):
        inner = Body(body.elements[begin:end])
        yield _of(body, (*body.elements[:begin], inner, *body.elements[end:]))
