"""The tables of a few processes, and what of them others need: one step of a reading.

::

    timelines ─► calls and their records ─► requests ─► halves of messages, parts of collectives
              ├─► readings · regions · teams · locks · gaps · bursts
              └─► events of the program

Nothing here depends on other processes, nor on which processes are taken together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from burstline.bursts import bursts_of
from burstline.formats.intake.calls import Facts, describe_transfers
from burstline.formats.intake.collectives import collective_parts
from burstline.formats.intake.defects import Defects
from burstline.formats.intake.messages import message_halves
from burstline.formats.intake.requests import follow
from burstline.formats.raw.calls import Gathering
from burstline.formats.raw.counters import Readings
from burstline.formats.raw.gaps import Gaps
from burstline.formats.raw.layout import LATEST, Kind
from burstline.formats.raw.regions import Regions
from burstline.formats.raw.timeline import Life, timeline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from burstline.columns import Integers
    from burstline.formats.intake.calls import Calls, Details
    from burstline.formats.intake.places import Places
    from burstline.formats.intake.target import Columns
    from burstline.formats.raw.clocks import Correction
    from burstline.formats.raw.communicators import Communicators
    from burstline.formats.raw.counters import Counters
    from burstline.formats.raw.processes import Process
    from burstline.formats.raw.timeline import Timeline
    from burstline.formats.raw.user_events import UserEvents


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """What all processes share, known before any is read.

    Attributes
    ----------
    processes : sequence of Process
        All processes.
    corrections : sequence of Correction
        Of the clock of each, from the first moment of the run.
    places : Places
        Where they are.
    communicators : Communicators
        With the row of each id, by process.
    stacks : sequence of dict
        Row of each stack in `call_paths`, by process.
    counters : Counters
        Those of the run.
    numbers : mapping of int to str
        Operation of each number.
    events : UserEvents
        What the program's events mean.
    """

    processes: Sequence[Process]
    corrections: Sequence[Correction]
    places: Places
    communicators: Communicators
    stacks: Sequence[Mapping[int, int]]
    counters: Counters
    numbers: Mapping[int, str]
    events: UserEvents


@dataclass(slots=True, eq=False)
class Group:
    """What some processes did.

    Attributes
    ----------
    first, last : int
        The processes, `last` excluded.
    tables : dict of str to pyarrow.Table
        Rows of their locations. Regions and teams are numbered within the group; codes of
        operations are places in `operations`.
    operations : tuple of str
        Names behind the codes.
    sends, receives, parts : dict of str to ndarray of int64
        Halves of messages and parts of collectives.
    waiting : dict of str to ndarray of int64
        Receives that never completed, as events of `half_messages`.
    events : ndarray of int64
        The program's events, as :class:`burstline.formats.raw.user_events.UserEvents` has
        them.
    lives : list of Life
        Of each location.
    overhead_ns : int
        Estimated time spent in recording.
    odd : Defects
        What is odd in them.
    """

    first: int
    last: int
    tables: dict[str, pa.Table] = field(default_factory=dict)
    operations: tuple[str, ...] = ()
    sends: Columns = field(default_factory=dict)
    receives: Columns = field(default_factory=dict)
    parts: Columns = field(default_factory=dict)
    waiting: Columns = field(default_factory=dict)
    events: Integers = field(default_factory=lambda: np.zeros((5, 0), np.int64))
    lives: list[Life] = field(default_factory=list)
    overhead_ns: int = 0
    odd: Defects = field(default_factory=Defects)


class _Gatherer:
    """Takes in locations one after the other, whole processes at a time."""

    def __init__(self, basis: Basis, group: Group) -> None:
        self.basis, self.group, self.odd = basis, group, group.odd
        self.calls = Gathering(basis.numbers, self.odd)
        self.readings = Readings(basis.counters, self.odd)
        self.regions, self.gaps = Regions(self.odd), Gaps(self.odd)
        self.events: list[Integers] = [group.events]

    def add_process(self, number: int, location: int) -> None:
        basis, process = self.basis, self.basis.processes[number]
        paths, correction = basis.stacks[number], basis.corrections[number]
        counters = basis.counters.places(process.defined.counters)
        for position, file in enumerate(process.files):
            line = timeline(location + position, file, correction, self.odd)
            self.calls.add(line, basis.communicators.rows[number], paths)
            self.readings.add(line, counters)
            self.regions.add(line, process.defined, paths)
            self.gaps.add(line, correction)
            self.events.append(basis.events.rows(line))
            self._note_rest(line)
            self.group.lives.append(Life(line.born_ns, line.died_ns))
            file.release()
        self.regions.end_process(number)

    def _note_rest(self, line: Timeline) -> None:
        for record in line.records[line.of(Kind.OVERHEAD)]:
            self.group.overhead_ns += min(int(record["b"]) * int(record["c"]), LATEST)

    def finish(self) -> None:
        """Put together what does not look beyond the group."""
        basis, group = self.basis, self.group
        calls, details = self.calls.calls(), self.calls.details()
        facts = Facts(calls)
        ends = follow(details, calls, basis.places.process, self.odd)
        group.sends, group.receives, group.waiting = message_halves(
            details, calls, ends, places=basis.places, facts=facts, odd=self.odd
        )
        group.parts = collective_parts(details, calls, ends, places=basis.places, facts=facts)
        describe_transfers(details, facts)
        group.operations = calls.names
        group.events = np.concatenate(self.events, axis=1)
        group.tables = {
            "calls": facts.table(),
            "regions": self.regions.table(),
            "region_defs": self.regions.definitions(),
            "teams": self.regions.teams(),
            "locks": self.regions.locks(),
            "readings": self.readings.table(),
            "gaps": self.gaps.table(),
        }
        group.tables["bursts"] = _with_polls(self._bursts(), calls, details)

    def _bursts(self) -> pa.Table:
        locations = len(self.basis.places.process)
        whole = {
            "locations": pa.table({"location": np.arange(locations, dtype=np.int32)}),
            "counters": self.basis.counters.table(),
        }
        return bursts_of(self.group.tables | whole)


def read_group(basis: Basis, first: int, last: int) -> Group:
    """Read the records of some processes.

    Parameters
    ----------
    basis : Basis
        What all processes share; it is only read.
    first, last : int
        The processes, `last` excluded.

    Returns
    -------
    Group
        What they did.

    Notes
    -----
    O(records log records) time, about a hundred bytes of memory for each record.
    """
    group = Group(first, last)
    gatherer = _Gatherer(basis, group)
    location = int(np.searchsorted(basis.places.process, first))
    for number in range(first, last):
        gatherer.add_process(number, location)
        location += len(basis.processes[number].files)
    gatherer.finish()
    return group


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
