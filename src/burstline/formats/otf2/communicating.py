"""Communicators of a trace as an archive has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from burstline.formats.otf2.places import MPI

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from burstline.trace import Trace

    Integers = npt.NDArray[np.int64]

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
        Of each row.
    """

    def __init__(self, defining: Definer, trace: Trace) -> None:
        self._defining = defining
        first = defining.processes
        self._world_rank = {process: at for at, process in enumerate(sorted(first))}
        world = [defining.references[first[process]] for process in sorted(first)]
        defining.group("", ALL_MEMBERS, MPI, world)
        rows = trace.communicators.to_pylist()
        applications = sorted(set(trace.locations["application"].to_pylist()))
        self.count = len(rows) + len(applications)
        self._ranks: list[dict[int, int]] = [{} for _ in range(self.count)]
        self.reference = np.arange(len(rows), dtype=np.int64)
        self._worlds: dict[int, int] = {}
        self._is_self = [row["kind"] == "self" for row in rows]
        selves = [row["communicator"] for row in rows if row["kind"] == "self"]
        own = selves[0] if selves else -1
        for row in rows:
            if row["kind"] == "self":
                self.reference[row["communicator"]] = own
                if row["communicator"] == own:
                    group = defining.group("", _SELF, MPI, [])
                    defining.communicator(own, "MPI_COMM_SELF", group)
                continue
            self._define(row["communicator"], row["application"], row["kind"], row["members"])
        for application in applications:
            if application not in self._worlds:
                ranks = defining.ranks(application)
                self._define(len(rows) + application, application, "world", ranks)

    def _define(self, reference: int, application: int, kind: str, ranks: list[int]) -> None:
        known = [rank for rank in ranks if self._defining.process(application, rank) >= 0]
        processes = [self._defining.process(application, rank) for rank in known]
        self._ranks[reference] = {process: at for at, process in enumerate(processes)}
        is_world = kind == "world" and application not in self._worlds
        if is_world:
            self._worlds[application] = reference
        name = "MPI_COMM_WORLD" if is_world else f"communicator {reference}"
        members = [self._world_rank[process] for process in processes]
        group = self._defining.group("", SOME_MEMBERS, MPI, members)
        self._defining.communicator(reference, name, group)

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
        keys = np.stack([row, process, application])
        pairs, place = np.unique(keys, axis=1, return_inverse=True)
        told = np.array([self._told(*pair) for pair in pairs.T.tolist()], np.int64)
        told = told.reshape(-1, 2)[place.reshape(-1)]
        return told[:, 0], told[:, 1]

    def processes(self, application: Integers, rank: Integers) -> Integers:
        """Give the process of each rank of an application, -1 where there is none."""
        keys, place = np.unique(np.stack([application, rank]), axis=1, return_inverse=True)
        found = [self._defining.process(*key) for key in keys.T.tolist()]
        return np.array(found, np.int64)[place.reshape(-1)]

    def _told(self, row: int, process: int, application: int) -> tuple[int, int]:
        if row >= 0 and self._is_self[row]:
            return int(self.reference[row]), 0
        if row >= 0 and (process < 0 or process in self._ranks[row]):
            return row, self._ranks[row].get(process, -1)
        world = self._worlds[application]
        return world, self._ranks[world].get(process, -1)
