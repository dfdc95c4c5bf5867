"""Iterations of a loop are a window of time on each location."""

from __future__ import annotations

import pytest

from burstline import ParameterError
from burstline.selection import select
from burstline.structure import detect
from burstline.structure.program.windows import iterations_window
from burstline.testing import trace_of

DECLARED = "path 0 main file a.c line 3 | path 1 main file a.c line 9"


def calls(first_ns, times, *, path=0):
    """Let a rank be in MPI at the begin of every ten nanoseconds."""
    moments = range(first_ns, first_ns + 10 * times, 10)
    return "".join(f" | {t} enter MPI_Barrier path {path} | {t + 2} leave" for t in moments)


@pytest.fixture
def hybrid():
    """Two ranks of two threads, of which only the first calls MPI, and a rank without loop."""
    threads = (
        f"{rank}.0{calls} | {rank}.1 | 0 enter f | 90 leave"
        for rank, calls in enumerate((calls(0, 6), calls(5, 4), calls(0, 1, path=1)))
    )
    trace = trace_of(f"ranks 3 threads 2 | {DECLARED} | " + " | ".join(threads))
    return trace, detect(trace, method="exact")


def test_a_rank_without_these_iterations_is_left_out(hybrid):
    begin, end = iterations_window(*hybrid, 1, 5)

    part = select(hybrid[0], start_ns=begin, end_ns=end)

    assert part.locations["rank"].to_pylist() == [0, 0]


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
