"""Atomic output: a file appears whole under its name, or not at all.

::

    outputs([x.prv, x.pcf])  ->  .x.prv.1f3a55e0.part, .x.pcf.97c2b061.part  ->  all renamed

Who writes holds a lock on its parts. So another writer of the same path is told, and a part
that nobody holds is what a writer left that was killed.

A folder takes more than one step to replace another, and signals that end a command wait for
the last. Names tell who finds them after a kill how far it came, and it is finished::

    .x.csv.1f3a55e0.part   ->  .x.csv.1f3a55e0.ready     whole: from here on it is finished
    x.csv                  ->  .x.csv.1f3a55e0.replaced  to be removed
    .x.csv.1f3a55e0.ready  ->  x.csv
"""

from __future__ import annotations

import fcntl
import gzip
import io
import os
import re
import shutil
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final, cast

from burstline.errors import ParameterError

_GZIP_LEVEL: Final = 4
_PART: Final = re.compile(r"\.(.+)\.[0-9a-f]{8}\.(part|ready|moving|replaced|spill|raw)")
"""Of an output; of what waits while it is made; of records that become it."""
_HELD: Final = ("part", "ready", "moving")
OLD: Final = ".replaced"
"""What a folder is called within a part that holds what takes its place."""
_ENDINGS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def output(path: Path) -> Iterator[IO[bytes]]:
    """A new file that replaces `path` when the block ends well."""
    with outputs([path]) as files:
        yield files[0]


@contextmanager
def outputs(paths: Sequence[Path]) -> Iterator[list[IO[bytes]]]:
    """New files, none of which gets its name before all are written and on the disk."""
    for path in paths:
        in_folder(path)
        if path.is_dir():
            raise ParameterError(f"{path} is a folder, and a file would take its place")
    parts = [_part_beside(path) for path in paths]
    try:
        with ExitStack() as stack:
            raw = [stack.enter_context(new_file(part)) for part in parts]
            for part in parts:
                stack.enter_context(held(part))
            with ExitStack() as packing:
                yield [
                    packing.enter_context(_gzip_into(file)) if path.suffix == ".gz" else file
                    for path, file in zip(paths, raw, strict=True)
                ]
            for path, file in zip(paths, raw, strict=True):
                file.flush()
                with writing(path):
                    os.fsync(file.fileno())
            with undisturbed():
                put_in_place(list(zip(parts, paths, strict=True)))
    finally:
        with undisturbed():
            for part in parts:
                part.unlink(missing_ok=True)


def put_in_place(moves: Sequence[tuple[Path, Path]]) -> None:
    """Give all files their names, the first of them last, or none."""
    copies = [_part_beside(path) for _, path in moves]
    try:
        with ExitStack() as undo:
            for (part, path), copy in zip(reversed(moves), copies, strict=True):
                is_new = not path.exists()
                if len(moves) > 1 and not is_new:
                    with suppress(OSError):  # not every file system has links
                        os.link(path, copy, follow_symlinks=False)
                with writing(path):
                    part.replace(path)
                if is_new:
                    undo.callback(path.unlink)
                elif copy.exists():
                    undo.callback(copy.replace, path)
            undo.pop_all()
    finally:
        for copy in copies:
            copy.unlink(missing_ok=True)


@contextmanager
def folder(path: Path) -> Iterator[Path]:
    """A new folder that replaces `path` when the block ends well."""
    if path.exists() and not path.is_dir():
        raise ParameterError(f"{path} is a file, and a folder would take its place")
    with scratch(path, "part") as part:
        yield part
        for file in part.iterdir():
            if file.is_file():
                with writing(file):
                    _sync_to_disk(file)
        with undisturbed(), writing(path), renamed(part, "ready") as ready:
            _take_place(ready, path)


def _take_place(ready: Path, path: Path) -> None:
    """Rename a folder to its final name, and remove the one that had this name."""
    old = ready.with_suffix(".replaced")
    with ExitStack() as undo:
        if os.path.lexists(path):
            path.rename(old)
            undo.callback(old.rename, path)
        ready.rename(path)
        undo.pop_all()
    remove(old)


@contextmanager
def renamed(part: Path, ending: str) -> Iterator[Path]:
    """A block in which a part has another ending, and keeps it if the block ends well."""
    new = part.with_suffix(f".{ending}")
    part.rename(new)
    try:
        yield new
    except BaseException:
        if new.exists():
            new.rename(part)
        raise


