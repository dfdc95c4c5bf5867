"""Where locations and processes are, and the table of locations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from burstline.formats.intake import Places
from burstline.schema import LOCATION_KINDS, UNKNOWN, arrow_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from burstline.formats.raw.events.timeline import Life
    from burstline.formats.raw.processes.processes import Process


def places_of(processes: Sequence[Process], accuracy_ns: int) -> Places:
    """The places of processes in their order."""
    threads = [len(process.files) for process in processes]
    return Places(
        np.repeat(np.arange(len(processes)), threads).astype(np.int64),
        np.array([process.application for process in processes], np.int64),
        np.array([process.rank for process in processes], np.int64),
        accuracy_ns,
    )


def location_table(processes: Sequence[Process], lives: Sequence[Life]) -> pa.Table:
    """The table `locations`."""
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
