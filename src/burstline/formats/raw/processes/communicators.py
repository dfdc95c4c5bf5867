"""Communicators of all processes: one row for each, known by the name its members share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from burstline import schema
from burstline.formats.raw.files.layout import CommunicatorKind
from burstline.schema import arrow_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstline.formats.intake import Defects
    from burstline.formats.raw.processes.processes import Process

_KINDS: Final[dict[int, str]] = {
    CommunicatorKind.WORLD: "world",
    CommunicatorKind.SELF: "self",
    CommunicatorKind.INTRA: "group",
    CommunicatorKind.INTER: "inter",
}


class Communicators:
    """The communicators of a run.

    Attributes
    ----------
    members : list of tuple of int
        World ranks of the members of each row.
    rows : list of dict
        Row of each id, by process.
    """

    def __init__(self, processes: Sequence[Process], defects: Defects) -> None:
        self.members: list[tuple[int, ...]] = []
        self._kinds: list[int] = []
        self._applications: list[int] = []
        self._known: dict[tuple[int, int, int], int] = {}
        self.rows: list[dict[int, int]] = []
        self._add_worlds(processes)
        for process in processes:
            mine = {}
            for number, found in process.defined.communicators.items():
                key = (
                    process.application,
                    found.kind,
                    0 if found.kind == CommunicatorKind.WORLD else found.name,
                )
                row = self._known.get(key)
                if row is None:
                    row = self._add(key, found.members)
                elif self.members[row] != found.members:
                    text = f"rank {process.rank}, communicator {number}"
                    defects.note("communicator_disagrees", "loss", text)
                mine[number] = row
            self.rows.append(mine)

    def _add(self, key: tuple[int, int, int], members: tuple[int, ...]) -> int:
        self._known[key] = len(self.members)
        self.members.append(members)
        self._kinds.append(key[1])
        self._applications.append(key[0])
        return self._known[key]

    def _add_worlds(self, processes: Sequence[Process]) -> None:
        """Add the world of every application, whether a process used it or not."""
        worlds: dict[int, tuple[int, ...]] = {}
        for process in processes:
            said = [
                found.members
                for found in process.defined.communicators.values()
                if found.kind == CommunicatorKind.WORLD
            ]
            members = max(said, key=len, default=tuple(range(process.defined.size)))
            known = worlds.get(process.application, ())
            worlds[process.application] = max(known, members, key=len)
        for application, members in sorted(worlds.items()):
            ranks = sorted(p.rank for p in processes if p.application == application)
            self._add((application, CommunicatorKind.WORLD, 0), members or tuple(ranks))

    def table(self) -> pa.Table:
        """The table `communicators`."""
        count = len(self.members)
        kinds = [_KINDS.get(kind, "unknown") for kind in self._kinds]
        return arrow_table(
            "communicators",
            {
                "communicator": np.arange(count),
                "application": np.array(self._applications, np.int32),
                "kind": np.array([schema.COMMUNICATOR_KINDS.index(kind) for kind in kinds]),
                "members": pa.array([list(m) for m in self.members], pa.list_(pa.int32())),
                "ambiguous": np.zeros(count, bool),
                "source_id": np.arange(1, count + 1),
            },
        )
