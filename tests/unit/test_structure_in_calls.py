"""Counters in calls are those between its two ends, where both were read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import command
import oracles.in_calls as oracle
from burstline.model import NO_VALUE, inside_calls
from burstline.structure import detect, in_calls
from burstline.testing import trace_of

HEAD = "ranks 2 | counter PAPI_TOT_INS | counter PAPI_TOT_CYC | path 0 main file a.c line 3"


def program(readings, ranks=2):
    """Give a loop of one call on each rank, of (enter, leave) words of its readings."""
    told = [HEAD.replace("ranks 2", f"ranks {ranks}")]
    for rank in range(ranks):
        told.append(str(rank))
        for step, (enter, leave) in enumerate(readings):
            told += [
                f"{9 * step} enter MPI_Barrier path 0 {enter}",
                f"{9 * step + 4} leave {leave}",
            ]
    return " | ".join(told)


def counters(instructions, cycles):
    return f"PAPI_TOT_INS={instructions} PAPI_TOT_CYC={cycles}"


BOTH = [(counters(100, 50), counters(30, 60))] * 6


def test_a_call_has_the_mean_of_what_was_counted_from_its_enter_to_its_leave():
    trace = trace_of(program(BOTH))

    (row,) = in_calls(trace, detect(trace)).rows()

    place = {"operation": "MPI_Barrier", "file": "a.c", "line": 3, "function": "main"}
    assert row == place | {"counters": {"PAPI_TOT_INS": 30, "PAPI_TOT_CYC": 60}}


@pytest.mark.parametrize("one", [(counters(1, 1), ""), ("", counters(1, 1)), ("", "")])
def test_calls_that_are_read_at_one_end_alone_are_not_known(one):
    trace = trace_of(program([one] * 6))

    assert list(in_calls(trace, detect(trace)).rows()) == []


def test_ranks_have_their_own_means():
    text = program(BOTH) + " | 60 enter MPI_Barrier path 0 " + counters(1, 1)
    trace = trace_of(text + " | 62 leave " + counters(100, 60))
    structure = detect(trace, method="exact")
    known = in_calls(trace, structure)
    calls = [call for loop in structure.loops for call in loop.calls]

    means = [known.of(calls[0], ranks=[rank])["PAPI_TOT_INS"] for rank in (0, 1)]

    assert means == [30, (6 * 30 + 100) / 7]


WORDS = st.sampled_from(["", "PAPI_TOT_INS=3", "PAPI_TOT_CYC=5", counters(7, 11)])


@given(
    readings=st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=8), ranks=st.integers(1, 3)
)
def test_what_is_counted_in_calls_is_what_the_slow_twin_says(readings, ranks):
    trace = trace_of(program(readings, ranks))
    tables = {
        name: trace.table(name) for name in ("locations", "calls", "readings", "counters")
    }

    found = inside_calls(tables)

    for name in trace.counter_names:
        known = [None if value == NO_VALUE else value for value in found[name].tolist()]
        assert known == oracle.inside(trace, name)


def test_the_listing_and_the_document_have_them_if_they_are_asked_for(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(program(BOTH).replace(" | ", "\n"))

    shown = command.burstline("structure", path, "--in-calls").stdout
    asked = command.burstline("structure", path, "--in-calls", "--format", "json").stdout
    usual = command.burstline("structure", path, "--format", "json").stdout

    (head,) = [line for line in shown.splitlines() if "PSEUDOCODE" in line]
    (line,) = [line for line in shown.splitlines() if "MPI_Barrier" in line]
    assert head.split()[-4:] == ["E(IPC)", "in", "the", "call"]
    assert [float(value) for value in line.split()[-2:]] == [2, 0.5]
    (row,) = json.loads(asked)["in_calls"]
    assert (row["counters"]["PAPI_TOT_CYC"], row["ipc"]) == (60, 0.5)
    assert "in_calls" not in json.loads(usual)
