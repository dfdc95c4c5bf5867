"""Call paths as a reader wants them: from the start of the program to the MPI call.

::

    trace.call_paths  ->  clean_paths  ->  tuples of Frame, outermost first
                                       ->  program_order: a key to sort calls by

What is no place in the program is left out: the C library's start, MPI's own wrappers,
frames nobody could name. Two calls belong together if they have the same frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.operations import NAMES
from burstline.schema import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from burstline.columns import Integers
    from burstline.trace import Trace

_UNRESOLVED: Final = frozenset({"", "??", "?", "Unresolved", "_NOT_Found"})
_STARTS: Final = ("__libc_start", "generic_start_main", "__clone", "start_thread")
_START_NAMES: Final = frozenset({"_start", "clone", "clone3"})
_WRAPPERS: Final = frozenset(name.lower() for name in NAMES)


@dataclass(frozen=True, slots=True)
class Frame:
    """A place in the source from where a function, or MPI, is called.

    Attributes
    ----------
    function : str
        The function the place is in.
    file : str or None
        Its source file, None if the trace does not say.
    line : int or None
        The line of the call, None if the trace does not say.
    """

    function: str
    file: str | None
    line: int | None


_HEAD, _NOBODY = -1, -2

Place = tuple[int, str, str, int]
"""Time, function, file, line: sorts the branches of one point of the program."""

Path = tuple[Frame, ...]
"""Frames from the start of the program to the call, outermost first."""


def clean_paths(trace: Trace) -> tuple[Integers, tuple[Path, ...]]:
    """Give every call path of a trace without the frames that are no place in the program.

    Left out are the start of the C library and of threads, frames without a name, and
    MPI's own wrappers. Of a function that calls itself directly only the innermost frame
    is kept: the depth of a recursion is no part of where a call is.

    Parameters
    ----------
    trace : Trace
        Its `call_paths` are read.

    Returns
    -------
    number : ndarray of int64, shape (call_paths + 1,)
        The cleaned path of each row of `call_paths`; the last entry serves calls without
        a call path, whose id is -1.
    paths : tuple of tuple of Frame
        The cleaned paths, outermost frame first; path 0 has no frame at all.

    Notes
    -----
    Time proportional to the tree, not to the calls.
    """
    table = trace.call_paths
    rows = zip(
        table["parent"].to_pylist(),
        table["function"].to_pylist(),
        table["file"].to_pylist(),
        table["line"].to_pylist(),
        strict=True,
    )
    paths: list[Path] = [()]
    known: dict[Path, int] = {(): 0}
    number = np.zeros(table.num_rows + 1, np.int64)
    for row, (parent, function, file, line) in enumerate(rows):
        above = paths[number[parent]] if parent is not None else ()
        path = _extended(above, Frame(function, file, line))
        if path not in known:
            known[path] = len(paths)
            paths.append(path)
        number[row] = known[path]
    return number, tuple(paths)


def _extended(above: Path, frame: Frame) -> Path:
    if not _is_place(frame):
        return above
    recursive = (
        bool(above) and above[-1].function == frame.function and above[-1].file == frame.file
    )
    return (*(above[:-1] if recursive else above), frame)


def _is_place(frame: Frame) -> bool:
    name = frame.function.strip()
    if name in _START_NAMES or name.startswith((*_STARTS, "MPI_", "PMPI_")):
        return False
    fortran = name.lower().rstrip("_").removeprefix("p")
    return fortran not in _WRAPPERS and not (name in _UNRESOLVED and frame.file is None)


def program_order(paths: Sequence[Path], first: Integers) -> list[tuple[Place, ...]]:
    """Give keys that sort calls as they stand in the program.

    Of two calls, the one that leaves the common part of their paths on the earlier line
    comes first. Where no line decides, the one that was first executed first.

    Parameters
    ----------
    paths : sequence of tuple of Frame
        A path for each call, outermost frame first.
    first : ndarray of int64, shape (paths,)
        Sorts them by when they were first executed.

    Returns
    -------
    list of tuple
        Comparable with each other, one per path.

    Notes
    -----
    Lines of different functions mean nothing to each other (a compiler that wrote one into
    the other, a pointer that calls one or the other): such branches are merged by when
    they were first executed.

    Examples
    --------
    >>> import numpy as np
    >>> late, early = (Frame("main", "a.c", 9),), (Frame("main", "a.c", 4),)
    >>> keys = program_order([late, early], np.array([10, 20]))
    >>> keys[1] < keys[0]
    True
    """
    places = _places(paths, first)
    return [
        (
            *(places[path[: depth + 1]] for depth in range(len(path))),
            (place, "", "", UNKNOWN),
        )
        for path, place in zip(paths, first.tolist(), strict=True)
    ]


def program_places(paths: Sequence[Path], lanes: Iterable[Sequence[int]]) -> list[int]:
    """Give calls numbers in the order in which they stand in the program.

    Parameters
    ----------
    paths : sequence of tuple of Frame
        A path for each call, outermost frame first.
    lanes : iterable of sequence of int
        For each lane, the calls it makes in the order of their first execution. Clocks of
        lanes are not compared: a call that the lanes before do not make comes right behind
        the one that its first lane makes before it.

    Returns
    -------
    list of int
        Place of each call, from 0; see :func:`program_order`.
    """
    following: dict[int, int] = {}
    for lane in lanes:
        before = _HEAD
        for call in lane:
            if call not in following:
                following[call] = following.get(before, _NOBODY)
                following[before] = call
            before = call
    first = np.zeros(len(paths), np.int64)
    call = following.get(_HEAD, _NOBODY)
    for place in range(len(paths)):
        first[call] = place
        call = following[call]
    keys = program_order(paths, first)
    places = [0] * len(keys)
    for place, call in enumerate(sorted(range(len(keys)), key=keys.__getitem__)):
        places[call] = place
    return places


def _places(paths: Sequence[Path], first: Integers) -> dict[Path, Place]:
    """Place each frame among those that branch off at the same point of the program."""
    began: dict[Path, int] = {}
    for path, place in zip(paths, first.tolist(), strict=True):
        for depth in range(len(path)):
            began[path[: depth + 1]] = min(place, began.get(path[: depth + 1], place))
    reached: dict[tuple[Path, str, str], int] = {}
    places: dict[Path, Place] = {}
    for path in sorted(began, key=lambda path: _line(path[-1])):
        name, file, line = _line(path[-1])
        branch = (path[:-1], name, file)
        reached[branch] = max(began[path], reached.get(branch, 0))
        places[path] = (reached[branch], name, file, line)
    return places


def _line(frame: Frame) -> tuple[str, str, int]:
    return frame.function, frame.file or "", UNKNOWN if frame.line is None else frame.line
