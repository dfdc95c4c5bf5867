"""A summary counts and sums what a trace holds, and keeps what could not be seen."""

import json
import subprocess
import sys

import pyarrow as pa
import pytest

from burstline import Trace
from burstline.summary import summarise
from burstline.testing import trace_of as read_text
from by_hand import calls_of, rows_of, threads, trace_of

KEYS_OF_THE_CONTRACT = {
    "applications",
    "ranks",
    "locations",
    "nodes",
    "duration_ns",
    "states",
    "events",
    "communications",
    "calls",
    "messages",
    "collectives",
    "bursts",
    "counters",
    "efficiency",
    "defects",
}


CHAIN = """
import numpy as np
from burstline import Trace, summarise
from burstline.model import schema
levels, same = 200_000, ["f"] * 200_000
paths = {"call_path": np.arange(levels), "parent": np.arange(levels) - 1, "function": same}
rest = {column.name: [None] * levels for column in schema.TABLES["call_paths"].columns}
trace = Trace({"call_paths": schema.arrow_table("call_paths", rest | paths)})
told = summarise(trace).as_dict()["call_paths"]
print(told["count"], told["depth"])
"""


def with_sizes(rows, **sizes):
    return [{**row, **sizes} for row in rows]


def test_every_key_of_the_contract_is_there_even_of_an_empty_trace():
    document = summarise(Trace({})).as_dict()

    assert set(document) >= KEYS_OF_THE_CONTRACT
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_calls_are_counted_and_summed_by_operation_the_longest_first():
    calls = calls_of([("Send", 0, 5), ("Barrier", 10, 40)], [("Send", 0, 7)])
    trace = trace_of(
        locations=threads((0, 50), (0, 50)),
        calls=with_sizes(calls, sent_bytes=8, received_bytes=None),
    )

    document = summarise(trace).as_dict()["calls"]

    assert list(document) == ["MPI_Barrier", "MPI_Send"]
    assert document["MPI_Send"] == {
        "count": 2,
        "time_ns": 12,
        "bytes_sent": 16,
        "bytes_received": 0,
    }


def test_calls_that_took_no_time_are_counted():
    trace = trace_of(locations=threads((0, 50)), calls=calls_of([("Comm_rank", 5, 5)]))

    assert summarise(trace).as_dict()["calls"]["MPI_Comm_rank"]["count"] == 1


def test_sums_are_exact_beyond_what_a_float_holds():
    size = 2**53 + 1
    trace = trace_of(
        locations=threads((0, 50)),
        calls=with_sizes(calls_of([("Send", 0, 5), ("Send", 5, 6)]), sent_bytes=size),
    )

    assert summarise(trace).calls["MPI_Send"].bytes_sent == 2 * size


def test_operations_are_told_apart_by_name_not_by_the_number_a_chunk_gives_them():
    parts = [rows_of("calls", calls_of([("Send", 0, 5)])), rows_of("calls", calls_of([]))]
    later = with_sizes(calls_of([("Recv", 6, 9)]), call=1)
    parts.append(rows_of("calls", later))
    trace = Trace(
        {
            "locations": rows_of("locations", threads((0, 50))),
            "calls": pa.concat_tables(parts),
        }
    )

    calls = summarise(trace).calls

    assert {name: totals.count for name, totals in calls.items()} == {
        "MPI_Send": 1,
        "MPI_Recv": 1,
    }


def test_a_message_is_matched_if_both_its_calls_are_known():
    both = {"send_call": 0, "receive_call": 3}
    trace = trace_of(
        locations=threads((0, 9)), messages=[both, {"send_call": 1}, {"receive_call": 4}]
    )

    assert summarise(trace).as_dict()["messages"] == {"total": 3, "matched": 1}


def test_records_are_those_the_reader_counted_else_the_rows_of_the_tables():
    facts = [{"key": "records_events", "value": "70"}, {"key": "path", "value": "a.prv"}]
    trace = trace_of(
        locations=threads((0, 9)),
        metadata=facts,
        events=[{"seq": 0}, {"seq": 1}],
        states=[{}],
        messages=[{}],
    )

    document = summarise(trace).as_dict()

    assert (document["states"], document["events"], document["communications"]) == (1, 70, 1)
    assert document["path"] == "a.prv"


def test_ranks_are_those_of_applications_with_mpi():
    everyone = [*threads((0, 9)), *threads((0, 99), (0, 99), application=1, first=1)]

    without = summarise(trace_of(locations=everyone))
    with_mpi = summarise(trace_of(locations=everyone, calls=calls_of([("Barrier", 1, 2)])))

    assert (without.ranks, with_mpi.ranks) == (3, 1)
    assert with_mpi.as_dict()["applications"] == 2
    assert with_mpi.as_dict()["by_application"][1] == {
        "application": 1,
        "ranks": 2,
        "locations": 2,
        "calls_mpi": False,
    }


def test_threads_of_a_process_are_locations_but_one_rank():
    places = [{"location": 0}, {"location": 1, "thread": 1}]

    summary = summarise(trace_of(locations=places))

    assert (summary.ranks, summary.locations) == (1, 2)


