"""Regions, teams and locks, out of call-like events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from burstline import schema
from burstline.columns import distinct, ordinal_within, take
from burstline.extrae import (
    OPENMP_OUTLINED,
    OPENMP_OUTLINED_LINE,
    read_line,
    region_kind,
    region_name,
)
from burstline.schema import arrow_table, row_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt
    import pyarrow as pa

    from burstline.columns import Integers, Mask
    from burstline.formats.paraver.files.pcf import Pcf
    from burstline.formats.paraver.reading.objects import Objects

_LINE_OFFSET = 100
_BARRIERS = frozenset(["barrier", "implicit_barrier"])


class RegionDefinitions:
    """The definitions of regions, in order of appearance."""

    def __init__(self, pcf: Pcf) -> None:
        self._pcf = pcf
        self._rows: dict[tuple[int, int, int], int] = {}
        self.roles: list[str] = []

    def number(self, built: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.int32]:
        """The definition of each region, shape (regions,); adds new ones."""
        if not len(built["type"]):
            return np.empty(0, np.int32)
        columns = built["type"], built["value"], built["line"]
        first, which = distinct(*columns)
        number = np.empty(len(first), np.int32)
        for position in np.argsort(first).tolist():
            kind, value, line = (int(column[first[position]]) for column in columns)
            if (kind, value, line) not in self._rows:
                self._rows[kind, value, line] = len(self._rows)
                label = self._pcf.value_label(kind, value)
                self.roles.append(region_kind(kind, value, label).role)
            number[position] = self._rows[kind, value, line]
        return number[which]

    def table(self) -> pa.Table:
        """The definitions as a table."""
        rows = []
        for number, (kind, value, line) in enumerate(self._rows):
            label = self._pcf.value_label(kind, value)
            described = region_kind(kind, value, label)
            source = kind, None if value == schema.NO_VALUE else value
            name = region_name(kind, value, label)
            file, begin = self._place(kind, line)
            rows.append((number, name, *described, file, begin, None, *source))
        return row_table("region_defs", rows)

    def _place(self, kind: int, line: int) -> tuple[str | None, int | None]:
        if line == schema.NO_VALUE:
            return None, None
        of_line = OPENMP_OUTLINED_LINE if kind == OPENMP_OUTLINED else kind + _LINE_OFFSET
        label = self._pcf.value_label(of_line, line)
        source = read_line(label) if label else None
        return (source.file, source.line) if source else (None, None)


def region_tables(
    built: Mapping[str, npt.NDArray[Any]],
    definitions: RegionDefinitions,
    objects: Objects,
    first_team: int,
) -> tuple[pa.Table, pa.Table]:
    """Regions and OpenMP teams as tables, in O(regions · log teams).

    A team is an outermost parallel region on the first thread of a process; regions of other
    threads belong to the team in whose span they begin.
    """
    region = definitions.number(built)
    roles = np.array(definitions.roles or [""])
    role = roles[region] if len(region) else np.empty(0, roles.dtype)
    location = built["location"]
    process = objects.process[location]
    forks = np.flatnonzero(
        (role == "parallel") & (objects.thread[location] == 0) & _outermost(built, role)
    )
    team = _team_of(built, process, forks)
    barrier = np.isin(role, list(_BARRIERS)) & (team >= 0)
    ordinal = np.full(len(region), schema.UNKNOWN)
    ordinal[barrier] = ordinal_within(team[barrier], location[barrier])
    regions = arrow_table(
        "regions",
        {
            **built,
            "region": region,
            "call_path": np.full(len(region), schema.UNKNOWN),
            "team": np.where(team >= 0, team + first_team, schema.UNKNOWN),
            "barrier_ordinal": ordinal,
            "iterations": np.full(len(region), schema.NO_VALUE),
            "origin": np.zeros(len(region)),
        },
    )
    return regions, _team_table(built, process, forks, team, first_team)


def _outermost(built: Mapping[str, npt.NDArray[Any]], role: npt.NDArray[np.str_]) -> Mask:
    """Whether each region lies in no parallel region."""
    start = np.searchsorted(built["location"], built["location"])
    parent = np.where(built["parent"] >= 0, start + built["parent"], -1)
    inside, is_parallel, around = np.zeros(len(role), bool), role == "parallel", parent
    while (around >= 0).any():
        inside |= take(is_parallel, around, missing=False)
        around = take(parent, around)
    return ~inside


def _team_of(
    built: Mapping[str, npt.NDArray[Any]],
    process: npt.NDArray[np.int32],
    forks: Integers,
) -> Integers:
    team = np.full(len(process), schema.UNKNOWN, np.int64)
    fork_process = process[forks]
    for which in np.unique(fork_process).tolist():
        of_process = np.flatnonzero(fork_process == which)
        enter, leave = (
            built["enter_ns"][forks[of_process]],
            built["leave_ns"][forks[of_process]],
        )
        rows = np.flatnonzero(process == which)
        fork = np.searchsorted(enter, built["enter_ns"][rows], side="right") - 1
        inside = (fork >= 0) & (built["leave_ns"][rows] <= leave[fork])
        team[rows[inside]] = of_process[fork[inside]]
    return team


def _team_table(
    built: Mapping[str, npt.NDArray[Any]],
    process: npt.NDArray[np.int32],
    forks: Integers,
    team: Integers,
    first_team: int,
) -> pa.Table:
    inside = team >= 0
    pairs = np.unique(np.stack([team[inside], built["location"][inside]], axis=1), axis=0)
    return arrow_table(
        "teams",
        {
            "team": np.arange(first_team, first_team + len(forks)),
            "process": process[forks],
            "parent": np.full(len(forks), schema.UNKNOWN),
            "fork_location": built["location"][forks],
            "fork_ns": built["enter_ns"][forks],
            "fork_seq": built["enter_seq"][forks],
            "join_ns": built["leave_ns"][forks],
            "join_seq": built["leave_seq"][forks],
            "threads": np.bincount(pairs[:, 0], minlength=len(forks)),
        },
    )


def lock_table(
    locks: Sequence[tuple[int, int, int, int, int, int]], objects: Objects
) -> pa.Table:
    """Acquisitions as a table; `order` counts those of one lock of one process."""
    columns = np.array(locks, np.int64).reshape(-1, 6)
    location, lock, acquire = columns[:, 0], columns[:, 1], columns[:, 2]
    process = objects.process[location]
    order = ordinal_within(lock, process, order=np.lexsort((acquire, lock, process))) + 1
    return arrow_table(
        "locks",
        {
            "location": location,
            "lock": lock,
            "order": order,
            "acquire_ns": acquire,
            "acquire_seq": columns[:, 3],
            "release_ns": columns[:, 4],
            "release_seq": columns[:, 5],
        },
    )
