"""Atomic output: a file appears whole under its name, or not at all.

::

    outputs([x.prv, x.pcf])  ->  .x.prv.1f3a.part, .x.pcf.1f3a.part  ->  all renamed

Everything is written beside its destination and flushed to the disk; only then is the
first name changed. An error or Ctrl-C on the way leaves the old files as they were.
"""

from __future__ import annotations

import gzip
import os
import secrets
import shutil
from contextlib import ExitStack, contextmanager
from typing import IO, TYPE_CHECKING, cast

from burstline.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_GZIP_LEVEL = 4


@contextmanager
def output(path: Path) -> Iterator[IO[bytes]]:
    """Open one file that replaces `path` when the block ends well.

    Parameters
    ----------
    path : Path
        Its name; compressed if that ends in ``.gz``.

    Yields
    ------
    binary file
        For writing.

    Raises
    ------
    ParameterError
        If its folder does not exist, or a folder has its name.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with output(Path(folder) / "a.txt") as file:
    ...         _ = file.write(b"whole")
    ...     (Path(folder) / "a.txt").read_bytes()
    b'whole'
    """
    with outputs([path]) as files:
        yield files[0]


@contextmanager
def outputs(paths: Sequence[Path]) -> Iterator[list[IO[bytes]]]:
    """Open several files of one result; none is renamed before all are written.

    Parameters
    ----------
    paths : sequence of Path
        Their names; those that end in ``.gz`` are compressed.

    Yields
    ------
    list of binary files
        In the order of `paths`, for writing.

    Raises
    ------
    ParameterError
        If a folder does not exist, or a folder has the name of a file.

    Notes
    -----
    Each rename is atomic; between the first and the last one a crash of the machine can
    leave new files beside old ones, never a part of a file.
    """
    for path in paths:
        _check_place(path)
        if path.is_dir():
            raise ParameterError(f"{path} is a folder, and a file would take its place")
    parts = [_beside(path) for path in paths]
    try:
        with ExitStack() as stack:
            raw = [stack.enter_context(part.open("xb")) for part in parts]
            with ExitStack() as packing:
                yield [
                    packing.enter_context(_packed(file)) if path.suffix == ".gz" else file
                    for path, file in zip(paths, raw, strict=True)
                ]
            for file in raw:
                file.flush()
                os.fsync(file.fileno())
        for part, path in zip(parts, paths, strict=True):
            part.replace(path)
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


@contextmanager
def folder(path: Path) -> Iterator[Path]:
    """Make a folder that replaces `path` when the block ends well.

    Parameters
    ----------
    path : Path
        Its name. A folder of that name is replaced with all it holds.

    Yields
    ------
    Path
        A new, empty folder beside it, to be filled.

    Raises
    ------
    ParameterError
        If the folder around it does not exist, or a file has its name.
    """
    with replacement(path) as part:
        part.mkdir()
        yield part
        for file in part.iterdir():
            if file.is_file():
                _sync(file)


@contextmanager
def replacement(path: Path) -> Iterator[Path]:
    """Give a free name for a folder that somebody else makes, and that replaces `path`.

    Parameters
    ----------
    path : Path
        The final name. A folder of that name is replaced with all it holds.

    Yields
    ------
    Path
        A name beside it, for the block to make a folder of.

    Raises
    ------
    ParameterError
        If the folder around it does not exist, or a file has its name.
    """
    _check_place(path)
    if path.exists() and not path.is_dir():
        raise ParameterError(f"{path} is a file, and a folder would take its place")
    part, old = _beside(path), _beside(path)
    try:
        yield part
        if path.exists():
            path.rename(old)
        part.rename(path)
    finally:
        if old.exists() and not path.exists():
            old.rename(path)
        for left in (part, old):
            if left.exists():
                shutil.rmtree(left)


@contextmanager
def scratch(path: Path) -> Iterator[Path]:
    """Make a folder beside `path` for parts of what goes there; it is gone in the end.

    Parameters
    ----------
    path : Path
        A final name.

    Yields
    ------
    Path
        An empty folder in the same file system.

    Raises
    ------
    ParameterError
        If the folder around `path` does not exist.
    """
    _check_place(path)
    part = _beside(path)
    part.mkdir()
    try:
        yield part
    finally:
        shutil.rmtree(part)


def _check_place(path: Path) -> None:
    if not path.parent.is_dir():
        raise ParameterError(f"there is no folder {path.parent} to write {path.name} into")


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")


def _packed(file: IO[bytes]) -> IO[bytes]:
    packed = gzip.GzipFile(
        filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=file, mtime=0
    )
    return cast("IO[bytes]", packed)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
