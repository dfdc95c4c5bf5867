"""What an archive defines, made from a trace: the rows that the kernel writes.

::

    locations ─► nodes, processes, threads        communicators ─► groups of ranks
    operations, region_defs ─► regions            counters ─► metrics, by what is read together

The scheme is Score-P's, because analysers rely on it: a thread's reference is
``thread << 32 | process``, and a region of MPI has the source file ``MPI``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline import operations
from burstline._core import Defined
from burstline.formats.otf2.reading.definitions import NOWHERE
from burstline.formats.otf2.reading.places import MPI
from burstline.formats.otf2.reading.regions import ROLES
from burstline.formats.otf2.writing.communicators import (
    ALL_MEMBERS,
    SOME_MEMBERS,
    Communicating,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from burstline.columns import Integers, Mask
    from burstline.trace import Trace


NANOSECONDS: Final = 1_000_000_000

_OPENMP: Final = 3
_PROCESS: Final = 1
_KINDS: Final = {"cpu": 1, "gpu_stream": 2, "metric": 3, "other": 0}
_PARADIGMS: Final = {"user": 1, "openmp": _OPENMP, "pthread": 7, "gpu": 5, "mpi": MPI}
_ACCUMULATED, _ABSOLUTE = 0, 17
_UINT64, _INT64 = 4, 8
_DECIMAL: Final = 1
_PARAMETER_TYPES: Final = ("string", "int64", "uint64")
_MPI_ROLES: Final = {
    "barrier": ("Barrier",),
    "coll_one2all": ("Bcast", "Scatter", "Scatterv"),
    "coll_all2one": ("Gather", "Gatherv", "Reduce"),
}
_MOST_READ: Final = 255
_LONGEST_TEXT: Final = 32_768
_SEPARATOR: Final = ", "


class Rows:
    """Rows of definitions, and the texts they refer to."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._texts: dict[str, int] = {}
        self._bytes = bytearray()
        self.text("")

    def add(self, what: int, *numbers: int) -> None:
        """Add a row."""
        self._numbers += [what, len(numbers), *numbers]

    def text(self, words: str) -> int:
        """Give the reference of a text; it is defined when it is new."""
        words = words[:_LONGEST_TEXT]
        if words not in self._texts:
            self._texts[words] = len(self._texts)
            # A zero ends a text in the library, so none can be in it.
            content = words.replace("\0", "\ufffd").encode("utf-8", "replace")
            self.add(Defined.TEXT, self._texts[words], len(self._bytes), len(content))
            self._bytes += content
        return self._texts[words]

    def take(self) -> tuple[Integers, bytes]:
        """Give all rows, and all texts."""
        return np.array(self._numbers, np.int64), bytes(self._bytes)


