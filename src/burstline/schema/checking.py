"""The schema in Arrow's types, and checks of tables against it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from burstline.columns import UNKNOWN
from burstline.errors import InconsistentTraceError, ParameterError
from burstline.schema.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa


def arrow_schema(name: str, counters: Sequence[str] = ()) -> pa.Schema:
    """The Arrow schema of a table, with the unit and meaning of fields as metadata."""
    if name not in TABLES:
        raise ParameterError(f"no table {name!r}; there are {', '.join(TABLES)}")
    return _arrow_schema(name, tuple(counters) if TABLES[name].counters else ())


@lru_cache(maxsize=256)
def _arrow_schema(name: str, counters: tuple[str, ...]) -> pa.Schema:
    import pyarrow as pa  # noqa: PLC0415 -- the schema itself is free to import

    plain = {
        "int16": pa.int16(),
        "int32": pa.int32(),
        "int64": pa.int64(),
        "bool": pa.bool_(),
        "string": pa.string(),
        "list<int32>": pa.list_(pa.int32()),
        "operation": pa.dictionary(pa.int16(), pa.string()),
        "enum": pa.dictionary(pa.int8(), pa.string()),
    }
    fields = [
        pa.field(
            column.name,
            plain[column.type],
            nullable=column.nullable,
            metadata={"unit": column.unit, "doc": column.doc},
        )
        for column in TABLES[name].columns
    ]
    fields += [pa.field(counter, pa.int64(), nullable=True) for counter in counters]
    return pa.schema(fields)


def check(name: str, table: pa.Table) -> None:
    """Raise unless a table has the columns, types and order its schema promises; O(rows)."""
    schema = TABLES[name]
    fixed = len(schema.columns)
    counters = table.column_names[fixed:] if schema.counters else ()
    expected = arrow_schema(name, counters)
    if table.column_names != expected.names:
        raise InconsistentTraceError(
            f"{name}: expected columns {', '.join(expected.names)}, "
            f"found {', '.join(table.column_names)}"
        )
    for field in expected:
        actual = table.schema.field(field.name)
        if actual.type != field.type:
            raise InconsistentTraceError(
                f"{name}.{field.name}: expected {field.type}, found {actual.type}"
            )
        if not field.nullable and table[field.name].null_count:
            raise InconsistentTraceError(f"{name}.{field.name}: a null where none may be")
    _check_order(name, table)


def _check_order(name: str, table: pa.Table) -> None:
    import numpy as np  # noqa: PLC0415 -- see arrow_schema

    before = np.zeros(max(table.num_rows - 1, 0), bool)
    for key in TABLES[name].order:
        values = table[key].fill_null(UNKNOWN).to_numpy()
        wrong = ~before & (values[1:] < values[:-1])
        if wrong.any():
            row = int(wrong.argmax()) + 1
            raise InconsistentTraceError(f"{name}: row {row} is out of order by {key}")
        before |= values[1:] > values[:-1]
