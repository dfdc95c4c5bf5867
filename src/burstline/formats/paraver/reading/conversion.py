"""From a ``.prv`` of any size to a store, within a memory budget.

::

    scan ──► journals by bucket of processes, spilled when they outgrow their share
    each bucket ──► tables of its locations ──► row groups
                ├─► both sides of messages ──► joined by sender's bucket ──► row groups
                └─► parts of collectives ──► joined by range of instances ──► row groups

No more than a few files are open at a time, and spills are deleted as they are read.
"""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import _core
from burstline.errors import MemoryBudgetError
from burstline.formats.intake import JournalSpill, Spool, require_disk
from burstline.formats.paraver.reading.collectives import PART_COLUMNS, collective_parts
from burstline.formats.paraver.reading.joins import (
    RECEIVE_COLUMNS,
    SEND_COLUMNS,
    join_collectives,
    join_messages,
    pack,
)
from burstline.formats.paraver.reading.trace_file import OpenTrace, used_operations
from burstline.formats.store import StoreWriter

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt
    import pyarrow as pa

    from burstline.columns import Integers
    from burstline.formats.paraver.reading.assembly import Assembly, Columns
    from burstline.progress import Progress

SMALLEST_MEMORY: Final = 256 << 20
# Measured on real traces: bytes of tables and of disk per byte of text.
_TABLES_PER_BYTE: Final = 3.4
_GZIP_RATIO: Final = 9
_DISK_PER_BYTE: Final = 0.7
_SHARE_OF_BUCKET: Final = 6
_SHARE_OF_JOURNAL: Final = 6
_MOST_BUCKETS: Final = 4096


def convert(
    path: Path,
    target: Path,
    *,
    raw: bool,
    memory: int,
    threads: int,
    progress: Progress,
) -> None:
    """Convert a Paraver trace to a store without holding it in memory.

    Parameters
    ----------
    path : Path
        The ``.prv`` or ``.prv.gz``.
    target : Path
        The store to make.
    raw : bool
        Whether events, states and labels are kept.
    memory : int
        Bytes that may be used, at least 256 MiB.
    threads : int
        Threads to use.
    progress : Progress
        Told how far it is.

    Raises
    ------
    FormatError
        If the file is no Paraver trace.
    MemoryBudgetError
        If the budget is too small for any trace, or for the largest process of this one.
    NotEnoughDataError
        If the disk is too small.
    ParameterError
        If `target` exists.

    Notes
    -----
    O(bytes) time. Disk: about a third of the text for spills, and the store.
    """
    if memory < SMALLEST_MEMORY:
        raise MemoryBudgetError(SMALLEST_MEMORY, memory, way_out="Give --memory 256Mi or more.")
    size = path.stat().st_size * (_GZIP_RATIO if path.suffix == ".gz" else 1)
    require_disk(target.absolute().parent, int(size * _DISK_PER_BYTE))
    buckets = int(size * _TABLES_PER_BYTE * _SHARE_OF_BUCKET / memory) + 1
    with ExitStack() as stack:
        opened = stack.enter_context(
            OpenTrace.open(path, most_buckets=min(buckets, _MOST_BUCKETS))
        )
        store = StoreWriter(target, ())
        stack.enter_context(store)
        spill = store.folder / "spill"
        spill.mkdir()
        conversion = _Conversion(opened, store, spill, memory, raw=raw)
        conversion.run(threads, progress)
        shutil.rmtree(spill)
        store.finish(conversion.assembly.operations)


