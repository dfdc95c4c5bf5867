"""Rows of a table as words, for tests that say what a trace holds.

>>> import pyarrow as pa
>>> cells(
...     pa.table({"operation": ["MPI_Send", "MPI_Barrier"], "peer": [1, None]}),
...     "operation peer",
... )
'MPI_Send 1 | MPI_Barrier -'

``-`` is no value, ``yes`` and ``no`` are flags, lists have commas, blanks of a text are ``_``.
"""

from __future__ import annotations


def cells(table, columns):
    """Tell some columns of all rows: cells have blanks between them, rows bars."""
    rows = table.select(columns.split()).to_pylist()
    return " | ".join(" ".join(map(word, row.values())) for row in rows)


def word(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ",".join(map(str, value)) or "()"
    return "-" if value is None else str(value).replace(" ", "_") or '""'


def cells_like(trace, said):
    """Tell what a trace has in place of ``"table columns: rows"``; the same where it is so."""
    head = said.partition(":")[0]
    name, columns = head.split(" ", 1)
    return f"{head}: {cells(trace.table(name), columns)}"
