"""Communicators of all processes: one row for each, known by the name its members share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from burstline.formats.intake import Defects
from burstline.formats.raw.files.layout import CommunicatorKind
from burstline.formats.raw.processes.processes import RecordedProcess
from burstline.model import row_table

_KINDS: Final[dict[int, str]] = {
    CommunicatorKind.WORLD: "world",
    CommunicatorKind.SELF: "self",
    CommunicatorKind.INTRA: "group",
    CommunicatorKind.INTER: "inter",
}


class RunCommunicators:
    """The communicators of a run: the members of each row, the row of each process's ids."""

    def __init__(self, processes: Sequence[RecordedProcess], defects: Defects) -> None:
        self.members: list[tuple[int, ...]] = []
        self._row_of: dict[tuple[int, int, int], int] = {}  # application, kind and name
        self.rows: list[dict[int, int]] = []
        self._add_worlds(processes)
        for process in processes:
            rows = {}
            for number, (kind, name, members) in process.defined.communicators.items():
                is_world = kind == CommunicatorKind.WORLD
                key = (process.application, kind, 0 if is_world else name)
                row = self._row_of.get(key)
                if row is None:
                    row = self._add(key, members)
                elif self.members[row] != members:
                    text = f"rank {process.rank}, communicator {number}"
                    defects.note("communicator_disagrees", "loss", text)
                rows[number] = row
            self.rows.append(rows)

    def _add(self, key: tuple[int, int, int], members: tuple[int, ...]) -> int:
        self._row_of[key] = len(self.members)
        self.members.append(members)
        return self._row_of[key]

    def _add_worlds(self, processes: Sequence[RecordedProcess]) -> None:
        """Add the world of every application, whether a process used it or not."""
        worlds: dict[int, tuple[int, ...]] = {}
        for process in processes:
            claims = [
                communicator.members
                for communicator in process.defined.communicators.values()
                if communicator.kind == CommunicatorKind.WORLD
            ]
            members = max(claims, key=len, default=tuple(range(process.defined.size)))
            longest = worlds.get(process.application, ())
            worlds[process.application] = max(longest, members, key=len)
        for application, members in sorted(worlds.items()):
            ranks = sorted(p.rank for p in processes if p.application == application)
            self._add((application, CommunicatorKind.WORLD, 0), members or tuple(ranks))

    def table(self) -> pa.Table:
        """The table `communicators`."""
        rows = (
            (row, application, _KINDS.get(kind, "unknown"), self.members[row], False, row + 1)
            for (application, kind, _), row in self._row_of.items()
        )
        return row_table("communicators", rows)
