"""What a trace is: its tables, their columns, types, units and order.

::

    schema.TABLES["calls"].columns  ->  arrow_schema("calls")  ->  check("calls", table)

A row is named by (location, ordinal in that location), never by a global row
number: out of core, global numbers are known last. Times are int64 nanoseconds
from the trace's start; intervals are half-open; ranks count from 0 within their
application. Every stamp that synchronises has its ``*_seq``, the ordinal of the
event on its location, because equal stamps are normal.

Importing this module costs nothing: Arrow is loaded by the functions that need it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from burstline.errors import InconsistentTraceError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

SCHEMA_VERSION: Final = 1
"""Raised whenever a stored table would be read differently."""

UNKNOWN: Final = -1
"""How kernels mark an absent id (rank, call, communicator, call path, tag source)."""

NO_VALUE: Final = -(2**63)
"""How kernels mark an absent time, size or counter; Arrow tables hold a null instead."""

LOCATION_KINDS: Final = ("cpu", "gpu_stream", "metric", "other")
GAP_KINDS: Final = ("flush", "tracing_off", "not_created", "cut", "dropped")
SEND_DONE_SOURCES: Final = ("recorded", "inferred", "unknown")
ORIGINS: Final = ("recorded", "derived")
SEVERITIES: Final = ("info", "loss", "error")
COUNTER_MODES: Final = ("delta", "absolute")
COMMUNICATOR_KINDS: Final = ("world", "self", "group", "inter", "unknown")
PARADIGMS: Final = ("user", "openmp", "pthread", "gpu", "io", "memory", "mpi", "other")
SOURCE_KINDS: Final = ("header", "communicator", "comment", "row", "pcf")


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
        Its name, the same in Arrow, NumPy, JSON, the command line and C++.
    type : str
        ``int16 int32 int64 bool string list<int32>``, ``operation`` (a dictionary of MPI
        names) or ``enum`` (a dictionary of `values`).
    doc : str
        What it holds.
    unit : str
        ``ns``, ``bytes``, … or empty for ids and counts.
    nullable : bool
        Whether a null is allowed, and means "not known".
    values : tuple of str
        The values of an ``enum``, in the order of their codes.
    """

    name: str
    type: str
    doc: str
    unit: str = ""
    nullable: bool = False
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableSchema:
    """One table: what a row is, its columns, and the order of its rows.

    Attributes
    ----------
    doc : str
        What a row is.
    columns : tuple of Column
        In order.
    order : tuple of str
        Columns by which the rows are sorted.
    raw : bool
        Whether it belongs to the raw tables, which a reader may leave out.
    counters : bool
        Whether one nullable int64 column per counter follows the fixed ones.
    """

    doc: str
    columns: tuple[Column, ...]
    order: tuple[str, ...] = ()
    raw: bool = False
    counters: bool = False

    def column(self, name: str) -> Column:
        """Give the column called `name`, or raise KeyError."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)


def _id(name: str, doc: str, *, nullable: bool = False) -> Column:
    return Column(name, "int32", doc, nullable=nullable)


def _ns(name: str, doc: str, *, nullable: bool = False) -> Column:
    return Column(name, "int64", doc, "ns", nullable)


def _seq(name: str, doc: str, *, nullable: bool = False) -> Column:
    return Column(name, "int64", doc, nullable=nullable)


def _bytes(name: str, doc: str, *, nullable: bool = False) -> Column:
    return Column(name, "int64", doc, "bytes", nullable)


def _enum(name: str, doc: str, values: tuple[str, ...], *, nullable: bool = False) -> Column:
    return Column(name, "enum", doc, nullable=nullable, values=values)


def _text(name: str, doc: str, *, nullable: bool = False) -> Column:
    return Column(name, "string", doc, nullable=nullable)


_LOCATION = _id("location", "row of `locations`")

TABLES: Final[dict[str, TableSchema]] = {
    "locations": TableSchema(
        "a thread or stream",
        (
            _LOCATION,
            _id("application", "its application, from 0"),
            _id("process", "its process, from 0 over all applications"),
            _id("rank", "its rank, from 0 within the application"),
            _id("thread", "its thread, from 0 within the process"),
            _enum("kind", "what it is", LOCATION_KINDS),
            _text("node", "name of the node it ran on", nullable=True),
            _ns("born_ns", "first moment it was observed"),
            _ns("died_ns", "last moment it was observed"),
            _text("name", "its name in the source"),
            _id("cpu", "the virtual processor of Paraver records", nullable=True),
        ),
        ("location",),
    ),
    "calls": TableSchema(
        "an MPI call",
        (
            _LOCATION,
            _id("call", "ordinal on its location"),
            Column("operation", "operation", "MPI name of the call"),
            _ns("enter_ns", "when it was entered"),
            _ns("leave_ns", "when it was left"),
            _seq("enter_seq", "event ordinal of the enter"),
            _seq("leave_seq", "event ordinal of the leave"),
            _id("communicator", "row of `communicators`", nullable=True),
            _id("peer", "rank of the one partner: destination, or source", nullable=True),
            _id("tag", "message tag", nullable=True),
            _id("root", "own rank, on the root of a rooted collective", nullable=True),
            _bytes("sent_bytes", "bytes this call sent, in all", nullable=True),
            _bytes("received_bytes", "bytes whose receive this call completed", nullable=True),
            _id("call_path", "row of `call_paths`: the caller", nullable=True),
        ),
        ("location", "call"),
    ),
    "messages": TableSchema(
        "a point-to-point message, with the calls on both sides",
        (
            _id("sender_location", "row of `locations`"),
            _id("send_call", "call that started the send", nullable=True),
            _ns("send_ns", "when the send was started"),
            _seq("send_seq", "event ordinal of that", nullable=True),
            _ns("send_leave_ns", "when the call that started the send was left"),
            _id("send_done_call", "call that completed the send", nullable=True),
            _ns("send_done_ns", "when the send was complete", nullable=True),
            _seq("send_done_seq", "event ordinal of that", nullable=True),
            _enum("send_done_from", "how the completion is known", SEND_DONE_SOURCES),
            _id("receiver_location", "row of `locations`"),
            _id("post_call", "call that posted the receive", nullable=True),
            _ns("post_ns", "when the receive was posted"),
            _seq("post_seq", "event ordinal of that", nullable=True),
            _id("receive_call", "call that completed the receive", nullable=True),
            _ns("receive_ns", "when the receive was complete"),
            _seq("receive_seq", "event ordinal of that", nullable=True),
            _id("communicator", "row of `communicators`; unknown in Paraver", nullable=True),
            _id("tag", "message tag"),
            _bytes("sent_bytes", "size at the sender"),
            _bytes("received_bytes", "size at the receiver"),
            Column("send_request", "int64", "the source's id of the request", nullable=True),
            Column("receive_request", "int64", "the source's id of the request", nullable=True),
        ),
        ("sender_location",),
    ),
    "collectives": TableSchema(
        "an instance of a collective operation",
        (
            _id("communicator", "row of `communicators`", nullable=True),
            Column("operation", "operation", "MPI name of the operation"),
            _id("root", "rank of the root", nullable=True),
            _id("sequence", "ordinal of the instance on its communicator"),
            Column("complete", "bool", "whether every member took part, in one operation"),
        ),
        ("communicator", "sequence"),
    ),
    "collective_members": TableSchema(
        "one member's part in an instance",
        (
            Column("collective", "int64", "row of `collectives`"),
            _LOCATION,
            _id("comm_rank", "its rank in the communicator", nullable=True),
            _id("call", "call that started its part"),
            _id("done_call", "call that completed its part", nullable=True),
            _ns("begin_ns", "when its part began"),
            _ns("end_ns", "when its part ended"),
            _seq("begin_seq", "event ordinal of the begin"),
            _seq("end_seq", "event ordinal of the end", nullable=True),
            _bytes("sent_bytes", "bytes it sent"),
            _bytes("received_bytes", "bytes it received"),
        ),
        ("collective", "comm_rank"),
    ),
    "regions": TableSchema(
        "an enter and leave of anything but MPI: functions, OpenMP constructs",
        (
            _LOCATION,
            _id("row", "ordinal on its location, by enter"),
            _id("region", "row of `region_defs`"),
            _ns("enter_ns", "when it was entered"),
            _ns("leave_ns", "when it was left"),
            _seq("enter_seq", "event ordinal of the enter"),
            _seq("leave_seq", "event ordinal of the leave"),
            _id("parent", "row of the enclosing region on this location", nullable=True),
            _id("call_path", "row of `call_paths`", nullable=True),
            _id("team", "row of `teams`", nullable=True),
            _id("barrier_ordinal", "ordinal of the barrier within its team", nullable=True),
            Column("iterations", "int64", "loop iterations of this thread", nullable=True),
            _enum("origin", "recorded, or derived from other events", ORIGINS),
        ),
        ("location", "row"),
    ),
    "teams": TableSchema(
        "an OpenMP team: one parallel region of one process",
        (
            _id("team", "its id"),
            _id("process", "its process"),
            _id("parent", "the enclosing team", nullable=True),
            _id("fork_location", "location that forked it"),
            _ns("fork_ns", "when it was forked"),
            _seq("fork_seq", "event ordinal of the fork"),
            _ns("join_ns", "when it was joined"),
            _seq("join_seq", "event ordinal of the join"),
            _id("threads", "threads in it"),
        ),
        ("team",),
    ),
    "locks": TableSchema(
        "one acquisition of a lock or critical section",
        (
            _LOCATION,
            Column("lock", "int64", "the source's id of the lock"),
            Column("order", "int64", "ordinal of the acquisition of this lock"),
            _ns("acquire_ns", "when it was acquired"),
            _seq("acquire_seq", "event ordinal of that"),
            _ns("release_ns", "when it was released", nullable=True),
            _seq("release_seq", "event ordinal of that", nullable=True),
        ),
        ("location", "acquire_seq"),
    ),
    "readings": TableSchema(
        "counters read at an event: one delta per counter, null where it was not read",
        (
            _LOCATION,
            _seq("seq", "event ordinal of the reading"),
            _ns("time_ns", "when it was read"),
        ),
        ("location", "seq"),
        counters=True,
    ),
    "gaps": TableSchema(
        "time nobody watched",
        (
            _LOCATION,
            _ns("start_ns", "first unwatched moment"),
            _ns("end_ns", "first watched moment after it"),
            _enum("kind", "why", GAP_KINDS),
        ),
        ("location", "start_ns"),
    ),
    "bursts": TableSchema(
        "a computation burst: the stretch between two MPI calls of a thread",
        (
            _LOCATION,
            _id("burst", "ordinal on its location"),
            _ns("start_ns", "when the call before it was left"),
            _ns("end_ns", "when the call after it was entered"),
            _id("call_before", "the call before it", nullable=True),
            _id("call_after", "the call after it", nullable=True),
            _ns("polling_ns", "time in failed polls that the source did not record one by one"),
            Column("polls", "int64", "number of those polls"),
            _ns("gap_ns", "part of it that nobody watched"),
        ),
        ("location", "burst"),
        counters=True,
    ),
    "call_paths": TableSchema(
        "a node of the calling-context tree; parents come before their children",
        (
            _id("call_path", "its row"),
            _id("parent", "row of the caller", nullable=True),
            _text("function", "name of the function"),
            _text("file", "source file of the call in it", nullable=True),
            _id("line", "line of the call in it", nullable=True),
        ),
        ("call_path",),
    ),
    "region_defs": TableSchema(
        "what a region is",
        (
            _id("region", "its row"),
            _text("name", "its name"),
            _enum("paradigm", "who runs it", PARADIGMS),
            _text("role", "parallel, loop, barrier, implicit_barrier, team, function, …"),
            _text("file", "its source file", nullable=True),
            _id("begin_line", "its first line", nullable=True),
            _id("end_line", "its last line", nullable=True),
            Column("source_type", "int64", "the source's id of its kind", nullable=True),
            Column("source_value", "int64", "the source's id of it", nullable=True),
        ),
        ("region",),
    ),
    "counters": TableSchema(
        "a counter; its column in `readings` and `bursts` has its name",
        (
            _text("name", "its name"),
            _text("unit", "its unit, empty for counts"),
            _enum("mode", "deltas, or absolute values", COUNTER_MODES),
            Column("source_type", "int64", "the source's id of it"),
        ),
    ),
    "counter_sets": TableSchema(
        "a counter of a set; sets may take turns",
        (_id("counter_set", "the source's id of the set"), _text("counter", "a counter in it")),
        ("counter_set",),
    ),
    "communicators": TableSchema(
        "a communicator",
        (
            _id("communicator", "its row"),
            _id("application", "its application"),
            _enum("kind", "what it is", COMMUNICATOR_KINDS),
            Column("members", "list<int32>", "ranks of its members, in its order"),
            Column("ambiguous", "bool", "whether it may stand for several communicators"),
            Column("source_id", "int64", "the source's id of it"),
        ),
        ("communicator",),
    ),
    "metadata": TableSchema(
        "a fact about the trace: origin, resolution, clock, recorder, time origin",
        (_text("key", "which"), _text("value", "its value")),
    ),
    "defects": TableSchema(
        "what was odd",
        (
            _text("kind", "which oddity"),
            _enum("severity", "info, loss (something is missing), error", SEVERITIES),
            Column("count", "int64", "how often"),
            _text("first", "where first, and what stood there"),
        ),
    ),
    "events": TableSchema(
        "a type-value pair as recorded",
        (
            _LOCATION,
            _seq("seq", "ordinal on its location"),
            _ns("time_ns", "when"),
            Column("type", "int64", "the source's event type"),
            Column("value", "int64", "its value"),
        ),
        ("location", "seq"),
        raw=True,
    ),
    "states": TableSchema(
        "a state interval as recorded",
        (
            _LOCATION,
            _ns("begin_ns", "first moment"),
            _ns("end_ns", "first moment after it; -1 in the source: never"),
            Column("state", "int64", "the source's state"),
        ),
        ("location", "begin_ns"),
        raw=True,
    ),
    "links": TableSchema(
        "a communication record that is no MPI message: tasks, GPU launches and copies",
        (
            _id("sender_location", "row of `locations`"),
            _ns("send_ns", "logical send"),
            _ns("send_leave_ns", "physical send"),
            _id("receiver_location", "row of `locations`"),
            _ns("post_ns", "logical receive"),
            _ns("receive_ns", "physical receive"),
            _bytes("size", "size"),
            Column("tag", "int64", "tag"),
        ),
        ("sender_location",),
        raw=True,
    ),
    "event_types": TableSchema(
        "an event type's label",
        (
            Column("type", "int64", "the source's event type"),
            _text("label", "its label"),
            _id("gradient", "the colour column of .pcf"),
            _id("group", "types that share one value table have one group"),
        ),
        raw=True,
    ),
    "event_values": TableSchema(
        "a value's label",
        (
            _id("group", "the group of types it belongs to"),
            Column("value", "int64", "the value"),
            _text("label", "its label"),
        ),
        ("group",),
        raw=True,
    ),
    "source": TableSchema(
        "a line of the source that is no record: header, communicators, comments, labels",
        (_enum("kind", "which part", SOURCE_KINDS), _text("text", "the line")),
        raw=True,
    ),
}

RAW_TABLES: Final = tuple(name for name, table in TABLES.items() if table.raw)
"""Tables that a reader may leave out."""


def arrow_schema(name: str, counters: Sequence[str] = ()) -> pa.Schema:
    """Give the Arrow schema of a table.

    Parameters
    ----------
    name : str
        A key of :data:`TABLES`.
    counters : sequence of str
        Counters of the trace; used by tables with one column per counter.

    Returns
    -------
    pyarrow.Schema
        Fields in order, each with its unit and meaning as metadata.

    Raises
    ------
    ParameterError
        If there is no such table.

    Examples
    --------
    >>> arrow_schema("gaps").names
    ['location', 'start_ns', 'end_ns', 'kind']
    """
    import pyarrow as pa  # noqa: PLC0415 -- the schema itself is free to import

    if name not in TABLES:
        raise ParameterError(f"no table {name!r}; there are {', '.join(TABLES)}")
    plain = {
        "int16": pa.int16(),
        "int32": pa.int32(),
        "int64": pa.int64(),
        "bool": pa.bool_(),
        "string": pa.string(),
        "list<int32>": pa.list_(pa.int32()),
        "operation": pa.dictionary(pa.int16(), pa.string()),
        "enum": pa.dictionary(pa.int8(), pa.string()),
    }
    fields = [
        pa.field(
            column.name,
            plain[column.type],
            nullable=column.nullable,
            metadata={"unit": column.unit, "doc": column.doc},
        )
        for column in TABLES[name].columns
    ]
    if TABLES[name].counters:
        fields += [pa.field(counter, pa.int64(), nullable=True) for counter in counters]
    return pa.schema(fields)


def check(name: str, table: pa.Table) -> None:
    """Raise unless a table has the columns, types and order its schema promises.

    Parameters
    ----------
    name : str
        A key of :data:`TABLES`.
    table : pyarrow.Table
        The table; tables with counters may have further int64 columns.

    Raises
    ------
    InconsistentTraceError
        If a column is missing, misplaced, of another type, null where it must not be, or
        the rows are not sorted.

    Notes
    -----
    O(rows) time; for tests and for tables from outside, not for every reading.

    Examples
    --------
    >>> import pyarrow as pa
    >>> check("metadata", pa.table({"key": ["origin"]}))
    Traceback (most recent call last):
    burstline.errors.InconsistentTraceError: metadata: expected columns key, value, found key
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
        found = table.schema.field(field.name)
        if found.type != field.type:
            raise InconsistentTraceError(
                f"{name}.{field.name}: expected {field.type}, found {found.type}"
            )
        if not field.nullable and table[field.name].null_count:
            raise InconsistentTraceError(f"{name}.{field.name}: a null where none may be")
    _check_order(name, table)


def _check_order(name: str, table: pa.Table) -> None:
    import numpy as np  # noqa: PLC0415 -- see arrow_schema

    before = np.zeros(max(table.num_rows - 1, 0), bool)
    for key in TABLES[name].order:
        values = table[key].fill_null(UNKNOWN).to_numpy()
        wrong = ~before & (values[1:] < values[:-1])
        if wrong.any():
            row = int(wrong.argmax()) + 1
            raise InconsistentTraceError(f"{name}: row {row} is out of order by {key}")
        before |= values[1:] > values[:-1]
