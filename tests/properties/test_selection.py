"""What holds for every region of interest of every trace."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import assume, given
from hypothesis import strategies as st

from burstline import Trace
from burstline.extrae.event_types import ITERATION, LOOP_OF_CALL
from burstline.model import LoopEvents, Loops, schema
from burstline.selection import Losses, losses, select, shift
from burstline.testing import assert_same_trace
from effort import examples
from random_traces import traces

CALL, COUNTER = 50_000_003, 42_000_059


def with_raw(trace):
    """Give the trace raw tables, as a reader of Paraver files would."""
    events, states = [], []
    for name, kind in (("calls", CALL), ("regions", 60_000_000)):
        for row in trace.table(name).to_pylist():
            events += [
                (row["location"], row["enter_seq"], row["enter_ns"], kind, 1),
                (row["location"], row["leave_seq"], row["leave_ns"], kind, 0),
            ]
            states.append((row["location"], row["enter_ns"], row["leave_ns"], 7))
    taken = {event[:2] for event in events}
    for row in trace.readings.to_pylist():
        if (row["location"], row["seq"]) not in taken:
            events.append((row["location"], row["seq"], row["time_ns"], COUNTER, 1))
    states += [(row["location"], row["start_ns"], -1, 0) for row in trace.gaps.to_pylist()]
    links = [
        (*(row[name] for name in schema.arrow_schema("links").names[:6]), 5, 6)
        for row in trace.messages.to_pylist()
    ]
    raw = {
        "events": sorted(events),
        "states": sorted(states),
        "links": links,
        "event_types": [(CALL, "MPI", 0, 1)],
        "event_values": [(1, 0, "End")],
        "source": [],
    }
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}
    for name, rows in raw.items():
        target = schema.arrow_schema(name)
        columns = [pa.array([row[k] for row in rows], f.type) for k, f in enumerate(target)]
        tables[name] = pa.Table.from_arrays(columns, schema=target)
    return with_some_loops(Trace(tables))


def with_some_loops(trace):
    """Take regions for loops; each third call is labelled, and begins an iteration."""
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}
    role = pa.array(["loop"] * trace.rows("region_defs"), pa.string())
    place = trace.region_defs.column_names.index("role")
    definitions = trace.region_defs.set_column(
        place, trace.region_defs.schema.field(place), role
    )
    location, call, time_ns = trace.arrays("calls", "location", "call", "enter_ns")
    chosen = call % 3 == 0
    location, call, time_ns = (
        np.repeat(column[chosen].astype(np.int64), 2) for column in (location, call, time_ns)
    )
    kind = np.tile([LOOP_OF_CALL, ITERATION], len(call) // 2)
    loops = Loops()
    events = LoopEvents(location, time_ns, kind, call % 7, lambda _, value: f"loop {value}")
    tables |= loops.tables(tables, definitions, events)
    return Trace(tables | loops.definitions(), check=True)


@st.composite
def windows(draw, trace):
    """Give (start, end) near the moments of a trace, where borders matter."""
    moments = np.concatenate([*trace.arrays("calls", "enter_ns", "leave_ns"), [0]])
    near = st.builds(lambda a, b: int(a) + b, st.sampled_from(moments), st.integers(-1, 1))
    start, end = sorted((draw(near), draw(near)))
    assume(start < end)
    return start, end


@st.composite
def cut_traces(draw):
    """Give a trace and a window of it."""
    trace = with_raw(draw(traces()))
    return trace, *draw(windows(trace))


@st.composite
def rank_sets(draw, trace):
    ranks = sorted(set(trace.locations["rank"].to_pylist()))
    return draw(st.sets(st.sampled_from(ranks), min_size=1))


def moments(trace):
    """Give the name and the times of every column that holds moments."""
    for name, table in schema.TABLES.items():
        for column in table.columns:
            if column.unit == "ns" and column.name not in {
                "polling_ns",
                "waiting_ns",
                "gap_ns",
            }:
                yield name, trace.table(name)[column.name].drop_null().to_pylist()


@examples(0.5)
@given(trace=traces().map(with_raw))
def test_a_selection_of_the_whole_trace_is_the_trace(trace):
    ranks = set(trace.locations["rank"].to_pylist())

    last_ns = max(max(times, default=0) for _, times in moments(trace))

    whole = select(trace, start_ns=0, end_ns=last_ns + 1, ranks=ranks, application=0)

    assert_same_trace(whole, trace)


@examples(0.5)
@given(trace=traces())
def test_a_window_from_the_first_to_the_last_moment_loses_no_event(trace):
    locations = trace.locations
    start, end = pc.min(locations["born_ns"]).as_py(), pc.max(locations["died_ns"]).as_py()
    assume(start < end)

    whole = select(trace, start_ns=start, end_ns=end)

    assert_same_trace(whole, trace, tables=set(schema.TABLES) - {"gaps", "bursts", "locks"})


@examples(0.5)
@given(cut=cut_traces(), data=st.data())
def test_a_selection_of_a_selection_is_the_selection_of_what_both_allow(cut, data):
    trace, start, end = cut
    other_start, other_end = data.draw(windows(trace))
    assume(max(start, other_start) < min(end, other_end))
    ranks = data.draw(rank_sets(trace))

    twice = select(select(trace, start_ns=start, end_ns=end), start_ns=other_start)
    twice = select(select(twice, ranks=ranks), end_ns=other_end)

    once = select(
        trace, start_ns=max(start, other_start), end_ns=min(end, other_end), ranks=ranks
    )
    assert_same_trace(twice, once)


@examples(0.5)
@given(cut=cut_traces(), offset_ns=st.integers(0, 50))
def test_selecting_and_shifting_commute(cut, offset_ns):
    trace, start, end = cut

    shifted_first = select(
        shift(trace, offset_ns), start_ns=start + offset_ns, end_ns=end + offset_ns
    )

    assert_same_trace(
        shifted_first, shift(select(trace, start_ns=start, end_ns=end), offset_ns)
    )


@examples(0.5)
@given(trace=traces().map(with_raw), offset_ns=st.integers(0, 50))
def test_shifting_there_and_back_is_the_trace(trace, offset_ns):
    assert_same_trace(shift(shift(trace, offset_ns), -offset_ns), trace)


@examples(0.5)
@given(cut=cut_traces(), data=st.data())
def test_every_selected_table_keeps_the_schema_and_nothing_is_outside_the_window(cut, data):
    trace, start, end = cut

    part = select(trace, start_ns=start, end_ns=end, ranks=data.draw(rank_sets(trace)))

    for name in schema.TABLES:
        schema.check(name, part.table(name))
    for each in (part, select(trace, start_ns=start, end_ns=end)):
        for name, times in moments(each):
            never = {-1} if name == "states" else set()
            assert all(start <= time_ns <= end for time_ns in set(times) - never), name


@examples(0.5)
@given(cut=cut_traces(), data=st.data())
def test_every_reference_points_at_what_it_pointed_at(cut, data):
    trace, start, end = cut
    part = select(trace, start_ns=start, end_ns=end, ranks=data.draw(rank_sets(trace)))

    for row in part.messages.to_pylist():
        for side in ("send", "send_done", "post", "receive"):
            location = row["sender_location" if "send" in side else "receiver_location"]
            if row[f"{side}_call"] is not None and row[f"{side}_seq"] is not None:
                call = call_of(part, location, row[f"{side}_call"])
                assert call["enter_seq"] <= row[f"{side}_seq"] <= call["leave_seq"]
    for row in part.collective_members.to_pylist():
        call = call_of(part, row["location"], row["call"])
        assert call["enter_seq"] <= row["begin_seq"] <= call["leave_seq"]
    for row in part.regions.to_pylist():
        if row["parent"] is not None:
            parent = part.regions.filter(
                pc.and_(
                    pc.equal(part.regions["location"], row["location"]),
                    pc.equal(part.regions["row"], row["parent"]),
                )
            ).to_pylist()[0]
            assert (
                parent["enter_seq"] < row["enter_seq"] < row["leave_seq"] < parent["leave_seq"]
            )


@given(cut=cut_traces(), data=st.data())
def test_every_reference_of_loops_points_at_what_is_around(cut, data):
    trace, start, end = cut
    part = select(trace, start_ns=start, end_ns=end, ranks=data.draw(rank_sets(trace)))

    for row in part.call_loops.to_pylist():
        call_of(part, row["location"], row["call"])
    entries = {(row["location"], row["entry"]): row for row in part.loop_entries.to_pylist()}
    for row in entries.values():
        if row["parent"] is not None:
            parent = entries[row["location"], row["parent"]]
            assert parent["enter_ns"] <= row["enter_ns"] <= row["leave_ns"]
            assert row["leave_ns"] <= parent["leave_ns"]
    for row in part.loop_iterations.to_pylist():
        if row["entry"] is not None:
            entry = entries[row["location"], row["entry"]]
            assert entry["enter_ns"] <= row["time_ns"] <= entry["leave_ns"]


def call_of(trace, location, call):
    row = trace.offsets("calls")[location] + call
    found = trace.calls.slice(int(row), 1).to_pylist()[0]
    assert (found["location"], found["call"]) == (location, call)
    return found


@examples(0.5)
@given(cut=cut_traces())
def test_one_burst_lies_between_each_two_consecutive_calls(cut):
    trace, start, end = cut
    part = select(trace, start_ns=start, end_ns=end)
    offsets = part.offsets("calls")

    between = [
        (row["location"], row["call_before"])
        for row in part.bursts.to_pylist()
        if row["call_before"] is not None and row["call_after"] == row["call_before"] + 1
    ]

    assert between == [
        (location, call)
        for location in range(part.locations.num_rows)
        for call in range(int(offsets[location + 1] - offsets[location]) - 1)
    ]


@examples(0.5)
@given(trace=traces(), data=st.data())
def test_a_trace_split_in_two_loses_only_what_the_border_cuts(trace, data):
    _, middle = data.draw(windows(trace))
    borders = trace.arrays("locations", "born_ns", "died_ns")
    assume(middle not in np.concatenate(borders))
    parts = select(trace, end_ns=middle), select(trace, start_ns=middle)

    rows = {
        name: sum(part.table(name).num_rows for part in parts) - trace.table(name).num_rows
        for name in ("messages", "readings", "calls")
    }

    cost = losses(trace, parts[0])
    assert rows["readings"] == 0
    assert rows["calls"] == cost.calls_clipped
    assert rows["messages"] <= 0
    assert rows["messages"] == 0 or cost.messages


@examples(0.5)
@given(trace=traces())
def test_a_whole_trace_loses_nothing(trace):
    assert losses(trace, select(trace, start_ns=-1)) == Losses(0, 0, 0)
