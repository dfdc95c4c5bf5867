"""The text form's events: what happens on one location, from statements to rows.

::

    Statement ─ take ─► calls · regions · halves of messages · parts of collectives · …

Each statement that is an event takes the next ordinal of its location, its ``seq``.
Halves are joined later, when all locations are known.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from burstline import schema
from burstline.formats.text import halves, nesting
from burstline.formats.text.statements import LARGEST, SMALLEST, signed, small, text

if TYPE_CHECKING:
    from collections.abc import Callable

    from burstline.formats.text.definitions import Row
    from burstline.formats.text.happening import Happening
    from burstline.formats.text.statements import Statement

_SPAN = re.compile(r"([+-]?[0-9_]+)\.\.([+-]?[0-9_]+)")
_LAST_SEQ: Final = 1 << 62

ATTRIBUTE: Final = "attribute"
"""The kind of other events that belong to the event that follows."""

TOLD_COLUMNS: Final = {
    "name": "name",
    "type": "type",
    "value": "value",
    "text": "text",
    "comm": "communicator",
}
"""Columns of `other_events` by the name of the option that sets them."""


def _gap(here: Happening, statement: Statement, start: str, end: str) -> None:
    start_ns = statement.integer(start, SMALLEST + 1, LARGEST)
    statement.keyword("gap")
    row: Row = {"location": here.location, "start_ns": start_ns}
    row["end_ns"] = statement.integer(end, start_ns, LARGEST)
    row["kind"] = statement.one_of("a kind", schema.GAP_KINDS)
    statement.end()
    here.rows.gaps.append(row)


def _read(here: Happening, statement: Statement) -> None:
    if not statement.readings:
        return
    unknown = statement.readings.keys() - set(here.defined.counter_names)
    if unknown:
        raise statement.error("a counter declared before", min(unknown))
    row = {"location": here.location, "seq": here.seq, "time_ns": here.now_ns}
    here.rows.readings.append(row | statement.readings)


def read(here: Happening, statement: Statement) -> None:
    """``read COUNTER=N …``: a reading that belongs to no other event."""
    statement.end()
    if not statement.readings:
        raise statement.error("counters that were read", f"read at {here.now_ns}")


def tell(here: Happening, statement: Statement) -> None:
    """``tell KIND [name N] [type T] [value V] [text S] [comm C]``.

    An attribute belongs to the event that follows, and takes its ordinal.
    """
    row: Row = {"location": here.location, "seq": here.seq, "time_ns": here.now_ns}
    row["kind"] = statement.one_of("a kind", schema.OTHER_EVENT_KINDS)
    given = statement.options(_TOLD)
    row |= {column: given.get(name) for name, column in TOLD_COLUMNS.items()}
    here.rows.others.append(row | {"statement": statement})
    if row["kind"] == ATTRIBUTE:
        if statement.readings:
            raise statement.error("counters at the event that the attribute belongs to")
        here.seq -= 1


def _value_type(statement: Statement) -> str:
    return statement.one_of("a type", schema.VALUE_TYPES)


def take(here: Happening, statement: Statement) -> None:
    """Take in one statement."""
    first = statement.word("a time")
    span = _SPAN.fullmatch(first)
    if first == "skip":
        here.seq += statement.number("a number of events", 1, _LAST_SEQ - here.seq)
        statement.end()
        return
    if span:
        _gap(here, statement, span[1], span[2])
        return
    here.now_ns = statement.integer(first, max(here.now_ns, SMALLEST + 1), LARGEST)
    verb = statement.word("an event")
    if verb not in _EVENTS:
        raise statement.error(f"one of {', '.join(_EVENTS)}", verb)
    _read(here, statement)
    _EVENTS[verb](here, statement)
    here.first_ns = here.now_ns if here.first_ns is None else here.first_ns
    here.seq += 1


def finish(here: Happening) -> None:
    """Check that what was begun has ended."""
    for begun in here.open:
        raise begun.statement.error(f"a leave of {begun.name} later on")
    for _, statement in here.forks:
        raise statement.error("a join later on")
    for _, statement in [*here.taking_part.values(), *([here.part] if here.part else [])]:
        raise statement.error("an end of this collective later on")
    here.rows.never_received += here.posted.values()


_TOLD: Final[dict[str, Callable[[Statement], int | str]]] = {
    "name": text,
    "type": _value_type,
    "value": signed,
    "text": text,
    "comm": small,
}
_EVENTS: Final[dict[str, Callable[[Happening, Statement], None]]] = {
    **nesting.EVENTS,
    **halves.EVENTS,
    "read": read,
    "tell": tell,
}
