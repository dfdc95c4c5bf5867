"""An output with a folder is replaced, and something happens at a chosen step of that.

A step is a line of the code that replaces, or one in which the library that removes folders
calls the system.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from linecache import getline
from pathlib import Path
from types import FrameType
from typing import Any

from burstline.formats import atomic
from burstline.formats.otf2.writing import archive

OUTPUTS = ("x.csv", "x.otf2")
_TRACED = {atomic.__file__, archive.__file__, shutil.__file__}


def write(path: Path, text: str) -> None:
    """Write an output whose files, one of which has a name of its own, all hold a text."""
    if path.suffix == ".csv":
        with atomic.folder(path) as part:
            _fill(part, text)
        return
    archive.write(text, path)


def without_a_library(setattr_: Callable[[object, str, object], None]) -> None:
    """Let what is written as an archive be texts, and no disk be waited for."""
    setattr_(archive, "find_library", lambda: "")
    setattr_(archive, "_write_events", _archive)
    setattr_(os, "fsync", lambda _: None)  # it takes nearly all of the time


def _archive(text: Any, _: str, folder: Path, name: str, *__: object) -> None:
    for file in archive.archive_files(folder / f"{name}.otf2")[:2]:
        file.write_text(text)
    (folder / name).mkdir()
    _fill(folder / name, text)


def _fill(folder: Path, text: str) -> None:
    for name in ("0.evt", f"{text}.evt"):
        (folder / name).write_text(text)


def texts(path: Path) -> list[str]:
    """What the files of an output hold."""
    tops = [path] if path.suffix == ".csv" else archive.archive_files(path)
    files = [file for top in tops for file in (top, *top.rglob("*")) if file.is_file()]
    assert len({file.read_text() for file in files} & {file.stem for file in files}) == 1
    return sorted(file.read_text() for file in files)


@contextmanager
def at_step(number: int, act: Callable[[], None]) -> Iterator[list[int]]:
    """A block at a step of which something happens; what is yielded says if it came to it."""
    steps, reached = count(), []

    def line(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename not in _TRACED:
            return None
        calls = frame.f_code.co_filename != shutil.__file__ or "os." in getline(
            shutil.__file__, frame.f_lineno
        )
        if event == "line" and calls and next(steps) == number:
            reached.append(number)
            act()
        return line

    before = sys.gettrace()
    sys.settrace(line)
    try:
        yield reached
    finally:
        sys.settrace(before)


def kill() -> None:
    """End as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


def main(folder: Path, output: str) -> None:
    """Replace an output in folders of their own, each time killed one step later."""
    without_a_library(setattr)
    for number in count():
        (place := folder / str(number)).mkdir()
        write(place / output, "old")
        if (child := os.fork()) == 0:
            with at_step(number, kill):
                write(place / output, "new")
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0:
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