class _Conversion:
    """One conversion: what its steps hand to each other."""

    assembly: Assembly

    def __init__(
        self, opened: OpenTrace, store: StoreWriter, folder: Path, memory: int, *, raw: bool
    ) -> None:
        self.opened, self.store, self.raw = opened, store, raw
        self.memory = memory
        self.journal = _core.Journal(opened.layout)
        self.paths = _core.PathTable()
        share = memory // 24
        self.spill = JournalSpill(folder, opened.buckets, memory // _SHARE_OF_JOURNAL)
        self.sends = Spool(folder, "sends", share)
        self.receives = Spool(folder, "receives", share)
        self.parts = Spool(folder, "parts", share)
        self.ranges = Spool(folder, "ranges", share)
        self.used = np.zeros((len(opened.objects.tasks_per_application), 0), bool)

    def run(self, threads: int, progress: Progress) -> None:
        scanned = self.opened.scan(
            self.journal, threads=threads, progress=progress, overflow=self.spill
        )
        self.assembly, self.words = self.opened.assembly(self.journal, scanned)
        self.store.counters = self.assembly.counter_names
        counts = self.journal.counts(self.opened.layout)
        self.keep_states = self.raw or not counts["calls"].any()
        buckets = self.opened.buckets
        progress.step("Building", buckets, "buckets")
        with ThreadPoolExecutor(1, "build") as pool:
            ahead = pool.submit(self._build, 0)
            for bucket in range(buckets):
                builder = ahead.result()
                if bucket + 1 < buckets:
                    ahead = pool.submit(self._build, bucket + 1)
                self._store_bucket(bucket, builder, threads)
                progress.advance(1)
        self._join(progress)
        whole = self.opened.whole_tables(self.assembly, self.journal, self.used, raw=self.raw)
        for name, table in whole.items():
            self.store.append(name, table)

    def _build(self, bucket: int) -> _core.Builder:
        self.spill.restore(self.journal, bucket)
        builder = _core.Builder(
            self.journal,
            self.opened.layout,
            self.words,
            self.paths,
            bucket,
            bucket + 1,
            self.raw,
            self.keep_states,
        )
        builder.build(bucket)
        builder.finish()
        return builder

    def _store_bucket(self, bucket: int, builder: _core.Builder, threads: int) -> None:
        built: dict[str, Columns] = builder.tables()
        calls = self.assembly.calls(built["calls"], self.paths)
        self._keep_messages(bucket, built)
        self._keep_parts(bucket, calls)
        self._note_used(calls)
        tables = self.assembly.tables(built, builder.extras(), raw=self.raw)
        built.clear()
        self._write(tables, threads)

    def _write(self, tables: dict[str, pa.Table], threads: int) -> None:
        with ThreadPoolExecutor(threads, "write") as pool:
            for done in [pool.submit(self.store.append, *item) for item in tables.items()]:
                done.result()

    def _keep_messages(self, bucket: int, built: dict[str, Columns]) -> None:
        sends, receives = built.pop("sends"), built.pop("receives")
        self.sends.append(bucket, pack(sends, tuple(name for name, _ in SEND_COLUMNS)))
        if "sender_location" not in receives:
            # A single bucket was joined in place: give the receivers' sides their key.
            sender = sends["sender_location"]
            first = np.searchsorted(sender, sender)
            receives |= {"sender_location": sender, "ordinal": np.arange(len(sender)) - first}
        owner = self._bucket_of(receives["sender_location"])
        packed = pack(receives, tuple(name for name, _ in RECEIVE_COLUMNS))
        order = np.argsort(owner, kind="stable")
        borders = np.searchsorted(owner[order], np.arange(self.opened.buckets + 1))
        for other in np.flatnonzero(np.diff(borders)).tolist():
            self.receives.append(other, packed[order[borders[other] : borders[other + 1]]])

    def _bucket_of(self, location: npt.NDArray[np.int32]) -> Integers:
        tasks = len(self.opened.objects.threads_per_task)
        process = self.opened.objects.process[location].astype(np.int64)
        return process * self.opened.buckets // tasks

    def _keep_parts(self, bucket: int, calls: Columns) -> None:
        self.parts.append(bucket, pack(collective_parts(calls), PART_COLUMNS))

    def _note_used(self, calls: Columns) -> None:
        width = len(self.assembly.operations)
        used = used_operations(
            calls["operation"], calls["location"], self.opened.objects, width
        )
        used[:, : self.used.shape[1]] |= self.used
        self.used = used

    def _join(self, progress: Progress) -> None:
        buckets = self.opened.buckets
        progress.step("Matching", 2 * buckets, "buckets")
        for bucket in range(buckets):
            messages, links = join_messages(
                self.sends.take(bucket), self.receives.take(bucket), self.assembly
            )
            self.store.append("messages", messages)
            if self.raw:
                self.store.append("links", links)
            progress.advance(1)
        for instances, members in join_collectives(
            self.parts,
            self.ranges,
            self.assembly,
            buckets=buckets,
            memory=self.memory,
            progress=progress,
        ):
            self.store.append("collectives", instances)
            self.store.append("collective_members", members)
