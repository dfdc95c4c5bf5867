"""The one loop that reads: parts of a source become tables in memory, or a store.

::

    parts ──load, several at once──► groups, in order ──► target
                                                     ├─► halves of messages ──► messages
                                                     └─► parts of collectives ► collectives

What a part is does not show in the tables, nor how many are read at once.
"""

from __future__ import annotations

import shutil
from contextlib import closing
from typing import TYPE_CHECKING

from burstline.formats.intake.budget import PARTS_AT_ONCE, parts_within, spool_within
from burstline.formats.intake.groups import in_order
from burstline.formats.intake.joining import Halves
from burstline.formats.intake.memory import give_back
from burstline.formats.intake.spool import Spool, require_disk
from burstline.formats.intake.target import Held, Tables
from burstline.formats.store import StoreWriter
from burstline.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from burstline.formats.intake.source import Loaded, PartOf, Source
    from burstline.formats.intake.target import Heap, Target
    from burstline.progress import Progress


def read_whole(
    source: Source[PartOf, Loaded],
    *,
    at_once: int,
    memory: int | None,
    threads: int,
    progress: Progress,
) -> Trace:
    """The trace of a source in memory; tables that outgrow `memory` are refused."""
    costs = source.costs
    tables = Tables(memory, base=costs.base, way_out=costs.way_out)
    read_parts(
        source,
        source.parts(at_once),
        tables,
        lambda _: Held(),
        threads=threads,
        parts_at_once=PARTS_AT_ONCE,
        progress=progress,
    )
    return Trace(tables.finish(source.operations))


def convert(
    source: Source[PartOf, Loaded],
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
    source.costs.require_room(source.longest(parts), memory)
    with StoreWriter(path, source.counters) as store:
        spill = store.folder / "spill"
        spill.mkdir()
        read_parts(
            source,
            parts,
            store,
            lambda name: Spool(spill, name, spool_within(memory)),
            threads=threads,
            parts_at_once=parts_within(memory),
            progress=progress,
        )
        shutil.rmtree(spill)
        store.finish(source.operations)


def read_parts(
    source: Source[PartOf, Loaded],
    parts: Sequence[PartOf],
    target: Target,
    heap: Callable[[str], Heap],
    *,
    threads: int,
    parts_at_once: int,
    progress: Progress,
) -> None:
    """Append all tables of a source to a target.

    Halves of messages and parts of collectives wait in heaps, each made by `heap` of a name;
    `threads` parts are read ahead, and `parts_at_once` parts of collectives are joined at a
    time.
    """
    halves = Halves(
        source.places,
        source.members,
        [part.processes for part in parts],
        heap,
        parts_at_once=parts_at_once,
        odd=source.defects,
    )
    progress.step("Reading", len(source.places.process), "locations")
    with closing(in_order(source.load, parts, threads)) as loaded:
        for number, part in enumerate(parts):
            group = source.group(part, next(loaded))
            halves.append(number, group)
            for name, table in group.tables.items():
                target.append(name, table)
            progress.advance(group.locations)
            del group
            give_back()
    progress.step("Matching", len(parts), "groups")
    for messages in halves.messages():
        target.append("messages", messages)
        progress.advance(1)
    for alone in halves.half_messages():
        target.append("half_messages", alone)
    for instances, members in halves.collectives(source.operations):
        target.append("collectives", instances)
        target.append("collective_members", members)
    for name, table in source.whole().items():
        target.append(name, table)
