"""The names of a trace's objects, ``.row``, in blocks: ``LEVEL CPU SIZE 2``, and two lines.

SIZE is a claim: a block ends where the next one begins, and has the names it has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from burstline.formats.intake import Defects, Oddity
from burstline.formats.paraver.files.lines import decode

LEVELS: Final = ("CPU", "NODE", "THREAD", "WORKLOAD", "APPL", "TASK", "SYSTEM")
"""The levels that Paraver knows, in the order in which they are written."""

_LEVEL = re.compile(r"LEVEL\s+(\S+)(?:\s+SIZE\s+(\d{1,18}))?\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class RowNames:
    """Names of objects by level of :data:`LEVELS`, in their order; they may be empty."""

    levels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    defects: tuple[Oddity, ...] = field(default=(), compare=False)


def read_row(data: bytes) -> RowNames:
    """The names in a whole ``.row``, of every level Paraver knows; never an error."""
    defects = Defects()
    levels: dict[str, list[str]] = {}
    for number, level, size, names in _name_blocks(data, defects):
        while names and not names[-1].strip():
            names.pop()
        if level not in LEVELS:
            defects.note_line("row_level", "info", number, level)
            continue
        if len(names) != size:
            text = f"{level} of size {size}, {len(names)} names"
            defects.note_line("row_size", "info", number, text)
        levels.setdefault(level, []).extend(names)
    return RowNames({level: tuple(names) for level, names in levels.items()}, defects.rows())


def _name_blocks(data: bytes, defects: Defects) -> list[tuple[int, str, int, list[str]]]:
    """Line, level, size and names of each block; adds what is in none to the defects."""
    blocks: list[tuple[int, str, int, list[str]]] = []
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        line, is_utf8 = decode(raw.rstrip(b"\r"))
        if not is_utf8:
            defects.note_line("row_encoding", "info", number, line)
        if match := _LEVEL.fullmatch(line):
            blocks.append((number, match[1], int(match[2] or 0), []))
        elif not blocks and line.strip():
            defects.note_line("row_line", "info", number, line)
        # Behind SIZE lines, blank ones only separate.
        elif blocks and (len(blocks[-1][3]) < blocks[-1][2] or line.strip()):
            blocks[-1][3].append(line)
    return blocks


def write_row(row: RowNames) -> bytes:
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
