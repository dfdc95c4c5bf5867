"""Which statement sets which columns of the schema, and how a value of a column is a word.

::

    Statement ─ Form.read ─► values by column ─ Form.write ─► words

A column is an option of the statement of its table unless it follows from the rest of the
text. Its name, or a short one, is the option's; its type says how a value is read. A table
without a statement is told by ``row TABLE [COLUMN VALUE]…``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from burstline.formats.intake import RECEIVE_COLUMNS, SEND_COLUMNS
from burstline.formats.text.statements import (
    LARGEST,
    LARGEST_ID,
    NOTHING,
    SMALLEST,
    written,
)
from burstline.schema import TABLES, Column

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from burstline.formats.text.statements import Statement

Row: TypeAlias = "dict[str, Any]"
"""A row of a table, by column."""

FOLLOWS: Final[dict[str, dict[str, str]]] = {
    "locations": {"the place that is declared": "location application process rank thread"},
    "calls": {
        "where and when its statements are": "location call enter_ns leave_ns enter_seq "
        "leave_seq",
    },
    "messages": {
        "where and when its statements are": "sender_location send_ns send_seq send_leave_ns "
        "send_done_ns send_done_seq receiver_location post_ns post_seq receive_ns receive_seq",
        "the call around the statement": "send_call send_done_call post_call receive_call",
        "whether a statement says that it was sent": "send_done_from",
    },
    "half_messages": {
        "where and when its statement is": "location seq time_ns",
        "the call around the statement": "call",
    },
    "collectives": {
        "the call around the statement": "operation",
        "the order of statements on a communicator": "sequence",
        "who takes part": "complete",
    },
    "collective_members": {
        "where and when its statements are": "location begin_ns end_ns begin_seq end_seq",
        "the call around the statement": "call done_call",
        "the order of statements on a communicator": "collective",
        "the members of the communicator": "comm_rank",
    },
    "regions": {
        "where and when its statements are": "location row enter_ns leave_ns enter_seq "
        "leave_seq parent team barrier_ordinal",
    },
    "teams": {
        "where and when its statements are": "team process parent fork_location fork_ns "
        "fork_seq join_ns join_seq",
    },
    "locks": {
        "where and when its statements are": "location acquire_ns acquire_seq release_ns "
        "release_seq",
    },
    "readings": {"where and when its statement is": "location seq time_ns"},
    "gaps": {"where its statement is, and its times": "location start_ns end_ns"},
    "other_events": {"where and when its statement is": "location seq time_ns"},
    "region_defs": {"the order of statements": "region"},
}
"""Columns that no option sets, by table, and by what says them instead."""

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
    if table.order == (table.columns[0].name,)
}
"""Tables by the column that names a row of theirs, in them and in others."""

_USUAL: Final[dict[str, object]] = {"string": "", "bool": False, "list<int32>": []}


class Form:
    """A statement: some columns without a name, then options, of one or more tables.

    `usual` are values that an option has unless it is given; a column that may be null has
    none, any other the least of its type.
    """

    __slots__ = ("_first", "_options", "usual")

    def __init__(
        self,
        *tables: str,
        first: Iterable[str] = (),
        only: Iterable[str] | None = None,
        extra: Iterable[Column] = (),
        short: Mapping[str, str] = SHORT,
        **usual: object,
    ) -> None:
        columns = {
            c.name: replace(c, nullable=False) if (name, c.name) in NEVER_NULL else c
            for name in tables
            for c in TABLES[name].columns
        }
        self._first = [columns.pop(name) for name in first]
        silent = {
            column
            for name in tables
            for names in FOLLOWS.get(name, {}).values()
            for column in names.split()
        }
        chosen = [c for c in columns.values() if only is None or c.name in only]
        options = [*extra, *(column for column in chosen if column.name not in silent)]
        self._options = {short.get(column.name, column.name): column for column in options}
        self.usual = {column.name: _usual(column) for column in options} | usual

    def read(self, statement: Statement) -> Row:
        """The values that the remaining words of a statement give, by column."""
        row = {column.name: value_of(column, statement) for column in self._first}
        options = self._options
        given = set()
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
        return self.usual | usual | self.read(statement) | {"statement": statement}

    def write(self, head: str, row: Row, **usual: object) -> str:
        """The statement of a row; options that have their usual value are left out."""
        words = [head, *(written(row[column.name]) for column in self._first)]
        for name, column in self._options.items():
            value = row[column.name]
            if value != usual.get(column.name, self.usual[column.name]):
                words.append(f"{name} {written(value)}".rstrip())
        return " ".join(words)


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
    return statement.integer(word, lowest, LARGEST if column.type == "int64" else LARGEST_ID)


def _usual(column: Column) -> object:
    if column.nullable:
        return None
    return column.values[0] if column.type == "enum" else _USUAL.get(column.type, 0)


LOCATION: Final = Form("locations")
CALL: Final = Form("calls", first=["operation"])
REGION: Final = Form("regions")
FORK: Final = Form("teams", first=["threads"])
ACQUIRE: Final = Form("locks", first=["lock"])
SEND: Final = Form(
    "messages",
    only=SEND_COLUMNS,
    extra=[Column("to", "int32", "rank of the receiver", nullable=True)],
    short=SHORT | {"sent_bytes": "bytes"},
)
RECEIVE: Final = Form(
    "messages",
    only=RECEIVE_COLUMNS,
    extra=[Column("from", "int32", "rank of the sender", nullable=True)],
    short=SHORT | {"received_bytes": "bytes"},
)
_REQUEST: Final = Column("request", "int64", "what its end is known by", nullable=True)
BEGIN: Final = Form(extra=[_REQUEST])
END: Final = Form("collectives", "collective_members", extra=[_REQUEST])
HALF: Final = Form("half_messages", first=["kind"])
TELL: Final = Form("other_events", first=["kind"])
GAP: Final = Form("gaps", first=["kind"])

DECLARATIONS: Final = {
    "communicator": "communicators",
    "counter": "counters",
    "set": "counter_sets",
    "path": "call_paths",
    "region": "region_defs",
    "meta": "metadata",
    "defect": "defects",
}
"""Tables by the statement that declares a row of theirs."""

DECLARED: Final = {
    "communicators": Form("communicators", first=["communicator"], kind="group"),
    "counters": Form("counters", first=["name"]),
    "counter_sets": Form("counter_sets", first=["counter_set", "counter"]),
    "call_paths": Form("call_paths", first=["call_path", "function"]),
    "region_defs": Form("region_defs", first=["name"], role="function"),
    "metadata": Form("metadata", first=["key", "value"]),
    "defects": Form("defects", first=["kind", "severity", "count", "first"]),
}
ROWS: Final = {
    name: Form(name)
    for name, table in TABLES.items()
    if name not in FOLLOWS and name not in DECLARED and not table.raw
}
"""Tables without a statement."""

ATTRIBUTE: Final = "attribute"
"""The kind of other events that belong to the event that follows."""

WORLD: Final = -1
"""The communicator of a message or an instance that names none: that of all ranks."""
