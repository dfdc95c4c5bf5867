"""Between arrays, where a sentinel marks what is absent, and Arrow, where null does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from burstline.columns.types import NO_VALUE, UNKNOWN

if TYPE_CHECKING:
    import polars as pl


def nullable(
    values: npt.NDArray[Any], valid: npt.NDArray[np.bool_] | None, kind: pa.DataType
) -> pa.Array:
    """Values as an Arrow array, null where not `valid`; no copy where the type fits.

    >>> nullable(np.array([4, -1]), np.array([True, False]), pa.int32()).to_pylist()
    [4, None]
    """
    missing, bitmap = 0, None
    if valid is not None:
        missing = len(values) - int(np.count_nonzero(valid))
        bitmap = pa.py_buffer(np.packbits(valid, bitorder="little")) if missing else None
    values = np.ascontiguousarray(values, kind.to_pandas_dtype())
    return pa.Array.from_buffers(kind, len(values), [bitmap, pa.py_buffer(values)], missing)


def from_numpy(values: npt.NDArray[Any], kind: pa.DataType, *, marked: bool = True) -> pa.Array:
    """Integers as an Arrow array, null where the mark of an absent one stands, if `marked`.

    >>> from_numpy(np.array([4, -1]), pa.int32()).to_pylist()
    [4, None]
    """
    values = np.ascontiguousarray(values, kind.to_pandas_dtype())
    absent = NO_VALUE if kind == pa.int64() else UNKNOWN
    return nullable(values, values != absent if marked else None, kind)


def fractions(values: npt.NDArray[np.float64]) -> pa.Array:
    """Fractions as an Arrow array, null for each NaN."""
    return nullable(values, ~np.isnan(values), pa.float64())


def encoded(codes: npt.NDArray[Any], names: pa.Array) -> pa.Array:
    """Texts by their numbers, as a dictionary with 32-bit indices; null where negative.

    >>> encoded(np.array([1, -1]), pa.array(["a", "b"])).to_pylist()
    ['b', None]
    """
    indices = nullable(codes, codes >= 0, pa.int32())
    return pa.DictionaryArray.from_arrays(indices, names)


def shifted(table: pa.Table, name: str, by: int) -> pa.Table:
    """The table with a number added to one column; nulls stay.

    >>> shifted(pa.table({"team": [0, None]}), "team", 2)["team"].to_pylist()
    [2, None]
    """
    if not by:
        return table
    return with_column(table, name, pc.add(table[name], pa.scalar(by, table[name].type)))


def with_column(table: pa.Table, name: str, values: pa.Array | pa.ChunkedArray) -> pa.Table:
    """The table with other values in one of its columns.

    >>> with_column(pa.table({"tag": [0, 1]}), "tag", pa.array([5, 6]))["tag"].to_pylist()
    [5, 6]
    """
    place = table.column_names.index(name)
    return table.set_column(place, table.schema.field(place), values)


def to_numpy(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """An Arrow column of integers, booleans or codes as an array, sentinels for its nulls.

    A view where the column is one chunk without nulls, else a copy.
    """
    if pa.types.is_dictionary(column.type):
        parts = [chunk.indices for chunk in column.chunks]
        column = pa.chunked_array(parts, type=column.type.index_type)
    if column.null_count:
        column = column.fill_null(NO_VALUE if column.type == pa.int64() else UNKNOWN)
    if column.num_chunks == 1:
        return column.chunk(0).to_numpy(zero_copy_only=False)
    return column.to_numpy()


def numpy_columns(table: pa.Table, *names: str) -> tuple[npt.NDArray[Any], ...]:
    """Columns of a table as arrays, sentinels for their nulls."""
    return tuple(to_numpy(table[name]) for name in names)


def to_frame(table: pa.Table) -> pl.DataFrame:
    """An Arrow table as a Polars data frame, without a copy where Polars can."""
    import polars as pl  # noqa: PLC0415 -- a third of a second that not everybody needs

    frame = pl.from_arrow(table, rechunk=False)
    assert isinstance(frame, pl.DataFrame)  # noqa: S101 -- a table never becomes a series
    return frame


def coded(column: pa.ChunkedArray) -> tuple[npt.NDArray[Any], list[str]]:
    """The codes of the rows of a dictionary column, and the text of each code.

    >>> coded(pa.chunked_array([["b"], ["a", "b"]]).dictionary_encode())
    (array([0, 1, 0], dtype=int32), ['b', 'a'])
    """
    unified = column.unify_dictionaries()
    texts = unified.chunk(0).dictionary.to_pylist() if unified.num_chunks else []
    return to_numpy(unified), texts
