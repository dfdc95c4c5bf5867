r"""The labels of a trace, ``.pcf``: what its numbers are called.

::

    bytes --read_pcf--> Pcf(types, values by group, states, …) --write_pcf--> bytes

One list of values belongs to all types named before it in the same ``EVENT_TYPE``: they
are a group. A type named again keeps its last label and the values of all its lists.
Paraver loses all of a file with ``\r\n`` and every id beyond 32 bits; here both are read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from burstline._core import EventClass
from burstline.extrae import STATE_COLORS, STATES, classify
from burstline.formats.intake import Defect, Defects
from burstline.formats.paraver.files.encoding import decode

Color = tuple[int, int, int]

_SECTIONS = frozenset(
    [
        "DEFAULT_OPTIONS",
        "DEFAULT_SEMANTIC",
        "STATES",
        "STATES_COLOR",
        "GRADIENT_COLOR",
        "GRADIENT_NAMES",
        "EVENT_TYPE",
    ]
)
_TYPE = re.compile(r"([+-]?\d{1,9}) +(\d{1,19})(?: +(.+))?", re.DOTALL | re.ASCII)
_VALUE = re.compile(r"(-?\d{1,20}) +(.+)", re.DOTALL | re.ASCII)
_COLOR = re.compile(r"(\d{1,9}) *\{ *(\d{1,3}) *, *(\d{1,3}) *, *(\d{1,3}) *\}")
_LABEL = re.compile(r"(\d{1,18}) +(.+)", re.DOTALL | re.ASCII)
_PRECISION = re.compile(r"PRECISION +(\d{1,3})")
_LARGEST_TYPE = 2**63 - 1
_SPARE_COPIES = 1 << 16


@dataclass(frozen=True, slots=True)
class TypeLabel:
    """Label (may be empty), colour and group of values of an event type.

    Colours in Extrae's files: 0 plain, 1 and 9 MPI, 6 miscellaneous, 7 counters.
    """

    label: str
    gradient: int
    group: int


@dataclass(frozen=True, slots=True)
class Pcf:
    """All labels of a trace.

    `values` are by group, a group without any is missing; `precision` says by group how many
    decimal digits of a value are fractional; `options` and `semantic` are lines as they stand.
    Modern Paraver ignores gradients. Defects are no part of a comparison.
    """

    types: dict[int, TypeLabel] = field(default_factory=dict)
    values: dict[int, dict[int, str]] = field(default_factory=dict)
    precision: dict[int, int] = field(default_factory=dict)
    states: dict[int, str] = field(default_factory=dict)
    state_colors: dict[int, Color] = field(default_factory=dict)
    gradient_names: dict[int, str] = field(default_factory=dict)
    gradient_colors: dict[int, Color] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    semantic: tuple[str, ...] = ()
    defects: tuple[Defect, ...] = field(default=(), compare=False)

    def type_label(self, type: int) -> str | None:  # noqa: A002 -- the format's word
        """The label of an event type, None if it has none."""
        known = self.types.get(type)
        return known.label or None if known else None

    def value_label(self, type: int, value: int) -> str | None:  # noqa: A002 -- same
        """The label of a value of an event type, None if it has none."""
        known = self.types.get(type)
        return self.values.get(known.group, {}).get(value) if known else None


NO_LABELS: Final = Pcf()
"""The labels of a trace without ``.pcf``."""


class _Block:
    """One ``EVENT_TYPE``: the types it names, their values and precision."""

    __slots__ = ("in_values", "line", "precision", "values")

    def __init__(self, line: int) -> None:
        self.line = line
        self.values: dict[int, str] = {}
        self.precision: int | None = None
        self.in_values = False


def read_pcf(data: bytes) -> Pcf:
    r"""The labels of a whole ``.pcf``, as far as they can be understood.

    O(bytes) time and memory, and never an error: labels only refine, and the rest is counted in
    the defects. Lines that are not UTF-8 are read as Latin-1. Values from 2**63 on are those
    of the same bits below 0, as in the records.

    >>> pcf = read_pcf(b"EVENT_TYPE\n7 42000050 PAPI_TOT_INS [Instr]\n")
    >>> pcf.types[42000050].label
    'PAPI_TOT_INS [Instr]'
    """
    return _Reader().read(data)


class _Reader:
    """Where in the file we are, and what was read so far."""

    def __init__(self) -> None:
        self.defects = Defects()
        self.section = ""
        self.lines: dict[str, list[str]] = {"DEFAULT_OPTIONS": [], "DEFAULT_SEMANTIC": []}
        self.labels: dict[str, dict[int, str]] = {"STATES": {}, "GRADIENT_NAMES": {}}
        self.colors: dict[str, dict[int, Color]] = {"STATES_COLOR": {}, "GRADIENT_COLOR": {}}
        self.blocks: list[_Block] = []
        self.names: dict[int, tuple[str, int]] = {}
        self.places: dict[int, list[int]] = {}

    def read(self, data: bytes) -> Pcf:
        for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
            if raw.endswith(b"\r"):
                self.defects.note_line("pcf_crlf", "info", number, "a line that ends in \\r\\n")
            text, is_utf8 = decode(raw)
            line = text.replace("\t", " ").strip(" \r")
            if not is_utf8:
                self.defects.note_line("pcf_encoding", "info", number, line)
            if line in _SECTIONS:
                self.section = line
                if line == "EVENT_TYPE":
                    self.blocks.append(_Block(number))
            elif line and not line.startswith("#") and not self._understands(line):
                self.defects.note_line("pcf_line", "info", number, line)
        types, values, precision = _grouped(self.names, self.places, self.blocks, self.defects)
        return Pcf(
            types=types,
            values=values,
            precision=precision,
            states=self.labels["STATES"],
            state_colors=self.colors["STATES_COLOR"],
            gradient_names=self.labels["GRADIENT_NAMES"],
            gradient_colors=self.colors["GRADIENT_COLOR"],
            options=tuple(self.lines["DEFAULT_OPTIONS"]),
            semantic=tuple(self.lines["DEFAULT_SEMANTIC"]),
            defects=self.defects.rows(),
        )

    def _understands(self, line: str) -> bool:
        """Take in one line that is no keyword; return whether it made sense here."""
        if self.section == "EVENT_TYPE":
            block = self.blocks[-1]
            return self._takes_value(line) if block.in_values else self._takes_type(line)
        if self.section in self.lines:
            self.lines[self.section].append(line)
            return True
        if self.section in self.labels and (found := _LABEL.fullmatch(line)):
            self.labels[self.section][int(found[1])] = found[2]
            return True
        if self.section in self.colors and (found := _COLOR.fullmatch(line)):
            red, green, blue = (min(int(part), 255) for part in found.groups()[1:])
            self.colors[self.section][int(found[1])] = (red, green, blue)
            return True
        return False

    def _takes_type(self, line: str) -> bool:
        block = self.blocks[-1]
        if line == "VALUES":
            block.in_values = True
            return True
        if found := _PRECISION.fullmatch(line):
            block.precision = int(found[1])
            return True
        found = _TYPE.fullmatch(line)
        if found is None or int(found[2]) > _LARGEST_TYPE:
            return False
        number, here = int(found[2]), len(self.blocks) - 1
        places = self.places.setdefault(number, [])
        if not places or places[-1] != here:
            places.append(here)
        self.names[number] = (found[3] or "", int(found[1]))
        return True

    def _takes_value(self, line: str) -> bool:
        found = _VALUE.fullmatch(line)
        if found is None:
            return False
        value = int(found[1])
        if not -(2**63) <= value < 2**64:
            return False
        self.blocks[-1].values[value - 2**64 if value >= 2**63 else value] = found[2]
        return True


def _grouped(
    names: dict[int, tuple[str, int]],
    places: dict[int, list[int]],
    blocks: list[_Block],
    defects: Defects,
) -> tuple[dict[int, TypeLabel], dict[int, dict[int, str]], dict[int, int]]:
    """Types, values and precision by group: types of the same blocks share one."""
    groups: dict[tuple[int, ...], int] = {}
    values: dict[int, dict[int, str]] = {}
    precision: dict[int, int] = {}
    types: dict[int, TypeLabel] = {}
    # a list of values is copied for every other set of blocks it belongs to: the allowance
    # keeps a hostile file from turning that into the square of its size
    allowance = _SPARE_COPIES + 4 * sum(len(block.values) for block in blocks)
    for number, (label, gradient) in names.items():
        mine = tuple(places[number])
        is_known = mine in groups
        group = groups.setdefault(mine, len(groups))
        types[number] = TypeLabel(label, gradient, group)
        if is_known:
            continue
        allowance -= sum(len(blocks[place].values) for place in mine)
        if allowance < 0 and len(mine) > 1:
            found = f"values of type {number}"
            defects.note_line("pcf_redeclared", "loss", blocks[mine[-1]].line, found)
            mine = mine[-1:]
        table: dict[int, str] = {}
        for place in mine:
            table.update(blocks[place].values)
            digits = blocks[place].precision
            if digits is not None:
                precision[group] = digits
        if table:
            values[group] = table
    return types, values, precision


_DEFAULT_OPTIONS = (
    "LEVEL               THREAD",
    "UNITS               NANOSEC",
    "LOOK_BACK           100",
    "SPEED               1",
    "FLAG_ICONS          ENABLED",
    "NUM_OF_STATE_COLORS 1000",
    "YMAX_SCALE          37",
)
_DEFAULT_SEMANTIC = ("THREAD_FUNC          State As Is",)
_LARGEST_WRITTEN = 2**31 - 1
_CALL_LIKE = frozenset([EventClass.MPI_CALL, EventClass.REGION])


def write_pcf(pcf: Pcf) -> bytes:
    """A whole ``.pcf`` that Paraver reads all of.

    The level THREAD, times in nanoseconds, the table of states completed, one ``EVENT_TYPE``
    per group. What Paraver would drop in silence is left out: types from 2**31 on and values
    beyond 32 bits. A type without a label is called by its number, and a table of a call-like
    type gets the value 0 that ends the call.

    >>> pcf = Pcf({50000001: TypeLabel("MPI", 9, 0)}, {0: {1: "MPI_Send"}})
    >>> print(write_pcf(pcf).decode().split("EVENT_TYPE")[1].strip())
    9    50000001    MPI
    VALUES
    1      MPI_Send
    0      Outside MPI
    """
    states = {**STATES, **pcf.states}
    colors = {**STATE_COLORS, **pcf.state_colors}
    sections = [
        ["DEFAULT_OPTIONS", "", *_written_options(pcf.options)],
        ["DEFAULT_SEMANTIC", "", *(_free_lines(pcf.semantic) or _DEFAULT_SEMANTIC)],
        ["STATES", *_written_labels(states)],
        ["STATES_COLOR", *_written_colors(colors)],
    ]
    if pcf.gradient_colors:
        sections.append(["GRADIENT_COLOR", *_written_colors(pcf.gradient_colors)])
    if pcf.gradient_names:
        sections.append(["GRADIENT_NAMES", *_written_labels(pcf.gradient_names)])
    members: dict[int, list[int]] = {}
    for number, known in pcf.types.items():
        if 0 <= number <= _LARGEST_WRITTEN:
            members.setdefault(known.group, []).append(number)
    sections += [_written_group(pcf, group, types) for group, types in members.items()]
    text = "\n\n\n".join("\n".join(section) for section in sections)
    return f"{text}\n".encode(errors="replace")


def _one_line(text: str) -> str:
    return text.translate({9: " ", 10: " ", 13: " "}).strip(" ")


def _free_lines(lines: tuple[str, ...]) -> list[str]:
    clean = map(_one_line, lines)
    return [line for line in clean if line.split() and line[0] != "#" and line not in _SECTIONS]


def _written_options(options: tuple[str, ...]) -> list[str]:
    """The options of the source, but the two that our times and levels rely on."""
    kept = [line for line in _free_lines(options) if line.split()[0] not in {"LEVEL", "UNITS"}]
    return [*_DEFAULT_OPTIONS[:2], *(kept or _DEFAULT_OPTIONS[2:])]


def _written_labels(labels: dict[int, str]) -> list[str]:
    clean = ((number, _one_line(labels[number])) for number in sorted(labels))
    return [f"{number}    {label}" for number, label in clean if label]


def _written_colors(colors: dict[int, Color]) -> list[str]:
    return [
        f"{number}    {{{','.join(map(str, colors[number]))}}}" for number in sorted(colors)
    ]


def _written_group(pcf: Pcf, group: int, types: list[int]) -> list[str]:
    lines = ["EVENT_TYPE"]
    for number in types:
        known = pcf.types[number]
        lines.append(
            f"{known.gradient}    {number}    {_one_line(known.label) or f'Type {number}'}"
        )
    if group in pcf.precision:
        lines.append(f"PRECISION {pcf.precision[group]}")
    values = {
        value: _one_line(label)
        for value, label in pcf.values.get(group, {}).items()
        if -_LARGEST_WRITTEN <= value <= _LARGEST_WRITTEN and _one_line(label)
    }
    if not values:
        return lines
    classes = {classify(number, pcf.types[number].label) for number in types}
    if classes & _CALL_LIKE:
        values.setdefault(0, "Outside MPI" if EventClass.MPI_CALL in classes else "End")
    return [*lines, "VALUES", *(f"{value}      {label}" for value, label in values.items())]
