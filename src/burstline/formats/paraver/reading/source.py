"""A scanned Paraver trace as a source of the one loop that reads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline import _core
from burstline.formats.intake import Group, Places, even_borders, window_borders
from burstline.formats.paraver.reading.communication import ExactOrder, collective_parts
from burstline.formats.paraver.reading.trace_file import used_operations, valid_text
from burstline.loops import LOOP_TYPES, LoopEvents, Loops

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from burstline.columns import Integers
    from burstline.formats.paraver.reading.assembly import Columns
    from burstline.formats.paraver.reading.memory import JournalSpill
    from burstline.formats.paraver.reading.objects import Objects
    from burstline.formats.paraver.reading.scan import Scanned
    from burstline.formats.paraver.reading.trace_file import OpenTrace
    from burstline.progress import Progress


LOOPS_LEFT_OUT: Final = "loops_left_out"
"""The defect of a trace whose loops are not read, for want of memory."""


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
        self._used = np.zeros((len(objects.tasks_per_application), 0), bool)
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
        self._note_used(calls)
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

    def _note_used(self, calls: Columns) -> None:
        width = len(self.operations)
        objects = self._opened.objects
        used = used_operations(calls["operation"], calls["location"], objects, width)
        used[:, : self._used.shape[1]] |= self._used
        self._used = used

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
            self._assembly, self._journal, self._used, raw=self._raw
        )
        return tables | self._loops.definitions()


def _places_of(objects: Objects) -> Places:
    """Where the declared objects are; the format does not say how accurate clocks are."""
    tasks = objects.tasks_per_application
    application = np.repeat(np.arange(len(tasks)), tasks)
    rank: Any = np.arange(len(application)) - np.repeat(np.cumsum(tasks) - tasks, tasks)
    return Places(objects.process.astype(np.int64), application, rank, 0)
