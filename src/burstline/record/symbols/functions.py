"""The functions of a unit by address, and the calls that were inlined into them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from burstline.record.symbols.dwarf import DwarfError

if TYPE_CHECKING:
    from collections.abc import Callable

    from burstline.record.symbols.dwarf import Abbreviation, Ranges, Value
    from burstline.record.symbols.lines import Lines
    from burstline.record.symbols.units import Unit

_SUBPROGRAM, _INLINED = 0x2E, 0x1D
_SCOPES: Final = frozenset({0x1E, 0x39})
_BLOCKS: Final = frozenset({0x03, 0x0B, 0x22, 0x25, 0x32})
_CALL_FILE, _CALL_LINE = 0x58, 0x59
SAME: Final = (0x31, 0x47)
"""Attributes that refer to another entry of the same function."""

_DEEPEST = 1 << 10
_NOWHERE = -2
_LARGEST = (1 << 64) - 1


class Frame(NamedTuple):
    """A function and the place in it."""

    function: str | None
    file: str | None
    line: int | None
    is_linked: bool = False
    """Whether the function's name is the one that the linker knows, too."""


@dataclass(frozen=True, slots=True)
class _Function:
    ranges: Ranges
    name: int
    """Where the entry lies that names it, in ``.debug_info``."""
    children: int
    """Where its first child lies in its unit; 0 without children."""


@dataclass(frozen=True, slots=True)
class _Call:
    ranges: Ranges
    name: int | None
    file: int | None
    line: int | None
    inside: int
    """The call of the same function that it is inlined into; -1: the function itself."""


class Intervals:
    """Half-open intervals of addresses, each with a number, which may overlap.

    Parameters
    ----------
    intervals : list of tuple of int
        Start, end and number of each.
    """

    def __init__(self, intervals: list[tuple[int, int, int]]) -> None:
        kept = sorted(interval for interval in intervals if interval[1] <= _LARGEST)
        self._starts = np.array([low for low, _, _ in kept], np.uint64)
        self._ends = np.array([high for _, high, _ in kept], np.uint64)
        self._numbers = [number for _, _, number in kept]

    def over(self, address: int) -> list[int]:
        """Give the numbers of the intervals over an address, the one that starts last first.

        What the linker left out is said to start at 0, over what is really there.
        """
        wanted = np.uint64(address)
        known = int(np.searchsorted(self._starts, wanted, side="right"))
        rows = np.flatnonzero(self._ends[:known] > wanted)[::-1].tolist()
        return list(dict.fromkeys(self._numbers[row] for row in rows))


class _Functions:
    """The functions of a unit, by address."""

    def __init__(self, functions: list[_Function]) -> None:
        self._functions = functions
        self._over = Intervals(
            [
                (low, high, number)
                for number, function in enumerate(functions)
                for low, high in function.ranges
            ]
        )

    def at(self, address: int) -> _Function | None:
        over = self._over.over(address)
        return self._functions[over[0]] if over else None


class UnitCode:
    """The code of one unit.

    Parameters
    ----------
    unit : Unit
        The unit.
    name : callable
        Gives the name of the function that an entry describes, and whether the linker
        knows it.
    lines : callable
        Gives the lines of the unit.
    """

    def __init__(
        self,
        unit: Unit,
        name: Callable[[int, Unit], tuple[str | None, bool]],
        lines: Callable[[Unit], Lines],
    ) -> None:
        self.unit, self._name_at, self._lines_of = unit, name, lines
        self._calls: dict[int, list[_Call]] = {}

    @cached_property
    def _lines(self) -> Lines:
        return self._lines_of(self.unit)

    @cached_property
    def _outer(self) -> _Functions:
        return _Functions(_functions(self.unit, deep=False))

    @cached_property
    def _all(self) -> _Functions:
        return _Functions(_functions(self.unit, deep=True))

    def _function(self, address: int) -> _Function | None:
        """Find the function; those in other functions only if none outside has it."""
        return self._outer.at(address) or self._all.at(address)

    def at(self, address: int) -> tuple[Frame, ...]:
        """Give the frames at an address; none if neither a function nor a line is known."""
        function = self._function(address)
        file, line = self._lines.at(address)
        if function is None:
            return (Frame(None, file, line),) if file else ()
        if function.children not in self._calls:
            self._calls[function.children] = _inlined(self.unit, function.children)
        calls = self._calls[function.children]
        frames: list[Frame] = []
        place: tuple[str | None, int | None] = (file, line)
        for call in reversed(_chain(calls, address)):
            name = self._name(call.name)[0]
            frames.append(Frame(name, *place))
            place = (self._lines.file(call.file), call.line or None)
        name, is_linked = self._name(function.name)
        frames.append(Frame(name, *place, is_linked))
        return tuple(frames)

    def _name(self, place: int | None) -> tuple[str | None, bool]:
        return (None, False) if place is None else self._name_at(place, self.unit)


