"""The definitions of an archive that holds a trace, as rows that the kernel writes.

::

    locations ─► nodes, processes, threads        communicators ─► groups of ranks
    operations, region_defs ─► regions            counters ─► metrics, by what is read together

The scheme is Score-P's, because analysers rely on it: a thread's reference is
``thread << 32 | process``, and a region of MPI has the source file ``MPI``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import operations
from burstline._core import Defined
from burstline.formats.otf2.numbers import MPI, NOWHERE, ROLES
from burstline.formats.otf2.writing.communicators import Communicators
from burstline.formats.otf2.writing.rows import ALL_MEMBERS, SOME_MEMBERS, Rows
from burstline.schema import VALUE_TYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstline.columns import Integers
    from burstline.trace import Trace


_NANOSECONDS: Final = 1_000_000_000
_OPENMP: Final = 3
_PROCESS: Final = 1
_LOCATION_KINDS: Final = {"cpu": 1, "gpu_stream": 2, "metric": 3, "other": 0}
_PARADIGMS: Final = {"user": 1, "openmp": _OPENMP, "pthread": 7, "gpu": 5, "mpi": MPI}
_PARADIGM_NAMES: Final = ((MPI, "MPI", 0), (_OPENMP, "OpenMP", 1))
_ACCUMULATED, _ABSOLUTE = 0, 17
_UINT64, _INT64 = VALUE_TYPES.index("uint64"), VALUE_TYPES.index("int64")
_DECIMAL: Final = 1
_PARAMETER_TYPES: Final = ("string", "int64", "uint64")
_MPI_ROLES: Final = {
    "barrier": ("Barrier",),
    "coll_one2all": ("Bcast", "Scatter", "Scatterv"),
    "coll_all2one": ("Gather", "Gatherv", "Reduce"),
}
_LARGEST_METRIC: Final = 255
_SEPARATOR: Final = ", "


class Definitions:
    """The definitions of an archive that holds a trace; some are added as events need them."""

    def __init__(self, trace: Trace) -> None:
        self._rows = Rows()
        self.text = self._rows.text
        for reference, name, kind in _PARADIGM_NAMES:
            self._rows.add(Defined.PARADIGM, reference, self.text(name), kind)
        self._places = trace.locations.to_pylist()
        # of each location
        self.references = [row["thread"] << 32 | row["process"] for row in self._places]
        # of each row of `region_defs`; -1 for teams, which are no regions
        self.regions = self._add_regions(trace)
        self._operations: dict[int, int] = {}
        self._metrics: dict[tuple[int, ...], int] = {}
        self._parameters: dict[tuple[str, int], int] = {}
        self._attributes: dict[tuple[str, int], int] = {}
        self.communicators = Communicators(self._rows, trace, self.references)
        # the communicator of the teams of each location's process
        self.teams = self._add_teams(trace)
        self.value_types = self._add_counters(trace)  # of each counter

    def operation(self, code: int, names: Sequence[str]) -> int:
        """The region of an operation, which is defined when it is new."""
        if code not in self._operations:
            region = int(self.regions.max(initial=-1)) + 1 + len(self._operations)
            self._operations[code] = region
            role = _role_of(names[code])
            name = self.text(names[code])
            row = (region, name, name, ROLES.index(role), MPI, self.text("MPI"), 0, 0)
            self._rows.add(Defined.REGION, *row)
        return self._operations[code]

    def metric(self, counters: tuple[int, ...]) -> int:
        """The metric of counters that are read together, which is defined when it is new."""
        if counters not in self._metrics:
            self._metrics[counters] = len(self._metrics)
            self._rows.add(Defined.METRIC_CLASS, self._metrics[counters], 0, *counters)
        return self._metrics[counters]

    def parameter(self, name: str, form: str) -> int:
        """The parameter of a name and type, which is defined when it is new."""
        code = _PARAMETER_TYPES.index(form)
        return self._of_name(Defined.PARAMETER, self._parameters, name, code)

    def attribute(self, name: str, code: int) -> int:
        """The attribute of a name and type, which is defined when it is new."""
        return self._of_name(Defined.ATTRIBUTE, self._attributes, name, code)

    def _of_name(
        self, kind: Defined, defined: dict[tuple[str, int], int], name: str, code: int
    ) -> int:
        if (name, code) not in defined:
            defined[name, code] = len(defined)
            self._rows.add(kind, defined[name, code], self.text(name), code)
        return defined[name, code]

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
            reference = self.references[row["location"]]
            kind = _LOCATION_KINDS[row["kind"]]
            add(Defined.LOCATION, reference, text(thread), kind, count, process)

    def _place_names(self) -> list[tuple[str, str]]:
        """Names of the process and of the thread of each location."""
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
        defined = (row for row in trace.region_defs.to_pylist() if row["role"] != "team")
        for reference, row in enumerate(defined):
            references[row["region"]] = reference
            name = self.text(row["name"])
            role = ROLES.index(row["role"] if row["role"] in ROLES else "unknown")
            file = NOWHERE if row["file"] is None else self.text(row["file"])
            lines = row["begin_line"] or 0, row["end_line"] or 0
            paradigm = _PARADIGMS.get(row["paradigm"], 0)
            whole = (reference, name, name, role, paradigm, file, *lines)
            self._rows.add(Defined.REGION, *whole)
        return references

    def _add_teams(self, trace: Trace) -> Integers:
        teams = np.full(len(self._places), -1, np.int64)
        if "team" not in trace.region_defs["role"].to_pylist():
            return teams
        threads = [row["location"] for row in self._places if row["kind"] == "cpu"]
        references = [self.references[location] for location in threads]
        self._rows.add_group(ALL_MEMBERS, _OPENMP, references)
        members: dict[int, list[int]] = {}
        for number, location in enumerate(threads):
            members.setdefault(self._places[location]["process"], []).append(number)
        for process, numbers in members.items():
            reference = self.communicators.count + process
            self._rows.add_communicator(reference, "", SOME_MEMBERS, _OPENMP, numbers)
            teams[[threads[number] for number in numbers]] = reference
        return teams

    def _add_counters(self, trace: Trace) -> Integers:
        count = trace.counters.num_rows
        value_types = np.zeros(count, np.int64)
        for number, row in enumerate(trace.counters.to_pylist()):
            is_absolute = row["mode"] == "absolute"
            mode, value_types[number] = (
                (_ABSOLUTE, _INT64) if is_absolute else (_ACCUMULATED, _UINT64)
            )
            unit, exponent = _scale(row["unit"])
            how = mode, int(value_types[number]), _DECIMAL, exponent
            name, unit_name = self.text(row["name"]), self.text(unit or "#")
            self._rows.add(Defined.METRIC_MEMBER, number, name, 0, *how, unit_name)
        # One metric of all counters keeps their order, whatever is read together first.
        if 0 < count <= _LARGEST_METRIC:
            self.metric(tuple(range(count)))
        return value_types


def _scale(unit: str) -> tuple[str, int]:
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
