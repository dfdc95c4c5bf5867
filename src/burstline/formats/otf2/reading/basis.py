"""What processes share before events are read: their places, communicators, and all else.

A location group is a process, but for that of an accelerator, whose streams belong to the
process that made it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import Integers, lookup, ordinal_within, take
from burstline.formats.intake import Defects, Placement
from burstline.formats.otf2.numbers import COMM_SELF, MPI, NOWHERE
from burstline.formats.otf2.reading.archive import Archive, ArchiveDefinitions, GroupDefinition
from burstline.formats.otf2.reading.metrics import Metrics
from burstline.formats.otf2.reading.regions import ArchivePaths, ArchiveRegions
from burstline.model import UNKNOWN, arrow_table, row_table

_KINDS: Final = {1: "cpu", 2: "gpu_stream", 3: "metric"}
_ACCELERATOR: Final = 2
_DEEPEST: Final = 64
_NODE_CLASSES: Final = ("node", "host")


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """The locations in their order, with process, thread, node and name."""

    references: npt.NDArray[np.uint64]  # (locations,) what the archive calls them
    places: Placement  # process of each, rank of each process
    thread: Integers  # (locations,) number within its process
    kind: list[str]  # what each is
    node: list[str]
    name: list[str]
    ranks: dict[int, int]  # rank of each location of MPI's world, by reference

    def table(self, lives: Integers) -> pa.Table:
        """The table `locations`; `lives` has a row of births and one of deaths."""
        process = self.places.process
        count = len(process)
        return arrow_table(
            "locations",
            {
                "location": np.arange(count),
                "application": np.zeros(count),
                "process": process,
                "rank": self.places.rank[process],
                "thread": self.thread,
                "kind": self.kind,
                "node": [node or None for node in self.node],
                "born_ns": lives[0],
                "died_ns": lives[1],
                "name": self.name,
                "cpu": np.full(count, UNKNOWN),
            },
        )


def standing(defined: ArchiveDefinitions, defects: Defects) -> Standing:
    """The locations of an archive by rank; processes without a rank get the next ones."""
    ranks = _mpi_ranks(defined)
    owner = _owning_processes(defined, ranks, defects)
    members: dict[int, list[int]] = {}
    for reference, location in defined.locations.items():
        members.setdefault(owner[location.group], []).append(reference)
    rank_of = {
        group: min((ranks[location] for location in inside if location in ranks), default=-1)
        for group, inside in members.items()
    }
    nameless = [group for group, rank in rank_of.items() if rank < 0]
    if ranks and nameless:
        name = defined.text(defined.group(nameless[0]).name) or f"group {nameless[0]}"
        defects.note("process_without_rank", "info", name, len(nameless))
    free = max(rank_of.values(), default=-1) + 1
    for number, group in enumerate(nameless):
        rank_of[group] = free + number
    order = sorted(members, key=lambda group: (rank_of[group], group))

    def place(location: int) -> tuple[bool, bool]:
        # The location of MPI stands before its threads, and these before streams.
        group = defined.group(defined.locations[location].group)
        return location not in ranks, group.type == _ACCELERATOR

    references = [each for group in order for each in sorted(members[group], key=place)]
    process = np.repeat(np.arange(len(order)), [len(members[group]) for group in order])
    rank = np.array([rank_of[group] for group in order], np.int64)
    locations = [defined.locations[location] for location in references]
    nodes, names = [], []
    for location in locations:
        texts = defined.text(defined.group(location.group).name), defined.text(location.name)
        nodes.append(_node_name(defined, location.group))
        names.append(", ".join(dict.fromkeys(filter(None, texts))))
        defined.account.charge_row("locations", (nodes[-1], names[-1]))
    return Standing(
        np.array(references, np.uint64),
        Placement(process.astype(np.int64), np.zeros(len(order), np.int64), rank, 0),
        ordinal_within(process),
        [_KINDS.get(location.type, "other") for location in locations],
        nodes,
        names,
        ranks,
    )


def _owning_processes(
    defined: ArchiveDefinitions, ranks: dict[int, int], defects: Defects
) -> dict[int, int]:
    """The process of each group that has locations: itself, unless it is an accelerator."""
    groups, processes = defined.location_groups, {}
    for reference, location in defined.locations.items():
        if defined.group(location.group).type != _ACCELERATOR or reference in ranks:
            processes[location.group] = location.group
    owner, lost = dict(processes), []
    for group in dict.fromkeys(location.group for location in defined.locations.values()):
        if group in processes:
            continue
        maker = _making_process(defined, group)
        if maker not in processes:
            node = groups[group].node
            # As a process, the accelerator would be a rank that MPI never had.
            near = [process for process in processes if defined.group(process).node == node]
            maker = next(iter([*near, *processes, group]))
            lost.append(group)
        owner[group] = maker
    if lost:
        name = defined.text(groups[lost[0]].name) or f"group {lost[0]}"
        defects.note("accelerator_without_process", "loss", name, len(lost))
    return owner


def _making_process(defined: ArchiveDefinitions, group: int) -> int:
    """The process that made a group, directly or through other accelerators."""
    for _ in range(_DEEPEST):
        if defined.group(group).type != _ACCELERATOR:
            return group
        group = defined.group(group).creator
    return NOWHERE


def _mpi_ranks(defined: ArchiveDefinitions) -> dict[int, int]:
    ranks: dict[int, int] = {}
    world = next((group.members for group in defined.worlds if group.paradigm == MPI), ())
    for rank, location in enumerate(world):
        ranks.setdefault(location & 0xFFFFFFFFFFFFFFFF, rank)
    return {location: rank for location, rank in ranks.items() if location in defined.locations}


def _node_name(defined: ArchiveDefinitions, group: int) -> str:
    """The name of the first node of that class around a process, else of the nearest."""
    node, nearest = defined.group(group).node, ""
    for _ in range(_DEEPEST):
        if node not in defined.nodes:
            break
        name, kind, parent = defined.nodes[node]
        nearest = nearest or defined.text(name)
        if defined.text(kind) in _NODE_CLASSES:
            return defined.text(name)
        node = parent
    return nearest


_BY_LOCATION: Final = 1


class ArchiveCommunicators:
    """The communicators of MPI; `members` are the world ranks of each row."""

    def __init__(self, defined: ArchiveDefinitions, standing: Standing) -> None:
        self.members: list[tuple[int, ...]] = []
        self._kinds: list[str] = []
        self._rows: dict[int, int] = {}
        self._selves: set[int] = set()
        self._remote: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self._rank = standing.places.rank
        self._worlds = set(standing.ranks.values())
        self._account = defined.account
        members_of = cache(lambda group: _world_ranks(defined.groups[group], standing.ranks))
        is_whole = cache(lambda group: self._is_whole(members_of(group)))
        for reference, (name, *groups) in defined.communicators.items():
            known = [group for group in groups if group in defined.groups]
            sides = [defined.groups[group] for group in known]
            if not sides or any(group.paradigm != MPI for group in sides):
                continue
            listed = [members_of(group) for group in known]
            self._rows[reference] = len(self.members)
            if sides[0].type == COMM_SELF:
                # One definition serves all processes; each gets a row.
                self._selves.add(reference)
                for rank in self._rank.tolist():
                    self._add((rank,), "self")
            elif groups[1] != NOWHERE and len(listed) == 2:
                self._remote[reference] = (listed[0], listed[1])
                self._add(listed[0] + listed[1], "inter")
            else:
                self._add(
                    listed[0], self._kind(defined.text(name), is_whole=is_whole(known[0]))
                )

    def _is_whole(self, members: tuple[int, ...]) -> bool:
        return len(members) == len(self._worlds) and set(members) == self._worlds

    def _kind(self, name: str, *, is_whole: bool) -> str:
        if is_whole and ("WORLD" in name.upper() or "world" not in self._kinds):
            return "world"
        return "group"

    def _add(self, members: tuple[int, ...], kind: str) -> None:
        self._account.charge_row("communicators", (kind, members))
        fits = not members or (min(members) >= 0 and max(members) < 1 << 31)
        self.members.append(members if fits else ())
        self._kinds.append(kind)

    def rows(self, reference: Integers, process: Integers) -> Integers:
        """The row of each communicator as its process names it, -1 without one."""
        rows = lookup(reference, self._rows).astype(np.int64)
        return np.where(np.isin(reference, list(self._selves)), rows + process, rows)

    def world_ranks(self, reference: Integers, process: Integers, rank: Integers) -> Integers:
        """The world rank of each rank in a communicator, between groups of the other group."""
        result = np.full(len(rank), UNKNOWN, np.int64)
        for communicator in np.unique(reference).tolist():
            chosen = np.flatnonzero(reference == communicator)
            wanted, caller = rank[chosen], self._rank[process[chosen]]
            if communicator in self._selves:
                result[chosen] = np.where(wanted == 0, caller, UNKNOWN)
            elif communicator in self._remote:
                first, second = self._remote[communicator]
                inside = np.isin(caller, np.array(first, np.int64))
                ranks = _members_at(second, wanted), _members_at(first, wanted)
                result[chosen] = np.where(inside, *ranks)
            elif communicator in self._rows:
                result[chosen] = _members_at(self.members[self._rows[communicator]], wanted)
        return result

    def table(self) -> pa.Table:
        """The table `communicators`."""
        listed = enumerate(zip(self._kinds, self.members, strict=True))
        rows = ((row, 0, kind, ranks, False, row + 1) for row, (kind, ranks) in listed)
        return row_table("communicators", rows)


def _world_ranks(group: GroupDefinition, by_location: dict[int, int]) -> tuple[int, ...]:
    """The members of a group as ranks of MPI's world."""
    if not group.flags & _BY_LOCATION:
        return group.members
    return tuple(by_location.get(m & 0xFFFFFFFFFFFFFFFF, m) for m in group.members)


