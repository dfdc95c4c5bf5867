"""The events of a location in their order, from all tables that tell of it.

A trace keeps the ordinal of each event, and events that were recorded as one share it, as do
those whose own is not known and their call. Among events of one moment and one ordinal,
counters come first, what a call completed is before its leave, and what it started behind
its enter.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import _core
from burstline._core import Written

if TYPE_CHECKING:
    from burstline.columns import Integers, Mask


WIDTH: Final = _core.Otf2Writer.width
"""Arguments of each event."""


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


class Happened:
    """The events of one location.

    Parameters
    ----------
    start_ns : int
        The moment that is written as 0; what was before it is written as 0, too.

    Attributes
    ----------
    last_ns : int
        Time of the last event as it is written, 0 without any.
    """

    def __init__(self, start_ns: int = 0) -> None:
        self._start = start_ns
        self.last_ns = 0
        self._columns: list[tuple[Integers, ...]] = []
        self._arguments: list[Integers] = []
        self._attributes = np.empty((0, 4), np.int64)

    def add(
        self,
        kind: int | Integers,
        time: Integers,
        seq: Integers,
        turn: int | Integers,
        *arguments: int | Integers,
        tie: Integers | None = None,
    ) -> None:
        """Add events.

        Parameters
        ----------
        kind : int or ndarray
            Of :class:`burstline._core.Written`.
        time, seq : ndarray of int64, shape (n,)
            When, in ns, and the ordinal on the location.
        turn : int or ndarray
            Of :class:`Turn`.
        *arguments : int or ndarray
            Up to six, as the kernel takes them.
        tie : ndarray of int64, shape (n,), optional
            Order of events that are alike in all else.
        """
        count = len(time)
        if not count:
            return
        time = np.maximum(time - self._start, 0)
        self.last_ns = max(self.last_ns, int(time.max()))
        whole = [_filled(value, count) for value in (turn, kind)]
        tie = np.zeros(count, np.int64) if tie is None else tie
        self._columns.append((time, seq, whole[0], tie, whole[1]))
        rows = np.zeros((count, WIDTH), np.int64)
        for place, value in enumerate(arguments):
            rows[:, place] = value
        self._arguments.append(rows)

    def add_spans(
        self,
        enter: tuple[Integers, Integers],
        leave: tuple[Integers, Integers],
        region: Integers,
        team: Integers,
    ) -> None:
        """Add enters and leaves.

        Parameters
        ----------
        enter, leave : (ndarray of int64, ndarray of int64)
            Time and ordinal of both, by enter, outer spans before inner ones.
        region : ndarray of int64, shape (n,)
            The region.
        team : ndarray of int64, shape (n,)
            The communicator of a team that is begun and ended instead, -1 for a region.
        """
        order = np.arange(len(region))
        at_once = (enter[0] == leave[0]) & (enter[1] == leave[1])
        is_team = team >= 0
        what = np.where(is_team, team, region)
        begin = np.where(is_team, Written.TEAM_BEGIN, Written.ENTER)
        end = np.where(is_team, Written.TEAM_END, Written.LEAVE)
        self.add(begin, *enter, Turn.ENTER, what, tie=order)
        turn = np.where(at_once, Turn.LEAVE_AT_ONCE, Turn.LEAVE)
        self.add(end, *leave, turn, what, tie=-order)

    def add_attributes(self, attributes: Integers) -> None:
        """Add attributes of events.

        Parameters
        ----------
        attributes : ndarray of int64, shape (n, 4)
            Ordinal of the event, reference of the attribute, type and value.
        """
        self._attributes = np.concatenate([self._attributes, attributes])

    def ordered(self) -> tuple[Integers, Integers, Integers]:
        """Give all events in order.

        Returns
        -------
        kind, time : ndarray of int64, shape (events,)
            Of each event, and of each attribute, which stands before its event.
        arguments : ndarray of int64, shape (events · 6,)
            Six for each.
        """
        if not self._columns:
            nothing = np.empty(0, np.int64)
            return nothing, nothing, nothing
        columns = [np.concatenate(parts) for parts in zip(*self._columns, strict=True)]
        time, seq, turn, tie, kind = (np.asarray(column, np.int64) for column in columns)
        order = np.lexsort((tie, turn, seq, time))
        arguments = np.concatenate(self._arguments)[order]
        kind, time = kind[order], time[order]
        if len(self._attributes):
            known, before = _found(self._attributes[:, 0], seq[order], kind)
            rows = np.zeros((len(before), WIDTH), np.int64)
            rows[:, :3] = self._attributes[known, 1:]
            time = np.insert(time, before, time[before])
            kind = np.insert(kind, before, Written.ATTRIBUTE)
            arguments = np.insert(arguments, before, rows, axis=0)
        return kind, time, np.ascontiguousarray(arguments).reshape(-1)


def _found(wanted: Integers, seq: Integers, kind: Integers) -> tuple[Mask, Integers]:
    """Tell which ordinals there are, and where; a metric is read before what it is read at."""
    order = np.lexsort((np.arange(len(seq)), kind != Written.METRIC, seq))
    last = np.searchsorted(seq[order], wanted, side="right") - 1
    place = order[np.maximum(last, 0)]
    known = (last >= 0) & (seq[place] == wanted)
    return known, place[known]


def _filled(value: int | Integers, count: int) -> Integers:
    return np.full(count, value, np.int64) if isinstance(value, int) else value
