"""Which loop each call is in, and in which turn of it, where a trace says so.

::

    events of labelled loops  (``burstline cc --loops``)  ─┐
    events of found loops     (``burstline annotate``)    ─┴─►  Loops: loop and turn per call

A labelled loop has the same name in every run, so it says where a call stands. Loops that
were found in a trace may be others in each run; of them only the turns are taken. Turns are
counted, and a run may do one more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline.extrae import FOUND_ITERATION, ITERATION, LOOP_OF_CALL
from burstline.identity import Loops

if TYPE_CHECKING:
    import numpy.typing as npt

    from burstline.columns import Integers, Mask
    from burstline.trace import Trace

    Turns = npt.NDArray[np.int32]

LOOP_TYPES: Final = (LOOP_OF_CALL, ITERATION, FOUND_ITERATION)
"""Event types that are looked at."""

OUTSIDE: Final = -1
_MOST: Final = 2**30
_COLUMNS: Final = ("location", "time_ns", "value")


def loops_of(trace: Trace) -> Loops | None:
    """Find the loop around each call, and its turn.

    Parameters
    ----------
    trace : Trace
        Its `calls`, `events` with their labels, and `regions` are read.

    Returns
    -------
    Loops or None
        One per call; nothing if the trace does not say, or was read without its records.

    Notes
    -----
    O(calls + events), with events read a part at a time. Turns of labelled loops need the
    loops as regions, which stores have and Paraver files do not; there they are all -1.

    Examples
    --------
    >>> from burstline.testing import trace_of
    >>> loops_of(trace_of("ranks 1 | 0 | 1 enter MPI_Barrier | 2 leave")) is None
    True
    """
    labels = _told(trace, LOOP_OF_CALL)
    if labels is not None:
        names, number = _named(trace, _at_calls(trace, labels, 0))
        turn = _turns_of_labelled(trace, _events(trace, ITERATION))
        return Loops(number, _as_turns(turn), names)
    found = _told(trace, FOUND_ITERATION)
    if found is not None:
        number = np.full(trace.rows("calls"), OUTSIDE, np.int64)
        return Loops(number, _as_turns(_at_calls(trace, found, OUTSIDE)), [])
    return None


def _as_turns(turn: Integers) -> Turns:
    return np.clip(turn, OUTSIDE, _MOST).astype(np.int32)


def _told(trace: Trace, kind: int) -> pa.Table | None:
    """Give the events of a type; nothing, without a look at any event, if it is not known."""
    if not pc.is_in(pa.scalar(kind), trace.table("event_types")["type"]).as_py():
        return None
    events = _events(trace, kind)
    return events if events.num_rows else None


def _events(trace: Trace, kind: int) -> pa.Table:
    parts = [
        part.filter(pc.equal(part["type"], kind)).select(list(_COLUMNS))
        for part in trace.batches("events", [*_COLUMNS, "type"])
    ]
    empty = trace.table("events").schema.empty_table() if not parts else parts[0].slice(0, 0)
    return pa.concat_tables([empty.select(list(_COLUMNS)), *parts])


def _at_calls(trace: Trace, events: pa.Table, nothing: int) -> Integers:
    """Give the last value that was told on its thread until each call was entered."""
    location, time_ns, value = (events[name].to_numpy() for name in _COLUMNS)
    (enter,) = trace.arrays("calls", "enter_ns")
    found = np.full(len(enter), nothing, np.int64)
    for own, here in _lanes(trace, location):
        last = np.searchsorted(time_ns[here], enter[own], side="right") - 1
        known = last >= 0
        found[own][known] = value[here][last[known]]
    return found


def _lanes(trace: Trace, location: Integers) -> list[tuple[slice, slice]]:
    """Give for each location its calls, and its part of a column of locations."""
    offsets = trace.offsets("calls")
    bounds = np.searchsorted(location, np.arange(len(offsets)))
    return [
        (slice(offsets[lane], offsets[lane + 1]), slice(bounds[lane], bounds[lane + 1]))
        for lane in np.flatnonzero(np.diff(bounds)).tolist()
    ]


def _named(trace: Trace, value: Integers) -> tuple[list[str], Integers]:
    """Call loops by names that other runs give them, too."""
    types, values = trace.table("event_types"), trace.table("event_values")
    groups = types.filter(pc.equal(types["type"], LOOP_OF_CALL))["group"].to_pylist()
    rows = (values[name].to_pylist() for name in ("group", "value", "label"))
    labels = {
        number: label for group, number, label in zip(*rows, strict=True) if group in groups
    }
    numbers, of_call = np.unique(value, return_inverse=True)
    names: dict[str, int] = {}
    codes = [
        names.setdefault(labels.get(number) or f"loop {number}", len(names))
        if number != 0
        else OUTSIDE
        for number in numbers.tolist()
    ]
    return list(names), np.array(codes, np.int64)[of_call]


def _turns_of_labelled(trace: Trace, events: pa.Table) -> Integers:
    """Give the iteration of the outermost loop that iterates, of which events tell no name."""
    (enter,) = trace.arrays("calls", "enter_ns")
    turn = np.full(len(enter), OUTSIDE, np.int64)
    location, region, begin, end = trace.arrays(
        "regions", "location", "region", "enter_ns", "leave_ns"
    )
    iterates, is_loop = _iterating(trace), _labelled(trace)
    chosen = np.flatnonzero(is_loop[region]) if len(region) else np.zeros(0, np.int64)
    location, region, begin, end = (column[chosen] for column in (location, region, begin, end))
    where, time_ns, value = (events[name].to_numpy() for name in _COLUMNS)
    of_location = np.searchsorted(location, np.arange(len(trace.offsets("calls"))))
    for own, here in _lanes(trace, where):
        lane = int(where[here.start])
        part = slice(of_location[lane], of_location[lane + 1])
        outer = _outermost(iterates[region[part]], begin[part], end[part])
        own_begin, own_end = begin[part][outer], end[part][outer]
        inner_begin, inner_end = np.sort(begin[part][~outer]), np.sort(end[part][~outer])
        told = time_ns[here]
        nested = np.searchsorted(inner_begin, told, side="right")
        nested -= np.searchsorted(inner_end, told, side="right")
        around = _around(own_begin, own_end, told)
        is_own = (around >= 0) & (nested == _open(inner_begin, inner_end, own_begin, around))
        last = np.searchsorted(told[is_own], enter[own], side="right") - 1
        loop = _around(own_begin, own_end, enter[own])
        known = (last >= 0) & (loop >= 0)
        known[known] = told[is_own][last[known]] >= own_begin[loop[known]]
        turn[own][known] = value[here][is_own][last[known]]
    return turn


def _labelled(trace: Trace) -> Mask:
    table = trace.table("region_defs")
    kinds = zip(*(table[name].to_pylist() for name in ("role", "paradigm")), strict=True)
    return np.array([kind == ("loop", "user") for kind in kinds], bool)


def _iterating(trace: Trace) -> Mask:
    """Tell which kinds of regions went round at least twice, once they were entered."""
    most = np.zeros(trace.rows("region_defs"), np.int64)
    np.maximum.at(most, *trace.arrays("regions", "region", "iterations"))
    return most > 1


def _outermost(iterates: Mask, begin: Integers, end: Integers) -> Mask:
    """Tell which loops, of those that iterate, are in none of them."""
    until = np.maximum.accumulate(np.where(iterates, end, 0))
    before = np.concatenate([[0], until[:-1]])[: len(end)]
    return iterates & (begin >= before)


def _around(begin: Integers, end: Integers, moment: Integers) -> Integers:
    """Give the interval around each moment, or -1; intervals are in order, and apart."""
    last = np.searchsorted(begin, moment, side="right") - 1
    if not len(begin):
        return last
    return np.where((last >= 0) & (moment < end[last]), last, -1)


def _open(begin: Integers, end: Integers, moments: Integers, which: Integers) -> Integers:
    """Count the loops around, that never went round, when some began."""
    count = np.searchsorted(begin, moments) - np.searchsorted(end, moments, side="right")
    return count[which] if len(count) else np.zeros(len(which), np.int64)
