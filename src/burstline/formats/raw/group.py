"""The tables of a few processes, and what of them others need: one step of a reading.

::

    timelines ─► calls and their records ─► requests ─► halves of messages, parts of collectives
              ├─► readings · regions · teams · locks · gaps · bursts
              └─► events of the program

Nothing here depends on other processes, nor on which processes are taken together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa

from burstline.bursts import bursts_of
from burstline.columns import to_numpy, with_column
from burstline.formats import intake
from burstline.formats.raw.events.calls import Gathering
from burstline.formats.raw.events.counters import Readings
from burstline.formats.raw.events.gaps import Gaps
from burstline.formats.raw.events.regions import Regions
from burstline.formats.raw.events.timeline import Life, timeline
from burstline.formats.raw.files.layout import LATEST, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from burstline.columns import Integers
    from burstline.formats.raw.events.calls import Operations
    from burstline.formats.raw.events.counters import Backwards, Counters
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
    places: intake.Places  # where they are
    communicators: Communicators  # with the row of each id, by process
    stacks: Sequence[Mapping[int, int]]  # row of each stack in `call_paths`, by process
    counters: Counters  # those of the run
    numbers: Mapping[int, str]  # operation of each number
    events: UserEvents  # what the program's events mean

    def counter_places(self, process: int) -> Mapping[int, int]:
        """The place among all counters of each of a process."""
        return self.counters.places(self.processes[process].defined.counters)


class Halves(NamedTuple):
    """What processes need of each other: halves of messages and parts of collectives."""

    sends: Rows
    receives: Rows
    waiting: Rows  # receives that never completed
    parts: Rows
    queued: Rows  # receives that wait in the queues of their channels


_NO_HALVES: Final = Halves(
    *(
        dict.fromkeys(names, np.zeros(0, np.int64))
        for names in (
            intake.SEND_COLUMNS,
            intake.RECEIVE_COLUMNS,
            intake.HALF_COLUMNS,
            intake.PART_COLUMNS,
            intake.QUEUE_COLUMNS,
        )
    )
)
_NO_EVENTS: Final = np.zeros((5, 0), np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """What some processes recorded, numbered for itself."""

    processes: range  # the processes
    # rows of their locations; codes of operations are places in `operations`
    tables: Mapping[str, pa.Table]
    defects: intake.Defects  # what is odd in them
    operations: tuple[str, ...] = ()  # names behind the codes
    halves: Halves = _NO_HALVES
    # the program's events, as `UserEvents` has them
    events: Integers = field(default_factory=lambda: _NO_EVENTS)
    lives: Sequence[Life] = ()  # of each location
    overhead_ns: int = 0  # estimated time spent in recording
    backwards: Sequence[Backwards] = ()  # counters of a slice that run backwards


class Gatherer:
    """Takes in locations one after the other, whole processes at a time."""

    def __init__(self, basis: Basis, operations: Operations | None = None) -> None:
        self._basis, self.defects = basis, intake.Defects()
        self.calls = Gathering(basis.numbers, self.defects, operations)
        self.readings = Readings(basis.counters, self.defects)
        self.regions, self._gaps = Regions(self.defects), Gaps(self.defects)
        self.events = [_NO_EVENTS]
        self.lives: list[Life] = []
        self.overhead_ns = 0

    def add_process(self, process: int, location: int) -> None:
        """Take in a process, whose first location this is."""
        basis = self._basis
        for number, file in enumerate(basis.processes[process].files, location):
            line = timeline(number, file, basis.corrections[process], self.defects)
            self.add_calls(line, process)
            self.add_regions(line, process)
            file.release()
        self.regions.end_process(process)

    def add_calls(self, line: Timeline, process: int) -> None:
        """Take in the calls, readings and events of a location."""
        basis = self._basis
        self.calls.add(line, basis.communicators.rows[process], basis.stacks[process])
        self.readings.add(line, basis.counter_places(process))
        self.events.append(basis.events.rows(line))

    def add_regions(self, line: Timeline, process: int) -> None:
        """Take in the regions, gaps and life of a location."""
        basis = self._basis
        self.regions.add(line, basis.processes[process].defined, basis.stacks[process])
        self._gaps.add(line, basis.corrections[process])
        for record in line.records[line.of(Kind.OVERHEAD)]:
            self.overhead_ns += min(int(record["b"]) * int(record["c"]), LATEST)
        self.lives.append(Life(line.born_ns, line.died_ns))

    def tables(self) -> dict[str, pa.Table]:
        """The tables of what was taken in, but for calls and bursts."""
        return {
            "regions": self.regions.table(),
            "region_defs": self.regions.definitions(),
            "teams": self.regions.teams(),
            "locks": self.regions.locks(),
            "readings": self.readings.table(),
            "gaps": self._gaps.table(),
        }


def read_batch(basis: Basis, processes: range) -> Batch:
    """What some processes recorded; O(records log records), 100 bytes of memory a record."""
    gatherer = Gatherer(basis)
    location = int(np.searchsorted(basis.places.process, processes.start))
    for number in processes:
        gatherer.add_process(number, location)
        location += len(basis.processes[number].files)
    described = describe(basis, gatherer.calls, gatherer.defects)
    tables = gatherer.tables() | {"calls": described.table}
    tables["bursts"] = with_polls(bursts(basis, tables), described.calls, described.details)
    return Batch(
        processes,
        tables,
        gatherer.defects,
        described.calls.names,
        described.halves,
        np.concatenate(gatherer.events, axis=1),
        gatherer.lives,
        gatherer.overhead_ns,
    )


class Described(NamedTuple):
    """Calls, the table of them, what describes them, and halves as a batch has them."""

    calls: intake.Calls
    table: pa.Table
    details: intake.Details
    halves: Halves


def describe(
    basis: Basis, gathering: Gathering, defects: intake.Defects, own: range | None = None
) -> Described:
    """Put calls and their records together; of the records of a slice, some are its own."""
    places = basis.places
    calls, details = gathering.calls(), gathering.details(own)
    facts = intake.Facts(calls)
    ends = intake.follow(details, calls, places.process, defects)
    sides = intake.sides_of(details, places, defects)
    intake.describe_messages(details, ends, sides, facts)
    sends, receives, waiting, queued = intake.message_halves(
        details,
        calls,
        ends,
        sides,
        places=places,
        defects=defects,
        probe=intake.decided(details, calls, places.process),
    )
    intake.describe_collectives(details, places, facts)
    intake.describe_transfers(details, facts)
    parts = intake.collective_parts(details, calls, ends, places=places)
    halves = Halves(sends, receives, waiting, parts, queued)
    return Described(calls, facts.table(), details, halves)


def bursts(basis: Basis, tables: Mapping[str, pa.Table]) -> pa.Table:
    """The bursts between what is in the tables of some locations."""
    locations = np.arange(len(basis.places.process), dtype=np.int32)
    whole = {
        "locations": pa.table({"location": locations}),
        "counters": basis.counters.table(),
    }
    return bursts_of({**tables, **whole})


def with_polls(table: pa.Table, calls: intake.Calls, details: intake.Details) -> pa.Table:
    """The bursts the polls that failed in them: they are told by the call after."""
    misses = details.of(Kind.MISSES)
    misses = misses.pick(calls.call[misses.call] > 0)
    if not len(misses):
        return table
    first = np.searchsorted(to_numpy(table["location"]), misses.location)
    number = to_numpy(table["burst"])[first].astype(np.int64)
    row = first + calls.call[misses.call] - 1 - number
    for name, values in (("polling_ns", misses.polling_ns), ("polls", misses.polls)):
        sums = np.zeros(table.num_rows, np.int64)
        np.add.at(sums, row, np.clip(values, 0, LATEST))
        table = with_column(table, name, pa.array(sums))
    return table
