"""A part of a trace with raw tables: what is open at a border is opened or closed there.

The cut reads back as the same calls and regions, clipped. Spans that only touch the begin
leave nothing behind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from burstline._core import EventClass
from burstline.columns import (
    Integers,
    Mask,
    Ordinals,
    begins_run,
    codes,
    match_borders,
    row_of,
    take,
    to_numpy,
)
from burstline.extrae import COMMUNICATOR, TRACING_MODE, classify
from burstline.formats.paraver.files.declarations import comment
from burstline.formats.paraver.writing.writer import EVENT_COLUMNS
from burstline.model import Trace, event_table, overlaid, row_table

_SPANS: Final = (
    EventClass.MPI_CALL, EventClass.REGION, EventClass.REGION_LINE, EventClass.LOCK,
    EventClass.APPLICATION, EventClass.FLUSH, EventClass.TRACING,
)  # fmt: skip
_ATTRIBUTES: Final = frozenset([
    EventClass.COLLECTIVE_SENT, EventClass.COLLECTIVE_RECEIVED, EventClass.COLLECTIVE_ROOT,
    EventClass.COLLECTIVE_COMMUNICATOR, EventClass.CALLER_FUNCTION, EventClass.CALLER_LINE,
    EventClass.RMA_SIZE, EventClass.RMA_TARGET, EventClass.IO_SIZE,
])  # fmt: skip
_NEVER: Final = np.iinfo(np.int64).max
_EARLIEST: Final = -(2**63)


def completed(
    before: Trace,
    after: Trace,
    *,
    start_ns: int | Integers | None,
    end_ns: int | Integers | None,
    near: Trace | None = None,
) -> Trace:
    """The selection `after` of `before`, which says so and reads back as its calls.

    Of a store, `near` is what :func:`burstline.selection.narrowed` makes of it for `after`.
    """
    limits = np.iinfo(np.int64)
    names = ("application", "rank", "thread")
    places = (each.arrays("locations", *names) for each in (after, before))
    location = row_of(*codes(*places)).astype(np.int32)
    start = np.broadcast_to(limits.min + 1 if start_ns is None else start_ns, len(location))
    end = np.broadcast_to(limits.max if end_ns is None else end_ns, len(location))
    died = before.locations["died_ns"].to_numpy()
    selected = location >= 0
    first = 0 if start_ns is None else int(start[selected].min(initial=limits.max))
    borders = (first, first, min(int(end[selected].max(initial=0)), int(died.max(initial=0))))
    note = row_table("source", [("comment", comment("CUTTER", before, *borders))])
    lines = pa.concat_tables([before.table("source"), note]).unify_dictionaries()
    tables = {"source": lines}
    if before.has_raw:
        torn = None if start_ns is None else _torn_calls(near or before, location, start)
        tables["events"] = _cut_events(before, location, start, end, torn)
        if start_ns is not None or end_ns is not None:
            # What the source's header claims to last is not what its part lasts.
            facts = after.table("metadata")
            claim = pc.not_equal(facts["key"], "claimed_duration_ns")
            tables["metadata"] = facts.filter(claim)
    return overlaid(after, tables)


def _torn_calls(
    before: Trace, location: npt.NDArray[np.int32], start: Integers
) -> tuple[Integers, Integers]:
    """Location and entry of calls whose collective a selected member had left by `start`."""
    # Readers count collectives per communicator; these would shift the count of one member.
    where, call, instance, begin = before.arrays(
        "collective_members", "location", "call", "collective", "begin_ns"
    )
    member = (location[where] >= 0) & (call >= 0)
    where, call, instance, begin = (c[member] for c in (where, call, instance, begin))
    enter, leave = before.arrays("calls", "enter_ns", "leave_ns")
    row = Ordinals(*before.arrays("calls", "location", "call")).rows(where, call)
    loaded = row >= 0
    # a call that is not near the window lies on one side of it, and its begin with it
    first = start[where]
    gone = begin < first
    gone[loaded] = (leave[row[loaded]] <= first[loaded]) & (enter[row[loaded]] < first[loaded])
    partly = np.intersect1d(instance[gone], instance[~gone])
    torn = ~gone & loaded & np.isin(instance, partly)
    return where[torn], enter[row[torn]]


class _CutEvents(NamedTuple):
    """Events of some locations, by location."""

    location: Integers
    time: Integers
    kind: Integers
    value: Integers

    def pick(self, rows: Integers | Mask) -> _CutEvents:
        return _CutEvents(*(column[rows] for column in self))


def _cut_events(
    trace: Trace,
    location: npt.NDArray[np.int32],
    start: Integers,
    end: Integers,
    torn: tuple[Integers, Integers] | None,
) -> pa.Table:
    """The table `events` of a cut, in the times of the trace."""
    labels = {
        row["type"]: (row["label"], row["gradient"])
        for row in trace.table("event_types").to_pylist()
    }
    window = _Window(start, end, *trace.arrays("locations", "born_ns", "died_ns"))
    last_ns = int(window.end[location >= 0].max(initial=_EARLIEST))
    parts = [_CutEvents(*(np.empty(0, np.int64) for _ in EVENT_COLUMNS))]
    for part in trace.batches(
        "events", EVENT_COLUMNS, locations=location >= 0, window=(_EARLIEST, last_ns)
    ):
        events = _CutEvents(*(to_numpy(column).astype(np.int64) for column in part.columns))
        # what lies after the window closes nothing that its end does not close
        reached = events.time <= window.end[events.location]
        events = events.pick((location[events.location] >= 0) & reached)
        parts.append(_inside_window(_without_torn(events, torn), labels, window))
    events = _joined_events(parts)
    events = _joined_events([_signs_of_life(events, location, window), events])
    where, *columns = events.pick(np.argsort(location[events.location], kind="stable"))
    return event_table(location[where].astype(np.int64), *columns)


def _signs_of_life(
    events: _CutEvents, location: npt.NDArray[np.int32], window: _Window
) -> _CutEvents:
    """An event of each location that lives at the window's begin and is silent there."""
    alive = (location >= 0) & (window.born < window.start) & (window.died > window.start)
    alive[events.location[events.time == window.start[events.location]]] = False
    silent = np.flatnonzero(alive).astype(np.int64)
    value = np.ones(len(silent), np.int64)
    return _CutEvents(silent, window.start[silent], value * TRACING_MODE, value)


