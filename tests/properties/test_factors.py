"""Serialisation and transfer: the run on an ideal network, as its literal twin has it."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given

import burstline
from burstline.efficiency import ideal_of
from burstline.synchronisation import graph_of
from burstline.synchronisation.rows import SCENARIOS, synchronous
from burstline.testing import trace_of
from golden.oracle_events import as_text
from hybrid_programs import hybrid_programs
from oracles import replay as twin


def ideal_runtime(trace):
    return ideal_of(graph_of(trace)).runtime_ns


def literal_ideal_runtime(program):
    """Each event counts what its location computed since the one before, after MPI_Init."""
    names = {region["id"]: region["name"] for region in program["regions"]}
    computed, finals, positions = {}, {}, defaultdict(int)
    for rank in range(program["ranks"]):
        calls, last, started = 0, 0, False
        for letters, location, stamp, *values in program["events"]:
            if location != rank * program["threads"]:
                continue
            position = positions[location]
            positions[location] += 1
            computed[location, position] = stamp - last if started and not calls else 0
            last = stamp
            if letters in "EL" and names[values[0]].startswith("MPI"):
                calls += 1 if letters == "E" else -1
                started = True
                if (letters, names[values[0]]) == ("E", "MPI_Finalize"):
                    finals[location] = position
    stamps = twin.stamps(program, lambda *event: computed.get(event, 0), 0, certain_only=True)
    return max(stamps[event] for event in finals.items())


@given(hybrid_programs(most_threads=1))
def test_the_ideal_runtime_is_that_of_the_literal_replay(program):
    trace = trace_of(as_text(program))
    certain = SCENARIOS["ideal network"]._replace(waiting_sends=synchronous)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SCENARIOS, "ideal network", certain)
        ours = ideal_runtime(trace)

    assert certain._replace(with_threads=True) == SCENARIOS["recorded"]
    assert ours == literal_ideal_runtime(program)


@given(hybrid_programs())
def test_factors_multiply_to_the_communication_efficiency(program):
    efficiency = burstline.wait_states(trace_of(as_text(program))).efficiency

    if efficiency["serialisation"] is None:
        return
    assert 0 < efficiency["serialisation"] <= 1
    assert 0 < efficiency["transfer"] <= 1
    product = efficiency["serialisation"] * efficiency["transfer"]
    assert product == pytest.approx(efficiency["communication"])


def run(*ranks):
    """The factors of ranks, each a line of events after MPI_Init [0, 10]."""
    lines = [f"ranks {len(ranks)}"]
    lines += [f"{k} | 0 enter MPI_Init | 10 leave | {rank}" for k, rank in enumerate(ranks)]
    return burstline.wait_states(trace_of("\n".join(lines))).efficiency


def test_ranks_that_compute_in_turn_are_serialised():
    efficiency = run(
        "110 enter MPI_Send | 110 send to 1 tag 0 bytes 8 | 110 leave "
        "| 210 enter MPI_Finalize | 220 leave",
        "10 enter MPI_Recv | 110 receive from 0 tag 0 bytes 8 | 110 leave "
        "| 210 enter MPI_Finalize | 220 leave",
    )

    assert efficiency["communication"] == pytest.approx(
        1
    )  # the first one computes all the time
    efficiency = run(
        "110 enter MPI_Send | 110 send to 1 tag 0 bytes 8 | 110 leave "
        "| 110 enter MPI_Finalize | 220 leave",
        "10 enter MPI_Recv | 110 receive from 0 tag 0 bytes 8 | 110 leave "
        "| 210 enter MPI_Finalize | 220 leave",
    )
    assert efficiency["serialisation"] == pytest.approx(0.5)
    assert efficiency["transfer"] == pytest.approx(1)


def test_calls_that_wait_for_nobody_are_transfer():
    efficiency = run(
        "110 enter MPI_Send | 110 send to 1 tag 0 bytes 8 | 210 leave "
        "| 210 enter MPI_Finalize | 220 leave",
        "110 enter MPI_Recv | 210 receive from 0 tag 0 bytes 8 | 210 leave "
        "| 210 enter MPI_Finalize | 220 leave",
    )

    assert efficiency["serialisation"] == pytest.approx(1)
    assert efficiency["transfer"] == pytest.approx(0.5)


def test_a_large_message_waits_for_its_receive_on_an_ideal_network_too():
    large = run(
        "10 enter MPI_Send | 10 send to 1 tag 0 bytes 900 | 112 leave "
        "| 212 enter MPI_Finalize | 220 leave",
        "110 enter MPI_Recv | 110 receive from 0 tag 0 bytes 900 | 110 leave "
        "| 110 enter MPI_Finalize | 220 leave",
    )
    small = run(
        "10 enter MPI_Send | 10 send to 1 tag 0 bytes 900 | 11 leave "
        "| 111 enter MPI_Finalize | 220 leave",
        "110 enter MPI_Recv | 110 receive from 0 tag 0 bytes 900 | 110 leave "
        "| 110 enter MPI_Finalize | 220 leave",
    )

    assert large["serialisation"] == pytest.approx(0.5)
    assert small["serialisation"] == pytest.approx(1)


def test_what_nobody_watched_is_no_computation_on_an_ideal_network():
    watched, unwatched = (
        run(
            f"{gap} 100 enter MPI_Send | 100 send to 1 tag 0 bytes 8 | 110 leave "
            "| 110 enter MPI_Finalize | 220 leave",
            "10 enter MPI_Recv | 110 receive from 0 tag 0 bytes 8 | 110 leave "
            "| 210 enter MPI_Finalize | 220 leave",
        )
        for gap in ("", "20..80 gap flush |")
    )

    assert watched["serialisation"] == pytest.approx(100 / 190)
    assert unwatched["serialisation"] == pytest.approx(100 / 130)
