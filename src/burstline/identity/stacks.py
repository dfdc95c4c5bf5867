"""Recorded stacks as frames of the program: without runtimes, and whole where they were cut.

::

    start of the program · frames · OpenMP's runtime · outlined function · frames · MPI
    └── gone ──────────┘          └── gone ─────────┘ └ stands for a construct ┘    └ gone

A recorder keeps so many innermost frames. A stack that begins in the middle of the program
is put where its beginning is: below the only path that ends like it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, TypeVar

import pyarrow as pa

from burstline.columns import UNKNOWN
from burstline.identity.call_paths import Frame, is_place

MAINS: Final = frozenset({"main", "MAIN__"})
"""Functions where programs begin: `MAIN__` is that of Fortran."""
_STARTS: Final = re.compile(
    r"_start|__libc_start\w*|generic_start_main|_?_?clone3?|start_thread"
    r"|(libc|libpthread)[-.][^+]*\+0x.*"
)
_THREAD_STARTS: Final = re.compile(r"_?_?clone3?|start_thread")
_UNNAMED: Final = re.compile(r"[^+]+\+0x[0-9a-f]+")
_FORKS: Final = re.compile(r"GOMP_.*|gomp_.*|__kmp.*|lib(i?omp5?|gomp)[-.][^+]*\+0x.*")
_INTERPRETERS: Final = re.compile(
    r"_Py[A-Z_]\w*|_?Py(Eval|Object|Run|Function|Vectorcall|Import)_?\w*|Py_(Bytes|Run)?Main"
    r"|pymain_\w+|cfunction_\w+|method_vectorcall\w*|(lib)?python[\d.]+[^+]*\+0x.*"
)
_OUTLINED: Final = re.compile(r".*(\._omp_fn\.\d+|omp_outlined|omp_task_entry|\.extracted).*")
_MOST_COMPARED: Final = 16

_CUT: Final = -2
_SEVERAL: Final = -3

_Key = TypeVar("_Key")


@dataclass(slots=True)
class Stacks:
    """The stacks of a trace as a tree: nodes have larger numbers than their parents."""

    # of each node: the one above, -1 below the program and -2 of a stack that was cut; its
    # place; whether that is the body of a construct; and the last of its first frames
    parents: list[int] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    outlined: list[bool] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    is_cut: list[bool] = field(default_factory=list)
    _depths: list[int] = field(default_factory=list)
    _numbers: dict[tuple[int, Frame, bool], int] = field(default_factory=dict)

    def child(self, parent: int, frame: Frame, *, outlined: bool) -> int:
        """The number of a node, which is added unless it is there."""
        number = self._numbers.setdefault((parent, frame, outlined), len(self.parents))
        if number == len(self.parents):
            depth = 1 if parent < 0 else self._depths[parent] + 1
            self.parents.append(parent)
            self.frames.append(frame)
            self.outlined.append(outlined)
            self.heads.append(number if depth <= _MOST_COMPARED else self.heads[parent])
            self.is_cut.append(parent == _CUT if parent < 0 else self.is_cut[parent])
            self._depths.append(depth)
        return number

    def below(self, parent: int, node: int) -> int:
        """The number of a node's place below another parent."""
        return self.child(parent, self.frames[node], outlined=self.outlined[node])

    def chain(self, node: int) -> list[int]:
        """The nodes from the outermost to one."""
        chain = []
        while node >= 0:
            chain.append(node)
            node = self.parents[node]
        return chain[::-1]


def is_outlined_name(function: str) -> bool:
    """Whether compilers name a function so that is the body of a construct of OpenMP."""
    return _OUTLINED.fullmatch(function) is not None


def is_of_openmp(function: str) -> bool:
    """Whether a function runs in constructs of OpenMP alone: their body, or the runtime."""
    return is_outlined_name(function) or _FORKS.fullmatch(function) is not None


@dataclass(frozen=True, slots=True)
class _Reached:
    """How far a stack was followed from its outermost frame."""

    node: int | None = None  # the innermost, None before the first
    begins: bool = False  # whether it came from where the program, or a thread, is started
    is_thread: bool = False
    in_fork: bool = False  # whether the frame before is of a runtime that makes teams


def read_stacks(table: pa.Table, used: Iterable[int]) -> tuple[Stacks, list[int], set[int]]:
    """The stacks of `call_paths`, the node of each row, and the rows with several places.

    Of rows that are not `used`, the cut ones stay as they are; the last node is -1, of no row.
    """
    stacks = Stacks()
    columns = (table[name].to_pylist() for name in ("parent", "function", "file", "line"))
    reached: list[_Reached] = []
    for parent, function, file, line in zip(*columns, strict=True):
        above = _Reached() if parent is None else reached[parent]
        reached.append(_next(stacks, above, Frame(function, file, line)))
    nodes = [UNKNOWN if each.node is None else each.node for each in reached]
    cut = {row: nodes[row] for row in used if nodes[row] >= 0 and stacks.is_cut[nodes[row]]}
    joined, several = _rejoined_stacks(stacks, sorted(set(cut.values())))
    ambiguous = {row for row, node in cut.items() if stacks.heads[node] in several}
    for row, node in cut.items():
        nodes[row] = joined.get(node, node)
    return stacks, [*nodes, UNKNOWN], ambiguous


