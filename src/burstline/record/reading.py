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
    """The trace of raw files of any size, within a memory budget."""
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
    """Make a store of raw files of any size, within a memory budget."""
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
