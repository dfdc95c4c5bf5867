"""From the stacks of all processes to the calling-context tree.

::

    (module, offset), innermost first ──without MPI's own──► resolve ──► tree

Open MPI's Fortran bindings, and tools like this one, stand between the program and the
function that is recorded: the caller is who called the library.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import dropwhile
from types import MappingProxyType
from typing import Final, Protocol, TypeAlias

import pyarrow as pa

from burstline.formats.raw.files.layout import EXECUTED, PYTHON_MODULE
from burstline.formats.raw.processes.processes import ProcessDefinitions
from burstline.formats.raw.processes.python_code import CodeObject
from burstline.model import UNKNOWN, row_table

Frame: TypeAlias = tuple[str, str | None, int | None]
"""Function, file and line."""

_PYTHON: Final = "<Python>"
_MACHINERY: Final = re.compile(
    r"/mpi4py/|/lib-dynload/|/libffi[^/]*$|/(?:lib)?python[\d.]*(?:\.so[\d.]*)?$"
)
_C_LIBRARY: Final = re.compile(
    r"(?:libc|libpthread|linux-vdso|ld-linux[\w-]*|ld-musl[\w-]*)[-.]"
)
_LARGEST_LINE = 2**31 - 1
_RUNTIME: Final = re.compile(
    r"lib(p?mpi|p?mpi(_\w+|cxx|fort|ch|chcxx|chfort|chf90)|uc[mpst]|fabric|pmix|open-(pal|rte)"
    r"|burst-\w+|i?omp5?|gomp)(-[0-9a-f]{8})?\.so(\.\d+)*"
)


def of_runtime(module: str) -> bool:
    """Whether a path is of a library of MPI, its transport or OpenMP, or of the recorder."""
    return _RUNTIME.fullmatch(module.rpartition("/")[2]) is not None


def _is_c_library(module: str) -> bool:
    return _C_LIBRARY.match(module.rpartition("/")[2]) is not None


class Resolver(Protocol):
    """Names places in modules, which are given by the paths of these and offsets there."""

    def resolve(self, module: str, offsets: Iterable[int]) -> Mapping[int, Sequence[Frame]]:
        """The frames of return addresses, none where nothing is known.

        Innermost first: functions inlined at a place stand before the one that holds it.
        """

    def functions(self, module: str, offsets: Iterable[int]) -> Mapping[int, Frame]:
        """The functions that begin at offsets, each with the line of its begin."""


def by_address(module: str, offset: int) -> list[Frame]:
    """The frame that is left where nobody can resolve an address."""
    address = offset % EXECUTED if offset >= 0 else offset
    return [(f"{module.rpartition('/')[2] or '??'}+{address:#x}", None, None)]


def _without_runtime(stack: Sequence[tuple[str, int]]) -> Sequence[tuple[str, int]]:
    """Leave out the library's own frames, unless nothing else was reached."""
    return list(dropwhile(lambda place: of_runtime(place[0]), stack)) or stack


class _PythonFrames:
    """The frames of Python of one process, and what of the C around them is only machinery."""

    def __init__(self, codes: Mapping[int, CodeObject]) -> None:
        self._codes = codes
        self.frames: dict[tuple[str, int], list[Frame]] = {}

    def folded(self, stack: Sequence[tuple[str, int]]) -> Sequence[tuple[str, int]]:
        """A stack without what runs Python, if Python is on it: the rest is the program's."""
        if not any(module == _PYTHON for module, _ in stack):
            return stack
        kept = [place for place in stack if not self._is_machinery(*place)]
        while kept and _is_c_library(
            kept[0][0]
        ):  # which the interpreter called, or which calls it
            kept = kept[1:]
        while kept and _is_c_library(kept[-1][0]):
            kept = kept[:-1]
        return kept or [place for place in stack if place[0] == _PYTHON]

    def libraries(
        self, stacks: Mapping[int, Sequence[tuple[str, int]]], sampled: Container[int]
    ) -> dict[tuple[str, int], list[Frame]]:
        """The frames of packages that call no MPI, without lines.

        A sample in them is the line of the program that calls them, as one in a library of C.
        """
        packages = {place: self._code_of(place[1]).package for place in self.frames}
        calling = {
            next((packages[place] for place in stack if place in packages), None)
            for number, stack in stacks.items()
            if number not in sampled
        }
        return {
            place: [(self._code_of(place[1]).function_of_library, None, None)]
            for place, package in packages.items()
            if package is not None and package not in calling
        }

    def _code_of(self, place: int) -> CodeObject:
        return self._codes[(place & (EXECUTED - 1)) >> 24]

    def _is_machinery(self, module: str, place: int) -> bool:
        if module != _PYTHON:
            return _MACHINERY.search(module) is not None
        code = self._codes.get((place & (EXECUTED - 1)) >> 24)
        if code is None:
            return True
        line = code.line(place & ((1 << 24) - 1))
        self.frames[module, place] = [_plausible_frame((code.function, code.file, line))]
        return code.path.startswith("<frozen ") or "/mpi4py/" in code.path


