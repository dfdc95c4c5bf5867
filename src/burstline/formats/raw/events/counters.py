"""Counters: their columns, their event types, and readings as differences.

Raw readings are absolute. A reading's value is the difference to the one before it on the
thread; the first is 0, because nobody knows what was counted before the thread was watched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from burstline.columns import Integers, Mask, begins_run, lookup
from burstline.extrae import counter_types
from burstline.formats.intake import Defects
from burstline.formats.raw.events.timeline import ThreadTimeline
from burstline.formats.raw.files.layout import Kind
from burstline.formats.raw.processes.processes import Counter, ProcessDefinitions
from burstline.model import arrow_table, row_table, schema


class Counters:
    """The counters of a run; `names` are in the order of their columns."""

    def __init__(self, processes: Sequence[ProcessDefinitions]) -> None:
        by_name: dict[str, Counter] = {}
        for defined in processes:
            for _, counter in sorted(defined.counters.items()):
                by_name.setdefault(_column_name(counter.name), counter)
        self.names = list(by_name)
        self._by_name = by_name

    def places(self, counters: Mapping[int, Counter]) -> dict[int, int]:
        """The place of each counter of a process among all."""
        place = {name: position for position, name in enumerate(self.names)}
        return {key: place[_column_name(counter.name)] for key, counter in counters.items()}

    def table(self) -> pa.Table:
        """The table `counters`."""
        types = counter_types(self.names)
        rows = (
            (name, "ns" if counter.is_time else "", schema.COUNTER_MODES[0], types[name])
            for name, counter in self._by_name.items()
        )
        return row_table("counters", rows)

    def sets(self) -> pa.Table:
        """The table `counter_sets`: a run has one."""
        return row_table("counter_sets", [(1, name) for name in self.names])


class LastRead(NamedTuple):
    """What was read of a counter before a cut: its last value, and how often."""

    value: int
    times: int


class Backwards(NamedTuple):
    """A counter that runs backwards: its place, at which of its readings first, how often."""

    place: int
    reading: int
    times: int


class CounterReadings:
    """The readings of some locations."""

    def __init__(self, counters: Counters, defects: Defects) -> None:
        self._names, self._defects = counters.names, defects
        self._readings: list[Integers] = []
        self.backwards: list[Backwards] = []

    def add(
        self,
        line: ThreadTimeline,
        places: Mapping[int, int],
        before: Mapping[int, LastRead] | None = None,
    ) -> None:
        """Take in the readings of a location; counters of its process are given places."""
        where, column, value = _reading_values(line, places)
        events, row = np.unique(line.seq[where], return_inverse=True)
        table = np.full((len(self._names) + 3, len(events)), schema.NO_VALUE)
        table[0], table[1] = line.location, events
        table[2][row] = line.time_ns[where]
        readings = np.zeros((len(self._names), len(events)), np.int64)
        known = np.zeros((len(self._names), len(events)), bool)
        readings[column, row] = value
        known[column, row] = True
        backwards = []
        for place in range(len(self._names)):
            last = None if before is None else before.get(place)
            backwards += _set_differences(
                place, readings[place], known[place], table[3 + place], last
            )
        if before is None:
            note_backwards(backwards, self._names, line.name, self._defects)
        else:  # of a slice: noted when the whole location has been read
            self.backwards += backwards
        self._readings.append(table)

    def columns(self) -> Integers:
        """Location, event, time and the step of each counter: a row each."""
        empty = np.zeros((len(self._names) + 3, 0), np.int64)
        return np.concatenate([empty, *self._readings], axis=1)

    def table(self) -> pa.Table:
        """The table `readings`."""
        columns = self.columns()
        fixed = ("location", "seq", "time_ns")
        return arrow_table(
            "readings",
            dict(zip([*fixed, *self._names], columns, strict=True)),
            counters=self._names,
        )


def last_known(
    line: ThreadTimeline, places: Mapping[int, int], before: Mapping[int, LastRead]
) -> dict[int, LastRead]:
    """What is known of each counter behind some records, of what was known before them."""
    where, column, value = _reading_values(line, places)
    readings = dict(before)
    for place in set(places.values()):
        rows = np.flatnonzero(column == place)
        if len(rows):
            times = int(np.count_nonzero(begins_run(line.seq[where[rows]])))
            times += before[place].times if place in before else 0
            readings[place] = LastRead(int(value[rows[-1]]), times)
    return readings


def note_backwards(
    backwards: Iterable[Backwards], names: Sequence[str], file: str, defects: Defects
) -> None:
    """Note counters of a location that run backwards, the first one first."""
    for place, reading, times in sorted(backwards):
        text = f"{file}: {names[place]}, reading {reading}"
        defects.note("counter_runs_backwards", "loss", text, times)


def _reading_values(
    line: ThreadTimeline, places: Mapping[int, int]
) -> tuple[Integers, Integers, Integers]:
    """The record, the counter's place and the value of each reading."""
    rows = line.of(Kind.COUNTERS)
    rows = rows[line.seq[rows] >= 0]
    number = line.records["a"][rows].astype(np.int64)
    column = lookup(np.stack([number, number + 1], axis=1).ravel(), places)
    value = np.stack([line.records["b"][rows], line.records["c"][rows]], axis=1).ravel()
    valid = column >= 0
    return (
        np.repeat(rows, 2)[valid],
        column[valid].astype(np.int64),
        value[valid].view(np.int64),
    )


def _set_differences(
    place: int, reading: Integers, known: Mask, target: Integers, last: LastRead | None
) -> list[Backwards]:
    """Set the steps of a counter, and say whether it runs backwards."""
    rows = np.flatnonzero(known)
    if not len(rows):
        return []
    first, times = (reading[rows[0]], 0) if last is None else last
    step = np.diff(reading[rows], prepend=np.int64(first))
    back = step < 0
    target[rows] = np.where(back, schema.NO_VALUE, step)
    if not back.any():
        return []
    return [Backwards(place, times + int(back.argmax()), int(np.count_nonzero(back)))]


def _column_name(name: str) -> str:
    return f"{name}_counter" if name in schema.BESIDE_COUNTERS else name
