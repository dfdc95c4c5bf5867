"""From what the native builder filled to tables of the schema.

Call paths, regions, operations and communicators are numbered as they are met, in the order of
locations: the tables are the same whether a trace is built at once or in buckets. Address
randomisation gives each rank caller ids of its own, so paths differ by labels, not by ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline import extrae
from burstline._core import GapKind
from burstline.columns import AnyIntegers, Integers, Mask, distinct, ordinal_within, take
from burstline.formats.paraver.files.header import Header, Objects
from burstline.formats.paraver.files.pcf import Pcf
from burstline.formats.paraver.reading.scan import Scanned
from burstline.model import (
    CODES,
    NAMES,
    arrow_table,
    between_regions,
    burst_table,
    bursts_of_states,
    last_until,
    row_table,
    schema,
    sorted_by_location,
)

_FIRST_SAMPLED: Final = 1000
"""The level of what a sample found, as the native builder counts; calls have lower ones."""
_TYPES_OF_FRAMES: Final = (
    (extrae.CALLER_FUNCTIONS, extrae.CALLER_LINES),
    (extrae.SAMPLED_FUNCTIONS, extrae.SAMPLED_LINES),
)

Frame: TypeAlias = "tuple[str, str | None, int | None]"
Path: TypeAlias = tuple[int, ...]
"""Level, function and line of each frame of a call path, as numbers of the file."""

_INIT: Final = [CODES["MPI_Init"], CODES["MPI_Init_thread"]]
_FINALIZE: Final = [CODES["MPI_Finalize"]]
_PART: Final = re.compile(r"#[^:]*:(CUTTER|FILTER):")
_ENDS_SHORT: Final = 0.99  # of what the header claims; traces of whole runs end there
Columns = dict[str, "npt.NDArray[Any]"]


class CallPathTree:
    """The tree of call paths; nodes are numbered as paths first occur, by location and call."""

    def __init__(self, pcf: Pcf) -> None:
        self._pcf = pcf
        self._node: dict[tuple[int, Frame], int] = {}
        self._frames: dict[tuple[int, int, int], list[Frame]] = {}
        self._first: dict[tuple[str, str | None], int] = {}  # recorded line of a function
        self._known: dict[Path, int] = {}
        self.nodes = np.full(1, schema.UNKNOWN, np.int32)
        """The node of every path of the last part, and behind them -1, that of none."""

    def extend(self, paths: Sequence[tuple[int, Path]]) -> npt.NDArray[np.int32]:
        """Add the paths of a part, each with where it occurs first; their nodes, and -1."""
        self.nodes = np.full(len(paths) + 1, schema.UNKNOWN, np.int32)
        for number in sorted(range(len(paths)), key=paths.__getitem__):
            raw = paths[number][1]
            if raw not in self._known:
                self._known[raw] = self._insert(raw)
            self.nodes[number] = self._known[raw]
        return self.nodes

    def _insert(self, raw: Path) -> int:
        node = -1
        for level, function, line in reversed(
            list(zip(raw[::3], raw[1::3], raw[2::3], strict=True))
        ):
            for frame in self._frames_at(level, function, line):
                node = self._node.setdefault((node, frame), len(self._node))
        return node

    def _frames_at(self, level: int, function: int, line: int) -> list[Frame]:
        """The frames of a level, outermost first: a function, below those it is inlined in."""
        key = (level, function, line)
        if key not in self._frames:
            function_types, line_types = _TYPES_OF_FRAMES[level >= _FIRST_SAMPLED]
            name = self._pcf.value_label(function_types[level % _FIRST_SAMPLED], function)
            place = self._pcf.value_label(line_types[level % _FIRST_SAMPLED], line)
            source = extrae.read_line(place) if place else extrae.SourceLine()
            resolved = extrae.read_function(name) if name else f"function {function}"
            holders = extrae.read_holders(name) if name else []
            outer = [self._holder(*holder) for holder in reversed(holders)]
            frame = (resolved or extrae.UNRESOLVED, *source)
            self._frames[key] = [*outer, frame]
            if source.line is not None:
                of_function = frame[:2]
                first = self._first.get(of_function, source.line)
                self._first[of_function] = min(first, source.line)
        return self._frames[key]

    def _holder(self, function: str, place: extrae.SourceLine) -> Frame:
        """What a function is inlined in, by its label: without a line if that is in doubt."""
        # Where that function is inlined, too, the label has the line of the call in it, and the
        # name of the function that both are in: so it is a line before those of the latter, as
        # most functions stand above those that call them, or of another file.
        first = self._first.get((function, place.file))
        is_there = first is not None and place.line is not None and first <= place.line
        return (function, *place) if is_there else (function, None, None)

    def of_constructs(self, frames: Integers) -> npt.NDArray[np.int32]:
        """The node of each frame that a construct was entered from, -1 where unknown."""
        return _numbered_rows(self._labelled, frames)

    def _labelled(self, frame: int) -> int:
        chain: list[Frame] = []
        while frame > 0 and (label := self._pcf.value_label(extrae.CONSTRUCT_PATH, frame)):
            function, source, caller = extrae.read_frame(label)
            chain.append((function, source.file, source.line))
            # Numbers fall towards the program: that ends it whatever a file says.
            frame = caller if caller < frame else 0
        node = -1
        for each in reversed(chain):
            node = self._node.setdefault((node, each), len(self._node))
        return node

    def table(self) -> pa.Table:
        """The tree as the table of call paths, parents before their children."""
        rows = (
            (number, None if parent < 0 else parent, *frame)
            for number, (parent, frame) in enumerate(self._node)
        )
        return row_table("call_paths", rows)


def _numbered_rows(number: Callable[..., int], *columns: AnyIntegers) -> npt.NDArray[np.int32]:
    """What `number` makes of each row, asked once for equal rows, in order of appearance."""
    first, which = distinct(*columns)
    numbers = np.empty(len(first), np.int32)
    for place in np.argsort(first).tolist():
        numbers[place] = number(*(int(column[first[place]]) for column in columns))
    return numbers[which]


class TableAssembly:
    """The definitions of a trace, which grow as its parts are assembled.

    `counters` are type and name of each, `communicators` the row of each (application, id).
    """

    def __init__(
        self,
        objects: Objects,
        pcf: Pcf,
        scanned: Scanned,
        counters: list[tuple[int, str]],
        communicators: dict[tuple[int, int], int],
    ) -> None:
        self.objects, self.pcf, self.scanned = objects, pcf, scanned
        self.counters, self.communicators = counters, communicators
        self.operations = list(NAMES)  # behind codes; unknown ones are appended
        self.set_members: set[tuple[int, int]] = set()
        self.teams = 0
        self.endings = Endings(objects)
        self.call_paths, self.regions = CallPathTree(pcf), RegionDefinitions(pcf)

    @property
    def counter_names(self) -> list[str]:
        """Names of the counters, in the order of their columns."""
        return [name for _, name in self.counters]

    def calls(self, built: Columns, paths: Sequence[tuple[int, Path]]) -> Columns:
        """The calls, with operations, communicators and paths numbered in place."""
        node = self.call_paths.extend(paths)
        np.take(node, built["call_path"], out=built["call_path"], mode="wrap")
        self._name_operations(built["operation"])
        built["sent_bytes"] = extrae.sent_in_all(
            self.operations,
            built["operation"],
            root=built["root"],
            sent=built["sent_bytes"],
            received=built["received_bytes"],
        )
        self._number_communicators(built["communicator"], built["location"])
        return built

    def _name_operations(self, codes: npt.NDArray[np.int16]) -> None:
        rows = np.flatnonzero(codes < 0)
        values = -1 - codes[rows].astype(np.int64)
        self.scanned.defects.note_rows("unknown_mpi_call", "info", "value {}", values)
        codes[rows] = _numbered_rows(self._add_operation, values)

    def _add_operation(self, value: int) -> int:
        labels = [self.pcf.value_label(kind, value) for kind in extrae.MPI_TYPES]
        name = next((label for label in labels if label), f"MPI call {value}")
        if name not in self.operations:
            self.operations.append(name)
        return self.operations.index(name)

    def _number_communicators(
        self, rows: npt.NDArray[np.int32], location: npt.NDArray[np.int32]
    ) -> None:
        missing = np.flatnonzero(rows < schema.UNKNOWN)
        application = self.objects.application[location[missing]]
        ids = -2 - rows[missing].astype(np.int64)
        self.scanned.defects.note_rows("communicator_without_members", "loss", "id {}", ids)
        rows[missing] = _numbered_rows(self._add_communicator, application, ids)

    def _add_communicator(self, application: int, source_id: int) -> int:
        return self.communicators.setdefault((application, source_id), len(self.communicators))

    def tables(
        self, built: Mapping[str, Columns], extras: Mapping[str, Any], *, raw: bool
    ) -> dict[str, pa.Table]:
        """The tables of the locations that were built, but for messages and collectives."""
        self.set_members |= set(extras["set_members"])
        for kind, count, location, time in extras["defects"]:
            where = f"location {location} at {time} ns"
            self.scanned.defects.note(kind, _SEVERITY.get(kind, "loss"), where, count)
        regions, teams = _region_tables(
            self._placed(built["regions"]), self.regions, self.objects, self.teams
        )
        self.teams += teams.num_rows
        tables = {
            "calls": arrow_table("calls", built["calls"], operations=self.operations),
            "readings": self._readings(built["readings"]),
            "regions": regions,
            "teams": teams,
            "locks": _lock_table(extras["locks"], self.objects, built["regions"]),
            "gaps": row_table("gaps", extras["gaps"]),
            "samples": self._samples(*extras["samples"]),
        }
        tables["bursts"] = self._bursts(built, tables)
        self.endings.add(built["calls"], extras["gaps"])
        if raw:
            tables["events"] = arrow_table("events", built["events"])
            tables["states"] = arrow_table("states", built["states"])
        return tables

    def _samples(
        self, location: Integers, time_ns: Integers, periods: Integers, path: Integers
    ) -> pa.Table:
        order = np.lexsort((time_ns, location))
        columns = {
            "location": location[order],
            "time_ns": time_ns[order],
            "periods": periods[order],
            "call_path": self.call_paths.nodes[path[order]],
        }
        return arrow_table("samples", columns)

    def _placed(self, built: Columns) -> Columns:
        """The regions, those that are no functions with their call path in place of a line."""
        # One column of the native builder has whichever of both a type of region has.
        is_function = np.isin(built["type"], list(extrae.REGION_LINES))
        frame = np.where(is_function | (built["line"] == schema.NO_VALUE), 0, built["line"])
        return built | {
            "line": np.where(is_function, built["line"], schema.NO_VALUE),
            "call_path": self.call_paths.of_constructs(frame),
        }

    def _readings(self, built: Columns) -> pa.Table:
        names = self.counter_names
        renamed = {names[int(key)] if key.isdigit() else key: built[key] for key in built}
        return arrow_table("readings", renamed, counters=names)

    def _bursts(self, built: Mapping[str, Columns], tables: Mapping[str, pa.Table]) -> pa.Table:
        names = self.counter_names
        self._drop_wrong_polls(built["bursts"])
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
            others.append(bursts_of_states(states, extrae.RUNNING, names))
            if others[0].num_rows:
                self.scanned.defects.note("bursts_from_states", "info", "there are no calls")
        others = [table for table in others if table.num_rows]
        return sorted_by_location(pa.concat_tables([bursts, *others])) if others else bursts

    def _drop_wrong_polls(self, built: Columns) -> None:
        """Drop in place what no polls of a burst sum up to: values of events may be any."""
        dropped = 0
        for name, unknown in (("polls", 0), ("polling_ns", 0), ("waiting_ns", schema.NO_VALUE)):
            values, (least, most) = built[name], schema.TABLES["bursts"].bounds(name)
            is_wrong = ((values < least) | (values > most)) & (values != unknown)
            dropped += int(np.count_nonzero(is_wrong))
            values[is_wrong] = unknown
        if dropped:
            self.scanned.defects.note("polls_out_of_range", "loss", "of a burst", dropped)

    def counter_table(self) -> pa.Table:
        """The table of counters."""
        rows = []
        for kind, name in self.counters:
            is_clock = kind == extrae.CPU_TIME or name.lower().endswith(_CLOCKS)
            rows.append((name, "ns" if is_clock else "", "delta", kind))
        return row_table("counters", rows)

    def counter_set_table(self) -> pa.Table:
        """The counters of each set; set 0 stands for a trace that names no set."""
        least, most = schema.TABLES["counter_sets"].bounds("counter_set")
        told = sorted(self.set_members)
        members = [each for each in told if least <= each[0] <= most]
        if lost := [number for number, _ in told if not least <= number <= most]:
            self.scanned.defects.note(
                "counter_set_out_of_range", "loss", f"set {lost[0]}", len(lost)
            )
        names = self.counter_names
        return row_table(
            "counter_sets", ((number, names[column]) for number, column in members)
        )


class Endings:
    """How the ranks of a trace end, by what its parts hold."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        # whether each process calls MPI, begins and ends it
        self._calls, self._begins, self._ends = np.zeros((3, len(objects.threads)), bool)
        self._off_until = np.full(len(objects.process), schema.NO_VALUE)

    def add(self, calls: Columns, gaps: Sequence[tuple[int, int, int, int]]) -> None:
        """Take in the calls and gaps of a part."""
        process, operation = self._objects.process[calls["location"]], calls["operation"]
        self._calls[process] = True
        self._begins[process[np.isin(operation, _INIT)]] = True
        self._ends[process[np.isin(operation, _FINALIZE)]] = True
        for location, _, end_ns, kind in gaps:
            if kind == GapKind.TRACING_OFF:
                self._off_until[location] = end_ns

    def note(self, scanned: Scanned, header: Header, died_ns: Integers) -> None:
        """Note ranks that do not end as MPI's do, and a body that ends before the header's."""
        if any(_PART.match(line) for line in scanned.comments):
            return  # it says itself that it is not the whole trace
        process, application = self._objects.process, self._objects.application_of_task
        off = np.zeros(len(self._calls), bool)
        off[process[(self._off_until >= died_ns) & (died_ns > 0)]] = True
        with_mpi = np.unique(application[self._begins | self._ends])
        without = self._calls & ~self._ends & ~off & np.isin(application, with_mpi)
        if without.any():
            task = int(without.argmax())
            which = f"rank {self._objects.rank_of_task[task]}"
            which += f" of application {application[task]}" if application.any() else ""
            text = f"{which} has no MPI_Finalize: the run was interrupted or the trace was cut"
            scanned.defects.note("no_mpi_finalize", "loss", text, without.sum())
        last, claimed = int(died_ns.max(initial=0)), header.claimed_duration or 0
        is_whole = self._calls.any() and not (self._calls & ~self._ends).any()
        if 0 < last < _ENDS_SHORT * claimed and not is_whole:
            text = f"the header claims {claimed} ns, the last record ends at {last} ns"
            scanned.defects.note("ends_before_its_header", "loss", text)


