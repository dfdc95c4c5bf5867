"""Call paths: from the start of the program to the MPI call, and their labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.columns import UNKNOWN, take
from burstline.identity.vocabulary import Vocabulary
from burstline.operations import NAMES

if TYPE_CHECKING:
    from burstline.columns import Integers
    from burstline.trace import Trace

_UNRESOLVED: Final = frozenset({"", "??", "?", "Unresolved", "_NOT_Found"})
_STARTS: Final = ("__libc_start", "generic_start_main", "__clone", "start_thread")
_START_NAMES: Final = frozenset({"_start", "clone", "clone3"})
_WRAPPERS: Final = frozenset(name.lower() for name in NAMES)


@dataclass(frozen=True, slots=True)
class Frame:
    """A place in the source from where a function, or MPI, is called."""

    function: str  # the function the place is in
    file: str | None  # its source file, None if the trace does not say
    line: int | None  # the line of the call, None if the trace does not say

    def __str__(self) -> str:
        if self.file is None:
            return self.function
        line = "" if self.line is None else f":{self.line}"
        return f"{self.function}@{self.file}{line}"


Path = tuple[Frame, ...]
"""Frames from the start of the program to the call, outermost first."""


def clean_paths(trace: Trace) -> tuple[Integers, tuple[Path, ...]]:
    """The path of each row of `call_paths` as a number, and the paths; 0 is without frames."""
    table = trace.call_paths
    columns = (table[name].to_pylist() for name in ("parent", "function", "file", "line"))
    paths: list[Path] = [()]
    numbers: dict[Path, int] = {(): 0}
    number = np.zeros(table.num_rows + 1, np.int64)  # the last is for id -1: without a path
    for row, (parent, function, file, line) in enumerate(zip(*columns, strict=True)):
        above = paths[number[parent]] if parent is not None else ()
        path = _extended(above, Frame(function, file, line))
        number[row] = numbers.setdefault(path, len(paths))
        if number[row] == len(paths):
            paths.append(path)
    return number, tuple(paths)


def _extended(above: Path, frame: Frame) -> Path:
    if not is_place(frame):
        return above
    # the depth of a recursion is no part of where a call is
    recursive = (
        bool(above) and above[-1].function == frame.function and above[-1].file == frame.file
    )
    return (*(above[:-1] if recursive else above), frame)


def is_place(frame: Frame) -> bool:
    """Whether a frame is in the program: not in MPI, nor where the C library starts it."""
    name = frame.function.strip()
    if name in _START_NAMES or name.startswith((*_STARTS, "MPI_", "PMPI_")):
        return False
    fortran = name.lower().rstrip("_").removeprefix("p")
    return fortran not in _WRAPPERS and not (name in _UNRESOLVED and frame.file is None)


def path_labels(trace: Trace) -> tuple[Integers, list[str]]:
    """The label of each row of `call_paths` as a number, and the labels, alike in all runs."""
    number, (_, *paths) = clean_paths(trace)
    labels: Vocabulary[str] = Vocabulary()
    of_path = labels.numbers(";".join(map(str, path)) for path in paths)
    # unknown where a path has no frames, and behind the last row, for calls without a path
    return take(of_path, number - 1, UNKNOWN), labels.names