def _next(stacks: Stacks, above: _Reached, frame: Frame) -> _Reached:
    name, node = frame.function.strip(), above.node
    if _STARTS.fullmatch(name):
        # what stands above it and has no name is the first instruction of the program
        if node is None or (
            stacks.parents[node] < 0 and _UNNAMED.fullmatch(stacks.frames[node].function)
        ):
            is_thread = above.is_thread or _THREAD_STARTS.fullmatch(name) is not None
            return _Reached(None, begins=True, is_thread=is_thread)
        return above
    if _FORKS.fullmatch(name):
        return _Reached(node, above.begins, above.is_thread, in_fork=True)
    if _INTERPRETERS.fullmatch(name) or not is_place(frame):
        return above
    is_outlined = above.in_fork or is_outlined_name(name)
    if node is None:
        begins = (above.begins and not above.in_fork) or name in MAINS
        node = stacks.child(UNKNOWN if begins else _CUT, frame, outlined=is_outlined)
        return _Reached(node, above.begins)
    outer = stacks.frames[node]
    # the body of a construct may be a function in a function; and the depth of a recursion is
    # no part of where a call is
    is_body = is_outlined and stacks.outlined[node] and not above.in_fork
    is_recursive = (outer.function, outer.file) == (frame.function, frame.file)
    if is_body or (is_recursive and not above.in_fork):
        node, is_outlined = stacks.parents[node], stacks.outlined[node]
    return _Reached(stacks.child(node, frame, outlined=is_outlined), above.begins)


def _rejoined_stacks(stacks: Stacks, cut: list[int]) -> tuple[dict[int, int], set[int]]:
    """The nodes of the program that nodes of cut stacks are, and the heads with several."""
    left = sorted({stacks.heads[node] for node in cut})
    ends, joined, done, known = _Ends(), dict[int, int](), 0, len(stacks.parents)
    several: set[int] = set()
    while left:  # what was joined may be what others begin like
        ends.add(stacks, done)
        done = len(stacks.parents)
        chains = {head: stacks.chain(head) for head in left}
        places = {
            head: ends.place([stacks.frames[node] for node in chain])
            for head, chain in chains.items()
        }
        several = {head for head, (place, _) in places.items() if place == _SEVERAL}
        left = [head for head, (place, _) in places.items() if place < 0]
        if len(left) == len(places):
            break
        for head, (place, count) in places.items():
            if place >= 0:
                node = place
                for each in chains[head][count:]:
                    node = stacks.below(node, each)
                joined[head] = node
    for node in range(known):  # what is deeper than what is compared
        if stacks.heads[node] != node and stacks.heads[node] in joined:
            joined[node] = stacks.below(joined[stacks.parents[node]], node)
    return joined, several


class _Ends:
    """What the paths of the program end like, up to so many frames."""

    def __init__(self) -> None:
        self._frames: dict[Frame, int] = {}
        self._numbers: dict[tuple[int, int], int] = {}  # of an end: one frame less, and that
        self._nodes: dict[int, int] = {}  # with each end: the one node, or several
        self._callers: dict[tuple[str, str | None], int] = {}  # of each function

    def add(self, stacks: Stacks, first: int) -> None:
        """Add the nodes from the number `first` on that are in the program."""
        for node in range(first, len(stacks.parents)):
            if stacks.is_cut[node]:
                continue
            above, end, frames = node, UNKNOWN, 0
            while above >= 0 and frames < _MOST_COMPARED:
                frame = self._frames.setdefault(stacks.frames[above], len(self._frames))
                end = self._numbers.setdefault((end, frame), len(self._numbers))
                _add_single(self._nodes, end, node)
                above, frames = stacks.parents[above], frames + 1
            called = stacks.frames[node].function, stacks.frames[node].file
            _add_single(self._callers, called, stacks.parents[node])

    def place(self, frames: list[Frame]) -> tuple[int, int]:
        """The node that most of the first frames of a stack are, and how many; or why none."""
        numbers = [self._frames.get(frame, UNKNOWN) for frame in frames[:_MOST_COMPARED]]
        for count in range(len(numbers), 0, -1):
            end: int | None = UNKNOWN
            for number in reversed(numbers[:count]):
                end = self._numbers.get((end, number)) if end is not None else None
            if end is not None:
                return self._nodes[end], count
        # at another line of a function, which has one caller
        return self._callers.get((frames[0].function, frames[0].file), UNKNOWN), 0


def _add_single(places: dict[_Key, int], key: _Key, place: int) -> None:
    places[key] = place if places.get(key, place) == place else _SEVERAL
