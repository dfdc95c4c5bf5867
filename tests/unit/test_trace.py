"""A trace is an immutable bundle of tables; what is not there is empty."""

from __future__ import annotations

import pyarrow as pa
import pytest

from burstline import InconsistentTraceError, ParameterError, Trace
from burstline.model import Batched, schema
from burstline.testing import assert_same_trace, trace_of

SMALL = """
ranks 2
counter ins
0 | 2 enter MPI_Init | 5 leave ins=3 | 6 enter MPI_Send peer 1 | 7 leave
1 | 3 enter MPI_Init | 9 leave
"""


@pytest.fixture
def trace():
    return trace_of(SMALL)


class Parts(dict, Batched):
    """Tables that come in parts, as a store's do."""

    def batches(self, name, columns, **_):
        table = self[name]
        for start in range(table.num_rows):
            part = table.slice(start, 1)
            yield part if columns is None else part.select(list(columns))

    def rows(self, name):
        return self[name].num_rows

    def rows_near(self, *_, **__):
        return 1


def test_a_trace_of_nothing_has_every_table():
    trace = Trace({})

    assert all(trace.table(name).num_rows == 0 for name in schema.TABLES)
    assert trace.duration_ns == 0
    assert trace.metadata == {}
    assert trace.counter_names == ()
    assert not trace.has_raw


def test_tables_are_attributes_that_do_not_change_and_there_are_no_others(trace):
    assert trace.calls.num_rows == 3
    assert "calls" in dir(trace)
    assert "calls" in trace
    assert "events" not in trace
    for name in ("calls", "_tables"):
        with pytest.raises(AttributeError, match="does not change"):
            setattr(trace, name, {})
    with pytest.raises(AttributeError, match="a trace has no 'sends'"):
        _ = trace.sends
    for asked in (
        lambda: Trace({"sends": pa.table({})}),
        lambda: assert_same_trace(trace, trace, tables=["sends"]),
    ):
        with pytest.raises(ParameterError, match="no table called sends"):
            asked()


def test_a_table_that_breaks_its_schema_is_refused_if_asked():
    broken = {"metadata": pa.table({"key": ["a"]})}

    Trace(broken)
    with pytest.raises(InconsistentTraceError, match="metadata: expected columns"):
        Trace(broken, check=True)


def test_a_column_without_nulls_is_not_copied(trace):
    (enter_ns,) = trace.arrays("calls", "enter_ns")
    buffer = trace.calls["enter_ns"].chunk(0).buffers()[1]

    assert enter_ns.__array_interface__["data"][0] == buffer.address
    assert not enter_ns.flags.writeable


def test_tables_that_come_in_parts_are_asked_for_them(trace):
    tables = Parts({name: trace.table(name) for name in ("locations", "calls")})

    assert [part.num_rows for part in Trace(tables).batches("calls")] == [1, 1, 1]


def test_what_only_counts_rows_loads_no_table_of_a_store(trace):
    class Store(Parts):
        def __getitem__(self, name):
            assert name in {"locations", "metadata", "counters"}, f"{name} was loaded"
            return super().__getitem__(name)

        def rows(self, name):
            return super().__getitem__(name).num_rows

    stored = Trace(Store({name: trace.table(name) for name in schema.TABLES if name in trace}))

    assert stored.is_stored
    assert not trace.is_stored
    assert stored.rows("calls") == trace.calls.num_rows == trace.rows("calls")
    assert stored.rows("links") == 0
    assert stored._repr_html_() == trace._repr_html_()


def test_the_bytes_of_rows_are_those_of_their_values(trace):
    stored = Trace(Parts({name: trace.table(name) for name in ("locations", "gaps")}))

    assert stored.estimate_bytes("gaps") == 4 + 8 + 8 + 1
    assert trace.estimate_bytes("events") == 0


def test_a_trace_says_what_it_is_and_a_notebook_shows_every_table_and_runs_nothing(trace):
    assert repr(trace) == "<Trace: 2 locations, 7e-09 s, from ?>"
    frame = trace.to_frame("calls")
    assert frame["enter_ns"].to_list() == trace.calls["enter_ns"].to_pylist()
    page = trace_of('ranks 1 | meta path "<script>\\u001b"')._repr_html_()
    assert "an MPI call" in page
    assert "<script>" not in page
    assert "\x1b" not in page


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("9 leave", "8 leave"), r"calls\.leave_ns: row 2 is 8, expected 9 \(1 of 3 rows"),
        (
            ("MPI_Send", "MPI_Recv"),
            r"calls\.operation: row 1 is 'MPI_Recv', expected 'MPI_Send'",
        ),
        (("counter ins", "counter ins unit x"), r"counters\.unit: row 0 is 'x', expected ''"),
        (("| 6 enter MPI_Send peer 1 | 7 leave", ""), "calls: 2 rows, expected 3"),
    ],
)
def test_the_first_difference_of_two_traces_is_named(trace, change, message):
    other = trace_of(SMALL.replace(*change))

    with pytest.raises(AssertionError, match=message):
        assert_same_trace(
            other, trace, tables=["calls"] if "calls" in message else ["counters"]
        )


def test_a_trace_with_raw_tables_is_not_one_without(trace):
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}
    raw = Trace(tables | {"events": schema.arrow_schema("events").empty_table()})

    with pytest.raises(AssertionError, match="has_raw is True, expected False"):
        assert_same_trace(raw, trace)
    assert_same_trace(raw, trace, tables=["calls", "events"])
