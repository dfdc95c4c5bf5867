"""An archive: its anchor, what it defines, and the bytes of its events in ``NAME/N.evt``."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline._core import Defined
from burstline.columns import Integers
from burstline.errors import FormatError, MissingExtraError, ParameterError, readable
from burstline.formats.definitions import Account
from burstline.formats.files import is_plain, require_plain
from burstline.formats.intake import Defects
from burstline.formats.otf2.library import VARIABLE, find_library
from burstline.formats.otf2.numbers import COMM_GROUP, COMM_LOCATIONS, NOWHERE

Ending = tuple[int, int, str, bytes]
"""How the library ended: signal, status, its name, what it complained of."""

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
    """A location."""

    name: int
    type: int
    events: int  # that it claims to have
    group: int


class GroupDefinition(NamedTuple):
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
class ArchiveDefinitions:
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
    groups: dict[int, GroupDefinition] = field(default_factory=dict)
    # the groups that list the locations of a paradigm by rank
    worlds: list[GroupDefinition] = field(default_factory=list)
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
    # what becomes of them: names and groups are shared by reference until there are tables
    account: Account = field(default_factory=Account)

    def text(self, reference: int) -> str:
        """A text, empty where it is not defined."""
        return self.texts.get(reference, "")

    def group(self, reference: int) -> LocationGroup:
        """A group of locations, which has neither name nor node where it is not defined."""
        return self.location_groups.get(reference, LocationGroup(NOWHERE, 0, NOWHERE))


_UNSIGNED: Final = 0xFFFFFFFFFFFFFFFF
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


def decode(rows: Integers, text: npt.NDArray[np.int8], defects: Defects) -> ArchiveDefinitions:
    """The definitions in the kernel's rows: kind, length, and as many integers each."""
    definitions, content = ArchiveDefinitions(), text.tobytes()
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


def _add_group(definitions: ArchiveDefinitions, row: list[int], defects: Defects) -> None:
    reference, name, kind, paradigm, flags = row[:5]
    group = GroupDefinition(name, kind, paradigm, flags, tuple(row[5:]))
    first = definitions.groups.get(reference)
    if kind == COMM_LOCATIONS:
        definitions.worlds.append(group)
    if first is None or (first.type != COMM_GROUP and kind == COMM_GROUP):
        definitions.groups[reference] = group
    if first is not None and first != group:
        defects.note("defined_twice", "info", f"group {reference}")


def _add_once(table: dict[int, _T], reference: int, value: _T, defects: Defects) -> None:
    """Add a definition, or note that the reference is defined, because some writers do so."""
    if table.setdefault(reference, value) != value:
        kind = type(value).__name__.lower() if hasattr(value, "_fields") else "reference"
        defects.note("defined_twice", "info", f"{kind} {reference}")


SUFFIX: Final = ".otf2"
MAGIC: Final = b"OTF2"
"""Behind two bytes: the length of this mark, and the order of bytes."""

_HEAD: Final = 16
_PARTS: Final = (".def", ".evt", ".snap", ".marker", ".thumb")
_MOST_SHOWN: Final = 5
_ZLIB, _SION = 2, 2
_SECONDS_BASE: Final = 2
_BYTES_A_SECOND: Final = 1 << 20
"""Slower than that, the library goes round in damaged bytes."""
_MEMORY_BASE: Final = 1 << 30
_MEMORY_PER_BYTE: Final = 64
_MOST_MEMORY: Final = 16 << 30
_WAY_OUT: Final = "Check that the file of definitions (.def) stands beside the anchor"


@dataclass(frozen=True, slots=True, eq=False)
class Archive:
    """An archive that was opened."""

    anchor: Path  # its anchor file
    library: str  # the library that reads it
    defined: ArchiveDefinitions  # what it defines

    def event_bytes(self, location: int) -> int:
        """The size of a location's events, 0 without a file."""
        return file_size(self.anchor.with_suffix("") / f"{location}.evt")