def _contains(ranges: Ranges, address: int) -> bool:
    return any(low <= address < high for low, high in ranges)


def _chain(calls: list[_Call], address: int) -> list[_Call]:
    """Give the inlined calls over an address, the outermost first."""
    chain: list[_Call] = []
    last = -1
    for number, call in enumerate(calls):
        if call.inside == last and _contains(call.ranges, address):
            chain.append(call)
            last = number
    return chain


def _past(unit: Unit, shape: Abbreviation, at: int) -> tuple[int, bool]:
    """Give where to go on after an entry, and whether that is past its children."""
    if shape.has_children and shape.before_sibling is not None:
        before = unit.skip(shape.before_sibling, at)
        sibling, end = unit.sibling(shape, before)
        if sibling < end:
            raise DwarfError("an entry lies before its sibling")
        return sibling, True
    return unit.skip(shape.steps, at), not shape.has_children


def _functions(unit: Unit, *, deep: bool) -> list[_Function]:
    """Find the functions of a unit that have code; `deep`: those inside others, too."""
    found: list[_Function] = []
    if not unit.has_children:
        return found
    at, depth, end = unit.first_child, 1, len(unit.data)
    unit.debug.work.spend(end)
    while at < end and depth > 0:
        begin = at
        shape, at = unit.shape(at)
        if shape is None:
            depth -= 1
            continue
        if shape.tag == _SUBPROGRAM:
            attributes, first = unit.attributes(shape, at)
            if ranges := unit.ranges(attributes):
                children = first if shape.has_children else 0
                found.append(_Function(ranges, unit.header.start + begin, children))
            inside = deep
        else:
            first = 0
            inside = shape.tag in _SCOPES or (deep and shape.tag in _BLOCKS)
        if inside and shape.has_children:
            at = first or unit.skip(shape.steps, at)
            depth += 1
        else:
            at, past = _past(unit, shape, at)
            depth += not past
        if depth > _DEEPEST:
            raise DwarfError("its entries are nested too deeply")
    return found


def _inlined(unit: Unit, first: int) -> list[_Call]:
    """Find the calls inlined into a function, whose first child lies at a place."""
    found: list[_Call] = []
    if not first:
        return found
    at, end = first, len(unit.data)
    around: list[int] = [-1]
    entries = 0
    while at < end and around:
        entries += 1
        shape, at = unit.shape(at)
        if shape is None:
            around.pop()
            continue
        inside = around[-1]
        if shape.tag == _INLINED:
            attributes, first = unit.attributes(shape, at)
            if ranges := unit.ranges(attributes):
                found.append(_call(unit, ranges, attributes, inside))
                inside = len(found) - 1
        if shape.has_children and shape.tag in (_INLINED, *_BLOCKS):
            at = first if shape.tag == _INLINED else unit.skip(shape.steps, at)
            around.append(inside)
        else:
            at, past = _past(unit, shape, at)
            if not past:
                around.append(_NOWHERE)
        if len(around) > _DEEPEST:
            raise DwarfError("its entries are nested too deeply")
    unit.debug.work.spend(entries)
    return found


def _call(unit: Unit, ranges: Ranges, attributes: dict[int, Value], inside: int) -> _Call:
    origin = next(
        (unit.reference(attributes[link]) for link in SAME if link in attributes), None
    )
    file, line = attributes.get(_CALL_FILE), attributes.get(_CALL_LINE)
    return _Call(ranges, origin, unit.number(file), unit.number(line), inside)
