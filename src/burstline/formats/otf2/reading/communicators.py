"""Communicators of an archive as rows, and whom their ranks mean.

A communicator of each process with itself is one definition for all processes: each gets a
row of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from burstline import schema
from burstline.formats.otf2.numbers import MPI, NOWHERE
from burstline.schema import UNKNOWN, arrow_table

if TYPE_CHECKING:
    from burstline.columns import Integers
    from burstline.formats.otf2.reading.definitions import Definitions
    from burstline.formats.otf2.reading.places import Standing


_COMM_SELF: Final = 6
_BY_LOCATION: Final = 1


class Communicators:
    """The communicators of MPI.

    Attributes
    ----------
    members : list of tuple of int
        World ranks of the members of each row.
    """

    def __init__(self, defined: Definitions, standing: Standing) -> None:
        self.members: list[tuple[int, ...]] = []
        self._kinds: list[str] = []
        self._rows: dict[int, int] = {}
        self._selves: set[int] = set()
        self._remote: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self._rank = standing.places.rank
        self._worlds = set(standing.ranks.values())
        by_location = standing.ranks
        for reference, (name, *groups) in defined.communicators.items():
            sides = [defined.groups[group] for group in groups if group in defined.groups]
            if not sides or any(group.paradigm != MPI for group in sides):
                continue
            listed = [
                tuple(by_location.get(m & 0xFFFFFFFFFFFFFFFF, m) for m in group.members)
                if group.flags & _BY_LOCATION
                else group.members
                for group in sides
            ]
            if sides[0].type == _COMM_SELF:
                self._selves.add(reference)
                self._rows[reference] = len(self.members)
                for rank in self._rank.tolist():
                    self._add((rank,), "self")
                continue
            self._rows[reference] = len(self.members)
            if groups[1] != NOWHERE and len(listed) == 2:
                self._remote[reference] = (listed[0], listed[1])
                self._add(listed[0] + listed[1], "inter")
                continue
            self._add(listed[0], self._kind(defined.text(name), listed[0]))

    def _kind(self, name: str, members: tuple[int, ...]) -> str:
        whole = set(members) == self._worlds and len(members) == len(self._worlds)
        if whole and ("WORLD" in name.upper() or "world" not in self._kinds):
            return "world"
        return "group"

    def _add(self, members: tuple[int, ...], kind: str) -> None:
        fits = all(0 <= rank < 1 << 31 for rank in members)
        self.members.append(members if fits else ())
        self._kinds.append(kind)

    def rows(self, reference: Integers, process: Integers) -> Integers:
        """The row of each communicator as its process names it, -1 where it has none."""
        used, place = np.unique(reference, return_inverse=True)
        known = [self._rows.get(one, UNKNOWN) for one in used.tolist()]
        rows = np.array(known, np.int64)[place.reshape(-1)]
        own = np.array([one in self._selves for one in used.tolist()], bool)[place.reshape(-1)]
        return np.where(own, rows + process, rows)

    def world_ranks(self, reference: Integers, process: Integers, rank: Integers) -> Integers:
        """The world rank of a rank in a communicator, -1 where it has none.

        Between groups it is one of the group that `process` is not in.
        """
        result = np.full(len(rank), UNKNOWN, np.int64)
        for one in np.unique(reference).tolist():
            mine = np.flatnonzero(reference == one)
            if one in self._selves:
                result[mine] = np.where(rank[mine] == 0, self._rank[process[mine]], UNKNOWN)
                continue
            if one in self._remote:
                first, second = self._remote[one]
                inside = np.isin(self._rank[process[mine]], np.array(first, np.int64))
                result[mine] = np.where(
                    inside, _picked(second, rank[mine]), _picked(first, rank[mine])
                )
                continue
            row = self._rows.get(one, UNKNOWN)
            if row >= 0:
                result[mine] = _picked(self.members[row], rank[mine])
        return result

    def table(self) -> pa.Table:
        """The table `communicators`."""
        count = len(self.members)
        kinds = [schema.COMMUNICATOR_KINDS.index(kind) for kind in self._kinds]
        return arrow_table(
            "communicators",
            {
                "communicator": np.arange(count),
                "application": np.zeros(count, np.int32),
                "kind": np.array(kinds, np.int8),
                "members": pa.array([list(m) for m in self.members], pa.list_(pa.int32())),
                "ambiguous": np.zeros(count, bool),
                "source_id": np.arange(1, count + 1),
            },
        )


def _picked(members: tuple[int, ...], rank: Integers) -> Integers:
    listed = np.array([*members, UNKNOWN], np.int64)
    inside = (rank >= 0) & (rank < len(members))
    return listed[np.where(inside, rank, len(members))]
