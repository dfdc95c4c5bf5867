"""Communicators of a trace as an archive has them: members by rank in the world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from burstline.columns import distinct
from burstline.formats.otf2.numbers import MPI
from burstline.formats.otf2.writing.rows import ALL_MEMBERS, OWN_MEMBER, SOME_MEMBERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from burstline.columns import Integers
    from burstline.formats.otf2.writing.rows import Rows
    from burstline.trace import Trace


class Communicators:
    """The communicators of MPI that an archive defines for a trace.

    `count` is how many there are: their references are below it. `reference`, of shape
    (communicators,), has that of each row; all rows of the kind ``self`` have one.
    `application` and `process`, of shape (locations,), say whose a location is.
    """

    def __init__(self, rows: Rows, trace: Trace, references: Sequence[int]) -> None:
        self._rows = rows
        self.application, rank, self.process = (
            column.astype(np.int64)
            for column in trace.arrays("locations", "application", "rank", "process")
        )
        whose = zip(self.application.tolist(), rank.tolist(), strict=True)
        self._process_of = dict(zip(whose, self.process.tolist(), strict=True))
        processes, first = np.unique(self.process, return_index=True)
        self._world_rank = {process: rank for rank, process in enumerate(processes.tolist())}
        rows.add_group(ALL_MEMBERS, MPI, [references[location] for location in first.tolist()])
        self.count = 0
        self._ranks: list[dict[int, int]] = []
        self._worlds: dict[int, int] = {}
        self._define_all(trace.communicators.to_pylist())

    def _define_all(self, communicators: Sequence[dict[str, Any]]) -> None:
        self.reference = np.full(len(communicators), -1, np.int64)
        self._is_self = [row["kind"] == "self" for row in communicators]
        own = -1
        for row in communicators:
            if row["kind"] != "self":
                reference = self._define(row["application"], row["kind"], row["members"])
            elif own < 0:
                reference = own = self._add("MPI_COMM_SELF", OWN_MEMBER, {}, [])
            else:
                reference = own
            self.reference[row["communicator"]] = reference
        for application in np.unique(self.application).tolist():
            if application not in self._worlds:
                ranks = sorted(rank for one, rank in self._process_of if one == application)
                self._define(application, "world", ranks)

    def _define(self, application: int, kind: str, ranks: Iterable[int]) -> int:
        there = (self._process_of.get((application, rank), -1) for rank in ranks)
        processes = [process for process in there if process >= 0]
        name = f"communicator {self.count}"
        if kind == "world" and application not in self._worlds:
            self._worlds[application] = self.count
            name = "MPI_COMM_WORLD"
        members = [self._world_rank[process] for process in processes]
        by_process = {process: rank for rank, process in enumerate(processes)}
        return self._add(name, SOME_MEMBERS, by_process, members)

    def _add(self, name: str, kind: int, ranks: dict[int, int], members: Iterable[int]) -> int:
        self._rows.add_communicator(self.count, name, kind, MPI, members)
        self._ranks.append(ranks)
        self.count += 1
        return self.count - 1

    def named(
        self, row: Integers, process: Integers, application: Integers
    ) -> tuple[Integers, Integers]:
        """References of communicators and ranks of processes in them, as events have them.

        A row of -1 means the world of the application, and so does one that the process is no
        member of. A process of -1 has the rank -1.
        """
        columns = row, process, application
        first, which = distinct(*columns)
        used = zip(*(column[first].tolist() for column in columns), strict=True)
        pairs = np.array([self._named(*one) for one in used], np.int64).reshape(-1, 2)[which]
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
        first, which = distinct(application, rank)
        used = zip(application[first].tolist(), rank[first].tolist(), strict=True)
        return np.array([self._process_of.get(one, -1) for one in used], np.int64)[which]
