"""The schema in Arrow's types: tables of arrays, without copying values, and their checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import UNKNOWN, Integers, Mask, from_numpy, to_numpy
from burstline.errors import InconsistentTraceError, ParameterError
from burstline.model.operations import NAMES
from burstline.model.schema.checks import require_sound
from burstline.model.schema.tables import SCHEMA_VERSION, TABLES, Column

Values: TypeAlias = "npt.NDArray[Any] | pa.Array | Sequence[Any]"
Window: TypeAlias = "tuple[int, int | Integers]"
"""From a moment to another one, both within; or to each of several, for as many answers."""

_TIMES: Final = ("enter_ns", "start_ns", "time_ns", "begin_ns", "send_ns", "acquire_ns")

TYPES: Final = {
    "int16": pa.int16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "string": pa.string(),
    "list<int32>": pa.list_(pa.int32()),
    "operation": pa.dictionary(pa.int16(), pa.string()),
    "enum": pa.dictionary(pa.int8(), pa.string()),
    "text": pa.dictionary(pa.int32(), pa.string()),
}


def arrow_field(column: Column) -> pa.Field:
    """The field of a column, with its unit and meaning as metadata."""
    about = {"unit": column.unit, "doc": column.doc}
    kind = TYPES[column.type]
    return pa.field(column.name, kind, nullable=column.nullable, metadata=about)


def arrow_schema(name: str, counters: Sequence[str] = ()) -> pa.Schema:
    """The Arrow schema of a table, with the unit and meaning of fields as metadata."""
    if name not in TABLES:
        raise ParameterError(f"no table {name!r}; there are {', '.join(TABLES)}")
    return _arrow_schema(name, tuple(counters) if TABLES[name].counters else ())


@lru_cache(maxsize=256)
def _arrow_schema(name: str, counters: tuple[str, ...]) -> pa.Schema:
    fields = [arrow_field(column) for column in TABLES[name].columns]
    return pa.schema([*fields, *(pa.field(counter, pa.int64()) for counter in counters)])


def event_table(
    location: npt.NDArray[np.int64],
    time_ns: Values,
    type: Values,  # noqa: A002 -- the column's name
    value: Values,
) -> pa.Table:
    """The table `events` of rows sorted by location, counted on each."""
    seq = np.arange(len(location)) - np.searchsorted(location, location)
    places = {"location": location, "seq": seq, "time_ns": time_ns}
    return arrow_table("events", {**places, "type": type, "value": value})


def arrow_table(
    name: str,
    values: Mapping[str, Values],
    *,
    counters: Sequence[str] = (),
    operations: Sequence[str] = NAMES,
) -> pa.Table:
    """A table of the schema, from the values of each column; of enumerations codes or words."""
    target = arrow_schema(name, counters)
    specs = {column.name: column for column in TABLES[name].columns}
    arrays = [
        _array(values[field.name], field, specs.get(field.name), operations) for field in target
    ]
    return pa.Table.from_arrays(arrays, schema=target)


def row_table(name: str, rows: Iterable[Sequence[Any]]) -> pa.Table:
    """A table of the schema, from rows with a value for each column, None for null."""
    names = [column.name for column in TABLES[name].columns]
    values = list(zip(*rows, strict=True)) or [()] * len(names)
    return arrow_table(name, dict(zip(names, values, strict=True)))


def metadata_table(facts: Mapping[str, object]) -> pa.Table:
    """The table `metadata` of the facts that are known, and the version of the schema."""
    known = [(key, str(fact)) for key, fact in facts.items() if fact is not None]
    return row_table("metadata", [*known, ("schema_version", str(SCHEMA_VERSION))])


@lru_cache(maxsize=64)
def _codes(words: tuple[str, ...]) -> dict[Any, int]:
    return {None: UNKNOWN, **{word: code for code, word in enumerate(words)}}


@lru_cache(maxsize=64)
def text_array(words: tuple[str, ...]) -> pa.Array:
    """Words as an array, made once."""
    return pa.array(words, pa.string())


def _array(
    values: Values, field: pa.Field, spec: Column | None, operations: Sequence[str]
) -> pa.Array:
    if isinstance(values, pa.Array):
        return values
    if spec is not None and spec.type in ("operation", "enum"):
        names = tuple(operations if spec.type == "operation" else spec.values)
        if not isinstance(values, np.ndarray):
            code_of = _codes(names)
            values = np.array([code_of.get(value, value) for value in values], np.int16)
        return pa.DictionaryArray.from_arrays(
            from_numpy(values, field.type.index_type, marked=spec.nullable), text_array(names)
        )
    if isinstance(values, np.ndarray) and pa.types.is_integer(field.type):
        return from_numpy(values, field.type, marked=field.nullable)
    return pa.array(values, field.type)


@lru_cache(maxsize=64)
def place_columns(name: str) -> tuple[str | None, str | None]:
    """The columns of a table that say where and when a row begins; None for what it lacks."""
    order, columns = TABLES[name].order[:1], [column.name for column in TABLES[name].columns]
    where = next((column for column in order if column.endswith("location")), None)
    return where, next((column for column in _TIMES if column in columns), None)


def count_near(
    name: str, table: pa.Table, locations: Mask | None, window: Window | None
) -> int | Integers:
    """The rows of a part of a table that are of some locations and begin in a window."""
    where, when = place_columns(name)
    near = np.ones(table.num_rows, bool)
    if locations is not None and where is not None:
        near = np.take(locations, to_numpy(table[where]))  # an index crashes without memory
    if window is None or when is None:
        return int(np.count_nonzero(near))
    first, until = window
    time = to_numpy(table[when])[near]
    ends = np.unique(until)
    after = np.searchsorted(ends, time[time >= first])  # the first end it is within
    found: Integers = np.cumsum(np.bincount(after, minlength=len(ends)))
    return found[np.searchsorted(ends, until)]


def check(name: str, table: pa.Table) -> None:
    """Raise unless a table has the columns, types, ranges and order that its schema promises.

    O(rows).
    """
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
    require_sound(name, table)
