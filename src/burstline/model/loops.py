"""Loops: what regions and events of a source tell of them as tables, which readers read.

A label says only which loop a call is in (``burstline cc --loops``); entries need the loops as
regions, or detected (``burstline annotate``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from burstline.columns import (
    AnyIntegers,
    Integers,
    Mask,
    begins_run,
    numpy_columns,
    placed,
    take,
    to_numpy,
)
from burstline.extrae import FOUND_ITERATION, ITERATION, LOOP_OF_CALL, STRUCTURE
from burstline.model.schema import (
    NO_VALUE,
    ORIGINS,
    PARADIGMS,
    UNKNOWN,
    arrow_schema,
    arrow_table,
)
from burstline.model.trace import Trace

RECORDED, DETECTED = (ORIGINS.index(name) for name in ("recorded", "derived"))
USER: Final = PARADIGMS.index("user")
LOOP_TYPES: Final = frozenset([LOOP_OF_CALL, ITERATION, *STRUCTURE])
"""Event types that tell of loops."""

LOOP_TABLES: Final = ("loops", "loop_entries", "loop_iterations", "call_loops")

_ROLE: Final = "loop"
_DEEPEST: Final = 99
_LATEST: Final = np.iinfo(np.int64).max


class LoopEvents(NamedTuple):
    """Events that may tell of loops, by location, and the name of a value of a type."""

    location: Integers
    time_ns: Integers
    type: Integers
    value: Integers
    name: Callable[[int, int], str | None]

    def of(self, kind: int) -> LoopEvents:
        """Those of a type."""
        return self.picked(np.flatnonzero(self.type == kind))

    def picked(self, rows: Integers) -> LoopEvents:
        """Those of some rows."""
        location, time_ns, kind, value, name = self
        return LoopEvents(location[rows], time_ns[rows], kind[rows], value[rows], name)

    def named(self, origin: int) -> tuple[Integers, list[_Loop | None]]:
        """Which of some loops the value of each event, all of one type, means; 0 is none."""
        values, code = np.unique(self.value, return_inverse=True)
        names = [self.name(int(self.type[0]), value) for value in values.tolist()]
        pairs = zip(values.tolist(), names, strict=True)
        return code, [
            _Loop(name or f"loop {value}", origin=origin) if value else None
            for value, name in pairs
        ]


class _Loop(NamedTuple):
    name: str
    paradigm: int = USER
    file: str | None = None
    begin_line: int | None = None
    end_line: int | None = None
    origin: int = RECORDED


class _Mentions(NamedTuple):
    """Where loops are mentioned: `loop` is a place in `loops`."""

    location: Integers
    loop: Integers
    loops: Sequence[_Loop | None]


class _Began(NamedTuple):
    """Rows of `loop_iterations`; entries by position in all parts."""

    location: Integers
    time_ns: Integers
    entry: Integers
    iteration: Integers


class _Entries(NamedTuple):
    """Rows of `loop_entries`, and what began in them; parents by position in all parts."""

    mentions: _Mentions
    enter_ns: Integers
    leave_ns: Integers
    parent: Integers
    iterations: Integers
    began: _Began


class _Labels(NamedTuple):
    """Rows of `call_loops`."""

    mentions: _Mentions
    call: Integers


class Loops:
    """The loops of a trace, numbered as they are met, location after location."""

    def __init__(self) -> None:
        self._rows: list[_Loop] = []
        self._numbers: dict[_Loop, int] = {}
        self._by_name: dict[str, int] = {}
        self._regions: list[_Loop | None] = []

    def tables(
        self, tables: Mapping[str, pa.Table], definitions: pa.Table, events: LoopEvents | None
    ) -> dict[str, pa.Table]:
        """What some locations tell, without empty tables; later ones are of later calls."""
        parts = [self._recorded(tables["regions"], definitions)]
        labels = None
        if events is not None and len(events.location):
            events = events.picked(np.lexsort((events.time_ns, events.location)))
            labels = _label_of_calls(tables["calls"], events.of(LOOP_OF_CALL))
            marks = events.of(ITERATION)
            parts[0] = parts[0]._replace(began=_iteration_table(parts[0], marks))
            parts += _detected_entries(tables["calls"], events, len(parts[0].enter_ns))
        return self._numbered(parts, labels)

    def definitions(self) -> dict[str, pa.Table]:
        """The table `loops`, unless it has no rows; ask last."""
        if not self._rows:
            return {}
        columns = [list(column) for column in zip(*self._rows, strict=True)]
        named = dict(zip(_Loop._fields, columns, strict=True))
        codes = {name: np.array(named[name], np.int8) for name in ("paradigm", "origin")}
        return {
            "loops": arrow_table(
                "loops", {"loop": np.arange(len(self._rows)), **named, **codes}
            )
        }

    def _recorded(self, regions: pa.Table, definitions: pa.Table) -> _Entries:
        fresh = definitions.slice(len(self._regions))
        names = ("role", "name", "paradigm", "file", "begin_line", "end_line")
        columns = (fresh[name].to_pylist() for name in names)
        self._regions += [
            _Loop(name, PARADIGMS.index(paradigm), *where) if role == _ROLE else None
            for role, name, paradigm, *where in zip(*columns, strict=True)
        ]
        is_loop = np.array([loop is not None for loop in self._regions], bool)
        region = to_numpy(regions["region"])
        rows = np.flatnonzero(is_loop[region]) if is_loop.any() else np.zeros(0, np.int64)
        if not len(rows):
            return _NOTHING
        names = ("location", "row", "parent", "enter_ns", "leave_ns", "iterations")
        location, row, parent, *rest = numpy_columns(regions, *names)
        above = _rows_above(location.astype(np.int64), row, parent)
        # Each turn passes twice as many regions that are no loops.
        while (out := np.flatnonzero((above >= 0) & ~is_loop[region[above]])).size:
            above[out] = above[above[out]]
        around = above[rows]
        place = np.searchsorted(rows, around)
        enter_ns, leave_ns, iterations = (column[rows] for column in rest)
        mentions = _Mentions(location[rows].astype(np.int64), region[rows], self._regions)
        none = _NOTHING.began
        parent = np.where(around >= 0, place, UNKNOWN)
        return _Entries(mentions, enter_ns, leave_ns, parent, iterations, none)

    def _numbered(self, parts: list[_Entries], labels: _Labels | None) -> dict[str, pa.Table]:
        mentions = [part.mentions for part in parts]
        if labels is not None:
            mentions.append(labels.mentions)
        numbers = self._numbers_of(mentions)
        tables = _entry_tables(parts, numbers)
        if labels is not None and len(labels.call):
            columns = {"location": labels.mentions.location, "call": labels.call}
            tables["call_loops"] = arrow_table("call_loops", {**columns, "loop": numbers[-1]})
        return tables

    def _numbers_of(self, mentions: Sequence[_Mentions]) -> list[Integers]:
        """The row of `loops` of each mention: they are numbered by location, then by kind."""
        firsts = []
        for kind, (location, loop, _) in enumerate(mentions):
            used, row = np.unique(loop, return_index=True)
            pairs = zip(location[row].tolist(), row.tolist(), used.tolist(), strict=True)
            firsts += [(where, kind, row, place) for where, row, place in pairs]
        numbers = [np.full(len(loops), UNKNOWN, np.int64) for _, _, loops in mentions]
        for _, kind, _, place in sorted(firsts):
            numbers[kind][place] = self._number(mentions[kind].loops[place])
        return [rows[loop] for rows, (_, loop, _) in zip(numbers, mentions, strict=True)]

    def _number(self, loop: _Loop | None) -> int:
        if loop is None:
            return UNKNOWN
        if loop in self._numbers:
            return self._numbers[loop]
        number = len(self._rows)
        if loop.paradigm == USER and loop.origin == RECORDED:
            # _Labels know the name alone: it means the first loop that is called so.
            same = self._by_name.setdefault(loop.name, number)
            if same < number and loop.file is None:
                return same
            if same < number and self._rows[same].file is None:
                number = same
        self._numbers[loop] = number
        self._rows[number:] = [loop, *self._rows[number + 1 :]]
        return number


_NONE: Final = np.zeros(0, np.int64)
_NOTHING: Final = _Entries(
    _Mentions(_NONE, _NONE, ()), _NONE, _NONE, _NONE, _NONE, _Began(_NONE, _NONE, _NONE, _NONE)
)


def with_detected(trace: Trace, events: LoopEvents) -> dict[str, pa.Table]:
    """The tables of loops of a trace in which other loops are detected than before."""
    names = ("name", "paradigm", "file", "begin_line", "end_line", "origin")
    texts = zip(*(trace.table("loops")[name].to_pylist() for name in names), strict=True)
    rows = [
        _Loop(name, PARADIGMS.index(paradigm), file, begin, end, ORIGINS.index(origin))
        for name, paradigm, file, begin, end, origin in texts
    ]
    entries = _recorded_entries(trace, rows)
    location, call, loop = trace.arrays("call_loops", "location", "call", "loop")
    place = np.where(loop >= 0, loop, len(rows)).astype(np.int64)
    mentions = _Mentions(location.astype(np.int64), place, [*rows, None])
    loops = Loops()
    # When the last iteration ends is an event, too: no call is asked.
    no_calls = arrow_schema("calls").empty_table()
    parts = [entries, *_detected_entries(no_calls, events, len(entries.enter_ns))]
    tables = loops._numbered(parts, _Labels(mentions, call))  # noqa: SLF001
    tables |= loops.definitions()
    return {
        name: tables[name] if name in tables else arrow_schema(name).empty_table()
        for name in LOOP_TABLES
        if name in tables or name in trace
    }


def _recorded_entries(trace: Trace, rows: Sequence[_Loop]) -> _Entries:
    is_recorded = np.array([row.origin == RECORDED for row in rows], bool)
    columns = trace.arrays(
        "loop_entries", "location", "loop", "enter_ns", "leave_ns", "iterations"
    )
    location, loop, *rest = columns
    chosen = is_recorded[loop] if len(rows) else np.zeros(0, bool)
    place = np.append(np.where(chosen, np.cumsum(chosen) - 1, UNKNOWN), UNKNOWN)
    enter_ns, leave_ns, iterations = (column[chosen] for column in rest)
    mentions = _Mentions(location[chosen].astype(np.int64), loop[chosen], rows)
    where, time_ns, entry, iteration = trace.arrays(
        "loop_iterations", "location", "time_ns", "entry", "iteration"
    )
    row = _rows_of(trace, where, entry)
    stays = (row < 0) | (place[row] >= 0)
    began = _Began(
        where[stays].astype(np.int64), time_ns[stays], place[row[stays]], iteration[stays]
    )
    parent = place[entries_above(trace)[chosen]]
    return _Entries(mentions, enter_ns, leave_ns, parent, iterations, began)


def _entry_tables(
    parts: Sequence[_Entries], numbers: Sequence[Integers]
) -> dict[str, pa.Table]:
    """Tables of the entries of several sources, those of one location by enter."""
    location = np.concatenate([part.mentions.location for part in parts])
    enter_ns = np.concatenate([part.enter_ns for part in parts])
    order = np.lexsort((enter_ns, location))
    first = np.searchsorted(location[order], location)
    entry = placed(np.arange(len(order)), order, len(order) + 1)
    entry[:-1] -= first
    entry[-1] = UNKNOWN
    named = {
        "location": location,
        "entry": entry[:-1],
        "loop": np.concatenate(numbers[: len(parts)]),
        "enter_ns": enter_ns,
        "leave_ns": np.concatenate([part.leave_ns for part in parts]),
        "parent": entry[np.concatenate([part.parent for part in parts])],
        "iterations": np.concatenate([part.iterations for part in parts]),
    }
    tables = {}
    if len(order):
        columns = {name: column[order] for name, column in named.items()}
        tables["loop_entries"] = arrow_table("loop_entries", columns)
    began = _Began(*map(np.concatenate, zip(*(part.began for part in parts), strict=True)))
    if len(began.location):
        order = np.lexsort((began.time_ns, began.location))
        named = began._replace(entry=entry[began.entry])._asdict()
        columns = {name: column[order] for name, column in named.items()}
        tables["loop_iterations"] = arrow_table("loop_iterations", columns)
    return tables


def _rows_above(location: Integers, row: AnyIntegers, parent: AnyIntegers) -> Integers:
    """The position of the parent of each row, an earlier one of its location; -1 for none."""
    first = np.searchsorted(location, location)
    above = first + parent - take(row, first)
    return np.where((above >= first) & (above < np.arange(len(above))), above, UNKNOWN)


def _label_of_calls(calls: pa.Table, events: LoopEvents) -> _Labels:
    """The loop of each labelled call; of several labels of one call, the last one."""
    # A label is of the call that is entered at its time, else of the one that it is in, else
    # of the next one of its location.
    names = ("location", "call", "enter_ns", "leave_ns")
    where, call, enter_ns, leave_ns = numpy_columns(calls, *names)
    row = np.full(len(events.location), UNKNOWN, np.int64)
    for moments, rows in _by_location(events.location, where):
        ordinal = _calls_of_events(enter_ns[rows], leave_ns[rows], events.time_ns[moments])
        is_call = ordinal < rows.stop - rows.start
        row[moments] = np.where(is_call, rows.start + ordinal, UNKNOWN)
    labels = np.flatnonzero(row >= 0)
    last = placed(labels, row[labels], len(call), UNKNOWN)
    labelled = np.flatnonzero(last >= 0)
    code, loops = events.named(RECORDED)
    mentions = _Mentions(where[labelled].astype(np.int64), code[last[labelled]], loops)
    return _Labels(mentions, call[labelled])


def _by_location(location: AnyIntegers, where: AnyIntegers) -> Iterator[tuple[slice, slice]]:
    """The moments of each location, beside each other, and the rows of it, which are sorted."""
    begins = np.flatnonzero(begins_run(location)).tolist()
    for begin, end in pairwise([*begins, len(location)]):
        rows = np.searchsorted(where, location[begin] + np.arange(2)).tolist()
        yield slice(begin, end), slice(*rows)


def _calls_of_events(enter_ns: Integers, leave_ns: Integers, time_ns: Integers) -> Integers:
    """The call that each event is of; as many as there are calls for none."""
    entered = np.searchsorted(enter_ns, time_ns)
    until = np.searchsorted(enter_ns, time_ns, side="right")
    # Calls that are entered at one moment take the events of that moment in turn.
    turn = np.arange(len(time_ns)) - np.searchsorted(time_ns, time_ns)
    inside = (entered > 0) & (take(leave_ns, entered - 1, NO_VALUE) > time_ns)
    return np.where(until > entered, np.minimum(entered + turn, until - 1), entered - inside)


def _iteration_table(entries: _Entries, events: LoopEvents) -> _Began:
    """The iterations that events tell, each of the innermost loop of the program around it."""
    mentions = entries.mentions
    loops = [loop is not None and loop.paradigm == USER for loop in mentions.loops]
    intervals = mentions.location, entries.enter_ns, entries.leave_ns, entries.parent
    chosen = np.array(loops, bool)[mentions.loop]
    row = innermost_open(intervals, events.location, events.time_ns, chosen)
    return _Began(events.location, events.time_ns, row, events.value)


def _detected_entries(calls: pa.Table, events: LoopEvents, before: int) -> list[_Entries]:
    """Entries of detected loops by depth, counted from `before` on."""
    # Iterations of one loop that follow each other are an entry. Where entries of one loop
    # touch, the events do not tell them apart unless they count anew, or are in other
    # iterations of the loop around.
    parts: list[_Entries] = []
    outer: _Level | None = None
    for depth in range(1, _DEEPEST + 1):
        began = events.of(FOUND_ITERATION + depth - 1)
        if not len(began.location):
            break
        part, outer = _of_depth(calls, events.of(STRUCTURE.start + depth), began, outer, before)
        before += len(part.enter_ns)
        parts.append(part)
    return parts


class _Level(NamedTuple):
    """Changes of the iteration at a depth, and the entry of each, -1 outside."""

    location: Integers
    time_ns: Integers
    entry: Integers


def _of_depth(
    calls: pa.Table, named: LoopEvents, began: LoopEvents, outer: _Level | None, before: int
) -> tuple[_Entries, _Level]:
    """The entries at a depth, counted from `before` on."""
    location, time_ns, iteration = began.location, began.time_ns, began.value
    code, loops = named.named(DETECTED)
    place = take(code, last_until(named[:2], (location, time_ns)), len(loops))
    loops = [*loops, None]
    inside = (iteration > 0) & np.array([loop is not None for loop in loops], bool)[place]
    around = np.full(len(location), UNKNOWN, np.int64)
    if outer is not None:
        around = last_until(outer[:2], (location, time_ns))
    is_new = begins_run(location, place, around, inside, iteration - np.arange(len(iteration)))
    is_first = inside & is_new
    first = np.flatnonzero(is_first)
    number = np.cumsum(is_first) - 1
    count = np.bincount(number[inside], minlength=len(first)).astype(np.int64)
    entry = np.where(inside, before + number, UNKNOWN)
    parent = around[first]
    if outer is not None:
        parent = take(outer.entry, parent)
    rows = np.flatnonzero(inside)
    part = _Entries(
        _Mentions(location[first], place[first], loops),
        time_ns[first],
        _next_changes(calls, location, time_ns)[first + count - 1],
        parent,
        count,
        _Began(location[rows], time_ns[rows], entry[rows], iteration[rows]),
    )
    return part, _Level(location, time_ns, entry)


def _next_changes(calls: pa.Table, location: Integers, time_ns: Integers) -> Integers:
    """When the next change follows on its location; where none does, the last call's leave."""
    where, leave_ns = numpy_columns(calls, "location", "leave_ns")
    last = np.searchsorted(where, location, side="right") - 1
    has_call = take(where, last) == location
    until = np.maximum(np.where(has_call, take(leave_ns, last, 0), time_ns), time_ns)
    followed = np.flatnonzero(location[1:] == location[:-1])
    until[followed] = time_ns[followed + 1]
    return until


