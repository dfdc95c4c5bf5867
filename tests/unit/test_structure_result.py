"""A structure as programs and notebooks see it."""

from __future__ import annotations

import json

import pytest

from burstline.structure import detect
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


def test_a_notebook_shows_a_row_per_node_and_does_not_obey_labels(found):
    frame = found.to_frame()

    assert frame.height == found.nodes == 7
    assert frame["depth"].to_list() == [0, 0, 0, 1, 2, 1, 0]
    assert frame["kind"].to_list().count("loop") == 2
    assert "<script" not in found._repr_html_()
    assert "loop 1: 20 iterations" in found._repr_html_()
    assert "<tr><td>a.c</td><td>9</td>" in found._repr_html_()
    assert repr(found) == "<Structure: 2 loops, fidelity 1.0000, by method 'exact'>"
