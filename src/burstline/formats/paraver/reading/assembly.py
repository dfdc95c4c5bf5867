"""From what the native builder filled to tables of the schema.

Call paths, regions, operations and communicators are numbered as they are met, in the order of
locations: the tables are the same whether a trace is built at once or in buckets. Address
randomisation gives each rank caller ids of its own, so paths differ by labels, not by ids.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from burstline import schema
from burstline.bursts import between_regions, burst_table, bursts_of_states, sorted_by_location
from burstline.columns import distinct
from burstline.extrae import (
    CALLER_FUNCTIONS,
    CALLER_LINES,
    MPI_TYPES,
    UNRESOLVED,
    read_function,
    read_line,
    sent_in_all,
)
from burstline.formats.paraver.reading.threads import (
    RegionDefinitions,
    lock_table,
    region_tables,
)
from burstline.operations import NAMES
from burstline.schema import arrow_table, row_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from burstline import _core
    from burstline.formats.paraver.files.pcf import Pcf
    from burstline.formats.paraver.reading.objects import Objects
    from burstline.formats.paraver.reading.scan import Scanned

Frame: TypeAlias = "tuple[str, str | None, int | None]"

_RUNNING = 1
Columns = dict[str, "npt.NDArray[Any]"]


class CallPathTree:
    """The tree of call paths; nodes are numbered as paths first occur, by location and call."""

    def __init__(self, pcf: Pcf) -> None:
        self._pcf = pcf
        self._node: dict[tuple[int, Frame], int] = {}
        self._frames: dict[tuple[int, int, int], Frame] = {}
        self._nodes: list[int] = []

    def extend(self, paths: _core.PathTable) -> npt.NDArray[np.int32]:
        """Add new paths; the node of every path, shape (paths + 1,)."""
        fresh = [
            (*paths.path(number), number) for number in range(len(self._nodes), len(paths))
        ]
        self._nodes.extend(0 for _ in fresh)
        for _, raw, number in sorted(fresh, key=lambda path: path[0]):
            self._nodes[number] = self._insert(raw)
        return np.array([*self._nodes, -1], np.int32)

    def _insert(self, raw: list[int]) -> int:
        node = -1
        for level, function, line in reversed(
            list(zip(raw[::3], raw[1::3], raw[2::3], strict=True))
        ):
            frame = self._frame(level, function, line)
            key = (node, frame)
            node = self._node.setdefault(key, len(self._node))
        return node

    def _frame(self, level: int, function: int, line: int) -> Frame:
        key = (level, function, line)
        if key not in self._frames:
            name = self._pcf.value_label(CALLER_FUNCTIONS[level], function)
            place = self._pcf.value_label(CALLER_LINES[level], line)
            source = read_line(place) if place else None
            resolved = read_function(name) if name else f"function {function}"
            self._frames[key] = (
                resolved or UNRESOLVED,
                source.file if source else None,
                source.line if source else None,
            )
        return self._frames[key]

    def table(self) -> pa.Table:
        """The tree as the table of call paths, parents before their children."""
        rows = (
            (number, None if parent < 0 else parent, *frame)
            for number, (parent, frame) in enumerate(self._node)
        )
        return row_table("call_paths", rows)


@dataclass(slots=True)
class Assembly:
    """The definitions of a trace, which grow as its parts are assembled."""

    objects: Objects  # the declared objects
    pcf: Pcf  # labels
    scanned: Scanned  # counts and defects; more defects are added here
    counters: list[tuple[int, str]]  # type and name of each counter
    communicators: dict[tuple[int, int], int]  # row of each (application, id)
    # names behind operation codes; unknown ones are appended
    operations: list[str] = field(default_factory=lambda: list(NAMES))
    set_members: set[tuple[int, int]] = field(default_factory=set)
    teams: int = 0
    call_paths: CallPathTree = field(init=False)
    regions: RegionDefinitions = field(init=False)

    def __post_init__(self) -> None:
        self.call_paths = CallPathTree(self.pcf)
        self.regions = RegionDefinitions(self.pcf)

    @property
    def counter_names(self) -> list[str]:
        """Names of the counters, in the order of their columns."""
        return [name for _, name in self.counters]

    def calls(self, built: Columns, paths: _core.PathTable) -> Columns:
        """The calls, with operations, communicators and paths numbered in place."""
        node = self.call_paths.extend(paths)
        np.take(node, built["call_path"], out=built["call_path"], mode="wrap")
        self._name_operations(built["operation"])
        built["sent_bytes"] = sent_in_all(
            self.operations,
            built["operation"],
            root=built["root"],
            sent=built["sent_bytes"],
            received=built["received_bytes"],
        )
        self._number_communicators(built["communicator"], built["location"])
        return built

    def _name_operations(self, codes: npt.NDArray[np.int16]) -> None:
        if not len(codes) or codes.min() >= 0:
            return
        rows = np.flatnonzero(codes < 0)
        first, which = distinct(codes[rows])
        count = np.bincount(which)
        number = np.empty(len(first), np.int16)
        for position in np.argsort(first).tolist():
            value = -1 - int(codes[rows[first[position]]])
            name = self._operation_label(value)
            if name not in self.operations:
                self.operations.append(name)
            number[position] = self.operations.index(name)
            self.scanned.defects.note(
                "unknown_mpi_call", "info", f"value {value}", int(count[position])
            )
        codes[rows] = number[which]

    def _operation_label(self, value: int) -> str:
        labels = [self.pcf.value_label(kind, value) for kind in MPI_TYPES]
        return next((label for label in labels if label), f"MPI call {value}")

    def _number_communicators(
        self, rows: npt.NDArray[np.int32], location: npt.NDArray[np.int32]
    ) -> None:
        if not len(rows) or rows.min() >= schema.UNKNOWN:
            return
        missing = np.flatnonzero(rows < schema.UNKNOWN)
        application = self.objects.application[location[missing]]
        source_id = -2 - rows[missing].astype(np.int64)
        first, which = distinct(application, source_id)
        count = np.bincount(which)
        number = np.empty(len(first), np.int32)
        for position in np.argsort(first).tolist():
            key = int(application[first[position]]), int(source_id[first[position]])
            number[position] = self.communicators.setdefault(key, len(self.communicators))
            self.scanned.defects.note(
                "communicator_without_members", "loss", f"id {key[1]}", int(count[position])
            )
        rows[missing] = number[which]

    def tables(
        self, built: Mapping[str, Columns], extras: Mapping[str, Any], *, raw: bool
    ) -> dict[str, pa.Table]:
        """The tables of the locations that were built, but for messages and collectives."""
        self.set_members |= set(extras["set_members"])
        for kind, count, location, time in extras["defects"]:
            where = f"location {location} at {time} ns"
            self.scanned.defects.note(kind, _SEVERITY.get(kind, "loss"), where, count)
        regions, teams = region_tables(built["regions"], self.regions, self.objects, self.teams)
        self.teams += teams.num_rows
        tables = {
            "calls": arrow_table("calls", built["calls"], operations=self.operations),
            "readings": self._readings(built["readings"]),
            "regions": regions,
            "teams": teams,
            "locks": lock_table(extras["locks"], self.objects),
            "gaps": row_table("gaps", extras["gaps"]),
        }
        tables["bursts"] = self._bursts(built, tables)
        if raw:
            tables["events"] = arrow_table("events", built["events"])
            tables["states"] = arrow_table("states", built["states"])
        return tables

    def _readings(self, built: Columns) -> pa.Table:
        names = self.counter_names
        renamed = {names[int(key)] if key.isdigit() else key: built[key] for key in built}
        return arrow_table("readings", renamed, counters=names)

    def _bursts(self, built: Mapping[str, Columns], tables: Mapping[str, pa.Table]) -> pa.Table:
        names = self.counter_names
        bursts = burst_table(built["bursts"], names)
        others = []
        if tables["regions"].num_rows:
            others.append(
                between_regions(
                    {
                        **tables,
                        "locations": pa.table({"location": self.objects.process}),
                        "region_defs": self.regions.table(),
                        "counters": self.counter_table(),
                    }
                )
            )
        elif not len(built["calls"]["call"]) and len(built["states"]["state"]):
            states = arrow_table("states", built["states"])
            others.append(bursts_of_states(states, _RUNNING, names))
            if others[0].num_rows:
                self.scanned.defects.note("bursts_from_states", "info", "there are no calls")
        others = [table for table in others if table.num_rows]
        return sorted_by_location(pa.concat_tables([bursts, *others])) if others else bursts

    def counter_table(self) -> pa.Table:
        """The table of counters."""
        rows = ((name, _counter_unit(name), "delta", kind) for kind, name in self.counters)
        return row_table("counters", rows)

    def counter_set_table(self) -> pa.Table:
        """The counters of each set; set 0 stands for a trace that names no set."""
        names, members = self.counter_names, sorted(self.set_members)
        return row_table(
            "counter_sets", ((number, names[column]) for number, column in members)
        )


_SEVERITY = {
    "events_out_of_order": "info",
    "region_left_but_never_entered": "info",
    "region_never_left": "info",
}


def _counter_unit(name: str) -> str:
    return "ns" if name.endswith(("TASK-CLOCK", "CPU-CLOCK", "task-clock", "cpu-clock")) else ""
