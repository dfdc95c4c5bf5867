"""Which event ordinals and times of a table contradict what is beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from burstline.columns import UNKNOWN, AnyIntegers, Mask, begins_run, to_numpy
from burstline.model.schema.references import Wrong

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


def first_misplaced(name: str, table: pa.Table, parts: Parts) -> Wrong | None:
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
