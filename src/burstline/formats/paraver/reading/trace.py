"""From a ``.prv`` to a trace in memory, or to a store within a memory budget.

::

    scan ──► journals by bucket of processes ──► all built at once ──► tables in memory
                       │
                       └─► spilled when they outgrow their share ──► each built ──► store

In memory, peak memory is little more than the tables: the journals of a bucket are freed as
soon as it is built, and every bucket is built into the same columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from burstline import _core
from burstline.formats.intake import (
    Tables,
    fill,
    hold,
    new_store,
    parts_within,
    require_bytes,
    require_disk,
    require_memory,
)
from burstline.formats.paraver.reading.memory import (
    DISK,
    STREAMED,
    WAY_OUT,
    JournalCount,
    JournalSpill,
    bytes_of_tables,
    bytes_of_whole,
)
from burstline.formats.paraver.reading.source import ScannedSource
from burstline.formats.paraver.reading.trace_file import open_trace

if TYPE_CHECKING:
    from pathlib import Path

    from burstline.progress import Progress
    from burstline.trace import Trace

_BUCKETS: Final = 64
_MOST_BUCKETS: Final = 4096
_GZIP_RATIO: Final = 9
_SHARE_OF_JOURNAL: Final = 6


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
