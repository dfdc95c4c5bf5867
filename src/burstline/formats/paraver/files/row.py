"""The names of a trace's objects, ``.row``.

::

    LEVEL CPU SIZE 2      a block: as many names as SIZE says, one to a line
    1.vm
    2.vm

SIZE is a claim: a block ends where the next one begins, and has the names it has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from burstline.formats.intake import Defect, Defects
from burstline.formats.paraver.files.lines import decode

LEVELS: Final = ("CPU", "NODE", "THREAD", "WORKLOAD", "APPL", "TASK", "SYSTEM")
"""The levels that Paraver knows, in the order in which they are written."""

_LEVEL = re.compile(r"LEVEL\s+(\S+)(?:\s+SIZE\s+(\d{1,18}))?\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Row:
    """Names of objects by level of :data:`LEVELS`, in their order; they may be empty."""

    levels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    defects: tuple[Defect, ...] = field(default=(), compare=False)

    def name(self, level: str, number: int) -> str | None:
        """The name of an object counted from 0, None if it has none."""
        names = self.levels.get(level, ())
        return names[number] or None if 0 <= number < len(names) else None


def read_row(data: bytes) -> Row:
    r"""The names in a whole ``.row``, of every level Paraver knows; never an error.

    >>> read_row(b"LEVEL NODE SIZE 1\nlogin 1\n\nLEVEL CPU SIZE 9\n1.vm\n").levels
    {'NODE': ('login 1',), 'CPU': ('1.vm',)}
    """
    defects = Defects()
    levels: dict[str, list[str]] = {}
    block = _Names("", 0, 0)
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        line, is_utf8 = decode(raw.rstrip(b"\r"))
        if not is_utf8:
            defects.note_line("row_encoding", "info", number, line)
        match = _LEVEL.fullmatch(line)
        if match:
            block.close(levels, defects)
            block = _Names(match[1], int(match[2] or 0), number)
        elif block.level or not line.strip():
            block.add(line)
        else:
            defects.note_line("row_line", "info", number, line)
    block.close(levels, defects)
    return Row({level: tuple(names) for level, names in levels.items()}, defects.rows())


class _Names:
    """The block that is being read."""

    __slots__ = ("level", "line", "names", "size")

    def __init__(self, level: str, size: int, line: int) -> None:
        self.level, self.size, self.line = level, size, line
        self.names: list[str] = []

    def add(self, name: str) -> None:
        # Behind SIZE lines, blank ones only separate.
        if len(self.names) < self.size or name.strip():
            self.names.append(name)

    def close(self, levels: dict[str, list[str]], defects: Defects) -> None:
        if not self.level:
            return
        while self.names and not self.names[-1].strip():
            self.names.pop()
        if self.level not in LEVELS:
            defects.note_line("row_level", "info", self.line, self.level)
            return
        if len(self.names) != self.size:
            text = f"{self.level} of size {self.size}, {len(self.names)} names"
            defects.note_line("row_size", "info", self.line, text)
        levels.setdefault(self.level, []).extend(self.names)


def write_row(row: Row) -> bytes:
    """A whole ``.row``: the blocks of :data:`LEVELS`; empty names are replaced."""
    blocks = []
    for level in LEVELS:
        names = row.levels.get(level)
        if names:
            lines = [
                _written_name(name, level, number) for number, name in enumerate(names, start=1)
            ]
            blocks.append("\n".join([f"LEVEL {level} SIZE {len(lines)}", *lines, ""]))
    return "\n".join(blocks).encode(errors="replace")


def _written_name(name: str, level: str, number: int) -> str:
    line = name.translate({10: " ", 13: " "})
    if not line.strip() or _LEVEL.fullmatch(line):
        return f"{level} {number}"
    return line
