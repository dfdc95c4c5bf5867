"""Regions of an archive: operations of MPI, and all others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.extrae import RECORDED_REGIONS
from burstline.formats.otf2.numbers import MPI, NOWHERE, ROLES
from burstline.operations import CODES, NAMES
from burstline.schema import UNKNOWN, row_table

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    from burstline.formats.otf2.reading.definitions import Definitions, Region


_PARADIGMS: Final = {
    MPI: "mpi",
    **dict.fromkeys((0, 1, 2), "user"),
    **dict.fromkeys((3, 9), "openmp"),
    **dict.fromkeys((5, 18, 19, 23), "gpu"),
    **dict.fromkeys((7, 14, 15, 16, 17), "pthread"),
}
_BARRIERS: Final = ("barrier", "implicit_barrier")
_AS_EXTRAE: Final = {
    role: RECORDED_REGIONS[role]
    for role in ("loop", "sections", "single", "master", "barrier", "implicit_barrier", "team")
}
_PREFIX: Final = "MPI_"


class Regions:
    """The regions that an archive defines, then a team on one of its threads, then unknown.

    `operations` are the names behind codes of operations.
    """

    def __init__(self, defined: Definitions) -> None:
        self._defined = defined
        self._regions = list(defined.regions.values())
        self.operations = list(NAMES)
        self._codes = dict(CODES)
        self._is_marked = any(region.paradigm == MPI for region in self._regions)
        codes = [self._operation(region) for region in self._regions]
        barriers = [_role(region.role) in _BARRIERS for region in self._regions]
        # For the kernel: reference, operation (-1 for what is not MPI), whether a barrier.
        self.columns = (
            np.array(list(defined.regions), np.uint32),
            np.array(codes, np.int32),
            np.array(barriers, np.uint8),
        )
        self.team_row = len(self._regions)
        self.unknown_row = self.team_row + 1
        self._contexts = list(defined.contexts.values())
        first = self.unknown_row + 1
        numbers = {
            reference: first + number for number, reference in enumerate(defined.contexts)
        }
        self._parents = [numbers.get(parent, UNKNOWN) for _, _, parent in self._contexts]
        self._rows = {reference: row for row, reference in enumerate(defined.regions)}
        # For the kernel: reference, region, and the numbers in paths of each and its parent.
        self.contexts = (
            np.array(list(numbers), np.uint32),
            np.array([region for region, _, _ in self._contexts], np.uint32),
            np.array(list(numbers.values()), np.int32),
            np.array(self._parents, np.int32),
        )
        self._numbers: dict[int, int] = {}

    def _operation(self, region: Region) -> int:
        name = self._defined.text(region.name).removesuffix("()").strip()
        full = _operation_name(name)
        # Some writers mark no call of MPI as such.
        is_named = not self._is_marked and (name.startswith(_PREFIX) or full in CODES)
        if region.paradigm != MPI and not is_named:
            return UNKNOWN
        if full not in self._codes:
            if len(self.operations) >= np.iinfo(np.int16).max:
                return UNKNOWN
            self._codes[full] = len(self.operations)
            self.operations.append(full)
        return self._codes[full]

    def function(self, row: int) -> tuple[str, str | None]:
        """The name and the file of a region."""
        if row >= self.team_row:
            return ("team" if row == self.team_row else "unknown region"), None
        region = self._regions[row]
        return self._defined.text(region.name), self._defined.texts.get(region.file) or None

    def chain(self, number: int) -> list[tuple[int, int]]:
        """The regions of a path and the place of each in the source, outermost first."""
        if number <= self.unknown_row:
            return [(number, NOWHERE)]
        steps: dict[int, tuple[int, int]] = {}
        while number >= 0 and number not in steps:
            region, place, _ = self._contexts[number - self.unknown_row - 1]
            steps[number] = self._rows.get(region, self.unknown_row), place
            number = self._parents[number - self.unknown_row - 1]
        return list(steps.values())[::-1]

    def place(self, reference: int) -> tuple[str | None, int | None]:
        """The file and the line of a place in a source, None where unknown."""
        file, line = self._defined.source_lines.get(reference, (NOWHERE, 0))
        return self._defined.texts.get(file) or None, _line(line)

    def numbers(self, rows: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """The numbers of regions in the table, which are given in order of first use."""
        first = np.full(self.unknown_row + 1, UNKNOWN, np.int64)
        first[rows[::-1]] = np.arange(len(rows))[::-1]
        occurring = np.flatnonzero(first >= 0)
        numbers = np.full(self.unknown_row + 1, UNKNOWN, np.int32)
        for row in occurring[np.argsort(first[occurring])].tolist():
            numbers[row] = self._numbers.setdefault(row, len(self._numbers))
        return numbers[rows]

    def table(self) -> pa.Table:
        """The table `region_defs` of what was numbered."""
        rows = ((number, *self._described(row)) for row, number in self._numbers.items())
        return row_table("region_defs", rows)

    def _described(self, row: int) -> tuple[str | int | None, ...]:
        """Name, paradigm, role, file, lines, and type and value of Extrae."""
        name, file = self.function(row)
        if row == self.team_row:
            return name, "openmp", "team", None, None, None, *_AS_EXTRAE["team"]
        if row > self.team_row:
            return name, "other", "unknown", None, None, None, None, None
        region = self._regions[row]
        paradigm = _PARADIGMS.get(region.paradigm, "other")
        role = _role(region.role)
        source: tuple[int | None, int] = None, int(self.columns[0][row])
        if paradigm == "openmp" and role in _AS_EXTRAE:
            source = _AS_EXTRAE[role]
        return name, paradigm, role, file, *map(_line, region[5:7]), *source


def _line(number: int) -> int | None:
    return number if 0 < number < 1 << 31 else None


def _role(number: int) -> str:
    return ROLES[number] if 0 <= number < len(ROLES) else "unknown"


def _operation_name(name: str) -> str:
    """The MPI name of a call, however its binding spells it.

    >>> _operation_name("mpi_send_"), _operation_name("MPI_Send_c")
    ('MPI_Send', 'MPI_Send')
    """
    if name in CODES:
        return name
    plain = name.lower().rstrip("_").removesuffix("_c")
    return _BY_LOWER.get(plain, name)


_BY_LOWER: Final = {name.lower(): name for name in NAMES}
