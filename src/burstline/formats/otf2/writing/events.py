"""The events of an archive from all tables of a trace, a location at a time.

Messages and collectives are sorted by no location: they are in memory as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import operations
from burstline._core import Written
from burstline.columns import distinct, to_numpy
from burstline.formats.otf2.writing.communication import Collectives, HalfMessages, Messages
from burstline.formats.otf2.writing.order import Events, RowsByLocation, Turn, columns_of
from burstline.formats.otf2.writing.other_events import OtherEvents, Parameters
from burstline.formats.walk import Walk
from burstline.schema import GAP_KINDS, NO_VALUE

if TYPE_CHECKING:
    from burstline.columns import Columns, Integers
    from burstline.formats.otf2.writing.definitions import Definitions
    from burstline.trace import Trace


_ON, _OFF = 1, 2
_FLUSH: Final = GAP_KINDS.index("flush")
_NEVER_THERE: Final = GAP_KINDS.index("not_created")
_CALL: Final = ("operation", "enter_ns", "leave_ns", "enter_seq", "leave_seq")
_REGION: Final = ("region", *_CALL[1:])
_LOCK: Final = ("lock", "order", "acquire_ns", "acquire_seq", "release_ns", "release_seq")
_FORK: Final = ("fork_ns", "fork_seq", "join_ns", "join_seq", "threads")
_LARGEST_LOCK: Final = 0xFFFFFFFF


class TraceEvents:
    """The events of all locations, asked for in their order; adds definitions they need."""

    def __init__(self, trace: Trace, definitions: Definitions) -> None:
        self._definitions = definitions
        born, died = trace.arrays("locations", "born_ns", "died_ns")
        self._start = min(int(born.min(initial=0)), 0)
        # behind the last event, once all locations were asked for
        self.length_ns = max(int(died.max(initial=0)) - self._start, 0) + 1
        roles = trace.region_defs["role"].to_pylist()
        self._is_team = np.array([role == "team" for role in roles], bool)
        self._calls = Walk(trace, "calls", ("location", *_CALL))
        self._regions = Walk(trace, "regions", ("location", *_REGION))
        self._readings = Walk(trace, "readings")
        self._gaps, self._locks = Walk(trace, "gaps"), Walk(trace, "locks")
        self._counters = trace.counter_names
        self._absolute = [mode == "absolute" for mode in trace.counters["mode"].to_pylist()]
        self._messages = Messages(trace, definitions.communicators)
        self._half_messages = HalfMessages(trace, definitions.communicators)
        self._collectives = Collectives(trace, definitions.communicators)
        self._forks = columns_of(trace.teams, _FORK)
        self._forks_of = RowsByLocation(to_numpy(trace.teams["fork_location"]))
        self._parameters = Parameters(trace, definitions)
        self._other_events = OtherEvents(trace, definitions)
        self._lock_numbers: dict[int, int] = {}

    def of(self, location: int) -> Events:
        """The events of a location, which is not before one that was asked for already."""
        events = Events(self._start)
        calls = columns_of(self._calls.of(location), _CALL)
        self._add_spans(events, location, calls)
        self._add_forks(events, location)
        self._messages.add(events, location, calls)
        self._half_messages.add(events, location)
        self._collectives.add(events, location, calls)
        self._add_locks(events, location)
        self._add_gaps(events, location)
        self._parameters.add(events, location)
        self._add_metrics(events, location)
        self._other_events.add(events, location)
        self.length_ns = max(self.length_ns, events.last_ns + 1)
        return events

    def _add_spans(self, events: Events, location: int, calls: Columns) -> None:
        names = self._calls.names("operation") or list(operations.NAMES)
        codes, which = np.unique(calls["operation"], return_inverse=True)
        defined = [self._definitions.operation(int(code), names) for code in codes]
        called = np.array(defined, np.int64)[which.reshape(-1)]
        regions = columns_of(self._regions.of(location), _REGION)
        is_team = np.append(self._is_team, False)[regions["region"]]
        team = np.where(is_team, self._definitions.teams[location], -1)
        region = np.concatenate([called, self._definitions.regions[regions["region"]]])
        team = np.concatenate([np.full(len(called), -1), team])
        enter_ns, leave_ns, enter_seq, leave_seq = (
            np.concatenate([calls[name], regions[name]]) for name in _CALL[1:]
        )
        # Regions that begin together with a call are around it, if they end later.
        order = np.lexsort((-leave_seq, -leave_ns, enter_seq, enter_ns))
        enter = enter_ns[order], enter_seq[order]
        leave = leave_ns[order], leave_seq[order]
        events.add_spans(enter, leave, region[order], team[order])

    def _add_forks(self, events: Events, location: int) -> None:
        rows = self._forks_of.of(location)
        fork_ns, fork_seq, join_ns, join_seq, threads = (
            self._forks[name][rows] for name in _FORK
        )
        events.add(Written.FORK, Turn.FORK, (fork_ns, fork_seq), threads)
        events.add(Written.JOIN, Turn.JOIN, (join_ns, join_seq))

    def _add_locks(self, events: Events, location: int) -> None:
        rows = columns_of(self._locks.of(location), _LOCK)
        lock = self._numbered(rows["lock"]), rows["order"]
        acquired = rows["acquire_ns"], rows["acquire_seq"]
        events.add(Written.ACQUIRE, Turn.START, acquired, *lock)
        released = rows["release_ns"], rows["release_seq"]
        is_released = (released[0] != NO_VALUE) & (released[1] != NO_VALUE)
        events.add(Written.RELEASE, Turn.COMPLETION, released, *lock, where=is_released)

    def _numbered(self, locks: Integers) -> Integers:
        """The numbers of locks, or others once one does not fit."""
        numbers = self._lock_numbers
        if ((locks >= 0) & (locks <= _LARGEST_LOCK)).all() and not numbers:
            return locks
        return np.array(
            [numbers.setdefault(lock, len(numbers)) for lock in locks.tolist()], np.int64
        )

    def _add_gaps(self, events: Events, location: int) -> None:
        gaps = self._gaps.of(location)
        start, end, kind = columns_of(gaps, ("start_ns", "end_ns", "kind")).values()
        first = np.full(len(kind), -1, np.int64)
        begun, ended = (start, first), (end, first)
        is_long, is_flush = start < end, kind == _FLUSH
        flush = is_long & is_flush
        events.add(Written.FLUSH, Turn.METRIC, begun, end - self._start, where=flush)
        off = is_long & ~is_flush & (kind != _NEVER_THERE)
        events.add(Written.MEASUREMENT, Turn.LEAVE, begun, _OFF, where=off)
        events.add(Written.MEASUREMENT, Turn.METRIC, ended, _ON, where=off)

    def _add_metrics(self, events: Events, location: int) -> None:
        readings = self._readings.of(location)
        if not self._counters or not readings.num_rows:
            return
        valid = [readings[name].is_valid().to_numpy() for name in self._counters]
        read = np.stack(valid, axis=1)
        values = np.zeros(read.shape, np.int64)
        for place, name in enumerate(self._counters):
            column = np.where(read[:, place], to_numpy(readings[name]), 0)
            values[:, place] = column if self._absolute[place] else np.cumsum(column)
        patterns, which = distinct(*np.packbits(read, axis=1).T)
        metrics = [
            self._definitions.metric(tuple(np.flatnonzero(pattern).tolist()))
            if pattern.any()
            else 0
            for pattern in read[patterns]
        ]
        # The values of a reading stand together, and their types behind them.
        types = np.broadcast_to(self._definitions.value_types, read.shape)
        first = events.add_values(np.hstack([values, types])[np.hstack([read, read])])
        count = read.sum(axis=1)
        first_value = first + 2 * (np.cumsum(count) - count)
        moment = to_numpy(readings["time_ns"]), to_numpy(readings["seq"])
        metric = np.array(metrics, np.int64)[which]
        reading = metric, first_value, count
        events.add(Written.METRIC, Turn.METRIC, moment, *reading, where=count > 0)
