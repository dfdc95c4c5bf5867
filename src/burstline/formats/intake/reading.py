"""The one loop that reads: parts of a source become tables in memory, or a store.

::

    parts ──load, several at once──► groups, in order ──► target
                                                     ├─► halves of messages ──► messages
                                                     └─► parts of collectives ► collectives

What a part is does not show in the tables, nor how many are read at once.
"""

from __future__ import annotations

import shutil
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from burstline.formats.intake.budget import PARTS_AT_ONCE, parts_within, spool_within
from burstline.formats.intake.joining import Halves
from burstline.formats.intake.spool import Spool, require_disk
from burstline.formats.intake.target import HeldRows, PackedRows, Tables, give_back
from burstline.formats.store import StoreWriter
from burstline.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from burstline.formats.intake.source import Divisible, Loaded, PartOf, Source
    from burstline.formats.intake.target import MakeRows
    from burstline.progress import Progress

Item = TypeVar("Item")
Result = TypeVar("Result")
Target: TypeAlias = Tables | StoreWriter

_DEFINITIONS: Final = 8 << 20  # of what a process takes beside its units


def read_whole(
    source: Divisible[PartOf, Loaded],
    *,
    at_once: int,
    memory: int | None,
    threads: int,
    progress: Progress,
) -> Trace:
    """The trace of a source in memory; what outgrows `memory` is refused before it is read."""
    costs = source.costs
    plan = costs.whole_within(source.sizes(), source.uncut(), memory, at_once, threads)
    tables = Tables(
        memory,
        base=plan.beside - _DEFINITIONS,
        way_out=costs.way_out,
        locations=len(source.places.process),
    )
    parts = source.parts(plan.at_once, plan.longest)
    return hold(source, parts, tables, threads=plan.threads, progress=progress)


def hold(
    source: Source[PartOf, Loaded],
    parts: Sequence[PartOf],
    tables: Tables,
    *,
    threads: int,
    progress: Progress,
) -> Trace:
    """The trace of all parts of a source, its tables in memory."""
    read_parts(
        source,
        parts,
        tables,
        lambda _, types: HeldRows(types),
        threads=threads,
        parts_at_once=PARTS_AT_ONCE,
        progress=progress,
    )
    return Trace(tables.finish(source.operations))


def convert(
    source: Divisible[PartOf, Loaded],
    path: Path,
    *,
    memory: int,
    threads: int,
    progress: Progress,
) -> None:
    """Make a store of a source within `memory` bytes; the tables are those of memory."""
    sizes = source.sizes()
    require_disk(path.absolute().parent, int(sum(sizes) * source.costs.disk))
    most, longest, threads = source.costs.streamed_within(
        sizes, source.uncut(), memory, threads
    )
    parts = source.parts(most, longest)
    at_once = parts_within(memory)
    with new_store(path) as (store, spill):
        fill(
            store,
            spill,
            source,
            parts,
            memory=memory,
            threads=threads,
            parts_at_once=at_once,
            progress=progress,
        )


@contextmanager
def new_store(path: Path) -> Iterator[tuple[StoreWriter, Path]]:
    """A store to fill, and a folder in it for what waits; an error leaves neither."""
    with StoreWriter(path, ()) as store:
        spill = store.folder / "spill"
        spill.mkdir()
        yield store, spill


def fill(
    store: StoreWriter,
    spill: Path,
    source: Source[PartOf, Loaded],
    parts: Sequence[PartOf],
    *,
    memory: int,
    threads: int,
    writers: int = 1,
    parts_at_once: int,
    progress: Progress,
) -> None:
    """Finish a store with all parts of a source; what waits takes little of `memory`."""
    store.counters = source.counters
    read_parts(
        source,
        parts,
        store,
        lambda name, types: PackedRows(Spool(spill, name, spool_within(memory)), types),
        threads=threads,
        writers=writers,
        parts_at_once=parts_at_once,
        progress=progress,
    )
    shutil.rmtree(spill)
    store.finish(source.operations)


def read_parts(
    source: Source[PartOf, Loaded],
    parts: Sequence[PartOf],
    target: Target,
    rows: MakeRows,
    *,
    threads: int,
    writers: int = 1,
    parts_at_once: int,
    progress: Progress,
) -> None:
    """Append all tables of a source to a target.

    Halves of messages and parts of collectives wait in `rows`; `threads` parts are read ahead,
    `writers` tables of a part are appended and `parts_at_once` parts of collectives are joined
    at a time.
    """
    ranges = [part.processes for part in parts]
    halves = Halves(source, ranges, rows, parts_at_once=parts_at_once)
    progress.step("Reading", len(source.places.process), "locations")
    with closing(in_order(source.load, parts, threads)) as loaded:
        for number, part in enumerate(parts):
            group = source.group(part, next(loaded))
            halves.append(number, group)
            _append_all(target, group.tables, writers)
            progress.advance(group.locations)
            del group
            give_back()
    progress.step("Matching", len(parts), "groups")
    for messages in halves.messages():
        _append_all(target, messages, 1)
        progress.advance(1)
    for alone in halves.half_messages():
        target.append("half_messages", alone)
    for instances, members in halves.collectives():
        target.append("collectives", instances)
        target.append("collective_members", members)
    _append_all(target, source.whole(), 1)


def _append_all(target: Target, tables: Mapping[str, pa.Table], writers: int) -> None:
    if writers == 1:
        for name, table in tables.items():
            target.append(name, table)
        return
    with ThreadPoolExecutor(writers, "write") as pool:
        for written in [pool.submit(target.append, *item) for item in tables.items()]:
            written.result()


def in_order(
    read: Callable[[Item], Result], parts: Sequence[Item], threads: int
) -> Generator[Result]:
    """What is read of each part in order, while some of those to come are being read.

    >>> list(in_order(str, [3, 1, 2], threads=2))
    ['3', '1', '2']
    """
    if threads < 1 or len(parts) == 1:
        yield from map(read, parts)
        return
    pool = ThreadPoolExecutor(threads, "read")
    try:
        coming = deque(pool.submit(read, part) for part in parts[:threads])
        rest = iter(parts[threads:])
        while coming:
            result = [coming.popleft().result()]
            coming.extend(pool.submit(read, part) for part in islice(rest, 1))
            yield result.pop()  # no reference stays here: what is done with goes at once
    finally:
        pool.shutdown(cancel_futures=True)
