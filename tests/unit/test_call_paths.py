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
        {
            "call_path": k,
            "parent": k - 1 if k else None,
            "function": function,
            "file": file,
            "line": line,
        }
        for k, (function, file, line) in enumerate(frames)
    ]
    number, paths = clean_paths(by_hand.trace_of(call_paths=rows))
    return [(frame.function, frame.line) for frame in paths[number[len(rows) - 1]]]


@pytest.mark.parametrize(
    "start",
    [
        "_start", "__libc_start_main@@GLIBC_2.34", "__libc_start_call_main", "clone",
        "start_thread",
    ],
)  # fmt: skip
def test_the_start_of_the_process_is_no_place(start):
    assert path_of((start, "libc-start.c", 58), ("main", "a.c", 4)) == [("main", 4)]


@pytest.mark.parametrize("wrapper", ["MPI_Send", "PMPI_Send", "mpi_send_", "pmpi_send__"])
def test_the_wrappers_of_mpi_are_no_place(wrapper):
    assert path_of(("main", "a.c", 4), (wrapper, "w.c", 9)) == [("main", 4)]


@pytest.mark.parametrize(
    "inside",
    [
        "MPI::Comm::Send",
        "__kmp_invoke_microtask",
        "GOMP_parallel",
        "std::__introsort_loop",
        "std::_Function_handler::_M_invoke",
        "__gnu_cxx::__ops::_Iter_comp_iter::operator",
        "__pyx_pw_4heat_1relax",
        "__pyx_pymod_exec_heat",
        "__Pyx_PyObject_Call",
    ],
)
def test_what_stands_between_functions_of_the_program_is_no_place(inside):
    chain = (("main", "a.cpp", 4), (inside, "bits.h", 9), ("std::sort", "stl.h", 2))

    assert path_of(*chain) == [("main", 4), ("std::sort", 2)]


def test_functions_that_only_look_like_wrappers_are_kept():
    chain = (("main", "a.c", 4), ("mpi_setup", "a.c", 9))

    assert path_of(*chain) == [("main", 4), ("mpi_setup", 9)]


def test_unresolved_frames_are_left_out():
    assert path_of(("main", "a.c", 4), ("??", None, None), ("f", "b.c", 7)) == [
        ("main", 4),
        ("f", 7),
    ]


def test_direct_recursion_is_folded_into_its_innermost_frame():
    chain = (("main", "a.c", 4), ("f", "a.c", 9), ("f", "a.c", 9), ("f", "a.c", 7))

    assert path_of(*chain) == [("main", 4), ("f", 7)]


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


def test_the_line_of_the_first_frame_that_differs_decides():
    assert order(("main:9 f:1", 0), ("main:4 g:90", 5), ("main:4 g:80", 7)) == [
        "main:4 g:80",
        "main:4 g:90",
        "main:9 f:1",
    ]


def test_lines_of_different_functions_are_merged_by_their_first_execution():
    calls = (("main:10", 0), ("inlined:99", 1), ("main:20", 2))

    assert order(*calls) == ["main:10", "inlined:99", "main:20"]


def test_one_line_that_calls_twice_keeps_the_order_of_execution():
    assert order(("main:4 f:2", 9), ("main:4", 3)) == ["main:4", "main:4 f:2"]
