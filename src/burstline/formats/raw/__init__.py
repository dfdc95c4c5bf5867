"""Raw files, one per thread as the recorder writes them, become a trace.

::

    folder ─► files ─► outlines, processes, definitions ─► clocks
    a group of processes ─► timelines ─► calls, requests, readings, regions, gaps, bursts
    all groups ─► tables in memory, or row groups of a store
               └► halves of messages, parts of collectives ─► messages, collectives

Files are read as they are: what a killed process left behind counts as far as it goes, and
what is odd is a row of `defects`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from burstline.errors import MemoryBudgetError
from burstline.formats.intake.defects import Defects
from burstline.formats.intake.groups import borders_of
from burstline.formats.intake.joining import PARTS_AT_ONCE
from burstline.formats.intake.target import Held, Tables
from burstline.formats.raw.assembly import Assembly
from burstline.formats.raw.call_paths import Frame, Resolver
from burstline.formats.raw.converting import needed_bytes
from burstline.formats.raw.files import open_files, recognises
from burstline.formats.raw.numbers import operation_numbers
from burstline.progress import SILENCE, Progress
from burstline.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Frame", "Resolver", "read_raw", "recognises"]

RECORDS_AT_ONCE: Final = 1 << 18
"""Records that a thread takes on at a time when all tables fit in memory."""

_WAY_OUT: Final = (
    "Convert the raw files to a store (burstline convert FOLDER OUT.store) and take that "
    "instead: of a store, --from, --to and --ranks load only what they name."
)


def read_raw(
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
    """Read the raw files of a run.

    Parameters
    ----------
    folder : Path
        The folder that the recorder filled.
    raw : bool
        Whether events that the program recorded itself are kept.
    memory : int, optional
        Bytes that may be used; no limit by default.
    threads : int, optional
        Threads to use; by default as many as this process may run on.
    records_at_once : int
        Records that a thread takes on at a time: whole processes, at least one. Neither
        this nor `threads` changes the trace.
    progress : Progress
        Told of files and of locations.
    resolve : callable, optional
        Gives the frames of a return address by module and offset, innermost first; without
        it frames are named by their addresses.
    operations : mapping of int to str, optional
        Name of each operation by its number; by default those of this version's recorder.
    name : str, optional
        What the trace says it is made of; by default the folder.

    Returns
    -------
    Trace
        In memory. Times are those of rank 0's clock, from the first moment of all.

    Raises
    ------
    FormatError
        If the folder has no raw file that can be read.
    MemoryBudgetError
        If the tables would not fit into `memory`.
    UnsupportedRecordError
        If a file is of another version.

    Notes
    -----
    O(records log records) time; the files are mapped, not loaded. Memory is that of the
    tables, of the halves of messages and of the processes being read. Messages are matched
    by MPI's order, without clocks. Only definitions are gone through one by one.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as empty:
    ...     read_raw(Path(empty))
    Traceback (most recent call last):
    burstline.errors.FormatError: ...
    """
    if memory is not None and (needed := needed_bytes(folder, records=False)) > memory:
        raise MemoryBudgetError(needed, memory, way_out=_WAY_OUT)
    odd = Defects()
    files = open_files(folder, odd, progress)
    numbers = operation_numbers() if operations is None else operations
    assembly = Assembly(folder, files, numbers, resolve, odd, name=name)
    tables = Tables()
    assembly.read(
        tables,
        lambda _: Held(),
        borders_of(assembly.sizes(), records_at_once),
        raw=raw,
        records=False,
        threads=threads or len(os.sched_getaffinity(0)),
        parts_at_once=PARTS_AT_ONCE,
        progress=progress,
    )
    return Trace(tables.finish(assembly.numbering.operations))
