"""A ``.prv`` by workers: each scans ranges of the text, then builds buckets of processes.

::

    range of text ─scan─► journal of all buckets, in a file ─┐
    range of text ─scan─► journal of all buckets, in a file ─┴─► bucket ─build─► rows

What counts through the whole file is counted by range, and shifted: lines, and what each
location has sent. Types of events are numbered as they are met; a range that met new ones in
another order than those before it is scanned again with the numbers of all.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline.columns import Integers
from burstline.errors import InconsistentTraceError
from burstline.executor import Workers, in_order
from burstline.formats import atomic, store
from burstline.formats.paraver.files.lines import BLOCK_BYTES
from burstline.formats.paraver.reading import assembly
from burstline.formats.paraver.reading.kernel_vocabulary import vocabulary
from burstline.formats.paraver.reading.scan import BlockFacts, Scanned
from burstline.formats.paraver.reading.trace_file import OpenTrace, open_trace
from burstline.model import LOOP_TYPES, arrow_table
from burstline.progress import Progress

Columns = Mapping[str, npt.NDArray[Any]]

_LARGEST_RANGE: Final = 256 << 20
_RANGES_EACH: Final = 4  # so that no worker is left with the last one for long
_SHARE_OF_RANGE: Final = 4
"""A worker's memory is so many times a range: its journal is a quarter of the text, or more."""
_OFFSET: Final = 8
_COUNTED: Final = "counted"
_SENT: Final = ".sent"


class Buckets(NamedTuple):
    """A part: some buckets of journals, and the processes whose they are."""

    buckets: range
    processes: range


class Built(NamedTuple):
    """What became of some buckets, numbered for themselves."""

    columns: dict[str, dict[str, npt.NDArray[Any]]]
    extras: dict[str, Any]
    paths: list[tuple[int, assembly.Path]]  # each with where it occurs first
    written: Mapping[str, Path]  # tables that are in files already

    @classmethod
    def of(cls, builder: _core.Builder, paths: _core.PathTable) -> Self:
        """What a builder has, which gives it up."""
        found = (paths.path(number) for number in range(len(paths)))
        each = [(first, tuple(raw)) for first, raw in found]
        return cls(builder.tables(), builder.extras(), each, {})


class JournalFiles:
    """Journals of consecutive ranges of the text, a file each, the last bucket first.

    Those with a `memory`, beyond which a journal is moved, are read once, in order: disk is
    given back meanwhile. Workers read others.
    """

    def __init__(
        self, folder: Path, buckets: int, names: Sequence[str] = (), memory: int | None = None
    ) -> None:
        self.folder, self._buckets, self.names = folder, buckets, list(names)
        self._memory = memory

    def relieve(self, journal: _core.Journal) -> None:
        """Move a journal to a file if it is too large."""
        if journal.resident > (self._memory or 0):
            self.names.append(written(self.folder, journal, self._buckets))

    def adopt(self, name: str, sent_before: Integers) -> None:
        """Take over a file that a worker has written; ordinals count from `sent_before`."""
        sent_before.tofile(self.folder / f"{name}{_SENT}")
        self.names.append(name)

    def restore(self, journal: _core.Journal, bucket: int) -> None:
        """Move a bucket's journal into memory."""
        for name in reversed(self.names):  # what is restored comes before what is there
            path = self.folder / name
            with path.open("rb") as file:
                file.seek(bucket * _OFFSET)
                last, first = np.fromfile(file, np.int64, 2).tolist()
                file.seek(first)
                parts = np.fromfile(file, np.uint8, last - first)
            if self._memory is not None:
                os.truncate(path, first)
            sent = self.folder / f"{name}{_SENT}"
            own = np.fromfile(sent, np.int64) if sent.exists() else np.zeros(0, np.int64)
            journal.restore(bucket, parts, own)


