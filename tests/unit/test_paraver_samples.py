"""Samples of a Paraver trace: where a thread was, in the names of its source."""

from __future__ import annotations

import pytest

import burstline
from burstline.formats import sampled
from burstline.show.code_lines import inside_text
from burstline.structure import Call, detect, walk
from burstline.structure.computation import inside

ROUNDS = 4
PCF = """\
EVENT_TYPE
9    50000002    MPI Collective Comm
VALUES
8    MPI_Barrier
10   MPI_Allreduce

EVENT_TYPE
0    30000000    Sampled functions (depth 0)
0    30000001    Sampled functions (depth 1)
VALUES
0    End
1    ??
2    stencil [stencil(double*, int)]
3    main

EVENT_TYPE
0    30000100    Sampled lines functions (depth 0)
0    30000101    Sampled lines functions (depth 1)
VALUES
0    End
1    ??:0 [??:0, ??]
2    a.c:120 [/a.c:120, /a.out]
3    a.c:131 [/a.c:131, /a.out]
4    a.c:9 [/a.c:9, /a.out]
"""


def prv():
    """Write a program of one rank: a barrier, work in a stencil, an Allreduce, four times."""
    lines = [f"#Paraver (01/02/2026 at 03:04):{ROUNDS * 1000 + 100}_ns:1(1):1:1(1:1),0"]
    for k in range(ROUNDS):
        at = 1000 * k
        lines += [
            f"2:1:1:1:1:{at + 10}:50000002:8:70000001:3:80000001:4",
            f"2:1:1:1:1:{at + 20}:50000002:0",
            f"2:1:1:1:1:{at + 100}:30000000:2:30000100:2:30000001:3:30000101:4",
            f"2:1:1:1:1:{at + 200}:30000000:2:30000100:3:30000001:3:30000101:4",
            f"2:1:1:1:1:{at + 300}:30000000:2:30000100:2:30000001:3:30000101:4",
            f"2:1:1:1:1:{at + 400}:30000000:1:30000100:1",
            f"2:1:1:1:1:{at + 500}:50000002:10:70000001:2:80000001:3",
            f"2:1:1:1:1:{at + 510}:50000002:0",
        ]
    return "\n".join(lines) + "\n"


@pytest.fixture
def trace(tmp_path):
    (tmp_path / "a.prv").write_text(prv())
    (tmp_path / "a.pcf").write_text(PCF)
    return burstline.read(tmp_path / "a.prv")


def test_samples_have_the_function_and_the_line_that_was_interrupted(trace):
    assert sampled(trace).to_pylist()[:4] == [
        {"location": 0, "time_ns": 100, "function": "stencil", "file": "a.c", "line": 120},
        {"location": 0, "time_ns": 200, "function": "stencil", "file": "a.c", "line": 131},
        {"location": 0, "time_ns": 300, "function": "stencil", "file": "a.c", "line": 120},
        {"location": 0, "time_ns": 400, "function": "??", "file": None, "line": None},
    ]
    assert sampled(trace).num_rows == 4 * ROUNDS


def test_samples_without_labels_keep_their_number(tmp_path):
    (tmp_path / "a.prv").write_text(prv())
    found = sampled(burstline.read(tmp_path / "a.prv"))

    assert found["function"].to_pylist()[0] == "function 2"
    assert found["line"].null_count == found.num_rows


def test_two_samples_of_one_moment_keep_their_own_lines(tmp_path):
    text = prv().replace("30000000:2:30000100:2:30000001:3:30000101:4", "30000000:2:30000100:2")
    second = "2:1:1:1:1:100:30000000:3:30000100:4\n"
    (tmp_path / "a.prv").write_text(
        text.replace("2:1:1:1:1:200:", second + "2:1:1:1:1:200:", 1)
    )
    (tmp_path / "a.pcf").write_text(PCF)
    rows = sampled(burstline.read(tmp_path / "a.prv")).to_pylist()[:2]

    assert [(row["function"], row["line"]) for row in rows] == [("stencil", 120), ("main", 9)]


def test_samples_are_read_without_the_raw_events_and_from_a_store_too(trace, tmp_path):
    burstline.write(trace, tmp_path / "a.store")

    for other in (
        burstline.read(tmp_path / "a.prv", raw=False),
        burstline.read(tmp_path / "a.store"),
    ):
        assert sampled(other).equals(sampled(trace))


def test_a_sample_has_the_call_path_of_what_was_executed(trace):
    paths = trace.call_paths.to_pylist()
    row = paths[trace.table("samples")["call_path"][0].as_py()]

    assert (row["function"], row["line"]) == ("stencil", 120)
    above = paths[row["parent"]]
    assert (above["function"], above["line"], above["parent"]) == ("main", 9, None)


def test_a_sample_stands_for_the_periods_that_found_no_moment(tmp_path):
    text = prv().replace("30000000:2:30000100:2:", "77200005:7:30000000:2:30000100:2:", 1)
    lines = text.replace("30000000:2:30000100:3:", "30000000:2:77200005:3:30000100:3:", 1)
    (tmp_path / "a.prv").write_text(lines)
    periods = burstline.read(tmp_path / "a.prv").table("samples")["periods"].to_pylist()

    assert periods[:3] == [1, 3, 1]  # it belongs to the function before it
    assert set(periods[3:]) == {1}


def test_a_trace_without_samples_has_none(tmp_path):
    text = "".join(line for line in prv().splitlines(keepends=True) if ":30000000:" not in line)
    (tmp_path / "a.prv").write_text(text)

    assert sampled(burstline.read(tmp_path / "a.prv")).num_rows == 0


@pytest.mark.parametrize("method", ["seed", "exact"])
def test_a_loop_between_two_calls_is_found_from_the_file_to_the_words(trace, method):
    structure = detect(trace, method=method)
    found = inside(trace, structure, sampled(trace))
    calls = [item for item, _ in walk(structure.items) if isinstance(item, Call)]

    assert {call.operation: inside_text(found, call) for call in calls} == {
        "MPI_Barrier": [],
        "MPI_Allreduce": ["loop: stencil (a.c:120..131), 75.0 % of 16 samples"],
    }
