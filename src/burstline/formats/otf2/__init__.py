"""OTF2 archives, as Score-P, EZTrace and TAU write them, become a trace.

::

    anchor ─► definitions ─► where locations stand, communicators, regions, counters
    a group of processes ─► events in a child process ─► calls, regions, teams, readings, bursts
    all groups ─► tables in memory
               └► halves of messages, parts of collectives ─► messages, collectives

The library of OTF2 is used as it is, from the package ``otf2``; it is found when it is needed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from burstline.errors import MemoryBudgetError
from burstline.formats.intake.defects import Defects
from burstline.formats.intake.groups import borders_of
from burstline.formats.intake.joining import PARTS_AT_ONCE
from burstline.formats.intake.target import Held, Tables
from burstline.formats.otf2.reading.archive import (
    anchor_beside,
    file_size,
    find_anchor,
    named_as_anchors,
    require_anchor,
)
from burstline.formats.otf2.reading.archive import recognises as recognises
from burstline.formats.otf2.reading.assembly import Assembly
from burstline.progress import SILENCE, Progress
from burstline.trace import Trace

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

__all__ = ["find_anchor", "is_part_of_one", "read_otf2", "recognises", "require_anchor"]

_LEAST_AT_ONCE, _MOST_AT_ONCE = 4 << 20, 32 << 20
_GROUPS: Final = 6
_PARTS: Final = (".def", ".evt", ".snap", ".marker", ".thumb")
# A group costs a child process, and with it a copy of what this one has written to since.
# Measured: what the process takes before it reads, tables in bytes per byte of events, what a
# group takes beyond its tables while they are made, and what one takes that was read ahead.
# Metrics take more where there are many: that shows while tables grow.
_BASE: Final = 128 << 20
_TABLES_PER_BYTE: Final = 5
_GROUP_PER_BYTE: Final = 13
_AHEAD_PER_BYTE: Final = 5
_WAY_OUT: Final = (
    "Convert the archive to a store (burstline convert ARCHIVE OUT.store) and take that "
    "instead: of a store, --from, --to and --ranks load only what they name."
)


def read_otf2(
    path: Path,
    *,
    memory: int | None = None,
    threads: int | None = None,
    bytes_at_once: int | None = None,
    progress: Progress = SILENCE,
) -> Trace:
    """Read an OTF2 archive.

    Parameters
    ----------
    path : Path
        Its anchor, of any name, or the folder that holds it.
    memory : int, optional
        Bytes that may be used; no limit by default.
    threads : int, optional
        Processes to read at once; by default as many as this process may run on.
    bytes_at_once : int, optional
        Bytes of events that are taken on at a time: whole processes, at least one; by
        default a sixth of all, between 4 and 32 MiB. Neither this nor `threads` changes
        the trace.
    progress : Progress
        Told of locations.

    Returns
    -------
    Trace
        In memory. Times are nanoseconds from the archive's first tick.

    Raises
    ------
    FormatError
        If there is no archive, or it defines no locations.
    MemoryBudgetError
        If the tables would not fit into `memory`, by the size of the archive or as they grow.
    MissingExtraError
        If the library is missing, or does not read archives that are stored in this way.

    Notes
    -----
    O(events log events) time. Memory is that of the tables, of the halves of messages, and
    about a hundred bytes for each event of the processes that are taken on at a time: half
    as much again as the tables where no process has more than a fifth of all. The library
    runs in child processes: bytes that break it cost the locations that hold them, and a row
    of `defects`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as empty:
    ...     read_otf2(Path(empty))
    Traceback (most recent call last):
    burstline.errors.FormatError: ...
    """
    anchor = require_anchor(path)
    threads = threads or len(os.sched_getaffinity(0))
    sizes = [file_size(file) for file in anchor.with_suffix("").glob("*.evt")]
    if bytes_at_once is None:
        bytes_at_once = min(max(sum(sizes) // _GROUPS, _LEAST_AT_ONCE), _MOST_AT_ONCE)
    if memory is not None:
        bytes_at_once, threads = _within(sizes, memory, bytes_at_once, threads)
    odd = Defects()
    assembly = Assembly(anchor, odd)
    tables = Bounded(memory)
    assembly.read(
        tables,
        lambda _: Held(),
        borders_of(assembly.sizes(), bytes_at_once),
        threads=threads,
        parts_at_once=PARTS_AT_ONCE,
        progress=progress,
    )
    return Trace(tables.finish(assembly.operations))


def is_part_of_one(path: Path) -> bool:
    """Tell whether a file or folder is of an archive, although its anchor is not found there.

    Examples
    --------
    >>> from pathlib import Path
    >>> is_part_of_one(Path("no-such-folder"))
    False
    """
    if path.is_dir():
        return bool(named_as_anchors(path)) or any(path.glob("*.evt"))
    return path.suffix in _PARTS and anchor_beside(path) is not None


def needed_bytes(sizes: list[int], at_once: int, threads: int) -> int:
    """Estimate the memory that reading whole takes, by the sizes of files."""
    total = sum(sizes)
    group = min(total, max(at_once, *sizes, 0))
    ahead = min(total - group, threads * group)
    tables = _TABLES_PER_BYTE * total
    return _BASE + tables + _GROUP_PER_BYTE * group + _AHEAD_PER_BYTE * ahead


def _within(sizes: list[int], memory: int, at_once: int, threads: int) -> tuple[int, int]:
    """Take on less at a time, then one group after the other, until the memory is enough."""
    while (needed := needed_bytes(sizes, at_once, threads)) > memory:
        if at_once > _LEAST_AT_ONCE:
            at_once //= 2
        elif threads:
            threads = 0
        else:
            raise MemoryBudgetError(needed, memory, way_out=_WAY_OUT)
    return at_once, threads


class Bounded(Tables):
    """Collects tables in memory up to a number of bytes.

    Parameters
    ----------
    memory : int or None
        Bytes that the process may use; None for no limit.
    """

    def __init__(self, memory: int | None) -> None:
        super().__init__()
        self._memory, self._used = memory, _BASE

    def append(self, name: str, table: pa.Table) -> None:
        """Append rows to a table, unless they are more than the limit."""
        self._used += table.nbytes
        if self._memory is not None and self._used > self._memory:
            raise MemoryBudgetError(self._used, self._memory, way_out=_WAY_OUT)
        super().append(name, table)
