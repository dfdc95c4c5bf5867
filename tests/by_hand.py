"""Build traces row by row: only what a test is about is written down."""

from __future__ import annotations

import pyarrow as pa

from burstline import Trace
from burstline.model import schema

_ZEROS = {"string": "", "bool": False, "operation": "MPI_Send", "list<int32>": []}


def rows_of(name, rows):
    """Make a table of the schema; what a row leaves out is null, 0, empty or the first."""
    columns = schema.TABLES[name].columns
    blank = {
        column.name: None
        if column.nullable
        else column.values[0]
        if column.values
        else _ZEROS.get(column.type, 0)
        for column in columns
    }
    return pa.Table.from_pylist(
        [{**blank, **row} for row in rows], schema=schema.arrow_schema(name)
    )


def threads(*spans, application=0, first=0, **common):
    """Give rows of `locations`: one rank of one thread per (born, died)."""
    names = "location", "process", "rank", "born_ns", "died_ns", "application"
    return [
        dict(zip(names, (first + rank, first + rank, rank, *span, application), strict=True))
        | common
        for rank, span in enumerate(spans)
    ]


def calls_of(*stories):
    """Give rows of `calls`: per location, a list of (operation, enter, leave)."""
    names = "location", "call", "operation", "enter_ns", "leave_ns"
    return [
        dict(zip(names, (location, call, f"MPI_{operation}", *times), strict=True))
        for location, story in enumerate(stories)
        for call, (operation, *times) in enumerate(story)
    ]


def trace_of(**tables):
    """Make a trace of rows by table, checked against the schema."""
    return Trace({name: rows_of(name, rows) for name, rows in tables.items()}, check=True)
