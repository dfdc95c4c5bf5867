"""The tables of a few processes, and what of them others need: one step of a reading.

::

    timelines ─► calls and their records ─► requests ─► halves of messages, parts of collectives
              ├─► readings · regions · teams · locks · gaps · bursts
              └─► events of the program

Nothing here depends on other processes, nor on which processes are taken together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from burstline.bursts import bursts_of
from burstline.columns import to_numpy
from burstline.formats.intake import (
    Defects,
    Facts,
    collective_parts,
    decided,
    describe_collectives,
    describe_messages,
    describe_transfers,
    follow,
    message_halves,
    sides_of,
)
from burstline.formats.raw.events.calls import Gathering
from burstline.formats.raw.events.counters import Readings
from burstline.formats.raw.events.gaps import Gaps
from burstline.formats.raw.events.regions import Regions
from burstline.formats.raw.events.timeline import Life, timeline
from burstline.formats.raw.files.layout import LATEST, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from burstline.columns import Integers
    from burstline.formats.intake import Calls, Details, Places
    from burstline.formats.raw.events.counters import Counters
    from burstline.formats.raw.events.timeline import Timeline
    from burstline.formats.raw.events.user_events import UserEvents
    from burstline.formats.raw.processes.clocks import Correction
    from burstline.formats.raw.processes.communicators import Communicators
    from burstline.formats.raw.processes.processes import Process

    Rows = Mapping[str, Integers]


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """What all processes share, known before any is read."""

    processes: Sequence[Process]  # all processes
    corrections: Sequence[Correction]  # of the clock of each, from the first moment of the run
    places: Places  # where they are
    communicators: Communicators  # with the row of each id, by process
    stacks: Sequence[Mapping[int, int]]  # row of each stack in `call_paths`, by process
    counters: Counters  # those of the run
    numbers: Mapping[int, str]  # operation of each number
    events: UserEvents  # what the program's events mean


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """What some processes recorded, numbered for itself."""

    processes: range  # the processes
    # rows of their locations; codes of operations are places in `operations`
    tables: Mapping[str, pa.Table]
    operations: tuple[str, ...]  # names behind the codes
    # halves of messages and parts of collectives
    sends: Mapping[str, Integers]
    receives: Mapping[str, Integers]
    waiting: Mapping[str, Integers]
    parts: Mapping[str, Integers]
    queued: Mapping[str, Integers]  # receives that wait in the queues of their channels
    events: Integers  # the program's events, as `UserEvents` has them
    lives: list[Life]  # of each location
    overhead_ns: int  # estimated time spent in recording
    defects: Defects  # what is odd in them


class _Gatherer:
    """Takes in locations one after the other, whole processes at a time."""

    def __init__(self, basis: Basis) -> None:
        self.basis, self.defects = basis, Defects()
        self.calls = Gathering(basis.numbers, self.defects)
        self.readings = Readings(basis.counters, self.defects)
        self.regions, self.gaps = Regions(self.defects), Gaps(self.defects)
        self.events: list[Integers] = [np.zeros((5, 0), np.int64)]
        self.lives: list[Life] = []
        self.overhead_ns = 0

    def add_process(self, number: int, location: int) -> None:
        basis, process = self.basis, self.basis.processes[number]
        paths, correction = basis.stacks[number], basis.corrections[number]
        counters = basis.counters.places(process.defined.counters)
        for position, file in enumerate(process.files):
            line = timeline(location + position, file, correction, self.defects)
            self.calls.add(line, basis.communicators.rows[number], paths)
            self.readings.add(line, counters)
            self.regions.add(line, process.defined, paths)
            self.gaps.add(line, correction)
            self.events.append(basis.events.rows(line))
            self.overhead_ns += overhead_ns(line)
            self.lives.append(Life(line.born_ns, line.died_ns))
            file.release()
        self.regions.end_process(number)

    def batch(self, processes: range) -> Batch:
        """What was taken in, put together as far as that does not look beyond it."""
        described = describe(self.basis, self.calls, self.defects)
        tables = {
            "calls": described.table,
            "regions": self.regions.table(),
            "region_defs": self.regions.definitions(),
            "teams": self.regions.teams(),
            "locks": self.regions.locks(),
            "readings": self.readings.table(),
            "gaps": self.gaps.table(),
        }
        bursts = bursts_of({**tables, **whole_tables(self.basis)})
        tables["bursts"] = with_polls(bursts, described.calls, described.details)
        return Batch(
            processes,
            tables,
            described.calls.names,
            *described.halves,
            np.concatenate(self.events, axis=1),
            self.lives,
            self.overhead_ns,
            self.defects,
        )


class Described(NamedTuple):
    """Calls, the table of them, what describes them, and halves as a batch has them."""

    calls: Calls
    table: pa.Table
    details: Details
    halves: tuple[Rows, Rows, Rows, Rows, Rows]


def describe(
    basis: Basis, gathering: Gathering, defects: Defects, own: range | None = None
) -> Described:
    """Put calls and their records together; of the records of a slice, some are its own."""
    places = basis.places
    calls, details = gathering.calls(), gathering.details(own)
    facts = Facts(calls)
    ends = follow(details, calls, places.process, defects)
    sides = sides_of(details, places, defects)
    describe_messages(details, ends, sides, facts)
    sends, receives, waiting, queued = message_halves(
        details,
        calls,
        ends,
        sides,
        places=places,
        defects=defects,
        probe=decided(details, calls, places.process),
    )
    describe_collectives(details, places, facts)
    describe_transfers(details, facts)
    parts = collective_parts(details, calls, ends, places=places)
    return Described(calls, facts.table(), details, (sends, receives, waiting, parts, queued))


def whole_tables(basis: Basis) -> dict[str, pa.Table]:
    """What bursts need that no group has of its own."""
    locations = np.arange(len(basis.places.process), dtype=np.int32)
    return {
        "locations": pa.table({"location": locations}),
        "counters": basis.counters.table(),
    }


def read_batch(basis: Basis, processes: range) -> Batch:
    """What some processes recorded; O(records log records), 100 bytes of memory a record."""
    gatherer = _Gatherer(basis)
    location = int(np.searchsorted(basis.places.process, processes.start))
    for number in processes:
        gatherer.add_process(number, location)
        location += len(basis.processes[number].files)
    return gatherer.batch(processes)


def overhead_ns(line: Timeline) -> int:
    """Estimated time spent in recording a thread."""
    records = line.records[line.of(Kind.OVERHEAD)]
    return sum(min(int(record["b"]) * int(record["c"]), LATEST) for record in records)


def with_polls(bursts: pa.Table, calls: Calls, details: Details) -> pa.Table:
    """The bursts the polls that failed in them: they are told by the call after."""
    misses = details.of(Kind.MISSES)
    misses = misses.pick(calls.call[misses.call] > 0)
    if not len(misses):
        return bursts
    first = np.searchsorted(to_numpy(bursts["location"]), misses.location)
    number = to_numpy(bursts["burst"])[first].astype(np.int64)
    row = first + calls.call[misses.call] - 1 - number
    for name, values in (("polling_ns", misses.polling_ns), ("polls", misses.polls)):
        sums = np.zeros(bursts.num_rows, np.int64)
        np.add.at(sums, row, np.clip(values, 0, LATEST))
        place = bursts.column_names.index(name)
        bursts = bursts.set_column(place, bursts.schema.field(place), pa.array(sums))
    return bursts
