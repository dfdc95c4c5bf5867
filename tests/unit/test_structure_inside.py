"""What happens between two calls is told from samples and recorded loops, and nothing else."""

from __future__ import annotations

import pyarrow as pa
import pytest

from burstline.show.code_lines import inside_text
from burstline.structure import Call, detect, walk
from burstline.structure.computation import inside
from burstline.testing import trace_of

PATHS = "path 0 main file a.c line 3 | path 1 main file a.c line 4"
REGIONS = """
region outer paradigm user role loop file a.c begin 10 end 30
region inner paradigm user role loop file a.c begin 15 end 20
region solve paradigm user role function file a.c begin 5 end 40
"""


def samples(*rows):
    """Make samples of (time, line) or (time, line, function) on location 0."""
    functions = [row[2] if len(row) > 2 else "f" for row in rows]
    return pa.table(
        {
            "location": pa.array([0] * len(rows), pa.int32()),
            "time_ns": pa.array([row[0] for row in rows], pa.int64()),
            "function": pa.array(functions, pa.string()),
            "file": pa.array(["a.c"] * len(rows), pa.string()),
            "line": pa.array([row[1] for row in rows], pa.int32()),
        }
    )


def two_calls(iterations=3):
    """Give a loop of a Send and a Barrier, 50 ns of computation before each."""
    steps = [
        f"{100 * k + at} enter {name} path {at // 60} | {100 * k + at + 10} leave"
        for k in range(iterations)
        for at, name in ((0, "MPI_Send"), (60, "MPI_Barrier"))
    ]
    return f"ranks 1 | {PATHS} | {REGIONS} | 0 | " + " | ".join(steps)


def look(text, *rows, method="exact"):
    """Give the calls of a program, and what is inside."""
    trace = trace_of(text)
    found = detect(trace, method=method)
    calls = [item for item, _ in walk(found.items) if isinstance(item, Call)]
    return found, calls, inside(trace, found, samples(*rows) if rows else None)


def told(loops):
    return [(loop.function, loop.first_line, loop.last_line, loop.samples) for loop in loops]


@pytest.mark.parametrize("method", ["seed", "exact"])
def test_a_sample_is_before_the_call_that_comes_next(method):
    rows = (15, 7), (59, 8), (75, 9), (130, 7)
    _, (send, barrier), found = look(two_calls(), *rows, method=method)

    assert [(place.line, place.samples) for place in found.places(barrier)] == [(7, 2), (8, 1)]
    assert [(place.line, place.samples) for place in found.places(send)] == [(9, 1)]
    assert (found.samples, found.elsewhere) == (4, 0)


def test_a_program_that_goes_back_to_an_earlier_line_is_in_a_loop():
    rows = (12, 5), (20, 10), (25, 14), (30, 11), (35, 14), (40, 30)
    _, (_, barrier), found = look(two_calls(), *rows)

    (loop,) = found.loops(barrier)
    assert told([loop]) == [("f", 11, 14, 3)]
    assert loop.share == pytest.approx(0.5)
    assert loop.iterations is None


def test_a_program_that_goes_forward_is_in_no_loop():
    _, (_, barrier), found = look(two_calls(), (12, 5), (20, 10), (30, 11), (112, 5))

    assert not found.loops(barrier)
    assert inside_text(found, barrier) == ["f (a.c:5), 50.0 % of 4 samples"]


@pytest.mark.parametrize(
    ("rows", "loops"),
    [
        (
            [(12, 10), (14, 3, "g"), (16, 12), (18, 4, "g"), (20, 10), (22, 12)],
            [("f", 10, 12, 4)],
        ),
        (
            [(12, 10), (14, 15), (16, 12), (18, 20), (20, 14), (30, 40), (32, 40)],
            [("f", 12, 20, 4), ("f", 40, 40, 2)],
        ),
        ([(12, 15), (14, 12), (16, 20), (18, 15)], [("f", 12, 20, 4)]),
    ],
    ids=["calls of other functions end none", "lines that overlap", "one line in common"],
)
def test_spans_of_lines_that_belong_together_are_one_loop(rows, loops):
    _, (_, barrier), found = look(two_calls(), *rows)

    assert told(found.loops(barrier)) == loops


def test_a_sample_without_a_line_is_counted_and_in_no_loop():
    _, (_, barrier), found = look(two_calls(), (12, None), (14, None))

    assert found.samples_in(barrier) == 2
    assert not found.loops(barrier)
    assert found.places(barrier)[0].line is None


