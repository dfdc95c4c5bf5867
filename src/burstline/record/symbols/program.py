"""A file's debug information, asked by address: which unit, which functions, which lines.

::

    .debug_aranges, roots of units ─► Program.at(address) ─► UnitCode ─┬─ functions by address
                                                                      ├─ calls inlined in one
                                                                      └─ lines

A unit is read when an address in it is asked for, and of its functions only those that
were asked for are searched for inlined calls.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.record.symbols.dwarf import Debug, DwarfError, read_int
from burstline.record.symbols.elf import MALFORMED, ElfError
from burstline.record.symbols.functions import SAME, Frame, Intervals, UnitCode
from burstline.record.symbols.lines import Lines, read_lines
from burstline.record.symbols.units import Unit

if TYPE_CHECKING:
    from burstline.record.symbols.dwarf import Ranges, UnitHeader
    from burstline.record.symbols.elf import Elf

_UNITS: Final = frozenset({0x11, 0x4A})
_NAME, _STATEMENTS, _LANGUAGE = 0x03, 0x10, 0x13
_LINKAGE: Final = (0x6E, 0x2007)
_DWO_NAMES: Final = (0x76, 0x2130)
_C: Final = frozenset({0x01, 0x02, 0x0C, 0x1D, 0x2C})
_MOST_REFERENCES = 16
_LONG = 0xFFFFFFFF


class Program:
    """The debug information of a file, asked by address.

    Parameters
    ----------
    elf : Elf
        The file.

    Attributes
    ----------
    elsewhere : bool
        Whether part of it is in ``.dwo`` files, which are not read.
    """

    def __init__(self, elf: Elf) -> None:
        self._debug = Debug(elf)
        self._units: dict[int, UnitCode] = {}
        self._lines: dict[int, Lines] = {}
        self._names: dict[int, tuple[str | None, bool]] = {}
        self._broken: set[int] = set()
        self.elsewhere = False

    @cached_property
    def _headers(self) -> list[UnitHeader]:
        return self._debug.headers()

    @cached_property
    def _covered(self) -> Intervals:
        """What each unit covers."""
        listed = self._listed()
        told = {unit for _, _, unit in listed}
        for number, header in enumerate(self._headers):
            if number not in told:
                listed.extend((low, high, number) for low, high in self._root_ranges(header))
        return Intervals(listed)

    def _root_ranges(self, header: UnitHeader) -> Ranges:
        try:
            unit = Unit(self._debug, header, root_only=True)
            if any(name in unit.root for name in _DWO_NAMES):
                self.elsewhere = True
            return unit.ranges(unit.root) if unit.tag in _UNITS else ()
        except (*MALFORMED, DwarfError, ElfError):
            return ()

    def _listed(self) -> list[tuple[int, int, int]]:
        """Read ``.debug_aranges``, which not every compiler writes."""
        data = self._debug.section(".debug_aranges")
        number = {header.start: number for number, header in enumerate(self._headers)}
        found: list[tuple[int, int, int]] = []
        at = 0
        while at + 12 <= len(data):
            length, offset_bytes, first = read_int(data, at, 4), 4, 4
            if length == _LONG:
                length, offset_bytes, first = read_int(data, at + 4, 8), 8, 12
            end = at + first + length
            unit = number.get(read_int(data, at + first + 2, offset_bytes))
            pairs = -(-(first + 4 + offset_bytes) // 16) * 16
            if unit is not None:
                words = np.frombuffer(data[at + pairs : end][: (end - at - pairs) & ~15], "<u8")
                found.extend(
                    (low, low + size, unit)
                    for low, size in words.reshape(-1, 2).tolist()
                    if size
                )
            at = end
        return found

    def at(self, address: int) -> tuple[Frame, ...]:
        """Give the frames at an address, the innermost inlined one first.

        Returns
        -------
        tuple of Frame
            Empty if no unit covers the address.

        Raises
        ------
        DwarfError
            If what is told of it makes no sense.
        """
        frames: tuple[Frame, ...] = ()
        for number in self._covered_by(address):
            if number in self._broken:
                continue
            try:
                frames = self._unit(number).at(address) or frames
            except (*MALFORMED, ElfError, DwarfError) as error:
                self._broken.add(number)
                if not frames:
                    raise DwarfError("its debug information makes no sense") from error
            if frames and frames[-1].function is not None:
                break
        return frames

    def _covered_by(self, address: int) -> list[int]:
        try:
            return self._covered.over(address)
        except (*MALFORMED, ElfError) as error:
            raise DwarfError("its list of units makes no sense") from error

    def _unit(self, number: int) -> UnitCode:
        if number not in self._units:
            unit = Unit(self._debug, self._headers[number])
            self._units[number] = UnitCode(unit, self._name, self._lines_of)
        return self._units[number]

    def _lines_of(self, unit: Unit) -> Lines:
        """Give the lines of a unit; units may share a program."""
        value = unit.root.get(_STATEMENTS)
        if value is None or isinstance(value[1], bytes):
            return Lines()
        if value[1] not in self._lines:
            try:
                self._lines[value[1]] = read_lines(unit, value[1])
            except DwarfError:
                self._lines[value[1]] = Lines()
        return self._lines[value[1]]

    def _name(self, place: int, user: Unit) -> tuple[str | None, bool]:
        """Give the name of the function an entry describes, and whether the linker knows it.

        Without a name for the linker, that of the source. An entry may refer to another
        one, its declaration or its abstract form, in any unit.
        """
        if place not in self._names:
            self._names[place] = self._find_name(place, user)
        return self._names[place]

    def _find_name(self, place: int, user: Unit) -> tuple[str | None, bool]:
        plain = None
        at: int | None = place
        for _ in range(_MOST_REFERENCES):
            if at is None:
                break
            self._debug.work.spend(1)
            unit = user if user.header.start <= at < user.header.end else self._unit_at(at)
            shape, end = unit.shape(at - unit.header.start)
            if shape is None:
                break
            attributes, _ = unit.attributes(shape, end)
            for name in _LINKAGE:
                if found := unit.text(attributes.get(name)):
                    return found, True
            plain = plain or unit.text(attributes.get(_NAME))
            at = next(
                (unit.reference(attributes[link]) for link in SAME if link in attributes), None
            )
        return plain or None, _is_c(user)

    def _unit_at(self, place: int) -> Unit:
        number = bisect_right(self._headers, place, key=lambda header: header.start) - 1
        if number >= 0 and place < self._headers[number].end:
            return self._unit(number).unit
        raise DwarfError("an entry refers to none")


def _is_c(unit: Unit) -> bool:
    """Tell whether the linker's names are those of the source."""
    return unit.number(unit.root.get(_LANGUAGE)) in _C