def _joined_events(parts: Sequence[_CutEvents]) -> _CutEvents:
    return _CutEvents(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _without_torn(events: _CutEvents, torn: tuple[Integers, Integers] | None) -> _CutEvents:
    """The events with 0 as the communicator of torn calls."""
    if torn is None:
        return events
    rows = np.flatnonzero(events.kind == COMMUNICATOR)
    calls, torn_calls = codes((events.location[rows], events.time[rows]), torn)
    value = events.value.copy()
    value[rows[np.isin(calls, torn_calls)]] = 0
    return events._replace(value=value)


class _Window(NamedTuple):
    """Windows of locations, half-open; the last moment of one is inside if it is the end."""

    start: Integers
    end: Integers
    born: Integers
    died: Integers

    def holds(self, events: _CutEvents) -> Mask:
        """Whether each event is inside."""
        end = self.end[events.location]
        last = (events.time == end) & (events.time == self.died[events.location])
        return (events.time >= self.start[events.location]) & ((events.time < end) | last)


def _inside_window(
    events: _CutEvents, labels: Mapping[int, tuple[str, int]], window: _Window
) -> _CutEvents:
    kinds, which = np.unique(events.kind, return_inverse=True)
    classes_of_kinds = [
        classify(kind, *labels.get(kind, (None, None))) for kind in kinds.tolist()
    ]
    classes = np.array(classes_of_kinds, np.int64)[which]
    opening, closing = _matched_spans(events, classes)
    is_kept = window.holds(events)
    events = _counted_from_begin(
        events, is_kept & (classes == EventClass.COUNTER), which, window
    )
    opened = events.time[opening]
    has_end = closing >= 0
    closed = np.where(has_end, events.time[closing], _NEVER)
    start = window.start[events.location[opening]]
    before = opened < start
    is_kept[closing[before & (closed == start)]] = False
    entered = before & (closed > start)
    left_open = (entered | is_kept[opening]) & ~(has_end & is_kept[closing])
    joined = _joined_events(
        (
            _repeated_entries(events, classes, opening[entered], window),
            events.pick(is_kept),
            _added_exits(events, classes, opening[left_open], window),
        )
    )
    return joined.pick(np.argsort(joined.location, kind="stable"))


def _counted_from_begin(
    events: _CutEvents, counted: Mask, which: Integers, window: _Window
) -> _CutEvents:
    """The events with 0 as the first delta of each counter, which spans the window's begin."""
    watched_before = (window.born < window.start)[events.location]
    rows = np.flatnonzero(counted & watched_before)
    key = events.location[rows] * (int(which.max(initial=0)) + 1) + which[rows]
    _, first = np.unique(key, return_index=True)
    value = events.value.copy()
    value[rows[first]] = 0
    return events._replace(value=value)


def _matched_spans(events: _CutEvents, classes: Integers) -> tuple[Integers, Integers]:
    """The rows that open spans, and the row that closes each, -1 where none does."""
    rows = np.flatnonzero(np.isin(classes, _SPANS))
    rows = rows[np.lexsort((rows, events.kind[rows], events.location[rows]))]
    opens = (events.value[rows] != 0) != (classes[rows] == EventClass.TRACING)
    fresh = begins_run(events.kind[rows], events.location[rows])
    # a lock goes through several steps between free and free
    is_step = opens & ~fresh & (classes[rows] == EventClass.LOCK)
    is_step[1:] &= opens[:-1]
    rows, opens, group = rows[~is_step], opens[~is_step], np.cumsum(fresh)[~is_step]
    return rows[opens], take(rows, match_borders(group, opens)[opens])


def _repeated_entries(
    events: _CutEvents, classes: Integers, opening: Integers, window: _Window
) -> _CutEvents:
    """The openings at the window's begin, those of calls with their attributes."""
    rows: list[int] = []
    for row in np.sort(opening).tolist():
        rows.append(row)
        if classes[row] != EventClass.MPI_CALL:
            continue
        place = events.location[row], events.time[row]
        following = row + 1
        while (
            following < len(classes)
            and (events.location[following], events.time[following]) == place
            and classes[following] not in _SPANS
        ):
            if classes[following] in _ATTRIBUTES:
                rows.append(following)
            following += 1
    repeated = events.pick(np.array(rows, np.int64))
    return repeated._replace(time=window.start[repeated.location])


def _added_exits(
    events: _CutEvents, classes: Integers, opening: Integers, window: _Window
) -> _CutEvents:
    """Closings of all that is open at the end or the last moment, the innermost first."""
    rows = np.sort(opening)[::-1]
    closing = (classes[rows] == EventClass.TRACING).astype(np.int64)
    where = events.location[rows]
    last = np.minimum(window.end, window.died)[where]
    time = np.maximum(last, np.maximum(events.time[rows], window.start[where]))
    return events.pick(rows)._replace(time=time, value=closing)
