"""Code objects of Python as the recorder copied them, and the lines of their instructions.

::

    name, file, first line, line table ──+ instruction──► function, file, line

The table is that of CPython 3.11 and later (``Objects/locations.md`` of its sources): entries
of one to eight instructions each, whose first byte alone has its highest bit set.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from burstline.errors import printable
from burstline.formats.raw.files.layout import CodePart

_NO_COLUMNS, _LONG, _NONE = 13, 14, 15
_ONE_LINE = range(10, 13)
_LONGEST = 255
_INSTALLED = re.compile(r".*/(?:site-packages|dist-packages|lib/python[\d.]+)/")


@dataclass(eq=False)
class CodeObject:
    """A code object, as far as its parts were recorded."""

    first_line: int
    parts: dict[int, bytes] = field(default_factory=dict)

    @cached_property
    def function(self) -> str:
        """Its name with those of classes and functions around it."""
        name = self.parts.get(CodePart.NAME, b"").decode("utf-8", "replace")
        return printable(name.replace(".<locals>", ""), limit=_LONGEST) or "??"

    @cached_property
    def path(self) -> str:
        """The file that it was compiled from."""
        return self.parts.get(CodePart.FILE, b"").decode("utf-8", "replace")

    @cached_property
    def file(self) -> str | None:
        """The file without its folder."""
        return printable(self.path.rpartition("/")[2], limit=_LONGEST) or None

    @cached_property
    def package(self) -> str | None:
        """The package that was installed and has it; all of Python's own are one."""
        if (found := _INSTALLED.match(self.path)) is None:
            return None
        rest = self.path[found.end() :]
        return rest.partition("/")[0] if found[0].endswith("-packages/") else ""

    @cached_property
    def function_of_library(self) -> str:
        """Its name, of a module with its file."""
        if self.function != "<module>":
            return self.function
        return printable(f"<module> of {_INSTALLED.sub('', self.path)}", limit=_LONGEST)

    def line(self, instruction: int) -> int | None:
        """The line of an instruction, from 1; before the first one, that of the code."""
        if instruction < 1:
            return self.first_line
        starts, lines = self._lines
        row = bisect_right(starts, instruction - 1) - 1
        return lines[row] if row >= 0 else self.first_line

    @cached_property
    def _lines(self) -> tuple[list[int], list[int | None]]:
        """Where the instructions of each entry begin, and their line."""
        rows = list(_entries(self.parts.get(CodePart.LINES, b""), self.first_line))
        return [start for start, _ in rows], [line for _, line in rows]


def _entries(table: bytes, line: int) -> Iterator[tuple[int, int | None]]:
    start = at = 0
    while at < len(table):
        first, at = table[at], at + 1
        begin = at
        while at < len(table) and table[at] < 0x80:
            at += 1
        kind = first >> 3 & 15
        if kind in {_NO_COLUMNS, _LONG}:
            line += _signed(table[begin:at])
        elif kind in _ONE_LINE:
            line += kind - _ONE_LINE.start
        yield start, None if kind == _NONE else line
        start += (first & 7) + 1
    yield start, None


def _signed(data: bytes) -> int:
    """The number that some bytes begin with: six bits a byte, the sign in the lowest."""
    value = shift = 0
    for byte in data[:6]:
        value |= (byte & 63) << shift
        shift += 6
        if not byte & 64:
            break
    return -(value >> 1) if value & 1 else value >> 1
