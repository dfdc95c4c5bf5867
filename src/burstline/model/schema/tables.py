"""The tables of a trace: what a row is, its columns with their units, and the order.

A row is named by (location, ordinal in that location), never by a global row
number: out of core, global numbers are known last. Times are int64 nanoseconds
from the trace's start; intervals are half-open; ranks count from 0 within their
application. Every stamp that synchronises has its ``*_seq``, the ordinal of the
event on its location, because equal stamps are normal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SCHEMA_VERSION: Final = 2
"""Raised whenever a stored table would be read differently."""

SILENT_THREADS: Final = "openmp_not_recorded"
"""The kind of defect that names a library of OpenMP which tells nothing of its threads."""
CHOSEN_RANKS: Final = "ranks_not_recorded"
"""The kind of defect that tells which ranks of how many were to be recorded."""
UNREAD_PYTHON: Final = "python_not_read"
"""The kind of defect that names an interpreter of Python whose frames could not be read."""

NEVER_LEFT: Final = 1 << 35
"""Event ordinal of the leave of a call in which a thread was interrupted, and above."""

_LATEST: Final = 1 << 62  # what is as far apart as numbers can be still has a difference
LARGEST_ID: Final = (1 << 31) - 1
LAST_SEQ: Final = 1 << 56
"""The largest event ordinal: kernels keep a little beside one."""

LOCATION_KINDS: Final = ("cpu", "gpu_stream", "metric", "other")
PARTS: Final = ("processor", "core", "numa", "socket", "node")
"""Parts of a node that a thread may be bound to, from small to large."""
GAP_KINDS: Final = ("flush", "tracing_off", "not_created", "cut", "dropped")
SEND_DONE_SOURCES: Final = ("recorded", "inferred", "unknown")
ORIGINS: Final = ("recorded", "derived")
SEVERITIES: Final = ("info", "loss", "error")
COUNTER_MODES: Final = ("delta", "absolute")
COMMUNICATOR_KINDS: Final = ("world", "self", "group", "inter", "unknown")
PARADIGMS: Final = ("user", "openmp", "pthread", "gpu", "io", "memory", "mpi", "other")
OTHER_EVENT_KINDS: Final = (
    "program_begin", "program_end", "communicator_created", "communicator_destroyed",
    "thread_created", "thread_begun", "thread_awaited", "thread_ended", "task_created",
    "task_switched", "task_completed", "parameter", "attribute",
)  # fmt: skip
HALF_KINDS: Final = ("send", "send_done", "post", "receive")
VALUE_TYPES: Final = (
    "none", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float",
    "double", "string", "attribute", "location", "region", "group", "metric", "communicator",
    "parameter", "window", "source_line", "calling_context", "interrupt", "file", "file_handle",
    "process",
)  # fmt: skip
SOURCE_KINDS: Final = ("header", "communicator", "comment", "row", "pcf")


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str  # the same in Arrow, NumPy, JSON, the command line and C++
    # int16 int32 int64 double bool string list<int32>, or a dictionary: operation (of names of
    # MPI), enum, or text (in a burst table)
    type: str
    doc: str
    unit: str = ""  # empty for ids and counts
    nullable: bool = False  # a null means "not known"
    values: tuple[str, ...] = ()  # of an enum, in the order of their codes
    refers: str = ""  # the table of which it names a row
    within: str = ""  # the column of the location on which that row is counted
    counted: bool = False  # from 0
    bounds: tuple[int, int] | None = None  # of its numbers, both included
    is_moment: bool = False  # which moves with the trace; a duration does not


@dataclass(frozen=True, slots=True)
class TableSchema:
    """One table: what a row is, its columns, and the order of its rows."""

    doc: str
    columns: tuple[Column, ...]
    order: tuple[str, ...] = ()  # columns by which the rows are sorted
    raw: bool = False  # a reader may leave it out
    counters: bool = False  # one nullable int64 column per counter follows the fixed ones

    def column(self, name: str) -> Column:
        """The column called `name`, or raise KeyError."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    def bounds(self, name: str) -> tuple[int, int]:
        """The bounds of the numbers in the column called `name`, or raise KeyError."""
        bounds = self.column(name).bounds
        if bounds is None:
            raise KeyError(name)
        return bounds


