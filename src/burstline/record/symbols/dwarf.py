"""DWARF's grammar: numbers, abbreviations, attributes, units and ranges of addresses.

::

    .debug_info ─► headers ─► Unit ─┬─ attributes(at): one entry
                .debug_abbrev ──────┘  ranges, text, reference: what an attribute means

Versions 2 to 5. What a consumer wants of a unit is in `burstline.record.symbols.functions` and
`burstline.record.symbols.lines`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from burstline.record.symbols.elf import Elf

Value = tuple[int, int | bytes]
"""The form of an attribute and what stands in the file."""

Ranges = tuple[tuple[int, int], ...]
"""Half-open intervals of addresses."""

_SIBLING = 0x01

ADDRESS, STRING, INDIRECT, IMPLICIT = 0x01, 0x08, 0x16, 0x21
SLEB_FORMS: Final = frozenset({0x0D})
ULEB_FORMS: Final = frozenset({0x0F, 0x15, 0x1A, 0x1B, 0x22, 0x23, 0x1F01, 0x1F02})
BLOCK_FORMS: Final = {0x03: 2, 0x04: 4, 0x0A: 1, 0x09: 0, 0x18: 0}
OFFSET_FORMS: Final = frozenset({0x0E, 0x10, 0x17, 0x1D, 0x1F, 0x1F20, 0x1F21})
FIXED_FORMS: Final = {
    0x01: 8, 0x05: 2, 0x06: 4, 0x07: 8, 0x0B: 1, 0x0C: 1, 0x11: 1, 0x12: 2, 0x13: 4, 0x14: 8,
    0x19: 0, 0x1C: 4, 0x1E: 16, 0x20: 8, 0x21: 0, 0x24: 8, 0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4,
    0x29: 1, 0x2A: 2, 0x2B: 3, 0x2C: 4,
}  # fmt: skip
UNIT_REFERENCES: Final = frozenset({0x11, 0x12, 0x13, 0x14, 0x15})
_LEAST_WORK, _VISITS, _COMPRESSED_VISITS = 1 << 16, 4, 16
_LONG = 0xFFFFFFFF
_OLDEST, NEWEST = 2, 5
_COMPILE, _PARTIAL, _SKELETON = 1, 3, 4
_LONGEST_LEB = 70
_MOST_ATTRIBUTES = 256
_MOST_ABBREVIATIONS = 1 << 17
_MOST_UNITS = 1 << 22


class DwarfError(Exception):
    """The debug information contradicts itself or is of a kind that is not read."""


def uleb(data: bytes, at: int) -> tuple[int, int]:
    """Read an unsigned LEB128 number: the number and where it ends.

    Examples
    --------
    >>> uleb(bytes([0xE5, 0x8E, 0x26]), 0)
    (624485, 3)
    """
    byte = data[at]
    if byte < 0x80:
        return byte, at + 1
    number, shift = byte & 0x7F, 7
    while True:
        at += 1
        byte = data[at]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at + 1
        shift += 7
        if shift > _LONGEST_LEB:
            raise DwarfError("a number is too long")


def sleb(data: bytes, at: int) -> tuple[int, int]:
    """Read a signed LEB128 number: the number and where it ends.

    Examples
    --------
    >>> sleb(bytes([0x80, 0x7F]), 0)
    (-128, 2)
    """
    number, end = uleb(data, at)
    bits = 7 * (end - at)
    return number - (1 << bits) if number >> (bits - 1) & 1 else number, end


def read_int(data: bytes, at: int, size: int) -> int:
    """Read an unsigned number of `size` bytes.

    Raises
    ------
    DwarfError
        If the data ends before.
    """
    if at < 0 or at + size > len(data):
        raise DwarfError("a number lies outside its section")
    return int.from_bytes(data[at : at + size], "little")


def fixed_size(form: int, offset_bytes: int) -> int | None:
    """Give the bytes of a form; None if each value says its own."""
    return offset_bytes if form in OFFSET_FORMS else FIXED_FORMS.get(form)


def read_value(data: bytes, at: int, form: int, offset_bytes: int) -> tuple[int | bytes, int]:
    """Read the value of a form: what stands in the file, and where it ends.

    Raises
    ------
    DwarfError
        If the form is not known.
    """
    size = fixed_size(form, offset_bytes)
    if size is not None:
        return int.from_bytes(data[at : at + size], "little"), at + size
    if form in ULEB_FORMS:
        return uleb(data, at)
    if form in SLEB_FORMS:
        return sleb(data, at)
    if form == STRING:
        end = data.index(0, at)
        return data[at:end], end + 1
    if form in BLOCK_FORMS:
        length_bytes = BLOCK_FORMS[form]
        if length_bytes:
            size, at = read_int(data, at, length_bytes), at + length_bytes
        else:
            size, at = uleb(data, at)
        return data[at : at + size], at + size
    raise DwarfError(f"form {form:#x} is not known")


class Work:
    """Counts what has been looked at; a file that asks for far more than it holds is refused.

    Parameters
    ----------
    limit : int
        How many units of work, about a byte's each, are sensible.
    """

    def __init__(self, limit: int) -> None:
        self._left = limit

    def spend(self, amount: int) -> None:
        """Take note of work.

        Raises
        ------
        DwarfError
            If it is more than is sensible.
        """
        self._left -= amount
        if self._left < 0:
            raise DwarfError("it refers to the same parts over and over")


class Abbreviation(NamedTuple):
    """The shape of an entry."""

    tag: int
    has_children: bool
    attributes: tuple[tuple[int, int, int], ...]
    """Attribute, form, and the value if the form is implicit."""
    steps: tuple[int, ...]
    """How to get past an entry: bytes to skip, or the negative of a form."""
    before_sibling: tuple[int, ...] | None
    """The same, to where its sibling is named; None if it is not."""
    sibling_form: int


@dataclass(frozen=True, slots=True)
class UnitHeader:
    """Where a unit lies in ``.debug_info``."""

    start: int
    end: int
    version: int
    offset_bytes: int
    abbreviations: int
    first: int
    """Where its first entry lies, from `start`."""


class Debug:
    """The debug information of a file, of which units are read when they are needed."""

    def __init__(self, elf: Elf) -> None:
        self.elf = elf
        self._abbreviations: dict[tuple[int, int], dict[int, Abbreviation]] = {}
        self._sections: dict[str, bytes] = {}
        self.work = Work(
            _LEAST_WORK
            + sum(
                elf.size_of(name) * (_COMPRESSED_VISITS if elf.is_compressed(name) else _VISITS)
                for name in elf.sections
                if name.startswith((".debug_", ".zdebug_"))
            )
        )

    def section(self, name: str) -> bytes:
        """Give a whole section of the kind that is looked up all over."""
        if name not in self._sections:
            self._sections[name] = self.elf.data(name)
        return self._sections[name]

    def headers(self) -> list[UnitHeader]:
        """Give the units that hold code, in the order of the file.

        A unit of a version or kind that is not read is left out; what follows a header
        that makes no sense is given up.
        """
        return list(self._headers())

    def _headers(self) -> Iterator[UnitHeader]:
        at = 0
        for _ in range(_MOST_UNITS):
            head = self.elf.piece(".debug_info", at, 48)
            if len(head) < 11:
                return
            length, offset_bytes, first = int.from_bytes(head[:4], "little"), 4, 4
            if length == _LONG:
                length, offset_bytes, first = int.from_bytes(head[4:12], "little"), 8, 12
            end = at + first + length
            self.work.spend(1)
            header = _unit_header(head, at, end, first, offset_bytes)
            if header:
                yield header
            at = end

    def abbreviations(self, header: UnitHeader) -> dict[int, Abbreviation]:
        """Give the shapes of entries of a unit by their codes."""
        key = header.abbreviations, header.offset_bytes
        if key not in self._abbreviations:
            data = self.section(".debug_abbrev")
            self._abbreviations[key] = self._read_abbreviations(data, *key)
        return self._abbreviations[key]

    def _read_abbreviations(
        self, data: bytes, at: int, offset_bytes: int
    ) -> dict[int, Abbreviation]:
        table: dict[int, Abbreviation] = {}
        begin = at
        while len(table) < _MOST_ABBREVIATIONS:
            code, at = uleb(data, at)
            if code == 0:
                break
            tag, at = uleb(data, at)
            has_children = data[at] != 0
            at += 1
            attributes: list[tuple[int, int, int]] = []
            while True:
                name, at = uleb(data, at)
                form, at = uleb(data, at)
                implicit = 0
                if form == IMPLICIT:
                    implicit, at = sleb(data, at)
                if name == 0 and form == 0:
                    break
                attributes.append((name, form, implicit))
                if len(attributes) > _MOST_ATTRIBUTES:
                    raise DwarfError("an entry has too many attributes")
            table[code] = _abbreviation(
                tag, attributes, offset_bytes, has_children=has_children
            )
        self.work.spend(at - begin)
        return table


def _unit_header(
    head: bytes, start: int, end: int, at: int, offset_bytes: int
) -> UnitHeader | None:
    version = int.from_bytes(head[at : at + 2], "little")
    at += 2
    if not _OLDEST <= version <= NEWEST:
        return None
    kind = _COMPILE
    if version == NEWEST:
        kind, address_bytes, at = head[at], head[at + 1], at + 2
        abbreviations = int.from_bytes(head[at : at + offset_bytes], "little")
        at += offset_bytes + (8 if kind == _SKELETON else 0)
    else:
        abbreviations = int.from_bytes(head[at : at + offset_bytes], "little")
        address_bytes = head[at + offset_bytes]
        at += offset_bytes + 1
    if kind not in (_COMPILE, _PARTIAL, _SKELETON) or address_bytes != 8:
        return None
    return UnitHeader(start, end, version, offset_bytes, abbreviations, at)


def _abbreviation(
    tag: int, attributes: list[tuple[int, int, int]], offset_bytes: int, *, has_children: bool
) -> Abbreviation:
    steps: list[int] = []
    before_sibling: tuple[int, ...] | None = None
    sibling_form = 0
    for name, form, _ in attributes:
        if name == _SIBLING and form in UNIT_REFERENCES:
            before_sibling, sibling_form = tuple(steps), form
        size = fixed_size(form, offset_bytes)
        if size is None:
            steps.append(-form)
        elif steps and steps[-1] >= 0:
            steps[-1] += size
        else:
            steps.append(size)
    return Abbreviation(
        tag, has_children, tuple(attributes), tuple(steps), before_sibling, sibling_form
    )
