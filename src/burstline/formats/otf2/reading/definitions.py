"""What an archive defines: rows of integers on their way to names, places and meanings.

::

    rows of integers, text ──decode──► Definitions: by kind, by reference

A reference that is defined twice means what it was defined as first; the second definition is
counted, because some writers do so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from burstline._core import Defined
from burstline.formats.otf2.numbers import NOWHERE

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from burstline.columns import Integers
    from burstline.formats.intake import Defects


class Region(NamedTuple):
    """A region: references to text, role and paradigm by number, lines."""

    name: int
    canonical: int
    role: int
    paradigm: int
    file: int
    begin_line: int
    end_line: int


class LocationGroup(NamedTuple):
    """A group of locations: name, type, node, the group that made it."""

    name: int
    type: int
    node: int
    creator: int = NOWHERE


class Location(NamedTuple):
    """A location: name, type, events it claims to have, its group."""

    name: int
    type: int
    events: int
    group: int


class Group(NamedTuple):
    """A group of locations or ranks."""

    name: int
    type: int
    paradigm: int
    flags: int
    members: tuple[int, ...]


class Member(NamedTuple):
    """A metric: name, type, mode, type and scale of values, unit."""

    name: int
    type: int
    mode: int
    value: int
    base: int
    exponent: int
    unit: int


@dataclass(slots=True, eq=False)
class Definitions:
    """The definitions of an archive, by reference."""

    # how the archive is stored, and the library that wrote it as ``major * 10000 + minor * 100
    # + fix``
    substrate: int = 0
    compression: int = 0
    version: int = 0
    # ticks a second, first tick, length in ticks; ticks a second are 0 without a definition
    clock: tuple[int, int, int] = (0, 0, 0)
    texts: dict[int, str] = field(default_factory=dict)
    locations: dict[int, Location] = field(default_factory=dict)
    location_groups: dict[int, LocationGroup] = field(default_factory=dict)
    nodes: dict[int, tuple[int, int, int]] = field(default_factory=dict)  # name, class, parent
    regions: dict[int, Region] = field(default_factory=dict)
    # those a communicator may name; of equal reference the last of ranks counts
    groups: dict[int, Group] = field(default_factory=dict)
    # the groups that list the locations of a paradigm by rank
    worlds: list[Group] = field(default_factory=list)
    metric_members: dict[int, Member] = field(default_factory=dict)
    # members of each class and instance
    metrics: dict[int, tuple[int, ...]] = field(default_factory=dict)
    # name and group, and a second group between groups
    communicators: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    # name and type
    parameters: dict[int, tuple[int, int]] = field(default_factory=dict)
    attributes: dict[int, tuple[int, int]] = field(default_factory=dict)
    windows: dict[int, int] = field(default_factory=dict)  # communicator of each
    # region, place and parent of each calling context
    contexts: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    # file and line of each place in a source
    source_lines: dict[int, tuple[int, int]] = field(default_factory=dict)

    def text(self, reference: int) -> str:
        """A text, empty where it is not defined."""
        return self.texts.get(reference, "")


_T = TypeVar("_T")

_UNSIGNED: Final = 0xFFFFFFFFFFFFFFFF
_COMM_LOCATIONS: Final = 4
_COMM_GROUP: Final = 5


def decode(rows: Integers, text: npt.NDArray[np.int8], odd: Defects) -> Definitions:
    """Make definitions of the kernel's rows."""
    taking = _Taking(Definitions(), text.tobytes(), odd)
    numbers = rows.tolist()
    at = 0
    while at + 2 <= len(numbers):
        kind, length = numbers[at], numbers[at + 1]
        taking.take(kind, numbers[at + 2 : at + 2 + length])
        at += 2 + length
    return taking.found


class _Taking:
    """Takes in one row after the other."""

    def __init__(self, found: Definitions, text: bytes, odd: Defects) -> None:
        self.found, self._text, self._odd = found, text, odd

    def take(self, kind: int, row: list[int]) -> None:
        found = self.found
        if kind == Defined.TEXT:
            words = self._text[row[1] : row[1] + row[2]].decode("utf-8", "replace")
            found.texts.setdefault(row[0], words)
        elif kind == Defined.LOCATION:
            self._once(found.locations, row[0] & _UNSIGNED, Location(*row[1:]))
        elif kind == Defined.LOCATION_GROUP:
            self._once(found.location_groups, row[0], LocationGroup(*row[1:]))
        elif kind == Defined.REGION:
            self._once(found.regions, row[0], Region(*row[1:]))
        elif kind == Defined.GROUP:
            self._take_group(row)
        elif kind == Defined.ARCHIVE:
            found.substrate, found.compression, found.version = row
        elif kind == Defined.CLOCK:
            found.clock = (row[0] & _UNSIGNED, row[1] & _UNSIGNED, row[2] & _UNSIGNED)
        else:
            self._take_other(kind, row)

    def _take_other(self, kind: int, row: list[int]) -> None:
        found, ref = self.found, row[0]
        if kind == Defined.METRIC_MEMBER:
            self._once(found.metric_members, ref, Member(*row[1:]))
        elif kind == Defined.METRIC_CLASS:
            self._once(found.metrics, ref, tuple(row[2:]))
        elif kind == Defined.METRIC_INSTANCE:
            self._once(found.metrics, ref, found.metrics.get(row[1], ()))
        elif kind == Defined.COMMUNICATOR:
            self._once(found.communicators, ref, (row[1], row[2], NOWHERE))
        elif kind == Defined.INTER_COMMUNICATOR:
            self._once(found.communicators, ref, (row[1], row[2], row[3]))
        elif kind == Defined.WINDOW:
            self._once(found.windows, ref, row[2])
        else:
            self._take_plain(kind, row)

    def _take_plain(self, kind: int, row: list[int]) -> None:
        found, ref = self.found, row[0]
        triples = {
            Defined.NODE: found.nodes,
            Defined.CALLING_CONTEXT: found.contexts,
        }
        pairs = {
            Defined.PARAMETER: found.parameters,
            Defined.ATTRIBUTE: found.attributes,
            Defined.SOURCE_CODE_LOCATION: found.source_lines,
        }
        if kind in triples:
            self._once(triples[Defined(kind)], ref, (row[1], row[2], row[3]))
        elif kind in pairs:
            self._once(pairs[Defined(kind)], ref, (row[1], row[2]))

    def _take_group(self, row: list[int]) -> None:
        ref, name, kind, paradigm, flags = row[:5]
        group = Group(name, kind, paradigm, flags, tuple(row[5:]))
        known = self.found.groups.get(ref)
        if kind == _COMM_LOCATIONS:
            self.found.worlds.append(group)
        if known is None or (known.type != _COMM_GROUP and kind == _COMM_GROUP):
            self.found.groups[ref] = group
        if known is not None and known != group:
            self._odd.note("defined_twice", "info", f"group {ref}")

    def _once(self, known: dict[int, _T], ref: int, value: _T) -> None:
        if known.setdefault(ref, value) != value:
            kind = type(value).__name__.lower() if hasattr(value, "_fields") else "reference"
            self._odd.note("defined_twice", "info", f"{kind} {ref}")
