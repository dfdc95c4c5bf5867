"""Regions of user code and of OpenMP, and loops, from their borders.

::

    borders of user code ─ per thread ──┬─ by enter ──► regions
    records of OpenMP ──── per process ─┘
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import (
    Columns,
    Integers,
    Mask,
    concatenated,
    enclosing,
    lookup,
    match_borders,
)
from burstline.extrae import RECORDED_REGIONS, USER_FUNCTION
from burstline.formats.intake import Defects
from burstline.formats.raw.events.openmp import OpenMpRows
from burstline.formats.raw.events.timeline import ThreadTimeline
from burstline.formats.raw.files.layout import Kind, Named, table_of
from burstline.formats.raw.processes.call_paths import Frame
from burstline.formats.raw.processes.processes import Name, ProcessDefinitions
from burstline.model import NO_VALUE, ORIGINS, UNKNOWN, arrow_schema, arrow_table, row_table

_Key = tuple[int, int, Name | Frame | None]
"""Space, number and name of what a region is."""

_OPENMP: Final = -1  # beside Named.REGION, Named.LOOP and Named.FUNCTION
_ENTERS: Final = (Kind.REGION_ENTER, Kind.LOOP_ENTER)
_LEAVES: Final = (Kind.REGION_LEAVE, Kind.LOOP_LEAVE)
_IS_ENTER: Final = table_of(_ENTERS)
_IS_LOOP: Final = table_of([Kind.LOOP_ENTER, Kind.LOOP_LEAVE])
_MOST_ITERATIONS: Final = 1 << 62


class RecordedRegions:
    """The regions, teams and locks of all locations, which are added process by process."""

    def __init__(self, defects: Defects) -> None:
        self._defects = defects
        self._definitions: dict[_Key, int] = {}
        self.openmp = OpenMpRows(defects)
        self._lines: list[tuple[int, int, Columns]] = []
        self._regions: list[Columns] = []

    def add(
        self,
        line: ThreadTimeline,
        defined: ProcessDefinitions,
        functions: Mapping[int, Frame],
        paths: Mapping[int, int],
    ) -> None:
        """Take in the regions of a location; stacks of its process are given their rows."""
        self.openmp.add(line, paths)
        user = self._user_regions(line, defined, functions)
        self._lines.append((line.location, line.last_seq, user))

    def end_process(self, process: int) -> None:
        """Put together what threads of a process did: one tells the end of another's team."""
        openmp = self.openmp.end_process(process)
        for number, (location, last_seq, user) in enumerate(self._lines):
            both = [user]
            if openmp:
                role = openmp[number]["region"]
                rows = {
                    place: self._number((_OPENMP, place, None))
                    for place in np.unique(role).tolist()
                }
                both.append(openmp[number] | {"region": lookup(role, rows).astype(np.int64)})
            regions = concatenated(list(user), both)
            if len(regions["region"]):
                self._regions.append(_closed_regions(location, last_seq, regions))
        self._lines.clear()

    def _user_regions(
        self, line: ThreadTimeline, defined: ProcessDefinitions, functions: Mapping[int, Frame]
    ) -> Columns:
        rows = line.of(*_ENTERS, *_LEAVES)
        kind, number = line.kind[rows], line.records["a"][rows].astype(np.int64)
        loop = _IS_LOOP[kind]
        enters = _IS_ENTER[kind]
        what = number * 2 + loop
        partner = match_borders(what, enters)
        begin = np.flatnonzero(enters)
        lost = np.flatnonzero(~enters & (partner < 0))
        closed = partner[begin] >= 0
        line.note(self._defects, "region_left_but_never_entered", "info", rows[lost])
        code = np.isin(number[begin], np.fromiter(functions, np.int64)) & ~loop[begin]
        line.note(self._defects, "region_never_left", "info", rows[begin[~closed & ~code]])
        partner[begin] = _with_jumps(begin, partner[begin], code)
        ends = partner[begin] >= 0
        end = rows[partner[begin]]
        times = np.where(closed, line.records["b"][end], _MOST_ITERATIONS).astype(np.uint64)
        is_counted = closed & loop[begin] & (times < _MOST_ITERATIONS)
        unknown = np.full(len(begin), UNKNOWN, np.int64)
        return {
            "region": self._define(what[begin], defined, functions).astype(np.int64),
            "enter_ns": line.time_ns[rows[begin]],
            "leave_ns": np.where(ends, line.time_ns[end], line.died_ns),
            "enter_seq": line.seq[rows[begin]],
            "leave_seq": np.where(ends, line.seq[end], UNKNOWN),
            "call_path": unknown,
            "team": unknown,
            "barrier_ordinal": unknown,
            "iterations": np.where(is_counted, times.view(np.int64), NO_VALUE),
        }

    def _number(self, key: _Key) -> int:
        return self._definitions.setdefault(key, len(self._definitions))

    def _define(
        self, what: Integers, defined: ProcessDefinitions, functions: Mapping[int, Frame]
    ) -> npt.NDArray[np.int32]:
        rows = {}
        for key in np.unique(what).tolist():
            number, space = key // 2, Named.LOOP if key % 2 else Named.REGION
            if space == Named.REGION and number in functions:
                rows[key] = self._number((Named.FUNCTION, 0, functions[number]))
                continue
            # ids are per process, names are not; loops are known by their id everywhere
            name = defined.names[space].get(number)
            is_by_id = space == Named.LOOP or name is None
            rows[key] = self._number((space, number if is_by_id else 0, name))
        return lookup(what, rows)

    def table(self) -> pa.Table:
        """The table `regions`."""
        names = [name for name in arrow_schema("regions").names if name != "origin"]
        columns = concatenated(names, self._regions)
        recorded = np.full(len(columns["row"]), ORIGINS.index("recorded"))
        return arrow_table("regions", columns | {"origin": recorded})

    def definitions(self) -> pa.Table:
        """The table `region_defs`; the source's id of a loop is its `source_value`."""
        rows = ((row, *_definition_columns(*key)) for row, key in enumerate(self._definitions))
        return row_table("region_defs", rows)


