"""Records of a trace in windows of time, for traces larger than memory.

::

    batches of whole locations  ->  rows by window in three spill files  ->  Records per window

A store holds its rows by location, a .prv by time.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa

from burstline.columns import to_numpy
from burstline.formats.paraver.writing import records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from burstline.columns import Integers
    from burstline.formats.paraver.writing.records import Records
    from burstline.trace import Trace


ROW_BYTES: Final = {"events": 28, "states": 28, "links": 64}
"""Bytes of a record in its columns."""

_BINS: Final = 4096
COPIES: Final = 6
"""Copies of records in memory while they are sorted."""

_DUE: Final = {
    "events": "time_ns",
    "states": "begin_ns",
    "messages": "send_leave_ns",
    "links": "send_leave_ns",
}
_COLUMNS: Final = {
    "events": records.EVENT_COLUMNS,
    "states": records.STATE_COLUMNS,
    "messages": records.MESSAGE_COLUMNS,
    "links": records.LINK_COLUMNS,
}
_LATER: Final = {
    "events": (),
    "states": ("end_ns",),
    "messages": ("send_ns", "post_ns", "receive_ns"),
    "links": ("send_ns", "post_ns", "receive_ns"),
}


class Survey(NamedTuple):
    """Rows by table (messages are links), and the first and last moment that a record names."""

    rows: dict[str, int]
    first_ns: int
    last_ns: int

    @property
    def bytes(self) -> int:
        """Bytes of all records."""
        return sum(ROW_BYTES[name] * rows for name, rows in self.rows.items())


def survey(trace: Trace) -> Survey:
    """The rows and moments of a trace, read in batches; moments are 0 without records."""
    rows = dict.fromkeys(ROW_BYTES, 0)
    first: list[int] = []
    last: list[int] = []
    for name, due in _DUE.items():
        for part in trace.batches(name, (due, *_LATER[name])):
            if part.num_rows:
                rows[_kind(name)] += part.num_rows
                times = [to_numpy(column) for column in part.columns]
                never_ending = name == "states"
                first += [int(time.min()) for time in times[: 1 if never_ending else None]]
                last += [int(time.max()) for time in times]
    return Survey(rows, min(first, default=0), max(last, default=0))


def windows(trace: Trace, surveyed: Survey, *, memory: int, beside: Path) -> Iterator[Records]:
    """Yield the records in windows of time, in order, of at most `memory` bytes each.

    A window is never shorter than 1/4096 of the trace: its records may take more memory.
    """
    edges = _edges(trace, surveyed, max(memory // COPIES, 1))
    locations = trace.locations.num_rows
    with TemporaryDirectory(prefix=".burstline-", dir=beside) as folder:
        spills = {
            kind: _Spill(Path(folder) / kind, _COLUMNS[kind], edges) for kind in ROW_BYTES
        }
        for name, due in _DUE.items():
            for part in trace.batches(name, _COLUMNS[name]):
                is_link = _kind(name) == "links"
                spills[_kind(name)].add(records.as_links(part) if is_link else part, due)
        for spill in spills.values():
            spill.seal()
        for window in range(len(edges)):
            events, states, links = (spills[kind].window(window) for kind in ROW_BYTES)
            yield records.from_tables(events, states, links, locations)


class _Spill:
    """Rows of one kind in one file, by window."""

    def __init__(self, path: Path, columns: tuple[str, ...], edges: Integers) -> None:
        self._path, self._edges = path, edges
        self._schema = pa.schema([(name, pa.int64()) for name in columns])
        self._writer = pa.ipc.new_file(
            path, self._schema, options=pa.ipc.IpcWriteOptions(compression="lz4")
        )
        self._parts: list[list[int]] = [[] for _ in edges]
        self._written = 0

    def add(self, table: pa.Table, due: str) -> None:
        """Write rows, those of one window together."""
        table = table.select(self._schema.names).cast(self._schema)
        window = np.searchsorted(self._edges, to_numpy(table[due]), side="right") - 1
        order = np.argsort(window.astype(np.int16), kind="stable")
        ends = np.cumsum(np.bincount(window, minlength=len(self._edges)))
        table = table.take(pa.array(order)).combine_chunks()
        first = 0
        for number, last in enumerate(ends.tolist()):
            for batch in table.slice(first, last - first).to_batches():
                self._writer.write_batch(batch)
                self._parts[number].append(self._written)
                self._written += 1
            first = last

    def seal(self) -> None:
        """Finish writing."""
        self._writer.close()

    def window(self, number: int) -> pa.Table:
        """The rows of one window, by location."""
        with pa.memory_map(str(self._path)) as file:
            source = pa.ipc.open_file(file)
            parts = [source.get_batch(part) for part in self._parts[number]]
        return pa.Table.from_batches(parts, self._schema).combine_chunks()


def _kind(name: str) -> str:
    return "links" if name == "messages" else name


def _edges(trace: Trace, surveyed: Survey, limit: int) -> Integers:
    """The begins of windows of at most `limit` bytes, in ns."""
    width = (surveyed.last_ns - surveyed.first_ns) // _BINS + 1
    load = np.zeros(_BINS, np.int64)
    for name, due in _DUE.items():
        for part in trace.batches(name, (due,)):
            bins = (to_numpy(part[due]) - surveyed.first_ns) // width
            load += np.bincount(bins, minlength=_BINS) * ROW_BYTES[_kind(name)]
    starts, held = [0], 0
    for number, size in enumerate(load.tolist()):
        if held and held + size > limit:
            starts.append(number)
            held = 0
        held += size
    return surveyed.first_ns + np.array(starts, np.int64) * width
