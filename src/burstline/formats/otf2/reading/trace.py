"""A trace of an OTF2 archive, in memory or as a store."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from burstline.formats.intake.budget import require_memory
from burstline.formats.intake.defects import Defects
from burstline.formats.intake.reading import convert, read_whole
from burstline.formats.otf2.reading.archive import (
    anchor_beside,
    file_size,
    named_as_anchors,
    require_anchor,
)
from burstline.formats.otf2.reading.source import COSTS, MOST_AT_ONCE, ArchiveSource
from burstline.progress import SILENCE, Progress

if TYPE_CHECKING:
    from pathlib import Path

    from burstline.trace import Trace


_GROUPS: Final = 6
_PARTS: Final = (".def", ".evt", ".snap", ".marker", ".thumb")


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
        bytes_at_once = min(max(sum(sizes) // _GROUPS, COSTS.least), MOST_AT_ONCE)
    bytes_at_once, threads = COSTS.whole_within(sizes, memory, bytes_at_once, threads)
    source = ArchiveSource(anchor, Defects())
    return read_whole(
        source, at_once=bytes_at_once, memory=memory, threads=threads, progress=progress
    )


def convert_otf2(
    path: Path, target: Path, *, memory: int, threads: int, progress: Progress
) -> None:
    """Make a store of an archive within `memory` bytes, at least 256 MiB.

    The tables are those of :func:`read_otf2`; `threads` are the processes read at once.
    """
    require_memory(memory)
    source = ArchiveSource(require_anchor(path), Defects())
    convert(source, target, memory=memory, threads=threads, progress=progress)


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
