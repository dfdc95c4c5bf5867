"""From kernels' arrays to Arrow tables of the schema, without copying values."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from burstline import columns, schema
from burstline.operations import NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
    target = schema.arrow_schema(name, counters)
    specs = {column.name: column for column in schema.TABLES[name].columns}
    arrays = [
        _array(values[field.name], field, specs.get(field.name), operations) for field in target
    ]
    return pa.Table.from_arrays(arrays, schema=target)


def row_table(name: str, rows: Iterable[Sequence[Any]]) -> pa.Table:
    """A table of the schema, from rows with a value for each column, None for null."""
    names = [column.name for column in schema.TABLES[name].columns]
    values = list(zip(*rows, strict=True)) or [()] * len(names)
    return arrow_table(name, dict(zip(names, values, strict=True)))


@lru_cache(maxsize=64)
def _codes(words: tuple[str, ...]) -> dict[Any, int]:
    return {None: schema.UNKNOWN, **{word: code for code, word in enumerate(words)}}


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
        names = tuple(operations if spec.type == "operation" else spec.values)
        if not isinstance(values, np.ndarray):
            code_of = _codes(names)
            values = np.array([code_of.get(value, value) for value in values], np.int16)
        return pa.DictionaryArray.from_arrays(
            _plain(values, field.type.index_type, nullable=spec.nullable), text_array(names)
        )
    if not isinstance(values, np.ndarray):
        return pa.array(values, field.type)
    if pa.types.is_integer(field.type):
        return _plain(values, field.type, nullable=field.nullable)
    return pa.array(values, field.type)


def _plain(values: npt.NDArray[Any], kind: pa.DataType, *, nullable: bool) -> pa.Array:
    values = np.ascontiguousarray(values, kind.to_pandas_dtype())
    absent = schema.NO_VALUE if kind == pa.int64() else schema.UNKNOWN
    return columns.nullable(values, values != absent if nullable else None, kind)
