"""A unit's line program, run once: from addresses to files and lines.

::

    .debug_line ─► header: names of files ─┐
                └► opcodes ─► rows ────────┴─► Lines.at(address)
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from burstline.errors import printable
from burstline.record.symbols.dwarf import DwarfError, read_int, read_value, sleb, uleb
from burstline.record.symbols.elf import MALFORMED, ElfError

if TYPE_CHECKING:
    from burstline.record.symbols.units import Unit

_LONG = 0xFFFFFFFF
_LARGEST = 0xFFFFFFFF
_OLDEST, _WITH_BUNDLES, _NEWEST = 2, 4, 5
_PATH, _MOST_FILES, _MOST_FORMATS, _LONGEST_NAME = 1, 1 << 17, 32, 255
_COPY, _ADVANCE_PC, _ADVANCE_LINE, _SET_FILE = 1, 2, 3, 4
_CONST_ADD_PC, _FIXED_ADVANCE = 8, 9
_END_SEQUENCE, _SET_ADDRESS, _DEFINE_FILE = 1, 2, 3
_ADDRESS_MASK: Final = (1 << 64) - 1


class Sequence(NamedTuple):
    """Rows of ascending addresses, without a hole."""

    start: int
    end: int
    first: int
    last: int


@dataclass(slots=True)
class Lines:
    """Which line of which file the code of a unit comes from.

    Attributes
    ----------
    files : list of str
        Names of files without their folders, by the number that the program uses.
    """

    files: list[str] = field(default_factory=list)
    _addresses: array[int] = field(default_factory=lambda: array("Q"))
    _files: array[int] = field(default_factory=lambda: array("I"))
    _lines: array[int] = field(default_factory=lambda: array("I"))
    _sequences: list[Sequence] = field(default_factory=list)

    def file(self, number: int | None) -> str | None:
        """Give the name of a file by its number; None if there is no such file."""
        if number is None or not 0 <= number < len(self.files):
            return None
        return self.files[number] or None

    def at(self, address: int) -> tuple[str | None, int | None]:
        """Give the file and line of an address, each None where it is unknown.

        Of sequences that overlap, as those of functions the linker left out do, the one
        that starts last counts; of rows at one address, the last.
        """
        over = [found for found in self._sequences if found.start <= address < found.end]
        if not over:
            return None, None
        best = max(over)
        row = bisect_right(self._addresses, address, best.first, best.last) - 1
        if row < best.first:
            return None, None
        return self.file(self._files[row]), self._lines[row] or None

    def add(self, address: int, file: int, line: int) -> None:
        """Append a row."""
        self._addresses.append(address & _ADDRESS_MASK)
        self._files.append(min(file, _LARGEST))
        self._lines.append(line if 0 <= line <= _LARGEST else 0)

    def end_sequence(self, end: int, first: int) -> None:
        """Close the sequence that began with a row."""
        if first < len(self._addresses) and self._addresses[first] < end:
            start = self._addresses[first]
            self._sequences.append(Sequence(start, end, first, len(self._addresses)))

    def __len__(self) -> int:
        return len(self._addresses)


@dataclass(frozen=True, slots=True)
class _Header:
    version: int
    offset_bytes: int
    instruction_bytes: int
    line_base: int
    line_range: int
    lengths: tuple[int, ...]
    """Operands of each standard opcode, from opcode 1."""
    files_at: int
    program_at: int


def read_lines(unit: Unit, at: int) -> Lines:
    """Run the line program that a unit refers to.

    Parameters
    ----------
    unit : Unit
        Whose strings it may use.
    at : int
        Where the program lies in ``.debug_line``.

    Returns
    -------
    Lines
        Its rows and files. Of a program that breaks off, what stood before.

    Raises
    ------
    DwarfError
        If its header makes no sense.
    """
    try:
        return _read(unit, at)
    except (*MALFORMED, ElfError) as error:
        raise DwarfError("a line program makes no sense") from error


def _read(unit: Unit, at: int) -> Lines:
    elf = unit.debug.elf
    head = elf.piece(".debug_line", at, 12)
    length, offset_bytes, first = read_int(head, 0, 4), 4, 4
    if length == _LONG:
        length, offset_bytes, first = read_int(head, 4, 8), 8, 12
    data = elf.piece(".debug_line", at, first + length)
    unit.debug.work.spend(len(data))
    header = _header(data, first, offset_bytes)
    lines = Lines()
    if header.version < _NEWEST:
        _old_files(data, header.files_at, lines)
    else:
        _new_files(unit, data, header, lines)
    try:
        _run(data, header, lines)
    except (*MALFORMED, DwarfError):
        return lines
    return lines


def _header(data: bytes, at: int, offset_bytes: int) -> _Header:
    version = read_int(data, at, 2)
    if not _OLDEST <= version <= _NEWEST:
        raise DwarfError(f"version {version} of line programs is not known")
    at += 4 if version == _NEWEST else 2
    program_at = at + offset_bytes + read_int(data, at, offset_bytes)
    at += offset_bytes
    instruction_bytes = data[at]
    at += 2 if version >= _WITH_BUNDLES else 1
    line_base, line_range, opcode_base = data[at + 1], data[at + 2], data[at + 3]
    if line_range == 0 or opcode_base == 0:
        raise DwarfError("a line program has no opcodes")
    lengths = tuple(data[at + 4 : at + 3 + opcode_base])
    return _Header(
        version, offset_bytes, instruction_bytes, line_base - (line_base >> 7 << 8),
        line_range, lengths, at + 3 + opcode_base, program_at,
    )  # fmt: skip


def _name(path: bytes | str) -> str:
    text = path.decode(errors="replace") if isinstance(path, bytes) else path
    return printable(text.rpartition("/")[2], limit=_LONGEST_NAME)


def _old_files(data: bytes, at: int, lines: Lines) -> None:
    while data[at]:
        at = data.index(0, at) + 1
    at += 1
    lines.files.append("")
    while data[at] and len(lines.files) < _MOST_FILES:
        end = data.index(0, at)
        lines.files.append(_name(data[at:end]))
        at = end + 1
        for _ in range(3):
            at = uleb(data, at)[1]


def _new_files(unit: Unit, data: bytes, header: _Header, lines: Lines) -> None:
    at = _entries(unit, data, header.files_at, header.offset_bytes, None)
    _entries(unit, data, at, header.offset_bytes, lines.files)


def _entries(
    unit: Unit, data: bytes, at: int, offset_bytes: int, names: list[str] | None
) -> int:
    """Read the table of folders or of files; into `names` if there is such a list."""
    formats: list[tuple[int, int]] = []
    count, at = data[at], at + 1
    for _ in range(min(count, _MOST_FORMATS)):
        kind, at = uleb(data, at)
        form, at = uleb(data, at)
        formats.append((kind, form))
    count, at = uleb(data, at)
    if count > _MOST_FILES:
        raise DwarfError("a line program has too many files")
    for _ in range(count):
        name = ""
        for kind, form in formats:
            value, at = read_value(data, at, form, offset_bytes)
            if kind == _PATH and names is not None:
                name = _name(unit.text((form, value)) or "")
        if names is not None:
            names.append(name)
    return at


def _run(data: bytes, header: _Header, lines: Lines) -> None:  # noqa: C901, PLR0912 -- an interpreter's loop
    special = len(header.lengths) + 1
    line_base, line_range = header.line_base, header.line_range
    step, constant = header.instruction_bytes, (255 - special) // line_range
    at, end = header.program_at, len(data)
    address, file, line, first = 0, 1, 1, 0
    add = lines.add
    while at < end:
        opcode = data[at]
        at += 1
        if opcode >= special:
            opcode -= special
            address += opcode // line_range * step
            line += line_base + opcode % line_range
            add(address, file, line)
        elif opcode == 0:
            length, at = uleb(data, at)
            kind = data[at]
            if kind == _END_SEQUENCE:
                lines.end_sequence(address & _ADDRESS_MASK, first)
                address, file, line, first = 0, 1, 1, len(lines)
            elif kind == _SET_ADDRESS:
                address = read_int(data, at + 1, min(length - 1, 8))
            elif kind == _DEFINE_FILE and len(lines.files) < _MOST_FILES:
                lines.files.append(_name(data[at + 1 : data.index(0, at + 1)]))
            at += length
        elif opcode == _COPY:
            add(address, file, line)
        elif opcode == _ADVANCE_PC:
            amount, at = uleb(data, at)
            address += amount * step
        elif opcode == _ADVANCE_LINE:
            amount, at = sleb(data, at)
            line += amount
        elif opcode == _SET_FILE:
            file, at = uleb(data, at)
        elif opcode == _CONST_ADD_PC:
            address += constant * step
        elif opcode == _FIXED_ADVANCE:
            address += read_int(data, at, 2)
            at += 2
        else:
            for _ in range(header.lengths[opcode - 1]):
                at = uleb(data, at)[1]
