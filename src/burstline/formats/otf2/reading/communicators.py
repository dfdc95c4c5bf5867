"""Communicators of an archive as rows, and the world ranks of their members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.columns import lookup, take
from burstline.formats.otf2.numbers import MPI, NOWHERE
from burstline.schema import UNKNOWN, row_table

if TYPE_CHECKING:
    import pyarrow as pa

    from burstline.columns import Integers
    from burstline.formats.otf2.reading.definitions import Definitions
    from burstline.formats.otf2.reading.places import Standing


_COMM_SELF: Final = 6
_BY_LOCATION: Final = 1


class Communicators:
    """The communicators of MPI; `members` are the world ranks of each row."""

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
                # One definition serves all processes; each gets a row.
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
        """The row of each communicator as its process names it, -1 without one."""
        rows = lookup(reference, self._rows).astype(np.int64)
        return np.where(np.isin(reference, list(self._selves)), rows + process, rows)

    def world_ranks(self, reference: Integers, process: Integers, rank: Integers) -> Integers:
        """The world rank of each rank in a communicator, between groups of the other group."""
        result = np.full(len(rank), UNKNOWN, np.int64)
        for communicator in np.unique(reference).tolist():
            chosen = np.flatnonzero(reference == communicator)
            if communicator in self._selves:
                result[chosen] = np.where(
                    rank[chosen] == 0, self._rank[process[chosen]], UNKNOWN
                )
                continue
            if communicator in self._remote:
                first, second = self._remote[communicator]
                inside = np.isin(self._rank[process[chosen]], np.array(first, np.int64))
                result[chosen] = np.where(
                    inside, _picked(second, rank[chosen]), _picked(first, rank[chosen])
                )
                continue
            row = self._rows.get(communicator, UNKNOWN)
            if row >= 0:
                result[chosen] = _picked(self.members[row], rank[chosen])
        return result

    def table(self) -> pa.Table:
        """The table `communicators`."""
        return row_table(
            "communicators",
            (
                (number, 0, kind, members, False, number + 1)
                for number, (kind, members) in enumerate(
                    zip(self._kinds, self.members, strict=True)
                )
            ),
        )


def _picked(members: tuple[int, ...], rank: Integers) -> Integers:
    """The member of each rank, -1 for ranks that the group has not."""
    return take(np.array(members, np.int64), np.where(rank < len(members), rank, UNKNOWN))
