"""The order of calls in the program, by the lines where their call paths part."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

import numpy as np

from burstline.columns import Integers
from burstline.identity import Frame, Path
from burstline.model import FINALIZES, INITS, SESSION_ENDS, UNKNOWN

_HEAD, _TAIL = -1, -2
_START = -1  # above the outermost frames
_ENDS = frozenset((*INITS, *FINALIZES, *SESSION_ENDS))

Function = tuple[str, str | None]
"""Name and file of a function."""

Place = tuple[int, str, str, int]
"""Time, function, file, line: sorts the branches of one point of the program."""


class Called(Protocol):
    """What is called, and from where."""

    @property
    def operation(self) -> str:
        """Its MPI name."""
        ...

    @property
    def path(self) -> Path:
        """Where it is called, outermost frame first."""
        ...


def parting(a: Path, b: Path) -> tuple[int, int, int] | None:
    """The depth at which two paths part, and the lines there, if these can be compared."""
    for depth, (frame, other) in enumerate(zip(a, b, strict=False)):
        if frame != other:
            is_same = (frame.function, frame.file) == (other.function, other.file)
            if not is_same or frame.line is None or other.line is None:
                return None
            return depth, frame.line, other.line
    return None


def paths_to_compare(sites: Iterable[Called]) -> list[Path]:
    """The call path of each site, as far as its lines tell what comes before what."""
    # A compiler may give what starts and ends MPI the same line, that of the program's head:
    # when they are executed is known without it.
    return [() if site.operation in _ENDS else site.path for site in sites]


def program_order(
    paths: Sequence[Path], first: Integers, unordered: Collection[Function] = frozenset()
) -> list[tuple[Place, ...]]:
    """Keys that sort paths by line where they part, else by their first execution, `first`."""
    # Lines of different functions mean nothing to each other (one is inlined into the other,
    # a pointer calls one or the other): such branches are merged by their first execution.
    steps: dict[tuple[int, Frame], int] = {}  # of each frame below those above: its number
    began: list[int] = []  # when each is first executed
    chains: list[list[int]] = []
    for path, place in zip(paths, first.tolist(), strict=True):
        step, chain = _START, []
        for frame in path:
            step = steps.setdefault((step, frame), len(began))
            if step == len(began):
                began.append(place)
            began[step] = min(place, began[step])
            chain.append(step)
        chains.append(chain)
    places = _places_of_frames([*steps], began, unordered)
    return [
        (*(places[step] for step in chain), (place, "", "", UNKNOWN))
        for chain, place in zip(chains, first.tolist(), strict=True)
    ]


def program_places(
    paths: Sequence[Path],
    lanes: Iterable[Sequence[int]],
    unordered: Collection[Function] = frozenset(),
) -> list[int]:
    """The place of each call in the program, from 0, by lanes in order of first execution."""
    # Clocks of lanes are not compared: a call that the lanes before do not make comes right
    # behind the one that its first lane makes before it.
    following: dict[int, int] = {}
    for lane in lanes:
        before = _HEAD
        for call in lane:
            if call not in following:
                following[call] = following.get(before, _TAIL)
                following[before] = call
            before = call
    first = np.zeros(len(paths), np.int64)
    call = following.get(_HEAD, _TAIL)
    for place in range(len(paths)):
        first[call] = place
        call = following[call]
    keys = program_order(paths, first, unordered)
    places = [0] * len(keys)
    for place, call in enumerate(sorted(range(len(keys)), key=keys.__getitem__)):
        places[call] = place
    return places


def _places_of_frames(
    steps: Sequence[tuple[int, Frame]], began: Sequence[int], unordered: Collection[Function]
) -> list[Place]:
    """The place of each frame among those that branch off at the same point of the program."""
    reached: dict[tuple[int, str, str], int] = {}
    places: list[Place] = [(0, "", "", UNKNOWN)] * len(steps)
    for step in sorted(range(len(steps)), key=lambda step: _line_key(steps[step][1])):
        above, frame = steps[step]
        name, file, line = _line_key(frame)
        if (name, frame.file) in unordered:
            places[step] = (began[step], name, file, line)
            continue
        branch = (above, name, file)
        reached[branch] = max(began[step], reached.get(branch, 0))
        places[step] = (reached[branch], name, file, line)
    return places


def _line_key(frame: Frame) -> tuple[str, str, int]:
    return frame.function, frame.file or "", UNKNOWN if frame.line is None else frame.line
