"""From archives of any size to a store, within a memory budget.

::

    each group of processes ──► row groups
                          ├─► halves of messages ──► spilled by sender's group ──► row groups
                          └─► parts of collectives ► spilled by range of instances ► row groups

A group is as large as the budget allows, and at least one process.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final

from burstline.errors import MemoryBudgetError
from burstline.formats.intake.defects import Defects
from burstline.formats.intake.groups import borders_of
from burstline.formats.intake.joining import PARTS_AT_ONCE
from burstline.formats.intake.spool import Spool, require_disk
from burstline.formats.otf2.reading.archive import require_anchor
from burstline.formats.otf2.reading.assembly import Assembly
from burstline.formats.store.writing import StoreWriter

if TYPE_CHECKING:
    from pathlib import Path

    from burstline.progress import Progress

SMALLEST_MEMORY: Final = 256 << 20
"""Less than this does not hold what a conversion needs whatever it converts."""

# What the process takes before it reads, and what it takes for a byte of events of a group
# until its rows are written.
_BASE: Final = 160 << 20
_PER_BYTE: Final = 40
_BYTES_PER_PART: Final = 600
_DISK_PER_BYTE: Final = 4
_SHARE_OF_SPOOL: Final = 24
_SHARE_OF_PARTS: Final = 4
_BYTES_AT_ONCE: Final = 64 << 20


def convert_otf2(
    path: Path,
    target: Path,
    *,
    memory: int,
    threads: int,
    progress: Progress,
) -> None:
    """Convert an archive to a store without holding the trace in memory.

    Parameters
    ----------
    path : Path
        The anchor, or the folder that holds it.
    target : Path
        The store to make.
    memory : int
        Bytes that may be used, at least 256 MiB.
    threads : int
        Processes to read at once.
    progress : Progress
        Told of locations and groups.

    Raises
    ------
    FormatError
        If there is no archive, or it defines no locations.
    MemoryBudgetError
        If the budget is too small for any archive, or for the largest process of this one.
    MissingExtraError
        If the library is missing, or does not read archives that are stored in this way.
    NotEnoughDataError
        If the disk is too small.
    ParameterError
        If `target` exists.

    Notes
    -----
    O(events log events) time. The tables are those of
    :func:`burstline.formats.otf2.read_otf2`.
    """
    if memory < SMALLEST_MEMORY:
        raise MemoryBudgetError(SMALLEST_MEMORY, memory, way_out="Give --memory 256Mi or more.")
    assembly = Assembly(require_anchor(path), Defects())
    sizes = assembly.sizes()
    require_disk(target.absolute().parent, sum(sizes) * _DISK_PER_BYTE)
    most, threads = _at_once(sizes, (memory - _BASE) // _PER_BYTE, threads, memory)
    with StoreWriter(target, assembly.counters) as store:
        spill = store.folder / "spill"
        spill.mkdir()
        assembly.read(
            store,
            lambda name: Spool(spill, name, memory // _SHARE_OF_SPOOL),
            borders_of(sizes, most),
            threads=threads,
            parts_at_once=min(memory // _SHARE_OF_PARTS // _BYTES_PER_PART, PARTS_AT_ONCE),
            progress=progress,
        )
        shutil.rmtree(spill)
        store.finish(assembly.operations)


def _at_once(sizes: list[int], room: int, threads: int, memory: int) -> tuple[int, int]:
    """Choose bytes of a group, and groups to read ahead, for a number of bytes in all."""
    largest = max(sizes)
    if largest > room:
        needed = _BASE + largest * _PER_BYTE
        raise MemoryBudgetError(
            needed, memory, way_out="Give --memory as much: a process is read at once."
        )
    threads = min(threads, room // max(largest, 1) - 1)
    return min(room // (threads + 1), _BYTES_AT_ONCE), threads
