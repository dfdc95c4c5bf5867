"""From kernels' arrays to Arrow tables of the schema, without copying values.

Absent values are sentinels in arrays and nulls in tables: only the bitmaps are made here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline import schema
from burstline.operations import NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

Values: TypeAlias = "npt.NDArray[Any] | pa.Array | Sequence[Any]"


def event_table(
    location: npt.NDArray[np.int64],
    time_ns: Values,
    type: Values,  # noqa: A002 -- the column's name
    value: Values,
) -> pa.Table:
    """The table `events` of rows sorted by location, counted on each."""
    seq = np.arange(len(location)) - np.searchsorted(location, location)
    columns = {"location": location, "seq": seq, "time_ns": time_ns, "type": type}
    return arrow_table("events", {**columns, "value": value})


def arrow_table(
    name: str,
    columns: Mapping[str, Values],
    *,
    counters: Sequence[str] = (),
    operations: Sequence[str] = NAMES,
) -> pa.Table:
    """A table of the schema out of its columns."""
    target = schema.arrow_schema(name, counters)
    specs = {column.name: column for column in schema.TABLES[name].columns}
    arrays = [
        _array(columns[field.name], field, specs.get(field.name), operations)
        for field in target
    ]
    return pa.Table.from_arrays(arrays, schema=target)


def shifted(table: pa.Table, name: str, by: int) -> pa.Table:
    """A table with a number added to a column; nulls stay.

    >>> import pyarrow as pa
    >>> shifted(pa.table({"team": [0, None]}), "team", 2)["team"].to_pylist()
    [2, None]
    """
    if not by:
        return table
    place = table.column_names.index(name)
    field = table.schema.field(place)
    return table.set_column(place, field, pc.add(table[name], pa.scalar(by, field.type)))


@lru_cache(maxsize=64)
def text_array(words: tuple[str, ...]) -> pa.Array:
    """Words as an array, made once."""
    return pa.array(words, pa.string())


def _array(
    values: Values, field: pa.Field, spec: schema.Column | None, operations: Sequence[str]
) -> pa.Array:
    if isinstance(values, pa.Array):
        return values
    if spec is not None and spec.type in ("operation", "enum"):
        codes = np.asarray(values, np.int16 if spec.type == "operation" else np.int8)
        names = operations if spec.type == "operation" else spec.values
        return pa.DictionaryArray.from_arrays(
            _plain(codes, field.type.index_type, nullable=spec.nullable),
            text_array(tuple(names)),
        )
    if not isinstance(values, np.ndarray):
        return pa.array(values, field.type)
    if pa.types.is_integer(field.type):
        return _plain(values, field.type, nullable=field.nullable)
    return pa.array(values, field.type)


def _plain(values: npt.NDArray[Any], kind: pa.DataType, *, nullable: bool) -> pa.Array:
    values = np.ascontiguousarray(values, kind.to_pandas_dtype())
    buffers = [None, pa.py_buffer(values)]
    missing = 0
    if nullable:
        absent = schema.NO_VALUE if kind == pa.int64() else schema.UNKNOWN
        known = values != absent
        missing = len(values) - int(np.count_nonzero(known))
        if missing:
            buffers[0] = pa.py_buffer(np.packbits(known, bitorder="little"))
    return pa.Array.from_buffers(kind, len(values), buffers, null_count=missing)
