"""The raw files of a run become a trace whose calls know where in the source they stand."""

from __future__ import annotations

from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from burstline.progress import SILENCE, Progress

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from burstline.record.symbols.resolution import Resolver
    from burstline.trace import Trace


def read_recorded(
    folder: Path,
    *,
    raw: bool = True,
    threads: int | None = None,
    progress: Progress = SILENCE,
    resolver: Resolver | None = None,
    name: str | None = None,
) -> Trace:
    """Read raw files, and name the functions and lines of their call stacks.

    Parameters
    ----------
    folder : Path
        The raw files of one run.
    raw : bool
        Whether events that the program recorded itself are kept.
    threads : int, optional
        Threads to use; by default as many as this process may run on.
    progress : Progress
        Told how far the reading is.
    resolver : Resolver, optional
        Names the places, and knows afterwards what it could not name; by default a new one.
    name : str, optional
        What the trace says it is made of; by default the folder.

    Returns
    -------
    Trace
        In memory.

    Notes
    -----
    Names are found in the programs and libraries themselves, so this wants to happen where
    the program ran; `burstline.read` names frames by their addresses, anywhere.
    """
    from burstline.formats import raw as raw_files  # noqa: PLC0415 -- slow, and only after a run
    from burstline.record.symbols import resolution as symbols  # noqa: PLC0415 -- as above

    return raw_files.read(
        folder,
        raw=raw,
        threads=threads,
        progress=progress,
        resolve=resolver or symbols.Resolver(),
        name=name,
    )


@contextmanager
def recorded(
    folder: Path,
    *,
    beside: Path,
    raw: bool,
    records: bool,
    memory: int,
    threads: int,
    progress: Progress = SILENCE,
    resolver: Resolver | None = None,
    name: str | None = None,
) -> Iterator[Trace]:
    """Give the trace of raw files of any size, within a memory budget.

    Parameters
    ----------
    folder : Path
        The raw files of one run.
    beside : Path
        A folder for a store, if the trace does not fit in memory; gone in the end.
    raw : bool
        Whether events that the program recorded itself are kept.
    records : bool
        Whether the trace is to become a ``.prv``: a store then holds its records, too.
    memory : int
        Bytes that may be used.
    threads : int
        Threads to use.
    progress : Progress
        Told how far the reading is.
    resolver, name
        As for :func:`read_recorded`.

    Yields
    ------
    Trace
        In memory where it fits there, else in a store.

    Raises
    ------
    MemoryBudgetError
        If the largest process alone does not fit.
    """
    from burstline.formats import store  # noqa: PLC0415 -- slow, and only after a run
    from burstline.formats.raw import fits  # noqa: PLC0415 -- as above

    if fits(folder, memory, records=records):
        yield read_recorded(
            folder,
            raw=raw,
            threads=threads,
            progress=progress,
            resolver=resolver,
            name=name,
        )
        return
    with TemporaryDirectory(prefix=".burstline-", dir=beside) as place:
        path = beside / place / "run.store"
        store_recorded(
            folder,
            path,
            raw=raw,
            records=records,
            memory=memory,
            threads=threads,
            progress=progress,
            resolver=resolver,
            name=name,
        )
        yield store.read(path)


def store_recorded(
    folder: Path,
    path: Path,
    *,
    raw: bool,
    memory: int,
    threads: int,
    records: bool = False,
    progress: Progress = SILENCE,
    resolver: Resolver | None = None,
    name: str | None = None,
) -> None:
    """Make a store of raw files of any size, within a memory budget.

    Parameters
    ----------
    folder : Path
        The raw files of one run.
    path : Path
        The store to make.
    raw, memory, threads, records, progress, resolver, name
        As for :func:`recorded`.

    Raises
    ------
    MemoryBudgetError
        If the largest process alone does not fit.
    ParameterError
        If `path` exists.
    """
    from burstline.formats import raw as raw_files  # noqa: PLC0415 -- as above
    from burstline.record.symbols import resolution as symbols  # noqa: PLC0415 -- as above

    raw_files.convert(
        folder,
        path,
        raw=raw,
        records=records,
        memory=memory,
        threads=threads,
        progress=progress,
        resolve=resolver or symbols.Resolver(),
        name=name,
    )