class CallPaths:
    """The tree of call paths, growing with the stacks of each process."""

    def __init__(self, resolver: Resolver | None) -> None:
        self._resolver = resolver
        self._frames: dict[tuple[str, int], list[Frame]] = {}
        self._nodes: dict[tuple[int, Frame], int] = {}

    def rows(self, defined: ProcessDefinitions) -> dict[int, int]:
        """The row of each stack of a process; frames of MPI's own are left out."""
        names, python = defined.modules | {PYTHON_MODULE: _PYTHON}, _PythonFrames(defined.codes)
        stacks = {
            number: python.folded(
                _without_runtime([(names.get(module, ""), offset) for module, offset in stack])
            )
            for number, stack in defined.stacks.items()
            if stack
        }
        self._frames |= python.frames
        self._resolve({place for stack in stacks.values() for place in stack})
        libraries = python.libraries(stacks, defined.sampled)
        rows = {
            number: self.insert(stack, libraries if number in defined.sampled else {})
            for number, stack in stacks.items()
        }
        for place in python.frames:  # another process gave its code other numbers
            del self._frames[place]
        return rows

    def functions(self, defined: ProcessDefinitions) -> dict[int, Frame]:
        """The functions of a process by their numbers."""
        modules: dict[str, list[int]] = {}
        for module, offset in defined.functions.values():
            modules.setdefault(defined.modules.get(module, ""), []).append(offset)
        named: dict[tuple[str, int], Frame] = {}
        if self._resolver is not None:
            for path, offsets in modules.items():
                for offset, frame in self._resolver.functions(path, offsets).items():
                    named[path, offset] = _plausible_frame(frame)
        return {
            number: named.get((path := defined.modules.get(module, ""), offset))
            or by_address(path, offset)[0]
            for number, (module, offset) in defined.functions.items()
        }

    def _resolve(self, places: set[tuple[str, int]]) -> None:
        """Keep the frames of places that have none."""
        wanted: dict[str, list[int]] = {}
        for module, offset in sorted(places - self._frames.keys()):
            wanted.setdefault(module, []).append(offset)
        for module, offsets in wanted.items():
            found = self._resolver.resolve(module, offsets) if self._resolver else {}
            for offset in offsets:
                known = [_plausible_frame(frame) for frame in found.get(offset, ())]
                self._frames[module, offset] = known or by_address(module, offset)

    def insert(
        self,
        stack: Sequence[tuple[str, int]],
        instead: Mapping[tuple[str, int], list[Frame]] = MappingProxyType({}),
    ) -> int:
        """The row of a stack, innermost first; new nodes where it has none.

        `instead` are frames of its innermost places, as far as all have some or no line.
        """
        node, inner = UNKNOWN, 0
        while inner < len(stack) and (stack[inner] in instead or stack[inner][0] != _PYTHON):
            inner += 1
        for at, place in reversed([*enumerate(stack)]):
            found = instead.get(place) if at < inner else None
            for frame in reversed(found or self._frames[place]):
                node = self._nodes.setdefault((node, frame), len(self._nodes))
        return node

    def table(self) -> pa.Table:
        """The table `call_paths`, parents before their children."""
        nodes = enumerate(self._nodes)
        rows = ((row, None if node < 0 else node, *frame) for row, (node, frame) in nodes)
        return row_table("call_paths", rows)


def _plausible_frame(frame: Frame) -> Frame:
    function, file, line = frame
    return function, file, line if line and 0 < line <= _LARGEST_LINE else None
