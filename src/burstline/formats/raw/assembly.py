"""All tables of a run, gathered location after location."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from burstline import schema
from burstline.bursts import bursts_of
from burstline.errors import FormatError
from burstline.formats.columns import arrow_table
from burstline.formats.raw.call_paths import CallPaths
from burstline.formats.raw.calls import Facts, Gathering
from burstline.formats.raw.clocks import corrections
from burstline.formats.raw.collectives import collective_tables
from burstline.formats.raw.communicators import Communicators
from burstline.formats.raw.counters import Counters
from burstline.formats.raw.gaps import Gaps
from burstline.formats.raw.layout import LATEST, VERSION, Kind
from burstline.formats.raw.messages import message_table
from burstline.formats.raw.places import Places, location_table
from burstline.formats.raw.processes import find_processes
from burstline.formats.raw.regions import Regions
from burstline.formats.raw.requests import follow
from burstline.formats.raw.timeline import Timeline, timeline
from burstline.formats.raw.transfers import describe_transfers
from burstline.formats.raw.user_events import UserEvents

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from burstline.formats.raw.call_paths import Resolver
    from burstline.formats.raw.calls import Calls, Details
    from burstline.formats.raw.files import RawFile
    from burstline.formats.raw.oddities import Oddities
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
    odd : Oddities
        Counts what is odd.
    """

    def __init__(
        self,
        folder: Path,
        files: Sequence[RawFile],
        numbers: Mapping[int, str],
        resolve: Resolver | None,
        odd: Oddities,
    ) -> None:
        self._folder, self._odd = folder, odd
        self._processes = find_processes(files, odd)
        if not self._processes:
            raise FormatError(
                folder,
                None,
                expected="raw files of a program that calls MPI",
                found=f"{len(files)} files without an event",
                way_out="Check that the program was started with MPI, and that it calls it",
            )
        self._corrections = corrections(self._processes, odd)
        accuracy = max(correction.accuracy_ns for correction in self._corrections)
        self._places = Places.of(self._processes, accuracy)
        self._communicators = Communicators(self._processes, odd)
        self._paths = CallPaths(resolve)
        self._counters = Counters([process.defined for process in self._processes], odd)
        self._calls = Gathering(numbers, odd)
        self._regions, self._gaps = Regions(odd), Gaps(odd)
        self._events = UserEvents(odd)
        self._lines: list[Timeline] = []
        self._overhead_ns = 0

    def gather(self, progress: Progress) -> None:
        """Go through the records of every location."""
        progress.step("Reading", len(self._places.process), "locations")
        for number, process in enumerate(self._processes):
            paths = self._paths.rows(process.defined)
            for file in process.files:
                correction = self._corrections[number]
                line = timeline(len(self._lines), file, correction, self._odd)
                self._calls.add(line, self._communicators.rows[number], paths)
                self._counters.add(line, process.defined.counters)
                self._regions.add(line, process.defined)
                self._gaps.add(line, correction)
                self._events.add(line, process.defined)
                self._note_rest(line)
                self._lines.append(_borders_of(line))
                progress.advance(1)

    def _note_rest(self, line: Timeline) -> None:
        threads = line.of(Kind.OMP)
        if len(threads):
            text = f"{line.name}: record {threads[0]}"
            self._odd.note("openmp_not_read", "loss", text, len(threads))
        for record in line.records[line.of(Kind.OVERHEAD)]:
            self._overhead_ns += min(int(record["b"]) * int(record["c"]), LATEST)

    def tables(self, *, raw: bool) -> dict[str, pa.Table]:
        """Give all tables; those that are raw if the program recorded events itself."""
        calls, details = self._calls.calls(), self._calls.details()
        facts = Facts(calls)
        ends = follow(details, calls, self._places.process, self._odd)
        messages = message_table(
            details, calls, ends, places=self._places, facts=facts, odd=self._odd
        )
        members = self._communicators.members
        instances, parts = collective_tables(
            details,
            calls,
            ends,
            places=self._places,
            members=members,
            facts=facts,
            odd=self._odd,
        )
        describe_transfers(details, facts)
        tables = {
            "locations": location_table(self._processes, self._lines),
            "calls": facts.table(),
            "messages": messages,
            "collectives": instances,
            "collective_members": parts,
            "regions": self._regions.table(),
            "readings": self._counters.readings(),
            "gaps": self._gaps.table(),
            "call_paths": self._paths.table(),
            "region_defs": self._regions.definitions(),
            "counters": self._counters.table(),
            "counter_sets": self._counters.sets(),
            "communicators": self._communicators.table(),
            "metadata": self._metadata(),
        }
        tables = _from_zero(tables)
        tables["bursts"] = _with_polls(bursts_of(tables), calls, details)
        if raw:
            tables = self._events_into(tables)
        return tables | {"defects": self._odd.table()}

    def _events_into(self, tables: dict[str, pa.Table]) -> dict[str, pa.Table]:
        origin = min(line.born_ns for line in self._lines)
        return self._events.into(tables, origin)

    def _metadata(self) -> pa.Table:
        processes, first = self._processes, self._processes[0].files[0]
        known = (self._counters.names and "counters") or "no counters"
        facts: dict[str, Any] = {
            "path": str(self._folder),
            "format": "raw",
            "resolution_ns": 1,
            "recorder": f"burstline, raw version {VERSION}, {known}",
            "clock": "CLOCK_MONOTONIC of rank 0",
            "clock_accuracy_ns": self._places.accuracy_ns,
            "time_origin": "0 of the trace",
            "start_realtime_ns": first.start_realtime_ns,
            "host": ", ".join(dict.fromkeys(process.host for process in processes)),
            "program": first.program,
            "mpi": next((f.mpi for p in processes for f in p.files if f.mpi), None),
            "ranks": max(process.defined.size for process in processes) or None,
            "thread_level": max(process.defined.thread_level for process in processes),
            "overhead_ns": self._overhead_ns or None,
            "schema_version": schema.SCHEMA_VERSION,
        }
        told = {key: str(value) for key, value in facts.items() if value is not None}
        return arrow_table("metadata", {"key": list(told), "value": list(told.values())})