def test_nodes_are_counted_once_each_and_unknown_ones_not_at_all():
    places = [
        *threads((0, 1), (0, 1), node="a"),
        *threads((0, 1), first=2, node="b"),
        *threads((0, 1), first=3),
    ]

    assert summarise(trace_of(locations=places)).nodes == 2


def test_polls_and_gaps_are_summed():
    trace = trace_of(
        locations=threads((0, 90), (0, 90)),
        bursts=[
            {"end_ns": 40, "polls": 3, "polling_ns": 20},
            {"burst": 1, "end_ns": 9, "polls": 1, "polling_ns": 5, "waiting_ns": 7},
        ],
        gaps=[
            {"location": 0, "end_ns": 10, "kind": "tracing_off"},
            {"location": 1, "end_ns": 30, "kind": "tracing_off"},
        ],
    )

    document = summarise(trace, poll_gap_ns=9).as_dict()

    assert document["bursts"] == 2
    assert document["polling"] == {
        "polls": 4,
        "time_ns": 25,
        "waiting_ns": 27,
        "bursts_measured": 1,
        "bursts_by_mean": 1,
        "poll_gap_ns": 9,
    }
    assert document["gaps"] == [{"kind": "tracing_off", "count": 2, "time_ns": 40}]


def test_call_path_depth_is_the_longest_chain_of_callers():
    paths = [
        {"call_path": 0, "function": "main"},
        {"call_path": 1, "parent": 0, "function": "step"},
        {"call_path": 2, "parent": 0, "function": "end"},
        {"call_path": 3, "parent": 1, "function": "send"},
    ]
    trace = trace_of(
        locations=threads((0, 9)),
        call_paths=paths,
        calls=[{"call_path": 3, "leave_ns": 1}, {"call": 1, "enter_ns": 2, "leave_ns": 3}],
    )

    assert summarise(trace).as_dict()["call_paths"] == {"count": 4, "depth": 3, "calls": 1}


def test_a_chain_of_callers_is_followed_once_however_long_it_is():
    """A search in all paths at each level would take a quarter of an hour."""
    done = subprocess.run(
        [sys.executable, "-c", CHAIN],
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )

    assert done.stdout.split() == ["200000", "200000"]


def test_defects_come_worst_first():
    defects = [
        {"kind": "renamed", "severity": "info", "count": 1},
        {"kind": "broken", "severity": "error", "count": 2, "first": "line 3"},
    ]

    document = summarise(trace_of(defects=defects)).as_dict()

    assert [row["kind"] for row in document["defects"]] == ["broken", "renamed"]
    assert document["defects"][0] == {
        "kind": "broken",
        "severity": "error",
        "count": 2,
        "first": "line 3",
    }


class Store(dict):
    """A mapping that gives tables in parts, and never `calls`, `messages` or `bursts` whole."""

    def batches(self, name, columns, **_):
        table = super().__getitem__(name)
        keys = table[table.column_names[0]].to_pylist()
        for location in sorted(set(keys)):
            rows = [row for row, key in enumerate(keys) if key == location]
            yield table.take(rows).select(list(columns))

    def rows(self, name):
        return super().__getitem__(name).num_rows

    def rows_near(self, name, **_):
        return self.rows(name)

    def __getitem__(self, name):
        if name in {
            *("calls", "messages", "bursts", "regions", "gaps", "collectives", "samples")
        }:
            pytest.fail(f"{name} was loaded whole")
        return super().__getitem__(name)


def test_a_store_is_summarised_in_parts_and_gives_the_same():
    tables = {
        "locations": rows_of("locations", threads((0, 90), (0, 90))),
        "calls": rows_of(
            "calls", calls_of([("Send", 3, 9), ("Barrier", 20, 40)], [("Recv", 1, 7)])
        ),
        "messages": rows_of("messages", [{"send_call": 0, "receive_call": 0}]),
        "bursts": rows_of("bursts", [{}, {"location": 1}]),
        "gaps": rows_of("gaps", [{"location": 1, "start_ns": 5, "end_ns": 20}]),
        "samples": rows_of("samples", [{"periods": 4}, {"location": 1, "periods": 2}]),
    }

    assert summarise(Trace(Store(tables))) == summarise(Trace(tables))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("0 asked_hz 1000", (3, 1000, 250.0)),
        ("0 asked_hz 1000\nrow recordings location 1 asked_hz 250", (3, None, None)),
        ("0", (3, None, None)),  # of a recorder that does not say
    ],
)
def test_samples_have_the_rate_at_which_they_came(asked, told):
    lines = "0 sample periods 4 | 1 sample periods 3 | 2 sample periods 5"
    trace = read_text(
        f"ranks 2\nrow recordings location {asked}\n0 | {lines} | 9 enter a | 9 leave"
    )

    assert tuple(summarise(trace).as_dict()["sampling"].values()) == told
    assert summarise(Trace({})).sampling is None
