"""From the raw files of a run to a trace, by the one loop that reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline.columns import Integers
from burstline.errors import FormatError, plural, readable
from burstline.executor import Workers, threads_allowed
from burstline.formats import intake
from burstline.formats.raw.cuts import BORDERS
from burstline.formats.raw.events.calls import operation_numbers
from burstline.formats.raw.events.counters import Counters, note_backwards
from burstline.formats.raw.events.timeline import Life, born_ns
from burstline.formats.raw.events.user_events import UserEvents
from burstline.formats.raw.files.folder import RECORD_BYTES, open_files
from burstline.formats.raw.files.layout import SUFFIX, Kind
from burstline.formats.raw.files.pieces import Room
from burstline.formats.raw.group import Batch, Numbering, RunBasis, read_batch
from burstline.formats.raw.processes import watching
from burstline.formats.raw.processes.call_paths import CallPaths, Frame, Resolver
from burstline.formats.raw.processes.clocks import corrections
from burstline.formats.raw.processes.processes import (
    RunCommunicators,
    compilers_of,
    find_processes,
    location_table,
    places_of,
)
from burstline.formats.raw.records import ParaverTables
from burstline.formats.raw.slices import Sliced, SliceOrdinals, caller_of, read_part, sliced
from burstline.model import Loops, Trace, metadata_table
from burstline.progress import SILENCE, Progress

_SPENT: Final = ("calls_ns", "functions_ns", "thread_ns", "sampling_ns")
RECORDS_AT_ONCE: Final = 1 << 18
"""Records that a thread takes on at a time when all tables fit in memory."""

COSTS: Final = intake.ReadingCosts(
    tables=110,
    made=150,
    ahead=150,
    streamed=250,
    disk=22.4,
    least=RECORDS_AT_ONCE,
    most=1 << 21,
    base=intake.BASE,
    way_out=intake.way_by_store("the raw files", "FOLDER"),
)
"""Of a record of 32 bytes, whatever its kind."""

RECORDED_COSTS: Final = replace(COSTS, tables=256, made=0, ahead=0, streamed=450)
"""Of a record, where the trace is to become a ``.prv``."""

_BYTES: Final = {
    Kind.ENTER: (204, 120),
    Kind.LEAVE: (0, 0),
    Kind.COUNTERS: (55, 85),
    Kind.COLLECTIVE: (126, 180),
    Kind.SEND: (71, 320),
    Kind.RECEIVE: (71, 320),
    Kind.SEND_DONE: (10, 160),
    Kind.POST: (10, 160),
}
"""Bytes of the tables per record of a kind, and of a group that is made or read ahead.