class Builders(NamedTuple):
    """What buckets of journals are built with, here or by a worker."""

    journal: _core.Journal
    layout: _core.Layout
    words: _core.Vocabulary
    files: JournalFiles | None  # those that journals were moved to
    events: bool  # whether there are rows of these
    states: bool

    def build(
        self, buckets: range, threads: int, done: Callable[[int], None] = lambda _: None
    ) -> Built:
        """The rows of some buckets, whose journals are used up, one bucket after the other."""
        if self.files is not None:
            for bucket in buckets:
                self.files.restore(self.journal, bucket)
        paths, span = _core.PathTable(), (buckets.start, buckets.stop)
        kept = self.events, self.states
        builder = _core.Builder(self.journal, self.layout, self.words, paths, *span, *kept)
        with closing(in_order(builder.build, buckets, threads, ahead=len(buckets))) as built:
            for bucket, _ in zip(buckets, built, strict=True):
                done(bucket)
        builder.finish()
        return Built.of(builder, paths)


def written(folder: Path, journal: _core.Journal, buckets: int) -> str:
    """The name of a new file in a folder that holds a journal, which is released."""
    number, name = tempfile.mkstemp(prefix="range-", dir=folder)
    with atomic.writing(Path(name)), os.fdopen(number, "wb") as file:
        order = range(buckets)[::-1]
        sizes = [sum(part.size for part in journal.parts(k)) for k in order]
        borders = (buckets + 1) * _OFFSET + np.cumsum([0, *sizes])[::-1]
        file.write(borders.astype(np.int64).tobytes())
        for bucket in order:
            for part in journal.parts(bucket):
                file.write(part.data)
            journal.release(bucket)
    return Path(name).name


class Range(NamedTuple):
    """What a worker is asked to scan."""

    path: Path
    stamp: tuple[int, int]  # of the file: one that was replaced is refused
    buckets: int
    begin: int
    end: int
    is_first: bool
    types: tuple[int, ...]  # that have numbers already, in their order
    folder: Path


class _Found(NamedTuple):
    """What a worker found in a range."""

    name: str  # of the file with its journal
    counted: npt.NDArray[np.uint8]
    facts: list[BlockFacts]
    types: list[int]  # in the order of their numbers


def scan_range(task: Range) -> _Found:
    """Scan a range of the text into a file of journals."""
    if store.stamp_of(task.path) != task.stamp:
        raise InconsistentTraceError(f"{task.path} was replaced while workers read it")
    with open_trace(task.path, most_buckets=task.buckets) as opened:
        opened.types.meet(np.array(task.types, np.int64))
        journal, buffer = _core.Journal(opened.layout), bytearray()
        block = opened.new_block()
        facts = []
        for stretch in opened.source.stretches_of(task.begin, task.end, is_first=task.is_first):
            block.scan(stretch.fetch(buffer))
            block.encode()
            journal.append(block)
            facts.append(BlockFacts.of(block))
        name = written(task.folder, journal, opened.buckets)
        return _Found(name, journal.counted(), facts, opened.types.types().tolist())


def scan_shared(
    opened: OpenTrace,
    journal: _core.Journal,
    files: JournalFiles,
    workers: Workers,
    *,
    threads: int,
    progress: Progress,
) -> Scanned:
    """The body of a trace, scanned by workers into `files`; `journal` has the counts alone."""
    path = opened.path.absolute()
    seen = files.folder / "seen"
    seen.touch()
    workers.require_seen(seen)
    workers.require_seen(path)
    if opened.source.is_gzip:  # which is read from its begin
        scanned = opened.scan(
            journal, threads=threads, progress=progress, overflow=files.relieve
        )
        files.names.append(written(files.folder, journal, opened.buckets))
    else:
        scanned = Scanned()
        for found in _all_found(opened, files.folder, workers, progress):
            for facts in found.facts:
                scanned.take(facts)
            files.adopt(found.name, journal.counts(opened.layout)["sends"])
            journal.count(found.counted)
        opened.complete(scanned)
    journal.counted().tofile(files.folder / _COUNTED)
    return scanned


