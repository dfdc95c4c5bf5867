"""From a ``.prv`` to a trace in memory, or to a store within a memory budget.

::

    scan ──► journals by bucket of processes ──► all built at once ──► tables in memory
                       │
                       └─► spilled when they outgrow their share ──► each built ──► store

In memory, peak memory is little more than the tables: the journals of a bucket are freed as
soon as it is built, and every bucket is built into the same columns.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline import _core
from burstline.formats.intake import (
    Group,
    Places,
    Tables,
    even_borders,
    fill,
    hold,
    new_store,
    parts_within,
    require_bytes,
    require_disk,
    require_memory,
    window_borders,
)
from burstline.formats.paraver.reading.communication import ExactOrder, collective_parts
from burstline.formats.paraver.reading.memory import (
    DISK,
    STREAMED,
    WAY_OUT,
    JournalCount,
    JournalSpill,
    bytes_of_tables,
    bytes_of_whole,
)
from burstline.formats.paraver.reading.objects import TWIN_MAKERS
from burstline.formats.paraver.reading.trace_file import open_trace, valid_text
from burstline.loops import LOOP_TYPES, LoopEvents, Loops

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa

    from burstline.columns import Integers
    from burstline.formats.paraver.reading.assembly import Columns
    from burstline.formats.paraver.reading.objects import Objects
    from burstline.formats.paraver.reading.scan import Scanned
    from burstline.formats.paraver.reading.trace_file import OpenTrace
    from burstline.progress import Progress
    from burstline.trace import Trace

LOOPS_LEFT_OUT: Final = "loops_left_out"
"""The defect of a trace whose loops are not read, for want of memory."""
_BUCKETS: Final = 64
_MOST_BUCKETS: Final = 4096
_GZIP_RATIO: Final = 9
_SHARE_OF_JOURNAL: Final = 6


@dataclass(frozen=True, slots=True)
class Buckets:
    """A part: some buckets of journals, and the processes whose they are."""

    buckets: range
    processes: range


class ScannedSource:
    """The journals of a trace, in one part, or one for each bucket if there is a `spill`.

    Buckets of one part are built into the same columns, `threads` at a time. Events that tell
    of loops are built also where they are not kept.
    """

    words_of_instance: Final = "instance {number} of communicator {communicator}"

    def __init__(
        self,
        opened: OpenTrace,
        journal: _core.Journal,
        scanned: Scanned,
        spill: JournalSpill | None,
        *,
        raw: bool,
        threads: int,
        progress: Progress,
    ) -> None:
        self._opened, self._journal, self._spill = opened, journal, spill
        self._raw, self._threads, self._progress = raw, threads, progress
        self._loops, self._reads_loops = Loops(), opened.tells_loops
        self._assembly, self._words = opened.assembly(journal, scanned)
        self._paths = _core.PathTable()
        self.counts: dict[str, Integers] = journal.counts(opened.layout)
        self._keep_states = raw or not self.counts["calls"].any()
        objects = opened.objects
        self._twins: set[int] = set()  # applications whose communicators may share ids
        self.places, self.defects = _places_of(objects), scanned.defects
        self._locations = np.bincount(
            self._buckets()[self.places.process], minlength=opened.buckets
        )
        self.counters: Sequence[str] = self._assembly.counter_names
        self.operations: Sequence[str] = self._assembly.operations
        self.borders = even_borders if spill is None else window_borders
        in_one_part = spill is None or opened.buckets == 1
        self.joining = ExactOrder(
            self.places.process, self.defects, in_one_part=in_one_part, raw=raw
        )

    def leave_out_loops(self) -> None:
        """Build no events for the sake of loops."""
        self._reads_loops = False
        self.defects.note(LOOPS_LEFT_OUT, "info", "more memory is needed to read them")

    @property
    def members(self) -> Sequence[tuple[int, ...]]:
        """Ranks of the members of each communicator, none where they are not known."""
        known = self._assembly.scanned.communicators
        return [
            tuple(known[key].members.tolist()) if key in known else ()
            for key in self._assembly.communicators
        ]

    def parts(self) -> list[Buckets]:
        """All buckets at once if they stay in memory, else each of them."""
        count = self._opened.buckets
        tasks = len(self.places.rank)
        if self._spill is None:
            return [Buckets(range(count), range(tasks))]
        bucket = self._buckets()
        first = np.searchsorted(bucket, np.arange(count + 1)).tolist()
        return [
            Buckets(range(number, number + 1), range(first[number], first[number + 1]))
            for number in range(count)
        ]

    def _buckets(self) -> Integers:
        """The bucket of each process."""
        tasks = len(self.places.rank)
        return np.arange(tasks) * self._opened.buckets // max(tasks, 1)

    def load(self, part: Buckets) -> _core.Builder:
        """The rows of some buckets; their journals are used up, one part after the other."""
        first, last = part.buckets.start, part.buckets.stop
        if self._spill is not None:
            for bucket in part.buckets:
                self._spill.restore(self._journal, bucket)
        builder = _core.Builder(
            self._journal,
            self._opened.layout,
            self._words,
            self._paths,
            first,
            last,
            self._raw or self._reads_loops,
            self._keep_states,
        )
        pool = ThreadPoolExecutor(self._threads, "build")
        try:
            for bucket, _ in zip(
                part.buckets, pool.map(builder.build, part.buckets), strict=True
            ):
                # All in one part: the loop would not move before the end.
                if self._spill is None:
                    self._progress.advance(int(self._locations[bucket]))
        finally:
            pool.shutdown(cancel_futures=True)
        builder.finish()
        return builder

    def group(self, part: Buckets, loaded: _core.Builder) -> Group:
        """The group of a part, numbered after those before it."""
        built: dict[str, Columns] = loaded.tables()
        calls = self._assembly.calls(built["calls"], self._paths)
        sends, receives = built.pop("sends"), built.pop("receives")
        tables = self._assembly.tables(built, loaded.extras(), raw=self._raw)
        events = self._loop_events(built["events"]) if self._reads_loops else None
        built.clear()
        tables |= self._loops.tables(tables, self._assembly.regions.table(), events)
        makes_twins = np.isin(calls["operation"], TWIN_MAKERS)
        makers = self._opened.objects.application[calls["location"][makes_twins]]
        self._twins.update(makers.tolist())
        parts = collective_parts(calls)
        # A store has no tables of collectives where there are none.
        has_parts = self._spill is None or len(parts["call"]) > 0
        first, last = np.searchsorted(
            self.places.process, (part.processes.start, part.processes.stop)
        )
        return Group(
            tables,
            sends,
            receives,
            waiting=None,
            parts=parts if has_parts else None,
            locations=0 if self._spill is None else int(last - first),
        )

    def _loop_events(self, events: Columns) -> LoopEvents:
        rows = np.flatnonzero(np.isin(events["type"], list(LOOP_TYPES)))
        names = ("location", "time_ns", "type", "value")
        location, time_ns, kind, value = (events[name][rows].astype(np.int64) for name in names)
        return LoopEvents(location, time_ns, kind, value, self._loop_name)

    def _loop_name(self, kind: int, value: int) -> str:
        return valid_text(self._assembly.pcf.value_label(kind, value) or "")

    def whole(self) -> dict[str, pa.Table]:
        """Tables that no part owns."""
        tables = self._opened.whole_tables(
            self._assembly, self._journal, self._twins, raw=self._raw
        )
        return tables | self._loops.definitions()


def _places_of(objects: Objects) -> Places:
    """Where the declared objects are; the format does not say how accurate clocks are."""
    tasks = objects.tasks_per_application
    application = np.repeat(np.arange(len(tasks)), tasks)
    rank: Any = np.arange(len(application)) - np.repeat(np.cumsum(tasks) - tasks, tasks)
    return Places(objects.process.astype(np.int64), application, rank, 0)


def read(
    path: Path, *, raw: bool, memory: int | None, threads: int, progress: Progress
) -> Trace:
    """Read a ``.prv`` or ``.prv.gz`` into memory.

    `raw` keeps events, states and labels as recorded. Tables that would not fit into `memory`
    bytes are refused once the trace is scanned, before any is made.
    """
    with open_trace(path, most_buckets=_BUCKETS) as opened:
        journal = _core.Journal(opened.layout)
        count = JournalCount(opened.buckets, memory)
        scanned = opened.scan(journal, threads=threads, progress=progress, overflow=count)
        source = ScannedSource(
            opened, journal, scanned, None, raw=raw, threads=threads, progress=progress
        )
        held = count.bytes_of(journal)
        tables = bytes_of_tables(source.counts, len(source.counters), raw=raw)
        require_bytes(bytes_of_whole(tables, held), memory, way_out=WAY_OUT)
        if not raw and memory is not None and opened.tells_loops:
            tables = bytes_of_tables(source.counts, len(source.counters), raw=True)
            if bytes_of_whole(tables, held) > memory:
                source.leave_out_loops()
        return hold(source, source.parts(), Tables(), threads=0, progress=progress)


def convert(
    path: Path,
    target: Path,
    *,
    raw: bool,
    memory: int,
    threads: int,
    progress: Progress,
) -> None:
    """Make a store of a ``.prv`` or ``.prv.gz`` within `memory` bytes, at least 256 MiB.

    The tables are those of :func:`read`. On disk it takes about a third of the text for spills,
    which are deleted as they are read, and the store.
    """
    require_memory(memory)
    size = path.stat().st_size * (_GZIP_RATIO if path.suffix == ".gz" else 1)
    require_disk(target.absolute().parent, int(size * DISK))
    buckets = min(int(size * STREAMED / memory) + 1, _MOST_BUCKETS)
    with (
        open_trace(path, most_buckets=buckets) as opened,
        new_store(target) as (store, folder),
    ):
        journal = _core.Journal(opened.layout)
        spill = JournalSpill(folder, opened.buckets, memory // _SHARE_OF_JOURNAL)
        scanned = opened.scan(journal, threads=threads, progress=progress, overflow=spill)
        source = ScannedSource(
            opened, journal, scanned, spill, raw=raw, threads=1, progress=progress
        )
        fill(
            store,
            folder,
            source,
            source.parts(),
            memory=memory,
            threads=1,
            writers=threads,
            parts_at_once=parts_within(memory, most=memory),
            progress=progress,
        )
