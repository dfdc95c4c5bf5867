"""The readings of a clock: the events of each location, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.columns import NO_VALUE, UNKNOWN, take
from burstline.schema import NEVER_LEFT, OTHER_EVENT_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from burstline.columns import AnyIntegers, Integers, Mask
    from burstline.trace import Trace

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
_MOST_NARROW: Final = 1 << 31


@dataclass(frozen=True, slots=True, eq=False)
class Readings:
    """Events by location and ordinal; all that has one ordinal is one reading of the clock."""

    begin: Integers  # (locations + 1,) the first event of each location
    location: AnyIntegers  # (events,)
    seq: Integers  # (events,) rising on each location
    time_ns: Integers  # (events,) when it was recorded
    _first: Integers  # (locations,) the lowest ordinal
    _base: Integers  # (locations + 1,) its place in `_row`
    _row: AnyIntegers  # the last event up to each ordinal, or empty: ordinals have many holes

    def __len__(self) -> int:
        return len(self.seq)

    def rows(self, location: AnyIntegers, seq: Integers) -> Integers:
        """The last event of locations up to some ordinals, -1 before their first one."""
        if not len(self.seq):
            return np.full(len(seq), UNKNOWN)
        place = seq - self._first[location]
        if len(self._row):
            is_before = place < 0
            np.minimum(place, (np.diff(self._base) - 1)[location], out=place)
            place += self._base[location]
            row = self._row[np.clip(place, 0, len(self._row) - 1, out=place)].astype(np.int64)
            row[is_before | (np.diff(self._base) == 0)[location]] = UNKNOWN
            return row
        span = int(self.seq.max()) + 1
        keys = self.location * np.int64(span) + self.seq
        row = np.searchsorted(keys, location * span + np.minimum(seq, span - 1), "right") - 1
        return np.where(row >= self.begin[location], row, UNKNOWN)

    def exact(self, location: AnyIntegers, seq: Integers) -> tuple[Integers, Mask]:
        """The events of locations with some ordinals, and which of the ordinals are events."""
        row = self.rows(location, seq)
        is_event = take(self.seq, row, missing=NO_VALUE) == seq
        is_event &= row >= 0
        return row[is_event], is_event

    def add_up(self, effort: Integers) -> Integers:
        """The efforts, made sums on each location, up to each event and with it, in place."""
        total = np.cumsum(effort, out=effort)
        before = np.where(self.begin > 0, take(total, self.begin - 1), 0)[:-1]
        for part, others in zip(np.split(total, self.begin[1:-1]), before, strict=True):
            part[...] -= others
        return total


def readings_of(trace: Trace) -> Readings:
    """All events of a trace. The leave of a call that nobody left is none."""
    sources = list(_sources(trace))
    locations = trace.locations.num_rows
    first, last = np.full(locations, NEVER_LEFT), np.full(locations, UNKNOWN, np.int64)
    for location, seq, _ in sources:
        np.minimum.at(first, location, seq)
        np.maximum.at(last, location, seq)
    sizes = np.maximum(0, last - first + 1)
    base = np.concatenate([[0], np.cumsum(sizes)])
    if base[-1] > _SPARSE * (sum(len(seq) for _, seq, _ in sources) + 1_000):
        return _sparse(sources, first, base)
    # In place: fresh pages of so many events take longer than what is done with them.
    time_ns, shift = np.full(base[-1], NO_VALUE), base[:-1] - first
    for location, seq, time in sources:
        place = shift[location]
        place += seq
        time_ns[place] = time
    exists = time_ns != NO_VALUE
    seq = np.flatnonzero(exists)
    time_ns = time_ns[seq]
    begin = np.searchsorted(seq, base)
    location = np.repeat(np.arange(locations, dtype=np.int32), np.diff(begin))
    for one, part in zip(shift.tolist(), np.split(seq, begin[1:-1]), strict=True):
        part[...] -= one
    row: AnyIntegers = (
        np.cumsum(exists, dtype=np.int32) if len(seq) < _MOST_NARROW else (np.cumsum(exists))
    )
    np.subtract(row, 1, out=row)
    return Readings(begin, location, seq, time_ns, first, base, row)


def _sparse(
    sources: list[tuple[AnyIntegers, Integers, Integers]], first: Integers, base: Integers
) -> Readings:
    location, seq, time_ns = (
        np.concatenate([source[k] for source in sources]) for k in range(3)
    )
    order = np.lexsort((seq, location))
    location, seq = location[order], seq[order]
    is_new = np.ones(len(order), bool)
    is_new[1:] = (np.diff(location) != 0) | (np.diff(seq) != 0)
    begin = np.searchsorted(location[is_new], np.arange(len(base)))
    nothing = np.zeros(0, np.int64)
    location, seq, time_ns = location[is_new], seq[is_new], time_ns[order][is_new]
    return Readings(begin, location, seq, time_ns, first, base, nothing)


def _sources(trace: Trace) -> Iterator[tuple[AnyIntegers, Integers, Integers]]:
    """Location, ordinal and time of what is told of events; some are told twice."""
    for table, where, names in _EVENTS:
        for name in names:
            location, seq, time_ns = trace.arrays(table, where, f"{name}_seq", f"{name}_ns")
            yield from _known(location, seq, time_ns)
    yield from _known(*trace.arrays("half_messages", "location", "seq", "time_ns"))
    # Ordinals of Paraver number each type and value of a record: those of counters, too.
    if trace.metadata.get("format") != "paraver":
        yield from _known(*trace.arrays("readings", "location", "seq", "time_ns"))
    location, seq, time_ns, kind = trace.arrays(
        "other_events", "location", "seq", "time_ns", "kind"
    )
    # An attribute belongs to an event that is told elsewhere.
    happens = kind != OTHER_EVENT_KINDS.index("attribute")
    yield from _known(location[happens], seq[happens], time_ns[happens])


def _known(
    location: AnyIntegers, seq: Integers, time_ns: Integers
) -> Iterator[tuple[AnyIntegers, Integers, Integers]]:
    if not len(seq):
        return
    known = (seq >= 0) & (seq < NEVER_LEFT) & (time_ns != NO_VALUE)
    yield (
        (location, seq, time_ns)
        if known.all()
        else (
            location[known],
            seq[known],
            time_ns[known],
        )
    )
