"""A structure as programs and notebooks see it."""

from __future__ import annotations

import json

import pytest

from burstline.structure import detect
from burstline.testing import trace_of
from loop_programs import Do, loop, run

PROGRAM = loop(20, loop(8, Do("Send", 9)), Do("Barrier", 12))


@pytest.fixture
def found():
    return detect(run(Do("Bcast", 3), PROGRAM, counters=True))


def test_the_document_has_the_keys_programs_read(found):
    document = json.loads(json.dumps(found.as_dict(), allow_nan=False))

    assert document["method"] == "exact"
    assert document["conditions"] == {"explained": 0, "unexplained": 0}
    assert document["fidelity"] == 1.0
    assert document["coverage"] == found.coverage.calls == 1.0
    assert document["coverage_time"] == found.coverage.time
    assert document["size"] == {"nodes": 7, "calls": 366, "ratio": 7 / 366}
    assert document["classes"] == [[0, 1]]
    assert document["unique_calls"] == 10
    assert [call["operation"] for call in document["outside"]] == [
        "MPI_Init",
        "MPI_Bcast",
        "MPI_Finalize",
    ]


def test_a_loop_says_who_runs_it_how_often_and_with_which_calls(found):
    outer, inner = found.as_dict()["loops"]

    assert (outer["id"], outer["parent"], outer["iterations"]) == (1, None, 20.0)
    assert (inner["id"], inner["parent"], inner["iterations"]) == (2, 1, 8.0)
    assert inner["total_iterations"] == 160
    assert inner["ranks"] == [0, 1]
    assert 0 < inner["share"] < outer["share"] <= 1
    (call,) = inner["calls"]
    assert {key: call[key] for key in ("operation", "file", "line", "function")} == {
        "operation": "MPI_Send",
        "file": "a.c",
        "line": 9,
        "function": "main",
    }
    assert call["probability"] == 1.0


def test_the_frame_has_a_row_per_node(found):
    frame = found.to_frame()

    assert frame.height == found.nodes == 7
    assert frame["depth"].to_list() == [0, 0, 0, 1, 2, 1, 0]
    assert frame["kind"].to_list().count("loop") == 2


def test_a_notebook_shows_labels_and_does_not_obey_them(found):
    assert "<script" not in found._repr_html_()
    assert "loop 1: 20 iterations" in found._repr_html_()
    assert "<tr><td>a.c</td><td>9</td>" in found._repr_html_()


def test_a_structure_names_its_loops_and_fidelity(found):
    assert repr(found) == "<Structure: 2 loops, fidelity 1.0000, by method 'exact'>"


@pytest.mark.parametrize(("second", "named"), [(1, "2"), (2, "several")])
def test_a_call_has_the_communicator_of_all_its_ranks(second, named):
    declared = (
        "communicator 1 members 0 | communicator 2 members 1 | path 0 main file a.c line 3"
    )
    calls = [
        " | ".join(
            f"{9 * k} enter MPI_Ibarrier path 0 comm {each} | {9 * k + 2} leave"
            for k in range(3)
        )
        for each in (1, second)
    ]

    found = detect(trace_of(f"ranks 2 | {declared} | 0 | {calls[0]} | 1 | {calls[1]}"))

    assert [call.communicator for call in found.loops[0].calls] == [named]
