"""From the raw files of a run to a trace, in memory or in a store."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from burstline.formats import intake
from burstline.formats.intake import Defects, require_memory
from burstline.formats.raw.events.calls import operation_numbers
from burstline.formats.raw.files.folder import RECORD_BYTES, open_files
from burstline.formats.raw.files.layout import SUFFIX
from burstline.formats.raw.source import COSTS, RECORDED_COSTS, RECORDS_AT_ONCE, RawSource
from burstline.progress import SILENCE, Progress

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from burstline.formats.raw.processes.call_paths import Resolver
    from burstline.trace import Trace


def read(
    folder: Path,
    *,
    raw: bool = True,
    memory: int | None = None,
    threads: int | None = None,
    records_at_once: int = RECORDS_AT_ONCE,
    progress: Progress = SILENCE,
    resolve: Resolver | None = None,
    operations: Mapping[int, str] | None = None,
    name: str | None = None,
) -> Trace:
    """Read the raw files of a run; times are those of rank 0's clock, from the first moment.

    A thread takes on `records_at_once` records: whole processes, at least one. Neither this
    nor `threads` changes the trace. `resolve` gives the frames of a return address by module
    and offset, innermost first; without it frames are named by their addresses. `operations`
    names operations by their numbers, by default those of this version's recorder, and
    `name` is what the trace says it is made of, by default the folder.

    Messages are matched by MPI's order, without clocks. Files are mapped, not loaded: in
    memory are the tables, the halves of messages and the processes being read.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as empty:
    ...     read(Path(empty))
    Traceback (most recent call last):
    burstline.errors.FormatError: ...
    """
    threads = threads or len(os.sched_getaffinity(0))
    defects = Defects()
    files = open_files(folder, defects, progress)
    numbers = operation_numbers() if operations is None else operations
    source = RawSource(folder, files, numbers, resolve, defects, raw=raw, name=name)
    return intake.read_whole(
        source, at_once=records_at_once, memory=memory, threads=threads, progress=progress
    )


def fits(folder: Path, memory: int, *, records: bool) -> bool:
    """Whether raw files can be read whole within a budget, by their size.

    `records` asks for the tables of a ``.prv`` beside.
    """
    costs = RECORDED_COSTS if records else COSTS
    sizes = [path.stat().st_size // RECORD_BYTES for path in folder.glob(f"*{SUFFIX}")]
    threads = len(os.sched_getaffinity(0))
    group = max(RECORDS_AT_ONCE, *sizes)
    return costs.whole(sum(sizes), group, threads) <= memory


def convert(
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
    """Make a store of raw files within `memory` bytes, at least 256 MiB.

    `records` asks for raw tables even if the program recorded no events; `resolve`,
    `operations` and `name` are those of :func:`read`, and so are the tables.
    """
    require_memory(memory)
    defects = Defects()
    files = open_files(folder, defects, progress)
    numbers = operation_numbers() if operations is None else operations
    source = RawSource(
        folder, files, numbers, resolve, defects, raw=raw, records=records, name=name
    )
    intake.convert(source, target, memory=memory, threads=threads, progress=progress)