_CLOCKS = ("task-clock", "cpu-clock")
_SEVERITY = {
    "events_out_of_order": "info",
    "region_left_but_never_entered": "info",
    "region_never_left": "info",
}


class RegionDefinitions:
    """The definitions of regions, in order of appearance."""

    def __init__(self, pcf: Pcf) -> None:
        self._pcf = pcf
        self._rows: dict[tuple[int, int, int], int] = {}
        self.roles: list[str] = []
        # A recorded loop is a user function by its events; labels of calls name it, too.
        of_calls = pcf.types.get(extrae.LOOP_OF_CALL)
        self._loops = set((pcf.values.get(of_calls.group, {}) if of_calls else {}).values())

    def number(self, built: Columns) -> npt.NDArray[np.int32]:
        """The definition of each region, shape (regions,); adds new ones."""
        return _numbered_rows(self._add, built["type"], built["value"], built["line"])

    def _add(self, kind: int, value: int, line: int) -> int:
        key = kind, value, line
        if key not in self._rows:
            self._rows[key] = len(self._rows)
            self.roles.append(self._kind(kind, value).role)
        return self._rows[key]

    def leave_out_loops(self) -> None:
        """Take loops for the user functions that their events say."""
        self._loops.clear()

    def _kind(self, kind: int, value: int) -> extrae.RegionKind:
        label = self._pcf.value_label(kind, value)
        described = extrae.region_kind(kind, value, label)
        is_loop = kind == extrae.USER_FUNCTION and label in self._loops
        return described._replace(role="loop") if is_loop else described

    def table(self) -> pa.Table:
        """The definitions as a table."""
        rows = []
        for number, (kind, value, line) in enumerate(self._rows):
            label = self._pcf.value_label(kind, value)
            described = self._kind(kind, value)
            source = kind, None if value == schema.NO_VALUE else value
            name = extrae.region_name(kind, value, label)
            file, begin = self._place(kind, line)
            rows.append((number, name, *described, file, begin, None, *source))
        return row_table("region_defs", rows)

    def _place(self, kind: int, line: int) -> tuple[str | None, int | None]:
        if line == schema.NO_VALUE or kind not in extrae.REGION_LINES:
            return None, None
        label = self._pcf.value_label(extrae.REGION_LINES[kind], line)
        source = extrae.read_line(label) if label else None
        return (source.file, source.line) if source else (None, None)


