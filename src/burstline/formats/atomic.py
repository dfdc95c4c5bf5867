"""Atomic output: a file appears whole under its name, or not at all.

::

    outputs([x.prv, x.pcf])  ->  .x.prv.1f3a.part, .x.pcf.1f3a.part  ->  all renamed
"""

from __future__ import annotations

import gzip
import os
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
    """A new file that replaces `path` when the block ends well."""
    with outputs([path]) as files:
        yield files[0]


@contextmanager
def outputs(paths: Sequence[Path]) -> Iterator[list[IO[bytes]]]:
    """New files, none of which gets its name before all are written and on the disk."""
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
    """A new folder that replaces `path` when the block ends well."""
    with replacement(path) as part:
        part.mkdir()
        yield part
        for file in part.iterdir():
            if file.is_file():
                _sync(file)


@contextmanager
def replacement(path: Path) -> Iterator[Path]:
    """A free name for a folder that the block makes, and that replaces `path`."""
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
    """A folder in the file system of `path` that is removed in the end."""
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
    return path.with_name(f".{path.name}.{os.urandom(4).hex()}.part")


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
