"""Loops that a trace tells of: what is detected in a part of it keeps them."""

from __future__ import annotations

import numpy as np
import pytest

from burstline import annotation
from burstline.annotation import marks_of, with_loops
from burstline.selection import former_locations, select
from burstline.structure import Condition, Loop, detect, iterations_window, walk
from burstline.testing import trace_of

PATHS = " | ".join(
    f"path {k} main file a.c line {line}" for k, line in enumerate((3, 5, 6, 8, 1, 10))
)

NESTED = [4, *([0, 0] + [1, 2] * 3 + [3, 3]) * 6, 5]


def program_of(order, ranks=1):
    """A trace whose ranks make calls from the paths of an order, 10 ns apart."""
    lanes = []
    for rank in range(ranks):
        calls = [
            f"{10 * k + rank} enter MPI_Barrier path {path} | {10 * k + rank + 4} leave"
            for k, path in enumerate(order)
        ]
        lanes.append(f"{rank} | " + " | ".join(calls))
    return trace_of(f"ranks {ranks} | {PATHS} | " + " | ".join(lanes))


def part_of(trace, structure, loop, first, last):
    begin, end = iterations_window(trace, structure, loop, first, last)
    part = select(trace, start_ns=begin, end_ns=end)
    marks = marks_of(structure).within(former_locations(trace, part), begin, end)
    return with_loops(part, marks)


def shape(items):
    """Loops and calls by path, each loop with its iterations; conditions are refused."""
    found = []
    for item in items:
        assert not isinstance(item, Condition)
        if isinstance(item, Loop):
            found.append((round(item.iterations, 3), shape(item.items)))
        else:
            found.append(item.path[-1].line)
    return found


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(("first", "last"), [(1, 6), (1, 1), (2, 4), (6, 6), (3, 5)])
def test_a_part_keeps_the_loops_of_the_whole(ranks, first, last):
    trace = program_of(NESTED, ranks)
    whole = detect(trace, method="exact")
    body = [(2, [3]), (3, [5, 6]), (2, [8])]
    assert shape(whole.items) == [1, (6, body), 10]

    found = detect(part_of(trace, whole, 1, first, last))

    assert shape(found.items) == [(last - first + 1, body)]
    assert found.fidelity == 1


def test_what_is_asked_to_be_found_anew_is():
    trace = program_of(NESTED)
    part = part_of(trace, detect(trace, method="exact"), 1, 1, 1)

    assert len(detect(part).loops) == 4
    assert len(detect(part, method="exact").loops) == 3


def test_iterations_of_the_inner_loop_keep_it_and_what_is_around():
    trace = program_of(NESTED)
    whole = detect(trace, method="exact")

    # Iterations 3 and 4 of the inner loop are in two of the outer one.
    found = detect(part_of(trace, whole, 3, 3, 4))

    outer, *_ = (item for item, _ in walk(found.items) if isinstance(item, Loop))
    assert outer.iterations == 2
    assert [loop.executions.tolist() for loop in found.loops] == [[2], [2], [2], [2]]


def test_loops_that_the_calls_do_not_follow_are_found_anew():
    trace = program_of([4, *([0, 1, 2] * 6), 5])
    marks = marks_of(detect(trace, method="exact"))
    # Each iteration is said to begin a call later than it does, the first one earlier.
    told = with_loops(trace, annotation.Marks(
        marks.location,
        marks.time_ns + np.where(marks.value == 1, 0, 15) * (marks.value > 0),
        marks.type, marks.value, marks.loops,
    ))  # fmt: skip

    assert shape(detect(told).items) == [1, (6, [3, 5, 6]), 10]


def test_a_mark_holds_from_where_a_window_begins_until_it_ends():
    trace = program_of([0] * 4)
    marks = marks_of(detect(trace, method="exact"))

    inside = marks.within(np.array([0]), np.array([13]), np.array([25]))

    columns = inside.time_ns, inside.type, inside.value
    told = list(zip(*(column.tolist() for column in columns), strict=True))
    assert [each for each in told if each[1] == 77700101] == [
        (13, 77700101, 2), (20, 77700101, 3), (25, 77700101, 0),
    ]  # fmt: skip
    assert {kind for _, kind, _ in told} == {77700000, 77700001, 77700101}