def _borders_of(line: Timeline) -> Timeline:
    """Forget the records of a location that was gathered: only its life is still needed."""
    nothing = np.zeros(0, np.int64)
    line.records, line.kind = line.records[:0], line.kind[:0]
    line.time_ns = line.seq = line.call = line.enter = line.leave = nothing
    return line


def _from_zero(tables: dict[str, pa.Table]) -> dict[str, pa.Table]:
    """Shift all times so that the first is 0."""
    origin = int(tables["locations"]["born_ns"].to_numpy().min())
    for name, table in tables.items():
        for column in schema.TABLES[name].columns:
            if column.unit == "ns":
                place = table.column_names.index(column.name)
                shifted = pa.compute.subtract(table[column.name], origin)
                table = table.set_column(place, table.schema.field(place), shifted)  # noqa: PLW2901
        tables[name] = table
    return tables


def _with_polls(bursts: pa.Table, calls: Calls, details: Details) -> pa.Table:
    """Give the bursts the polls that failed in them: they are told by the call after."""
    misses = details.of(Kind.MISSES)
    misses = misses.pick(calls.call[misses.call] > 0)
    if not len(misses):
        return bursts
    first = np.searchsorted(bursts["location"].to_numpy(), misses.location)
    row = first + calls.call[misses.call] - 1
    for name, values in (("polling_ns", misses.c), ("polls", misses.b)):
        sums = np.zeros(bursts.num_rows, np.int64)
        np.add.at(sums, row, np.clip(values, 0, LATEST))
        place = bursts.column_names.index(name)
        bursts = bursts.set_column(place, bursts.schema.field(place), pa.array(sums))
    return bursts