def _members_at(members: tuple[int, ...], rank: Integers) -> Integers:
    return take(np.array(members, np.int64), np.where(rank < len(members), rank, UNKNOWN))


@dataclass(frozen=True, slots=True, eq=False)
class ArchiveBasis:
    """What all processes share, and what is odd in what is being read."""

    archive: Archive
    standing: Standing
    communicators: ArchiveCommunicators
    regions: ArchiveRegions  # they number what is used
    metrics: Metrics
    paths: ArchivePaths  # the calling-context tree, which grows
    defects: Defects

    @classmethod
    def of(
        cls, archive: Archive, defects: Defects, gauges: frozenset[str] = frozenset()
    ) -> ArchiveBasis:
        """The basis of an archive of which nothing is read; of `gauges`, values are kept."""
        defined, regions = archive.defined, ArchiveRegions(archive.defined)
        where = standing(defined, defects)
        shared = (
            ArchiveCommunicators(defined, where),
            regions,
            Metrics(defined, gauges),
            ArchivePaths(regions),
        )
        return cls(archive, where, *shared, defects)

    @property
    def places(self) -> Placement:
        """The process of each location and the rank of each process."""
        return self.standing.places

    def note(
        self, kind: str, location: Integers, detail: str = "", *values: npt.NDArray[Any]
    ) -> None:
        """Note rows of these locations as lost; `detail` shows the first of each value."""
        if len(location):
            name = self.standing.name[int(location[0])]
            self.defects.note_rows(kind, "loss", detail, *(values or [location]), place=name)
