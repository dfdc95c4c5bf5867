"""Which rows of a table name a row that is not there, of their own table or of another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from burstline.columns import UNKNOWN, AnyIntegers, Integers, begins_run, to_numpy
from burstline.model.schema.tables import TABLES, Column

_NO_LIMIT: Final = 1 << 31
_FEW: Final = 8  # rows of a location in a row from which on they are looked at together
_EARLIER: Final = "parent"  # names an earlier row of its own table


class Wrong(NamedTuple):
    """A value that no trace has: where it stands, and what would be right there."""

    column: str
    row: int
    value: str
    expected: str


def first_dangling(
    name: str,
    table: pa.Table,
    rows: Callable[[str], int],
    counts: Callable[[str], Integers],
    *,
    whole: bool = True,
) -> Wrong | None:
    """The first value of a part of a table that names no row; None where all name one.

    `rows` and `counts` are those of any table, in all and on each location. `whole`: the part
    has all rows of each of its locations.
    """
    loaded = frozenset(table.column_names) - {""}  # which a counter may be called
    # The column by which others name the rows of the table.
    names = [c.name for c in TABLES[name].columns if c.refers == name and c.name != _EARLIER]
    own = next(iter(names), "")
    for column in TABLES[name].columns:
        if column.name not in loaded or not (column.refers or column.counted):
            continue
        limits = np.array([rows(column.refers) if column.refers else _NO_LIMIT])
        if column.within in loaded and column.name != own:
            limits = counts(column.refers)
        wrong = _out_of_range(table, column, limits)
        # Numbers begin anew on each location: without these, nobody sees where.
        is_seen = whole and (not column.within or column.within in loaded)
        if wrong is None and is_seen and column.name == own:
            wrong = _misnumbered(table, column)
        elif wrong is None and column.name == _EARLIER and own in loaded:
            late = to_numpy(table[_EARLIER]) >= to_numpy(table[own])
            wrong = (int(late.argmax()), f"an earlier row of {name}") if late.any() else None
        if wrong is not None:
            row, expected = wrong
            value = str(to_numpy(table[column.name])[row])
            return Wrong(column.name, row, value, expected)
    return None


def _out_of_range(table: pa.Table, column: Column, limits: Integers) -> tuple[int, str] | None:
    """The first row whose value is not below the limit, or that of its location."""
    cells = table[column.name]
    if not len(cells):
        return None
    location = to_numpy(table[column.within]) if len(limits) != 1 else None
    bits = _unsigned_bits(cells)
    hides = not column.nullable and cells.null_count > 0
    if bits is not None and not hides and _all_below(bits, limits.astype(bits.dtype), location):
        return None
    values = to_numpy(cells)
    limit = limits[location] if location is not None else np.broadcast_to(limits, len(values))
    wrong = (values < (UNKNOWN if column.nullable else 0)) | (values >= limit)
    if not wrong.any():
        return None
    row = int(wrong.argmax())
    if not column.refers:
        return row, "a number from 0"
    of_which = "there are" if location is None else "its location has"
    return row, f"a row of {column.refers}, of which {of_which} {limit[row]}"


def _unsigned_bits(values: pa.ChunkedArray) -> AnyIntegers | None:
    """Values read without a sign, where a negative one is large; those too that nulls hide."""
    parts = []
    for chunk in values.chunks:
        data = chunk.buffers()[1]
        if data is None:
            return None
        numbers = np.frombuffer(data, f"uint{chunk.type.bit_width}")
        parts.append(numbers[chunk.offset : chunk.offset + len(chunk)])
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _all_below(bits: AnyIntegers, limits: AnyIntegers, location: AnyIntegers | None) -> bool:
    if bits.max() < limits.min():
        return True
    if location is None:
        return False
    first = np.flatnonzero(begins_run(location))
    if len(first) * _FEW > len(location):
        return bool((bits < limits[location]).all())
    return bool((np.maximum.reduceat(bits, first) < limits[location[first]]).all())


def _misnumbered(table: pa.Table, column: Column) -> tuple[int, str] | None:
    """The first row whose number is not the next of its location, or of all."""
    values = to_numpy(table[column.name])
    rows = np.flatnonzero(values[1:] - values[:-1] != 1) + 1
    if column.within and column.within in table.column_names:
        location = to_numpy(table[column.within])
        first = np.flatnonzero(begins_run(location))
        rows = rows[location[rows] == location[rows - 1]]
        rows = np.sort(np.append(rows, first[values[first] != 0]))
    return (int(rows[0]), "the number after that of the row before") if len(rows) else None