class Defining:
    """The definitions of an archive that holds a trace.

    Parameters
    ----------
    trace : Trace
        The trace.

    Attributes
    ----------
    references : list of int
        Of each location.
    regions : ndarray of int64, shape (regions,)
        The region of each row of `region_defs`, -1 for teams, which are none.
    teams : ndarray of int64, shape (locations,)
        Communicator of the teams of each location's process.
    value_types : ndarray of int64, shape (counters,)
        What the values of each counter are: what accumulates has no sign.
    """

    def __init__(self, trace: Trace) -> None:
        self._rows = Rows()
        for reference, name, kind in ((MPI, "MPI", 0), (_OPENMP, "OpenMP", 1)):
            self._rows.add(Defined.PARADIGM, reference, self._rows.text(name), kind)
        self._places = trace.locations.to_pylist()
        self._process_of = {
            (row["application"], row["rank"]): row["process"] for row in self._places
        }
        self.references = [row["thread"] << 32 | row["process"] for row in self._places]
        self.regions = self._regions(trace)
        self._operations: dict[int, int] = {}
        self._classes: dict[tuple[int, ...], int] = {}
        self._parameters: dict[tuple[str, int], int] = {}
        self._attributes: dict[tuple[str, int], int] = {}
        self._groups = 0
        self._communicators = Communicating(self, trace)
        self.teams = self._teams(trace)
        self._counters(trace)

    def operation(self, code: int, names: Sequence[str]) -> int:
        """Give the region of an operation; it is defined when it is new."""
        if code not in self._operations:
            region = int(self.regions.max(initial=-1)) + 1 + len(self._operations)
            self._operations[code] = region
            text, role = self._rows.text, _role_of(names[code])
            name = text(names[code])
            row = (region, name, name, ROLES.index(role), MPI, text("MPI"), 0, 0)
            self._rows.add(Defined.REGION, *row)
        return self._operations[code]

    def metric(self, read: tuple[int, ...]) -> int:
        """Give the metric of counters that are read together."""
        if read not in self._classes:
            self._classes[read] = len(self._classes)
            self._rows.add(Defined.METRIC_CLASS, self._classes[read], 0, *read)
        return self._classes[read]

    def parameter(self, name: str, form: str) -> int:
        """Give the parameter of a name and type; it is defined when it is new."""
        code = _PARAMETER_TYPES.index(form)
        return self._named(Defined.PARAMETER, self._parameters, name, code)

    def attribute(self, name: str, code: int) -> int:
        """Give the attribute of a name and type; it is defined when it is new."""
        return self._named(Defined.ATTRIBUTE, self._attributes, name, code)

    def _named(
        self, kind: Defined, known: dict[tuple[str, int], int], name: str, code: int
    ) -> int:
        if (name, code) not in known:
            known[name, code] = len(known)
            self._rows.add(kind, known[name, code], self._rows.text(name), code)
        return known[name, code]

    def text(self, words: str) -> int:
        """Give the reference of a text."""
        return self._rows.text(words)

    def group(self, name: str, kind: int, paradigm: int, members: Iterable[int]) -> int:
        """Define a group; give its reference."""
        self._groups += 1
        row = (self._groups - 1, self._rows.text(name), kind, paradigm, 0, *members)
        self._rows.add(Defined.GROUP, *row)
        return self._groups - 1

    def communicator(self, reference: int, name: str, group: int) -> None:
        """Define a communicator."""
        row = (reference, self._rows.text(name), group, NOWHERE)
        self._rows.add(Defined.COMMUNICATOR, *row)

    @property
    def communicators(self) -> Communicating:
        """The communicators of MPI."""
        return self._communicators

    def process(self, application: int, rank: int) -> int:
        """Give the process of a rank, -1 if it has no location."""
        return self._process_of.get((application, rank), -1)

    def ranks(self, application: int) -> list[int]:
        """Give the ranks of an application."""
        return sorted(rank for one, rank in self._process_of if one == application)

    @property
    def processes(self) -> dict[int, int]:
        """First location of each process."""
        first: dict[int, int] = {}
        for row in self._places:
            first.setdefault(row["process"], row["location"])
        return first

    def finish(self, events: Sequence[int], length_ns: int) -> tuple[Integers, bytes]:
        """Give all rows and texts, once all events are known.

        Parameters
        ----------
        events : sequence of int
            Events of each location.
        length_ns : int
            Length of the trace.

        Returns
        -------
        rows : ndarray of int64
            Kind, length, and as many integers, again and again.
        text : bytes
            All texts.
        """
        self._rows.add(Defined.CLOCK, NANOSECONDS, 0, length_ns)
        self._tree(events)
        return self._rows.take()

    def _tree(self, events: Sequence[int]) -> None:
        add, text = self._rows.add, self._rows.text
        add(Defined.NODE, 0, text("machine"), text("machine"), NOWHERE)
        nodes: dict[str, int] = {}
        for row in self._places:
            name = row["node"] or "node"
            if name not in nodes:
                nodes[name] = len(nodes) + 1
                add(Defined.NODE, nodes[name], text(name), text("node"), 0)
        names = self._names()
        seen = set()
        for row, (group, own), count in zip(self._places, names, events, strict=True):
            process = row["process"]
            if process not in seen:
                seen.add(process)
                node = nodes[row["node"] or "node"]
                add(Defined.LOCATION_GROUP, process, text(group), _PROCESS, node)
            reference = self.references[row["location"]]
            kind = _KINDS[row["kind"]]
            add(Defined.LOCATION, reference, text(own), kind, count, process)

    def _names(self) -> list[tuple[str, str]]:
        """Give names of the process and of the thread of each location.

        Archives that were read have both in one name.
        """
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

    def _regions(self, trace: Trace) -> Integers:
        add, text = self._rows.add, self._rows.text
        references = np.full(trace.region_defs.num_rows, -1, np.int64)
        defined = (row for row in trace.region_defs.to_pylist() if row["role"] != "team")
        for reference, row in enumerate(defined):
            references[row["region"]] = reference
            name = text(row["name"])
            role = row["role"] if row["role"] in ROLES else "unknown"
            file = NOWHERE if row["file"] is None else text(row["file"])
            lines = (row["begin_line"] or 0, row["end_line"] or 0)
            paradigm = _PARADIGMS.get(row["paradigm"], 0)
            add(
                Defined.REGION,
                reference,
                name,
                name,
                ROLES.index(role),
                paradigm,
                file,
                *lines,
            )
        return references

    def _teams(self, trace: Trace) -> Integers:
        teams = np.full(len(self._places), -1, np.int64)
        if "team" not in trace.region_defs["role"].to_pylist():
            return teams
        threads = [row["location"] for row in self._places if row["kind"] == "cpu"]
        references = [self.references[location] for location in threads]
        self.group("", ALL_MEMBERS, _OPENMP, references)
        members: dict[int, list[int]] = {}
        for place, location in enumerate(threads):
            members.setdefault(self._places[location]["process"], []).append(place)
        for process, mine in members.items():
            group = self.group("", SOME_MEMBERS, _OPENMP, mine)
            reference = self._communicators.count + process
            self.communicator(reference, "", group)
            teams[[threads[place] for place in mine]] = reference
        return teams

    def _counters(self, trace: Trace) -> None:
        add, text = self._rows.add, self._rows.text
        self.value_types = np.zeros(trace.counters.num_rows, np.int64)
        for number, row in enumerate(trace.counters.to_pylist()):
            is_absolute = row["mode"] == "absolute"
            mode = _ABSOLUTE if is_absolute else _ACCUMULATED
            self.value_types[number] = _INT64 if is_absolute else _UINT64
            unit, exponent = _scale(row["unit"])
            add(
                Defined.METRIC_MEMBER,
                number,
                text(row["name"]),
                0,
                mode,
                int(self.value_types[number]),
                _DECIMAL,
                exponent,
                text(unit or "#"),
            )
        # One metric of all counters keeps their order, whatever is read together first.
        if 0 < trace.counters.num_rows <= _MOST_READ:
            self.metric(tuple(range(trace.counters.num_rows)))


def _scale(unit: str) -> tuple[str, int]:
    """Split what a reader put together: ``10^-3 s`` is a unit and a power of ten."""
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


def counters_read(readings: Any, names: Sequence[str]) -> Mask:  # noqa: ANN401 -- pyarrow has no types
    """Tell which counters were read at each reading.

    Parameters
    ----------
    readings : pyarrow.Table
        Rows of `readings`.
    names : sequence of str
        The counters.

    Returns
    -------
    ndarray of bool, shape (readings, counters)
        Whether each was.
    """
    columns = [readings[name].is_valid().to_numpy() for name in names]
    return np.array(columns, bool).reshape(len(names), readings.num_rows).T
