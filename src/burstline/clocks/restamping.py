"""A trace with other stamps of the same events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol

import numpy as np
import pyarrow as pa

from burstline.columns import (
    NO_VALUE,
    UNKNOWN,
    AnyIntegers,
    Integers,
    nullable,
    to_numpy,
    with_column,
)
from burstline.model import Trace, schema
from burstline.synchronisation import BEFORE, ENTER, INSIDE, LEAVE, PLACES

_PLACE_OF: Final = {"enter_ns": ENTER, "leave_ns": LEAVE, "fork_ns": BEFORE, "join_ns": LEAVE}
_SIDES: Final = ("sender_location", "receiver_location")
_CAUSES: Final = ("send_ns", "begin_ns", "fork_ns", "release_ns")
_ENDS: Final = {"end_ns": ("start_ns", "begin_ns")}


class Stamping(Protocol):
    """How events are stamped anew."""

    def __call__(
        self, location: AnyIntegers, time: Integers, place: Integers, /, *, first: bool
    ) -> Integers:
        """Stamps of events, by their places; those whose place is -1 by time."""
        ...


def restamped(trace: Trace, stamps: Stamping, names: Iterable[str] = schema.TABLES) -> Trace:
    """A trace of some tables, with other stamps of all that happens.

    `stamps(location, time_ns, place, first=…)` tells them, by the place of an event where that
    is known, else by time (place -1); of events at one of them by the `first` or the last.
    """
    tables = {
        name: _restamped_table(stamps, name, trace.table(name))
        for name in names
        if name in trace
    }
    return Trace(tables, sources=trace.sources)


def _restamped_table(stamps: Stamping, name: str, table: pa.Table) -> pa.Table:
    columns = set(table.column_names)
    for column in schema.TABLES[name].columns:
        if not column.is_moment:
            continue
        at_receiver = column.name.startswith(("post", "receive"))
        sides = _SIDES[at_receiver], "fork_location", "location"
        side = next(name for name in sides if name in columns)
        seq = "seq" if column.name == "time_ns" else column.name.replace("_ns", "_seq")
        location, time = to_numpy(table[side]), to_numpy(table[column.name])
        ordinal = to_numpy(table[seq]) if seq in columns else np.full(len(time), NO_VALUE)
        first = column.name in _CAUSES or column.name in _ENDS
        place = PLACES * ordinal
        place += _PLACE_OF.get(column.name, INSIDE)
        place[ordinal == NO_VALUE] = UNKNOWN
        moved = stamps(location, time, place, first=first)
        for begin in _ENDS.get(column.name, ()):
            if begin in columns:  # moved before it
                np.maximum(moved, to_numpy(table[begin]), out=moved, where=time >= 0)
        known = time != NO_VALUE
        values = nullable(moved, known if column.nullable else None, pa.int64())
        table = with_column(table, column.name, values)
    return table