def last_until(
    rows: tuple[AnyIntegers, AnyIntegers], moments: tuple[AnyIntegers, AnyIntegers]
) -> Integers:
    """The last of some rows, sorted by group and time, up to each (group, time); -1 for none.

    >>> rows = np.array([0, 0, 1]), np.array([5, 7, 5])
    >>> last_until(rows, (np.array([0, 0, 1]), np.array([4, 7, 9]))).tolist()
    [-1, 1, 2]
    """
    key, wanted = _ranked(rows, moments)
    row = np.searchsorted(key, wanted, side="right") - 1
    return np.where(take(rows[0], row) == moments[0], row, UNKNOWN)


def _ranked(
    rows: tuple[AnyIntegers, AnyIntegers], moments: tuple[AnyIntegers, AnyIntegers]
) -> tuple[Integers, Integers]:
    """Numbers of rows and of moments that are in the order of group and time."""
    groups = rows[0], moments[0]
    times = [column.astype(np.int64) for column in (rows[1], moments[1])]
    least = min(int(time.min(initial=_LATEST)) for time in times)
    span = max(int(time.max(initial=least)) for time in times) - least + 1
    if span * (1 + max(int(group.max(initial=0)) for group in groups)) <= _LATEST:
        key, wanted = (
            group.astype(np.int64) * span + (time - least)
            for group, time in zip(groups, times, strict=True)
        )
        return key, wanted
    # A row is not after a moment if as many of the rows' times are not: few, where rows are.
    stamps = np.sort(times[0])
    stamps = stamps[begins_run(stamps)]
    key, wanted = (
        group.astype(np.int64) * (len(stamps) + 1) + np.searchsorted(stamps, time, side="right")
        for group, time in zip(groups, times, strict=True)
    )
    return key, wanted


