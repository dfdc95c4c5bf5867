"""All tables of a run, a group of processes at a time.

::

    processes ──read_group, several at once──► groups ──in order──► target, halves ──► target

What a group is does not show in the tables, nor how many are read at once.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from burstline import schema
from burstline.errors import FormatError
from burstline.formats.intake.groups import in_order
from burstline.formats.intake.joining import Halves
from burstline.formats.raw.call_paths import CallPaths
from burstline.formats.raw.clocks import corrections
from burstline.formats.raw.communicators import Communicators
from burstline.formats.raw.counters import Counters
from burstline.formats.raw.group import Basis, read_group
from burstline.formats.raw.layout import VERSION
from burstline.formats.raw.numbering import Numbering
from burstline.formats.raw.places import location_table, places_of
from burstline.formats.raw.processes import compilers_of, find_processes
from burstline.formats.raw.records import Records
from burstline.formats.raw.timeline import born_ns
from burstline.formats.raw.user_events import UserEvents
from burstline.schema.arrays import arrow_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from burstline.formats.intake.defects import Defects
    from burstline.formats.intake.target import Heap, Target
    from burstline.formats.raw.call_paths import Resolver
    from burstline.formats.raw.files import RawFile
    from burstline.formats.raw.group import Group
    from burstline.formats.raw.processes import Process
    from burstline.formats.raw.timeline import Life
    from burstline.progress import Progress


class Assembly:
    """The files of a run on their way into tables.

    Parameters
    ----------
    folder : Path
        Where they are.
    files : sequence of RawFile
        What all threads wrote.
    numbers : mapping of int to str
        Operation of each number.
    resolve : Resolver or None
        Gives the frames of an address.
    odd : Defects
        Counts what is odd.
    name : str, optional
        What the trace says it is made of, by default the folder.

    Attributes
    ----------
    counters : list of str
        Names of the counters.
    numbering : Numbering
        Numbers what groups number for themselves.
    """

    def __init__(
        self,
        folder: Path,
        files: Sequence[RawFile],
        numbers: Mapping[int, str],
        resolve: Resolver | None,
        odd: Defects,
        *,
        name: str | None = None,
    ) -> None:
        self._name, self._odd = name or str(folder), odd
        processes = find_processes(files, odd)
        if not processes:
            raise FormatError(
                folder,
                None,
                expected="raw files of a program that calls MPI",
                found=f"{len(files)} files without an event",
                way_out="Check that the program was started with MPI, and that it calls it",
            )
        clocks = corrections(processes, odd)
        accuracy = max(correction.accuracy_ns for correction in clocks)
        origin = min(
            born_ns(file, correction)
            for process, correction in zip(processes, clocks, strict=True)
            for file in process.files
        )
        paths = CallPaths(resolve)
        self._basis = Basis(
            processes,
            [replace(one, offset_ns=one.offset_ns - origin) for one in clocks],
            places_of(processes, accuracy),
            Communicators(processes, odd),
            [paths.rows(process.defined) for process in processes],
            Counters([process.defined for process in processes]),
            numbers,
            UserEvents(processes, odd),
        )
        self.counters = self._basis.counters.names
        self._shared = {
            "call_paths": paths.table(),
            "counters": self._basis.counters.table(),
            "communicators": self._basis.communicators.table(),
        }
        self.numbering = Numbering()
        self._lives: list[Life] = []
        self._overhead_ns = 0

    def sizes(self) -> list[int]:
        """Count the records of each process."""
        return [sum(len(f.records) for f in process.files) for process in self._basis.processes]

    def read(
        self,
        target: Target,
        heap: Callable[[str], Heap],
        borders: Sequence[int],
        *,
        raw: bool,
        records: bool,
        threads: int,
        parts_at_once: int,
        progress: Progress,
    ) -> None:
        """Read all processes.

        Parameters
        ----------
        target : Target
            Takes the tables.
        heap : callable
            Makes a heap of a name, for halves of messages and parts of collectives.
        borders : sequence of int
            First process of each group, and behind the last one of the last.
        raw : bool
            Whether events that the program recorded itself are kept.
        records : bool
            Whether there are raw tables also without such events.
        threads : int
            Groups to read at once, 0 for none while another one is stored.
        parts_at_once : int
            Parts of collectives to put together at a time.
        progress : Progress
            Told of locations and groups.
        """
        deriving = None
        own = raw and self._basis.events.any
        if records or own:
            deriving = Records(self._basis, self._shared, own=own)
        halves = Halves(
            self._basis.places,
            self._basis.communicators.members,
            borders,
            heap,
            parts_at_once=parts_at_once,
            odd=self._odd,
        )
        progress.step("Reading", len(self._basis.places.process), "locations")
        pairs = list(pairwise(borders))

        def read(pair: tuple[int, int]) -> Group:
            return read_group(self._basis, *pair)

        for number, group in enumerate(in_order(read, pairs, threads)):
            self._store(number, group, target, halves, deriving)
            progress.advance(len(group.lives))
        self._join(target, halves, len(pairs), progress)
        for name, table in self._whole(deriving).items():
            target.append(name, table)

    def _store(
        self,
        number: int,
        group: Group,
        target: Target,
        halves: Halves,
        deriving: Records | None,
    ) -> None:
        self._odd.take(group.odd)
        self._lives += group.lives
        self._overhead_ns += group.overhead_ns
        self.numbering.apply(group)
        if deriving is not None:
            definitions = self.numbering.definitions()
            for name, table in deriving.of(group, definitions).items():
                target.append(name, table)
        halves.keep(number, group)
        for name, table in group.tables.items():
            target.append(name, table)

    def _join(self, target: Target, halves: Halves, groups: int, progress: Progress) -> None:
        progress.step("Matching", groups, "groups")
        for messages in halves.messages():
            target.append("messages", messages)
            progress.advance(1)
        for alone in halves.half_messages():
            target.append("half_messages", alone)
        for instances, members in halves.collectives(self.numbering.operations):
            target.append("collectives", instances)
            target.append("collective_members", members)

    def _whole(self, deriving: Records | None) -> dict[str, pa.Table]:
        definitions = self.numbering.definitions()
        tables = dict(self._shared)
        if deriving is not None:
            tables |= deriving.labels(definitions)
        return tables | {
            "locations": location_table(self._basis.processes, self._lives),
            "region_defs": definitions,
            "counter_sets": self._basis.counters.sets(),
            "metadata": self._metadata(),
            "defects": self._odd.table(),
        }

    def _metadata(self) -> pa.Table:
        processes: Sequence[Process] = self._basis.processes
        first = processes[0].files[0]
        known = (self.counters and "counters") or "no counters"
        facts: dict[str, Any] = {
            "path": self._name,
            "format": "raw",
            "resolution_ns": 1,
            "recorder": f"burstline, raw version {VERSION}, {known}",
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
            "overhead_ns": self._overhead_ns or None,
            "schema_version": schema.SCHEMA_VERSION,
        }
        told = {key: str(value) for key, value in facts.items() if value is not None}
        return arrow_table("metadata", {"key": list(told), "value": list(told.values())})
