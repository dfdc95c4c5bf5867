"""Call paths are cleaned of what is no place in the program, and sort the calls of it."""

from __future__ import annotations

import numpy as np
import pytest

import by_hand
from burstline.identity import Frame, clean_paths
from burstline.structure.program_order import program_order


def path_of(*frames):
    """Give the cleaned path of a chain of (function, file, line), outermost first."""
    rows = [
        {"call_path": k, "parent": k - 1 if k else None, "function": f, "file": file, "line": n}
        for k, (f, file, n) in enumerate(frames)
    ]
    number, paths = clean_paths(by_hand.trace_of(call_paths=rows))
    return [(frame.function, frame.line) for frame in paths[number[len(rows) - 1]]]


STARTS = ["_start", "__libc_start_main@@GLIBC_2.34", "__libc_start_call_main"]
STARTS += ["clone", "start_thread"]
BETWEEN = [
    *("MPI::Comm::Send", "__kmp_invoke_microtask", "GOMP_parallel", "std::__introsort_loop"),
    *("std::_Function_handler::_M_invoke", "__gnu_cxx::__ops::_Iter_comp_iter::operator"),
    *("__pyx_pw_4heat_1relax", "__pyx_pymod_exec_heat", "__Pyx_PyObject_Call"),
]


@pytest.mark.parametrize(
    ("chain", "left"),
    [
        *(([(start, 58), ("main", 4)], [1]) for start in STARTS),
        *(
            ([("main", 4), (wrapper, 9)], [0])
            for wrapper in ("MPI_Send", "PMPI_Send", "mpi_send_", "pmpi_send__")
        ),
        *(([("main", 4), (inside, 9), ("std::sort", 2)], [0, 2]) for inside in BETWEEN),
        ([("main", 4), ("mpi_setup", 9)], [0, 1]),  # looks like a wrapper, and is none
        ([("main", 4), ("??", None), ("f", 7)], [0, 2]),
        ([("main", 4), ("f", 9), ("f", 9), ("f", 7)], [0, 3]),  # direct recursion
    ],
    ids=lambda value: value[-1][0] if isinstance(value[0], tuple) else "",
)
def test_what_is_no_place_of_the_program_is_left_out(chain, left):
    frames = [(function, "a.c" if line else None, line) for function, line in chain]
    assert path_of(*frames) == [chain[k] for k in left]


def test_a_trace_without_call_paths_has_only_the_empty_path():
    number, paths = clean_paths(by_hand.trace_of())

    assert number.tolist() == [0]
    assert [*paths] == [()]


def order(*placed):
    """Sort paths written as `main:9 f:2`, given with their first execution."""
    paths = [
        tuple(Frame(f, f"{f}.c", int(n)) for f, n in (step.split(":") for step in text.split()))
        for text, _ in placed
    ]
    keys = program_order(paths, np.array([first for _, first in placed]))
    return [placed[k][0] for k in sorted(range(len(placed)), key=keys.__getitem__)]


@pytest.mark.parametrize(
    ("placed", "expected"),
    [
        (
            [("main:9 f:1", 0), ("main:4 g:90", 5), ("main:4 g:80", 7)],
            ["main:4 g:80", "main:4 g:90", "main:9 f:1"],
        ),
        (
            [("main:10", 0), ("inlined:99", 1), ("main:20", 2)],
            ["main:10", "inlined:99", "main:20"],
        ),
        ([("main:4 f:2", 9), ("main:4", 3)], ["main:4", "main:4 f:2"]),
    ],
    ids=["the first line that differs", "other functions by execution", "one line, twice"],
)
def test_calls_are_in_the_order_of_lines_and_then_of_their_execution(placed, expected):
    assert order(*placed) == expected
