"""Iterations of a loop are a window of time on each location."""

from __future__ import annotations

import numpy as np
import pytest

from burstline import ParameterError
from burstline.selection import select
from burstline.structure import detect
from burstline.structure.program.windows import iterations_window
from burstline.testing import trace_of
from loop_programs import Do, loop, run

DECLARED = "path 0 main file a.c line 3 | path 1 main file a.c line 9"


def calls(first_ns, times, *, path=0):
    """Let a rank be in MPI at the begin of every ten nanoseconds."""
    moments = range(first_ns, first_ns + 10 * times, 10)
    return "".join(f" | {t} enter MPI_Barrier path {path} | {t + 2} leave" for t in moments)


@pytest.fixture
def hybrid():
    """Two ranks of two threads, of which only the first calls MPI, and a rank without loop."""
    threads = (
        f"0.0{calls(0, 6)} | 0.1 | 0 enter f | 90 leave",
        f"1.0{calls(5, 4)} | 1.1 | 0 enter f | 90 leave",
        f"2.0{calls(0, 1, path=1)} | 2.1 | 0 enter f | 90 leave",
    )
    trace = trace_of(f"ranks 3 threads 2 | {DECLARED} | " + " | ".join(threads))
    return trace, detect(trace, method="exact")


@pytest.mark.parametrize(
    ("first", "last", "begins", "ends"),
    [
        (2, 3, [10, 15, 0], [30, 35, 0]),
        (4, 6, [30, 35, 0], [52, 37, 0]),  # a rank with fewer has those it has
        (-2, -1, [40, 25, 0], [52, 37, 0]),  # from the end, those of each rank
    ],
)
def test_threads_without_the_loop_have_the_window_of_their_rank(
    hybrid, first, last, begins, ends
):
    begin, end = iterations_window(*hybrid, 1, first, last)

    assert begin.tolist() == np.repeat(begins, 2).tolist()
    assert end.tolist() == np.repeat(ends, 2).tolist()


def test_a_rank_without_these_iterations_is_left_out(hybrid):
    trace, structure = hybrid
    begin, end = iterations_window(trace, structure, 1, 5)

    part = select(trace, start_ns=begin, end_ns=end)

    assert part.locations["rank"].to_pylist() == [0, 0]


def test_iterations_of_an_inner_loop_count_over_its_entries():
    trace = run(loop(5, loop(4, Do("Send", 9)), Do("Barrier", 12)), ranks=1)
    structure = detect(trace, min_share=0)
    inner = next(each for each in structure.loops if each.parent)

    begin, end = iterations_window(trace, structure, inner.id, 4, 5)
    part = select(trace, start_ns=begin, end_ns=end)

    assert part.calls["operation"].to_pylist() == ["MPI_Send", "MPI_Barrier", "MPI_Send"]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ((0, 1), "no iteration 0"),
        ((7, 7), "no iteration 7; it has 1 to 6"),
        ((-7, -1), "no iteration -7"),
        ((5, -3), "no rank has iterations 5:-3"),
    ],
)
def test_iterations_nobody_has_are_refused(hybrid, wanted, message):
    with pytest.raises(ParameterError, match=message):
        iterations_window(*hybrid, 1, *wanted)
