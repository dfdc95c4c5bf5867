"""The schema is the promise every table keeps, and a broken promise is named."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from burstline import InconsistentTraceError, ParameterError
from burstline.model import operations, schema

GAP = {"location": 0, "start_ns": 1, "end_ns": 20, "kind": "flush"}


def gaps(*rows):
    return pa.Table.from_pylist(list(rows), schema=schema.arrow_schema("gaps"))


@pytest.mark.parametrize("name", schema.TABLES)
def test_every_time_and_size_has_its_unit(name):
    for column in schema.TABLES[name].columns:
        assert column.doc
        assert column.name.endswith("_ns") == (column.unit == "ns")
        if column.name.endswith("_bytes"):
            assert column.unit == "bytes"
        assert (column.type == "enum") == bool(column.values)


@pytest.mark.parametrize("name", schema.TABLES)
def test_rows_are_sorted_by_columns_that_exist(name):
    table = schema.TABLES[name]
    assert [table.column(key).name for key in table.order] == list(table.order)


def test_raw_tables_are_named():
    assert "events" in schema.RAW_TABLES
    assert "calls" not in schema.RAW_TABLES


def test_fields_carry_unit_and_meaning():
    field = schema.arrow_schema("calls").field("sent_bytes")

    assert field.metadata == {b"unit": b"bytes", b"doc": b"bytes this call sent, in all"}
    assert field.nullable


def test_a_table_nobody_knows_is_refused():
    with pytest.raises(ParameterError, match="no table 'sends'; there are locations, calls"):
        schema.arrow_schema("sends")


def test_a_column_nobody_knows_is_a_key_error():
    with pytest.raises(KeyError):
        schema.TABLES["calls"].column("nothing")


def test_a_missing_column_is_named():
    with pytest.raises(InconsistentTraceError, match="gaps: expected columns location"):
        schema.check("gaps", gaps(GAP).drop_columns(["kind"]))


def test_a_wrong_type_is_named():
    table = gaps(GAP)
    wrong = table.set_column(1, "start_ns", table["start_ns"].cast(pa.int32()))

    with pytest.raises(InconsistentTraceError, match="start_ns: expected int64, found int32"):
        schema.check("gaps", wrong)


def test_a_null_where_none_may_be_is_named():
    with pytest.raises(InconsistentTraceError, match=r"end_ns: expected a value, found null"):
        schema.check("gaps", gaps(GAP | {"end_ns": None}))


@pytest.mark.parametrize(
    "rows",
    [
        (GAP | {"location": 1}, GAP),
        (GAP | {"start_ns": 5}, GAP | {"start_ns": 4}),
        (GAP, GAP | {"location": 1, "start_ns": 9}, GAP | {"location": 1, "start_ns": 8}),
    ],
)
def test_rows_out_of_order_are_named(rows):
    with pytest.raises(InconsistentTraceError, match=f"in the order of .* row {len(rows) - 1}"):
        schema.check("gaps", gaps(*rows))


def test_operations_have_one_code_each():
    assert len(set(operations.NAMES)) == len(operations.NAMES)
    assert all(operations.NAMES[code] == name for name, code in operations.CODES.items())


def test_kinds_of_operations_are_operations():
    kinds = (
        operations.BLOCKING_SENDS,
        operations.IMMEDIATE_SENDS,
        operations.STARTS,
        operations.BLOCKING_RECEIVES,
        operations.IMMEDIATE_RECEIVES,
        operations.COMPLETIONS,
        operations.NON_BLOCKING_COLLECTIVES,
    )
    for kind in kinds:
        assert set(kind) <= set(operations.NAMES)


@pytest.mark.parametrize("name", schema.TABLES)
def test_what_is_documented_as_a_row_refers_to_its_table(name):
    for column in schema.TABLES[name].columns:
        table = re.match(r"row of `(\w+)`", column.doc)
        assert not table or column.refers == table[1]
        assert not column.refers or column.refers in schema.TABLES
        if column.within:
            assert schema.TABLES[name].column(column.within).refers == "locations"
