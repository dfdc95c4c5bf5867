"""Counters: their columns, their event types, and readings as differences.

Raw readings are absolute. A reading's value is the difference to the one before it on the
thread; the first is 0, because nobody knows what was counted before the thread was watched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import schema
from burstline.columns import lookup
from burstline.extrae import counter_types
from burstline.formats.raw.layout import Kind
from burstline.schema import arrow_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from burstline.columns import Integers, Mask
    from burstline.formats.intake import Defects
    from burstline.formats.raw.definitions import Counter, Definitions
    from burstline.formats.raw.timeline import Timeline

_FIXED: Final = {
    column.name for table in ("readings", "bursts") for column in schema.TABLES[table].columns
}


class Counters:
    """The counters of a run.

    Parameters
    ----------
    processes : iterable of Definitions
        What the processes defined.

    Attributes
    ----------
    names : list of str
        In the order of their columns.
    """

    def __init__(self, processes: Sequence[Definitions]) -> None:
        found: dict[str, Counter] = {}
        for defined in processes:
            for _, counter in sorted(defined.counters.items()):
                found.setdefault(_column(counter.name), counter)
        self.names = list(found)
        self._found = found
        self._place = {name: position for position, name in enumerate(self.names)}

    def places(self, counters: Mapping[int, Counter]) -> dict[int, int]:
        """Give the place of each counter of a process among all."""
        return {key: self._place[_column(counter.name)] for key, counter in counters.items()}

    def table(self) -> pa.Table:
        """Give the table `counters`."""
        types = counter_types(self.names)
        return arrow_table(
            "counters",
            {
                "name": self.names,
                "unit": ["ns" if counter.is_time else "" for counter in self._found.values()],
                "mode": np.zeros(len(self.names), np.int8),
                "source_type": np.array([types[name] for name in self.names], np.int64),
            },
        )

    def sets(self) -> pa.Table:
        """Give the table `counter_sets`: a run has one."""
        return arrow_table(
            "counter_sets",
            {"counter_set": np.ones(len(self.names), np.int32), "counter": self.names},
        )


class Readings:
    """The readings of some locations.

    Parameters
    ----------
    counters : Counters
        Those of the run.
    odd : Defects
        Told of counters that run backwards.
    """

    def __init__(self, counters: Counters, odd: Defects) -> None:
        self._names, self._odd = counters.names, odd
        self._readings: list[Integers] = []

    def add(self, line: Timeline, places: Mapping[int, int]) -> None:
        """Take in the readings of a location; counters of its process are given places."""
        at = line.of(Kind.COUNTERS)
        at = at[line.seq[at] >= 0]
        number = line.records["a"][at].astype(np.int64)
        numbers = np.stack([number, number + 1], axis=1).ravel()
        column = lookup(numbers, places)
        value = np.stack([line.records["b"][at], line.records["c"][at]], axis=1).ravel()
        kept = column >= 0
        where = np.repeat(at, 2)[kept]
        events, row = np.unique(line.seq[where], return_inverse=True)
        table = np.full((len(self._names) + 3, len(events)), schema.NO_VALUE)
        table[0], table[1] = line.location, events
        table[2][row] = line.time_ns[where]
        readings = np.zeros((len(self._names), len(events)), np.int64)
        known = np.zeros((len(self._names), len(events)), bool)
        readings[column[kept], row] = value[kept].view(np.int64)
        known[column[kept], row] = True
        for position, name in enumerate(self._names):
            self._differ(line, name, readings[position], known[position], table[3 + position])
        self._readings.append(table)

    def _differ(
        self,
        line: Timeline,
        name: str,
        reading: Integers,
        known: Mask,
        target: Integers,
    ) -> None:
        at = np.flatnonzero(known)
        if not len(at):
            return
        step = np.diff(reading[at], prepend=reading[at[:1]])
        back = step < 0
        if back.any():
            text = f"{line.name}: {name}, reading {int(back.argmax())}"
            self._odd.note("counter_runs_backwards", "loss", text, np.count_nonzero(back))
        target[at] = np.where(back, schema.NO_VALUE, step)

    def table(self) -> pa.Table:
        """Give the table `readings`."""
        empty = np.zeros((len(self._names) + 3, 0), np.int64)
        columns = np.concatenate([empty, *self._readings], axis=1)
        fixed = ("location", "seq", "time_ns")
        return arrow_table(
            "readings",
            dict(zip([*fixed, *self._names], columns, strict=True)),
            counters=self._names,
        )


def _column(name: str) -> str:
    return f"{name}_counter" if name in _FIXED else name