def _id(name: str, doc: str, refers: str = "", *, nullable: bool = False) -> Column:
    return Column(name, "int32", doc, nullable=nullable, refers=refers)


def _row(name: str, table: str, more: str = "", *, nullable: bool = False) -> Column:
    return _id(name, f"row of `{table}`{more}", table, nullable=nullable)


def _ordinal(
    name: str, table: str, doc: str, *, of: str = "location", nullable: bool = False
) -> Column:
    return Column(name, "int32", doc, nullable=nullable, refers=table, within=of)


def _call(name: str, side: str, doc: str) -> Column:
    return _ordinal(name, "calls", doc, of=f"{side}_location", nullable=True)


def _count(name: str, doc: str) -> Column:
    return Column(name, "int32", doc, counted=True)


def _ns(name: str, doc: str, *, nullable: bool = False) -> Column:
    return Column(
        name, "int64", doc, "ns", nullable, bounds=(-_LATEST, _LATEST), is_moment=True
    )


def _duration(name: str, doc: str, *, nullable: bool = False) -> Column:
    return Column(name, "int64", doc, "ns", nullable, bounds=(0, _LATEST))


def _seq(name: str, doc: str, *, nullable: bool = False) -> Column:
    return Column(name, "int64", doc, nullable=nullable, bounds=(0, LAST_SEQ))


def _bytes(name: str, doc: str, *, nullable: bool = False) -> Column:
    return Column(name, "int64", doc, "bytes", nullable)


def _enum(name: str, doc: str, values: tuple[str, ...], *, nullable: bool = False) -> Column:
    return Column(name, "enum", doc, nullable=nullable, values=values)


def _text(name: str, doc: str, *, nullable: bool = False) -> Column:
    return Column(name, "string", doc, nullable=nullable)


def _processors(name: str, doc: str) -> Column:
    return _text(name, f"processors {doc}, as 0-3,8", nullable=True)


def _amount(name: str, doc: str) -> Column:
    return Column(name, "int64", doc, nullable=True, bounds=(0, _LATEST))


def _table(
    doc: str,
    *columns: Column,
    order: tuple[str, ...] = (),
    raw: bool = False,
    counters: bool = False,
) -> TableSchema:
    return TableSchema(doc, columns, order, raw=raw, counters=counters)


_LOCATION = _row("location", "locations")

