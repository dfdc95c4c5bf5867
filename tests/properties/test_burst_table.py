"""The burst table says of every burst what a loop over the whole trace says."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline import Trace
from burstline.formats import read, write
from burstline.identity import SPAN_COLLECTIVES
from burstline.merge import burst_parts, burst_table
from burstline.merge.tables.rows import ComputingThreads, Concurrency
from burstline.model import NO_VALUE, UNKNOWN, arrow_table, schema
from effort import examples
from oracles import burst_table as oracle
from random_traces import traces

STRETCHES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), max_size=8)
LATE = 2**61


def stories(draw):
    """Bursts of a few locations, none of which computes twice at a time."""
    nodes = draw(st.lists(st.sampled_from([None, "a", "b"]), min_size=1, max_size=5))
    bursts = []
    for location in range(len(nodes)):
        now = draw(st.sampled_from([0, LATE]))
        for idle, length in draw(STRETCHES):
            bursts.append((location, now + idle, now + idle + length))
            now += idle + length
    return nodes, bursts


BURSTS = st.composite(stories)()


def placed(nodes, bursts):
    """Give a trace of locations on nodes, and of bursts."""
    location, start, end = columns(bursts)
    number = np.arange(len(nodes))
    of_location = dict.fromkeys(("application", "thread", "born_ns", "died_ns"), 0 * number)
    of_location |= dict.fromkeys(("location", "process", "rank"), number)
    kinds = {"kind": ["cpu"] * len(nodes), "name": [""] * len(nodes), "node": nodes}
    none = np.full(len(location), UNKNOWN)
    return Trace(
        {
            "locations": arrow_table("locations", of_location | kinds | {"cpu": number}),
            "bursts": arrow_table(
                "bursts",
                {
                    "location": location, "burst": np.arange(len(location)),
                    "start_ns": start, "end_ns": end, "call_before": none, "call_after": none,
                    **dict.fromkeys(("gap_ns", "polls", "polling_ns"), 0 * location),
                    "waiting_ns": np.full(len(location), NO_VALUE),
                },
            ),
        }
    )  # fmt: skip


def columns(bursts):
    return [np.array(column, np.int64) for column in zip(*bursts, strict=True)]


@given(BURSTS)
def test_concurrency_is_what_a_loop_over_all_pairs_of_bursts_says(story):
    nodes, bursts = story
    if not bursts:
        return
    trace = placed(nodes, bursts)

    found = Concurrency(trace, trace).average(*columns(bursts))

    expected = oracle.concurrency(nodes, bursts)
    assert [None if np.isnan(value) else value for value in found] == pytest.approx(expected)


@given(BURSTS, st.lists(st.integers(-2, 90), min_size=1))
def test_time_computed_before_any_moment_is_a_sum_over_bursts(story, moments):
    nodes, bursts = story
    if not bursts:
        return
    _, start, end = columns(bursts)
    computing = ComputingThreads(start, end)

    assert computing.before(np.array([0, 2**62])).tolist() == [0, int((end - start).sum())]
    assert computing.before(np.array(moments)).tolist() == [
        sum(max(0, min(moment, last) - first) for _, first, last in bursts)
        for moment in moments
    ]
    known = [burst for burst in bursts if nodes[burst[0]] == "a" and burst[1] < burst[2]]
    if known:
        _, start, end = columns(known)
        found = ComputingThreads(start, end).average(start, end)
        assert ((found >= 1) & (found <= nodes.count("a"))).all()


@given(traces())
def test_every_row_is_what_a_loop_over_the_trace_says(trace):
    table = burst_table(trace).table

    found, expected = table.to_pylist(), list(oracle.rows(trace, SPAN_COLLECTIVES))
    assert len(found) == trace.bursts.num_rows
    for row, twin in zip(found, expected, strict=True):
        assert {name: row[name] for name in twin} == pytest.approx(twin)


@given(traces(), st.integers(0, 6))
def test_short_bursts_are_left_out_and_count_all_the_same(trace, shortest):
    whole = burst_table(trace).table.to_pylist()

    found = burst_table(trace, min_duration_ns=shortest).table.to_pylist()

    assert found == [row for row in whole if row["duration_ns"] >= shortest]


@examples(0.4)
@given(traces(), st.data())
def test_a_column_does_not_depend_on_which_others_are_asked_for(trace, data):
    whole = burst_table(trace).table
    names = data.draw(st.lists(st.sampled_from(whole.column_names), min_size=1, unique=True))

    found = burst_table(trace, columns=names).table

    assert found.schema.equals(whole.select(names).schema, check_metadata=True)
    assert found.to_pylist() == whole.select(names).to_pylist()


@examples(0.4)
@given(trace=traces())
def test_a_store_gives_the_same_rows_part_by_part(trace, tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "run.store"
    write(trace, path)
    stored = read(path)

    parts = list(burst_parts(stored))

    assert stored.is_stored
    rows = [row for part in parts for row in part.to_pylist()]
    assert rows == burst_table(trace).table.to_pylist()
    assert all(part.schema.equals(parts[0].schema) for part in parts)


def renumbered(trace):
    """Give the same trace, its communicators and call paths under other ids."""
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}
    last = trace.communicators.num_rows - 1

    def moved(row, **columns):
        return row | {
            name: None if row[name] is None else change(row[name])
            for name, change in columns.items()
        }

    def after(path):
        return path + 1

    def swapped(communicator):
        return last - communicator

    paths = [moved(row, call_path=after, parent=after) for row in trace.call_paths.to_pylist()]
    communicators = [
        moved(row, communicator=swapped) for row in reversed(trace.communicators.to_pylist())
    ]
    calls = [
        moved(row, call_path=after, communicator=swapped) for row in trace.calls.to_pylist()
    ]
    new = {"communicators": communicators, "calls": calls}
    if paths:
        extra = {"call_path": 0, "parent": None, "function": "new", "file": None, "line": None}
        new["call_paths"] = [extra, *paths]
    return Trace(
        tables
        | {
            name: pa.Table.from_pylist(rows, schema=trace.table(name).schema)
            for name, rows in new.items()
        }
    )


@examples(0.4)
@given(traces())
def test_rows_hold_no_id_of_communicators_and_call_paths(trace):
    found = burst_table(renumbered(trace)).table

    assert found.to_pylist() == burst_table(trace).table.to_pylist()
