"""A process that is too large to be read at once, as a sequence of parts.

::

    cuts ─┬─► opening: regions, gaps, threads that do not call MPI
          ├─► slice after slice: calls, readings, bursts, halves, parts of collectives
          └─► closing: threads behind the one that calls
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline.columns import Integers, codes, concatenated, shifted, to_numpy, with_column
from burstline.formats.intake import Defects, Group
from burstline.formats.raw.cuts import Cuts, borders_of, cut
from burstline.formats.raw.events.counters import Backwards
from burstline.formats.raw.events.timeline import ThreadTimeline, joined, timeline
from burstline.formats.raw.files.layout import Kind
from burstline.formats.raw.group import (
    Batch,
    Gaps,
    Gatherer,
    RunBasis,
    bursts,
    describe,
    with_polls,
)
from burstline.formats.raw.processes.processes import RecordedProcess
from burstline.model import NO_VALUE, read_at_starts


@dataclass(frozen=True, slots=True, eq=False)
class Sliced:
    """A part of a process that is read in slices of the thread that calls MPI."""

    process: int
    location: int  # of that thread
    file: int  # of that thread, among those of the process
    cuts: Cuts
    place: int  # of the slice; -1 of what opens the process, `closes` of what closes it

    @property
    def processes(self) -> range:
        """The process."""
        return range(self.process, self.process + 1)

    @property
    def closes(self) -> int:
        """The place behind the last slice."""
        return len(self.cuts.slices)


def caller_of(process: RecordedProcess) -> int | None:
    """Which thread of a process calls MPI; None where none does, or several do."""
    callers = [place for place, file in enumerate(process.files) if file.outline.has_calls]
    return callers[0] if len(callers) == 1 else None


def sliced(basis: RunBasis, number: int, caller: int, most: int) -> list[Sliced]:
    """The parts of a process, of at most so many records as far as its calls allow it."""
    cuts = cut(
        basis.processes[number].files[caller],
        basis.corrections[number],
        most,
        numbers=basis.numbers,
        counters=basis.counters,
        places=basis.counter_places(number),
    )
    location = int(np.searchsorted(basis.places.process, number)) + caller
    places = range(-1, len(cuts.slices) + 1)
    return [Sliced(number, location, caller, cuts, place) for place in places]


def read_part(basis: RunBasis, part: Sliced) -> tuple[Batch, ...]:
    """What a part holds: the first what opens and what closes the process, the last nothing."""
    if part.place < 0:
        return _read_opening(basis, part)
    return () if part.place == part.closes else (_read_slice(basis, part),)


def _read_opening(basis: RunBasis, part: Sliced) -> tuple[Batch, Batch]:
    """What a process did beside its calls: before its slices, and behind them."""
    number, correction = part.process, basis.corrections[part.process]
    before, behind = Gatherer(basis), Gatherer(basis)
    for position, file in enumerate(basis.processes[number].files):
        if position == part.file:
            line = _borders_of_process(basis, part)
        else:
            gatherer = behind if position > part.file else before
            location = part.location - part.file + position
            line = timeline(location, file, correction, gatherer.defects)
            gatherer.add_calls(line, number)
        before.add_regions(line, number)
        file.release()
    before.regions.end_process(number)
    before.defects.take(part.cuts.defects)
    opening, closing = before.tables(), behind.tables()
    regions, definitions = opening["regions"], opening["region_defs"]
    batches = []
    for gatherer, tables, is_there in (
        (before, opening, pc.less),
        (behind, closing, pc.greater),
    ):
        there = regions.filter(is_there(regions["location"], part.location))
        described = describe(basis, gatherer.calls, gatherer.defects)
        tables["calls"], readings = described.table, tables["readings"]
        tables["bursts"] = bursts(
            basis, {"regions": there, "region_defs": definitions, "readings": readings}
        )
        batches.append(gatherer.batch(part.processes, tables, described))
    return batches[0], batches[1]


def _borders_of_process(basis: RunBasis, part: Sliced) -> ThreadTimeline:
    borders = part.cuts.borders
    if borders is None:
        file = basis.processes[part.process].files[part.file]
        borders = borders_of(file, basis.corrections[part.process], part.cuts.slices)
    return replace(borders, location=part.location)


def _read_slice(basis: RunBasis, part: Sliced) -> Batch:
    """What the calls of a process were between two cuts."""
    number, cuts = part.process, part.cuts
    span, earlier, later, readings, unread = cuts.slices[part.place]
    file, gatherer = basis.processes[number].files[part.file], Gatherer(basis, cuts.operations)
    line = timeline(part.location, file, basis.corrections[number], gatherer.defects, span)
    calls, communicators = gatherer.calls, basis.communicators.rows[number]
    calls.add_foreign_records(earlier, part.location, communicators)
    calls.add(line, communicators, basis.stacks[number])
    own = range(len(earlier), calls.records)
    calls.add_foreign_records(later, part.location, communicators)
    read = joined([*([] if unread is None else [unread]), line.only(Kind.COUNTERS)])
    read = replace(read.upto(span.end.left), location=part.location)
    gatherer.readings.add(read, basis.counter_places(number), readings)
    gaps = Gaps(Defects())
    gaps.add(
        _borders_of_process(basis, part).only(Kind.GAP, Kind.PAUSE), basis.corrections[number]
    )
    file.release()
    described = describe(basis, calls, gatherer.defects, own)
    tables = gatherer.tables()
    tables["calls"] = described.table.slice(own.start, len(line.enter))
    between = _slice_bursts(basis, part, tables, gaps.table())
    tables["bursts"] = with_polls(between, described)
    return gatherer.batch(part.processes, tables, described)


def _slice_bursts(
    basis: RunBasis, part: Sliced, tables: Mapping[str, pa.Table], gaps: pa.Table
) -> pa.Table:
    names = ("enter_ns", "leave_ns", "enter_seq", "leave_seq")
    columns = [to_numpy(tables["calls"][name]).astype(np.int64) for name in names]
    begin = part.cuts.slices[part.place].span.begin
    if begin.call:
        before = (begin.leave_ns, begin.leave_ns, begin.leave_seq, begin.leave_seq)
        columns = [np.append(first, rest) for first, rest in zip(before, columns, strict=True)]
    location = np.full(len(columns[0]), part.location, np.int32)
    calls = pa.table({"location": location, **dict(zip(names, columns, strict=True))})
    readings = tables["readings"]
    table = bursts(basis, {"calls": calls, "readings": readings, "gaps": gaps})
    for name in ("burst", "call_before", "call_after"):
        table = shifted(table, name, max(begin.call - 1, 0))
    # Counters that look as if a merge had put them in, but in this slice only, are cleared.
    values = [
        to_numpy(readings[name].fill_null(NO_VALUE))
        for name in ("seq", "time_ns", *basis.counters.names)
    ]
    _, leave_ns, enter_seq, leave_seq = columns
    here = read_at_starts(leave_ns[:-1], leave_seq[:-1], enter_seq[1:], values)
    for place in np.flatnonzero(part.cuts.at_starts & ~here).tolist():
        name = basis.counters.names[place]
        table = with_column(table, name, pa.nulls(table.num_rows, table[name].type))
    return table


class SliceOrdinals:
    """What the slices of one process counted so far, and what closes it."""

    def __init__(self, closing: Batch) -> None:
        self.closing = closing
        self.backwards: list[Backwards] = []
        self._sent = _Counts("communicator", "receiver", "tag")
        self._queued = _Counts("communicator", "sender", "tag")
        self._collectives = _Counts("communicator")

    def number(self, group: Group, batch: Batch) -> Group:
        """The group of a slice with ordinals that follow on those before."""
        self.backwards += batch.backwards
        sends, receives, parts = group.sends, group.receives, batch.halves.parts
        received = concatenated(
            ["communicator", "sender", "tag", "ordinal"], [receives, batch.halves.queued]
        )
        ordinal = self._queued.after(received, "ordinal")[: len(receives["ordinal"])]
        sequence = self._collectives.after(parts, "sequence")
        return replace(
            group,
            sends={**sends, "ordinal": self._sent.after(sends, "ordinal")},
            receives={**receives, "ordinal": ordinal},
            parts={**(group.parts or {}), "sequence": sequence},
        )


class _Counts:
    """How many there have been of each key."""

    def __init__(self, *key: str) -> None:
        self._keys = dict.fromkeys(key, np.zeros(0, np.int64))
        self._counts = np.zeros(0, np.int64)

    def after(self, columns: Mapping[str, Integers], ordinal: str) -> Integers:
        """Ordinals that count from 0 for each key, behind those before."""
        keys = concatenated(list(self._keys), [self._keys, columns])
        (code,) = codes(list(keys.values()))
        _, first, place = np.unique(code, return_index=True, return_inverse=True)
        earlier, later = np.split(place.reshape(-1), [len(self._counts)])
        before = np.zeros(len(first), np.int64)
        before[earlier] = self._counts
        number = before[later] + columns[ordinal]
        np.maximum.at(before, later, number + 1)
        self._keys, self._counts = {name: keys[name][first] for name in keys}, before
        return number
