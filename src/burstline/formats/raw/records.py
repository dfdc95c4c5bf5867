"""Records as Paraver has them, for one group of processes after the other.

::

    tables of a group, the program's events ──► events, states, links ─► labels, at the end

Only for programs that recorded events themselves, and for what becomes a ``.prv``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline.columns import Integers, shifted, to_numpy
from burstline.formats.derivation import Callers, Others, label_tables, with_records
from burstline.formats.intake import RECEIVE_COLUMNS, SEND_COLUMNS, Group
from burstline.formats.raw.events.user_events import merged
from burstline.formats.raw.group import Batch, RunBasis
from burstline.formats.raw.processes.processes import location_table
from burstline.model import TABLES, UNKNOWN, Trace, arrow_table

_OF_LOCATIONS: Final = ("calls", "bursts", "regions", "locks", "readings", "gaps", "samples")


class ParaverTables:
    """Derives the raw tables of a run."""

    def __init__(self, basis: RunBasis, whole: Mapping[str, pa.Table], *, own: bool) -> None:
        self._basis, self._whole, self._has_own = basis, dict(whole), own
        self._used: set[int] = set()
        self._own: set[int] = set()

    def added_to(self, group: Group, batch: Batch, definitions: pa.Table) -> Group:
        """A group with its raw tables."""
        processes = batch.processes
        first = int(np.searchsorted(self._basis.places.process, processes.start))
        tables = {name: _moved_locations(group.tables[name], -first) for name in _OF_LOCATIONS}
        own_processes = self._basis.processes[processes.start : processes.stop]
        tables["locations"] = location_table(own_processes, batch.lives)
        tables["region_defs"] = definitions
        tables["messages"] = _half_rows(group, first)
        whole = with_records(Trace(tables | self._whole))
        self._used |= set(pc.unique(whole.table("events")["type"]).to_pylist())
        records = {name: whole.table(name) for name in ("events", "states", "links")}
        if not self._has_own:  # the times that Extrae would have recorded
            group = _with_times(group, whole.table("messages"))
        elif batch.events.shape[1]:
            self._own |= set(np.unique(batch.events[3]).tolist())
            own = batch.events.copy()
            own[0] -= first
            records["events"] = merged(whole, own)
        moved = {name: _moved_locations(table, first) for name, table in records.items()}
        return replace(group, tables={**moved, **group.tables})

    def labels(self, definitions: pa.Table) -> dict[str, pa.Table]:
        """The labels of all events, once all groups have been gone through."""
        trace = Trace(self._whole | {"region_defs": definitions})
        used = np.array(sorted(self._used), np.int64)
        labels = label_tables(trace, Callers(trace), Others(trace), used)
        own = np.array(sorted(self._own), np.int64)
        if not len(own):
            return labels
        return self._basis.events.labels(labels["event_types"], labels["event_values"], own)


def _moved_locations(table: pa.Table, by: int) -> pa.Table:
    """A table whose locations, if it has any, are counted from elsewhere."""
    return shifted(table, "location", by) if "location" in table.column_names else table


def _half_rows(group: Group, first: int) -> pa.Table:
    """The halves of messages as rows of `messages`, of which one side is not known."""
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


def _with_times(group: Group, messages: pa.Table) -> Group:
    split = len(group.sends["tag"])
    sends = {name: to_numpy(messages[name])[:split] for name in ("send_ns", "send_leave_ns")}
    receives = {name: to_numpy(messages[name])[split:] for name in ("post_ns", "receive_ns")}
    return replace(
        group, sends={**group.sends, **sends}, receives={**group.receives, **receives}
    )
