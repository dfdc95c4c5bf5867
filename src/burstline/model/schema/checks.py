"""The first row of a table that is wrong: its nulls, ranges, intervals, references and order.

Stores ask part by part as they are read, folders of tables and texts once; they believe nothing
else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline.columns import UNKNOWN, AnyIntegers, Integers, Mask, begins_run, to_numpy
from burstline.errors import InconsistentTraceError
from burstline.model.schema.references import Wrong, first_dangling
from burstline.model.schema.tables import TABLES

Parts = Callable[[str, Sequence[str]], Iterable[pa.Table]]
"""Some columns of a table, in parts of whole locations."""

# Location, ordinal and time of what is checked. A team that was never joined has a time of its
# join without an event, so an ordinal may be too small.
_MOMENTS: Final = {
    "teams": (
        ("fork_location", "fork_seq", "fork_ns"),
        ("fork_location", "join_seq", "join_ns"),
    )
}
_EVENTS: Final = ("location", "enter_seq", "enter_ns")
_BESIDE: Final = (("calls", "call"), ("regions", "region"))
_REGION: Final = (
    "location", "row", "parent", "enter_ns", "leave_ns", "enter_seq", "leave_seq",
)  # fmt: skip

_NOWHERE: Final = np.zeros(0, np.int64)
_ONCE: Final = {
    "collectives": ("communicator", "sequence"),
    "collective_members": ("collective", "location", "call"),
}
"""Columns that no two rows behind each other share."""
# Records of states are kept as they were, also those without an end.
_INTERVALS: Final = {
    "locations": (("born_ns", "died_ns"),),
    "calls": (("enter_ns", "leave_ns"), ("enter_seq", "leave_seq")),
    "regions": (("enter_ns", "leave_ns"), ("enter_seq", "leave_seq")),
    "locks": (("acquire_ns", "release_ns"), ("acquire_seq", "release_seq")),
    "bursts": (("start_ns", "end_ns"),),
    "gaps": (("start_ns", "end_ns"),),
    "teams": (("fork_ns", "join_ns"), ("fork_seq", "join_seq")),
}


def first_wrong(
    name: str,
    table: pa.Table,
    rows: Callable[[str], int],
    counts: Callable[[str], Integers],
    parts: Parts,
    *,
    whole: bool = True,
) -> Wrong | None:
    """The first value of a part of a table that no trace has; None where all may be.

    `rows` and `counts` are those of any table, in all and on each location; `parts` gives some
    columns of one. `whole`: the part has all rows of each of its locations.
    """
    return (
        _first_null(name, table)
        or _first_outside(name, table)
        or _first_reversed(name, table)
        or first_dangling(name, table, rows, counts, whole=whole)
        or _first_disordered(name, table)
        or _first_twice(name, table)
        or _first_misplaced(name, table, parts)
    )


def first_wrong_of(name: str, tables: Mapping[str, pa.Table]) -> Wrong | None:
    """The first value of a table that no trace has, where all tables are at hand, whole."""

    def rows(other: str) -> int:
        return tables[other].num_rows if other in tables else 0

    def counts(other: str) -> Integers:
        location = to_numpy(tables[other]["location"]) if other in tables else _NOWHERE
        return np.bincount(location, minlength=rows("locations"))

    def parts(other: str, columns: Sequence[str]) -> list[pa.Table]:
        return [tables[other].select(columns)] if other in tables else []

    return first_wrong(name, tables[name], rows, counts, parts)


def require_sound(name: str, table: pa.Table, *, before: int = 0) -> None:
    """Raise InconsistentTraceError where a part of a table could not be read once written.

    What is seen without other tables: nulls, ranges, intervals and order. `before`: the rows
    of the table before the part.
    """
    wrong = (
        _first_null(name, table)
        or _first_outside(name, table)
        or _first_reversed(name, table)
        or _first_disordered(name, table)
        or _first_twice(name, table)
    )
    if wrong is not None:
        raise InconsistentTraceError(
            f"{name}.{wrong.column}: expected {wrong.expected}, found {wrong.value} "
            f"in row {before + wrong.row}"
        )


def _first_null(name: str, table: pa.Table) -> Wrong | None:
    loaded = frozenset(table.column_names)
    for column in TABLES[name].columns:
        if column.name in loaded and not column.nullable and table[column.name].null_count:
            row = pc.index(pc.is_null(table[column.name]), True).as_py()
            expected = f"one of {', '.join(column.values)}" if column.values else "a value"
            return Wrong(column.name, row, "null", expected)
        if column.name in loaded and pa.types.is_list(table[column.name].type):
            lists = table[column.name].combine_chunks()
            if (elements := pc.list_flatten(lists)).null_count:
                first = pc.index(pc.is_null(elements), True).as_py()
                row = pc.list_parent_indices(lists)[first].as_py()
                return Wrong(column.name, row, "null within", "a value")
    return None


def _first_outside(name: str, table: pa.Table) -> Wrong | None:
    """The first number that is too small or too large to be counted with."""
    loaded = frozenset(table.column_names)
    for column in TABLES[name].columns:
        if column.bounds is None or column.name not in loaded:
            continue
        least, most = column.bounds
        found = pc.min_max(table[column.name])
        if table.num_rows and found["min"].is_valid:
            if found["min"].as_py() >= least and found["max"].as_py() <= most:
                continue
            cells = table[column.name].fill_null(least).to_numpy()
            row = int(((cells < least) | (cells > most)).argmax())
            return Wrong(column.name, row, str(cells[row]), f"a number from {least} to {most}")
    return None


def _first_reversed(name: str, table: pa.Table) -> Wrong | None:
    """The first interval that ends before it begins; one that has no end is none."""
    for begin, end in _INTERVALS.get(name, ()):
        if begin not in table.column_names or end not in table.column_names:
            continue
        is_reversed = pc.less(table[end], table[begin])
        if pc.any(is_reversed).as_py():
            row = pc.index(is_reversed, True).as_py()
            what = "time" if end.endswith("_ns") else "number"
            expected = f"a {what} from {begin} on, {table[begin][row]}"
            return Wrong(end, row, str(table[end][row]), expected)
    return None


def _first_disordered(name: str, table: pa.Table) -> Wrong | None:
    """The first row that stands after one that should follow it, by the columns loaded."""
    before: list[Integers] = []
    for key in TABLES[name].order:
        if key not in table.column_names:
            return None
        values = to_numpy(table[key])
        falls = np.flatnonzero(values[1:] < values[:-1])
        for earlier in before:
            falls = falls[earlier[falls] == earlier[falls + 1]]
        if len(falls):
            row = int(falls[0]) + 1
            return Wrong(key, row, str(values[row]), f"rows in the order of {key}")
        before.append(values)
    return None


def _first_twice(name: str, table: pa.Table) -> Wrong | None:
    """The first row that says the same again as the row before."""
    keys = _ONCE.get(name, ())
    if not keys or not set(keys) <= set(table.column_names) or table.num_rows < 2:
        return None
    same = np.ones(table.num_rows - 1, bool)
    for key in keys:
        values = to_numpy(table[key])
        same &= (values[1:] == values[:-1]) & (values[1:] >= 0)
    if not same.any():
        return None
    row = int(same.argmax()) + 1
    value = str(to_numpy(table[keys[0]])[row])
    return Wrong(keys[0], row, value, f"a row with another {keys[-1]} than the row before")


def _first_misplaced(name: str, table: pa.Table, parts: Parts) -> Wrong | None:
    """The first number or time that the events beside it contradict; None without one.

    O(calls + regions) where there are teams.
    """
    if name == "regions" and table.num_rows and set(_REGION) <= set(table.column_names):
        return _first_astray(table, parts)
    wrong = None
    if name == "teams" and {"process", "fork_location"} <= set(table.column_names):
        wrong = _first_elsewhere(table, parts) if table.num_rows else None
    return wrong or _first_before_others(name, table, parts)


def _first_astray(table: pa.Table, parts: Parts) -> Wrong | None:
    """The first region out of the life of its location, or of the order of its events."""
    born_ns, died_ns = _of_locations(parts, "born_ns", "died_ns")
    columns = {name: to_numpy(table[name]) for name in _REGION}
    for column, is_wrong, expected in _astray(columns, born_ns, died_ns):
        if is_wrong.any():
            row = int(is_wrong.argmax())
            return Wrong(column, row, str(columns[column][row]), expected)
    outermost = np.flatnonzero(columns["parent"] < 0)
    moments = [columns[name][outermost] for name in ("location", "leave_seq", "leave_ns")]
    # Not with calls: a part of the regions is read often, and would read all of them.
    wrong = _first_before("leave_seq", moments, [("region", [table.select(_EVENTS)])])
    return wrong and wrong._replace(row=int(outermost[wrong.row]))


def _astray(
    columns: Mapping[str, AnyIntegers], born_ns: AnyIntegers, died_ns: AnyIntegers
) -> Iterator[tuple[str, Mask, str]]:
    """Yield which regions contradict others of their location, and in which column.

    The earlier of two events of a location has the smaller number.
    """
    location, row, parent, enter_ns, leave_ns, enter_seq, leave_seq = columns.values()
    is_early, is_late = enter_ns < born_ns[location], leave_ns > died_ns[location]
    yield "enter_ns", is_early, "a time from born_ns of its location on"
    yield "leave_ns", is_late, "a time up to died_ns of its location"
    begins = begins_run(location)
    falls = np.append(False, enter_ns[1:] < enter_ns[:-1])
    yield "enter_ns", falls & ~begins, "a time from that of the region before it on"
    falls = np.append(False, enter_seq[1:] <= enter_seq[:-1])
    yield "enter_seq", falls & ~begins, "a number above that of the region before it"
    starts = np.append(np.flatnonzero(begins), len(location))
    first = np.repeat(starts[:-1], np.diff(starts))
    around = np.where(parent < 0, UNKNOWN, first + parent - row[first])
    is_inside = (around >= first) & (leave_ns < leave_ns[around])
    is_wrong = is_inside & (leave_seq >= leave_seq[around])
    yield "leave_seq", is_wrong, "a number below that of the region around it"


def _first_elsewhere(table: pa.Table, parts: Parts) -> Wrong | None:
    """The first team whose process is not that of the location that forked it."""
    fork_location, process = to_numpy(table["fork_location"]), to_numpy(table["process"])
    (process_of,) = _of_locations(parts, "process")
    wrong = process_of[fork_location] != process
    if not wrong.any():
        return None
    row = int(wrong.argmax())
    expected = f"the process of its fork_location, {process_of[fork_location[row]]}"
    return Wrong("process", row, str(process[row]), expected)


def _of_locations(parts: Parts, *columns: str) -> list[AnyIntegers]:
    found = zip(*(part.columns for part in parts("locations", columns)), strict=True)
    return [np.concatenate([to_numpy(column) for column in each]) for each in found]


def _first_before_others(name: str, table: pa.Table, parts: Parts) -> Wrong | None:
    """The first ordinal from which an event before it is later; None without one."""
    for columns in _MOMENTS.get(name, ()):
        if table.num_rows and set(columns) <= set(table.column_names):
            moments = [to_numpy(table[column]) for column in columns]
            beside = [(noun, parts(other, _EVENTS)) for other, noun in _BESIDE]
            if wrong := _first_before(columns[1], moments, beside):
                return wrong
    return None


def _first_before(
    column: str,
    moments: Sequence[AnyIntegers],
    beside: Iterable[tuple[str, Iterable[pa.Table]]],
) -> Wrong | None:
    """The first of some ordinals from which an event beside them, before it, is later."""
    for noun, parts in beside:
        for part in parts:
            found = _first_late(moments, [to_numpy(values) for values in part.columns])
            if found is not None:
                row, event, place, enter_ns = found
                expected = (
                    f"an event before that of {noun} {event} of location {place}, "
                    f"entered at {enter_ns}"
                )
                return Wrong(column, row, str(moments[1][row]), expected)
    return None


def _first_late(
    moments: Sequence[AnyIntegers], events: Sequence[AnyIntegers]
) -> tuple[int, int, int, int] | None:
    """A moment, and the event of its location that is before it by number, but later.

    The row; the event's number on the location, the location, and the time of the event.
    """
    where, seq, time_ns = moments
    location, enter_seq, enter_ns = events
    order = np.argsort(where, kind="stable")
    places = where[order]
    begins = begins_run(places)
    each = places[begins]
    spans = zip(
        each.tolist(),
        np.split(order, np.flatnonzero(begins)[1:]),
        np.searchsorted(location, each).tolist(),
        np.searchsorted(location, each, "right").tolist(),
        strict=True,
    )
    for place, members, begin, end in spans:
        before = np.searchsorted(enter_seq[begin:end], seq[members], "right") - 1
        rows, before = members[before >= 0], before[before >= 0]
        late = enter_ns[begin:end][before] > time_ns[rows]
        if late.any():
            row = int(rows[late.argmax()])
            event = int((enter_ns[begin:end] > time_ns[row]).argmax())
            return row, event, place, int(enter_ns[begin + event])
    return None
