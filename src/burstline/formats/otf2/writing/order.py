"""The events of a location by time and ordinal, from all tables that hold some of them.

Events that were recorded as one share both, as do an event without an ordinal and its call.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Final

import numpy as np
import pyarrow as pa

from burstline import _core
from burstline._core import Written
from burstline.columns import NO_VALUE, Columns, Integers, Mask, to_numpy

Moment = tuple[Integers, Integers]
"""Times in ns, and ordinals on the location."""


WIDTH: Final = _core.Otf2Writer.width
"""Arguments of each event."""

_KEYS: Final = 5
_EVERY: Final = slice(None)


class Turn(IntEnum):
    """Order of events that share a moment and an ordinal."""

    METRIC = 0
    COMPLETION = 1
    LEAVE = 2
    JOIN = 3
    FORK = 4
    ENTER = 5
    START = 6
    FOLLOWUP = 7
    LEAVE_AT_ONCE = 8


class OrderedEvents:
    """The events of one location; times before `start_ns` are written as 0, like it."""

    def __init__(self, start_ns: int = 0) -> None:
        self._start = start_ns
        self.last_ns = 0  # time of the last event as it is written
        self._rows = [np.empty((_KEYS + WIDTH, 0), np.int64)]
        self._attributes = [np.empty((0, 4), np.int64)]
        self._values: list[Integers] = [np.empty(0, np.int64)]

    def add(
        self,
        kind: int | Integers,
        turn: int | Integers,
        moment: Moment,
        *arguments: int | Integers,
        where: Mask | None = None,
        tie: int | Integers = 0,
    ) -> None:
        """Add events, of a mask or all, with up to six arguments; `tie` orders equal ones."""
        chosen = _EVERY if where is None else np.flatnonzero(where)
        time = np.maximum(moment[0][chosen] - self._start, 0)
        if not len(time):
            return
        self.last_ns = max(self.last_ns, int(time.max()))
        # Keys of an event, the last first, then its kind and arguments.
        row = (tie, turn, moment[1], 0, kind, *arguments)
        rows = np.zeros((_KEYS + WIDTH, len(time)), np.int64)
        for place, value in enumerate(row):
            rows[place] = value[chosen] if isinstance(value, np.ndarray) else value
        rows[3] = time
        self._rows.append(rows)

    def add_spans(self, enter: Moment, leave: Moment, region: Integers, team: Integers) -> None:
        """Add enters and leaves of spans in order; those with a `team` begin and end this."""
        order = np.arange(len(region))
        at_once = (enter[0] == leave[0]) & (enter[1] == leave[1])
        is_team = team >= 0
        reference = np.where(is_team, team, region)
        begin = np.where(is_team, Written.TEAM_BEGIN, Written.ENTER)
        end = np.where(is_team, Written.TEAM_END, Written.LEAVE)
        self.add(begin, Turn.ENTER, enter, reference, tie=order)
        turn = np.where(at_once, Turn.LEAVE_AT_ONCE, Turn.LEAVE)
        self.add(end, turn, leave, reference, tie=-order)

    def add_attributes(self, *columns: Integers) -> None:
        """Add attributes: ordinal of the event, reference of the attribute, type and value."""
        self._attributes.append(np.stack(columns, axis=1))

    def add_values(self, values: Iterable[int]) -> int:
        """Add values that events refer to; return the place of the first of them."""
        first = sum(len(part) for part in self._values)
        self._values.append(np.asarray(values, np.int64))
        return first

    @property
    def values(self) -> Integers:
        """The values that events refer to."""
        return np.concatenate(self._values)

    def ordered(self) -> tuple[Integers, Integers, Integers]:
        """Kind and time of each event in order, and the six arguments of each in one column."""
        rows = np.concatenate(self._rows, axis=1)
        rows = rows.take(np.lexsort(rows[:4]), axis=1)
        seq, time, kind = rows[2:_KEYS]
        arguments = rows[_KEYS:].T
        attributes = np.concatenate(self._attributes)
        if len(attributes) and len(seq):
            # An attribute stands before its event.
            has_event, before = _places_of(attributes[:, 0], seq, kind)
            inserted = np.zeros((len(before), WIDTH), np.int64)
            inserted[:, :3] = attributes[has_event, 1:]
            time = np.insert(time, before, time[before])
            kind = np.insert(kind, before, Written.ATTRIBUTE)
            arguments = np.insert(arguments, before, inserted, axis=0)
        return kind, time, np.ascontiguousarray(arguments).reshape(-1)


def _places_of(wanted: Integers, seq: Integers, kind: Integers) -> tuple[Mask, Integers]:
    """Which of the wanted ordinals have an event, and its place; of several, not a metric."""
    order = np.lexsort((np.arange(len(seq)), kind != Written.METRIC, seq))
    last = np.searchsorted(seq[order], wanted, side="right") - 1
    place = order[np.maximum(last, 0)]
    has_event = (last >= 0) & (seq[place] == wanted)
    return has_event, place[has_event]


class RowsByLocation:
    """The rows of each location, in columns that are not sorted by their ``location``."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._order = np.argsort(columns["location"], kind="stable")
        self._location = columns["location"][self._order]

    def of(self, location: int) -> Columns:
        """The rows of a location."""
        rows = self._order[slice(*np.searchsorted(self._location, [location, location + 1]))]
        return {name: column[rows] for name, column in self._columns.items()}


class EventMoments:
    """The moment of an event of each row, by its ordinal or else its call's, in this call."""

    def __init__(self, rows: Columns, event: str, calls: Columns) -> None:
        seq, call, time = (rows[f"{event}_{column}"] for column in ("seq", "call", "ns"))
        inside = (call >= 0) & (call < len(calls["enter_seq"]))
        row = np.where(inside, call, 0)
        enter, first, last = (
            np.append(calls[name], 0)[row] for name in ("enter_seq", "enter_ns", "leave_ns")
        )
        has_seq = seq != NO_VALUE
        self.has_moment = has_seq | inside
        seq = np.where(has_seq, seq, enter)
        time = np.where(inside, np.clip(time, first, np.maximum(first, last)), time)
        self.moment = time, seq
        self._is_enter = inside & (seq == enter)

    def turn(self, usual: Turn, at_enter: Turn) -> Integers:
        """The turn of each event: `at_enter` where its ordinal is that of its call's enter."""
        return np.where(self._is_enter, int(at_enter), int(usual))


def columns_of(rows: pa.Table, names: Iterable[str] | None = None) -> Columns:
    """Columns of a table, or all, as 64-bit integers; codes of words, NO_VALUE where null."""
    names = rows.column_names if names is None else names
    return {name: to_numpy(rows[name]).astype(np.int64) for name in names}
