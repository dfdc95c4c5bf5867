"""Which statement sets which columns of the schema, and how a value of a column is a word.

A column is an option of the statement of its table unless it follows from the rest of the
text. Its name, or a short one, is the option's; its type says how a value is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeAlias

from burstline.formats.intake import RECEIVE_COLUMNS, SEND_COLUMNS
from burstline.formats.text.statements import (
    LARGEST,
    LARGEST_ID,
    NOTHING,
    SMALLEST,
    Statement,
)
from burstline.model import TABLES, Column

Row: TypeAlias = "dict[str, Any]"
"""A row of a table, by column."""

_LARGEST_SIZE: Final = 1 << 56
"""Bytes of a call: more than any memory has, and a hundred of them can be added up."""
_PLACES: Final = ("location", "call", "seq", "_ns")
_FOLLOWS: Final = {
    "calls": "",
    "messages": "send_done_from",
    "half_messages": "",
    "collectives": "operation sequence complete",
    "collective_members": "collective comm_rank",
    "regions": "row parent team barrier_ordinal",
    "teams": "process team parent",
    "locks": "",
    "readings": "",
    "gaps": "",
    "samples": "",
    "other_events": "",
}
FOLLOWS: Final = {
    "locations": {"location", "application", "process", "rank", "thread"},
    "region_defs": {"region"},
} | {
    name: {column.name for column in TABLES[name].columns if column.name.endswith(_PLACES)}
    | set(others.split())
    for name, others in _FOLLOWS.items()
}
"""Columns that no option sets, by table: where and when its statements are, the call around
them, numbers, and what follows from the events around."""

NEVER_NULL: Final = {("collectives", "communicator"): "instances count on communicators"}
"""Columns that a text knows of each row, though the schema lets them be null, and why."""

SHORT: Final = {
    "begin_line": "begin",
    "born_ns": "born",
    "call_path": "path",
    "communicator": "comm",
    "died_ns": "died",
    "end_line": "end",
    "parent": "under",
    "receive_request": "request",
    "received_bytes": "received",
    "region": "def",
    "send_request": "request",
    "sent_bytes": "sent",
    "source_id": "id",
    "source_type": "type",
    "source_value": "value",
}
"""Options that have another name than their column."""

REFERENCES: Final = {
    table.columns[0].name: name
    for name, table in TABLES.items()
    if table.order == (table.columns[0].name,) and table.columns[0].refers in {"", name}
}
"""Tables by the column that names a row of theirs, in them and in others."""

_USUAL: Final[dict[str, object]] = {"string": "", "bool": False, "list<int32>": []}


class Form:
    """A statement: the columns `first` without names, then options, of some tables.

    `only` some columns, but `extra` ones of no table, are options; some may have another
    `short` name. `usual` are the values of options that are not given: None of a column that
    may be null or is extra, of any other the least of its type.
    """

    __slots__ = ("first", "options", "tables", "usual")

    def __init__(
        self,
        *tables: str,
        first: Sequence[str] = (),
        only: Sequence[str] | None = None,
        extra: Sequence[Column] = (),
        short: Mapping[str, str] = SHORT,
        **usual: object,
    ) -> None:
        columns = {column.name: column for column in extra}
        for table in tables:
            silent = FOLLOWS.get(table, set())
            for column in TABLES[table].columns:
                if column.name not in silent and (only is None or column.name in only):
                    never_null = (table, column.name) in NEVER_NULL
                    columns[column.name] = (
                        replace(column, nullable=False) if never_null else column
                    )
        self.tables = tables
        self.first = [columns.pop(name) for name in first]
        self.options = {short.get(name, name): column for name, column in columns.items()}
        self.usual: Row = {n: _usual_value(column) for n, column in columns.items()}
        self.usual |= {column.name: None for column in extra} | usual

    def read(self, statement: Statement) -> Row:
        """The values that the remaining words of a statement give, by column."""
        row = {column.name: value_of(column, statement) for column in self.first}
        options, given = self.options, set()
        while statement.rest:
            name = statement.word("a name")
            if name not in options or name in given:
                some = ", ".join(options)
                expected = f"each of {some} at most once" if options else "nothing more"
                raise statement.error(expected, name)
            given.add(name)
            row[options[name].name] = value_of(options[name], statement)
        return row

    def whole(self, statement: Statement, **usual: object) -> Row:
        """What :meth:`read` says, with `usual` and then its own values for the rest."""
        return {**self.usual, **usual, **self.read(statement), "statement": statement}


def value_of(column: Column, statement: Statement) -> Any:  # noqa: ANN401 -- of its type
    """The value of a column that the next words of a statement are."""
    if column.type == "list<int32>":
        return statement.numbers()
    if column.type in {"string", "operation"}:
        return statement.word("a name")
    what = "a number, or - for none" if column.nullable else "a number"
    if column.type in {"enum", "bool"}:
        what = f"{'an' if column.name[0] in 'aeiou' else 'a'} {column.name}"
    word = statement.word(what)
    if column.nullable and word == NOTHING:
        return None
    if column.type == "enum":
        return statement.choice(what, word, column.values)
    if column.type == "bool":
        return statement.choice("yes or no", word, ("yes", "no")) == "yes"
    lowest = SMALLEST + 1 if column.type == "int64" and column.unit != "bytes" else 0
    highest = _LARGEST_SIZE if column.unit == "bytes" else LARGEST
    bounds = lowest, highest if column.type == "int64" else LARGEST_ID
    return statement.integer(word, *(column.bounds or bounds))


def _usual_value(column: Column) -> object:
    if column.nullable:
        return None
    return column.values[0] if column.type == "enum" else _USUAL.get(column.type, 0)


_TO, _FROM, _REQUEST = (
    Column(name, kind, "of the statement")
    for name, kind in (("to", "int32"), ("from", "int32"), ("request", "int64"))
)
FORMS: Final = {
    "location": Form("locations"),
    "communicator": Form("communicators", first=["communicator"], kind="group"),
    "counter": Form("counters", first=["name"]),
    "set": Form("counter_sets", first=["counter_set", "counter"]),
    "path": Form("call_paths", first=["call_path", "function"]),
    "region": Form("region_defs", first=["name"], role="function"),
    "meta": Form("metadata", first=["key", "value"]),
    "defect": Form("defects", first=["kind", "severity", "count", "first"]),
    "call": Form("calls", first=["operation"]),
    "enter": Form("regions"),
    "fork": Form("teams", first=["threads"]),
    "acquire": Form("locks", first=["lock"]),
    "send": Form(
        "messages", only=SEND_COLUMNS, extra=[_TO], short=SHORT | {"sent_bytes": "bytes"}
    ),
    "receive": Form(
        "messages",
        only=RECEIVE_COLUMNS,
        extra=[_FROM],
        short=SHORT | {"received_bytes": "bytes"},
    ),
    "begin": Form(extra=[_REQUEST]),
    "end": Form("collectives", "collective_members", extra=[_REQUEST]),
    "half": Form("half_messages", first=["kind"]),
    "tell": Form("other_events", first=["kind"]),
    "gap": Form("gaps", first=["kind"]),
    "sample": Form("samples", periods=1),
}
"""Forms of statements by their word; ``call`` is that of ``enter MPI_…``."""


class Moment(NamedTuple):
    """The columns that say where and when an event is, and in which call."""

    time_ns: str
    seq: str
    where: str
    call: str  # "" where no column tells


def _moment_of(when: str, where: str = "location", call: str = "") -> Moment:
    return Moment(f"{when}_ns", "seq" if when == "time" else f"{when}_seq", where, call)


MOMENTS: Final = {
    "fork": _moment_of("fork", "fork_location"),
    "read": _moment_of("time"),
    "enter": _moment_of("enter"),
    "acquire": _moment_of("acquire"),
    "send": _moment_of("send", "sender_location", "send_call"),
    "post": _moment_of("post", "receiver_location", "post_call"),
    "begin": _moment_of("begin", call="call"),
    "half": _moment_of("time", call="call"),
    "sent": _moment_of("send_done", "sender_location", "send_done_call"),
    "receive": _moment_of("receive", "receiver_location", "receive_call"),
    "end": _moment_of("end", call="done_call"),
    "release": _moment_of("release"),
    "tell": _moment_of("time"),
    "leave": _moment_of("leave"),
    "join": _moment_of("join", "fork_location"),
}
"""Of each event, by its word."""

DECLARATIONS: Final = ("communicator", "counter", "set", "path", "region", "meta", "defect")
"""Statements that declare a row of a table, in the order in which they are written."""

_TOLD: Final = {*FOLLOWS, *(table for form in FORMS.values() for table in form.tables)}
ROWS: Final = {
    name: Form(name) for name, table in TABLES.items() if not table.raw and name not in _TOLD
}
"""Forms of tables without a statement, by table."""

ATTRIBUTE: Final = "attribute"
"""The kind of other events that belong to the event that follows."""

WORLD: Final = -1
"""The communicator of a message or an instance that names none: that of all ranks."""