Measured on 2 to 16 ranks of 0.1 to 1 M calls, with counters and without: what is estimated is
1.0 to 1.25 of the peak for rings, sends and receives, collectives, and calls without details.
"""


def costs_of(counts: Integers) -> intake.ReadingCosts:
    """The costs of a record of a run that has so many of each kind."""
    each = np.full((2, len(counts)), ((COSTS.tables,), (COSTS.made,)))
    each[:, list(_BYTES)] = np.transpose(list(_BYTES.values()))
    tables, made = (each @ counts / max(int(counts.sum()), 1)).tolist()
    return replace(COSTS, tables=tables, made=made, ahead=made)


class RawSource(intake.Divisible[intake.Processes | Sliced, tuple[Batch, ...]]):
    """The files of a run; `records` asks for raw tables even if the program has no events."""

    def __init__(
        self,
        folder: Path,
        *,
        raw: bool,
        records: bool = False,
        resolve: Resolver | None = None,
        operations: Mapping[int, str] | None = None,
        name: str | None = None,
        progress: Progress = SILENCE,
        memory: int | None = None,
    ) -> None:
        self._name, self.defects = readable(name or folder), intake.Defects()
        room = Room(memory)
        files = open_files(folder, self.defects, progress, room)
        processes = find_processes(files, self.defects)
        if not processes:
            raise FormatError(
                folder,
                None,
                expected="raw files of a program that calls MPI",
                found=f"{plural(len(files), 'file')} without an event, "
                f"the first {files[0].path.name}",
                way_out="Check that the program was started with MPI, and that it calls it",
            )
        clocks = corrections(processes, self.defects)
        origin = min(
            born_ns(file, correction)
            for process, correction in zip(processes, clocks, strict=True)
            for file in process.files
        )
        paths = CallPaths(resolve)
        self._basis = RunBasis(
            processes,
            [replace(clock, offset_ns=clock.offset_ns - origin) for clock in clocks],
            places_of(processes, max(correction.accuracy_ns for correction in clocks)),
            RunCommunicators(processes, self.defects),
            [paths.rows(process.defined) for process in processes],
            [paths.functions(process.defined) for process in processes],
            Counters([process.defined for process in processes]),
            operation_numbers() if operations is None else operations,
            UserEvents(processes, self.defects),
        )
        self.places, self.counters = self._basis.places, self._basis.counters.names
        self.members = self._basis.communicators.members
        self.joining = intake.MpiOrder(self.places, self.defects)
        self._shared = {
            "call_paths": paths.table(),
            "counters": self._basis.counters.table(),
            "communicators": self._basis.communicators.table(),
        }
        self._numbering, self._loops = Numbering(), Loops()
        self.operations = self._numbering.operations  # grows
        self._lives: list[Life] = []
        self._ordinals: dict[int, SliceOrdinals] = {}  # of the process whose slices are read
        own = raw and self._basis.events.any
        self._records = (
            ParaverTables(self._basis, self._shared, own=own) if records or own else None
        )
        outlines = [file.outline for process in processes for file in process.files]
        counts = np.sum([outline.counts for outline in outlines], axis=0)
        costs = RECORDED_COSTS if records else costs_of(counts)
        self.costs = replace(costs, base=costs.base + room.taken)

    def sizes(self) -> list[int]:
        """Records of each process."""
        return [sum(len(f.records) for f in process.files) for process in self._basis.processes]

    def uncut(self) -> list[int]:
        """Records of each process that are read at once: of one that is cut, little."""
        records = []
        for number, process in enumerate(self._basis.processes):
            sizes = [len(file.records) for file in process.files]
            caller = self._caller_of(number)
            if caller is not None:
                outline = process.files[caller].outline
                borders = int(outline.counts[list(BORDERS)].sum())
                sizes[caller] = max(outline.stretch, borders)
            records.append(sum(sizes))
        return records

    def parts(
        self, most: int, longest: int | None = None
    ) -> Sequence[intake.Processes | Sliced]:
        """Groups of at most so many records, and slices of processes longer than `longest`."""
        parts: list[intake.Processes | Sliced] = []
        sizes = self.sizes()
        for group in intake.groups_of(sizes, most):
            number = group.processes.start
            caller = self._caller_of(number)
            if longest is None or caller is None or sizes[number] <= longest:
                parts.append(group)
            else:
                parts += sliced(self._basis, number, caller, most)
        return parts

    def _caller_of(self, number: int) -> int | None:
        # what becomes raw tables or may tell of loops is not cut
        is_whole = self._records or self._basis.events.any
        return None if is_whole else caller_of(self._basis.processes[number])

    def load(
        self, part: intake.Processes | Sliced, named: ProcessNames | None = None
    ) -> tuple[Batch, ...]:
        """What some processes recorded, or a slice of one, numbered for itself.

        A worker's source does not resolve names of places: `named` has those of the part.
        """
        basis = self._basis if named is None else named.known_to(self._basis)
        if isinstance(part, Sliced):
            return read_part(basis, part)
        return (read_batch(basis, part.processes),)

    def named(self, part: intake.Processes | Sliced) -> tuple[ProcessNames]:
        """The rows of stacks, and the functions, of the processes of a part."""
        own = slice(part.processes.start, part.processes.stop)
        return (ProcessNames(own.start, self._basis.stacks[own], self._basis.functions[own]),)

    def shared(self, workers: Workers, folder: Path, memory: int) -> intake.Shared:
        """How workers load parts of it."""
        numbers = tuple(sorted(self._basis.numbers.items()))
        file = self._basis.processes[0].files[0].path
        arguments = folder.absolute(), workers.memory_each or memory, numbers
        return intake.Shared(workers, _unnamed, arguments, self.named, file)

    def group(self, part: intake.Processes | Sliced, loaded: tuple[Batch, ...]) -> intake.Group:
        """The group of a part, numbered after those before it."""
        if not isinstance(part, Sliced):
            group = self._numbered(loaded[0])
            if self._records is None:
                return group
            return self._records.added_to(group, loaded[0], self._numbering.definitions())
        number = part.process
        if part.place < 0:
            opening, closing = loaded
            self._ordinals[number] = SliceOrdinals(closing)
            return replace(self._numbered(opening), locations=0)
        if part.place < part.closes:
            return self._ordinals[number].number(self._numbered(loaded[0]), loaded[0])
        name = self._basis.processes[number].files[part.file].path.name
        ordinals = self._ordinals.pop(number)
        note_backwards(ordinals.backwards, self.counters, name, self.defects)
        return self._numbered(ordinals.closing)

    def _numbered(self, batch: Batch) -> intake.Group:
        self.defects.take(batch.defects)
        self._lives += batch.lives
        group = self._numbering.number(batch)
        events = self._basis.events.loop_events(batch.events)
        loops = self._loops.tables(group.tables, self._numbering.definitions(), events)
        return replace(group, tables={**group.tables, **loops})

    def whole(self) -> dict[str, pa.Table]:
        """Tables that no part owns."""
        definitions = self._numbering.definitions()
        recordings = watching.recording_table(self._basis.processes)
        labels = {} if self._records is None else self._records.labels(definitions)
        return {
            **self._shared,
            **labels,
            **self._loops.definitions(),
            "locations": location_table(self._basis.processes, self._lives),
            "placements": watching.placement_table(self._basis.processes),
            "recordings": recordings,
            "region_defs": definitions,
            "counter_sets": self._basis.counters.sets(),
            "metadata": self._metadata(recordings),
            "defects": self.defects.table(),
        }

    def _metadata(self, recordings: pa.Table) -> pa.Table:
        processes = self._basis.processes
        first = processes[0].files[0]
        overhead_ns = sum(pc.sum(recordings[name]).as_py() or 0 for name in _SPENT)
        counted = "counters" if self.counters else "no counters"
        facts = {
            "path": self._name,
            "format": "raw",
            "resolution_ns": 1,
            "recorder": f"burstline, raw version {first.version}, {counted}",
            "clock": "CLOCK_MONOTONIC of rank 0",
            "clock_accuracy_ns": self._basis.places.accuracy_ns,
            "time_origin": "0 of the trace",
            "start_realtime_ns": first.start_realtime_ns,
            "host": ", ".join(dict.fromkeys(process.host for process in processes)),
            "program": first.program,
            "mpi": next((f.mpi for p in processes for f in p.files if f.mpi), None),
            "compiler": "; ".join(compilers_of(processes)) or None,
            "ranks": max(process.defined.size for process in processes) or None,
            "thread_level": max(process.defined.thread_level for process in processes),
            "launcher": watching.launcher_of(processes),
            "binding": watching.binding_of(processes),
            "overhead_ns": overhead_ns or None,
        }
        return metadata_table(facts)


class ProcessNames(NamedTuple):
    """What a run's names say of some processes, as :class:`RunBasis` has it."""

    first: int  # of these processes
    stacks: Sequence[Mapping[int, int]]
    functions: Sequence[Mapping[int, Frame]]

    def known_to(self, basis: RunBasis) -> RunBasis:
        """The same basis for who reads these processes."""
        stacks, functions = [*basis.stacks], [*basis.functions]
        own = slice(self.first, self.first + len(self.stacks))
        stacks[own], functions[own] = self.stacks, self.functions
        return replace(basis, stacks=stacks, functions=functions)


