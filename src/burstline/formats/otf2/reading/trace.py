"""From an archive to a trace, in memory or in a store."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from burstline.formats import intake
from burstline.formats.intake import Defects, require_memory
from burstline.formats.otf2.reading.archive import (
    begins_anchor,
    file_size,
    is_part,
    require_anchor,
)
from burstline.formats.otf2.reading.source import COSTS, MOST_AT_ONCE, ArchiveSource
from burstline.progress import SILENCE, Progress

if TYPE_CHECKING:
    from pathlib import Path

    from burstline.trace import Trace

_GROUPS: Final = 6


def recognises(path: Path, head: bytes) -> bool:
    """Whether a file or folder belongs to an archive, with or without its anchor."""
    return begins_anchor(head) or is_part(path)


def read(
    path: Path,
    *,
    raw: bool = True,  # noqa: ARG001 -- an archive has nothing raw
    memory: int | None = None,
    threads: int | None = None,
    bytes_at_once: int | None = None,
    progress: Progress = SILENCE,
) -> Trace:
    """Read the archive of an anchor or a folder; times are from its first tick.

    `threads` processes read at once, each `bytes_at_once` bytes of events: whole processes, at
    least one; by default a sixth of all, between 4 and 32 MiB. Neither changes the trace. In
    memory are the tables, the halves of messages, and about a hundred bytes for each event
    taken on at a time: half as much again as the tables where no process has more than a fifth
    of all. The library runs in child processes: bytes that break it cost the locations that
    hold them, and a row of `defects`.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as empty:
    ...     read(Path(empty))
    Traceback (most recent call last):
    burstline.errors.FormatError: ...
    """
    anchor = require_anchor(path)
    threads = threads or len(os.sched_getaffinity(0))
    sizes = [file_size(file) for file in anchor.with_suffix("").glob("*.evt")]
    if bytes_at_once is None:
        bytes_at_once = min(max(sum(sizes) // _GROUPS, COSTS.least), MOST_AT_ONCE)
    source = ArchiveSource(anchor, Defects())
    return intake.read_whole(
        source, at_once=bytes_at_once, memory=memory, threads=threads, progress=progress
    )


def convert(
    path: Path,
    target: Path,
    *,
    raw: bool = True,  # noqa: ARG001 -- an archive has nothing raw
    memory: int,
    threads: int,
    progress: Progress,
) -> None:
    """Make a store of an archive within `memory` bytes, at least 256 MiB.

    The tables are those of :func:`read`; `threads` are the processes read at once.
    """
    require_memory(memory)
    source = ArchiveSource(require_anchor(path), Defects())
    intake.convert(source, target, memory=memory, threads=threads, progress=progress)
