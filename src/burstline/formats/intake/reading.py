"""The one loop that reads: parts of a source become tables in memory, or a store.

What a part is does not show in the tables, nor how many are read at once.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from burstline.columns import Integers, begins_run, codes, row_of
from burstline.executor import in_order
from burstline.formats import atomic
from burstline.formats.intake.budget import (
    PARTS_AT_ONCE,
    parts_within,
    require_disk,
    spool_within,
)
from burstline.formats.intake.collectives import PART_COLUMNS, join_collectives
from burstline.formats.intake.messages import HALF_TYPES, RECEIVE_COLUMNS, half_table
from burstline.formats.intake.sharing import Shared
from burstline.formats.intake.source import Columns, Divisible, Group, Loaded, PartOf, Source
from burstline.formats.intake.target import (
    HeldRows,
    HeldTables,
    MakeRows,
    PackedRows,
    Spool,
    give_back,
    types_of,
)
from burstline.formats.store import StoreWriter
from burstline.model import Trace, arrow_schema
from burstline.progress import SILENCE, Progress


class Halves:
    """Keeps what groups, of these processes, need of each other, and joins it at last."""

    def __init__(
        self, source: Source[Any, Any], processes: Sequence[range], rows: MakeRows, at_once: int
    ) -> None:
        self._source, self._places, self._joining = source, source.places, source.joining
        self._at_once = at_once
        self._borders = np.array([group.stop for group in processes], np.int64)
        self._first = np.searchsorted(self._borders, self._borders)
        self._sends = rows("sends", self._joining.sends)
        self._receives = rows("receives", self._joining.receives)
        part = types_of(PART_COLUMNS, *_COLLECTIVES)
        self._parts = rows("parts", part)
        self._ranges = rows("ranges", part)
        self._alone = rows("alone", HALF_TYPES)
        # Of processes in several groups: which numbers on channels each group has.
        self._begins = rows("begins", dict.fromkeys(_BEGIN_COLUMNS, np.dtype(np.int64)))
        self._parted = rows("parted", types_of(RECEIVE_COLUMNS, "messages"))
        self._alone_ranges = rows("halves", HALF_TYPES)
        self._alone_counts, self._alone_last = np.zeros((2, len(processes)), np.int64)
        self._instances = np.zeros(0, np.int64)
        self._has_parts = self._has_alone = False  # where no group has any, there is no table

    def append(self, number: int, group: Group) -> None:
        """Keep the halves and parts of a group; receives go where their sends are."""
        self._sends.append(number, group.sends)
        if self._is_parted(number):
            self._begins.append(int(self._first[number]), _begins_of(group.sends, number))
        if len(self._borders) == 1:
            self._receives.append(number, group.receives)
        else:
            sender = self._joining.senders(group.receives)
            self._receives.scatter(self._group_of(sender), group.receives)
        if group.parts is not None:
            self._has_parts, parts = True, group.parts
            self._widen(int(parts["communicator"].max(initial=-1)) + 1)
            np.maximum.at(self._instances, parts["communicator"], parts["sequence"] + 1)
            self._parts.append(number, parts)
        if group.waiting is not None:
            self._has_alone = True
            self._keep(group.waiting)

    def _group_of(self, process: Integers) -> Integers:
        return np.searchsorted(self._borders, process, "right")

    def _keep(self, alone: Columns) -> None:
        """Keep events without another side for the first group of their process."""
        group = self._group_of(self._places.process[alone["location"]])
        np.add.at(self._alone_counts, group, 1)
        np.maximum.at(self._alone_last, group, alone["seq"])
        self._alone.scatter(group, alone)

    def _is_parted(self, number: int) -> bool:
        """Whether a group is one of several of its process."""
        return int(np.count_nonzero(self._first == self._first[number])) > 1

    def messages(self) -> Iterator[Mapping[str, pa.Table]]:
        """The messages that each group sent, and what its format has beside."""
        for number in range(len(self._borders)):
            sends = self._sends.take(number)
            tables, events = self._joining.join(sends, self._received(number))
            del sends
            yield tables
            del tables
            for alone in events:
                self._keep(alone)
            give_back()
        self._joining.finish()

    def _received(self, number: int) -> dict[str, Integers]:
        """The receives of what a group sent."""
        if not self._is_parted(number):
            return self._receives.take(number)
        if number == self._first[number]:
            begins = self._begins.take(number)
            for receives in self._receives.pieces(number):
                owner = _sending_groups(begins, receives, self._places.process, number)
                self._parted.scatter(owner, receives)
        return self._parted.take(number)

    def half_messages(self) -> Iterator[pa.Table]:
        """What each group has of messages without another side, after the messages."""
        if not self._has_alone:
            return
        for number in range(len(self._borders)):
            if self._alone_counts[number] <= self._at_once or not self._is_parted(number):
                yield half_table(self._alone.take(number))
                continue
            # All events of a process in several groups are of one location.
            ranges = -(-self._alone_counts[number] // self._at_once)
            width = self._alone_last[number] // ranges + 1
            for alone in self._alone.pieces(number):
                self._alone_ranges.scatter(alone["seq"] // width, alone)
            for place in range(ranges):
                yield half_table(self._alone_ranges.take(place))

    def collectives(self) -> Iterator[tuple[pa.Table, pa.Table]]:
        """Instances and their members, a range of instances at a time."""
        if not self._has_parts:
            return
        if not self._instances.any():
            instances, parts = (arrow_schema(name).empty_table() for name in _COLLECTIVES)
            yield instances, parts
            return
        # A communicator may be named that is not defined, so that its members are not known.
        members = [*self._source.members]
        members += [()] * (len(self._instances) - len(members))
        size = np.array([max(len(listed), 1) for listed in members], np.int64)
        self._widen(len(size))
        base = np.cumsum(self._instances) - self._instances
        borders = self._source.borders(self._instances, size, self._at_once)
        for number in range(len(self._borders)):
            parts = self._parts.take(number)
            instance = base[parts["communicator"]] + parts["sequence"]
            self._ranges.scatter(np.searchsorted(borders, instance, "right"), parts)
        first = 0
        for number in range(len(borders) + 1):
            joined = join_collectives(self._ranges.take(number), self._source, members, first)
            first += joined[0].num_rows
            yield joined

    def _widen(self, communicators: int) -> None:
        """Have room to count the instances of so many communicators."""
        more = max(communicators - len(self._instances), 0)
        self._instances = np.append(self._instances, np.zeros(more, np.int64))


_COLLECTIVES: Final = ("collectives", "collective_members")
_CHANNEL: Final = ("communicator", "receiver", "tag")
_BEGIN_COLUMNS: Final = (*_CHANNEL, "ordinal", "group")
_WIDEST: Final = 40


def _begins_of(sends: Columns, number: int) -> dict[str, Integers]:
    channel = [sends[name] for name in _CHANNEL]
    order = np.lexsort((sends["ordinal"], *channel))
    first = order[np.flatnonzero(begins_run(*(column[order] for column in channel)))]
    begins = {name: sends[name][first] for name in (*_CHANNEL, "ordinal")}
    return begins | {"group": np.full(len(first), number)}


def _sending_groups(
    begins: Columns, receives: Columns, process: Integers, otherwise: int
) -> Integers:
    receiver = process[receives["receiver_location"]]
    known, wanted = codes(
        [begins[name] for name in _CHANNEL],
        [receives["communicator"], receiver, receives["tag"]],
    )
    channels = np.unique(known)
    if not len(channels):
        return np.full(len(wanted), otherwise)
    channel = row_of(channels, wanted)
    key = np.searchsorted(channels, known) << _WIDEST | begins["ordinal"]
    order = np.argsort(key)
    place = np.searchsorted(key[order], channel << _WIDEST | receives["ordinal"], "right") - 1
    return np.where(channel >= 0, begins["group"][order[np.maximum(place, 0)]], otherwise)


Target: TypeAlias = HeldTables | StoreWriter

_DEFINITIONS: Final = 8 << 20  # of what a process takes beside its units


@dataclass(frozen=True, slots=True)
class Pace:
    """How much is done at a time, by whom, and who is told."""

    threads: int = 0  # parts that are read ahead
    writers: int = 0  # tables that are appended at a time
    parts_at_once: int | None = None  # parts of collectives that are joined at a time
    shared: Shared | None = None  # workers that read parts ahead in place of threads
    progress: Progress = SILENCE


def read_whole(
    source: Divisible[PartOf, Loaded], *, at_once: int, memory: int | None, pace: Pace
) -> Trace:
    """The trace of a source in memory; what outgrows `memory` is refused before it is read."""
    costs = source.costs
    plan = costs.whole_within(source.sizes(), source.uncut(), memory, at_once, pace.threads)
    tables = HeldTables(
        memory,
        base=plan.beside - _DEFINITIONS,
        way_out=costs.way_out,
        locations=len(source.places.process),
    )
    parts = source.parts(plan.at_once, plan.longest)
    return hold(source, parts, replace(pace, threads=plan.threads), tables)


def hold(
    source: Source[PartOf, Loaded],
    parts: Sequence[PartOf],
    pace: Pace,
    tables: HeldTables | None = None,
) -> Trace:
    """The trace of all parts of a source, its tables in memory."""
    tables = tables or HeldTables()
    read_parts(source, parts, tables, lambda _, types: HeldRows(types), pace)
    return Trace(tables.finish(source.operations))


def convert(source: Divisible[PartOf, Loaded], path: Path, *, memory: int, pace: Pace) -> None:
    """Make a store of a source within `memory` bytes; the tables are those of memory."""
    sizes, uncut, costs = source.sizes(), source.uncut(), source.costs
    require_disk(path.absolute().parent, int(sum(sizes) * costs.disk))
    most, longest, threads = costs.streamed_within(sizes, uncut, memory, pace.threads)
    if pace.shared is not None:
        most, longest = pace.shared.at_once((most, longest), costs, sizes, uncut)
    parts = source.parts(most, longest)
    with new_store(path) as (store, spill):
        fill(store, spill, source, parts, memory=memory, pace=replace(pace, threads=threads))


@contextmanager
def new_store(path: Path) -> Iterator[tuple[StoreWriter, Path]]:
    """A store to fill, and a folder in it for what waits; an error leaves neither."""
    with atomic.folder(path) as folder, StoreWriter(folder, ()) as store:
        spill = folder / "spill"
        spill.mkdir()
        yield store, spill


def fill(
    store: StoreWriter,
    spill: Path,
    source: Source[PartOf, Loaded],
    parts: Sequence[PartOf],
    *,
    memory: int,
    pace: Pace,
) -> None:
    """Finish a store with all parts of a source; what waits takes little of `memory`."""
    store.counters = source.counters
    at_once = pace.parts_at_once or parts_within(memory)

    def rows(name: str, types: Mapping[str, np.dtype[Any]]) -> PackedRows:
        return PackedRows(Spool(spill, name, spool_within(memory)), types)

    read_parts(source, parts, store, rows, replace(pace, parts_at_once=at_once))
    store.finish(source.operations)
    shutil.rmtree(spill)


def read_parts(
    source: Source[PartOf, Loaded],
    parts: Sequence[PartOf],
    target: Target,
    rows: MakeRows,
    pace: Pace,
) -> None:
    """Append all tables of a source to a target; what waits for others does so in `rows`."""
    at_once = pace.parts_at_once or PARTS_AT_ONCE
    halves = Halves(source, [part.processes for part in parts], rows, at_once)
    load = partial(in_order, source.load, parts, pace.threads)
    if pace.shared is not None:
        load = partial(pace.shared.loaded, parts)
    progress = pace.progress
    progress.step("Reading", len(source.places.process), "locations")
    with closing(load()) as loaded:
        for number, part in enumerate(parts):
            group = source.group(part, next(loaded))
            halves.append(number, group)
            _append_all(target, group.tables, pace.writers)
            if isinstance(target, StoreWriter):
                target.adopt(group.written)
            progress.advance(group.locations)
            del group
            give_back()
    progress.step("Matching", len(parts), "groups")
    for messages in halves.messages():
        _append_all(target, messages)
        progress.advance(1)
    for alone in halves.half_messages():
        target.append("half_messages", alone)
    for joined in halves.collectives():
        _append_all(target, dict(zip(_COLLECTIVES, joined, strict=True)))
    _append_all(target, source.whole())


def _append_all(target: Target, tables: Mapping[str, pa.Table], writers: int = 0) -> None:
    def append(name: str) -> None:
        target.append(name, tables[name])

    for _ in in_order(append, tables, writers, ahead=len(tables)):
        pass
