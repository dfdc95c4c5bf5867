"""The columns of a burst table: what each holds, and in which unit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import pyarrow as pa

from burstline.errors import ParameterError, printable
from burstline.identity import CONTEXT, SIDES
from burstline.model import Column, arrow_field

WHERE: Final = (
    Column("rank", "int32", "rank of the process, from 0 within its application"),
    Column("thread", "int32", "thread, from 0 within the process"),
    Column("burst", "int32", "ordinal on its thread"),
    Column("node", "text", "name of the node it ran on", nullable=True),
    Column("location", "int32", "row of `locations` of the trace"),
    Column("application", "int32", "application of the rank, from 0"),
)
WHEN: Final = (
    Column("start_ns", "int64", "when the call before it was left", "ns"),
    Column("end_ns", "int64", "when the call after it was entered", "ns"),
    Column("duration_ns", "int64", "how long it lasted", "ns"),
    Column("polling_ns", "int64", "part of it in failed polls that are no calls", "ns"),
    Column("waiting_ns", "int64", "part of it that was waiting in failed polls", "ns"),
    Column("gap_ns", "int64", "part of it that nobody watched", "ns"),
)
DERIVED: Final = (
    Column(
        "concurrency",
        "double",
        "threads computing on its node, on average while it lasts; null if that is not known",
        nullable=True,
    ),
    Column("ipc", "double", "instructions per cycle", nullable=True),
    Column("frequency", "double", "cycles over duration", "GHz", nullable=True),
    Column("position", "double", "fraction of the bursts of its thread that are before it"),
    Column("region", "int32", "collectives that its rank began before it", nullable=True),
    Column("function", "text", "function that most of its samples are in", nullable=True),
)
_AROUND: Final = {
    "operation": ("text", "MPI name of the call", ""),
    "communicator": ("text", "its communicator: world, self, or ranks of its members", ""),
    "partner": ("int32", "rank in the application of the one it sends to or receives from", ""),
    "root": ("int32", "rank in the application of the root of the collective", ""),
    "tag": ("int32", "message tag", ""),
    "bytes_sent": ("int64", "bytes it sent", "bytes"),
    "bytes_received": ("int64", "bytes whose receive it completed", "bytes"),
    "call_path": ("text", "its callers as function@file:line, outermost first", ""),
}
AROUND: Final = tuple(
    Column(
        f"{name}_{side}",
        _AROUND[name][0],
        f"of the call {side}: {_AROUND[name][1]}",
        _AROUND[name][2],
        nullable=True,
    )
    for side in SIDES
    for name in CONTEXT
)
FIXED: Final = frozenset(column.name for column in (*WHERE, *WHEN, *DERIVED, *AROUND))


def counter_columns(counters: Iterable[str]) -> dict[str, str]:
    """The column of each counter: its name, unless another column has that.

    >>> counter_columns(["PAPI_TOT_INS", "ipc"])
    {'PAPI_TOT_INS': 'PAPI_TOT_INS', 'ipc (counter)': 'ipc'}
    """
    return {f"{name} (counter)" if name in FIXED else name: name for name in counters}


def table_schema(
    counters: Sequence[str] = (), columns: Sequence[str] | None = None
) -> pa.Schema:
    """The Arrow schema of a burst table, with the unit and meaning of fields as metadata."""
    read = [
        Column(name, "int64", "the counter's increase over the burst", nullable=True)
        for name in counter_columns(counters)
    ]
    every = (*WHERE, *WHEN, *read, *AROUND, *DERIVED)
    fields = {column.name: arrow_field(column) for column in every}
    if columns is None:
        return pa.schema(fields.values())
    unknown = [name for name in columns if name not in fields]
    if unknown:
        raise ParameterError(
            f"no column {', '.join(map(printable, unknown))} in a burst table; "
            f"there are {', '.join(map(printable, fields))}"
        )
    if len(set(columns)) < len(columns) or not columns:
        raise ParameterError("name each column of a burst table once, and at least one")
    return pa.schema([fields[name] for name in columns])