def _region_tables(
    built: Columns, definitions: RegionDefinitions, objects: Objects, first_team: int
) -> tuple[pa.Table, pa.Table]:
    """Regions and OpenMP teams as tables, in O(regions · log teams)."""
    # A team is an outermost parallel region on the first thread of a process; regions of other
    # threads belong to the team in whose span they begin.
    region = definitions.number(built)
    roles = np.array(definitions.roles or [""])
    role = roles[region] if len(region) else np.empty(0, roles.dtype)
    location = built["location"]
    process = objects.process[location]
    forks = np.flatnonzero(
        (role == "parallel") & (objects.thread[location] == 0) & _is_outermost(built, role)
    )
    team = _team_of(built, process, forks)
    barrier = np.isin(role, ["barrier", "implicit_barrier"]) & (team >= 0)
    ordinal = np.full(len(region), schema.UNKNOWN)
    ordinal[barrier] = ordinal_within(team[barrier], location[barrier])
    regions = arrow_table(
        "regions",
        {
            **built,
            "region": region,
            "team": np.where(team >= 0, team + first_team, schema.UNKNOWN),
            "barrier_ordinal": ordinal,
            "iterations": np.full(len(region), schema.NO_VALUE),
            "origin": np.zeros(len(region)),
        },
    )
    return regions, _team_table(built, process, forks, team, first_team)


