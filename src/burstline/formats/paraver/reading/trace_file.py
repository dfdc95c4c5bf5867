"""An open Paraver trace, for all ways of reading it: scanned, assembled, and as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from burstline import _core
from burstline.columns import Integers, to_numpy
from burstline.errors import FormatError, readable
from burstline.executor import in_order
from burstline.formats.files import is_plain
from burstline.formats.intake import Oddity
from burstline.formats.paraver.files.declarations import (
    FACTS,
    ONLY,
    OWN_IDS,
    SILENT,
    others_in,
    said_in,
    size_in,
    with_others,
)
from burstline.formats.paraver.files.header import Header, Objects, companion_paths, read_header
from burstline.formats.paraver.files.lines import LineSource, Stretch
from burstline.formats.paraver.files.pcf import Pcf, read_pcf
from burstline.formats.paraver.files.row import RowNames, read_row
from burstline.formats.paraver.files.threads import fact_tables
from burstline.formats.paraver.reading.assembly import TableAssembly
from burstline.formats.paraver.reading.kernel_vocabulary import counters_of, type_table
from burstline.formats.paraver.reading.scan import COUNTS, BlockFacts, Overflow, Scanned
from burstline.model import LOOP_TYPES, arrow_table, metadata_table, row_table, schema
from burstline.progress import SILENCE, Progress

_GPU_NAME: Final = re.compile(r"(GPU|CUDA|HIP)-?D?\d")
_LARGEST_COMPANION = 1 << 30
_MANY_THREADS = 1 << 16
_BYTES_PER_THREAD = 64
_INFLATION = 16


_Desk: TypeAlias = tuple[bytearray, _core.Block]
"""What is used for many stretches."""


@dataclass(slots=True)
class OpenTrace:
    """An open trace with the contents of its companions."""

    path: Path
    source: LineSource
    header: Header
    pcf: Pcf
    row: RowNames | None
    layout: _core.Layout
    types: _core.TypeTable
    buckets: int
    bucket: Integers  # of each task

    @property
    def objects(self) -> Objects:
        """The declared objects."""
        return self.header.objects

    def scan(
        self,
        journal: _core.Journal | None,
        *,
        threads: int,
        progress: Progress,
        overflow: Overflow | None = None,
    ) -> Scanned:
        """The scanned body, with the defects of the header and the companions."""
        # Memory: the journal, and about 15 MB per thread.
        scanned = Scanned()
        progress.step("Reading", self.source.size, "B")
        ahead = threads + 1
        desks: list[_Desk] = [(bytearray(), self.new_block()) for _ in range(ahead + 1)]

        def work(at: tuple[_Desk, Stretch]) -> tuple[_Desk, int]:
            (buffer, block), stretch = at
            block.scan(stretch.fetch(buffer))
            if journal is not None:
                block.encode()
            return (buffer, block), stretch.size

        stretches = ((desks.pop(), stretch) for stretch in self.source.stretches())
        with closing(in_order(work, stretches, threads, ahead=ahead)) as worked:
            for (buffer, block), size in worked:
                if journal is not None:
                    journal.append(block)
                    if overflow is not None:
                        overflow(journal)
                scanned.take(BlockFacts.of(block))
                desks.append((buffer, block))
                progress.advance(size)
        self.complete(scanned)
        return scanned

    def new_block(self) -> _core.Block:
        """What a stretch is scanned into."""
        return _core.Block(self.layout, self.types, self.header.unit_ns)

    def complete(self, scanned: Scanned) -> None:
        """Note how the body ends, and the defects of the header and the companions."""
        scanned.finish(self.source.damage)
        of_row = self.row.defects if self.row else ()
        for defect in (*self.header.defects, *self.pcf.defects, *of_row):
            scanned.defects.add(defect)
        if scanned.events and not self.pcf.types:
            text = f"no labels beside {self.path.name}"
            scanned.defects.add(Oddity("labels_missing", "info", text))
        claimed = self.header.communicators
        if claimed and claimed != len(scanned.communicators):
            apps = len(self.objects.tasks)
            if claimed * apps != len(scanned.communicators):
                text = f"{claimed} claimed, {len(scanned.communicators)} found"
                scanned.defects.note("communicator_count", "info", text)

    @property
    def tells_loops(self) -> bool:
        """Whether there are events of loops, once the body was scanned."""
        return not LOOP_TYPES.isdisjoint(self.types.types().tolist())

    def assembly(self, journal: _core.Journal, scanned: Scanned) -> TableAssembly:
        """The assembly of tables, once the body was scanned."""
        counters = counters_of(self.types.types(), self.pcf)
        for key, count in others_in(scanned.comments).items():
            if key in scanned.communicators and key[0] < len(self.objects.tasks):
                scanned.communicators[key] = with_others(
                    scanned.communicators[key], count, int(self.objects.tasks[key[0]])
                )
        counts = journal.counts(self.layout)
        in_order = sorted(scanned.communicators, key=lambda key: key[0])
        communicators = {key: row for row, key in enumerate(in_order)}
        if counts["several_processors"].any():
            moved = int(np.count_nonzero(counts["several_processors"]))
            first = int(counts["several_processors"].argmax())
            text = f"location {first}; only the first processor is kept"
            scanned.defects.note("several_processors", "loss", text, moved)
        return TableAssembly(self.objects, self.pcf, scanned, counters, communicators)

    def whole_tables(
        self,
        assembly: TableAssembly,
        journal: _core.Journal,
        twins: AbstractSet[int],
        *,
        raw: bool,
    ) -> dict[str, pa.Table]:
        """The tables of the trace as a whole, once all parts are assembled."""
        counts: dict[str, Integers] = journal.counts(self.layout)
        scanned = assembly.scanned
        locations = _location_table(self.objects, counts, self.row)
        if silent := said_in(scanned.comments, SILENT):
            scanned.defects.note(schema.SILENT_THREADS, "info", silent)
        if chosen := said_in(scanned.comments, ONLY):
            left_out = (size_in(scanned.comments) or 0) - int(self.objects.tasks.sum())
            scanned.defects.note(schema.CHOSEN_RANKS, "info", chosen, max(left_out, 1))
        assembly.endings.note(scanned, self.header, to_numpy(locations["died_ns"]))
        tables = {
            "locations": locations,
            "communicators": _communicator_table(
                scanned,
                assembly.communicators,
                self.objects,
                twins=set() if OWN_IDS in scanned.comments else twins,
            ),
            "call_paths": assembly.call_paths.table(),
            "region_defs": assembly.regions.table(),
            "counters": assembly.counter_table(),
            "counter_sets": assembly.counter_set_table(),
            **fact_tables(scanned.comments, _places(self.objects)),
            "metadata": self._metadata(scanned),
            "defects": scanned.defects.table(),
        }
        if raw:
            tables |= _label_tables(self.pcf)
            tables["source"] = self._source_table(scanned)
        return tables

    def _metadata(self, scanned: Scanned) -> pa.Table:
        facts: dict[str, Any] = {
            "path": readable(self.path),
            "format": "paraver",
            "resolution_ns": self.header.unit_ns,
            "recorder": "unknown; the format does not say",
            "clock": "unknown; the format does not say",
            "date": self.header.date,
            **{key: said_in(scanned.comments, beginning) for key, beginning in FACTS.items()},
            "time_origin": "0 of the trace",
            "claimed_duration_ns": self.header.claimed_duration,
            "cpus_per_node": ",".join(map(str, self.header.cpus_per_node or ())),
            "records_states": scanned.states,
            "records_events": scanned.events,
            "records_communications": scanned.communications,
        }
        return metadata_table(facts)

    def _source_table(self, scanned: Scanned) -> pa.Table:
        lines = [
            ("header", [self.header.text]),
            ("communicator", scanned.communicator_lines),
            ("comment", scanned.comments),
            ("row", _lines_of(_read_companions(self.path)[1])),
            ("pcf", _lines_of(_read_companions(self.path)[0])),
        ]
        rows = ((kind, valid_text(text)) for kind, texts in lines for text in texts)
        return row_table("source", rows)


def _places(objects: Objects) -> list[tuple[int, ...]]:
    """Application, task and thread of each location, which count from 1."""
    rank = objects.rank_of_task[objects.process]
    ids = np.stack([objects.application, rank, objects.thread], axis=1) + 1
    return list(map(tuple, ids.tolist()))


def _location_table(
    objects: Objects, counts: Mapping[str, Integers], row: RowNames | None
) -> pa.Table:
    """The table of locations, which live from their first event to the last event or state."""
    first = counts["first_event"]
    born = np.where(first != schema.NO_VALUE, first, counts["first_state"])
    died = np.maximum(np.maximum(counts["last_event"], counts["latest_end"]), born)
    unseen = born == schema.NO_VALUE
    rank = objects.rank_of_task[objects.process]
    names: Sequence[str] = row.levels.get("THREAD", ()) if row else ()
    if len(names) != len(rank):
        names = ["THREAD " + ".".join(map(str, place)) for place in _places(objects)]
    given = row.levels.get("NODE", ()) if row else ()
    nodes = [
        None if node < 0 else given[node] if node < len(given) else f"node {node + 1}"
        for node in objects.nodes[objects.process].tolist()
    ]
    return arrow_table(
        "locations",
        {
            "location": np.arange(len(names)),
            "application": objects.application,
            "process": objects.process,
            "rank": rank,
            "thread": objects.thread,
            "kind": ["gpu_stream" if _GPU_NAME.match(name) else "cpu" for name in names],
            "node": nodes,
            "born_ns": np.where(unseen, 0, born),
            "died_ns": np.where(unseen, 0, died),
            "name": names,
            "cpu": counts["processor"],
        },
    )


def _communicator_table(
    scanned: Scanned,
    rows: Mapping[tuple[int, int], int],
    objects: Objects,
    *,
    twins: AbstractSet[int],
) -> pa.Table:
    table = []
    for row, key in enumerate(rows):
        communicator = scanned.communicators.get(key)
        members = communicator.members.tolist() if communicator else []
        size = size_in(scanned.comments) or (
            int(objects.tasks[key[0]]) if key[0] < len(objects.tasks) else 0
        )
        if communicator is None:
            kind = "unknown"
        elif communicator.sides:
            kind = "inter"
        elif len(members) == size:
            kind = "world"  # any permutation of all tasks is one
        else:
            kind = "self" if len(members) == 1 else "group"
        table.append((row, key[0], kind, members, key[0] in twins, key[1]))
    return row_table("communicators", table)


@contextmanager
def open_trace(path: Path, *, most_buckets: int) -> Iterator[OpenTrace]:
    """An open trace, of which all but the body is read."""
    with closing(LineSource(path)) as source:
        header = read_header(source.first_line(), path)
        _refuse_claims(header, source)
        objects = header.objects
        tasks = len(objects.threads)
        buckets = min(most_buckets, tasks)
        bucket = np.arange(tasks) * buckets // tasks
        layout = _core.Layout(objects.tasks.tolist(), objects.threads.tolist(), bucket.tolist())
        pcf_path, row_path = _read_companions(path)
        pcf = read_pcf(_bytes_of(pcf_path))
        row = read_row(_bytes_of(row_path)) if is_plain(row_path) else None
        types = type_table(pcf)
        yield OpenTrace(path, source, header, pcf, row, layout, types, buckets, bucket)


def _refuse_claims(header: Header, source: LineSource) -> None:
    """Raise FormatError for more threads than the file has room for."""
    claimed = int(header.objects.threads.sum())
    size = source.size * (_INFLATION if source.is_gzip else 1)
    most = max(_MANY_THREADS, size // _BYTES_PER_THREAD)
    if claimed > most:
        raise FormatError(
            source.path,
            1,
            expected=f"at most {most:,} threads in a file of this size",
            found=f"{claimed:,} threads",
            way_out="The header claims more than the body can hold.",
        )


def valid_text(text: str) -> str:
    """A text with what UTF-8 cannot write replaced."""
    return text.encode("utf-8", "replace").decode()


def _read_companions(path: Path) -> tuple[Path, Path]:
    if path.name.endswith((".prv", ".prv.gz")):
        return companion_paths(path)
    return path.with_suffix(".pcf"), path.with_suffix(".row")


def _bytes_of(path: Path) -> bytes:
    if not is_plain(path):
        return b""
    with path.open("rb") as file:
        return file.read(_LARGEST_COMPANION)


def _lines_of(path: Path) -> list[str]:
    return _bytes_of(path).decode("utf-8", "replace").splitlines()


def _label_tables(pcf: Pcf) -> dict[str, pa.Table]:
    types = (
        (kind, valid_text(of_type.label), of_type.gradient, of_type.group)
        for kind, of_type in sorted(pcf.types.items())
    )
    values = (
        (group, value, valid_text(label))
        for group in sorted(pcf.values)
        for value, label in pcf.values[group].items()
    )
    return {
        "event_types": row_table("event_types", types),
        "event_values": row_table("event_values", values),
    }


def scan(path: Path, *, threads: int = 2) -> dict[str, int]:
    """Counts of lines, records and pairs in a trace, and the sum of all event values."""
    with open_trace(path, most_buckets=1) as opened:
        scanned = opened.scan(None, threads=threads, progress=SILENCE)
    return {name: getattr(scanned, name) for name in COUNTS}
