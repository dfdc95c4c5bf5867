"""For tests, ours and those of others: traces from text, and whether two are equal."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import pyarrow as pa

from burstline.errors import ParameterError, printable
from burstline.formats.text import parse
from burstline.model import Trace, schema

_SHOWN: Final = 400


def trace_of(text: str) -> Trace:
    """Build a trace from its text form, see ``help(burstline.formats.text)``.

    Parameters
    ----------
    text : str
        What happens, a few events a line.

    Returns
    -------
    Trace
        In memory, without raw tables.

    Raises
    ------
    FormatError
        If the text breaks the rules of its form; it names the line.

    Examples
    --------
    >>> trace_of("ranks 1 | 0 | 5 enter MPI_Barrier | 9 leave").calls["leave_ns"].to_pylist()
    [9]
    """
    return parse(text)


def assert_same_trace(
    found: Trace, expected: Trace, *, tables: Collection[str] | None = None
) -> None:
    """Raise AssertionError unless two traces hold the same rows.

    Parameters
    ----------
    found, expected : Trace
        The two traces.
    tables : collection of str, optional
        Compare only these tables; default all, and whether raw tables are kept.

    Raises
    ------
    AssertionError
        Names the first table, column and row that differ, and shows the row.
    ParameterError
        If `tables` names a table that does not exist.

    Notes
    -----
    Values are compared, not their storage: dictionaries in another order or columns in
    other chunks are no difference. A missing table is an empty one.

    Examples
    --------
    >>> one, other = (trace_of(f"ranks 1 | 0 | {t} enter MPI_Init | 9 leave") for t in (5, 6))
    >>> assert_same_trace(one, other, tables=["calls"])
    Traceback (most recent call last):
    AssertionError: calls.enter_ns: row 0 is 5, expected 6 (1 of 1 rows differ)
    ...
    """
    unknown = set(tables or ()) - set(schema.TABLES)
    if unknown:
        raise ParameterError(f"no table called {', '.join(sorted(unknown))} in a trace")
    if tables is None and found.has_raw != expected.has_raw:
        raise AssertionError(f"has_raw is {found.has_raw}, expected {expected.has_raw}")
    for name in schema.TABLES:
        if tables is None or name in tables:
            _compare(name, found.table(name), expected.table(name))


def _compare(name: str, found: pa.Table, expected: pa.Table) -> None:
    if found.column_names != expected.column_names:
        raise AssertionError(
            f"{name}: columns {found.column_names}, expected {expected.column_names}"
        )
    if found.num_rows != expected.num_rows:
        raise AssertionError(
            f"{name}: {found.num_rows} rows, expected {expected.num_rows}\n"
            f"found    {_shown(found)}\nexpected {_shown(expected)}"
        )
    for column in found.column_names:
        ours, theirs = _plain(found[column]), _plain(expected[column])
        if ours.equals(theirs):
            continue
        pairs = list(zip(ours.to_pylist(), theirs.to_pylist(), strict=True))
        wrong = [row for row, (one, other) in enumerate(pairs) if one != other]
        if not wrong:
            raise AssertionError(f"{name}.{column}: type {ours.type}, expected {theirs.type}")
        one, other = pairs[wrong[0]]
        raise AssertionError(
            f"{name}.{column}: row {wrong[0]} is {one!r}, expected {other!r} "
            f"({len(wrong)} of {len(pairs)} rows differ)\n"
            f"found    {_shown(found.slice(wrong[0], 1))}\n"
            f"expected {_shown(expected.slice(wrong[0], 1))}"
        )


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column


def _shown(table: pa.Table) -> str:
    return printable(str(table.slice(0, 4).to_pylist()), limit=_SHOWN)
