"""Sums by kind are those of the pieces: in any span, of any rank, at any line."""

from __future__ import annotations

from functools import partial

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

import burstline
from burstline.answers import per_rank
from burstline.testing import trace_of
from burstline.timeline import KINDS, timeline, times_by_rank, times_by_site, times_within
from golden.oracle_events import as_text
from hybrid_programs import hybrid_programs
from loop_programs import Do, loop, run
from random_traces import traces


def timeline_of(trace):
    return timeline(trace, burstline.wait_states(trace))


def lies_on(location, piece):
    return piece["location"] == location


def slowly(line, is_chosen, start_ns, end_ns):
    times = [0] * len(KINDS)
    for piece in line.pieces.to_pylist():
        if is_chosen(piece):
            length = min(piece["end_ns"], end_ns) - max(piece["start_ns"], start_ns)
            times[piece["kind"]] += max(length, 0)
    return times


@given(traces(), st.data())
def test_times_within_a_span_are_those_of_its_pieces(trace, data):
    assume(trace.rows("calls"))
    line = timeline_of(trace)
    places = st.integers(0, line.locations.num_rows - 1)
    moments = st.integers(line.first_ns - 5, line.last_ns + 5)
    drawn = data.draw(st.lists(st.tuples(places, moments, moments), min_size=1, max_size=5))
    spans = [(place, *sorted(ends)) for place, *ends in drawn]

    location, start, end = np.array(spans, np.int64).T
    times = times_within(line, location, start, end)

    for span, found in zip(spans, times.tolist(), strict=True):
        assert found == slowly(line, partial(lies_on, span[0]), *span[1:])


@given(hybrid_programs())
def test_times_of_ranks_add_up_to_the_run(program):
    line = timeline_of(trace_of(as_text(program)))

    sums = times_by_rank(line)

    begin, end = line.baseline_ns
    cpus = line.locations["kind"].to_pylist().count("cpu")
    assert sum(int(times.sum()) for times in sums.values()) == (end - begin) * cpus


@given(st.integers(2, 6), st.lists(st.sampled_from(["Barrier", "Send", "Recv"]), max_size=4))
def test_times_of_lines_are_those_of_their_calls_and_of_what_is_before(times, operations):
    body = [Do(name, line) for line, name in enumerate(operations, start=10)]
    trace = run(Do("Barrier", 3), loop(times, *body, Do("Allreduce", 20)))
    line, structure = timeline_of(trace), burstline.detect(trace, method="exact")

    within, before = times_by_site(line, structure)

    begin, end = line.baseline_ns
    calls = {(row["location"], row["call"]): row for row in trace.calls.to_pylist()}
    for site in range(len(within)):
        own = {
            (int(structure.found_in.locations[lane]), k)
            for lane, first in enumerate(structure.found_in.lane_begin[:-1].tolist())
            for k in range(sum(row["location"] == lane for row in calls.values()))
            if structure.steps.sequence[first + k] == site
        }
        assert within[site].tolist() == slowly(
            line, lambda piece, own=own: (piece["location"], piece["call"]) in own, begin, end
        )
    followed = int(within.sum() + before.sum())
    last = {place: max(row["leave_ns"] for row in calls.values() if row["location"] == place)
            for place in range(2)}  # fmt: skip
    assert followed == sum(min(each, end) - begin for each in last.values())


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=4))
def test_ranks_compute_as_long_in_a_timeline_as_in_the_answer(ends):
    steps = [
        f"{rank} | {init} enter MPI_Init | {init + 1} leave | 20 enter MPI_Barrier | 20 begin "
        f"| 25 end | 25 leave | {30 + final} enter MPI_Finalize | {31 + final} leave "
        "| 60 enter x | 61 leave"
        for rank, (init, final) in enumerate(ends)
    ]
    run = burstline.open(trace_of("\n".join([f"ranks {len(ends)}", *steps])))

    sums = times_by_rank(run.ask("timeline"))

    told = {each.rank: each for each in per_rank(run.summary(), run.waits())}
    for (_, rank), times in sums.items():
        assert times[KINDS.index("computing")] == told[rank].computing_ns
        assert times[KINDS.index("ends")] == told[rank].init_finalize_ns
