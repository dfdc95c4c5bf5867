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
def test_columns_have_units_and_refer_to_tables_that_exist(name):
    whole = schema.TABLES[name]
    assert [whole.column(key).name for key in whole.order] == list(whole.order)
    for column in whole.columns:
        assert column.doc
        assert column.name.endswith("_ns") == (column.unit == "ns")
        if column.name.endswith("_bytes"):
            assert column.unit == "bytes"
        assert (column.type == "enum") == bool(column.values)
        table = re.match(r"row of `(\w+)`", column.doc)
        assert not table or column.refers == table[1]
        assert not column.refers or column.refers in schema.TABLES
        if column.within:
            assert whole.column(column.within).refers == "locations"


def test_fields_carry_unit_and_meaning_and_others_nobody_knows():
    field = schema.arrow_schema("calls").field("sent_bytes")

    assert field.metadata == {b"unit": b"bytes", b"doc": b"bytes this call sent, in all"}
    assert field.nullable
    assert "events" in schema.RAW_TABLES
    assert "calls" not in schema.RAW_TABLES
    with pytest.raises(ParameterError, match="no table 'sends'; there are locations, calls"):
        schema.arrow_schema("sends")
    with pytest.raises(KeyError):
        schema.TABLES["calls"].column("nothing")


def with_start(kind):
    table = gaps(GAP)
    return table.set_column(1, "start_ns", table["start_ns"].cast(kind))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (gaps(GAP).drop_columns(["kind"]), "gaps: expected columns location"),
        (with_start(pa.int32()), "start_ns: expected int64, found int32"),
        (gaps(GAP | {"end_ns": None}), "end_ns: expected a value, found null"),
    ],
    ids=["a missing column", "a wrong type", "a null"],
)
def test_what_a_table_breaks_is_named(wrong, said):
    with pytest.raises(InconsistentTraceError, match=said):
        schema.check("gaps", wrong)


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


def test_operations_have_one_code_each_and_their_kinds_are_operations():
    assert len(set(operations.NAMES)) == len(operations.NAMES)
    assert all(operations.NAMES[code] == name for name, code in operations.CODES.items())
    kinds = """BLOCKING_SENDS IMMEDIATE_SENDS STARTS BLOCKING_RECEIVES IMMEDIATE_RECEIVES
    COMPLETIONS NON_BLOCKING_COLLECTIVES"""
    for kind in kinds.split():
        assert set(getattr(operations, kind)) <= set(operations.NAMES)
