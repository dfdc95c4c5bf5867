"""Records for a trace that has none: from calls, regions and readings to events and states.

::

    calls ─────────► entry, sizes, callers · exit ─┐
    regions ───────► entry · exit                  ├─► events     calls, gaps ─► states
    readings, others► counters, parameters         │   messages: times as Extrae defines them
    gaps, locations► flush, tracing, begin, end   ─┘
"""

from __future__ import annotations

from itertools import islice
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline import extrae
from burstline.columns import (
    AnyIntegers,
    Integers,
    Mask,
    coded,
    numpy_columns,
    take,
    with_column,
)
from burstline.errors import MemoryBudgetError
from burstline.formats.derivation.labels import (
    UNRESOLVED_ID,
    Callers,
    Others,
    construct_frames,
    function_lines,
    label_tables,
    region_events,
)
from burstline.formats.derivation.states import LOCK_TAKEN, call_states, lock_steps
from burstline.model import Trace, event_table, operations, schema

_Place = tuple[AnyIntegers, AnyIntegers, AnyIntegers]

_OTHER_CALL: Final = (extrae.MPI_OTHER, 108)
_FIRST, _ENTRY, _SIZE, _COUNTER, _CALLER = 0, 1, 2, 3, 4
_BEFORE, _AFTER = -(2**62), 2**62
_ALL: Final = slice(None)
_ROW_BYTES: Final = 190
"""Of a record to be, beside the tables that it comes of."""


def with_records(trace: Trace, *, memory: int | None = None) -> Trace:
    """A trace with events, states and labels for its tables, as Extrae would have recorded."""
    if memory is not None and (needed := bytes_with_records(trace)) > memory:
        raise MemoryBudgetError(
            needed,
            memory,
            way_out="Convert the original trace with its own records, or cut a part first.",
        )
    callers = Callers(trace)
    pairs = _Pairs()
    _add_locations(pairs, trace)
    _add_calls(pairs, trace, callers)
    _add_regions(pairs, trace)
    _add_locks(pairs, trace)
    _add_readings(pairs, trace)
    _add_polls(pairs, trace)
    _add_samples(pairs, trace, callers)
    others = Others(trace)
    pairs.add(others.place, others.kind, others.value, _COUNTER)
    events = pairs.table()
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}
    occurring = np.unique(events["type"].to_numpy())
    tables |= label_tables(trace, callers, others, occurring)
    tables |= {
        "events": events,
        "states": call_states(trace),
        "messages": _messages_as_extrae(trace),
        "links": schema.arrow_schema("links").empty_table(),
    }
    return Trace(tables, sources=trace.sources)


def bytes_with_records(trace: Trace) -> int:
    """The bytes that a trace takes while its records are derived."""
    rows = 2 * sum(trace.rows(name) for name in ("calls", "regions", "readings"))
    held = sum(trace.estimate_bytes(name) for name in schema.TABLES if name in trace)
    return held + rows * _ROW_BYTES


class _Pairs:
    """Type-value pairs in any order; sorted by location, time, ordinal and rank."""

    def __init__(self) -> None:
        self._parts: list[tuple[Integers, ...]] = []

    def add(
        self, rows: _Place, kind: AnyIntegers | int, value: AnyIntegers | int, rank: int
    ) -> None:
        """Add pairs at (location, time, seq); `rank` orders those of one seq."""
        size = len(rows[0])
        columns = (*rows, np.full(size, rank), kind, value)
        self._parts.append(
            tuple(np.broadcast_to(np.asarray(c, np.int64), size) for c in columns)
        )

    def table(self) -> pa.Table:
        """The events in their order."""
        columns = [np.concatenate(column) for column in zip(*self._parts, strict=True)]
        location, time, seq, rank, kind, value = columns
        order = np.lexsort((rank, seq, time, location))
        return event_table(*(column[order] for column in (location, time, kind, value)))


def _add_locations(pairs: _Pairs, trace: Trace) -> None:
    location, born, died = trace.arrays("locations", "location", "born_ns", "died_ns")
    before, after = np.full(len(location), _BEFORE), np.full(len(location), _AFTER)
    pairs.add((location, born, before), extrae.APPLICATION, 1, _FIRST)
    if trace.counter_names:
        pairs.add((location, born, before), extrae.COUNTER_SET, 1, _ENTRY)
    pairs.add((location, died, after), extrae.APPLICATION, 0, _CALLER)
    gaps = trace.table("gaps")
    kind = gaps["kind"].cast(pa.string()).to_numpy()
    where, start, end = trace.arrays("gaps", "location", "start_ns", "end_ns")
    for name, event, inside in (("flush", extrae.FLUSH, 1), ("tracing_off", extrae.TRACING, 0)):
        rows = kind == name
        last, first = np.full(rows.sum(), _AFTER - 1), np.full(rows.sum(), _BEFORE + 1)
        pairs.add((where[rows], start[rows], last), event, inside, _ENTRY)
        pairs.add((where[rows], end[rows], first), event, 1 - inside, _ENTRY)


