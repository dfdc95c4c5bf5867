"""The tables of a few processes, what of them others need, and numbers through all of them.

::

    timelines ─► calls and their records ─► requests ─► halves of messages, parts of collectives
              ├─► readings · regions · teams · locks · gaps · samples · bursts
              └─► events of the program ─────────────────────► a batch ─numbering─► a group

A batch depends neither on other processes, nor on which processes are taken together, and
numbers what it has for itself. Batches are numbered in order, however they are grouped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from burstline.columns import (
    Columns,
    Integers,
    concatenated,
    from_numpy,
    lookup,
    shifted,
    sums_by,
    to_numpy,
    with_column,
)
from burstline.formats import intake
from burstline.formats.raw.events.calls import CallBuilder, Operations
from burstline.formats.raw.events.counters import Backwards, CounterReadings, Counters
from burstline.formats.raw.events.regions import RecordedRegions
from burstline.formats.raw.events.timeline import Life, ThreadTimeline, timeline
from burstline.formats.raw.events.user_events import UserEvents
from burstline.formats.raw.files.layout import LATEST, Kind
from burstline.formats.raw.processes.call_paths import Frame
from burstline.formats.raw.processes.clocks import Correction
from burstline.formats.raw.processes.processes import RecordedProcess, RunCommunicators
from burstline.model import GAP_KINDS, NO_VALUE, arrow_schema, arrow_table, bursts_of, row_table

Rows = Mapping[str, Integers]


@dataclass(frozen=True, slots=True, eq=False)
class RunBasis:
    """What all processes share, known before any is read."""

    processes: Sequence[RecordedProcess]  # all processes
    corrections: Sequence[Correction]  # of the clock of each, from the first moment of the run
    places: intake.Placement  # where they are
    communicators: RunCommunicators  # with the row of each id, by process
    stacks: Sequence[Mapping[int, int]]  # row of each stack in `call_paths`, by process
    functions: Sequence[Mapping[int, Frame]]  # those that reported themselves, by process
    counters: Counters  # those of the run
    numbers: Mapping[int, str]  # operation of each number
    events: UserEvents  # what the program's events mean

    def counter_places(self, process: int) -> Mapping[int, int]:
        """The place among all counters of each of a process."""
        return self.counters.places(self.processes[process].defined.counters)


class ProcessHalves(NamedTuple):
    """What processes need of each other: halves of messages and parts of collectives."""

    sends: Rows
    receives: Rows
    waiting: Rows  # receives that never completed
    queued: Rows  # receives that wait in the queues of their channels
    parts: Rows


_NO_EVENTS: Final = np.zeros((5, 0), np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """What some processes recorded, numbered for itself."""

    processes: range  # the processes
    # rows of their locations; codes of operations are places in `operations`
    tables: Mapping[str, pa.Table]
    defects: intake.Defects  # what is odd in them
    operations: tuple[str, ...]  # names behind the codes
    halves: ProcessHalves
    events: Integers  # the program's events, as `UserEvents` has them
    lives: Sequence[Life]  # of each location
    backwards: Sequence[Backwards]  # counters of a slice that run backwards


class Gaps:
    """The gaps of all locations."""

    def __init__(self, defects: intake.Defects) -> None:
        self._defects = defects
        self._gaps: list[Columns] = []

    def add(self, line: ThreadTimeline, correction: Correction) -> None:
        """Take in the gaps of a location."""
        rows = line.of(Kind.GAP)
        dropped = line.records["c"][rows]
        lost = rows[dropped > 0]
        if len(lost):
            count = sum(min(int(number), 1 << 50) for number in dropped.tolist())
            self._defects.note(
                "records_dropped", "loss", f"{line.name}: record {line.number[lost[0]]}", count
            )
        begin = np.minimum(line.when(line.records["b"][rows], correction), line.time_ns[rows])
        flush, drop = GAP_KINDS.index("flush"), GAP_KINDS.index("dropped")
        self._append(line, begin, line.time_ns[rows], np.where(dropped > 0, drop, flush))
        begin, end = _pause_times(line)
        self._append(line, begin, end, np.full(len(begin), GAP_KINDS.index("tracing_off")))

    def _append(
        self, line: ThreadTimeline, begin: Integers, end: Integers, kind: Integers
    ) -> None:
        location = np.full(len(begin), line.location)
        gaps = {"location": location, "start_ns": begin, "end_ns": end, "kind": kind}
        lasts = begin < end
        self._gaps.append({name: column[lasts] for name, column in gaps.items()})

    def table(self) -> pa.Table:
        """The table `gaps`."""
        gaps = concatenated(arrow_schema("gaps").names, self._gaps)
        order = np.lexsort((gaps["end_ns"], gaps["start_ns"], gaps["location"]))
        return arrow_table("gaps", {name: column[order] for name, column in gaps.items()})


def _pause_times(line: ThreadTimeline) -> tuple[Integers, Integers]:
    """Begin and end of each pause; one that is never ended lasts to the end."""
    rows = line.of(Kind.PAUSE)
    stopped = line.records["a"][rows] != 0
    turns = np.flatnonzero(np.diff(stopped.astype(np.int8), prepend=0))
    begin, end = line.time_ns[rows[turns[::2]]], line.time_ns[rows[turns[1::2]]]
    return begin, np.append(end, line.died_ns)[: len(begin)]


class Gatherer:
    """Takes in locations one after the other, whole processes at a time."""

    def __init__(self, basis: RunBasis, operations: Operations | None = None) -> None:
        self._basis, self.defects = basis, intake.Defects()
        self.calls = CallBuilder(basis.numbers, self.defects, operations)
        self.readings = CounterReadings(basis.counters, self.defects)
        self.regions, self._gaps = RecordedRegions(self.defects), Gaps(self.defects)
        self._samples = _RecordedSamples()
        self.events = [_NO_EVENTS]
        self.lives: list[Life] = []

    def add_process(self, process: int, location: int) -> None:
        """Take in a process, whose first location this is."""
        basis = self._basis
        for number, file in enumerate(basis.processes[process].files, location):
            line = timeline(number, file, basis.corrections[process], self.defects)
            self.add_calls(line, process)
            self.add_regions(line, process)
            file.release()
        self.regions.end_process(process)

    def add_calls(self, line: ThreadTimeline, process: int) -> None:
        """Take in the calls, readings and events of a location."""
        basis = self._basis
        self.calls.add(line, basis.communicators.rows[process], basis.stacks[process])
        self.readings.add(line, basis.counter_places(process))
        self.events.append(basis.events.rows(line))

    def add_regions(self, line: ThreadTimeline, process: int) -> None:
        """Take in the regions, gaps, samples and life of a location."""
        basis = self._basis
        defined, functions = basis.processes[process].defined, basis.functions[process]
        self.regions.add(line, defined, functions, basis.stacks[process])
        self._gaps.add(line, basis.corrections[process])
        self._samples.add(line, basis.stacks[process], basis.corrections[process])
        self.lives.append(Life(line.born_ns, line.died_ns))

    def tables(self) -> dict[str, pa.Table]:
        """The tables of what was taken in, but for calls and bursts."""
        return {
            "regions": self.regions.table(),
            "region_defs": self.regions.definitions(),
            "teams": self.regions.openmp.teams(),
            "locks": self.regions.openmp.locks(),
            "readings": self.readings.table(),
            "gaps": self._gaps.table(),
            "samples": self._samples.table(),
        }

    def batch(
        self, processes: range, tables: Mapping[str, pa.Table], described: Described
    ) -> Batch:
        """The batch of what was taken in, with all its tables."""
        return Batch(
            processes,
            tables,
            self.defects,
            described.calls.names,
            described.halves,
            np.concatenate(self.events, axis=1),
            self.lives,
            self.readings.backwards,
        )


def read_batch(basis: RunBasis, processes: range) -> Batch:
    """What some processes recorded; O(records log records), 100 bytes of memory a record."""
    gatherer = Gatherer(basis)
    location = int(np.searchsorted(basis.places.process, processes.start))
    for number in processes:
        gatherer.add_process(number, location)
        location += len(basis.processes[number].files)
    described = describe(basis, gatherer.calls, gatherer.defects)
    tables = gatherer.tables() | {"calls": described.table}
    tables["bursts"] = with_polls(bursts(basis, tables), described)
    return gatherer.batch(processes, tables, described)


class Described(NamedTuple):
    """Calls, the table of them, what describes them, and halves as a batch has them."""

    calls: intake.Calls
    table: pa.Table
    details: intake.Details
    halves: ProcessHalves


def describe(
    basis: RunBasis, gathering: CallBuilder, defects: intake.Defects, own: range | None = None
) -> Described:
    """Put calls and their records together; of the records of a slice, some are its own."""
    places = basis.places
    calls, details = gathering.calls(), gathering.details(own)
    facts = intake.CallFacts(calls)
    ends = intake.follow(details, calls, places.process, defects)
    probe = intake.decided(details, calls, places.process)
    halves = intake.message_halves(
        details, ends, facts, places=places, defects=defects, probe=probe
    )
    intake.describe_collectives(details, places, facts)
    intake.describe_transfers(details, facts)
    parts = intake.collective_parts(details, calls, ends, places=places)
    return Described(calls, facts.table(), details, ProcessHalves(*halves, parts))


def bursts(basis: RunBasis, tables: Mapping[str, pa.Table]) -> pa.Table:
    """The bursts between what is in the tables of some locations."""
    locations = pa.table({"location": np.arange(len(basis.places.process), dtype=np.int32)})
    return bursts_of({**tables, "locations": locations, "counters": basis.counters.table()})


def with_polls(table: pa.Table, described: Described) -> pa.Table:
    """The bursts with the polls that failed in them: they are told by the call after."""
    calls, misses = described.calls, described.details.of(Kind.MISSES)
    misses = misses.pick(calls.call[misses.call] > 0)
    if not len(misses):
        return table
    first = np.searchsorted(to_numpy(table["location"]), misses.location)
    number = to_numpy(table["burst"])[first].astype(np.int64)
    row = first + calls.call[misses.call] - 1 - number
    for name, values in (
        ("polling_ns", misses.polling_ns),
        ("polls", misses.polls),
        ("waiting_ns", misses.waiting_ns),
    ):
        sane = np.clip(values, 0, LATEST)
        sums = sums_by(row, sane, table.num_rows)
        # Sums of damage may be more than an integer holds, those of floats are not.
        sums[np.bincount(row, sane, len(sums)) > LATEST] = LATEST
        if name == "waiting_ns":
            judged = np.bincount(row[misses.poll_gap_ns != 0], minlength=len(sums)) > 0
            sums[~judged] = NO_VALUE
        table = with_column(table, name, from_numpy(sums, pa.int64()))
    return table


class Numbering:
    """Numbers of all groups so far; `operations`, the names behind the codes, grow."""

    def __init__(self) -> None:
        self._operations = Operations({})
        self.operations = self._operations.names
        self._regions: dict[tuple[Any, ...], int] = {}
        self._definitions = arrow_schema("region_defs").empty_table()
        self._teams = 0

    def number(self, batch: Batch) -> intake.Group:
        """The group of a batch, in the numbers that follow on those before."""
        tables, halves = dict(batch.tables), batch.halves
        codes = np.array([self._operations.code(name) for name in batch.operations], np.int16)
        is_same = np.array_equal(codes, np.arange(len(codes)))
        recode = None if is_same else lambda numbers: codes[numbers]
        tables["calls"] = intake.with_operations(tables["calls"], self.operations, recode)
        operation = codes[halves.parts["operation"]].astype(np.int64)
        places = self._places(tables.pop("region_defs"))
        regions = shifted(tables["regions"], "team", self._teams)
        if regions.num_rows:
            regions = with_column(regions, "region", places.take(regions["region"]))
        tables["regions"] = regions
        for name in ("team", "parent"):
            tables["teams"] = shifted(tables["teams"], name, self._teams)
        self._teams += tables["teams"].num_rows
        parts = {**halves.parts, "operation": operation}
        sides = halves.sends, halves.receives, halves.waiting
        return intake.Group(tables, *sides, parts, len(batch.lives))

    def definitions(self) -> pa.Table:
        """The table `region_defs` of all groups so far."""
        if self._definitions.num_rows < len(self._regions):
            rows = ((place, *words) for words, place in self._regions.items())
            self._definitions = row_table("region_defs", rows)
        return self._definitions

    def _places(self, table: pa.Table) -> pa.Array:
        columns = (column.to_pylist() for column in table.columns[1:])
        rows = zip(*columns, strict=True)
        places = [self._regions.setdefault(words, len(self._regions)) for words in rows]
        return pa.array(places, pa.int32())


class _RecordedSamples:
    """The samples of all locations."""

    def __init__(self) -> None:
        self._samples: list[Columns] = []

    def add(
        self, line: ThreadTimeline, stacks: Mapping[int, int], correction: Correction
    ) -> None:
        """Take in the samples of a location; `stacks`: the row of each in `call_paths`.

        They stand before the record that follows them, which may itself have been begun.
        """
        rows = line.of(Kind.SAMPLE)
        records = line.records[rows]
        self._samples.append(
            {
                "location": np.full(len(rows), line.location),
                "time_ns": line.when(records["time"], correction),
                "periods": np.clip(records["b"], 1, LATEST).astype(np.int64),
                "call_path": lookup(records["a"], stacks),
            }
        )

    def table(self) -> pa.Table:
        """The table `samples`."""
        samples = concatenated(arrow_schema("samples").names, self._samples)
        order = np.lexsort((samples["time_ns"], samples["location"]))
        return arrow_table("samples", {name: each[order] for name, each in samples.items()})
