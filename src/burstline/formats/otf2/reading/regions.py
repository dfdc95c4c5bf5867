"""Regions of an archive, as operations of MPI or others, and call paths through them.

What a thread does in a team hangs below the path on which the team was forked, so that all
threads of a team share their paths.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import Columns, Integers, dense, enclosing, placed, ranges, take
from burstline.extrae import RECORDED_REGIONS
from burstline.formats.otf2.numbers import MPI, NOWHERE, ROLES
from burstline.formats.otf2.reading.archive import ArchiveDefinitions
from burstline.model import CODES, NAMES, UNKNOWN, row_table

_PARADIGMS: Final = {
    MPI: "mpi",
    **dict.fromkeys((0, 1, 2), "user"),
    **dict.fromkeys((3, 9), "openmp"),
    **dict.fromkeys((5, 18, 19, 23), "gpu"),
    **dict.fromkeys((7, 14, 15, 16, 17), "pthread"),
}
_AS_EXTRAE: Final = {
    role: RECORDED_REGIONS[role]
    for role in ("loop", "sections", "single", "master", "barrier", "implicit_barrier", "team")
}


class ArchiveRegions:
    """The regions that an archive defines, then a team on one of its threads, then unknown."""

    def __init__(self, defined: ArchiveDefinitions) -> None:
        self._defined, self.account = defined, defined.account
        self._regions = list(defined.regions.values())
        self.operations = list(NAMES)  # behind the codes
        self._codes = dict(CODES)
        self._is_marked = any(region.paradigm == MPI for region in self._regions)
        operation = cache(self._operation)  # a name may be long, and that of many
        codes = [operation(region.name, region.paradigm) for region in self._regions]
        barriers = [_role_name(region.role).endswith("barrier") for region in self._regions]
        # For the kernel: reference, operation (-1 for what is not MPI), whether a barrier.
        self.columns = (
            np.array(list(defined.regions), np.uint32),
            np.array(codes, np.int32),
            np.array(barriers, np.uint8),
        )
        self.team_row = len(self._regions)
        self.unknown_row = self.team_row + 1
        self._contexts = list(defined.contexts.values())
        numbered = enumerate(defined.contexts, self.unknown_row + 1)
        numbers = {reference: number for number, reference in numbered}
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

    def _operation(self, reference: int, paradigm: int) -> int:
        name = self._defined.text(reference).removesuffix("()").strip()
        full = _operation_name(name)
        # Some writers mark no call of MPI as such.
        is_named = not self._is_marked and (name.startswith("MPI_") or full in CODES)
        if paradigm != MPI and not is_named:
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
        return self._defined.texts.get(file) or None, _line_or_none(line)

    def numbers(self, rows: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """The numbers of regions in the table, which are given in order of first use."""
        numbers = np.full(self.unknown_row + 1, UNKNOWN, np.int32)
        for row in _by_first_use(rows, len(numbers)):
            numbers[row] = self._numbers.setdefault(row, len(self._numbers))
        return numbers[rows]

    def table(self) -> pa.Table:
        """The table `region_defs` of what was numbered."""
        rows = ((number, *self._described(row)) for row, number in self._numbers.items())
        return row_table("region_defs", self.account.counted("region_defs", rows))

    def _described(self, row: int) -> tuple[str | int | None, ...]:
        """Name, paradigm, role, file, lines, and type and value of Extrae."""
        name, file = self.function(row)
        if row == self.team_row:
            return name, "openmp", "team", None, None, None, *_AS_EXTRAE["team"]
        if row > self.team_row:
            return name, "other", "unknown", None, None, None, None, None
        region = self._regions[row]
        paradigm, role = _PARADIGMS.get(region.paradigm, "other"), _role_name(region.role)
        source: tuple[int | None, int] = None, int(self.columns[0][row])
        if paradigm == "openmp":
            source = _AS_EXTRAE.get(role, source)
        begin, end = _line_or_none(region.begin_line), _line_or_none(region.end_line)
        return name, paradigm, role, file, begin, end, *source


def _by_first_use(numbers: npt.NDArray[Any], space: int) -> list[int]:
    """The numbers below `space` that occur, in order of first use."""
    first = placed(np.arange(len(numbers))[::-1], numbers[::-1], space, UNKNOWN)
    occurring = np.flatnonzero(first >= 0)
    ordered: list[int] = occurring[np.argsort(first[occurring])].tolist()
    return ordered


def _line_or_none(number: int) -> int | None:
    return number if 0 < number < 1 << 31 else None


def _role_name(number: int) -> str:
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


class ArchivePaths:
    """The calling-context tree of a trace; it grows."""

    def __init__(self, regions: ArchiveRegions) -> None:
        self._regions = regions
        self._rows: dict[tuple[int, int, int], int] = {}

    def child(self, parent: int, called: int) -> int:
        """The row of a region, or of a calling context, that a path calls."""
        for region, place in self._regions.chain(called):
            parent = self._rows.setdefault((parent, region, place), len(self._rows))
        return parent

    def table(self) -> pa.Table:
        """The table `call_paths`."""
        account = self._regions.account
        return row_table("call_paths", account.counted("call_paths", self._described()))

    def _described(self) -> Iterator[tuple[int, int | None, str, str | None, int | None]]:
        for number, (parent, called, place) in enumerate(self._rows):
            name, file = self._regions.function(called)
            source, line = self._regions.place(place)
            yield number, None if parent < 0 else parent, name, source or file, line


class _Tree:
    """The tree of a group of locations, on its way into that of the trace."""

    def __init__(self, paths: ArchivePaths, parent: Integers, region: Integers) -> None:
        self._paths = paths
        self._parent, self._region = parent.tolist(), region.tolist()
        self._rows: dict[tuple[int, int], int] = {}

    def rows(self, base: Integers, node: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """The row of each node below a row of the trace, or below none; adds rows in order."""
        width = len(self._parent) + 1
        if len(base) and (base == base[0]).all():
            bases, key = base[:1], node.astype(np.int64) + 1
        else:
            bases, place = np.unique(base, return_inverse=True)
            key = place.reshape(-1) * width + node + 1
        numbers, keys = dense(key, len(bases) * width)
        result = np.empty(len(keys), np.int32)
        for number in _by_first_use(numbers, len(keys)):
            which, called = divmod(int(keys[number]), width)
            result[number] = self._row(int(bases[which]), called - 1)
        return result[numbers]

    def _row(self, base: int, node: int) -> int:
        chain = []
        while node >= 0 and (base, node) not in self._rows:
            chain.append(node)
            node = self._parent[node]
        row = self._rows[base, node] if node >= 0 else base
        for step in reversed(chain):
            row = self._rows[base, step] = self._paths.child(row, self._region[step])
        return row


def rehang(
    paths: ArchivePaths, tables: dict[str, Columns], fork: Integers, process: Integers
) -> None:
    """Replace the paths in `tables` by rows of `paths`; teams hang where they were forked."""
    tree = _Tree(paths, tables["paths"]["parent"], tables["paths"]["region"])
    base = np.full(len(fork), UNKNOWN, np.int64)
    below = {name: tables[name] for name in ("calls", "regions")}
    calls, regions = below.values()
    held = [tables[name]["location"] for name in ("calls", "regions", "teams")]
    present = [process[of[0] : of[-1] + 1] for of in held if len(of)]
    paths_of = {name: np.empty(len(of["path"]), np.int32) for name, of in below.items()}
    for number in np.unique(np.concatenate([process[:0], *present])).tolist():
        borders = np.searchsorted(process, [number, number + 1]).astype(np.int32)
        spans = [slice(*np.searchsorted(of, borders).tolist()) for of in held]
        _fill_bases(tree, tables, fork, base, spans[2])
        around = np.append(base, UNKNOWN)[regions["team"][spans[1]]]
        paths_of["regions"][spans[1]] = tree.rows(around, regions["path"][spans[1]])
        around = _bases_of_calls(calls, spans[0], tables["teams"], spans[2], base)
        paths_of["calls"][spans[0]] = tree.rows(around, calls["path"][spans[0]])
    for name, rows in paths_of.items():
        tables[name]["path"] = rows


def _fill_bases(
    tree: _Tree, tables: dict[str, Columns], fork: Integers, base: Integers, span: slice
) -> None:
    """Fill `base` with the row below which the paths in each team of a process hang."""
    # On the thread that forked, only a team around this one has such a row. Teams may be in
    # teams: the outer ones come first.
    forks, begins = tables["forks"], tables["teams"]
    rows = np.arange(span.start, span.stop)
    rows = rows[fork[rows] >= 0]
    around = forks["of"][fork[rows]]
    order = np.argsort(around, kind="stable")
    rows, around = rows[order], around[order]
    ready = rows[around < 0]
    while len(ready):
        outer = forks["of"][fork[ready]]
        below = take(base, outer)
        hung = tree.rows(below, forks["path"][fork[ready]])
        foreign = (begins["of"][ready] < 0) & (begins["path"][ready] < 0)
        base[ready] = np.where(foreign, hung, below)
        first, last = (np.searchsorted(around, ready, side) for side in ("left", "right"))
        ready = np.sort(rows[ranges(first, last - first)])


def _bases_of_calls(
    calls: Columns, rows: slice, begins: Columns, span: slice, base: Integers
) -> Integers:
    """The row that the path of each call hangs below, -1 outside of teams."""
    location, enter = calls["location"][rows], calls["enter_seq"][rows]
    row = np.full(len(location), UNKNOWN, np.int64)
    if not (base[span] >= 0).any() or not len(location):
        return row
    chosen = np.arange(span.start, span.stop)[base[span] >= 0]
    begin, end = begins["begin_seq"][chosen], begins["end_seq"][chosen]
    far = 2 + max(enter.max(), begin.max(), end.max())  # what is behind all of a location
    end = np.where(end >= 0, end, far - 1)
    of_team, of_call = (
        place.astype(np.int64) * far for place in (begins["location"][chosen], location)
    )
    # a call ends before it begins: nothing is inside of it
    starts = np.concatenate([of_team + begin, of_call + enter])
    ends = np.concatenate([of_team + end, of_call + enter]) - 1
    order = np.argsort(starts, kind="stable")
    around = placed(take(order, enclosing(starts[order], ends[order])), order, len(order))
    return take(base[chosen], around[len(chosen) :])