class _CallColumns:
    """The calls of a trace as columns, with the places of their events."""

    def __init__(self, trace: Trace) -> None:
        self.location, enter, leave, enter_seq, leave_seq = trace.arrays(
            "calls", "location", "enter_ns", "leave_ns", "enter_seq", "leave_seq"
        )
        sent, received, self.communicator, self.root, self.path = trace.arrays(
            "calls", "sent_bytes", "received_bytes", "communicator", "root", "call_path"
        )
        self.sent, self.received = np.maximum(sent, 0), np.maximum(received, 0)
        self.code, self.names = coded(trace.table("calls")["operation"])
        self._entry, self._exit = (enter, enter_seq), (leave, leave_seq)
        self.is_left = leave_seq < schema.NEVER_LEFT

    def has_operation(self, names: tuple[str, ...]) -> Mask:
        """Whether each call has one of these operations."""
        wanted = [code for code, name in enumerate(self.names) if name in names]
        return np.isin(self.code, wanted)

    def entry(self, rows: Mask | slice = _ALL) -> _Place:
        """Location, time and seq of the entries."""
        return self.location[rows], self._entry[0][rows], self._entry[1][rows]

    def exit(self, rows: Mask | slice = _ALL) -> _Place:
        """Location, time and seq of the exits."""
        return self.location[rows], self._exit[0][rows], self._exit[1][rows]


def _add_calls(pairs: _Pairs, trace: Trace, callers: Callers) -> None:
    calls = _CallColumns(trace)
    events = [extrae.MPI_EVENTS.get(name, _OTHER_CALL) for name in calls.names]
    kind, value = np.array(events, np.int64).reshape(-1, 2)[calls.code].T
    pairs.add(calls.entry(), kind, value, _ENTRY)
    pairs.add(calls.exit(calls.is_left), kind[calls.is_left], 0, _ENTRY)
    (peer,) = trace.arrays("calls", "peer")
    alone = ~calls.is_left & (peer >= 0)  # no message tells of their partners
    pairs.add(calls.entry(alone), extrae.INTERRUPTED_PARTNER, peer[alone], _SIZE)
    _add_sizes(pairs, trace, calls)
    for level, node in enumerate(callers.levels(calls.path), start=1):
        rows = node >= 0
        rank = _CALLER + 2 * level
        place = calls.entry(rows)
        pairs.add(place, extrae.CALLER_FUNCTIONS[level], callers.function[node[rows]], rank)
        pairs.add(place, extrae.CALLER_LINES[level], callers.line[node[rows]], rank + 1)


def _add_sizes(pairs: _Pairs, trace: Trace, calls: _CallColumns) -> None:
    rows = calls.has_operation(operations.COLLECTIVES)
    source_id = np.append(trace.arrays("communicators", "source_id")[0], 0)
    members = pc.list_value_length(trace.table("communicators")["members"]).to_numpy()
    sent = extrae.sent_as_written(
        calls.names,
        calls.code,
        root=calls.root,
        sent=calls.sent,
        peers=np.append(members, 0)[calls.communicator],
    )
    pairs.add(calls.entry(rows), extrae.SENT_SIZE, sent[rows], _SIZE)
    pairs.add(calls.entry(rows), extrae.RECEIVED_SIZE, calls.received[rows], _SIZE)
    pairs.add(calls.entry(rows & (calls.root >= 0)), extrae.ROOT, 1, _SIZE)
    rows |= calls.has_operation(operations.TOGETHER) & (calls.communicator >= 0)
    pairs.add(
        calls.entry(rows), extrae.COMMUNICATOR, source_id[calls.communicator[rows]], _SIZE
    )
    size = calls.sent + calls.received
    for family, event, at_exit in (
        (operations.RMA, extrae.RMA_SIZE, 0),
        (operations.IO, extrae.FILE_SIZE, 1),
    ):
        rows = calls.has_operation(family) & (size > 0)
        pairs.add(calls.entry(rows), event, size[rows], _SIZE)
        pairs.add(calls.exit(rows), event, size[rows] * at_exit, _SIZE)


def _add_regions(pairs: _Pairs, trace: Trace) -> None:
    location, region, enter, leave, enter_seq, leave_seq = trace.arrays(
        "regions", "location", "region", "enter_ns", "leave_ns", "enter_seq", "leave_seq"
    )
    kind, value = region_events(trace)
    pairs.add((location, enter, enter_seq), kind[region], value[region], _ENTRY)
    pairs.add((location, leave, leave_seq), kind[region], 0, _ENTRY)
    lines, _ = function_lines(trace)
    frames, _ = construct_frames(trace)
    for line_type, value in (
        (extrae.REGION_LINES[extrae.USER_FUNCTION], lines[region]),
        (extrae.CONSTRUCT_PATH, frames),
    ):
        known = np.flatnonzero(value)
        begin = location[known], enter[known], enter_seq[known]
        pairs.add(begin, line_type, value[known], _SIZE)
        pairs.add((location[known], leave[known], leave_seq[known]), line_type, 0, _SIZE)


