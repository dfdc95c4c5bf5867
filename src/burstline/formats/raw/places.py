"""Where locations and processes are, and the table of locations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from burstline.schema import LOCATION_KINDS, UNKNOWN
from burstline.schema.arrays import arrow_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from burstline.columns import Integers
    from burstline.formats.raw.processes import Process
    from burstline.formats.raw.timeline import Life


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Who is who among locations, processes and ranks.

    Attributes
    ----------
    process : ndarray of int64, shape (locations,)
        Process of each location.
    application, rank : ndarray of int64, shape (processes,)
        Place of each process in the run.
    accuracy_ns : int
        How wrong the comparison of two clocks may be.
    """

    process: Integers
    application: Integers
    rank: Integers
    accuracy_ns: int

    @classmethod
    def of(cls, processes: Sequence[Process], accuracy_ns: int) -> Places:
        """Take the places of processes in their order."""
        threads = [len(process.files) for process in processes]
        return cls(
            np.repeat(np.arange(len(processes)), threads).astype(np.int64),
            np.array([process.application for process in processes], np.int64),
            np.array([process.rank for process in processes], np.int64),
            accuracy_ns,
        )

    def process_of(self, location: Integers, rank: Integers) -> Integers:
        """Give the process of a rank in the application of a location, -1 without one."""
        if not len(location):
            return np.zeros(0, np.int64)
        span = int(self.rank.max()) + 1
        wanted = self.application[self.process[location]] * span + rank
        known = self.application * span + self.rank
        at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        found = (known[at] == wanted) & (rank >= 0) & (rank < span)
        return np.where(found, at, UNKNOWN)


def location_table(processes: Sequence[Process], lives: Sequence[Life]) -> pa.Table:
    """Give the table `locations`."""
    rows = []
    for number, process in enumerate(processes):
        for thread in process.threads:
            ids = (process.application, process.rank, thread)
            name = "THREAD " + ".".join(str(part + 1) for part in ids)
            rows.append((process.application, number, process.rank, thread, process.host, name))
    columns: list[list[object]] = [list(column) for column in zip(*rows, strict=True)]
    application, process_number, rank, thread_number, node, name_column = columns or [[]] * 6
    count = len(rows)
    return arrow_table(
        "locations",
        {
            "location": np.arange(count),
            "application": np.array(application, np.int32),
            "process": np.array(process_number, np.int32),
            "rank": np.array(rank, np.int32),
            "thread": np.array(thread_number, np.int32),
            "kind": np.full(count, LOCATION_KINDS.index("cpu")),
            "node": [host or None for host in node],
            "born_ns": np.array([life.born_ns for life in lives], np.int64),
            "died_ns": np.array([life.died_ns for life in lives], np.int64),
            "name": name_column,
            "cpu": np.full(count, UNKNOWN, np.int32),
        },
    )
