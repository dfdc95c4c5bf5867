"""What a selection of a trace in a store can need, loaded a row group at a time.

Near is everything that overlaps the window with both its borders, so that the selection
decides alone what is inside. What has several places is near if one of them is: a message
with one call near, and every member of an instance with one member's call near, so that
losses are counted as in the whole trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import Integers, Mask, Ordinals, numpy_columns
from burstline.errors import MemoryBudgetError
from burstline.model import Trace, schema
from burstline.selection.lazy import Lazy
from burstline.selection.window import INTERVALS, Borders, kept_rows, replaced

_EARLIEST: Final = -(2**63)
_MOMENTS: Final = ("readings", "other_events", "half_messages", "loop_iterations")
_WAY_OUT: Final = (
    "Take a shorter part (`start_ns`, `end_ns`), fewer ranks (`ranks`), "
    "or allow more (`memory`)."
)


def narrow(trace: Trace, borders: Borders, kept: Mask, *, memory: int | None = None) -> Trace:
    """What a selection can need of a trace in a store, each table loaded when asked for."""
    tables = _Narrowing(trace, borders, kept, memory).tables
    return Trace(tables, sources=trace.sources)


class _Narrowing:
    """The narrowed tables, and how much of them is loaded."""

    def __init__(self, trace: Trace, borders: Borders, kept: Mask, memory: int | None) -> None:
        self.trace, self.borders, self.kept = trace, borders, kept
        self.start, self.end = borders.hull(kept)
        self.tables = Lazy((name for name in schema.TABLES if name in trace), self._make)
        self._memory, self._held = memory, 0

    def _make(self, name: str) -> pa.Table:
        if name in INTERVALS:
            return self._joined(name, self._intervals(name))
        if name in _MOMENTS:
            return self._joined(name, self._moments(name))
        make = _MAKERS.get(name)
        return self.trace.table(name) if make is None else self._joined(name, make(self))

    def _joined(self, name: str, parts: Iterator[pa.Table]) -> pa.Table:
        near = []
        for part in parts:
            if part.num_rows:
                self._held += part.nbytes
                if self._memory is not None and self._held > self._memory:
                    raise MemoryBudgetError(self._held, self._memory, way_out=_WAY_OUT)
                near.append(part)
        if near:
            return pa.concat_tables(near).combine_chunks()
        counters = self.trace.counter_names if schema.TABLES[name].counters else ()
        return schema.arrow_schema(name, counters).empty_table()

    def _filtered(
        self, name: str, is_near: Callable[[pa.Table], Mask], first: int
    ) -> Iterator[pa.Table]:
        """Rows of a table by location that begin from `first` on, and are near."""
        window = first, self.end
        for part in self.trace.batches(name, locations=self.kept, window=window):
            yield kept_rows(part, is_near(part))

    def _within(self, location: Integers, time: Integers) -> Mask:
        start, end = self.borders.at(location)
        return (time >= start) & (time <= end)

    def _intervals(self, name: str) -> Iterator[pa.Table]:
        def is_near(part: pa.Table) -> Mask:
            location, begin, end = numpy_columns(part, *INTERVALS[name])
            # an end before the begin, or none, is an interval that never ends
            first, last = self.borders.at(location)
            reaches = (end >= first) | (end < begin)
            return self.kept[location] & (begin <= last) & reaches

        return self._filtered(name, is_near, _EARLIEST)

    def call_loops(self) -> Iterator[pa.Table]:
        def is_near(part: pa.Table) -> Mask:
            return self._calls.has(*numpy_columns(part, "location", "call"))

        return self._filtered("call_loops", is_near, _EARLIEST)

    def _moments(self, name: str) -> Iterator[pa.Table]:
        def is_near(part: pa.Table) -> Mask:
            location, time = numpy_columns(part, "location", "time_ns")
            return self.kept[location] & self._within(location, time)

        return self._filtered(name, is_near, self.start)

    def links(self) -> Iterator[pa.Table]:
        return self._filtered("links", self._is_sent_near, self.start)

    def _is_sent_near(self, part: pa.Table) -> Mask:
        sender, receiver, time = numpy_columns(
            part, "sender_location", "receiver_location", "send_ns"
        )
        return self.kept[sender] & self.kept[receiver] & self._within(sender, time)

    def events(self) -> Iterator[pa.Table]:
        """Events near, and those elsewhere that enter or leave what is near."""
        edges = self._edges()

        def is_near(part: pa.Table) -> Mask:
            location, seq, time = numpy_columns(part, "location", "seq", "time_ns")
            near: Mask = self.kept[location] & self._within(location, time)
            row = Ordinals(location, seq).rows(*edges)
            near[row[row >= 0]] = True
            return near

        return self._filtered("events", is_near, _EARLIEST)

    def _edges(self) -> tuple[Integers, Integers]:
        """Location and ordinal of the enters and leaves outside the window."""
        locations, seqs = [], []
        for name in ("calls", "regions"):
            if name not in self.tables:
                continue
            columns = "location", "enter_ns", "enter_seq", "leave_ns", "leave_seq"
            location, *edges = numpy_columns(self.tables[name], *columns)
            for time, seq in (edges[:2], edges[2:]):
                outside = ~self._within(location, time)
                locations.append(location[outside])
                seqs.append(seq[outside])
        none = np.empty(0, np.int64)
        return np.concatenate([none, *locations]), np.concatenate([none, *seqs])

    def messages(self) -> Iterator[pa.Table]:
        columns = "sender_location", "send_call", "receiver_location", "post_call"
        for part in self.trace.batches("messages"):
            sender, send, receiver, post, receive = numpy_columns(
                part, *columns, "receive_call"
            )
            near = self._is_sent_near(part) | self._calls.has(sender, send)
            near |= self._calls.has(receiver, post) | self._calls.has(receiver, receive)
            yield kept_rows(part, near)

    @cached_property
    def _calls(self) -> _Stretches:
        location, call = np.empty(0, np.int64), np.empty(0, np.int64)
        if "calls" in self.tables:
            location, call = numpy_columns(self.tables["calls"], "location", "call")
        return _Stretches.of(location, call, len(self.kept))

    @cached_property
    def _instances(self) -> Mask:
        """Which collectives have a member's call near, or no member at all."""
        near, alone = np.zeros((2, self.trace.rows("collectives")), bool)
        alone[:] = True
        columns = "collective", "location", "call"
        for part in self.trace.batches("collective_members", columns):
            instance, location, call = numpy_columns(part, *columns)
            near[instance[self._calls.has(location, call)]] = True
            alone[instance] = False
        return near | alone

    def collectives(self) -> Iterator[pa.Table]:
        first = 0
        for part in self.trace.batches("collectives"):
            yield kept_rows(part, self._instances[first : first + part.num_rows])
            first += part.num_rows

    def collective_members(self) -> Iterator[pa.Table]:
        number = np.cumsum(self._instances) - 1
        for part in self.trace.batches("collective_members"):
            (instance,) = numpy_columns(part, "collective")
            near = kept_rows(part, self._instances[instance])
            (instance,) = numpy_columns(near, "collective")
            yield replaced(near, collective=number[instance])


class _Stretches(NamedTuple):
    """First and last ordinal of some rows of each location."""

    first: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]

    @classmethod
    def of(cls, location: Integers, ordinal: Integers, locations: int) -> _Stretches:
        offsets = np.searchsorted(location, np.arange(locations + 1))
        has_rows = offsets[1:] > offsets[:-1]
        first, last = np.zeros(locations, np.int64), np.full(locations, -1)
        first[has_rows] = ordinal[offsets[:-1][has_rows]]
        last[has_rows] = ordinal[offsets[1:][has_rows] - 1]
        return cls(first, last)

    def has(self, location: Integers, ordinal: Integers) -> Mask:
        """Which ordinals are between the first and the last of their location."""
        return (ordinal >= self.first[location]) & (ordinal <= self.last[location])


_MAKERS: Final[dict[str, Callable[[_Narrowing], Iterator[pa.Table]]]] = {
    "call_loops": _Narrowing.call_loops,
    "links": _Narrowing.links,
    "events": _Narrowing.events,
    "messages": _Narrowing.messages,
    "collectives": _Narrowing.collectives,
    "collective_members": _Narrowing.collective_members,
}
