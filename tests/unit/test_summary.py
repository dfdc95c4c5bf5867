"""A summary counts and sums what a trace holds, and keeps what could not be seen."""

import json
import subprocess
import sys

import pytest

from burstline import Trace
from burstline.model import Batched
from burstline.summary import summarise
from burstline.testing import trace_of as read_text
from by_hand import calls_of, rows_of, threads, trace_of

KEYS_OF_THE_CONTRACT = {
    "applications", "ranks", "locations", "nodes", "duration_ns", "states", "events",
    "communications", "calls", "messages", "collectives", "bursts", "counters", "efficiency",
    "defects",
}  # fmt: skip


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


def test_sums_are_exact_beyond_what_a_float_holds():
    size = 2**53 + 1
    trace = trace_of(
        locations=threads((0, 50)),
        calls=with_sizes(calls_of([("Send", 0, 5), ("Send", 5, 6)]), sent_bytes=size),
    )

    assert summarise(trace).calls["MPI_Send"].bytes_sent == 2 * size


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


class Store(dict, Batched):
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