def _is_outermost(built: Columns, role: npt.NDArray[np.str_]) -> Mask:
    start = np.searchsorted(built["location"], built["location"])
    parent = np.where(built["parent"] >= 0, start + built["parent"], -1)
    inside, around = take(role == "parallel", parent, missing=False), parent
    while (around >= 0).any():  # each turn doubles how many regions around are looked at
        inside |= take(inside, around, missing=False)
        around = take(around, around)
    return ~inside


def _team_of(built: Columns, process: npt.NDArray[np.int32], forks: Integers) -> Integers:
    starts = process[forks], built["enter_ns"][forks]
    team = last_until(starts, (process, built["enter_ns"]))
    ends = take(built["leave_ns"][forks], team, schema.NO_VALUE)
    return np.where(built["leave_ns"] <= ends, team, schema.UNKNOWN)


def _team_table(
    built: Columns,
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


def _lock_table(
    locks: Sequence[tuple[int, int, int, int, int, int]], objects: Objects, regions: Columns
) -> pa.Table:
    """Acquisitions as a table; `order` counts those of one lock of one process.

    A release in the record that leaves a construct is one event with the leave, as recorded.
    """
    columns = np.array(locks, np.int64).reshape(-1, 6)
    location, lock, acquire = columns[:, 0], columns[:, 1], columns[:, 2]
    process, release = objects.process[location], columns[:, [0, 4, 5]]
    left = np.flatnonzero(np.isin(regions["leave_ns"], release[:, 1]))
    names = ("location", "leave_ns", "leave_seq")
    leaves = set(zip(*(regions[name][left].tolist() for name in names), strict=True))
    together = [(where, time, seq - 1) in leaves for where, time, seq in release.tolist()]
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
            "release_seq": columns[:, 5] - np.array(together, bool),
        },
    )