TABLES: Final[dict[str, TableSchema]] = {
    "locations": _table(
        "a thread or stream",
        _LOCATION,
        _count("application", "its application, from 0"),
        _count("process", "its process, from 0 over all applications"),
        _count("rank", "its rank, from 0 within the application"),
        _count("thread", "its thread, from 0 within the process"),
        _enum("kind", "what it is", LOCATION_KINDS),
        _text("node", "name of the node it ran on", nullable=True),
        _ns("born_ns", "first moment it was observed"),
        _ns("died_ns", "last moment it was observed"),
        _text("name", "its name in the source"),
        _id("cpu", "the virtual processor of Paraver records", nullable=True),
        order=("location",),
    ),
    "calls": _table(
        "an MPI call",
        _LOCATION,
        _ordinal("call", "calls", "ordinal on its location"),
        Column("operation", "operation", "MPI name of the call"),
        _ns("enter_ns", "when it was entered"),
        _ns("leave_ns", "when it was left"),
        _seq("enter_seq", "event ordinal of the enter"),
        _seq("leave_seq", "event ordinal of the leave; 2**35 or more if interrupted in it"),
        _row("communicator", "communicators", nullable=True),
        _id("peer", "rank of the one partner: destination, or source", nullable=True),
        _id("tag", "message tag", nullable=True),
        _id("root", "own rank, on the root of a rooted collective", nullable=True),
        _bytes("sent_bytes", "bytes this call sent, in all", nullable=True),
        _bytes("received_bytes", "bytes whose receive this call completed", nullable=True),
        _row("call_path", "call_paths", ": the caller", nullable=True),
        order=("location", "call"),
    ),
    "messages": _table(
        "a point-to-point message, with the calls on both sides",
        _row("sender_location", "locations"),
        _call("send_call", "sender", "call that started the send"),
        _ns("send_ns", "when the send was started"),
        _seq("send_seq", "event ordinal of that", nullable=True),
        _ns("send_leave_ns", "when the call that started the send was left"),
        _call("send_done_call", "sender", "call that completed the send"),
        _ns("send_done_ns", "when the send was complete", nullable=True),
        _seq("send_done_seq", "event ordinal of that", nullable=True),
        _enum("send_done_from", "how the completion is known", SEND_DONE_SOURCES),
        _row("receiver_location", "locations"),
        _call("post_call", "receiver", "call that posted the receive"),
        _ns("post_ns", "when the receive was posted"),
        _seq("post_seq", "event ordinal of that", nullable=True),
        _call("receive_call", "receiver", "call that completed the receive"),
        _ns("receive_ns", "when the receive was complete"),
        _seq("receive_seq", "event ordinal of that", nullable=True),
        _row("communicator", "communicators", "; unknown in Paraver", nullable=True),
        _id("tag", "message tag"),
        _bytes("sent_bytes", "size at the sender"),
        _bytes("received_bytes", "size at the receiver"),
        Column("send_request", "int64", "the source's id of the request", nullable=True),
        Column("receive_request", "int64", "the source's id of the request", nullable=True),
        order=("sender_location",),
    ),
    "half_messages": _table(
        "an event of a message whose other side is not in the trace",
        _LOCATION,
        _seq("seq", "event ordinal"),
        _ns("time_ns", "when"),
        _enum("kind", "what happened", HALF_KINDS),
        _ordinal("call", "calls", "call that it happened in", nullable=True),
        _row("communicator", "communicators", nullable=True),
        _id("peer", "rank of the other side", nullable=True),
        _id("tag", "message tag", nullable=True),
        _bytes("bytes", "its size", nullable=True),
        Column("request", "int64", "the source's id of the request", nullable=True),
        order=("location", "seq"),
    ),
    "collectives": _table(
        "an instance of a collective operation",
        _row("communicator", "communicators", nullable=True),
        Column("operation", "operation", "MPI name of the operation"),
        _id("root", "rank of the root", nullable=True),
        _id("sequence", "ordinal of the instance on its communicator"),
        Column("complete", "bool", "whether every member took part, in one operation"),
        order=("communicator", "sequence"),
    ),
    "collective_members": _table(
        "one member's part in an instance",
        Column("collective", "int64", "row of `collectives`", refers="collectives"),
        _LOCATION,
        _id("comm_rank", "its rank in the communicator", nullable=True),
        _ordinal("call", "calls", "call that started its part"),
        _ordinal("done_call", "calls", "call that completed its part", nullable=True),
        _ns("begin_ns", "when its part began"),
        _ns("end_ns", "when its part ended"),
        _seq("begin_seq", "event ordinal of the begin"),
        _seq("end_seq", "event ordinal of the end", nullable=True),
        _bytes("sent_bytes", "bytes it sent"),
        _bytes("received_bytes", "bytes it received"),
        order=("collective", "comm_rank"),
    ),
    "regions": _table(
        "an enter and leave of anything but MPI: functions, OpenMP constructs",
        _LOCATION,
        _ordinal("row", "regions", "ordinal on its location, by enter"),
        _row("region", "region_defs"),
        _ns("enter_ns", "when it was entered"),
        _ns("leave_ns", "when it was left"),
        _seq("enter_seq", "event ordinal of the enter"),
        _seq("leave_seq", "event ordinal of the leave"),
        _ordinal(
            "parent", "regions", "row of the enclosing region on this location", nullable=True
        ),
        _row("call_path", "call_paths", nullable=True),
        _row("team", "teams", nullable=True),
        _id("barrier_ordinal", "ordinal of the barrier within its team", nullable=True),
        Column("iterations", "int64", "loop iterations of this thread", nullable=True),
        _enum("origin", "recorded, or derived from other events", ORIGINS),
        order=("location", "row"),
    ),
    "loops": _table(
        "a loop of the program, or one that was detected in the trace",
        _id("loop", "its row", "loops"),
        _text("name", "its name, in every run the same: file:line where that is known"),
        _enum("paradigm", "who shares out its iterations; user: nobody", PARADIGMS),
        _text("file", "its source file", nullable=True),
        _id("begin_line", "its first line", nullable=True),
        _id("end_line", "its last line", nullable=True),
        _enum("origin", "recorded, or derived: detected in the trace", ORIGINS),
        order=("loop",),
    ),
    "loop_entries": _table(
        "an entry of a loop: from where it was entered to where it was left",
        _LOCATION,
        _ordinal("entry", "loop_entries", "ordinal on its location, by enter"),
        _row("loop", "loops"),
        _ns("enter_ns", "when it was entered"),
        _ns("leave_ns", "when it was left"),
        _ordinal(
            "parent",
            "loop_entries",
            "entry of the loop around it on this location",
            nullable=True,
        ),
        Column("iterations", "int64", "iterations of this thread", nullable=True),
        order=("location", "entry"),
    ),
    "loop_iterations": _table(
        "an iteration that was seen to begin; a recorder may choose some of them",
        _LOCATION,
        _ns("time_ns", "when it began"),
        _ordinal("entry", "loop_entries", "the innermost entry around it", nullable=True),
        Column("iteration", "int64", "which, as the source counts"),
        order=("location", "time_ns"),
    ),
    "call_loops": _table(
        "an MPI call whose loop the recorder wrote down",
        _LOCATION,
        _ordinal("call", "calls", "ordinal on its location"),
        _row("loop", "loops", ": the innermost around it; null: none", nullable=True),
        order=("location", "call"),
    ),
    "teams": _table(
        "an OpenMP team: one parallel region of one process",
        _id("team", "its id", "teams"),
        _count("process", "its process"),
        _id("parent", "the enclosing team", "teams", nullable=True),
        _id("fork_location", "location that forked it", "locations"),
        _ns("fork_ns", "when it was forked"),
        _seq("fork_seq", "event ordinal of the fork"),
        _ns("join_ns", "when it was joined"),
        _seq("join_seq", "event ordinal of the join"),
        _count("threads", "threads in it"),
        order=("team",),
    ),
    "locks": _table(
        "one acquisition of a lock or critical section",
        _LOCATION,
        Column("lock", "int64", "the source's id of the lock"),
        Column("order", "int64", "ordinal of the acquisition of this lock"),
        _ns("acquire_ns", "when it was acquired"),
        _seq("acquire_seq", "event ordinal of that"),
        _ns("release_ns", "when it was released", nullable=True),
        _seq("release_seq", "event ordinal of that", nullable=True),
        order=("location", "acquire_seq"),
    ),
    "readings": _table(
        "counters read at an event: one delta per counter, null where it was not read",
        _LOCATION,
        _seq("seq", "event ordinal of the reading"),
        _ns("time_ns", "when it was read"),
        order=("location", "seq"),
        counters=True,
    ),
    "gaps": _table(
        "time nobody watched",
        _LOCATION,
        _ns("start_ns", "first unwatched moment"),
        _ns("end_ns", "first watched moment after it"),
        _enum("kind", "why", GAP_KINDS),
        order=("location", "start_ns"),
    ),
    "samples": _table(
        "what a thread executed at a moment: a sample of its call stack",
        _LOCATION,
        _ns("time_ns", "when it was taken"),
        Column(
            "periods",
            "int64",
            "how many periods of the sampling it stands for, those that found no moment",
            bounds=(1, _LATEST),
        ),
        _row("call_path", "call_paths", ": what was executed", nullable=True),
        order=("location", "time_ns"),
    ),
    "placements": _table(
        "where a thread may run, and was seen to run; of a recorder that says so",
        _LOCATION,
        _processors("allowed", "that it may use"),
        _processors("used", "that it was seen on"),
        _text("sockets", "sockets of those it was seen on, as 0-1,3", nullable=True),
        _text("numa", "NUMA nodes of those it was seen on", nullable=True),
        _enum("bound_to", "the smallest part that has all allowed", PARTS, nullable=True),
        order=("location",),
    ),
    "recordings": _table(
        "what recording a thread took, by the recorder's own clock, and how it was sampled",
        _LOCATION,
        _duration("calls_ns", "in recording calls: of one, times calls", nullable=True),
        _duration("reading_ns", "of that to read counters", nullable=True),
        _duration("functions_ns", "in borders of functions", nullable=True),
        _duration("thread_ns", "in its beginning and end", nullable=True),
        _duration("sampling_ns", "in samples; null: none were wanted", nullable=True),
        _id("asked_hz", "samples a second of processor time that were wanted", nullable=True),
        _amount("signals", "interruptions that came of these"),
        _amount("mpi_periods", "periods that ended in MPI, where no stack is looked at"),
        _amount("lost_periods", "periods elsewhere for which no sample stands"),
        order=("location",),
    ),
    "other_events": _table(
        "an event no other table tells, such as what a program said of itself",
        _LOCATION,
        _seq("seq", "event ordinal; of an attribute that of the event it belongs to"),
        _ns("time_ns", "when"),
        _enum("kind", "what happened", OTHER_EVENT_KINDS),
        _text("name", "of the program, parameter or attribute", nullable=True),
        _enum("type", "of the value, if it has one", VALUE_TYPES, nullable=True),
        Column("value", "int64", "value, status or number; bits of a real", nullable=True),
        _text("text", "value that is a text, or arguments of the program", nullable=True),
        _row("communicator", "communicators", nullable=True),
        order=("location", "seq"),
    ),
    "bursts": _table(
        "a computation burst: the stretch between two MPI calls of a thread",
        _LOCATION,
        _ordinal("burst", "bursts", "ordinal on its location"),
        _ns("start_ns", "when the call before it was left"),
        _ns("end_ns", "when the call after it was entered"),
        _ordinal("call_before", "calls", "the call before it", nullable=True),
        _ordinal("call_after", "calls", "the call after it", nullable=True),
        _duration(
            "polling_ns", "time in failed polls that the source did not record one by one"
        ),
        Column("polls", "int64", "number of those polls", bounds=(0, _LATEST)),
        _duration(
            "waiting_ns", "time in them and shortly between; null if unknown", nullable=True
        ),
        _duration("gap_ns", "part of it that nobody watched"),
        order=("location", "burst"),
        counters=True,
    ),
    "call_paths": _table(
        "a node of the calling-context tree; parents come before their children",
        _id("call_path", "its row", "call_paths"),
        _id("parent", "row of the caller", "call_paths", nullable=True),
        _text("function", "name of the function"),
        _text("file", "source file of the call in it", nullable=True),
        _id("line", "line of the call in it", nullable=True),
        order=("call_path",),
    ),
    "region_defs": _table(
        "what a region is",
        _id("region", "its row", "region_defs"),
        _text("name", "its name"),
        _enum("paradigm", "who runs it", PARADIGMS),
        _text("role", "parallel, loop, barrier, implicit_barrier, team, function, …"),
        _text("file", "its source file", nullable=True),
        _id("begin_line", "its first line", nullable=True),
        _id("end_line", "its last line", nullable=True),
        Column("source_type", "int64", "the source's id of its kind", nullable=True),
        Column("source_value", "int64", "the source's id of it", nullable=True),
        order=("region",),
    ),
    "counters": _table(
        "a counter; its column in `readings` and `bursts` has its name",
        _text("name", "its name"),
        _text("unit", "its unit, empty for counts"),
        _enum("mode", "deltas, or absolute values", COUNTER_MODES),
        Column("source_type", "int64", "the source's id of it"),
    ),
    "counter_sets": _table(
        "a counter of a set; sets may take turns",
        Column("counter_set", "int32", "the source's id of the set", bounds=(0, LARGEST_ID)),
        _text("counter", "a counter in it"),
        order=("counter_set",),
    ),
    "communicators": _table(
        "a communicator",
        _id("communicator", "its row", "communicators"),
        _count("application", "its application"),
        _enum("kind", "what it is", COMMUNICATOR_KINDS),
        Column("members", "list<int32>", "ranks of its members, in its order"),
        Column("ambiguous", "bool", "whether it may stand for several communicators"),
        Column("source_id", "int64", "the source's id of it"),
        order=("communicator",),
    ),
    "metadata": _table(
        "a fact about the trace: origin, resolution, clock, recorder, time origin",
        _text("key", "which"),
        _text("value", "its value"),
    ),
    "defects": _table(
        "what was odd",
        _text("kind", "which oddity"),
        _enum("severity", "info, loss (something is missing), error", SEVERITIES),
        Column("count", "int64", "how often"),
        _text("first", "where first, and what stood there"),
    ),
    "events": _table(
        "a type-value pair as recorded",
        _LOCATION,
        _seq("seq", "ordinal on its location"),
        _ns("time_ns", "when"),
        Column("type", "int64", "the source's event type"),
        Column("value", "int64", "its value"),
        order=("location", "seq"),
        raw=True,
    ),
    "states": _table(
        "a state interval as recorded",
        _LOCATION,
        _ns("begin_ns", "first moment"),
        _ns("end_ns", "first moment after it; -1 in the source: never"),
        Column("state", "int64", "the source's state"),
        order=("location", "begin_ns"),
        raw=True,
    ),
    "links": _table(
        "a communication record that is no MPI message: tasks, GPU launches and copies",
        _row("sender_location", "locations"),
        _ns("send_ns", "logical send"),
        _ns("send_leave_ns", "physical send"),
        _row("receiver_location", "locations"),
        _ns("post_ns", "logical receive"),
        _ns("receive_ns", "physical receive"),
        _bytes("size", "size"),
        Column("tag", "int64", "tag"),
        order=("sender_location",),
        raw=True,
    ),
    "event_types": _table(
        "an event type's label",
        Column("type", "int64", "the source's event type"),
        _text("label", "its label"),
        _id("gradient", "the colour column of .pcf"),
        _id("group", "types that share one value table have one group"),
        raw=True,
    ),
    "event_values": _table(
        "a value's label",
        _id("group", "the group of types it belongs to"),
        Column("value", "int64", "the value"),
        _text("label", "its label"),
        order=("group",),
        raw=True,
    ),
    "source": _table(
        "a line of the source that is no record: header, communicators, comments, labels",
        _enum("kind", "which part", SOURCE_KINDS),
        _text("text", "the line"),
        raw=True,
    ),
}

BESIDE_COUNTERS: Final = frozenset(
    column.name for table in TABLES.values() if table.counters for column in table.columns
)
"""Columns beside those of counters, in any table: no counter has their names."""

RAW_TABLES: Final = tuple(name for name, table in TABLES.items() if table.raw)
"""Tables that a reader may leave out."""
