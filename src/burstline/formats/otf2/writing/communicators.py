"""Communicators of a trace as an archive has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from burstline.columns import distinct
from burstline.formats.otf2.reading.places import MPI

if TYPE_CHECKING:
    from collections.abc import Iterable

    from burstline.columns import Integers
    from burstline.trace import Trace


ALL_MEMBERS: Final = 4
"""The kind of a group that lists all locations of a paradigm."""

SOME_MEMBERS: Final = 5
"""The kind of a group of some of these."""

_SELF: Final = 6


class Definer(Protocol):
    """Whoever defines groups and communicators, and knows the processes of a trace."""

    references: list[int]

    def group(self, name: str, kind: int, paradigm: int, members: Iterable[int]) -> int:
        """Define a group; give its reference."""
        ...

    def communicator(self, reference: int, name: str, group: int) -> None:
        """Define a communicator."""
        ...

    def process(self, application: int, rank: int) -> int:
        """Give the process of a rank, -1 if it has no location."""
        ...

    def ranks(self, application: int) -> list[int]:
        """Give the ranks of an application."""
        ...

    @property
    def processes(self) -> dict[int, int]:
        """First location of each process."""
        ...


class Communicating:
    """Communicators of MPI as an archive has them: members by rank in the world.

    Parameters
    ----------
    defining : Definer
        Takes the definitions.
    trace : Trace
        The trace.

    Attributes
    ----------
    count : int
        Communicators of MPI; their references are below it.
    reference : ndarray of int64, shape (communicators,)
        Of each row; all rows of the kind ``self`` have one.
    """

    def __init__(self, defining: Definer, trace: Trace) -> None:
        self._defining = defining
        first = defining.processes
        self._world_rank = {process: at for at, process in enumerate(sorted(first))}
        world = [defining.references[first[process]] for process in sorted(first)]
        defining.group("", ALL_MEMBERS, MPI, world)
        rows = trace.communicators.to_pylist()
        applications = sorted(set(trace.locations["application"].to_pylist()))
        self.count = 0
        self._ranks: list[dict[int, int]] = []
        self.reference = np.full(len(rows), -1, np.int64)
        self._worlds: dict[int, int] = {}
        self._is_self = [row["kind"] == "self" for row in rows]
        own = -1
        for row in rows:
            if row["kind"] != "self":
                reference = self._define(row["application"], row["kind"], row["members"])
            elif own < 0:
                group = defining.group("", _SELF, MPI, [])
                reference = own = self._add("MPI_COMM_SELF", group, {})
            else:
                reference = own
            self.reference[row["communicator"]] = reference
        for application in applications:
            if application not in self._worlds:
                self._define(application, "world", defining.ranks(application))

    def _add(self, name: str, group: int, ranks: dict[int, int]) -> int:
        self._defining.communicator(self.count, name, group)
        self._ranks.append(ranks)
        self.count += 1
        return self.count - 1

    def _define(self, application: int, kind: str, ranks: list[int]) -> int:
        known = [rank for rank in ranks if self._defining.process(application, rank) >= 0]
        processes = [self._defining.process(application, rank) for rank in known]
        is_world = kind == "world" and application not in self._worlds
        if is_world:
            self._worlds[application] = self.count
        name = "MPI_COMM_WORLD" if is_world else f"communicator {self.count}"
        members = [self._world_rank[process] for process in processes]
        group = self._defining.group("", SOME_MEMBERS, MPI, members)
        return self._add(name, group, {process: at for at, process in enumerate(processes)})

    def told(
        self, row: Integers, process: Integers, application: Integers
    ) -> tuple[Integers, Integers]:
        """Give communicators and ranks in them, as events name them.

        Parameters
        ----------
        row : ndarray of int64, shape (n,)
            Rows of communicators, -1 where unknown: then the world is meant, as it is where
            the process is no member.
        process : ndarray of int64, shape (n,)
            Whose rank is asked for, -1 for nobody's.
        application : ndarray of int64, shape (n,)
            Whose world may be meant.

        Returns
        -------
        reference, rank : ndarray of int64, shape (n,)
            Ranks are -1 for nobody.
        """
        columns = row, process, application
        first, which = distinct(*columns)
        used = zip(*(column[first].tolist() for column in columns), strict=True)
        told = np.array([self._told(*one) for one in used], np.int64).reshape(-1, 2)[which]
        return told[:, 0], told[:, 1]

    def processes(self, application: Integers, rank: Integers) -> Integers:
        """Give the process of each rank of an application, -1 where there is none."""
        first, which = distinct(application, rank)
        used = zip(application[first].tolist(), rank[first].tolist(), strict=True)
        return np.array([self._defining.process(*one) for one in used], np.int64)[which]

    def _told(self, row: int, process: int, application: int) -> tuple[int, int]:
        if row >= 0 and self._is_self[row]:
            return int(self.reference[row]), 0
        reference = int(self.reference[row]) if row >= 0 else -1
        if reference >= 0 and (process < 0 or process in self._ranks[reference]):
            return reference, self._ranks[reference].get(process, -1)
        world = self._worlds[application]
        return world, self._ranks[world].get(process, -1)
