"""Locations and communicators out of the header, the ``.row`` and communicator lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import schema
from burstline.formats.paraver.files.declarations import communicator_kind
from burstline.operations import CODES
from burstline.schema import arrow_table, row_table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    import numpy.typing as npt
    import pyarrow as pa

    from burstline.columns import Integers
    from burstline.formats.paraver.files.header import Header
    from burstline.formats.paraver.files.row import Row
    from burstline.formats.paraver.reading.scan import Scanned

_GPU_NAME: Final = re.compile(r"(GPU|CUDA|HIP)-?D?\d")
# Calls that may return a communicator with the members of another: Extrae then reuses its id.
TWIN_MAKERS: Final = [CODES[name] for name in (
    "MPI_Comm_dup", "MPI_Comm_dup_with_info", "MPI_Comm_create", "MPI_Comm_create_group",
    "MPI_Comm_split", "MPI_Comm_split_type", "MPI_Cart_create", "MPI_Cart_sub",
    "MPI_Graph_create", "MPI_Dist_graph_create", "MPI_Dist_graph_create_adjacent",
    "MPI_Intercomm_merge",
)]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Objects:
    """The declared objects, one entry per location."""

    # (locations,) as in the schema; `node` is -1 where it is not known
    application: npt.NDArray[np.int32]
    process: npt.NDArray[np.int32]
    rank: npt.NDArray[np.int32]
    thread: npt.NDArray[np.int32]
    node: npt.NDArray[np.int32]
    # the header's lists, flattened
    tasks_per_application: list[int]
    threads_per_task: list[int]


def declared_objects(header: Header) -> Objects:
    """The header's lists with one entry per location."""
    threads = np.concatenate([layout.threads for layout in header.applications])
    nodes = np.concatenate([layout.nodes for layout in header.applications])
    tasks = [len(layout.threads) for layout in header.applications]
    first = np.cumsum(threads) - threads
    process = np.repeat(np.arange(len(threads), dtype=np.int32), threads)
    application_of_task = np.repeat(np.arange(len(tasks), dtype=np.int32), tasks)
    rank_of_task = np.concatenate([np.arange(count, dtype=np.int32) for count in tasks])
    thread = np.arange(len(process)) - first[process]
    return Objects(
        application=application_of_task[process],
        process=process,
        rank=rank_of_task[process],
        thread=thread.astype(np.int32),
        node=nodes.astype(np.int32)[process],
        tasks_per_application=tasks,
        threads_per_task=threads.tolist(),
    )


def location_table(
    objects: Objects, counts: Mapping[str, Integers], row: Row | None
) -> pa.Table:
    """The table of locations, which live from their first event to the last event or state."""
    total = len(objects.process)
    first = counts["first_event"]
    born = np.where(first != schema.NO_VALUE, first, counts["first_state"])
    died = np.maximum(np.maximum(counts["last_event"], counts["latest_end"]), born)
    unseen = born == schema.NO_VALUE
    names = _names(objects, row)
    nodes = _node_names(objects, row)
    return arrow_table(
        "locations",
        {
            "location": np.arange(total),
            "application": objects.application,
            "process": objects.process,
            "rank": objects.rank,
            "thread": objects.thread,
            "kind": ["gpu_stream" if _GPU_NAME.match(name) else "cpu" for name in names],
            "node": nodes,
            "born_ns": np.where(unseen, 0, born),
            "died_ns": np.where(unseen, 0, died),
            "name": names,
            "cpu": counts["processor"],
        },
    )


def _names(objects: Objects, row: Row | None) -> list[str]:
    given = row.levels.get("THREAD", ()) if row else ()
    if len(given) == len(objects.process):
        return list(given)
    return [
        f"THREAD {application + 1}.{rank + 1}.{thread + 1}"
        for application, rank, thread in zip(
            objects.application.tolist(),
            objects.rank.tolist(),
            objects.thread.tolist(),
            strict=True,
        )
    ]


def _node_names(objects: Objects, row: Row | None) -> list[str | None]:
    given = row.levels.get("NODE", ()) if row else ()
    return [
        None if node < 0 else given[node] if node < len(given) else f"node {node + 1}"
        for node in objects.node.tolist()
    ]


def communicator_rows(scanned: Scanned) -> dict[tuple[int, int], int]:
    """The row of each communicator, by application, then in the file's order."""
    keys = sorted(scanned.communicators, key=lambda key: key[0])
    return {key: row for row, key in enumerate(keys)}


def communicator_table(
    scanned: Scanned,
    rows: Mapping[tuple[int, int], int],
    objects: Objects,
    *,
    twins: AbstractSet[int],
) -> pa.Table:
    """The table of communicators."""
    tasks = objects.tasks_per_application
    table = []
    for row, key in enumerate(rows):
        communicator = scanned.communicators.get(key)
        size = tasks[key[0]] if 0 <= key[0] < len(tasks) else 0
        if communicator is None:
            kind = "unknown"
        elif communicator.kind == "inter":
            kind = "inter"
        else:
            kind = communicator_kind(communicator.members, size)
        members = communicator.members.tolist() if communicator else []
        table.append((row, key[0], kind, members, key[0] in twins, key[1]))
    return row_table("communicators", table)
