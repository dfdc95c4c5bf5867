"""From a trace back to a Paraver trace: ``.prv``, ``.pcf`` and ``.row``.

What was read from a Paraver file and is written again has the same states, the same events of
each thread in the same order, and the same communications. A store holds its rows by location,
a .prv by time: a trace larger than memory is written in windows of time, for which batches of
whole locations become rows by window in three spill files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from burstline import _core
from burstline.columns import Integers, to_numpy
from burstline.errors import InconsistentTraceError, NotEnoughDataError, ParameterError
from burstline.formats import atomic
from burstline.formats.derivation import with_records
from burstline.formats.intake import borders_of
from burstline.formats.paraver.files.header import companion_paths
from burstline.formats.paraver.files.pcf import Pcf, TypeLabel, read_pcf, write_pcf
from burstline.formats.paraver.files.row import write_row
from burstline.formats.paraver.writing.prologue import (
    ObjectNumbers,
    numbering,
    object_names,
    prologue,
    source_lines,
)
from burstline.model import Trace
from burstline.progress import SILENCE, Progress

_DEFAULT_MEMORY: Final = 1 << 30
"""Bytes for the records of one window of a trace in a store."""

_BUFFER_BYTES: Final = 4 << 20
EVENT_COLUMNS: Final = ("location", "time_ns", "type", "value")
_LINK_COLUMNS: Final = (
    "sender_location", "send_ns", "send_leave_ns", "receiver_location", "post_ns", "receive_ns",
    "size", "tag",
)  # fmt: skip
_TAG_BITS: Final = np.int64(0xFFFF_FFFF)
_ROW_BYTES: Final = {"events": 28, "states": 28, "links": 64}
"""Bytes of a record in its columns."""

# A window is never shorter than 1/4096 of the trace: its records may take more memory.
_BINS: Final = 4096
_COPIES: Final = 6
"""Copies of records in memory while they are sorted."""

_DUE: Final = {
    "events": "time_ns",
    "states": "begin_ns",
    "messages": "send_leave_ns",
    "links": "send_leave_ns",
}
_COLUMNS: Final = {
    "events": EVENT_COLUMNS,
    "states": ("location", "begin_ns", "end_ns", "state"),
    "messages": (*_LINK_COLUMNS[:6], "received_bytes", "tag"),
    "links": _LINK_COLUMNS,
}


def write(
    trace: Trace,
    path: str | PathLike[str],
    *,
    memory: int | None = None,
    progress: Progress = SILENCE,
) -> None:
    """Write the three files of a Paraver trace, together and whole or not at all."""
    path = Path(path)
    companions = companion_paths(path)
    if not trace.has_raw:
        trace = with_records(trace, memory=memory)
    names = numbering(trace)
    surveyed = survey(trace)
    records = sum(surveyed.rows.values())
    if not records:
        raise NotEnoughDataError("a trace without records cannot be written as .prv")
    claimed = int(trace.metadata.get("claimed_duration_ns", 0))
    end_ns = max(surveyed.last_ns, int(trace.locations["died_ns"].to_numpy().max()), claimed)
    progress.step("writing", 0, "B")
    with atomic.outputs([path, *companions]) as (prv, pcf, row):
        prv.write(prologue(trace, names, end_ns))
        for block in _record_blocks(trace, names, surveyed, memory=memory, output=path):
            prv.write(block)
            progress.advance(len(block))
        pcf.write(write_pcf(_all_labels(trace)))
        row.write(write_row(object_names(trace, names)))


def _all_labels(trace: Trace) -> Pcf:
    """The labels of a trace with raw tables, completed by those of the source."""
    other = read_pcf("\n".join(source_lines(trace, "pcf")).encode())
    in_order = sorted(trace.table("event_types").to_pylist(), key=lambda row: row["group"])
    types = {
        row["type"]: TypeLabel(row["label"], row["gradient"], row["group"]) for row in in_order
    }
    values: dict[int, dict[int, str]] = {}
    for row in trace.table("event_values").to_pylist():
        values.setdefault(row["group"], {})[row["value"]] = row["label"]
    return replace(other, types=types, values=values) if types else other


def _record_blocks(
    trace: Trace,
    names: ObjectNumbers,
    surveyed: RecordSurvey,
    *,
    memory: int | None,
    output: Path,
) -> Iterator[memoryview]:
    """Yield the records as some megabytes of whole lines each, valid until the next."""
    if surveyed.first_ns < 0:
        raise ParameterError(
            f"the trace begins at {surveyed.first_ns} ns, and Paraver knows no time before 0. "
            f"Shift it by {-surveyed.first_ns} ns first"
        )
    budget = _DEFAULT_MEMORY if memory is None else memory
    body = _core.PrvBody(names.cpu, names.application, names.task, names.thread)
    out = np.empty(_BUFFER_BYTES, np.uint8)
    fits = _COPIES * surveyed.bytes <= budget or not trace.is_stored
    parts = (
        iter([_all_records(trace)])
        if fits
        else windows(trace, surveyed, memory=budget, output=output)
    )
    for part in parts:
        body.load(part.events, part.states, part.links)
        while filled := body.fill(out):
            yield out.data[:filled]
        if body.disordered >= 0:
            raise InconsistentTraceError(
                f"the records of location {body.disordered} run backwards in time"
            )


class ParaverRecords(NamedTuple):
    """Columns of int64 for the kernel, behind the offsets of locations, (locations + 1,)."""

    events: tuple[Integers, ...]  # time, type, value
    states: tuple[Integers, ...]  # begin, end, state
    # by sender and send leave: send, send leave, receiver, post, receive, size, tag
    links: tuple[Integers, ...]


def _all_records(trace: Trace) -> ParaverRecords:
    """The records of a trace; events and states in memory are not copied."""
    return _from_tables(
        trace.table("events").select(list(EVENT_COLUMNS)),
        trace.table("states").select(list(_COLUMNS["states"])),
        pa.concat_tables([_as_links(trace.table(name)) for name in ("messages", "links")]),
        trace.locations.num_rows,
    )


def _from_tables(
    events: pa.Table, states: pa.Table, links: pa.Table, locations: int
) -> ParaverRecords:
    """The records of three tables sorted by location; `links` in any order within it."""
    order = np.lexsort((to_numpy(links["send_leave_ns"]), to_numpy(links["sender_location"])))
    return ParaverRecords(
        _by_location(events, locations),
        _by_location(states, locations),
        _by_location(links.take(pa.array(order)), locations),
    )


def _as_links(table: pa.Table) -> pa.Table:
    """Messages or other communications with :data:`_LINK_COLUMNS`, as int64; tags unsigned."""
    is_messages = "received_bytes" in table.column_names
    names = _COLUMNS["messages" if is_messages else "links"]
    columns = [_int64_column(table[name]) for name in names]
    if is_messages:
        columns[-1] = columns[-1] & _TAG_BITS
    return pa.table(dict(zip(_LINK_COLUMNS, columns, strict=True)))


def _by_location(table: pa.Table, locations: int) -> tuple[Integers, ...]:
    group, *columns = table.columns
    offsets = np.searchsorted(to_numpy(group), np.arange(locations + 1))
    return (offsets.astype(np.int64), *(_int64_column(column) for column in columns))


def _int64_column(column: pa.ChunkedArray) -> Integers:
    return np.ascontiguousarray(to_numpy(column), dtype=np.int64)


class RecordSurvey(NamedTuple):
    """Rows by table (messages are links), and the first and last moment that a record names."""

    rows: dict[str, int]
    first_ns: int
    last_ns: int

    @property
    def bytes(self) -> int:
        """Bytes of all records."""
        return sum(_ROW_BYTES[name] * rows for name, rows in self.rows.items())


def survey(trace: Trace) -> RecordSurvey:
    """The rows and moments of a trace, read in batches; moments are 0 without records."""
    rows = dict.fromkeys(_ROW_BYTES, 0)
    first: list[int] = []
    last: list[int] = []
    for name, columns in _COLUMNS.items():
        for part in trace.batches(
            name, [column for column in columns if column.endswith("_ns")]
        ):
            if part.num_rows:
                rows[_record_kind(name)] += part.num_rows
                times = [to_numpy(column) for column in part.columns]
                never_ending = name == "states"
                first += [int(time.min()) for time in times[: 1 if never_ending else None]]
                last += [int(time.max()) for time in times]
    return RecordSurvey(rows, min(first, default=0), max(last, default=0))


def windows(
    trace: Trace, surveyed: RecordSurvey, *, memory: int, output: Path
) -> Iterator[ParaverRecords]:
    """Yield the records in windows of time, in order, of at most `memory` bytes each."""
    edges = _window_edges(trace, surveyed, max(memory // _COPIES, 1))
    locations = trace.locations.num_rows
    with atomic.scratch(output) as folder:
        spills = {kind: _Spill(folder / kind, _COLUMNS[kind], edges) for kind in _ROW_BYTES}
        for name, due in _DUE.items():
            for part in trace.batches(name, _COLUMNS[name]):
                is_link = _record_kind(name) == "links"
                spills[_record_kind(name)].add(_as_links(part) if is_link else part, due)
        for spill in spills.values():
            spill.seal()
        for window in range(len(edges)):
            events, states, links = (spills[kind].window(window) for kind in _ROW_BYTES)
            yield _from_tables(events, states, links, locations)


class _Spill:
    """Rows of one kind in one file, by window."""

    def __init__(self, path: Path, columns: tuple[str, ...], edges: Integers) -> None:
        self._path, self._edges = path, edges
        self._schema = pa.schema([(name, pa.int64()) for name in columns])
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        self._file = atomic.new_file(path)
        self._writer = pa.ipc.new_file(self._file, self._schema, options=options)
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
        self._writer.close()
        self._file.close()

    def window(self, number: int) -> pa.Table:
        with self._path.open("rb") as file:
            source = pa.ipc.open_file(file)
            parts = [source.get_batch(part) for part in self._parts[number]]
        return pa.Table.from_batches(parts, self._schema).combine_chunks()


def _record_kind(name: str) -> str:
    return "links" if name == "messages" else name


def _window_edges(trace: Trace, surveyed: RecordSurvey, limit: int) -> Integers:
    """The begins of windows of at most `limit` bytes, in ns."""
    width = (surveyed.last_ns - surveyed.first_ns) // _BINS + 1
    load = np.zeros(_BINS, np.int64)
    for name, due in _DUE.items():
        for part in trace.batches(name, (due,)):
            bins = (to_numpy(part[due]) - surveyed.first_ns) // width
            load += np.bincount(bins, minlength=_BINS) * _ROW_BYTES[_record_kind(name)]
    starts = borders_of(load.tolist(), limit)[:-1]
    return surveyed.first_ns + np.array(starts, np.int64) * width
