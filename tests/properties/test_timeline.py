"""Every nanosecond of every thread is of one kind, and waits are those of the profile."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline.columns import to_numpy
from burstline.errors import NotEnoughDataError
from burstline.testing import trace_of
from burstline.timeline import KINDS, timeline
from golden.oracle_events import as_text
from hybrid_programs import hybrid_programs
from oracles.timeline import kind_at
from random_traces import traces

COLLECTIVE = (
    "mpi_earlyreduce", "mpi_earlyscan", "mpi_latebroadcast", "mpi_wait_nxn", "mpi_barrier_wait",
)  # fmt: skip
SAME = {
    "late_sender": ("mpi_latesender",),
    "late_receiver": ("mpi_latereceiver",),
    "collective": COLLECTIVE,
    "threads": (
        "omp_ebarrier_wait", "omp_ibarrier_wait", "omp_lock_contention_critical",
        "omp_lock_contention_api",
    ),
    "ends": ("mpi_init_exit",),
}  # fmt: skip
"""Kinds of time, and the metrics of which they are the sum."""


def timeline_of(trace):
    waits = burstline.wait_states(trace)
    return timeline(trace, waits), waits


def total(waits, *names):
    return sum(int(waits.profile.total(n)) for n in names if n in waits.profile.stored)


def assert_tiled(line):
    location, start, end = (
        to_numpy(line.pieces[name]) for name in ("location", "start_ns", "end_ns")
    )
    assert (start < end).all()
    for place in range(line.locations.num_rows):
        rows = location == place
        if line.first_ns == line.last_ns:
            assert not rows.any()
            continue
        borders = [line.first_ns, *end[rows].tolist()]
        assert borders == [*start[rows].tolist(), line.last_ns]


@given(traces())
def test_the_pieces_of_any_trace_tile_its_time(trace):
    try:
        line, _ = timeline_of(trace)
    except NotEnoughDataError:
        return
    assert_tiled(line)
    whole = (line.last_ns - line.first_ns) * line.locations.num_rows
    assert sum(line.totals_ns().values()) == whole


@given(hybrid_programs())
def test_waits_add_up_to_the_metrics_of_the_profile(program):
    try:
        line, waits = timeline_of(trace_of(as_text(program)))
    except NotEnoughDataError:
        return
    assert_tiled(line)
    totals = line.totals_ns()
    for kind, metrics in SAME.items():
        assert totals[kind] == total(waits, *metrics), kind
    assert totals["computing"] >= total(waits, "comp")


@given(hybrid_programs(), st.data())
def test_a_piece_of_a_wait_names_it_and_lies_in_it(program, data):
    try:
        line, waits = timeline_of(trace_of(as_text(program)))
    except NotEnoughDataError:
        return
    found = np.zeros(waits.instances.num_rows, np.int64)
    for piece in line.pieces.to_pylist():
        if piece["wait"] is None:
            continue
        wait = waits.instances.slice(piece["wait"], 1).to_pylist()[0]
        assert piece["location"] == wait["location"]
        assert wait["start_ns"] <= piece["start_ns"]
        assert piece["end_ns"] <= wait["start_ns"] + wait["wait_ns"]
        found[piece["wait"]] += piece["end_ns"] - piece["start_ns"]
    assert found.tolist() == waits.instances["wait_ns"].to_pylist()
    if len(found):
        row = data.draw(st.integers(0, len(found) - 1))
        chain = line.chain_of(row)
        assert chain[0] == row
        assert len(set(chain)) == len(chain)


@given(hybrid_programs(most_threads=1, most_steps=6), st.data())
def test_kinds_are_those_that_are_looked_up_one_by_one(program, data):
    trace = trace_of(as_text(program))
    if trace.rows("regions") or not trace.rows("calls"):
        return
    line, waits = timeline_of(trace)
    pieces = line.pieces.to_pylist()
    if not pieces:
        return
    piece = data.draw(st.sampled_from(pieces))
    moment = data.draw(st.integers(piece["start_ns"], piece["end_ns"] - 1))
    assert KINDS[piece["kind"]] == kind_at(trace, waits, piece["location"], moment)


@given(hybrid_programs())
def test_a_wait_ends_when_its_cause_enters_its_call(program):
    trace = trace_of(as_text(program))
    try:
        waits = burstline.wait_states(trace)
    except NotEnoughDataError:
        return
    for wait in waits.instances.to_pylist():
        if wait["cause_call"] is None:
            assert wait["metric"].startswith("omp_lock")
            continue
        table = "regions" if wait["metric"].startswith("omp") else "calls"
        begin = trace.offsets(table)[wait["cause_location"]]
        row = trace.table(table).slice(begin + wait["cause_call"], 1).to_pylist()[0]
        assert row["enter_ns"] == wait["start_ns"] + wait["wait_ns"]


def test_waits_of_a_logical_clock_have_no_timeline():
    trace = trace_of("ranks 1 | 0 | 5 enter MPI_Barrier | 9 leave")
    waits = burstline.wait_states(trace, clock="lt_1")
    with pytest.raises(burstline.ParameterError, match="logical clock"):
        timeline(trace, waits)