def recorded(*steps):
    """Give two calls and, between them, what was recorded; the first burst is 100 ns."""
    begin, end = "0 enter MPI_Init | 10 leave", "110 enter MPI_Barrier path 0 | 120 leave"
    return f"ranks 1 | {PATHS} | {REGIONS} | 0 | " + " | ".join([begin, *steps, end])


def test_a_recorded_loop_has_its_iterations_and_its_share_of_the_time():
    text = recorded(
        "20 enter outer iterations 4 | 40 leave outer",
        "50 enter outer iterations 7 | 80 leave outer",
    )
    _, (_, barrier), found = look(text)

    (loop,) = found.loops(barrier)
    assert (loop.iterations, loop.entries, loop.share) == (5.5, 2, 0.5)
    assert (loop.first_line, loop.last_line) == (10, 30)
    assert inside_text(found, barrier) == [
        "loop of 5.5 iterations (mean): outer (a.c:10..30), 50.0 % of the time"
    ]


def test_a_sample_is_counted_in_the_innermost_recorded_loop_and_only_there():
    text = recorded(
        "20 enter outer iterations 2 | 30 enter solve | 40 enter inner iterations 9",
        "60 leave inner | 70 leave solve | 80 leave outer",
    )
    rows = (15, 9), (25, 12), (45, 16), (50, 16), (60, 22), (65, 22), (75, 25), (90, 31)
    _, (_, barrier), found = look(text, *rows)

    assert told(found.loops(barrier)) == [("outer", 10, 30, 4), ("inner", 15, 20, 2)]
    assert found.samples_in(barrier) == 8


def test_a_recorded_loop_that_goes_on_during_a_call_is_no_loop_without_mpi():
    text = f"""
        ranks 1 | {PATHS} | {REGIONS}
        0 | 0 enter MPI_Init | 10 leave | 20 enter outer iterations 2
        30 enter MPI_Send path 0 | 40 leave | 50 enter inner iterations 3 | 60 leave inner
        70 leave outer | 80 enter MPI_Barrier path 1 | 90 leave
    """
    _, (_, send, barrier), found = look(text, (25, 12), (55, 16), (65, 22))

    assert not found.loops(send)
    assert told(found.loops(barrier)) == [("inner", 15, 20, 1)]
    assert (found.recorded, found.samples) == (1, 3)


def test_the_time_of_a_computation_is_that_of_all_ranks_and_ends_with_each():
    text = f"""
        ranks 2 | {PATHS} | {REGIONS}
        0 | 0 enter MPI_Barrier path 0 | 10 leave | 20 enter outer iterations 4
        40 leave outer | 50 enter MPI_Barrier path 0 | 60 leave
        1 | 160 enter MPI_Barrier path 0 | 170 leave | 180 enter outer iterations 4
        200 leave outer | 210 enter MPI_Barrier path 0 | 220 leave
    """
    _, (barrier,), found = look(text)

    (loop,) = found.loops(barrier)
    assert (loop.entries, loop.share) == (2, 0.5)


def test_a_loop_whose_iterations_were_not_recorded_says_so():
    _, (_, barrier), found = look(recorded("20 enter outer | 40 leave outer"))

    assert found.loops(barrier)[0].iterations is None
    assert inside_text(found, barrier) == ["loop: outer (a.c:10..30), 20.0 % of the time"]


def test_names_out_of_a_trace_are_made_safe_to_print():
    _, (_, barrier), found = look(two_calls(), (12, 5, "f\x1b[31m"), (14, 5, "f\x1b[31m"))

    (line,) = inside_text(found, barrier)
    assert "\x1b" not in line
    assert line.endswith("(a.c:5), 100.0 % of 2 samples")


def test_json_says_what_python_says():
    _, (_, barrier), found = look(two_calls(), (12, 5), (14, 5))

    assert found.as_dict(barrier) == {
        "samples": 2,
        "share": 1.0,
        "places": [{"function": "f", "file": "a.c", "line": 5, "samples": 2}],
        "loops": [
            {
                "function": "f", "file": "a.c", "first_line": 5, "last_line": 5, "samples": 2,
                "share": 1.0, "iterations": None, "entries": None,
            }
        ],
    }  # fmt: skip
