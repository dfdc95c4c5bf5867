"""The definitions of an archive that holds a trace, as rows that the kernel writes.

The scheme is Score-P's, because analysers rely on it: a thread's reference is
``thread << 32 | process``, and a region of MPI has the source file ``MPI``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Final, TypeVar

import numpy as np

from burstline._core import Defined
from burstline.columns import Integers, mapped
from burstline.extrae import UNRESOLVED
from burstline.formats.otf2.numbers import (
    COMM_GROUP,
    COMM_LOCATIONS,
    COMM_SELF,
    MPI,
    NOWHERE,
    ROLES,
)
from burstline.model import VALUE_TYPES, Trace, operations

_LONGEST_TEXT: Final = 32_768
_NANOSECONDS: Final = 1_000_000_000
_OPENMP: Final = 3
_PROCESS: Final = 1
_LOCATION_KINDS: Final = {"cpu": 1, "gpu_stream": 2, "metric": 3, "other": 0}
_PARADIGMS: Final = {"user": 1, "openmp": _OPENMP, "pthread": 7, "gpu": 5, "mpi": MPI}
_PARADIGM_NAMES: Final = ((MPI, "MPI", 0), (_OPENMP, "OpenMP", 1))
# Mode and type of values of accumulated counters, and of absolute ones.
_COUNTED: Final = (0, VALUE_TYPES.index("uint64")), (17, VALUE_TYPES.index("int64"))
_DECIMAL: Final = 1
_MPI_ROLES: Final = {
    "barrier": ("Barrier",),
    "coll_one2all": ("Bcast", "Scatter", "Scatterv"),
    "coll_all2one": ("Gather", "Gatherv", "Reduce"),
}
_LARGEST_METRIC: Final = 255
_SEPARATOR: Final = ", "
_NO_FUNCTION: Final = UNRESOLVED


_Lines = tuple[int | None, int | None]
"""The first and the last one of a region."""
_Key = TypeVar("_Key")


class _Numbers(dict[_Key, int]):
    """Numbers of things, each of which is defined when it is asked for first."""

    def __init__(self, define: Callable[[int, _Key], None]) -> None:
        super().__init__()
        self._define = define

    def __missing__(self, key: _Key) -> int:
        number = self[key] = len(self)
        self._define(number, key)
        return number


class DefinitionRows:
    """Rows of definitions as the kernel takes them, and the texts they refer to."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        # of groups and communicators; they refer to locations, which come before them
        self._members: list[int] = []
        self._texts = _Numbers(self._define_text)
        self._bytes = bytearray()
        self._groups = 0
        self.text("")

    def add(self, kind: int, *numbers: int) -> None:
        """Add a row."""
        self._numbers += [kind, len(numbers), *numbers]

    def text(self, words: str) -> int:
        """The reference of a text, which is defined when it is new."""
        return self._texts[words[:_LONGEST_TEXT]]

    def _define_text(self, number: int, words: str) -> None:
        # A zero ends a text in the library.
        content = words.replace("\0", "\ufffd").encode("utf-8", "replace")
        self.add(Defined.TEXT, number, len(self._bytes), len(content))
        self._bytes += content

    def add_communicator(
        self, reference: int, name: str, kind: int, paradigm: int, members: Iterable[int]
    ) -> None:
        """Add a communicator, and the group of its members."""
        group = self.add_group(kind, paradigm, members)
        row = (reference, self.text(name), group, NOWHERE)
        self._members += [Defined.COMMUNICATOR, len(row), *row]

    def add_group(self, kind: int, paradigm: int, members: Iterable[int]) -> int:
        """The reference of a group without a name, which is added."""
        row = (self._groups, self.text(""), kind, paradigm, 0, *members)
        self._members += [Defined.GROUP, len(row), *row]
        self._groups += 1
        return self._groups - 1

    def take(self) -> tuple[Integers, bytes]:
        """All rows (kind, length, and as many integers each), and all texts."""
        return np.array(self._numbers + self._members, np.int64), bytes(self._bytes)


