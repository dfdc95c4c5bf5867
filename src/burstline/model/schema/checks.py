"""The first row of a table that is wrong: its nulls, ranges, intervals, references and order.

Stores ask part by part as they are read, folders of tables and texts once; they believe nothing
else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline.columns import Integers, to_numpy
from burstline.errors import InconsistentTraceError
from burstline.model.schema.ordinals import Parts, first_misplaced
from burstline.model.schema.references import Wrong, first_dangling
from burstline.model.schema.tables import TABLES

_NOWHERE: Final = np.zeros(0, np.int64)
_ONCE: Final = {
    "collectives": ("communicator", "sequence"),
    "collective_members": ("collective", "location", "call"),
}
"""Columns that no two rows behind each other share."""
# Records of states are kept as they were, also those without an end.
_INTERVALS: Final = {
    "locations": (("born_ns", "died_ns"),),
    "calls": (("enter_ns", "leave_ns"), ("enter_seq", "leave_seq")),
    "regions": (("enter_ns", "leave_ns"), ("enter_seq", "leave_seq")),
    "locks": (("acquire_ns", "release_ns"), ("acquire_seq", "release_seq")),
    "bursts": (("start_ns", "end_ns"),),
    "gaps": (("start_ns", "end_ns"),),
    "teams": (("fork_ns", "join_ns"), ("fork_seq", "join_seq")),
}


def first_wrong(
    name: str,
    table: pa.Table,
    rows: Callable[[str], int],
    counts: Callable[[str], Integers],
    parts: Parts,
    *,
    whole: bool = True,
) -> Wrong | None:
    """The first value of a part of a table that no trace has; None where all may be.

    `rows` and `counts` are those of any table, in all and on each location; `parts` gives some
    columns of one. `whole`: the part has all rows of each of its locations.
    """
    return (
        _first_null(name, table)
        or _first_outside(name, table)
        or _first_reversed(name, table)
        or first_dangling(name, table, rows, counts, whole=whole)
        or _first_disordered(name, table)
        or _first_twice(name, table)
        or first_misplaced(name, table, parts)
    )


def first_wrong_of(name: str, tables: Mapping[str, pa.Table]) -> Wrong | None:
    """The first value of a table that no trace has, where all tables are at hand, whole."""

    def rows(other: str) -> int:
        return tables[other].num_rows if other in tables else 0

    def counts(other: str) -> Integers:
        location = to_numpy(tables[other]["location"]) if other in tables else _NOWHERE
        return np.bincount(location, minlength=rows("locations"))

    def parts(other: str, columns: Sequence[str]) -> list[pa.Table]:
        return [tables[other].select(columns)] if other in tables else []

    return first_wrong(name, tables[name], rows, counts, parts)


def require_sound(name: str, table: pa.Table, *, before: int = 0) -> None:
    """Raise InconsistentTraceError where a part of a table could not be read once written.

    What is seen without other tables: nulls, ranges, intervals and order. `before`: the rows
    of the table before the part.
    """
    wrong = (
        _first_null(name, table)
        or _first_outside(name, table)
        or _first_reversed(name, table)
        or _first_disordered(name, table)
        or _first_twice(name, table)
    )
    if wrong is not None:
        raise InconsistentTraceError(
            f"{name}.{wrong.column}: expected {wrong.expected}, found {wrong.value} "
            f"in row {before + wrong.row}"
        )


def _first_null(name: str, table: pa.Table) -> Wrong | None:
    """The first null where none may be."""
    loaded = frozenset(table.column_names)
    for column in TABLES[name].columns:
        if column.name in loaded and not column.nullable and table[column.name].null_count:
            row = pc.index(pc.is_null(table[column.name]), True).as_py()
            expected = f"one of {', '.join(column.values)}" if column.values else "a value"
            return Wrong(column.name, row, "null", expected)
        if column.name in loaded and pa.types.is_list(table[column.name].type):
            lists = table[column.name].combine_chunks()
            if (elements := pc.list_flatten(lists)).null_count:
                first = pc.index(pc.is_null(elements), True).as_py()
                row = pc.list_parent_indices(lists)[first].as_py()
                return Wrong(column.name, row, "null within", "a value")
    return None


def _first_outside(name: str, table: pa.Table) -> Wrong | None:
    """The first number that is too small or too large to be counted with."""
    loaded = frozenset(table.column_names)
    for column in TABLES[name].columns:
        if column.bounds is None or column.name not in loaded:
            continue
        least, most = column.bounds
        found = pc.min_max(table[column.name])
        if table.num_rows and found["min"].is_valid:
            if found["min"].as_py() >= least and found["max"].as_py() <= most:
                continue
            cells = table[column.name].fill_null(least).to_numpy()
            row = int(((cells < least) | (cells > most)).argmax())
            return Wrong(column.name, row, str(cells[row]), f"a number from {least} to {most}")
    return None


def _first_reversed(name: str, table: pa.Table) -> Wrong | None:
    """The first interval that ends before it begins; one that has no end is none."""
    for begin, end in _INTERVALS.get(name, ()):
        if begin not in table.column_names or end not in table.column_names:
            continue
        is_reversed = pc.less(table[end], table[begin])
        if pc.any(is_reversed).as_py():
            row = pc.index(is_reversed, True).as_py()
            what = "time" if end.endswith("_ns") else "number"
            expected = f"a {what} from {begin} on, {table[begin][row]}"
            return Wrong(end, row, str(table[end][row]), expected)
    return None


def _first_disordered(name: str, table: pa.Table) -> Wrong | None:
    """The first row that stands after one that should follow it, by the columns loaded."""
    before: list[Integers] = []
    for key in TABLES[name].order:
        if key not in table.column_names:
            return None
        values = to_numpy(table[key])
        falls = np.flatnonzero(values[1:] < values[:-1])
        for earlier in before:
            falls = falls[earlier[falls] == earlier[falls + 1]]
        if len(falls):
            row = int(falls[0]) + 1
            return Wrong(key, row, str(values[row]), f"rows in the order of {key}")
        before.append(values)
    return None


def _first_twice(name: str, table: pa.Table) -> Wrong | None:
    """The first row that says the same again as the row before."""
    keys = _ONCE.get(name, ())
    if not keys or not set(keys) <= set(table.column_names) or table.num_rows < 2:
        return None
    same = np.ones(table.num_rows - 1, bool)
    for key in keys:
        values = to_numpy(table[key])
        same &= (values[1:] == values[:-1]) & (values[1:] >= 0)
    if not same.any():
        return None
    row = int(same.argmax()) + 1
    value = str(to_numpy(table[keys[0]])[row])
    return Wrong(keys[0], row, value, f"a row with another {keys[-1]} than the row before")