def _unnamed(folder: Path, memory: int, numbers: tuple[tuple[int, str], ...]) -> RawSource:
    """The files of a run, for a worker that is told the names of places with each part."""
    return RawSource(folder, raw=True, operations=dict(numbers), memory=memory)


def read(
    folder: Path,
    *,
    raw: bool = True,
    memory: int | None = None,
    threads: int | None = None,
    records_at_once: int = RECORDS_AT_ONCE,
    progress: Progress = SILENCE,
    **names: Any,  # noqa: ANN401 -- as RawSource
) -> Trace:
    """The trace of raw files, in times of rank 0; `records_at_once` changes no answer."""
    source = RawSource(folder, raw=raw, progress=progress, memory=memory, **names)
    pace = intake.Pace(threads_allowed(threads), progress=progress)
    return intake.read_whole(source, at_once=records_at_once, memory=memory, pace=pace)


def fits(folder: Path, memory: int, *, records: bool) -> bool:
    """Whether raw files, and `records` as of a ``.prv``, can be read whole within a budget."""
    costs = RECORDED_COSTS if records else COSTS
    sizes = [path.stat().st_size // RECORD_BYTES for path in folder.glob(f"*{SUFFIX}")]
    threads = threads_allowed()
    group = max(RECORDS_AT_ONCE, *sizes)
    return costs.whole(sum(sizes), group, threads) <= memory


def convert(
    folder: Path,
    target: Path,
    *,
    raw: bool,
    memory: int,
    threads: int,
    progress: Progress,
    workers: Workers | None = None,
    **names: Any,  # noqa: ANN401 -- as RawSource
) -> None:
    """Make a store of the tables that :func:`read` makes, within `memory` bytes."""
    intake.require_memory(memory)
    source = RawSource(folder, raw=raw, progress=progress, memory=memory, **names)
    shared = None if workers is None else source.shared(workers, folder, memory)
    pace = intake.Pace(threads, shared=shared, progress=progress)
    intake.convert(source, target, memory=memory, pace=pace)
