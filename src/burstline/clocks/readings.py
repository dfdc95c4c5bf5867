"""The readings of a clock: the events of each location, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from burstline.columns import (
    NO_VALUE,
    UNKNOWN,
    AnyIntegers,
    Integers,
    Mask,
    begins_run,
    prefix_sums,
    slices,
    take,
)
from burstline.model import NEVER_LEFT, OTHER_EVENT_KINDS, Trace, last_until
from burstline.synchronisation import PLACES

_EVENTS: Final = (
    ("calls", "location", ("enter", "leave")),
    ("regions", "location", ("enter", "leave")),
    ("messages", "sender_location", ("send", "send_done")),
    ("messages", "receiver_location", ("post", "receive")),
    ("collective_members", "location", ("begin", "end")),
    ("locks", "location", ("acquire", "release")),
    ("teams", "fork_location", ("fork", "join")),
)
"""Tables, whose location it is, and what has an event ordinal and a time there."""

_SPARSE: Final = 8
"""Ordinals for each event from which a table of all ordinals takes too much."""
_MOST_NARROW: Final = (1 << 31) // PLACES


@dataclass(frozen=True, slots=True, eq=False)
class Readings:
    """Events by location and ordinal; all that has one ordinal is one reading of the clock."""

    begin: Integers  # (locations + 1,) the first event of each location
    seq: AnyIntegers  # (events,) rising on each location
    _first: Integers  # (locations,) the lowest ordinal
    _base: Integers  # (locations + 1,) its place in `_row`
    _row: AnyIntegers  # the last event up to each ordinal, or empty: ordinals have many holes

    def __len__(self) -> int:
        return len(self.seq)

    @property
    def location(self) -> npt.NDArray[np.int32]:
        """Location of each event."""
        return np.repeat(np.arange(len(self._first), dtype=np.int32), np.diff(self.begin))

    def times(self, trace: Trace) -> Integers:
        """When each event was recorded, ns."""
        time_ns = np.empty(len(self), np.int64)
        for location, seq, time in _event_sources(trace):
            time_ns[self.rows(location, seq)] = time
        return time_ns

    def rows(self, location: AnyIntegers, seq: AnyIntegers) -> AnyIntegers:
        """The last event of locations up to some ordinals, -1 before their first one."""
        if not len(self.seq):
            return np.full(len(seq), UNKNOWN)
        if len(self._row):
            row = np.empty(len(seq), self._row.dtype)
            last, is_empty = self._base[1:] - 1, np.diff(self._base) == 0
            for part in slices(len(seq)):
                where = location[part]
                place = (self._base[:-1] - self._first)[where]
                place += seq[part]
                is_before = (seq[part] < self._first[where]) | is_empty[where]
                np.minimum(place, last[where], out=place)
                row[part] = self._row[np.maximum(place, 0, out=place)]
                row[part][is_before] = UNKNOWN
            return row
        return last_until((self.location, self.seq), (location, seq))

    def exact(self, location: AnyIntegers, seq: Integers) -> tuple[Integers, Mask]:
        """The events of locations with some ordinals, and which of the ordinals are events."""
        row = self.rows(location, seq)
        is_event = take(self.seq, row) == seq
        is_event &= row >= 0
        return row[is_event], is_event


def readings_of(trace: Trace) -> Readings:
    """All events of a trace. The leave of a call that nobody left is none."""
    locations, events = trace.locations.num_rows, 0
    first, last = np.full(locations, NEVER_LEFT), np.full(locations, UNKNOWN, np.int64)
    for location, seq, _ in _event_sources(trace):
        np.minimum.at(first, location, seq)
        np.maximum.at(last, location, seq)
        events += len(seq)
    base = prefix_sums(np.maximum(0, last - first + 1))
    if base[-1] > _SPARSE * (events + 1_000):
        return _sparse(trace, first, base)
    exists, shift = np.zeros(base[-1], bool), base[:-1] - first
    for location, seq, _ in _event_sources(trace):
        exists[shift[location] + seq] = True
    seq = np.flatnonzero(exists)
    begin = np.searchsorted(seq, base)
    for by, low, high in zip(shift.tolist(), begin[:-1], begin[1:], strict=True):
        seq[low:high] -= by
    highest = max(len(seq), int(last.max(initial=0)))
    kind = np.dtype(np.int32 if highest < _MOST_NARROW else np.int64)
    row: AnyIntegers = np.cumsum(exists, dtype=kind)
    np.subtract(row, 1, out=row)
    return Readings(begin, seq.astype(kind, copy=False), first, base, row)


def _sparse(trace: Trace, first: Integers, base: Integers) -> Readings:
    sources = list(_event_sources(trace))
    location, seq = (np.concatenate([source[k] for source in sources]) for k in range(2))
    order = np.lexsort((seq, location))
    location, seq = location[order], seq[order]
    is_new = begins_run(location, seq)
    begin = np.searchsorted(location[is_new], np.arange(len(base)))
    return Readings(begin, seq[is_new], first, base, np.zeros(0, np.int64))


def _event_sources(trace: Trace) -> Iterator[tuple[AnyIntegers, Integers, Integers]]:
    """Location, ordinal and time of what is told of events; some are told twice."""
    for table, where, names in _EVENTS:
        for name in names:
            location, seq, time_ns = trace.arrays(table, where, f"{name}_seq", f"{name}_ns")
            yield from _known_parts(location, seq, time_ns)
    yield from _known_parts(*trace.arrays("half_messages", "location", "seq", "time_ns"))
    # Ordinals of Paraver number each type and value of a record: those of counters, too.
    if trace.metadata.get("format") != "paraver":
        yield from _known_parts(*trace.arrays("readings", "location", "seq", "time_ns"))
    location, seq, time_ns, kind = trace.arrays(
        "other_events", "location", "seq", "time_ns", "kind"
    )
    # An attribute belongs to an event that is told elsewhere.
    happens = kind != OTHER_EVENT_KINDS.index("attribute")
    yield from _known_parts(location[happens], seq[happens], time_ns[happens])


def _known_parts(
    location: AnyIntegers, seq: Integers, time_ns: Integers
) -> Iterator[tuple[AnyIntegers, Integers, Integers]]:
    for part in slices(len(seq)):
        where, which, when = location[part], seq[part], time_ns[part]
        known = (which >= 0) & (which < NEVER_LEFT) & (when != NO_VALUE)
        is_whole = known.all()
        yield (where, which, when) if is_whole else (where[known], which[known], when[known])