class WrittenCommunicators:
    """The communicators of MPI that an archive defines for a trace."""

    def __init__(self, rows: DefinitionRows, trace: Trace, references: Sequence[int]) -> None:
        self._rows = rows
        # (locations,): the application and the process of each
        self.application, rank, self.process = (
            column.astype(np.int64)
            for column in trace.arrays("locations", "application", "rank", "process")
        )
        ranks = zip(self.application.tolist(), rank.tolist(), strict=True)
        self._process_of = dict(zip(ranks, self.process.tolist(), strict=True))
        processes, first = np.unique(self.process, return_index=True)
        self._world_rank = {process: rank for rank, process in enumerate(processes.tolist())}
        rows.add_group(
            COMM_LOCATIONS, MPI, [references[location] for location in first.tolist()]
        )
        self.count = 0  # of communicators; their references are below it
        self._ranks: list[dict[int, int]] = []
        self._worlds: dict[int, int] = {}
        communicators = trace.communicators.to_pylist()
        # (communicators,): the reference of each row, the same for all of the kind "self"
        self.reference = np.full(len(communicators), -1, np.int64)
        self._is_self = [row["kind"] == "self" for row in communicators]
        own = cache(lambda: self._add("MPI_COMM_SELF", COMM_SELF, {}, []))
        for row in communicators:
            about = row["application"], row["kind"], row["members"]
            reference = own() if row["kind"] == "self" else self._define(*about)
            self.reference[row["communicator"]] = reference
        for application in np.unique(self.application).tolist():
            if application not in self._worlds:
                members = sorted(rank for key, rank in self._process_of if key == application)
                self._define(application, "world", members)

    def _define(self, application: int, kind: str, ranks: Iterable[int]) -> int:
        keys = ((application, rank) for rank in ranks)
        processes = [self._process_of[key] for key in keys if key in self._process_of]
        name = f"communicator {self.count}"
        if kind == "world" and application not in self._worlds:
            self._worlds[application] = self.count
            name = "MPI_COMM_WORLD"
        members = [self._world_rank[process] for process in processes]
        by_process = {process: rank for rank, process in enumerate(processes)}
        return self._add(name, COMM_GROUP, by_process, members)

    def _add(self, name: str, kind: int, ranks: dict[int, int], members: Iterable[int]) -> int:
        self._rows.add_communicator(self.count, name, kind, MPI, members)
        self._ranks.append(ranks)
        self.count += 1
        return self.count - 1

    def named(
        self, row: Integers, process: Integers, application: Integers
    ) -> tuple[Integers, Integers]:
        """References of communicators, or of the world without one, and ranks in them or -1."""
        pairs = mapped(self._named, row, process, application).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

    def _named(self, row: int, process: int, application: int) -> tuple[int, int]:
        if row >= 0 and self._is_self[row]:
            return int(self.reference[row]), 0
        reference = int(self.reference[row]) if row >= 0 else -1
        if reference >= 0 and (process < 0 or process in self._ranks[reference]):
            return reference, self._ranks[reference].get(process, -1)
        world = self._worlds[application]
        return world, self._ranks[world].get(process, -1)

    def processes(self, application: Integers, rank: Integers) -> Integers:
        """The process of each rank of an application, -1 where it has no location."""
        return mapped(lambda *key: self._process_of.get(key, -1), application, rank)


