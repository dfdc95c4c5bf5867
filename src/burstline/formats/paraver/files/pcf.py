"""The labels of a trace, ``.pcf``: names of event types, values and states.

The types of one ``EVENT_TYPE`` share its values: they are a group. A type named again keeps
its last label and the values of all its lists.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from burstline._core import EventClass
from burstline.extrae import STATE_COLORS, STATES, classify
from burstline.formats.intake import Defects, Oddity
from burstline.formats.paraver.files.lines import decode

Color = tuple[int, int, int]

_SECTIONS = frozenset([
    "DEFAULT_OPTIONS", "DEFAULT_SEMANTIC", "STATES", "STATES_COLOR", "GRADIENT_COLOR",
    "GRADIENT_NAMES", "EVENT_TYPE",
])  # fmt: skip
_TYPE = re.compile(r"([+-]?\d{1,9}) +(\d{1,19})(?: +(.+))?", re.DOTALL | re.ASCII)
_VALUE = re.compile(r"(-?\d{1,20}) +(.+)", re.DOTALL | re.ASCII)
_COLOR = re.compile(r"(\d{1,9}) *\{ *(\d{1,3}) *, *(\d{1,3}) *, *(\d{1,3}) *\}")
_LABEL = re.compile(r"(\d{1,18}) +(.+)", re.DOTALL | re.ASCII)
_PRECISION = re.compile(r"PRECISION +(\d{1,3})")
_LARGEST_TYPE = 2**63 - 1
_SPARE_COPIES = 1 << 16


@dataclass(frozen=True, slots=True)
class TypeLabel:
    """Label (may be empty), colour and group of values of an event type."""

    label: str
    gradient: int  # of Extrae: 0 plain, 1 and 9 MPI, 6 miscellaneous, 7 counters
    group: int


@dataclass(frozen=True, slots=True)
class Pcf:
    """All labels of a trace."""

    types: dict[int, TypeLabel] = field(default_factory=dict)
    values: dict[int, dict[int, str]] = field(default_factory=dict)  # by group
    precision: dict[int, int] = field(default_factory=dict)  # decimal digits, by group
    states: dict[int, str] = field(default_factory=dict)
    state_colors: dict[int, Color] = field(default_factory=dict)
    gradient_names: dict[int, str] = field(default_factory=dict)
    gradient_colors: dict[int, Color] = field(default_factory=dict)
    # lines as they stand
    options: tuple[str, ...] = ()
    semantic: tuple[str, ...] = ()
    defects: tuple[Oddity, ...] = field(default=(), compare=False)

    def value_label(self, type: int, value: int) -> str | None:  # noqa: A002 -- the format's word
        """The label of a value of an event type, None if it has none."""
        type_label = self.types.get(type)
        return self.values.get(type_label.group, {}).get(value) if type_label else None


@dataclass(slots=True)
class _Block:
    line: int
    in_values: bool = False
    precision: int | None = None
    values: dict[int, str] = field(default_factory=dict)


def read_pcf(data: bytes) -> Pcf:
    """The labels in a whole ``.pcf``; what cannot be understood is a defect, never an error."""
    return _Reader().read(data)


class _Reader:
    """The section that is being read, and what was read so far."""

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
        return Pcf(
            *self._grouped(),
            states=self.labels["STATES"],
            state_colors=self.colors["STATES_COLOR"],
            gradient_names=self.labels["GRADIENT_NAMES"],
            gradient_colors=self.colors["GRADIENT_COLOR"],
            options=tuple(self.lines["DEFAULT_OPTIONS"]),
            semantic=tuple(self.lines["DEFAULT_SEMANTIC"]),
            defects=self.defects.rows(),
        )

    def _understands(self, line: str) -> bool:
        """Whether a line that is no keyword made sense; adds what it says."""
        if self.section == "EVENT_TYPE":
            block = self.blocks[-1]
            return self._takes_value(line) if block.in_values else self._takes_type(line)
        if self.section in self.lines:
            self.lines[self.section].append(line)
            return True
        if self.section in self.labels and (match := _LABEL.fullmatch(line)):
            self.labels[self.section][int(match[1])] = match[2]
            return True
        if self.section in self.colors and (match := _COLOR.fullmatch(line)):
            red, green, blue = (min(int(part), 255) for part in match.groups()[1:])
            self.colors[self.section][int(match[1])] = (red, green, blue)
            return True
        return False

    def _takes_type(self, line: str) -> bool:
        block = self.blocks[-1]
        if line == "VALUES":
            block.in_values = True
            return True
        if match := _PRECISION.fullmatch(line):
            block.precision = int(match[1])
            return True
        match = _TYPE.fullmatch(line)
        if match is None or int(match[2]) > _LARGEST_TYPE:
            return False
        number, place = int(match[2]), len(self.blocks) - 1
        places = self.places.setdefault(number, [])
        if not places or places[-1] != place:
            places.append(place)
        self.names[number] = (match[3] or "", int(match[1]))
        return True

    def _takes_value(self, line: str) -> bool:
        match = _VALUE.fullmatch(line)
        if match is None:
            return False
        value = int(match[1])  # from 2**63 on: the same bits below 0, as in the records
        if not -(2**63) <= value < 2**64:
            return False
        self.blocks[-1].values[value - 2**64 if value >= 2**63 else value] = match[2]
        return True

    def _grouped(
        self,
    ) -> tuple[dict[int, TypeLabel], dict[int, dict[int, str]], dict[int, int]]:
        """Types, values and precision by group: types of the same blocks share one."""
        groups: dict[tuple[int, ...], int] = {}
        values: dict[int, dict[int, str]] = {}
        precision: dict[int, int] = {}
        types: dict[int, TypeLabel] = {}
        # a list of values is copied for every other set of blocks it belongs to: the allowance
        # keeps a hostile file from turning that into the square of its size
        allowance = _SPARE_COPIES + 4 * sum(len(block.values) for block in self.blocks)
        for number, (label, gradient) in self.names.items():
            type_places = tuple(self.places[number])
            is_numbered = type_places in groups
            group = groups.setdefault(type_places, len(groups))
            types[number] = TypeLabel(label, gradient, group)
            if is_numbered:
                continue
            allowance -= sum(len(self.blocks[place].values) for place in type_places)
            if allowance < 0 and len(type_places) > 1:
                text = f"values of type {number}"
                self.defects.note_line(
                    "pcf_redeclared", "loss", self.blocks[type_places[-1]].line, text
                )
                type_places = type_places[-1:]
            table: dict[int, str] = {}
            for place in type_places:
                table.update(self.blocks[place].values)
                digits = self.blocks[place].precision
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
    """A whole ``.pcf``, without the types and values that Paraver would drop in silence."""
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
    for number, type_label in pcf.types.items():
        if 0 <= number <= _LARGEST_WRITTEN:
            members.setdefault(type_label.group, []).append(number)
    sections += [_written_group(pcf, group, types) for group, types in members.items()]
    text = "\n\n\n".join("\n".join(section) for section in sections)
    return f"{text}\n".encode(errors="replace")


def _one_line(text: str) -> str:
    return text.translate({9: " ", 10: " ", 13: " "}).strip(" ")


def _free_lines(lines: tuple[str, ...]) -> list[str]:
    clean = map(_one_line, lines)
    return [line for line in clean if line.split() and line[0] != "#" and line not in _SECTIONS]


def _written_options(options: tuple[str, ...]) -> list[str]:
    """The options of the source, except the level and the unit of our times."""
    rest = [line for line in _free_lines(options) if line.split()[0] not in {"LEVEL", "UNITS"}]
    return [*_DEFAULT_OPTIONS[:2], *(rest or _DEFAULT_OPTIONS[2:])]


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
        of_type = pcf.types[number]
        label = _one_line(of_type.label) or f"Type {number}"
        lines.append(f"{of_type.gradient}    {number}    {label}")
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
