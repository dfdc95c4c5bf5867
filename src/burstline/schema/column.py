"""Columns and tables of a schema, and the values of its enumerations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LOCATION_KINDS: Final = ("cpu", "gpu_stream", "metric", "other")
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
    # int16 int32 int64 bool string list<int32>, operation (a dictionary of MPI names) or enum
    type: str
    doc: str
    unit: str = ""  # empty for ids and counts
    nullable: bool = False  # a null means "not known"
    values: tuple[str, ...] = ()  # of an enum, in the order of their codes


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


def id_column(name: str, doc: str, *, nullable: bool = False) -> Column:
    """A column of ids: int32."""
    return Column(name, "int32", doc, nullable=nullable)


def ns_column(name: str, doc: str, *, nullable: bool = False) -> Column:
    """A column of times in nanoseconds: int64."""
    return Column(name, "int64", doc, "ns", nullable)


def seq_column(name: str, doc: str, *, nullable: bool = False) -> Column:
    """A column of event ordinals: int64."""
    return Column(name, "int64", doc, nullable=nullable)


def bytes_column(name: str, doc: str, *, nullable: bool = False) -> Column:
    """A column of sizes in bytes: int64."""
    return Column(name, "int64", doc, "bytes", nullable)


def enum_column(
    name: str, doc: str, values: tuple[str, ...], *, nullable: bool = False
) -> Column:
    """A column with one of a few values: a dictionary."""
    return Column(name, "enum", doc, nullable=nullable, values=values)


def text_column(name: str, doc: str, *, nullable: bool = False) -> Column:
    """A column of text."""
    return Column(name, "string", doc, nullable=nullable)
