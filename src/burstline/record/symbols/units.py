"""A unit of debug information: its entries, and what their attributes mean."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from burstline.record.symbols.dwarf import (
    ADDRESS,
    IMPLICIT,
    INDIRECT,
    NEWEST,
    STRING,
    UNIT_REFERENCES,
    DwarfError,
    read_int,
    read_value,
    uleb,
)
from burstline.record.symbols.elf import MALFORMED, ElfError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from burstline.record.symbols.dwarf import Abbreviation, Debug, Ranges, UnitHeader, Value

LOW, HIGH, RANGES = 0x11, 0x12, 0x55
_STRINGS_BASE, _ADDRESSES_BASE, _LISTS_BASE, _OLD_ADDRESSES_BASE = 0x72, 0x73, 0x74, 0x2133
_STRING_INDEXES: Final = frozenset({0x1A, 0x25, 0x26, 0x27, 0x28, 0x1F02})
_ADDRESS_INDEXES: Final = frozenset({0x1B, 0x29, 0x2A, 0x2B, 0x2C, 0x1F01})
_CONSTANTS: Final = frozenset({0x05, 0x06, 0x07, 0x0B, 0x0D, 0x0F, 0x21})
_STRING_OFFSET, _LINE_STRING, _SECTION_REFERENCE, _LIST_INDEX = 0x0E, 0x1F, 0x10, 0x23
_LIST_ENTRIES: Final = {1: "i", 2: "ii", 3: "in", 4: "nn", 5: "a", 6: "aa", 7: "an"}
_END_OF_LIST, _FROM_BASE, _NEW_BASES, _WITH_END = 0, 4, (1, 5), (2, 6)
_LONGEST_ROOT = 1 << 15
_ALL_ONES = 0xFFFFFFFFFFFFFFFF


class Unit:
    """A unit in memory: its entries, and what their attributes mean.

    Parameters
    ----------
    debug : Debug
        Where it lies.
    header : UnitHeader
        Which it is.
    root_only : bool
        Read no more than its first entry.

    Attributes
    ----------
    data : bytes
        The unit; positions in it are references within it.
    table : dict of int to Abbreviation
        The shapes of its entries.
    root : dict of int to Value
        Attributes of the unit itself.

    Raises
    ------
    DwarfError
        If its first entry makes no sense.
    """

    def __init__(self, debug: Debug, header: UnitHeader, *, root_only: bool = False) -> None:
        self.debug, self.header = debug, header
        size = header.end - header.start
        self.data = debug.elf.piece(
            ".debug_info", header.start, min(size, _LONGEST_ROOT) if root_only else size
        )
        self.root: dict[int, Value] = {}
        try:
            self.table = debug.abbreviations(header)
            shape, at = self.shape(header.first)
            if shape is None:
                raise DwarfError("a unit is empty")
            self.root, self.first_child = self.attributes(shape, at)
            self.tag, self.has_children = shape.tag, shape.has_children
            self.low = self.address(self.root.get(LOW)) or 0
        except (*MALFORMED, ElfError) as error:
            raise DwarfError("a unit's first entry makes no sense") from error

    def shape(self, at: int) -> tuple[Abbreviation | None, int]:
        """Give the shape of the entry at a place, None at the end of a list, and its end."""
        code, at = uleb(self.data, at)
        return (self.table[code] if code else None), at

    def attributes(self, shape: Abbreviation, at: int) -> tuple[dict[int, Value], int]:
        """Read the attributes of an entry, whose code ends at a place, and where it ends."""
        values: dict[int, Value] = {}
        offset_bytes = self.header.offset_bytes
        for name, form, implicit in shape.attributes:
            if form == IMPLICIT:
                values[name] = (form, implicit)
                continue
            real = form
            if form == INDIRECT:
                real, at = uleb(self.data, at)
            value, at = read_value(self.data, at, real, offset_bytes)
            values[name] = (real, value)
        return values, at

    def skip(self, steps: tuple[int, ...], at: int) -> int:
        """Give where an entry, or its part, ends."""
        data = self.data
        for step in steps:
            if step >= 0:
                at += step
            elif step == -STRING:
                at = data.index(0, at) + 1
            elif step == -INDIRECT:
                form, at = uleb(data, at)
                at = read_value(data, at, form, self.header.offset_bytes)[1]
            else:
                at = read_value(data, at, -step, self.header.offset_bytes)[1]
        return at

    def sibling(self, shape: Abbreviation, at: int) -> tuple[int, int]:
        """Read where the sibling of an entry lies, and where that attribute ends."""
        value, end = read_value(self.data, at, shape.sibling_form, self.header.offset_bytes)
        return (end if isinstance(value, bytes) else value), end

    def _base(self, name: int, default: int) -> int:
        value = self.root.get(name)
        return value[1] if value and isinstance(value[1], int) else default

    def number(self, value: Value | None) -> int | None:
        """Give a constant; None if the attribute is no constant."""
        form, raw = _integer(value)
        return raw if form in _CONSTANTS else None

    def text(self, value: Value | None) -> str | None:
        """Give a string; None if it is in a file of its own."""
        if value is None:
            return None
        form, raw = value
        if isinstance(raw, bytes):
            return raw.decode(errors="replace") if form == STRING else None
        if form == _STRING_OFFSET:
            return self.debug.elf.text(".debug_str", raw)
        if form == _LINE_STRING:
            return self.debug.elf.text(".debug_line_str", raw)
        if form in _STRING_INDEXES:
            size = self.header.offset_bytes
            at = self._base(_STRINGS_BASE, 2 * size) + raw * size
            place = self.debug.elf.piece(".debug_str_offsets", at, size)
            return self.debug.elf.text(".debug_str", int.from_bytes(place, "little"))
        return None

    def address(self, value: Value | None) -> int | None:
        """Give an address; None if the attribute is none."""
        form, raw = _integer(value)
        if form == ADDRESS:
            return raw
        return self._indexed_address(raw) if form in _ADDRESS_INDEXES else None

    def _indexed_address(self, index: int) -> int:
        at = self._base(_ADDRESSES_BASE, self._base(_OLD_ADDRESSES_BASE, 8)) + 8 * index
        return read_int(self.debug.section(".debug_addr"), at, 8)

    def reference(self, value: Value | None) -> int | None:
        """Give the place in ``.debug_info`` that is referred to; None if it is elsewhere."""
        form, raw = _integer(value)
        if form in UNIT_REFERENCES:
            return self.header.start + raw
        return raw if form == _SECTION_REFERENCE else None

    def ranges(self, attributes: dict[int, Value]) -> Ranges:
        """Give the addresses that an entry covers; none if it has no code."""
        low = self.address(attributes.get(LOW))
        if RANGES in attributes:
            return self._listed(attributes[RANGES])
        if low is None:
            return ()
        high = attributes.get(HIGH)
        end = self.number(high)
        if end is not None:
            return ((low, low + end),) if end > 0 else ()
        end = self.address(high)
        return ((low, end),) if end is not None and end > low else ()

    def _listed(self, value: Value) -> Ranges:
        form, at = value
        if isinstance(at, bytes):
            return ()
        if self.header.version < NEWEST:
            pairs = self._old_list(at)
        else:
            if form == _LIST_INDEX:
                size = self.header.offset_bytes
                base = self._base(_LISTS_BASE, 8 + 2 * size - 4)
                data = self.debug.section(".debug_rnglists")
                at = base + read_int(data, base + at * size, size)
            pairs = self._new_list(at)
        found: list[tuple[int, int]] = []
        for low, high in pairs:
            if high > low:
                found.append((low, high))
        return tuple(found)

    def _old_list(self, at: int) -> Iterator[tuple[int, int]]:
        data, base = self.debug.section(".debug_ranges"), self.low
        while True:
            self.debug.work.spend(1)
            low, high = struct.unpack_from("<QQ", data, at)
            at += 16
            if low == high == 0:
                return
            if low == _ALL_ONES:
                base = high
            else:
                yield base + low, base + high

    def _new_list(self, at: int) -> Iterator[tuple[int, int]]:
        data, base = self.debug.section(".debug_rnglists"), self.low
        while data[at] != _END_OF_LIST:
            self.debug.work.spend(1)
            kind = data[at]
            if kind not in _LIST_ENTRIES:
                raise DwarfError("a list of ranges has an entry of an unknown kind")
            first, second, at = self._list_entry(data, at + 1, _LIST_ENTRIES[kind])
            if kind in _NEW_BASES:
                base = first
            elif kind == _FROM_BASE:
                yield base + first, base + second
            else:
                yield first, second if kind in _WITH_END else first + second

    def _list_entry(self, data: bytes, at: int, parts: str) -> tuple[int, int, int]:
        """Read the parts of an entry: an ``i``ndex of an address, ``a``ddress or ``n``umber."""
        values = [0, 0]
        for place, part in enumerate(parts):
            if part == "a":
                values[place], at = read_int(data, at, 8), at + 8
            else:
                value, at = uleb(data, at)
                values[place] = self._indexed_address(value) if part == "i" else value
        return values[0], values[1], at


def _integer(value: Value | None) -> tuple[int, int]:
    """Give form and value of an attribute that is a number; form 0 for others."""
    if value is None or isinstance(value[1], bytes):
        return 0, 0
    return value[0], value[1]