def entries_above(trace: Trace) -> Integers:
    """The row in `loop_entries` of the one around each, -1 without one."""
    location, entry, parent = trace.arrays("loop_entries", "location", "entry", "parent")
    return _rows_above(location.astype(np.int64), entry, parent)


def _rows_of(trace: Trace, location: AnyIntegers, entry: AnyIntegers) -> Integers:
    """The row in `loop_entries` of each entry of a location, -1 for none."""
    first = trace.offsets("loop_entries")[location]
    (ordinal,) = trace.arrays("loop_entries", "entry")
    return np.where(entry >= 0, first + entry - take(ordinal, first), UNKNOWN)


def iterations_of(trace: Trace) -> tuple[Integers, Integers, Integers]:
    """Row in `loop_entries`, time and number of the iterations whose entry is known."""
    columns = trace.arrays("loop_iterations", "location", "entry", "time_ns", "iteration")
    location, entry, time_ns, iteration = columns
    is_inside = entry >= 0
    row = _rows_of(trace, location[is_inside], entry[is_inside])
    return row, time_ns[is_inside], iteration[is_inside]


def recorded_loops(trace: Trace) -> Mask:
    """Which loops are recorded ones of the source."""
    paradigm, origin = trace.arrays("loops", "paradigm", "origin")
    return (paradigm == USER) & (origin == RECORDED)


