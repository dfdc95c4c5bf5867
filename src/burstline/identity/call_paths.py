"""Call paths: from the start of the program to the MPI call, and their labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final, overload

import numpy as np

from burstline.columns import UNKNOWN, Integers, placed
from burstline.identity.vocabulary import Vocabulary
from burstline.model import NAMES, Trace

_UNRESOLVED: Final = frozenset({"", "??", "?", "Unresolved", "_NOT_Found"})
_STARTS: Final = ("__libc_start", "generic_start_main", "__clone", "start_thread")
_START_NAMES: Final = frozenset({"_start", "clone", "clone3"})
_MACHINERY: Final = (
    "MPI_", "PMPI_", "MPI::", "__kmp", "GOMP_", "std::_", "__gnu_cxx::", "__pyx_pw_",
    "__pyx_pymod_", "__Pyx_",
)  # fmt: skip
"""What stands between functions of a program: MPI, runtimes, C++'s library inside, Cython."""
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


class Paths(Sequence[Path]):
    """The different paths of a trace, as a tree: each is put together where it is asked for.

    All of them side by side would take the square of the depth of a recursion.
    """

    def __init__(self) -> None:
        self._steps: list[tuple[int, Frame | None]] = [(UNKNOWN, None)]  # path above, frame
        self._numbers = {self._steps[0]: 0}

    def __len__(self) -> int:
        return len(self._steps)

    @overload
    def __getitem__(self, number: int) -> Path: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Path]: ...
    def __getitem__(self, number: int | slice) -> Path | Sequence[Path]:
        if isinstance(number, slice):
            return [self[each] for each in range(len(self))[number]]
        frames = []
        above, frame = self._steps[number]
        while frame is not None:
            frames.append(frame)
            above, frame = self._steps[above]
        return tuple(reversed(frames))

    def last(self, number: int) -> Frame | None:
        """The innermost frame of a path, None of the one without frames."""
        return self._steps[number][1]

    def extended(self, number: int, frame: Frame) -> int:
        """The number of a path with one more frame; a new one gets the next number."""
        if not is_place(frame):
            return number
        above, last = self._steps[number]
        # the depth of a recursion is no part of where a call is
        if last is not None and (last.function, last.file) == (frame.function, frame.file):
            number = above
        return self._child((number, frame))

    def merged(self, others: Paths) -> list[int]:
        """The number of each path of others, all of which are here from now on."""
        numbers = [0]
        for above, frame in others._steps[1:]:
            numbers.append(self._child((numbers[above], frame)))
        return numbers

    def _child(self, step: tuple[int, Frame | None]) -> int:
        number = self._numbers.setdefault(step, len(self._steps))
        if number == len(self._steps):
            self._steps.append(step)
        return number


def clean_paths(trace: Trace) -> tuple[Integers, Paths]:
    """The path of each row of `call_paths` as a number, and the paths; 0 is without frames."""
    table = trace.call_paths
    columns = (table[name].to_pylist() for name in ("parent", "function", "file", "line"))
    paths = Paths()
    number = [0] * (table.num_rows + 1)  # the last is for id -1: without a path
    for row, (parent, function, file, line) in enumerate(zip(*columns, strict=True)):
        above = 0 if parent is None else number[parent]
        number[row] = paths.extended(above, Frame(function, file, line))
    return np.array(number, np.int64), paths


def last_frames(trace: Trace) -> tuple[Integers, list[Frame | None]]:
    """The path of each row of `call_paths` as a number, and the last frame of each path."""
    number, paths = clean_paths(trace)
    return number, [paths.last(path) for path in range(len(paths))]


def is_place(frame: Frame) -> bool:
    """Whether a frame is in the program: not in MPI or a runtime, nor where it is started."""
    name = frame.function.strip()
    if name in _START_NAMES or name.startswith((*_STARTS, *_MACHINERY)):
        return False
    fortran = name.lower().rstrip("_").removeprefix("p")
    return fortran not in _WRAPPERS and not (name in _UNRESOLVED and frame.file is None)


def path_labels(trace: Trace, rows: Integers) -> tuple[Integers, list[str]]:
    """The labels of some rows of `call_paths` as numbers by row, -1 of others, and as text."""
    number, paths = clean_paths(trace)
    labels: Vocabulary[str] = Vocabulary()
    used = np.unique(number[rows])
    used = used[used > 0]
    numbers = labels.numbers(";".join(map(str, paths[k])) for k in used.tolist())
    return placed(numbers, used, len(paths), UNKNOWN)[number], labels.names


def shared_frames(paths: Sequence[Sequence[Any]]) -> int:
    """How many steps from the start several paths have in common.

    >>> shared_frames(["main", "mail"]), shared_frames(["main"])
    (3, 4)
    """
    steps = zip(*paths, strict=False)
    return sum(1 for _ in takewhile(lambda step: len(set(step)) == 1, steps))