class WrittenDefinitions:
    """The definitions of an archive that holds a trace; some are added as events need them."""

    def __init__(self, trace: Trace) -> None:
        self._rows = DefinitionRows()
        self.text, self.define = self._rows.text, self._rows.add
        for reference, name, kind in _PARADIGM_NAMES:
            self._rows.add(Defined.PARADIGM, reference, self.text(name), kind)
        self._places = trace.locations.to_pylist()
        # of each location
        self.references = [row["thread"] << 32 | row["process"] for row in self._places]
        # of each row of `region_defs`; -1 for teams, which are no regions
        self._next_region = 0
        self.regions = self._add_regions(trace)
        self._operations: dict[int, int] = {}
        self.contexts = WrittenContexts(self, trace)
        # those of counters that are read together
        self.metrics = _Numbers[tuple[int, ...]](
            lambda number, counters: self.define(Defined.METRIC_CLASS, number, 0, *counters)
        )
        self._named = {
            kind: self._numbers_of(kind) for kind in (Defined.PARAMETER, Defined.ATTRIBUTE)
        }
        self.communicators = WrittenCommunicators(self._rows, trace, self.references)
        # the communicator of the teams of each location's process
        self.teams = self._add_teams(trace)
        self.value_types = self._add_counters(trace)  # of each counter

    def operation(self, code: int, names: Sequence[str]) -> int:
        """The region of an operation, which is defined when it is new."""
        if code not in self._operations:
            self._operations[code] = self.region(names[code], _role_of(names[code]), MPI, "MPI")
        return self._operations[code]

    def region(
        self, name: str, role: str, paradigm: int, file: str | None, lines: _Lines = (None,) * 2
    ) -> int:
        """A region, which is defined."""
        region, words = self._next_region, self.text(name)
        self._next_region += 1
        source = NOWHERE if file is None else self.text(file)
        kind = ROLES.index(role if role in ROLES else "unknown")
        begin, end = (line or 0 for line in lines)
        self.define(Defined.REGION, region, words, words, kind, paradigm, source, begin, end)
        return region

    def _numbers_of(self, kind: Defined) -> _Numbers[tuple[str, int]]:
        return _Numbers(
            lambda number, key: self.define(kind, number, self.text(key[0]), key[1])
        )

    def named(self, name: str, kind: Defined, code: int) -> int:
        """The parameter or attribute of a name and type, which is defined when it is new."""
        return self._named[kind][name, code]

    def finish(self, events: Sequence[int], length_ns: int) -> tuple[Integers, bytes]:
        """All rows and texts, once the events of each location are counted."""
        self._rows.add(Defined.CLOCK, _NANOSECONDS, 0, length_ns)
        self._add_places(events)
        return self._rows.take()

    def _add_places(self, events: Sequence[int]) -> None:
        add, text = self._rows.add, self.text
        add(Defined.NODE, 0, text("machine"), text("machine"), NOWHERE)
        nodes: dict[str, int] = {}
        for row in self._places:
            name = row["node"] or "node"
            if name not in nodes:
                nodes[name] = len(nodes) + 1
                add(Defined.NODE, nodes[name], text(name), text("node"), 0)
        processes = set()
        names = self._place_names()
        for row, (group, thread), count in zip(self._places, names, events, strict=True):
            process = row["process"]
            if process not in processes:
                processes.add(process)
                node = nodes[row["node"] or "node"]
                add(Defined.LOCATION_GROUP, process, text(group), _PROCESS, node)
            reference, kind = self.references[row["location"]], _LOCATION_KINDS[row["kind"]]
            add(Defined.LOCATION, reference, text(thread), kind, count, process)

    def _place_names(self) -> list[tuple[str, str]]:
        # Archives that were read have both in one name.
        heads: dict[int, set[str]] = {}
        for row in self._places:
            heads.setdefault(row["process"], set()).add(row["name"].partition(_SEPARATOR)[0])
        several = len({row["application"] for row in self._places}) > 1
        names = []
        for row in self._places:
            head, separator, tail = row["name"].partition(_SEPARATOR)
            if separator and len(heads[row["process"]]) == 1:
                names.append((head, tail))
                continue
            rank = f"MPI Rank {row['rank']}"
            process = f"Application {row['application']}, {rank}" if several else rank
            names.append((process, row["name"] or f"Thread {row['thread']}"))
        return names

    def _add_regions(self, trace: Trace) -> Integers:
        references = np.full(trace.region_defs.num_rows, -1, np.int64)
        for row in trace.region_defs.to_pylist():
            if row["role"] != "team":
                lines, paradigm = (row["begin_line"], row["end_line"]), row["paradigm"]
                references[row["region"]] = self.region(
                    row["name"], row["role"], _PARADIGMS.get(paradigm, 0), row["file"], lines
                )
        return references

    def _add_teams(self, trace: Trace) -> Integers:
        teams = np.full(len(self._places), -1, np.int64)
        if "team" not in trace.region_defs["role"].to_pylist():
            return teams
        threads = [row["location"] for row in self._places if row["kind"] == "cpu"]
        references = [self.references[location] for location in threads]
        self._rows.add_group(COMM_LOCATIONS, _OPENMP, references)
        members: dict[int, list[int]] = {}
        for number, location in enumerate(threads):
            members.setdefault(self._places[location]["process"], []).append(number)
        for process, numbers in members.items():
            reference = self.communicators.count + process
            self._rows.add_communicator(reference, "", COMM_GROUP, _OPENMP, numbers)
            teams[[threads[number] for number in numbers]] = reference
        return teams

    def _add_counters(self, trace: Trace) -> Integers:
        count = trace.counters.num_rows
        value_types = np.zeros(count, np.int64)
        for number, row in enumerate(trace.counters.to_pylist()):
            mode, form = _COUNTED[row["mode"] == "absolute"]
            value_types[number] = form
            unit, exponent = _unit_and_power(row["unit"])
            name, unit_name = self.text(row["name"]), self.text(unit or "#")
            how = mode, form, _DECIMAL, exponent
            self._rows.add(Defined.METRIC_MEMBER, number, name, 0, *how, unit_name)
        # One metric of all counters keeps their order, whatever is read together first.
        if 0 < count <= _LARGEST_METRIC:
            self.metrics[tuple(range(count))]
        return value_types


