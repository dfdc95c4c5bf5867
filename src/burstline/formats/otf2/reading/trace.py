"""From an archive to a trace, in memory or in a store: a source of the one loop that reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa

from burstline.errors import readable
from burstline.executor import Workers, threads_allowed
from burstline.formats import intake
from burstline.formats.definitions import Account
from burstline.formats.otf2.reading.archive import (
    begins_anchor,
    file_size,
    is_part,
    open_archive,
    require_anchor,
)
from burstline.formats.otf2.reading.basis import ArchiveBasis
from burstline.formats.otf2.reading.events import ArchiveEvents, read_events
from burstline.formats.otf2.reading.group import make_group
from burstline.model import NO_VALUE, Loops, Trace, metadata_table
from burstline.progress import SILENCE, Progress

Result = TypeVar("Result")
MOST_AT_ONCE: Final = 32 << 20
"""Bytes of events that are taken on at a time when all tables fit in memory, at most."""

# A group costs a child process, and with it a copy of what this one has written to since.
# Metrics take more where there are many: that shows while tables grow.
COSTS: Final = intake.ReadingCosts(
    tables=5,
    made=13,
    ahead=5,
    streamed=40,
    disk=4,
    least=4 << 20,
    most=64 << 20,
    base=128 << 20,
    way_out=intake.way_by_store("the archive", "ARCHIVE"),
)
"""Of a byte of events."""
_GROUPS: Final = 6


class _FallingCounters(Exception):  # noqa: N818 -- no error: it ends a first reading
    """Counters that fall though they are declared accumulated, which all readings tell."""

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__(names)
        self.names = names


def _read_again_if_counters_fall(read: Callable[[frozenset[str]], Result]) -> Result:
    """What `read` makes of an archive, once it is known which counters are gauges."""
    try:
        return read(frozenset())
    except _FallingCounters as found:
        return read(found.names)


class ArchiveSource(intake.Divisible[intake.Processes, tuple[ArchiveEvents, intake.Defects]]):
    """An archive; `kinds` counts its events of each kind, once they are read.

    Values of the counters that are `gauges` are kept, though they are declared accumulated.
    """

    costs = COSTS

    def __init__(
        self,
        anchor: Path,
        gauges: frozenset[str] = frozenset(),
        memory: int | None = None,
    ) -> None:
        self.defects = defects = intake.Defects()
        account = Account(memory, way_out=COSTS.way_out)
        archive = open_archive(anchor, defects, account)
        self.basis = ArchiveBasis.of(archive, defects, gauges)
        for name in sorted(gauges):
            defects.note("falling_counter_is_a_gauge", "info", name)
        self.places, self.members = self.basis.places, self.basis.communicators.members
        if not archive.defined.clock[0]:
            text = f"{anchor}: ticks are taken for nanoseconds"
            defects.note("clock_not_defined", "loss", text)
        self.joining = intake.MpiOrder(self.places, defects)
        self.counters = self.basis.metrics.names
        self.operations = self.basis.regions.operations
        self.kinds: Counter[str] = Counter()
        count = len(self.places.process)
        self._lives = np.zeros((2, count), np.int64)
        self._has_events = np.zeros(count, bool)
        self._teams = 0
        self._loops = Loops()

    def sizes(self) -> list[int]:
        """Bytes of events of each process."""
        basis = self.basis
        sizes = np.zeros(len(basis.places.rank), np.int64)
        of_locations = map(basis.archive.event_bytes, basis.standing.references.tolist())
        np.add.at(sizes, basis.places.process, list(of_locations))
        return sizes.tolist()

    def parts(self, most: int, longest: int | None = None) -> Sequence[intake.Processes]:
        """Groups of whole processes, of at most so many bytes or of one: none is cut."""
        del longest
        return intake.groups_of(self.sizes(), most)

    def load(self, part: intake.Processes) -> tuple[ArchiveEvents, intake.Defects]:
        """What some processes did, read in a child process, and what was odd in reading it."""
        basis = replace(self.basis, defects=intake.Defects())
        return read_events(basis, self._locations(part)), basis.defects

    def group(
        self, part: intake.Processes, loaded: tuple[ArchiveEvents, intake.Defects]
    ) -> intake.Group:
        """The group of a part, numbered after those before it."""
        events, defects = loaded
        locations = self._locations(part)
        rows = slice(locations.start, locations.stop)
        lives = events.tables["lives"]
        self._lives[:, rows] = lives["born_ns"], lives["died_ns"]
        self._has_events[rows] = lives["status"] != NO_VALUE
        basis = replace(self.basis, defects=defects)
        group = make_group(basis, events, locations, teams=self._teams)
        self.defects.take(defects)
        self._teams += group.tables["teams"].num_rows
        loops = self._loops.tables(group.tables, self.basis.regions.table(), None)
        group = replace(group, tables={**group.tables, **loops})
        self.kinds.update(events.kinds)
        return group

    def _locations(self, part: intake.Processes) -> range:
        processes = part.processes
        first, last = np.searchsorted(self.places.process, (processes.start, processes.stop))
        return range(int(first), int(last))

    def whole(self) -> dict[str, pa.Table]:
        """Tables that no part owns."""
        basis = self.basis
        if falling := basis.metrics.falling():
            raise _FallingCounters(falling)
        born, died = self._lives[:, self._has_events].min(axis=1, initial=0), self._lives
        lives = np.where(self._has_events, died, born[0] if len(born) else 0)
        silent = int(np.count_nonzero(~self._has_events))
        if silent:
            name = basis.standing.name[int(self._has_events.argmin())]
            self.defects.note("location_without_events", "info", name, silent)
        return self._loops.definitions() | {
            "locations": basis.standing.table(lives),
            "region_defs": basis.regions.table(),
            "call_paths": basis.paths.table(),
            "counters": basis.metrics.table(),
            "communicators": basis.communicators.table(),
            "metadata": self._metadata(),
            "defects": self.defects.table(),
        }

    def _metadata(self) -> pa.Table:
        archive, places = self.basis.archive, self.basis.places
        resolution, _, _ = archive.defined.clock
        version = archive.defined.version
        words = ".".join(str(version // part % 100) for part in (10000, 100, 1))
        facts: dict[str, Any] = {
            "path": readable(archive.anchor),
            "format": "otf2",
            "resolution_ns": max(1, -(-1_000_000_000 // max(resolution, 1))),
            "recorder": f"an OTF2 {words} writer" if version else None,
            "clock": f"{resolution} ticks a second",
            "time_origin": "0 of the trace",
            "ranks": len(places.rank),
        }
        return metadata_table(facts)


def recognises(path: Path, head: bytes) -> bool:
    """Whether a file or folder belongs to an archive, with or without its anchor."""
    return begins_anchor(head) or is_part(path)


def read(
    path: Path,
    *,
    raw: bool = True,  # noqa: ARG001 -- an archive has nothing raw
    memory: int | None = None,
    threads: int | None = None,
    bytes_at_once: int | None = None,
    progress: Progress = SILENCE,
) -> Trace:
    """The trace of an anchor or a folder, `threads` times `bytes_at_once` of events at once."""
    anchor = require_anchor(path)
    pace = intake.Pace(threads_allowed(threads), progress=progress)
    sizes = [file_size(file) for file in anchor.with_suffix("").glob("*.evt")]
    if bytes_at_once is None:
        bytes_at_once = min(max(sum(sizes) // _GROUPS, COSTS.least), MOST_AT_ONCE)

    def whole(gauges: frozenset[str]) -> Trace:
        source = ArchiveSource(anchor, gauges, memory)
        return intake.read_whole(source, at_once=bytes_at_once, memory=memory, pace=pace)

    return _read_again_if_counters_fall(whole)


def convert(
    path: Path,
    target: Path,
    *,
    raw: bool = True,  # noqa: ARG001 -- an archive has nothing raw
    memory: int,
    threads: int,
    progress: Progress,
    workers: Workers | None = None,
) -> None:
    """Make a store of an archive within `memory` bytes, at least 256 MiB."""
    intake.require_memory(memory)
    anchor = require_anchor(path)

    def made(gauges: frozenset[str]) -> None:
        shared = None
        if workers is not None:
            arguments = anchor.absolute(), gauges, workers.memory_each or memory
            shared = intake.Shared(workers, ArchiveSource, arguments, lambda _: (), anchor)
        source = ArchiveSource(anchor, gauges, memory)
        pace = intake.Pace(threads, shared=shared, progress=progress)
        intake.convert(source, target, memory=memory, pace=pace)

    _read_again_if_counters_fall(made)
