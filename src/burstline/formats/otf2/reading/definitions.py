"""What an archive defines, by kind and reference; of two definitions the first counts.

::

    rows of integers, text ──decode──► Definitions
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from burstline._core import Defined
from burstline.formats.otf2.numbers import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    import numpy.typing as npt

    from burstline.columns import Integers
    from burstline.formats.intake import Defects

_T = TypeVar("_T")


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


_UNSIGNED: Final = 0xFFFFFFFFFFFFFFFF
_COMM_LOCATIONS: Final = 4
_COMM_GROUP: Final = 5
_TABLES: Final[Mapping[int, tuple[str, Callable[[list[int]], Any]]]] = {
    Defined.LOCATION: ("locations", lambda row: Location(*row)),
    Defined.LOCATION_GROUP: ("location_groups", lambda row: LocationGroup(*row)),
    Defined.REGION: ("regions", lambda row: Region(*row)),
    Defined.METRIC_MEMBER: ("metric_members", lambda row: Member(*row)),
    Defined.METRIC_CLASS: ("metrics", lambda row: tuple(row[1:])),
    Defined.COMMUNICATOR: ("communicators", lambda row: (row[0], row[1], NOWHERE)),
    Defined.INTER_COMMUNICATOR: ("communicators", lambda row: tuple(row[:3])),
    Defined.WINDOW: ("windows", lambda row: row[1]),
    Defined.NODE: ("nodes", lambda row: tuple(row[:3])),
    Defined.CALLING_CONTEXT: ("contexts", lambda row: tuple(row[:3])),
    Defined.PARAMETER: ("parameters", lambda row: tuple(row[:2])),
    Defined.ATTRIBUTE: ("attributes", lambda row: tuple(row[:2])),
    Defined.SOURCE_CODE_LOCATION: ("source_lines", lambda row: tuple(row[:2])),
}
"""Where definitions of a kind go, and what is made of their numbers behind the reference."""


def decode(rows: Integers, text: npt.NDArray[np.int8], defects: Defects) -> Definitions:
    """The definitions in the kernel's rows: kind, length, and as many integers each."""
    definitions, content = Definitions(), text.tobytes()
    numbers = rows.tolist()
    position = 0
    while position + 2 <= len(numbers):
        kind, length = numbers[position], numbers[position + 1]
        row = numbers[position + 2 : position + 2 + length]
        position += 2 + length
        if kind == Defined.TEXT:
            words = content[row[1] : row[1] + row[2]].decode("utf-8", "replace")
            definitions.texts.setdefault(row[0], words)
        elif kind == Defined.GROUP:
            _add_group(definitions, row, defects)
        elif kind == Defined.ARCHIVE:
            definitions.substrate, definitions.compression, definitions.version = row
        elif kind == Defined.CLOCK:
            definitions.clock = (row[0] & _UNSIGNED, row[1] & _UNSIGNED, row[2] & _UNSIGNED)
        elif kind == Defined.METRIC_INSTANCE:
            members = definitions.metrics.get(row[1], ())
            _add_once(definitions.metrics, row[0], members, defects)
        elif kind in _TABLES:
            table, make = _TABLES[kind]
            reference = row[0] & _UNSIGNED
            _add_once(getattr(definitions, table), reference, make(row[1:]), defects)
    return definitions


def _add_group(definitions: Definitions, row: list[int], defects: Defects) -> None:
    reference, name, kind, paradigm, flags = row[:5]
    group = Group(name, kind, paradigm, flags, tuple(row[5:]))
    first = definitions.groups.get(reference)
    if kind == _COMM_LOCATIONS:
        definitions.worlds.append(group)
    if first is None or (first.type != _COMM_GROUP and kind == _COMM_GROUP):
        definitions.groups[reference] = group
    if first is not None and first != group:
        defects.note("defined_twice", "info", f"group {reference}")


def _add_once(table: dict[int, _T], reference: int, value: _T, defects: Defects) -> None:
    """Add a definition, or note that the reference is defined, because some writers do so."""
    if table.setdefault(reference, value) != value:
        kind = type(value).__name__.lower() if hasattr(value, "_fields") else "reference"
        defects.note("defined_twice", "info", f"{kind} {reference}")
