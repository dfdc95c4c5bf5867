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


def sends(begin, leave, ends, size=8, gap=""):
    """What a rank does after MPI_Init [0, 10] that sends something and ends."""
    return (
        f"{gap} {begin} enter MPI_Send | {begin} send to 1 tag 0 bytes {size} | {leave} leave "
        f"| {ends} enter MPI_Finalize | 220 leave"
    )


def receives(begin, leave, ends, size=8):
    return (
        f"{begin} enter MPI_Recv | {leave} receive from 0 tag 0 bytes {size} | {leave} leave "
        f"| {ends} enter MPI_Finalize | 220 leave"
    )


ONE = {
    "the first rank computes all the time": (
        sends(110, 110, 210), receives(10, 110, 210), {"communication": 1}
    ),
    "ranks that compute in turn are serialised": (
        sends(110, 110, 110), receives(10, 110, 210), {"serialisation": 0.5, "transfer": 1}
    ),
    "calls that wait for nobody are transfer": (
        sends(110, 210, 210), receives(110, 210, 210), {"serialisation": 1, "transfer": 0.5}
    ),
    "a large message waits for its receive on an ideal network too": (
        sends(10, 112, 212, 900), receives(110, 110, 110, 900), {"serialisation": 0.5}
    ),
    "a small one does not": (
        sends(10, 11, 111, 900), receives(110, 110, 110, 900), {"serialisation": 1}
    ),
    "what is watched is computation": (
        sends(100, 110, 110), receives(10, 110, 210), {"serialisation": 100 / 190}
    ),
    "what nobody watched is none on an ideal network": (
        sends(100, 110, 110, gap="20..80 gap flush |"), receives(10, 110, 210),
        {"serialisation": 100 / 130},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("sender", "receiver", "factors"), ONE.values(), ids=ONE)
def test_factors_of_a_message(sender, receiver, factors):
    text = "ranks 2 | 0 | 0 enter MPI_Init | 10 leave | " + sender
    text += " | 1 | 0 enter MPI_Init | 10 leave | " + receiver
    efficiency = burstline.wait_states(trace_of(text)).efficiency

    assert {name: efficiency[name] for name in factors} == pytest.approx(factors)
