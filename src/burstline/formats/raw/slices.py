"""A process that is too large to be read at once, as a sequence of parts.

::

    cuts ─┬─► opening: regions, gaps, threads that do not call MPI
          ├─► slice after slice: calls, readings, bursts, halves, parts of collectives
          └─► closing: threads behind the one that calls

Each part is a batch, as that of whole processes is; together they have its rows, in order.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline import schema
from burstline.bursts import bursts_of, read_at_starts
from burstline.columns import to_numpy
from burstline.formats.intake import (
    HALF_COLUMNS,
    PART_COLUMNS,
    QUEUE_COLUMNS,
    RECEIVE_COLUMNS,
    SEND_COLUMNS,
    Defects,
    Ordinals,
)
from burstline.formats.raw.cuts import borders_of, cut
from burstline.formats.raw.events.calls import Gathering
from burstline.formats.raw.events.counters import Readings
from burstline.formats.raw.events.gaps import Gaps
from burstline.formats.raw.events.regions import Regions
from burstline.formats.raw.events.timeline import Life, joined, timeline
from burstline.formats.raw.files.layout import Kind
from burstline.formats.raw.group import Batch, describe, overhead_ns, whole_tables, with_polls

if TYPE_CHECKING:
    from burstline.columns import Integers
    from burstline.formats.intake import Processes
    from burstline.formats.raw.cuts import Cuts
    from burstline.formats.raw.events.counters import Backwards
    from burstline.formats.raw.events.timeline import Slice, Timeline
    from burstline.formats.raw.group import Basis
    from burstline.formats.raw.processes.processes import Process


@dataclass(frozen=True, slots=True, eq=False)
class Sliced:
    """A process that is read in slices: the thread that calls MPI, and its cuts."""

    process: int
    location: int
    file: int
    cuts: Cuts

    @property
    def processes(self) -> range:
        """The process, as those of a part."""
        return range(self.process, self.process + 1)


@dataclass(frozen=True, slots=True)
class Opening:
    """What a process did beside its calls."""

    of: Sliced

    @property
    def processes(self) -> range:
        """The process."""
        return self.of.processes


@dataclass(frozen=True, slots=True)
class Calling:
    """A slice of the calls of a process."""

    of: Sliced
    place: int

    @property
    def processes(self) -> range:
        """The process."""
        return self.of.processes


@dataclass(frozen=True, slots=True)
class Closing:
    """What stands behind the calls of a process."""

    of: Sliced

    @property
    def processes(self) -> range:
        """The process."""
        return self.of.processes


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """The batch of an opening, and that of its closing."""

    opening: Batch
    closing: Batch


@dataclass(frozen=True, slots=True, eq=False)
class Called:
    """The batch of a slice, and its counters that run backwards."""

    batch: Batch
    backwards: list[Backwards]


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """What goes on from slice to slice of a process while its groups are numbered."""

    closing: Batch
    ordinals: Ordinals = field(default_factory=Ordinals)
    backwards: tuple[Backwards, ...] = ()

    def after(self, called: Called) -> Course:
        """The course behind a slice."""
        return replace(self, backwards=(*self.backwards, *called.backwards))


def caller_of(process: Process) -> int | None:
    """Which thread of a process calls MPI; None where none does, or several do."""
    callers = [place for place, file in enumerate(process.files) if file.outline.has_calls]
    return callers[0] if len(callers) == 1 else None


def sliced(basis: Basis, number: int, caller: int, most: int) -> Sliced:
    """A process, cut into slices of at most so many records as far as its calls allow it."""
    process = basis.processes[number]
    cuts = cut(
        process.files[caller],
        basis.corrections[number],
        most,
        numbers=basis.numbers,
        counters=basis.counters,
        places=basis.counters.places(process.defined.counters),
    )
    first = int(np.searchsorted(basis.places.process, number))
    return Sliced(number, first + caller, caller, cuts)


def parts_of(what: Sliced) -> list[Part]:
    """The parts of a process, in order."""
    slices = [Calling(what, place) for place in range(len(what.cuts.slices))]
    return [Opening(what), *slices, Closing(what)]


def read_opening(basis: Basis, what: Sliced) -> Opened:
    """What a process did beside its calls: before its slices, and behind them."""
    process = basis.processes[what.process]
    correction, paths = basis.corrections[what.process], basis.stacks[what.process]
    communicators = basis.communicators.rows[what.process]
    counters = basis.counters.places(process.defined.counters)
    before, behind = Defects(), Defects()
    regions, gaps = Regions(before), Gaps(before)
    readings = Readings(basis.counters, before), Readings(basis.counters, behind)
    lives, overhead = [], 0
    for position, file in enumerate(process.files):
        if position == what.file:
            line = _borders(basis, what)
        else:
            is_behind = position > what.file
            defects = behind if is_behind else before
            location = what.location - what.file + position
            line = timeline(location, file, correction, defects)
            Gathering(basis.numbers, defects).add(line, communicators, paths)
            readings[is_behind].add(line, counters)
        regions.add(line, process.defined, paths)
        gaps.add(line, correction)
        overhead += overhead_ns(line)
        lives.append(Life(line.born_ns, line.died_ns))
        file.release()
    regions.end_process(what.process)
    definitions, nothing = regions.definitions(), _no_tables(basis)
    opening = {
        "regions": regions.table(),
        "region_defs": definitions,
        "teams": regions.teams(),
        "locks": regions.locks(),
        "gaps": gaps.table(),
        "readings": readings[0].table(),
    }
    closing = {"readings": readings[1].table()}
    before.take(what.cuts.defects)
    place = opening["regions"]["location"]
    for tables, is_there in ((opening, pc.less), (closing, pc.greater)):
        own = {
            "regions": opening["regions"].filter(is_there(place, what.location)),
            "region_defs": definitions,
            "readings": tables["readings"],
        }
        tables["bursts"] = bursts_of(own | whole_tables(basis))
    return Opened(
        _batch(what, nothing | opening, lives=lives, overhead_ns=overhead, defects=before),
        _batch(what, nothing | closing, lives=[], overhead_ns=0, defects=behind),
    )


def _borders(basis: Basis, what: Sliced) -> Timeline:
    borders = what.cuts.borders
    if borders is None:
        file = basis.processes[what.process].files[what.file]
        borders = borders_of(file, basis.corrections[what.process], what.cuts.slices)
    return replace(borders, location=what.location)


def read_slice(basis: Basis, what: Sliced, place: int) -> Called:
    """What the calls of a process were between two cuts."""
    number, cuts = what.process, what.cuts
    process, part = basis.processes[number], cuts.slices[place]
    file, defects = process.files[what.file], Defects()
    line = timeline(what.location, file, basis.corrections[number], defects, part)
    calls = Gathering(basis.numbers, defects, cuts.operations)
    communicators = basis.communicators.rows[number]
    calls.visit(cuts.earlier[place], what.location, communicators)
    calls.add(line, communicators, basis.stacks[number])
    own = range(len(cuts.earlier[place]), calls.records)
    calls.visit(cuts.later[place], what.location, communicators)
    readings = Readings(basis.counters, defects)
    unread = cuts.unread[place]
    read = joined([*([] if unread is None else [unread]), line.only(Kind.COUNTERS)])
    read = replace(read.upto(part.end.left), location=what.location)
    places = basis.counters.places(process.defined.counters)
    readings.add(read, places, cuts.readings[place])
    gaps = Gaps(Defects())
    gaps.add(_borders(basis, what).only(Kind.GAP, Kind.PAUSE), basis.corrections[number])
    file.release()
    described = describe(basis, calls, defects, own)
    tables = {
        "calls": described.table.slice(own.start, len(line.enter)),
        "readings": readings.table(),
    }
    bursts = _bursts(basis, what, part, tables, gaps.table())
    tables["bursts"] = with_polls(bursts, described.calls, described.details)
    batch = Batch(
        what.processes,
        _no_tables(basis) | tables,
        described.calls.names,
        *described.halves,
        np.zeros((5, 0), np.int64),
        [],
        0,
        defects,
    )
    return Called(batch, readings.backwards)


def _bursts(
    basis: Basis, what: Sliced, part: Slice, tables: dict[str, pa.Table], gaps: pa.Table
) -> pa.Table:
    """The bursts before each call of a slice."""
    names = ("enter_ns", "leave_ns", "enter_seq", "leave_seq")
    columns = [to_numpy(tables["calls"][name]).astype(np.int64) for name in names]
    if part.begin.call:
        begin = part.begin
        before = (begin.leave_ns, begin.leave_ns, begin.leave_seq, begin.leave_seq)
        columns = [np.append(first, rest) for first, rest in zip(before, columns, strict=True)]
    place = np.full(len(columns[0]), what.location, np.int32)
    calls = pa.table({"location": place, **dict(zip(names, columns, strict=True))})
    own = {"calls": calls, "readings": tables["readings"], "gaps": gaps}
    table = bursts_of(own | whole_tables(basis))
    first = max(part.begin.call - 1, 0)
    for name in ("burst", "call_before", "call_after"):
        at = table.column_names.index(name)
        field = table.schema.field(at)
        table = table.set_column(at, field, pc.add(table[name], pa.scalar(first, field.type)))
    return _without_merged(basis, what, table, columns, tables["readings"])


def _without_merged(
    basis: Basis, what: Sliced, bursts: pa.Table, calls: list[Integers], readings: pa.Table
) -> pa.Table:
    """Clear counters that look as if a merge had put them in, but in this slice only."""
    values = [
        to_numpy(readings[name].fill_null(schema.NO_VALUE))
        for name in ("seq", "time_ns", *basis.counters.names)
    ]
    _, leave_ns, enter_seq, leave_seq = calls
    here = read_at_starts(leave_ns[:-1], leave_seq[:-1], enter_seq[1:], values)
    for place in np.flatnonzero(what.cuts.at_starts & ~here).tolist():
        name = basis.counters.names[place]
        at = bursts.column_names.index(name)
        field = bursts.schema.field(at)
        bursts = bursts.set_column(at, field, pa.nulls(bursts.num_rows, field.type))
    return bursts


def _no_tables(basis: Basis) -> dict[str, pa.Table]:
    counted = {"readings", "bursts"}
    names = ("calls", "regions", "region_defs", "teams", "locks", "readings", "gaps", "bursts")
    return {
        name: schema.arrow_schema(
            name, basis.counters.names if name in counted else ()
        ).empty_table()
        for name in names
    }


def _batch(
    what: Sliced,
    tables: dict[str, pa.Table],
    *,
    lives: list[Life],
    overhead_ns: int,
    defects: Defects,
) -> Batch:
    """A batch without calls."""
    none = np.zeros(0, np.int64)
    return Batch(
        what.processes,
        tables,
        (),
        dict.fromkeys(SEND_COLUMNS, none),
        dict.fromkeys(RECEIVE_COLUMNS, none),
        dict.fromkeys(HALF_COLUMNS, none),
        dict.fromkeys(PART_COLUMNS, none),
        dict.fromkeys(QUEUE_COLUMNS, none),
        np.zeros((5, 0), np.int64),
        lives,
        overhead_ns,
        defects,
    )


if TYPE_CHECKING:
    Part = Processes | Opening | Calling | Closing
    Loaded = Batch | Opened | Called | None
