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
    """The communicators of MPI that an archive defines for a trace."""

    def __init__(self, rows: Rows, trace: Trace, references: Sequence[int]) -> None:
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
        rows.add_group(ALL_MEMBERS, MPI, [references[location] for location in first.tolist()])
        self.count = 0  # of communicators; their references are below it
        self._ranks: list[dict[int, int]] = []
        self._worlds: dict[int, int] = {}
        self._define_all(trace.communicators.to_pylist())

    def _define_all(self, communicators: Sequence[dict[str, Any]]) -> None:
        # (communicators,): the reference of each row, the same for all of the kind "self"
        self.reference = np.full(len(communicators), -1, np.int64)
        self._is_self = [row["kind"] == "self" for row in communicators]
        self_reference = -1
        for row in communicators:
            if row["kind"] != "self":
                reference = self._define(row["application"], row["kind"], row["members"])
            elif self_reference < 0:
                reference = self_reference = self._add("MPI_COMM_SELF", OWN_MEMBER, {}, [])
            else:
                reference = self_reference
            self.reference[row["communicator"]] = reference
        for application in np.unique(self.application).tolist():
            if application not in self._worlds:
                ranks = sorted(rank for key, rank in self._process_of if key == application)
                self._define(application, "world", ranks)

    def _define(self, application: int, kind: str, ranks: Iterable[int]) -> int:
        keys = ((application, rank) for rank in ranks)
        processes = [self._process_of[key] for key in keys if key in self._process_of]
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
        """References of communicators and ranks in them, -1 for a process of -1.

        The world of the application stands for rows of -1 and those without the process.
        """
        columns = row, process, application
        first, which = distinct(*columns)
        keys = zip(*(column[first].tolist() for column in columns), strict=True)
        pairs = np.array([self._named(*key) for key in keys], np.int64).reshape(-1, 2)[which]
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
        keys = zip(application[first].tolist(), rank[first].tolist(), strict=True)
        return np.array([self._process_of.get(key, -1) for key in keys], np.int64)[which]