def most_iterations(trace: Trace) -> Integers:
    """The iterations of the entry of each loop that has most of them, as far as is known."""
    loop, iterations = trace.arrays("loop_entries", "loop", "iterations")
    most = np.zeros(trace.rows("loops"), np.int64)
    np.maximum.at(most, loop, iterations)
    # Events tell no sum for an entry; each iteration that is seen counts from its begin.
    entry, _, iteration = iterations_of(trace)
    untold = iterations[entry] == NO_VALUE
    np.maximum.at(most, loop[entry[untold]], iteration[untold])
    return most


def innermost_entry(
    trace: Trace, location: AnyIntegers, time_ns: Integers, chosen: Mask
) -> Integers:
    """The row in `loop_entries` of the innermost chosen entry open at each moment, -1 for none.

    Moments of one location stand together.
    """
    where, enter_ns, leave_ns = trace.arrays("loop_entries", "location", "enter_ns", "leave_ns")
    entries = where, enter_ns, leave_ns, entries_above(trace)
    return innermost_open(entries, location, time_ns, chosen)


def innermost_open(
    intervals: tuple[AnyIntegers, Integers, Integers, Integers],
    location: AnyIntegers,
    time_ns: Integers,
    chosen: Mask,
) -> Integers:
    """The row of the innermost chosen interval open at each moment, -1 for none.

    Intervals are location, enter, leave and the row around each. Moments of one location stand
    together.
    """
    where, enter_ns, leave_ns, above = intervals
    row = np.full(len(location), UNKNOWN, np.int64)
    rows = np.flatnonzero(chosen)
    if not len(rows):
        return row
    where, enter_ns = where[rows], enter_ns[rows]
    for moments, part in _by_location(location, where):
        entered = np.searchsorted(enter_ns[part], time_ns[moments], side="right")
        row[moments] = np.where(entered > 0, rows[part.start + entered - 1], UNKNOWN)
    while True:
        out = np.flatnonzero(row >= 0)
        out = out[(leave_ns[row[out]] <= time_ns[out]) | ~chosen[row[out]]]
        if not len(out):
            return row
        row[out] = above[row[out]]