def _add_locks(pairs: _Pairs, trace: Trace) -> None:
    steps = lock_steps(trace)
    pairs.add(steps.taken, extrae.LOCK_ADDRESS, steps.address, _ENTRY)
    pairs.add(steps.taken, extrae.LOCK_STATUS, LOCK_TAKEN, _SIZE)
    pairs.add(steps.released, extrae.LOCK_STATUS, 0, _SIZE)


def _add_readings(pairs: _Pairs, trace: Trace) -> None:
    readings = trace.table("readings")  # a store loads it each time
    location, seq, time = numpy_columns(readings, "location", "seq", "time_ns")
    types = trace.arrays("counters", "source_type")[0]
    for name, kind in zip(trace.counter_names, types.tolist(), strict=True):
        (value,) = numpy_columns(readings, name)
        rows = value != schema.NO_VALUE
        pairs.add((location[rows], time[rows], seq[rows]), kind, value[rows], _COUNTER)


def _add_polls(pairs: _Pairs, trace: Trace) -> None:
    location, end, after, polls, polling, waiting = trace.arrays(
        "bursts", "location", "end_ns", "call_after", "polls", "polling_ns", "waiting_ns"
    )
    rows = (polls > 0) | (polling > 0)
    location, end, after, waiting = location[rows], end[rows], after[rows], waiting[rows]
    enter_seq = np.append(trace.arrays("calls", "enter_seq")[0], _AFTER - 1)
    call = np.where(after >= 0, trace.offsets("calls")[location] + after, -1)
    place = (location, end, enter_seq[call])
    for kind, value in ((extrae.TEST_TIME, polling[rows]), (extrae.TEST_MISSES, polls[rows])):
        pairs.add(place, kind, value, _FIRST)
    judged = waiting != schema.NO_VALUE
    place = (location[judged], end[judged], place[2][judged])
    pairs.add(place, extrae.POLL_WAITING, waiting[judged], _FIRST)


def _add_samples(pairs: _Pairs, trace: Trace, callers: Callers) -> None:
    location, time_ns, periods, path = trace.arrays(
        "samples", "location", "time_ns", "periods", "call_path"
    )
    count = len(location)
    place = location, time_ns, np.arange(_AFTER - 1 - count, _AFTER - 1)
    levels = len(extrae.SAMPLED_FUNCTIONS)
    for level, node in enumerate([path, *islice(callers.levels(path), 1, levels)]):
        # What has no call path is a sample all the same.
        rows = node >= 0 if level else np.ones(count, bool)
        here = location[rows], time_ns[rows], place[2][rows]
        rank = _CALLER + 2 * level
        function, line = (
            take(numbers, node[rows], UNRESOLVED_ID)
            for numbers in (callers.function, callers.line)
        )
        pairs.add(here, extrae.SAMPLED_FUNCTIONS[level], function, rank)
        pairs.add(here, extrae.SAMPLED_LINES[level], line, rank + 1)
    more = periods > 1
    here = location[more], time_ns[more], place[2][more]
    pairs.add(here, extrae.SAMPLE_PERIODS, periods[more], _CALLER + 2 * levels)


def _messages_as_extrae(trace: Trace) -> pa.Table:
    """The messages with the times that Extrae defines, where their calls are known."""
    table = trace.table("messages")
    enter, leave = trace.arrays("calls", "enter_ns", "leave_ns")
    if not len(enter):
        return table
    offsets = trace.offsets("calls")
    code, names = coded(trace.table("calls")["operation"])
    at_entry = np.array([name in _AT_ENTRY for name in names])[code]
    is_immediate = np.array([name in operations.IMMEDIATE_RECEIVES for name in names])[code]
    times = {
        "send_ns": ("sender_location", "send_call", enter),
        "send_leave_ns": ("sender_location", "send_call", np.where(at_entry, enter, leave)),
        "post_ns": (
            "receiver_location",
            "post_call",
            np.where(is_immediate & ~at_entry, leave, enter),
        ),
        "receive_ns": ("receiver_location", "receive_call", leave),
    }
    for column, (location, call, time) in times.items():
        where, number, recorded = trace.arrays("messages", location, call, column)
        row = np.where(number >= 0, offsets[where] + number, 0)
        values = pa.array(np.where(number >= 0, time[row], recorded))
        table = with_column(table, column, values)
    return table


_AT_ENTRY: Final = frozenset(["MPI_Sendrecv", "MPI_Sendrecv_replace", *operations.STARTS])