def _with_jumps(enter: Integers, leave: Integers, code: Mask) -> Integers:
    """The leaves of some borders; functions that were jumped out of end with those around."""
    jumped = np.flatnonzero(code & (leave < 0))
    if not len(jumped):
        return leave
    functions = np.flatnonzero(code)
    around = enclosing(enter[functions], np.where(leave < 0, enter, leave)[functions])
    around = around[np.searchsorted(functions, jumped)]
    ends = leave.copy()
    ends[jumped] = np.where(around >= 0, leave[functions[around]], UNKNOWN)
    return ends


def _definition_columns(
    space: int, number: int, name: Name | Frame | None
) -> tuple[str | int | None, ...]:
    if name is not None and not isinstance(name, Name):
        function, file, begin = name
        return function, "user", "function", file, begin, None, USER_FUNCTION, None
    if space == _OPENMP:
        role = list(RECORDED_REGIONS)[number]
        return (role, "openmp", role, None, None, None, *RECORDED_REGIONS[role])
    text, line = name or (None, None)
    if space == Named.LOOP:
        title = loop_name(number, name)
        return title, "user", "loop", text or None, line, None, None, number
    return text or f"region {number}", "user", "function", *[None] * 5


def loop_name(number: int, name: Name | None) -> str:
    """The name of a loop: its place in the source, or its number."""
    if name is None or not name.text:
        return f"loop {number}"
    short = name.text.rpartition("/")[2]
    return short if name.line is None else f"{short}:{name.line}"


def _closed_regions(location: int, last_seq: int, regions: Columns) -> Columns:
    """The rows of a location: in order of enter, all of them left, with their parents."""
    order = np.argsort(regions["enter_seq"], kind="stable")
    rows = {name: column[order] for name, column in regions.items()}
    leave_seq = rows["leave_seq"]
    still_open = np.flatnonzero(leave_seq < 0)
    leave_seq[still_open] = last_seq + np.arange(len(still_open), 0, -1)
    count = np.arange(len(order))
    parent = enclosing(rows["enter_seq"], leave_seq)
    return rows | {"location": np.full(len(order), location), "row": count, "parent": parent}
