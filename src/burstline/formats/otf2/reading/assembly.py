"""All tables of an archive, a group of processes at a time.

::

    processes ──child process, several at once──► columns ──in order──► target, halves ─► target

What a group is does not show in the tables, nor how many are read at once.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from burstline import schema
from burstline.columns import shifted
from burstline.formats.intake.defects import Defects
from burstline.formats.intake.groups import in_order
from burstline.formats.intake.joining import Halves
from burstline.formats.otf2.reading.archive import open_archive
from burstline.formats.otf2.reading.communicators import Communicators
from burstline.formats.otf2.reading.events import read_events
from burstline.formats.otf2.reading.group import Basis, make_group
from burstline.formats.otf2.reading.metrics import Metrics
from burstline.formats.otf2.reading.paths import CallPaths
from burstline.formats.otf2.reading.places import standing
from burstline.formats.otf2.reading.regions import Regions
from burstline.schema.arrays import arrow_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from burstline.formats.intake.target import Heap, Target
    from burstline.formats.otf2.reading.definitions import Definitions
    from burstline.formats.otf2.reading.events import Events
    from burstline.formats.otf2.reading.group import Group
    from burstline.progress import Progress


class Assembly:
    """An archive on its way into tables.

    Parameters
    ----------
    anchor : Path
        Its anchor.
    odd : Defects
        Counts what is odd.

    Attributes
    ----------
    counters : list of str
        Names of the counters.
    operations : list of str
        Names behind the codes of operations.
    basis : Basis
        What all processes share.
    kinds : dict of str to int
        Events of each kind, once they are read.
    """

    def __init__(self, anchor: Path, odd: Defects) -> None:
        self._odd = odd
        archive = open_archive(anchor, odd)
        where = standing(archive.defined, odd)
        regions = Regions(archive.defined)
        self.basis = Basis(
            archive,
            where,
            Communicators(archive.defined, where),
            regions,
            Metrics(archive.defined),
            CallPaths(regions),
        )
        if not archive.defined.clock[0]:
            odd.note("clock_not_defined", "loss", f"{anchor}: ticks are taken for nanoseconds")
        self.counters = self.basis.metrics.names
        self.operations = regions.operations
        self.kinds: dict[str, int] = {}
        count = len(where.places.process)
        self._lives = np.zeros((2, count), np.int64)
        self._has_events = np.zeros(count, bool)
        self._teams = 0

    @property
    def defined(self) -> Definitions:
        """What the archive defines."""
        return self.basis.archive.defined

    def sizes(self) -> list[int]:
        """Give the bytes of events of each process."""
        places = self.basis.places
        sizes = np.zeros(len(places.rank), np.int64)
        bytes_each = [
            self.basis.archive.event_bytes(one)
            for one in self.basis.standing.references.tolist()
        ]
        np.add.at(sizes, places.process, bytes_each)
        return [int(size) for size in sizes]

    def read(
        self,
        target: Target,
        heap: Callable[[str], Heap],
        borders: Sequence[int],
        *,
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
        threads : int
            Groups to read at once, 0 for none while another one is stored.
        parts_at_once : int
            Parts of collectives to put together at a time.
        progress : Progress
            Told of locations and groups.
        """
        halves = Halves(
            self.basis.places,
            self.basis.communicators.members,
            borders,
            heap,
            parts_at_once=parts_at_once,
            odd=self._odd,
        )
        process = self.basis.places.process
        progress.step("Reading", len(process), "locations")
        spans = [range(*np.searchsorted(process, pair).tolist()) for pair in pairwise(borders)]
        for number, (events, odd) in enumerate(self._ahead(spans, threads)):
            group = make_group(self.basis, events, spans[number], odd)
            self._store(number, spans[number], group, target, halves)
            for kind, count in events.kinds.items():
                self.kinds[kind] = self.kinds.get(kind, 0) + count
            progress.advance(len(spans[number]))
        progress.step("Matching", len(spans), "groups")
        for messages in halves.messages():
            target.append("messages", messages)
            progress.advance(1)
        for alone in halves.half_messages():
            target.append("half_messages", alone)
        for instances, members in halves.collectives(self.operations):
            target.append("collectives", instances)
            target.append("collective_members", members)
        for name, table in self._whole().items():
            target.append(name, table)

    def _store(
        self, number: int, locations: range, group: Group, target: Target, halves: Halves
    ) -> None:
        self._odd.take(group.odd)
        rows = slice(locations.start, locations.stop)
        self._lives[:, rows] = group.lives
        self._has_events[rows] = group.has_events
        for name in ("team", "parent"):
            group.tables["teams"] = shifted(group.tables["teams"], name, self._teams)
        group.tables["regions"] = shifted(group.tables["regions"], "team", self._teams)
        self._teams += group.tables["teams"].num_rows
        halves.keep(number, group)
        for name, table in group.tables.items():
            target.append(name, table)

    def _ahead(self, spans: Sequence[range], threads: int) -> Iterator[tuple[Events, Defects]]:
        """Give what groups did, in order, while some of those to come are being read."""

        def read(locations: range) -> tuple[Events, Defects]:
            odd = Defects()
            basis = self.basis
            found = read_events(basis.archive, basis.standing, basis.regions, locations, odd)
            return found, odd

        return in_order(read, spans, threads)

    def _whole(self) -> dict[str, pa.Table]:
        basis = self.basis
        born, died = self._lives[:, self._has_events].min(axis=1, initial=0), self._lives
        lives = np.where(self._has_events, died, born[0] if len(born) else 0)
        silent = int(np.count_nonzero(~self._has_events))
        if silent:
            name = basis.standing.name[int(self._has_events.argmin())]
            self._odd.note("location_without_events", "info", name, silent)
        return {
            "locations": basis.standing.table(lives),
            "region_defs": basis.regions.table(),
            "call_paths": basis.paths.table(),
            "counters": basis.metrics.table(),
            "communicators": basis.communicators.table(),
            "metadata": self._metadata(),
            "defects": self._odd.table(),
        }

    def _metadata(self) -> pa.Table:
        archive, places = self.basis.archive, self.basis.places
        resolution, _, _ = archive.defined.clock
        version = archive.defined.version
        words = ".".join(str(version // part % 100) for part in (10000, 100, 1))
        facts: dict[str, Any] = {
            "path": str(archive.anchor),
            "format": "otf2",
            "resolution_ns": max(1, -(-1_000_000_000 // max(resolution, 1))),
            "recorder": f"an OTF2 {words} writer" if version else None,
            "clock": f"{resolution} ticks a second",
            "time_origin": "0 of the trace",
            "ranks": len(places.rank),
            "schema_version": schema.SCHEMA_VERSION,
        }
        told = {key: str(value) for key, value in facts.items() if value is not None}
        return arrow_table("metadata", {"key": list(told), "value": list(told.values())})