def _all_found(
    opened: OpenTrace, folder: Path, workers: Workers, progress: Progress
) -> list[_Found]:
    """What was found in all ranges, in order, with types numbered as in `opened`."""
    source, path = opened.source, opened.path.absolute()
    _meet_first(opened)
    own = path, store.stamp_of(path), opened.buckets
    types = tuple(opened.types.types().tolist())
    tasks = [
        Range(*own, begin, end, number == 0, types, folder)
        for number, (begin, end) in enumerate(source.ranges(_size_of(source.size, workers)))
    ]
    progress.step("Reading", len(tasks), "ranges")
    with closing(workers.in_order(scan_range, tasks, progress=progress)) as done:
        found = list(done)
    for each in found:
        opened.types.meet(np.array(each.types, np.int64))
    types = tuple(opened.types.types().tolist())
    again = [
        number
        for number, each in enumerate(found)
        if tuple(each.types) != types[: len(each.types)]
    ]
    others = [tasks[number]._replace(types=types) for number in again]
    with closing(workers.in_order(scan_range, others)) as done:
        for number, each in zip(again, done, strict=True):
            (folder / found[number].name).unlink()
            found[number] = each
    return found


def _meet_first(opened: OpenTrace) -> None:
    """Number the types of the first lines: most ranges then meet no others."""
    block = opened.new_block()
    for stretch in islice(opened.source.stretches(), 1):
        block.scan(stretch.fetch(bytearray()))


def _size_of(size: int, workers: Workers) -> int:
    """Bytes of a range."""
    each = size // max(workers.count * _RANGES_EACH, 1)
    allowed = _LARGEST_RANGE
    if workers.memory_each is not None:
        allowed = min(allowed, workers.memory_each // _SHARE_OF_RANGE)
    return max(min(each, allowed), BLOCK_BYTES)


class Words(NamedTuple):
    """What numbers of a trace mean that was scanned, and what is asked of it."""

    types: tuple[int, ...]
    counters: tuple[tuple[int, str], ...]
    communicators: tuple[tuple[tuple[int, int], int], ...]
    raw: bool
    loops: bool
    states: bool


class BuiltByWorkers:
    """A worker's view of a trace that was scanned: builds buckets from files of journals."""

    def __init__(self, opened: OpenTrace, files: JournalFiles, words: Words) -> None:
        self._files, self._words = files, words
        opened.types.meet(np.array(words.types, np.int64))
        self._counters = [name for _, name in words.counters]
        journal = _core.Journal(opened.layout)
        journal.count(np.fromfile(files.folder / _COUNTED, np.uint8))
        named = words.counters, dict(words.communicators)
        words_of = vocabulary(opened.types, *named, opened.objects.application)
        kept = words.raw or words.loops, words.states
        self._builders = Builders(journal, opened.layout, words_of, files, *kept)

    def load(self, part: Buckets) -> Built:
        """The rows of some buckets; tables of records are written into files."""
        built = self._builders.build(part.buckets, 0)
        return self._without_records(built) if self._words.raw else built

    def _without_records(self, built: Built) -> Built:
        """Write the tables that no other part has a say in; what is asked of them stays."""
        files = {}
        for name in ("events", "states"):
            number, file = tempfile.mkstemp(prefix=name, dir=self._files.folder)
            with os.fdopen(number, "wb") as target:
                table = arrow_table(name, built.columns[name])
                store.write_part(target, name, table, self._counters)
            files[name] = Path(file)
        events = built.columns["events"]
        kept = np.isin(events["type"], [*(LOOP_TYPES if self._words.loops else ())])
        built.columns["events"] = {name: each[kept] for name, each in events.items()}
        if len(built.columns["calls"]["call"]):  # else bursts are made of states
            states = built.columns["states"]
            built.columns["states"] = {name: each[:0] for name, each in states.items()}
        return built._replace(written=files)


def opened_by_worker(
    path: Path, buckets: int, folder: Path, names: tuple[str, ...], words: Words
) -> BuiltByWorkers:
    """What a worker builds buckets with: the text itself is not read again."""
    with open_trace(path, most_buckets=buckets) as opened:
        return BuiltByWorkers(opened, JournalFiles(folder, buckets, names), words)