def file_size(path: Path) -> int:
    """The size of a file, 0 without one."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def find_anchor(path: Path) -> Path | None:
    """The anchor that a path is, or that is the only one in a folder."""
    if is_plain(path):
        return path if is_anchor(path) else None
    if not path.is_dir():
        return None
    for pattern in (f"*{SUFFIX}", f"*/*{SUFFIX}"):
        anchors = [file for file in sorted(path.glob(pattern)) if is_anchor(file)]
        if anchors:
            return anchors[0] if len(anchors) == 1 else None
    return None


def require_anchor(path: Path) -> Path:
    """The anchor of an archive; an error says what there is instead of one."""
    anchor = find_anchor(path)
    if anchor is not None:
        return anchor
    candidates = named_as_anchors(path)
    anchors = [file for file in candidates if is_anchor(file)]
    beside = anchor_beside(path)
    if anchors:
        shown = ", ".join(str(file.relative_to(path)) for file in anchors[:_MOST_SHOWN])
        actual, way_out = f"{len(anchors)} of them: {shown}", f"Give one, as {anchors[0]}"
    elif beside is not None:
        actual, way_out = "files of one, without it", f"Give the anchor: {beside}"
    elif candidates:
        actual = f"{candidates[0].name}, which does not begin like one"
        way_out = "It is cut or damaged: copy it again from where the trace was recorded"
    else:
        actual, way_out = "none", "Give the anchor itself"
    expected = f"the anchor of an OTF2 archive ({SUFFIX}), or a folder with one"
    raise FormatError(path, None, expected=expected, found=actual, way_out=way_out)


def named_as_anchors(folder: Path) -> list[Path]:
    """The files of a folder that are named like anchors, or else of the folders in it."""
    if not folder.is_dir():
        return []
    return sorted(folder.glob(f"*{SUFFIX}")) or sorted(folder.glob(f"*/*{SUFFIX}"))


def anchor_beside(path: Path) -> Path | None:
    """The anchor of the archive that a file, or the folder of events, belongs to."""
    path = path.resolve()
    named = [name for name in (path, path.parent) if name.name]
    pairs = ((name.with_suffix(SUFFIX), name.with_name(name.name + SUFFIX)) for name in named)
    anchors = (anchor for pair in pairs for anchor in pair)
    return next((file for file in anchors if file != path and is_anchor(file)), None)


def is_anchor(path: Path) -> bool:
    """Whether the first bytes of a file are those of an anchor."""
    try:
        require_plain(path)
        with path.open("rb") as file:
            return begins_anchor(file.read(_HEAD))
    except OSError:
        return False


def is_part(path: Path) -> bool:
    """Whether a file or folder belongs to an archive, with or without its anchor."""
    if path.is_dir():
        return bool(named_as_anchors(path)) or any(path.glob("*.evt"))
    return path.suffix in _PARTS and anchor_beside(path) is not None


def begins_anchor(head: bytes) -> bool:
    """Whether a file that begins with `head` is an anchor."""
    return head[2 : 2 + len(MAGIC)] == MAGIC


def open_archive(anchor: Path, defects: Defects, account: Account) -> Archive:
    """An archive with its definitions, which are to be charged to an account."""
    if readable(anchor) != str(anchor):
        raise ParameterError(f"{anchor}: the library of OTF2 takes only names that are UTF-8")
    library = find_library()
    for file in (anchor.with_suffix(".def"), *anchor.with_suffix("").glob("*")):
        is_plain(file)  # the library opens them
    size = file_size(anchor.with_suffix(".def"))
    try:
        rows, text, ending = _core.otf2_definitions(
            library, str(anchor), 16 * size + 1024, 2 * size + 1024, *most_for(size)
        )
    except RuntimeError as error:
        way_out = f"{library} is not a library of OTF2: {error}; set {VARIABLE} to one"
        raise MissingExtraError("otf2", "reading an OTF2 archive", way_out=way_out) from error
    defined = decode(rows, text, defects)
    defined.account = account
    _refuse_stored(anchor, defined)
    trouble = describe(ending)
    if not defined.locations:
        expected, way_out = "an OTF2 archive with locations", _WAY_OUT
        actual = trouble or "none defined"
        raise FormatError(anchor, None, expected=expected, found=actual, way_out=way_out)
    if trouble:
        defects.note("definitions_incomplete", "error", trouble)
    return Archive(anchor, library, defined)


def most_for(size: int) -> tuple[int, int]:
    """The seconds and the bytes of memory that reading definitions of a size may take."""
    # A count in a damaged anchor sends the library round billions of times.
    memory = min(_MEMORY_BASE + _MEMORY_PER_BYTE * size, _MOST_MEMORY)
    return _SECONDS_BASE + size // _BYTES_A_SECOND, memory


def describe(ending: Ending) -> str:
    """What went wrong in the library, empty if nothing did."""
    number, status, name, complaint = ending
    if number:
        signals = {number.value: number.name for number in signal.Signals}
        return f"the library failed: {signals.get(number, number)}"
    if not status:
        return ""
    words = complaint.decode("utf-8", "replace").strip()
    return words or name or "it cannot be opened"


def _refuse_stored(anchor: Path, defined: ArchiveDefinitions) -> None:
    for actual, refused, name in (
        (defined.compression, _ZLIB, "compressed with zlib"),
        (defined.substrate, _SION, "stored with SIONlib"),
    ):
        if actual == refused and VARIABLE not in os.environ:
            way_out = (
                f"one that does is needed: set {VARIABLE} to the path of its libotf2.so, or "
                "record without it"
            )
            text = f"{anchor} is {name}, which the library of the extra does not read;"
            raise MissingExtraError("otf2", text, way_out=way_out)
