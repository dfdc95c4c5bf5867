"""The events of a trace with marks among them, and tables whose columns count the marks.

::

    events of some locations, marks  -->  events with marks instead of earlier ones
    calls, messages, … with *_seq    -->  the same, counting the new events
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa

from burstline.annotation.event_types import STRUCTURE
from burstline.columns import to_numpy
from burstline.schema import NO_VALUE

if TYPE_CHECKING:
    import numpy.typing as npt

    from burstline.annotation.marks import Marks
    from burstline.columns import Integers, Mask
    from burstline.trace import Trace


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

_SEQ_BITS: Final = 36
_EVENTS: Final = ("location", "time_ns", "type", "value")


class _Rows(NamedTuple):
    """Locations and ordinals of events of the source, each pair as one sorted integer."""

    added: Integers  # a mark comes before this event
    removed: Integers  # this event is an earlier mark, and left out


class Insertion:
    """Marks, and the trace that they are inserted into."""

    def __init__(self, trace: Trace, marks: Marks) -> None:
        self._trace, self._marks = trace, marks

    @property
    def rows(self) -> int:
        """The number of events with the marks."""
        more = len(self._marks.location) - len(self._places.removed)
        return self._trace.rows("events") + more

    def merged(self, events: pa.Table) -> pa.Table:
        """Some events with the marks among them."""
        columns = [to_numpy(events[name]) for name in _EVENTS]
        stays = ~_is_structure(columns[2])
        columns = [column[stays] for column in columns]
        location, time_ns = columns[:2]
        marked = self._within(to_numpy(events["location"]))
        marks = self._marks
        row = _after(location, time_ns, marks.location[marked], marks.time_ns[marked])
        added = (marks.location, marks.time_ns, marks.type, marks.value)
        location, *rest = (
            np.insert(column, row, more[marked])
            for column, more in zip(columns, added, strict=True)
        )
        begin = np.searchsorted(location, location)
        return (
            pa.table(
                [location, np.arange(len(location)) - begin, *rest],
                names=["location", "seq", *_EVENTS[1:]],
            )
            .select(events.column_names)
            .cast(events.schema)
        )

    def renumbered(self, name: str, table: pa.Table) -> pa.Table:
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
        key = _key(location, seq)
        added, removed = self._places
        origin = _key(location, np.zeros_like(seq))
        more = np.searchsorted(added, key, "right") - np.searchsorted(added, origin)
        less = np.searchsorted(removed, key) - np.searchsorted(removed, origin)
        return seq + more - less

    @cached_property
    def _places(self) -> _Rows:
        """Where marks are added and earlier ones removed, by one pass over the events."""
        added: list[Integers] = [np.empty(0, np.int64)]
        removed: list[Integers] = [np.empty(0, np.int64)]
        for part in self._trace.batches("events", _EVENTS[:3]):
            location, time_ns, kind = (to_numpy(column) for column in part.columns)
            marked = self._within(location)
            owner = self._marks.location[marked]
            row = _after(location, time_ns, owner, self._marks.time_ns[marked])
            added.append(_key(owner, row - np.searchsorted(location, owner)))
            replaced = np.flatnonzero(_is_structure(kind))
            owner = location[replaced].astype(np.int64)
            removed.append(_key(owner, replaced - np.searchsorted(location, owner)))
        return _Rows(np.concatenate(added), np.concatenate(removed))


def _is_structure(kind: Integers) -> Mask:
    return (kind >= STRUCTURE.start) & (kind < STRUCTURE.stop)


def _after(
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


def _key(location: Integers, seq: Integers) -> Integers:
    """One number that sorts by location and number of the event."""
    return (location << _SEQ_BITS) + seq
