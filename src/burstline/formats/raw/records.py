"""Records as Paraver has them, for one group of processes after the other.

::

    tables of a group, the program's events ──► events, states, links ─► labels, at the end

A trace has records only if the program recorded events itself, or if a ``.prv`` is what is
wanted in the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline.columns import to_numpy
from burstline.formats.derivation.labels import Callers, label_tables
from burstline.formats.derivation.other_events import Others
from burstline.formats.derivation.records import with_records
from burstline.formats.intake.messages import RECEIVE_COLUMNS, SEND_COLUMNS
from burstline.formats.raw.places import location_table
from burstline.formats.raw.user_events import merged
from burstline.schema import TABLES, UNKNOWN
from burstline.schema.arrays import arrow_table
from burstline.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from burstline.columns import Integers
    from burstline.formats.intake.target import Columns
    from burstline.formats.raw.group import Basis, Group

_OF_LOCATIONS: Final = ("calls", "bursts", "regions", "locks", "readings", "gaps")


class Records:
    """Derives the raw tables of a run.

    Parameters
    ----------
    basis : Basis
        What all processes share.
    whole : mapping of str to pyarrow.Table
        Tables that all groups share: call paths, communicators, counters.
    own : bool
        Whether the program has events of its own, and they are wanted.
    """

    def __init__(self, basis: Basis, whole: Mapping[str, pa.Table], *, own: bool) -> None:
        self._basis, self._whole, self._has_own = basis, dict(whole), own
        self._used: set[int] = set()
        self._own: set[int] = set()

    def of(self, group: Group, definitions: pa.Table) -> dict[str, pa.Table]:
        """Give the raw tables of a group that depend on its locations.

        Where there are no events of the program, the halves of messages in `group` are
        given the times that Extrae would have recorded.
        """
        first = int(np.searchsorted(self._basis.places.process, group.first))
        processes = self._basis.processes[group.first : group.last]
        tables = {
            name: _moved(group.tables[name], "location", -first) for name in _OF_LOCATIONS
        }
        tables["locations"] = location_table(processes, group.lives)
        tables["region_defs"] = definitions
        tables["messages"] = _halves(group, first)
        whole = with_records(Trace(tables | self._whole))
        self._used |= set(pc.unique(whole.table("events")["type"]).to_pylist())
        found = {name: whole.table(name) for name in ("events", "states", "links")}
        if not self._has_own:
            _take_times(group, whole.table("messages"))
        elif group.events.shape[1]:
            self._own |= set(np.unique(group.events[3]).tolist())
            own = group.events.copy()
            own[0] -= first
            found["events"] = merged(whole, own)
        return {name: _moved(table, "location", first) for name, table in found.items()}

    def labels(self, definitions: pa.Table) -> dict[str, pa.Table]:
        """Give the labels of all events, once all groups have been gone through."""
        trace = Trace(self._whole | {"region_defs": definitions})
        used = np.array(sorted(self._used), np.int64)
        found = label_tables(trace, Callers(trace), Others(trace), used)
        own = np.array(sorted(self._own), np.int64)
        if not len(own):
            return found
        return self._basis.events.labels(found["event_types"], found["event_values"], own)


def _moved(table: pa.Table, name: str, by: int) -> pa.Table:
    """Give a table whose locations are counted from elsewhere."""
    if not by or name not in table.column_names:
        return table
    place = table.column_names.index(name)
    kind = table.schema.field(place)
    column = pc.add(table[name], pa.scalar(by, kind.type))
    return table.set_column(place, kind, column)


def _halves(group: Group, first: int) -> pa.Table:
    """Give the halves of messages as rows of `messages`, of which one side is not known."""
    count = len(group.sends["tag"]) + len(group.receives["tag"])
    split = len(group.sends["tag"])
    columns: dict[str, Integers] = {}
    for column in TABLES["messages"].columns:
        columns[column.name] = np.full(count, 0)
        if column.name.endswith("_call"):
            columns[column.name][:] = UNKNOWN
        if column.name in SEND_COLUMNS:
            columns[column.name][:split] = group.sends[column.name]
        if column.name in RECEIVE_COLUMNS:
            columns[column.name][split:] = group.receives[column.name]
    columns["sender_location"][:split] -= first
    columns["receiver_location"][split:] -= first
    return arrow_table("messages", columns)


def _take_times(group: Group, messages: pa.Table) -> None:
    split = len(group.sends["tag"])
    sides: list[tuple[Columns, slice, tuple[str, ...]]] = [
        (group.sends, slice(0, split), ("send_ns", "send_leave_ns")),
        (group.receives, slice(split, None), ("post_ns", "receive_ns")),
    ]
    for halves, rows, names in sides:
        for name in names:
            halves[name] = to_numpy(messages[name])[rows]
