"""What holds for every reduction of calls to unique ones, whatever the trace."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import burstline
import by_hand
from burstline import _core
from burstline.identity import sites_of
from burstline.model import schema
from burstline.structure.assembly import pooled
from burstline.structure.calls import Calls
from burstline.structure.published.clustering import count_runs, merged
from effort import examples
from loop_programs import reduced_calls
from oracles import reduction as oracle
from random_traces import traces

COUNTERS = ("ins", "cyc")
amounts = st.one_of(st.integers(0, 9), st.integers(0, 2**40))
maybe = st.one_of(st.none(), st.integers(0, 3))
MEANS = ("time_ns", "time_spread_ns", "size_bytes", "size_spread_bytes", "burst_ns")


@st.composite
def irregular(draw):
    """Traces of calls of all kinds in any order, with and without bursts before them."""
    ranks = draw(st.integers(1, 3))
    calls, bursts = [], []
    for rank in range(ranks):
        now = 0
        for call in sorted(draw(st.sets(st.integers(0, 14), max_size=12))):
            start, now = now, now + draw(amounts)
            path = draw(st.integers(0, 2))
            if draw(st.booleans()):
                row = {"location": rank, "burst": call, "start_ns": start, "end_ns": now}
                row |= {
                    "call_after": draw(
                        st.sampled_from([call, call, call - 1 if call else None, None])
                    )
                }
                row |= {name: draw(st.one_of(st.none(), amounts)) for name in COUNTERS}
                bursts.append(row)
            calls.append(
                {
                    "location": rank,
                    "call": call,
                    "operation": draw(st.sampled_from(["MPI_Send", "MPI_Bcast"])),
                    "enter_ns": now,
                    "leave_ns": now + draw(amounts),
                    "communicator": draw(st.sampled_from([None, 0])),
                    "peer": draw(maybe),
                    "root": draw(maybe),
                    "sent_bytes": draw(st.one_of(st.none(), amounts)),
                    "received_bytes": draw(st.one_of(st.none(), amounts)),
                    "call_path": path,
                }
            )
            now = calls[-1]["leave_ns"]
    paths = [{"call_path": k, "function": "f", "file": "a.c", "line": k} for k in range(3)]
    return burstline.Trace(
        {
            "locations": by_hand.rows_of("locations", by_hand.threads(*[(0, 9)] * ranks)),
            "calls": by_hand.rows_of("calls", calls),
            "bursts": pa.Table.from_pylist(bursts, schema.arrow_schema("bursts", COUNTERS)),
            "call_paths": by_hand.rows_of("call_paths", paths),
            "counters": by_hand.rows_of("counters", [{"name": name} for name in COUNTERS]),
        }
    )


def known(values):
    return [None if np.isnan(value) else value for value in values]


def close(values):
    return [None if value is None else pytest.approx(value, rel=1e-9) for value in values]


def times_of(calls, reduced, unique):
    """Give the times of the moments at which a unique call is executed."""
    times = np.unique(calls.enter_ns[calls.lane == reduced.lane[unique]])
    return times[reduced.executions(unique)].tolist()


@examples(0.6)
@given(trace=irregular())
def test_unique_calls_are_those_of_the_slow_twin_in_every_column(trace):
    assume(trace.calls.num_rows)
    expected = oracle.reduce_calls(trace)
    calls = Calls(trace, None)

    reduced = reduced_calls(trace)

    assert len(reduced.lane) == len(expected)
    for k in range(len(reduced.lane)):
        site = reduced.sites[reduced.site[k]]
        key = int(calls.locations[reduced.lane[k]]), site.operation, site.path[-1].line
        twin = expected[key]
        assert times_of(calls, reduced, k) == twin["enter_ns"]
        assert known(getattr(reduced, name)[k] for name in MEANS) == close(
            twin[name] for name in MEANS
        )
        for name in ("burst_counters", "iteration_counters"):
            assert known(getattr(reduced, name)[k]) == close(twin[name])
        for name in ("peer", "offset"):
            assert getattr(reduced, name)[k].tolist() == twin[name]
        assert reduced.communicator[k] == twin["communicator"]
        assert reduced.is_root[k] == twin["is_root"]


@examples(0.6)
@given(trace=traces(most_ranks=3, most_steps=20))
def test_every_call_is_an_execution_of_one_unique_call(trace):
    assume(trace.calls.num_rows)
    calls = Calls(trace, None)
    sites = sites_of(trace, calls.row, calls.world_size)

    reduced = reduced_calls(trace)

    assert reduced.begin[0] == 0
    assert reduced.begin[-1] == len(sites.of_call)
    pairs = list(zip(reduced.lane.tolist(), reduced.site.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    for k, (lane, site) in enumerate(pairs):
        of_unique = (calls.lane == lane) & (sites.of_call == site)
        assert times_of(calls, reduced, k) == calls.enter_ns[of_unique].tolist()


@examples(0.6)
@given(low=st.integers(0, 2**52), count=st.integers(2, 40), step=st.sampled_from([0, 1, 1000]))
def test_a_spread_loses_nothing_however_large_the_values(low, count, step):
    story = [("Send", 10 * k, 10 * k + 1) for k in range(count)]
    calls = by_hand.calls_of(story)
    for k, call in enumerate(calls):
        call["sent_bytes"] = low + step * (k % 2)
    trace = by_hand.trace_of(locations=by_hand.threads((0, 9)), calls=calls)

    reduced = reduced_calls(trace)

    expected = oracle.spread([low + step * (k % 2) for k in range(count)])
    assert reduced.size_spread_bytes.tolist() == pytest.approx([expected])


@examples(0.6)
@given(
    groups=st.lists(
        st.lists(
            st.lists(st.integers(0, 2**30), min_size=1, max_size=5), min_size=1, max_size=4
        ),
        min_size=1,
        max_size=4,
    )
)
def test_groups_have_the_mean_and_spread_of_all_their_values(groups):
    members = [values for group in groups for values in group]
    begin = np.cumsum([0, *map(len, groups[:-1])])
    column = np.array([[oracle.mean(values)] for values in members])
    spreads = np.array([[oracle.spread(values)] for values in members])

    mean, spread = pooled(column, spreads, np.array([len(v) for v in members]), begin)

    everything = [[value for values in group for value in values] for group in groups]
    assert mean.ravel().tolist() == pytest.approx([oracle.mean(v) for v in everything])
    assert spread.ravel().tolist() == pytest.approx(
        [oracle.spread(v) for v in everything], rel=1e-6, abs=1e-3
    )


@examples(0.6)
@given(rows=st.lists(st.tuples(st.integers(0, 3), st.floats(0, 100)), min_size=1, max_size=20))
def test_merged_calls_are_the_means_of_their_ranks(rows):
    sites = [site for site, _ in rows]

    point, means = merged(np.array(sites), np.array([[value] for _, value in rows]))

    for number, site in enumerate(sorted(set(sites))):
        own = [value for other, value in rows if other == site]
        assert means[number, 0] == pytest.approx(sum(own) / len(own))
    assert [sorted(set(sites))[number] for number in point] == sites


@examples(0.6)
@given(
    of=st.lists(st.integers(0, 30), max_size=20).map(sorted),
    other=st.lists(st.integers(0, 30), max_size=20).map(sorted),
)
def test_stretches_are_those_between_places_in_the_other_series(of, other):
    places = np.searchsorted(other, of)

    assert count_runs(np.array(of, np.int64), np.array(other, np.int64)) == len(set(places))


@examples(0.6)
@given(
    begins=st.lists(st.integers(0, 99), min_size=1, max_size=20).map(sorted),
    around=st.lists(st.integers(0, 99), max_size=9).map(sorted),
)
def test_steps_are_taken_between_iterations_of_one_entry(begins, around):
    inside = np.searchsorted(around, begins, side="right")
    steps = np.diff(begins)[np.diff(inside) == 0]

    found = _core.steps_within(np.array(begins), np.array(around, np.int64))

    assert found == (len(set(inside)), len(steps), steps.sum())
