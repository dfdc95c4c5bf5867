"""From raw files of any size to a store, within a memory budget.

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
from burstline.formats.raw.assembly import Assembly
from burstline.formats.raw.files import RECORD_BYTES, SUFFIX, open_files
from burstline.formats.raw.numbers import operation_numbers
from burstline.formats.store.writing import StoreWriter

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from burstline.formats.raw.call_paths import Resolver
    from burstline.progress import Progress

SMALLEST_MEMORY: Final = 256 << 20
"""Less than this does not hold what a conversion needs whatever it converts."""

# Measured: memory of reading whole, in bytes per byte of raw files, and of records for a
# .prv beside it.
_TABLES_PER_BYTE: Final = 4
_RECORDS_PER_BYTE: Final = 8
# Measured: what the process takes before it reads, and what it takes for a record of a
# group, until its rows are written; with raw tables, more.
_BASE: Final = 160 << 20
_BYTES_PER_RECORD: Final = 250
_BYTES_WITH_RAW: Final = 450
_BYTES_PER_PART: Final = 600
_DISK_PER_BYTE: Final = 0.7
_SHARE_OF_SPOOL: Final = 24
_SHARE_OF_PARTS: Final = 4
_RECORDS_AT_ONCE: Final = 1 << 21


def fits(folder: Path, memory: int, *, records: bool) -> bool:
    """Tell whether a folder of raw files can be read whole within a budget.

    Parameters
    ----------
    folder : Path
        The raw files.
    memory : int
        Bytes that may be used.
    records : bool
        Whether the trace is to be written as a ``.prv``.

    Returns
    -------
    bool
        By the size of the files.
    """
    return needed_bytes(folder, records=records) <= memory


def needed_bytes(folder: Path, *, records: bool) -> int:
    """Estimate the memory that reading a folder of raw files whole takes."""
    size = sum(path.stat().st_size for path in folder.glob(f"*{SUFFIX}"))
    return _BASE + size * (_RECORDS_PER_BYTE if records else _TABLES_PER_BYTE)


def convert_raw(
    folder: Path,
    target: Path,
    *,
    raw: bool,
    memory: int,
    threads: int,
    progress: Progress,
    records: bool = False,
    resolve: Resolver | None = None,
    operations: Mapping[int, str] | None = None,
    name: str | None = None,
) -> None:
    """Convert raw files to a store without holding the trace in memory.

    Parameters
    ----------
    folder : Path
        The folder that the recorder filled.
    target : Path
        The store to make.
    raw : bool
        Whether events that the program recorded itself are kept.
    memory : int
        Bytes that may be used, at least 256 MiB.
    threads : int
        Threads to use.
    progress : Progress
        Told of files, locations and groups.
    records : bool
        Whether the store has raw tables even if the program recorded no events.
    resolve, operations, name
        As for :func:`burstline.formats.raw.read_raw`.

    Raises
    ------
    FormatError
        If the folder has no raw file that can be read.
    MemoryBudgetError
        If the budget is too small for any run, or for the largest process of this one.
    NotEnoughDataError
        If the disk is too small.
    ParameterError
        If `target` exists.

    Notes
    -----
    O(records log records) time. The tables are those of
    :func:`burstline.formats.raw.read_raw`. What is kept of all processes at once, beside the
    halves of messages and parts of collectives in files, is what they defined.
    """
    if memory < SMALLEST_MEMORY:
        raise MemoryBudgetError(SMALLEST_MEMORY, memory, way_out="Give --memory 256Mi or more.")
    odd = Defects()
    files = open_files(folder, odd, progress)
    size = sum(len(file.records) for file in files) * RECORD_BYTES
    require_disk(target.absolute().parent, int(size * _DISK_PER_BYTE))
    numbers = operation_numbers() if operations is None else operations
    assembly = Assembly(folder, files, numbers, resolve, odd, name=name)
    each = _BYTES_WITH_RAW if records else _BYTES_PER_RECORD
    most, threads = _at_once(assembly.sizes(), (memory - _BASE) // each, threads, memory)
    with StoreWriter(target, assembly.counters) as store:
        spill = store.folder / "spill"
        spill.mkdir()
        assembly.read(
            store,
            lambda name: Spool(spill, name, memory // _SHARE_OF_SPOOL),
            borders_of(assembly.sizes(), most),
            raw=raw,
            records=records,
            threads=threads,
            parts_at_once=min(memory // _SHARE_OF_PARTS // _BYTES_PER_PART, PARTS_AT_ONCE),
            progress=progress,
        )
        shutil.rmtree(spill)
        store.finish(assembly.numbering.operations)


def _at_once(sizes: list[int], room: int, threads: int, memory: int) -> tuple[int, int]:
    """Choose records of a group, and groups to read ahead, for a number of records in all.

    One more group than is read ahead is being stored.
    """
    largest = max(sizes)
    if largest > room:
        needed = _BASE + largest * memory // max(room, 1)
        raise MemoryBudgetError(
            needed, memory, way_out="Give --memory as much: a process is read at once."
        )
    threads = min(threads, room // max(largest, 1) - 1)
    return min(room // (threads + 1), _RECORDS_AT_ONCE), threads
