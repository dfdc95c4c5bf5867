"""The MPI calls of an iteration are counted, in all and by phase of computation."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import command
from burstline import NotEnoughDataError, ParameterError
from burstline.structure import call_counts, detect
from loop_programs import Do, loop, run, text

LONG_NS = 5000
PHASES = (
    Do("Bcast", 3),
    loop(
        6,
        Do("Irecv", 5, work_ns=LONG_NS),
        loop(4, Do("Send", 9)),
        Do("Barrier", 12, work_ns=LONG_NS),
        Do("Allreduce", 13, when=lambda turn: turn > 0),
        Do("Send", 14),
    ),
)


def test_what_precedes_the_first_long_computation_is_a_phase_without_one():
    body = (Do("Send", 9), Do("Barrier", 12, work_ns=LONG_NS))
    structure = detect(run(loop(6, *body)), method="exact", min_share=0)

    counts = call_counts(structure, 1, bursts_ns=LONG_NS)

    assert [phase.burst_ns for phase in counts.phases] == [None, LONG_NS]
    assert [row["computing_ns"] for row in counts.rows()] == [None, LONG_NS]


@given(
    trips=st.lists(st.integers(0, 4), min_size=2, max_size=7),
    ranks=st.integers(1, 3),
    every=st.integers(1, 3),
    shown=st.sets(st.integers(0, 2), min_size=1),
)
def test_counts_are_those_of_the_calls_between_first_and_last_iteration(
    trips, ranks, every, shown
):
    body = (
        loop(trips, Do("Send", 9, work_ns=30)),
        Do("Bcast", 11, when=lambda turn: turn % every == 0),
        Do("Barrier", 12),
        Do("Send", 15, ranks=(0, 2)),
    )
    trace = run(loop(len(trips), *body), ranks=ranks)
    structure = detect(trace, method="exact")
    shown = {rank for rank in shown if rank < ranks} or {0}

    counts = call_counts(structure, 1, ranks=shown)

    steps = structure.iterations(1)
    calls = trace.calls.to_pylist()
    expected = Counter()
    for rank, first, last in zip(steps.rank, steps.first, steps.last, strict=True):
        if rank in shown:
            expected.update(call["operation"] for call in calls[first : last + 1])
    assert dict(zip(counts.operations, counts.calls.sum(axis=1).tolist(), strict=True)) == {
        **expected
    }
    assert counts.iterations == sum(int(rank) in shown for rank in steps.rank)


def test_ranks_that_do_not_run_the_loop_are_refused_and_so_is_no_time():
    trace = run(loop(6, Do("Send", 9, ranks=(1,))), ranks=2)
    structure = detect(trace, method="exact")

    with pytest.raises(NotEnoughDataError, match="none of the ranks shown runs loop 1"):
        call_counts(structure, 1, ranks=[0])
    with pytest.raises(ParameterError, match="0 ns or more"):
        call_counts(structure, 1, bursts_ns=-1)
    with pytest.raises(ParameterError, match="no loop 9"):
        call_counts(structure, 9)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(text(*PHASES))
    return path


def asked(path, *words):
    options = ("--method", "exact", "--calls-of", "1", "--bursts", "5us")
    return command.burstline("structure", path, *options, *words).stdout


def test_a_table_shows_the_calls_of_an_iteration_and_where_its_phases_begin(path):
    shown = [line.split() for line in asked(path, "--show-ranks", "0").splitlines()]

    assert ["loop", "1", "6", "iterations", "on", "rank", "0"] in shown
    assert ["MPI_Send", "30", "5", "4", "1"] in shown
    assert ["MPI_Allreduce", "5", "0.8333", "0.8333"] in shown
    assert ["2", "MPI_Barrier,", "a.c:12", "5", "µs"] in [
        [word.removesuffix(".00") for word in line] for line in shown
    ]


def test_the_same_counts_are_rows_and_a_document(path):
    rows = list(csv.DictReader(io.StringIO(asked(path, "--format", "csv"))))
    document = json.loads(asked(path, "--format", "json"))

    assert [(row["phase"], row["operation"], row["calls"]) for row in rows] == [
        ("1", "MPI_Irecv", "12"), ("1", "MPI_Send", "48"), ("2", "MPI_Allreduce", "10"),
        ("2", "MPI_Barrier", "12"), ("2", "MPI_Send", "12"),
    ]  # fmt: skip
    send = document["calls"][3]
    assert send["operation"] == "MPI_Send"
    assert (send["calls"], send["per_iteration"], send["by_phase"]) == (60, 5, [4, 1])
    assert document["phases"][1]["begins_with"]["line"] == 12
    assert (document["loop"], document["ranks"], document["bursts_ns"]) == (1, [0, 1], 5000)
