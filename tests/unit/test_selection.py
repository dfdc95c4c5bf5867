"""A region of interest keeps what is inside and clips what its borders cut."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from burstline import ParameterError, Trace
from burstline.model import schema
from burstline.selection import (
    parse_iterations,
    parse_ranks,
    parse_time,
    select,
    shift,
)
from burstline.testing import assert_same_trace, trace_of

TWO_RANKS = """
ranks 2
counter ins
0 |  0 enter main
  | 10 enter MPI_Isend ins=10 | 12 send to 1 tag 3 bytes 8 request 1 | 14 leave ins=1
  | 40 enter MPI_Wait ins=50 | 50 sent request 1 | 55 leave ins=2
  | 70 enter MPI_Barrier ins=30 | 70 begin | 90 end | 90 leave ins=1 | 95 leave main
  | 60..65 gap flush
1 |  5 enter MPI_Recv | 30 receive from 0 tag 3 bytes 8 | 32 leave
  | 80 enter MPI_Barrier | 80 begin | 90 end | 90 leave
"""


@pytest.fixture
def trace():
    return trace_of(TWO_RANKS)


def column(table, *names):
    return [tuple(row[name] for name in names) for row in table.to_pylist()]


def test_nothing_asked_for_is_the_trace_itself(trace):
    assert select(trace) is trace


def test_a_call_without_length_is_inside_where_it_begins():
    trace = trace_of("ranks 1 | 0 | 0 enter main | 5 enter MPI_Wtime | 5 leave | 9 leave")

    assert select(trace, start_ns=5, end_ns=6).calls.num_rows == 1
    assert select(trace, start_ns=4, end_ns=5).calls.num_rows == 0


def test_a_message_is_kept_whole_or_not_at_all(trace):
    assert select(trace, start_ns=5, end_ns=30).messages.num_rows == 1
    assert select(trace, start_ns=6, end_ns=31).messages.num_rows == 0
    assert select(trace, start_ns=5, end_ns=29).messages.num_rows == 0


def test_a_completion_outside_the_window_is_forgotten(trace):
    place = trace.messages.column_names.index("send_done_from")
    field = trace.messages.schema.field(place)
    recorded = pa.array(["recorded"]).dictionary_encode().cast(field.type)
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}
    tables["messages"] = trace.messages.set_column(place, field, recorded)

    for each in (trace, Trace(tables)):  # in the other, no name says "unknown"
        row = select(each, start_ns=5, end_ns=45).messages.to_pylist()[0]
        assert row["send_done_from"] == "unknown"
        assert row["send_done_ns"] is row["send_done_call"] is row["send_done_seq"] is None


def test_a_burst_cut_by_a_border_has_no_counters(trace):
    part = select(trace, start_ns=10, end_ns=63, ranks=[0])

    assert column(
        part.bursts, "burst", "start_ns", "end_ns", "call_before", "call_after", "gap_ns", "ins"
    ) == [(0, 14, 40, 0, 1, 0, 50), (1, 55, 63, 1, None, 3, None)]


def test_each_burst_cut_by_a_border_keeps_its_part_of_the_gaps():
    trace = trace_of("""
        ranks 1
        0 | 0 enter MPI_Send | 1 leave | 10 enter MPI_Send | 11 leave
          | 20 enter MPI_Send | 21 leave | 4..7 gap flush | 13..18 gap flush
    """)

    part = select(trace, start_ns=5, end_ns=14)

    assert column(part.bursts, "start_ns", "end_ns", "gap_ns") == [(5, 10, 2), (11, 14, 1)]


def test_a_reading_at_the_start_counted_what_was_before_it(trace):
    part = select(trace, start_ns=40, end_ns=70, ranks=[0])

    assert column(part.readings, "time_ns", "ins") == [(55, 2), (70, 30)]


def test_raw_events_go_where_the_call_goes_that_they_enter_or_leave():
    trace = trace_of("ranks 1 | 0 | 0 enter MPI_Send | 5 leave | 5 enter MPI_Wait | 9 leave")
    target = schema.arrow_schema("events")
    stamps = [(0, 0), (1, 5), (2, 5), (3, 9), (4, 9)]
    rows = [dict(zip(target.names, (0, *stamp, 50, 1), strict=True)) for stamp in stamps]
    events = pa.Table.from_pylist(rows, schema=target)
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}
    raw = Trace(tables | {"events": events})

    assert column(select(raw, start_ns=5).events, "seq", "time_ns") == [(2, 5), (3, 9), (4, 9)]
    assert column(select(raw, end_ns=5).events, "seq", "time_ns") == [(0, 0), (1, 5)]
    inside = select(raw, start_ns=6, end_ns=7).events
    assert column(inside, "seq", "time_ns") == [(2, 6), (3, 7)]


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"start_ns": 5, "end_ns": 5}, "the window from 5 to 5 ns is empty"),
        ({"ranks": [2]}, "the trace lacks rank 2; its ranks are 0 to 1"),
        ({"ranks": [range(1, 4)]}, "the trace lacks ranks 1 to 3; its ranks are 0 to 1"),
        ({"ranks": []}, "no rank was chosen"),
        ({"application": 3}, "there is no application 3, only 0"),
        ({"start_ns": np.array([5, 5]), "end_ns": 5}, "empty on every location"),
        ({"start_ns": np.zeros(3, np.int64)}, r"each of 2 locations, got .* \(3,\)"),
        ({"end_ns": np.ones(2)}, "end_ns is whole nanoseconds, got float64"),
    ],
)
def test_an_impossible_choice_is_refused_with_what_there_is(trace, choice, message):
    with pytest.raises(ParameterError, match=message):
        select(trace, **choice)


def test_no_location_has_no_rank_to_choose_and_shifting_too_far_is_refused(trace):
    with pytest.raises(ParameterError, match="its ranks are none"):
        select(Trace({}), ranks=[0])
    with pytest.raises(ParameterError, match="too far"):
        assert_same_trace(shift(trace, 2**63 - 10), trace)


WORDS = {
    parse_ranks: (
        {"3": (range(3, 4),), " 0, 3-7 ": (range(1), range(3, 8)), "5-5": (range(5, 6),)},
        ["", "a", "1,,2", "1-", "-1", "7-3", "1:2", "9999999999", "1.5"],
    ),
    parse_time: (
        {
            "0": 0, "5": 5_000_000_000, "0.1": 100_000_000, ".5ms": 500_000, "10us": 10_000,
            "10 µs": 10_000, "2m": 120_000_000_000, "1h": 3_600_000_000_000,
            "9223372036854775807ns": 2**63 - 1,
        },
        ["", "s", "-1s", "1e3", "1.5ns", "1 day", "nan", "1_0s", "9223372036854775808ns"],
    ),
    parse_iterations: (
        {
            "5": (5, 5), "3:7": (3, 7), " 3: ": (3, -1), ":7": (1, 7), ":": (1, -1),
            "-1": (-1, -1), "-5:-2": (-5, -2), "2:-2": (2, -2),
        },
        [
            "", "a", "1,2", "1-2", "0", "0:3", "3:0", "7:3", "3:1", "-2:-5", "1:2:3", "1.5",
            "--1",
        ],
    ),
}  # fmt: skip
"""What ranges, times and iterations (from 1, or from the end) are, and what is none."""


@pytest.mark.parametrize("parsed", WORDS)
def test_ranks_times_and_iterations_are_exact_and_anything_else_is_none(parsed):
    known, none = WORDS[parsed]

    assert {text: parsed(text) for text in known} == known
    for text in none:
        with pytest.raises(ParameterError):
            parsed(text)


def test_an_attribute_that_names_a_location_follows_it():
    trace = trace_of(
        "ranks 3\n2 | 5 tell attribute name at type location value 1\n"
        "  | 5 tell attribute name of type location value 0\n"
        "  | 5 tell attribute name n type int32 value 1 | 5 enter f | 9 leave"
    )

    part = select(trace, ranks=[1, 2])

    rows = column(part.other_events, "location", "name", "value")
    assert rows == [(1, "at", 0), (1, "of", None), (1, "n", 1)]