def finish(path: Path) -> None:
    """Finish what writers of `path` did not come to the end of, as they were killed."""
    for part in _parts_of(path, "ready", "moving", "replaced"):
        with ExitStack() as stack, suppress(OSError):  # what stays is one of the leftovers
            descriptor = lock(part, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if descriptor is None:
                continue
            stack.callback(os.close, descriptor)
            stack.enter_context(undisturbed())
            if not part.exists() or part.lstat().st_uid != os.geteuid():
                continue  # another process was faster, or it is not ours
            if part.suffix == ".ready":
                _take_place(part, path)
            elif part.suffix == ".moving":
                _move_all(part, path)
            elif not part.with_suffix(".ready").exists():
                remove(part)


def _move_all(folder: Path, path: Path) -> None:
    """Move what is left of an archive to its final names, the anchor `path` last."""
    for new in sorted(folder.iterdir(), key=lambda new: new.name == path.name):
        place = folder.with_name(new.name)
        if path.stem in {new.name, new.stem}:
            if new.is_dir() and place.exists():
                place.rename(folder / OLD)
            new.replace(place)
    remove(folder)


def remove(part: Path) -> None:
    """Remove a hidden file or folder, also while another process does."""
    if part.is_dir() and not part.is_symlink():
        shutil.rmtree(part, ignore_errors=True)
        if part.exists():
            shutil.rmtree(part)  # which says why it stays
    else:
        part.unlink(missing_ok=True)


@contextmanager
def undisturbed() -> Iterator[None]:
    """A block at the end of which signals are obeyed that would have ended it halfway."""
    came: list[int] = []
    before = {}
    if threading.current_thread() is threading.main_thread():
        handlers = {number: signal.getsignal(number) for number in _ENDINGS}
        before = {n: how for n, how in handlers.items() if how not in {None, signal.SIG_IGN}}

    def obey() -> None:
        for number, how in before.items():
            signal.signal(number, how)

    try:
        for number in before:
            signal.signal(number, lambda number, _: came.append(number))
        yield
    finally:
        try:
            obey()
        finally:
            obey()  # where a signal came that was obeyed before the others were
        for late in dict.fromkeys(came):
            signal.raise_signal(late)


@contextmanager
def scratch(path: Path, ending: str = "spill") -> Iterator[Path]:
    """A folder in the file system of `path` that is removed in the end."""
    in_folder(path)
    part = _part_beside(path, ending)
    try:
        with writing(part):
            part.mkdir()
        with held(part):
            yield part
    finally:
        try:
            with undisturbed():
                remove(part)
        finally:
            remove(part)  # where a signal came that was not told to wait yet


def new_file(part: Path) -> IO[bytes]:
    """A new file, which tells its errors of the output that it is a part of."""
    with writing(part):
        return io.BufferedWriter(_File(part, "xb"))


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """A block in which errors of the system are told of the output that `path` is a part of."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        target = Path(*(_output_name(name) or name for name in path.parts))
        raise OSError(error.errno, os.strerror(error.errno), str(target)) from error


@contextmanager
def held(part: Path) -> Iterator[None]:
    """A block in which a part is ours; nobody else may be writing what it becomes."""
    descriptor = lock(part)
    try:
        if part.suffix == ".part":
            path = part.with_name(_output_name(part.name))
            if any(_is_held(other) for other in _parts_of(path, *_HELD) if other != part):
                raise ParameterError(
                    f"{path} is being written by another process. Wait for its end, or choose "
                    "another output"
                )
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def lock(part: Path, how: int = fcntl.LOCK_EX) -> int | None:
    """A descriptor that holds the lock of a part until it is closed; None without locks."""
    try:
        descriptor = os.open(part, os.O_RDONLY if part.is_dir() else os.O_RDWR)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, how)
    except OSError as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError):
            raise
        return None
    return descriptor


def leftovers(path: Path) -> list[Path]:
    """What writers of `path` left beside it that were killed, also records of a run."""
    return [part for part in _parts_of(path) if _is_held(part) is False]


def _is_held(part: Path) -> bool | None:
    try:
        descriptor = lock(part, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    if descriptor is None:
        return None
    os.close(descriptor)
    return False


def _parts_of(path: Path, *endings: str) -> list[Path]:
    others = sorted(path.parent.iterdir()) if path.parent.is_dir() else []
    return [
        other
        for other in others
        if _output_name(other.name) == path.name
        and (not endings or other.suffix[1:] in endings)
    ]


def _output_name(part: str) -> str:
    match = _PART.fullmatch(part)
    return match[1] if match else ""


def in_folder(path: Path) -> Path:
    """The path, refused if there is no folder to write it into."""
    if not path.parent.is_dir():
        raise ParameterError(f"there is no folder {path.parent} to write {path.name} into")
    return path


def _part_beside(path: Path, ending: str = "part") -> Path:
    return path.with_name(f".{path.name}.{os.urandom(4).hex()}.{ending}")


class _File(io.FileIO):
    """A new file whose errors are told of the output."""

    def write(self, data: Any) -> int:  # noqa: ANN401 -- whatever has bytes
        with writing(Path(os.fsdecode(self.name))):
            return cast("int", super().write(data))


def _gzip_into(file: IO[bytes]) -> IO[bytes]:
    packed = gzip.GzipFile(
        filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=file, mtime=0
    )
    return cast("IO[bytes]", packed)


def _sync_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