class WrittenContexts:
    """Rows of `call_paths` as calling contexts, defined where something refers to them."""

    def __init__(self, definitions: WrittenDefinitions, trace: Trace) -> None:
        self._definitions, self._paths = definitions, trace.call_paths
        self._rows: list[tuple[int | None, str, str | None, int | None]] = []
        self._functions: dict[str, int] = {}
        self._places = _Numbers[tuple[str, int]](
            lambda number, place: definitions.define(
                Defined.SOURCE_CODE_LOCATION, number, definitions.text(place[0]), place[1]
            )
        )
        self._defined: dict[int, int] = {}  # those that something refers to, by row

    def of(self, rows: Integers) -> Integers:
        """The context of each row; of none, that of a function without a name."""
        return mapped(self._context, rows)

    def _context(self, row: int) -> int:
        if not self._rows:
            names = ("parent", "function", "file", "line")
            columns = (self._paths[name].to_pylist() for name in names)
            self._rows = list(zip(*columns, strict=True))
        if row < 0:
            return self._define(row, (None, _NO_FUNCTION, None, None))
        chain = []
        above: int | None = row
        while above is not None and above not in self._defined:
            chain.append(above)
            above = self._rows[above][0]
        for each in reversed(chain):
            self._define(each, self._rows[each])
        return self._defined[row]

    def _define(self, row: int, frame: tuple[int | None, str, str | None, int | None]) -> int:
        if row in self._defined:
            return self._defined[row]
        parent, function, file, line = frame
        if function not in self._functions:
            region = self._definitions.region(function, "function", _PARADIGMS["user"], None)
            self._functions[function] = region
        above = NOWHERE if parent is None else self._defined[parent]
        number = self._defined[row] = len(self._defined)
        place = NOWHERE if file is None else self._places[file, line or 0]
        numbers = number, self._functions[function], place, above
        self._definitions.define(Defined.CALLING_CONTEXT, *numbers)
        return number


def _unit_and_power(unit: str) -> tuple[str, int]:
    """The unit and the power of ten in what a reader put together, as ``10^-3 s``."""
    power, _, rest = unit.partition(" ")
    if power.startswith("10^") and power[3:].lstrip("-").isdigit():
        return rest, int(power[3:])
    return unit, 0


def _role_of(name: str) -> str:
    plain = name.removeprefix("MPI_")
    plain = plain[1:].capitalize() if name in operations.NON_BLOCKING_COLLECTIVES else plain
    for role, names in _MPI_ROLES.items():
        if plain in names:
            return role
    if name in operations.COLLECTIVES:
        return "coll_other" if plain in ("Scan", "Exscan") else "coll_all2all"
    if name in operations.POINT_TO_POINT:
        return "point2point"
    if name in operations.RMA:
        return "rma"
    return "file_io" if name in operations.IO else "function"
