"""The tables of an annotated trace: those of the trace, with the marks among its events.

What counts events counts the new ones, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.annotation.marks import INNERMOST, Marks, iteration_type, loop_type
from burstline.columns import Integers, Mask, to_numpy
from burstline.errors import NotEnoughDataError
from burstline.extrae import MARKED, WAIT_CAUSE, WAIT_LENGTH, WAIT_STATE
from burstline.model import (
    NO_VALUE,
    LoopEvents,
    StoredOverlay,
    Trace,
    overlaid,
    row_table,
    with_detected,
)
from burstline.selection import Lazy

_OUTSIDE: Final = (0, "Outside of loops")
_NO_WAIT: Final = (0, "No wait")
_SEQ_BITS: Final = 36
_Labels = list[tuple[int, str]]
_EVENTS: Final = ("location", "time_ns", "type", "value")

ORDINALS: Final = {
    "calls": (("location", ("enter_seq", "leave_seq")),),
    "messages": (
        ("sender_location", ("send_seq", "send_done_seq")),
        ("receiver_location", ("post_seq", "receive_seq")),
    ),
    "collective_members": (("location", ("begin_seq", "end_seq")),),
    "regions": (("location", ("enter_seq", "leave_seq")),),
    "teams": (("fork_location", ("fork_seq", "join_seq")),),
    "locks": (("location", ("acquire_seq", "release_seq")),),
    "readings": (("location", ("seq",)),),
    "other_events": (("location", ("seq",)),),
    "half_messages": (("location", ("seq",)),),
}
"""The columns that count events, by the column with their location."""


def annotated(trace: Trace, marks: Marks) -> Trace:
    """A trace with loops and iterations as events.

    Parameters
    ----------
    trace : Trace
        With raw tables, in memory or in a store; it does not change.
    marks : Marks
        What to add, from :func:`marks_of`. Their locations are those of `trace`.

    Returns
    -------
    Trace
        The same trace with more events and their labels. All that counts events (the
        ``*_seq`` columns) counts the new ones, too. Nothing else is different. Of a trace
        in a store, tables are loaded and changed a part at a time.

    Raises
    ------
    NotEnoughDataError
        If `trace` has no raw tables.

    Notes
    -----
    O(rows) of the tables asked for. Annotating twice is annotating once: events and labels
    of an earlier annotation are replaced.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import burstline
    >>> from burstline.annotation import marks_of
    >>> trace = burstline.read(files("burstline") / "data" / "lulesh_8r.prv.gz")
    >>> marks = marks_of(burstline.detect(trace))
    >>> [loop.name for loop in marks.loops]
    ['loop 1: lulesh.cc:1109-1133, 5 iterations']
    >>> annotated(trace, marks).rows("events") - trace.rows("events") == len(marks.time_ns)
    True
    """
    if not trace.has_raw:
        raise NotEnoughDataError(
            "this trace was read without its records, and events cannot be added to them"
        )
    tables = _Tables(trace, marks)
    made = tables if trace.is_stored else Lazy(tables, tables.__getitem__)
    return Trace(made, sources=trace.sources)


def with_loops(trace: Trace, marks: Marks) -> Trace:
    """A trace that tells of the loops of marks, without events of them.

    Parameters
    ----------
    trace : Trace
        Of its loops the recorded ones stay, detected ones are replaced.
    marks : Marks
        The loops, from :func:`marks_of`, perhaps ``Marks.within`` a selection.

    Returns
    -------
    Trace
        The same trace with other tables of loops, which :func:`burstline.detect` keeps.
    """
    return overlaid(trace, _loop_tables(trace, marks))


class _Tables(StoredOverlay):
    """The tables of an annotated trace."""

    def __init__(self, trace: Trace, marks: Marks) -> None:
        super().__init__(trace, _label_tables(trace, marks) | _loop_tables(trace, marks))
        self._marks = marks

    def rows(self, name: str) -> int:
        """The number of rows of a table."""
        more = len(self._marks.location) - len(self._places[1]) if name == "events" else 0
        return super().rows(name) + more

    def rows_near(self, name: str, **near: Any) -> int | Integers:  # noqa: ANN401 -- handed on
        """The estimated number of rows of some locations in a window."""
        return self.rows(name) if name == "events" else super().rows_near(name, **near)

    def _changed(self, name: str, table: pa.Table) -> pa.Table:
        if name == "events":
            return self._merged(table)
        return self._renumbered(name, table) if name in ORDINALS else table

    def _needed(self, name: str, columns: list[str] | None) -> list[str] | None:
        if columns is None or name == "events":
            return None
        owners = [
            owner
            for owner, counting in ORDINALS.get(name, ())
            if owner not in columns and not set(counting).isdisjoint(columns)
        ]
        return [*columns, *owners]

    def _merged(self, events: pa.Table) -> pa.Table:
        """Some events with the marks among them."""
        marks, marked = self._marks, self._within(to_numpy(events["location"]))
        stays = ~_is_mark(to_numpy(events["type"]))
        if not stays.all():
            events = events.filter(pa.array(stays))
        location, time_ns = to_numpy(events["location"]), to_numpy(events["time_ns"])
        row = _rows_to_stand_before(
            location, time_ns, marks.location[marked], marks.time_ns[marked]
        )

        def column(name: str) -> Integers:
            # One at a time: of a trace in memory there are as many events once more.
            if name == "seq":
                return np.arange(len(moved)) - np.searchsorted(moved, moved)
            added: Integers = getattr(marks, name)[marked]
            return np.insert(to_numpy(events[name]), row, added)

        moved = column("location")
        arrays = [pa.array(column(field.name), field.type) for field in events.schema]
        return pa.Table.from_arrays(arrays, schema=events.schema)

    def _renumbered(self, name: str, table: pa.Table) -> pa.Table:
        """A table whose columns of ordinals count the marks, too."""
        for owner, columns in ORDINALS[name]:
            for column in columns:
                position = table.schema.get_field_index(column)
                if position < 0:
                    continue
                field = table.schema.field(position)
                seq = to_numpy(table[column])
                has_number = seq != NO_VALUE
                location = to_numpy(table[owner]).astype(np.int64)
                moved = self._moved(location, np.where(has_number, seq, 0))
                array = pa.array(moved, field.type, mask=~has_number)
                table = table.set_column(position, field, array)
        return table

    def _within(self, location: npt.NDArray[np.int32]) -> slice:
        """The marks on the locations of a sorted column."""
        if not len(location):
            return slice(0, 0)
        first, end = np.searchsorted(self._marks.location, (location[0], location[-1] + 1))
        return slice(int(first), int(end))

    def _moved(self, location: Integers, seq: Integers) -> Integers:
        key = _order_key(location, seq)
        added, removed = self._places
        origin = _order_key(location, np.zeros_like(seq))
        more = np.searchsorted(added, key, "right") - np.searchsorted(added, origin)
        less = np.searchsorted(removed, key) - np.searchsorted(removed, origin)
        return seq + more - less

    @cached_property
    def _places(self) -> tuple[Integers, Integers]:
        """The keys of events that marks come before, and of earlier marks, both sorted."""
        added: list[Integers] = [np.empty(0, np.int64)]
        removed: list[Integers] = [np.empty(0, np.int64)]
        for part in self._trace.batches("events", _EVENTS[:3]):
            location, time_ns, kind = (to_numpy(column) for column in part.columns)
            marked = self._within(location)
            owner = self._marks.location[marked]
            row = _rows_to_stand_before(location, time_ns, owner, self._marks.time_ns[marked])
            added.append(_order_key(owner, row - np.searchsorted(location, owner)))
            replaced = np.flatnonzero(_is_mark(kind))
            owner = location[replaced].astype(np.int64)
            removed.append(_order_key(owner, replaced - np.searchsorted(location, owner)))
        return np.concatenate(added), np.concatenate(removed)


def _label_tables(trace: Trace, marks: Marks) -> dict[str, pa.Table]:
    types, values = (
        list(zip(*trace.table(name).to_pydict().values(), strict=True))
        for name in ("event_types", "event_values")
    )
    groups = {group for *_, group in types}
    types = [row for row in types if row[0] not in MARKED]
    replaced = groups - {group for *_, group in types}
    values = [row for row in values if row[0] not in replaced]
    first = 1 + max(
        (group for group, *_ in (*(row[::-1] for row in types), *values)), default=-1
    )
    for group, (own, meanings) in enumerate(_labels(trace, marks), first):
        types += [(number, label, 0, group) for number, label in own]
        values += [(group, value, label) for value, label in meanings]
    return {
        "event_types": row_table("event_types", types),
        "event_values": row_table("event_values", values),
    }


def _labels(trace: Trace, marks: Marks) -> Iterator[tuple[_Labels, _Labels]]:
    """Types of marks that have values in common, and what these mean."""
    if marks.loops:
        depths = range(1, marks.depth + 1)
        loops = [(loop_type(depth), f"Loop at nesting depth {depth}") for depth in depths]
        names = [(loop.id, loop.name) for loop in marks.loops]
        yield [(INNERMOST, "Innermost loop"), *loops], [_OUTSIDE, *names]
        turns = [
            (iteration_type(depth), f"Iteration at nesting depth {depth}") for depth in depths
        ]
        yield turns, [_OUTSIDE]
    if marks.waits:
        ranks = sorted({*trace.arrays("locations", "rank")[0].tolist()})
        causes = [(rank + 1, f"rank {rank}") for rank in ranks if rank + 1]
        yield [(WAIT_STATE, "Wait state")], [_NO_WAIT, *enumerate(marks.waits, 1)]
        yield [(WAIT_LENGTH, "Length of the wait (ns)")], [_NO_WAIT]
        yield [(WAIT_CAUSE, "Rank that causes the wait")], [_NO_WAIT, *causes]


def _loop_tables(trace: Trace, marks: Marks) -> dict[str, pa.Table]:
    if not marks.loops and "loops" not in trace:
        return {}
    names = {loop.id: loop.name for loop in marks.loops}
    columns = (marks.location, marks.time_ns, marks.type, marks.value)
    return with_detected(trace, LoopEvents(*columns, lambda _, value: names.get(value)))


def _is_mark(kind: Integers) -> Mask:
    return (kind >= MARKED.start) & (kind < MARKED.stop)


def _rows_to_stand_before(
    location: npt.NDArray[np.int32], time_ns: Integers, owner: Integers, moment_ns: Integers
) -> Integers:
    """The row before which a mark belongs, after all of its location up to its moment."""
    row = np.empty(len(owner), np.int64)
    owners, begin = np.unique(owner, return_index=True)
    borders = np.append(begin, len(owner))
    firsts = np.searchsorted(location, owners)
    ends = np.searchsorted(location, owners, "right")
    for number, (first, end) in enumerate(zip(firsts.tolist(), ends.tolist(), strict=True)):
        some = slice(borders[number], borders[number + 1])
        row[some] = first + np.searchsorted(time_ns[first:end], moment_ns[some], "right")
    return row


def _order_key(location: Integers, seq: Integers) -> Integers:
    """One number that sorts by location and number of the event."""
    return (location << _SEQ_BITS) + seq
