"""The replay of what synchronises is as its literal twin has it, whatever clocks say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline.identity import call_tree
from burstline.synchronisation import ReplayModel, Rows, replay, rows_of, sync_of
from burstline.synchronisation.rows import PLACES
from burstline.testing import trace_of
from golden.oracle_events import as_text
from hybrid_programs import hybrid_programs
from oracles import replay as twin
from skewed import skewed


def rows_of_trace(trace):
    return rows_of(sync_of(trace, call_tree(trace)), "causal")


def rows_of_lanes(lanes, before):
    """Rows of (step, signals, awaits) by location."""
    flat = np.array([row for lane in lanes for row in lane], np.int64).reshape(-1, 3)
    begin = np.cumsum([0, *map(len, lanes)])
    signals, awaits = flat[:, 1].astype(np.int32), flat[:, 2].astype(np.int32)
    nothing = np.zeros(len(flat), np.int64)
    return Rows(
        begin, nothing, nothing, signals, awaits, nothing, np.array(before, np.int32)
    ), np.ascontiguousarray(flat[:, 0])


@st.composite
def lanes(draw, *, most_rows=8):
    """Rows that may wait for anything, themselves too, with sources that are chains."""
    count = draw(st.integers(1, 6))
    chained = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    before = [k - 1 if k and chained[k] else -1 for k in range(count)]
    source = st.integers(-1, count - 1)
    row = st.tuples(st.integers(0, 5), source, source)
    return draw(st.lists(st.lists(row, max_size=most_rows), min_size=1, max_size=5)), before


@given(hybrid_programs(), st.integers(1, 3), st.integers(0, 2))
def test_stamps_of_hybrid_programs_are_those_of_the_literal_algorithm(program, effort, latency):
    rows = rows_of_trace(trace_of(as_text(program)))
    efforts = {}

    def step(location, position):
        return efforts.setdefault((location, position), (location + position) % effort + 1)

    expected = twin.stamps(program, step, latency)
    position = rows.place // PLACES
    counted = [
        sum(step(location, k) for k in range(int(last) + 1))
        for location, last in zip(rows.location.tolist(), position, strict=True)
    ]
    steps = rows.steps(np.array(counted, np.int64))
    models = [ReplayModel(steps, latency), ReplayModel(np.zeros(len(steps), np.int64), 1)]

    result = replay(rows, models)

    events = zip(rows.location.tolist(), position.tolist(), strict=True)
    assert result.stamps[0].tolist() == [expected[event] for event in events]
    assert result.cycles == []
    receives = [location for location, _ in twin.causes(program)]
    assert np.count_nonzero(rows.awaits >= 0) >= len(set(receives))


@given(lanes(), st.integers(0, 2))
def test_broken_programs_are_replayed_as_the_twin_does(drawn, latency):
    rows, step = rows_of_lanes(*drawn)
    expected, circles = twin.replayed(*drawn, latency)

    result = replay(rows, [ReplayModel(step, latency)])

    events = [(location, k) for location, lane in enumerate(drawn[0]) for k in range(len(lane))]
    assert result.stamps[0].tolist() == [expected[event] for event in events]
    numbers = {event: row for row, event in enumerate(events)}
    assert result.cycles == sorted([numbers[event] for event in circle] for circle in circles)
    assert sorted(result.order.tolist()) == list(range(len(events)))


@given(hybrid_programs(), st.randoms())
def test_the_order_of_locations_changes_no_stamp(program, random):
    rows = rows_of_trace(trace_of(as_text(program)))
    order = list(range(len(rows.begin) - 1))
    random.shuffle(order)
    parts = [np.arange(rows.begin[k], rows.begin[k + 1]) for k in order]
    chosen = np.concatenate(parts)
    other = replace(
        rows,
        begin=np.cumsum([0, *map(len, parts)]),
        signals=rows.signals[chosen],
        awaits=rows.awaits[chosen],
    )
    ones = np.ones(len(chosen), np.int64)

    [expected], [stamps] = (
        replay(each, [ReplayModel(ones, 1)]).stamps for each in (rows, other)
    )

    assert stamps.tolist() == expected[chosen].tolist()


@given(hybrid_programs(), st.lists(st.integers(0, 1000), min_size=4, max_size=4))
def test_models_are_as_if_each_was_alone_and_without_the_clock_where_weights_are_given(
    program, offsets
):
    trace = trace_of(as_text(program))
    rows, other = (rows_of_trace(each) for each in (trace, skewed(trace, offsets, [0] * 4)))
    models = [
        ReplayModel(np.ones(len(rows.place), np.int64), 1),
        ReplayModel(rows.steps(rows.time_ns)),
        ReplayModel(rows.steps(rows.time_ns) // 2, 3, floor=rows.time_ns),
    ]

    together = replay(rows, models).stamps
    alone, skew = (replay(each, models[:1]) for each in (rows, other))

    for model, stamps in zip(models, together, strict=True):
        assert replay(rows, [model]).stamps[0].tolist() == stamps.tolist()
    assert together[1].tolist() == rows.time_ns.tolist()  # recorded stamps need no correction
    assert alone.stamps[0].tolist() == skew.stamps[0].tolist()
    assert alone.order.tolist() == skew.order.tolist()


def test_rows_are_at_most_40_bytes_each():
    rows, _ = rows_of_lanes([[(0, 0, -1)] * 10, [(0, -1, 0)] * 10], [-1])

    columns = ("place", "time_ns", "signals", "awaits")
    assert sum(getattr(rows, name).itemsize for name in columns) <= 40


def test_a_chain_of_circles_ends_in_time_linear_in_its_rows():
    count = 20_000
    lanes = [
        [row for k in range(count) for row in ((1, -1, 2 * k + 1), (1, 2 * k, -1))],
        [row for k in range(count) for row in ((1, -1, 2 * k), (1, 2 * k + 1, -1))],
        *([(1, -1, 2 * count - 2)] for _ in range(200)),
    ]
    rows, step = rows_of_lanes(lanes, [-1] * (2 * count))

    result = replay(rows, [ReplayModel(step)])

    assert len(result.order) == len(step)
    assert result.stamps[0][2 * count - 1] == 2 * count


@pytest.mark.parametrize(
    ("operation", "ends"),
    [
        ("MPI_Barrier", [15, 15, 15]), ("MPI_Allreduce", [15, 15, 15]),
        ("MPI_Alltoallv", [15, 15, 15]), ("MPI_Bcast", [1, 11, 11]), ("MPI_Gather", [15, 5, 3]),
        ("MPI_Scan", [11, 15, 15]), ("MPI_Exscan", [1, 11, 15]),
        ("MPI_Comm_split", [15, 15, 15]),
    ],
)  # fmt: skip
def test_members_of_a_collective_follow_whom_they_need(operation, ends):
    root = "root 0" if operation in ("MPI_Bcast", "MPI_Gather") else ""
    lines = [
        f"{rank} | {begin} enter {operation} | {begin} begin"
        f" | {begin} end sent 8 received 8 {root} | {begin} leave"
        for rank, begin in enumerate((1, 5, 3))
    ]
    rows = rows_of_trace(trace_of("\n".join(["ranks 3", *lines])))

    [stamps] = replay(rows, [ReplayModel(rows.steps(rows.time_ns), 10)]).stamps

    last = [int(stamps[end - 1]) for end in rows.begin[1:]]
    assert last == ends


def test_teams_whose_events_share_a_record_wait_in_no_circle(real_traces):
    rows = rows_of_trace(burstline.read(real_traces / "lulesh_omp_8r2t_s4_i5.prv.gz"))
    assert ((np.diff(rows.place) == 0) & (np.diff(rows.location) == 0)).any()

    assert replay(rows, [ReplayModel(np.ones(len(rows.place), np.int64), 1)]).cycles == []
