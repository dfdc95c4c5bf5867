"""The ids of locations in Paraver records, their nodes, and the names of all objects.

::

    locations  ->  Numbering(cpu, application, task, thread, node)  ->  header, body, .row

Paraver wants ids from 1 without holes, and every processor inside the node of its thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline.columns import begins_run
from burstline.errors import NotEnoughDataError
from burstline.formats.paraver.files.header import read_header
from burstline.formats.paraver.files.row import Row, read_row

if TYPE_CHECKING:
    import numpy.typing as npt

    from burstline.columns import AnyIntegers, Integers
    from burstline.formats.paraver.files.header import Header
    from burstline.trace import Trace


@dataclass(frozen=True, slots=True)
class Numbering:
    """The ids of locations in records, from 1, shape (locations,) each."""

    cpu: Integers  # 0 without a resource model
    application: Integers
    task: Integers
    thread: Integers
    node: Integers
    cpus: tuple[int, ...]  # processors of each node, empty without a resource model
    renumbered: bool  # whether some task is not its rank + 1


def numbering(trace: Trace) -> Numbering:
    """The ids of locations, with the nodes and processors that the source's header declared."""
    if not trace.locations.num_rows:
        raise NotEnoughDataError("a trace without locations cannot be written as .prv")
    application, rank, thread = trace.arrays("locations", "application", "rank", "thread")
    applications = _dense(application)
    tasks = _dense_within(rank, applications)
    threads = _dense_within(thread, _dense(applications * (int(tasks.max()) + 1) + tasks))
    places = _declared_places(trace, application, rank) or _named_places(trace)
    return Numbering(
        cpu=places.cpu,
        application=applications + 1,
        task=tasks + 1,
        thread=threads + 1,
        node=places.node + 1,
        cpus=places.cpus,
        renumbered=bool((tasks != rank).any() or (applications != application).any()),
    )


class _Places(NamedTuple):
    """Nodes from 0 and processors from 1 of locations, and the processors of each node."""

    node: Integers
    cpu: Integers
    cpus: tuple[int, ...]


def _declared_places(
    trace: Trace, application: npt.NDArray[np.int32], rank: npt.NDArray[np.int32]
) -> _Places | None:
    """The places that the header of the source declared, if Paraver accepts them."""
    header = source_header(trace)
    if header is None:
        return None
    tasks = [len(layout.nodes) for layout in header.applications]
    first = np.concatenate([[0], np.cumsum(tasks)])
    if application.max() >= len(tasks) or (rank >= np.array(tasks)[application]).any():
        return None
    declared = np.concatenate([layout.nodes for layout in header.applications])
    node = declared[first[application] + rank].astype(np.int64)
    cpu = np.maximum(trace.arrays("locations", "cpu")[0].astype(np.int64), 0)
    if header.cpus_per_node is None:
        return None if cpu.any() else _Places(node, cpu, ())
    end = np.cumsum(header.cpus_per_node)
    begin = end - header.cpus_per_node
    inside = (cpu > begin[node]) & (cpu <= end[node])
    if node.min() < 0 or not (inside | (cpu == 0)).all():
        return None
    return _Places(node, cpu, header.cpus_per_node)


def _named_places(trace: Trace) -> _Places:
    """Nodes by their names, with a processor for each location."""
    names = trace.locations["node"].fill_null("").to_pylist()
    seen = {name: k for k, name in enumerate(dict.fromkeys(names))}
    node = np.array([seen[name] for name in names], np.int64)
    cpu = np.empty(len(node), np.int64)
    cpu[np.argsort(node, kind="stable")] = np.arange(1, len(node) + 1)
    return _Places(node, cpu, tuple(np.bincount(node).tolist()))


def _dense(ids: AnyIntegers) -> Integers:
    return np.unique(ids, return_inverse=True)[1].astype(np.int64)


def _dense_within(ids: AnyIntegers, groups: Integers) -> Integers:
    """The rank of each id among the distinct ones of its group, from 0."""
    order = np.lexsort((ids, groups))
    sorted_ids, sorted_groups = ids[order], groups[order]
    count = np.cumsum(begins_run(sorted_groups, sorted_ids)) - 1
    first = np.maximum.accumulate(np.where(begins_run(sorted_groups), count, 0))
    dense = np.empty(len(ids), np.int64)
    dense[order] = count - first
    return dense


def source_header(trace: Trace) -> Header | None:
    """The header of the source, None if it was no Paraver file."""
    lines = source_lines(trace, "header")
    if not lines:
        return None
    return read_header(lines[0].encode(), Path(trace.metadata.get("path", "the source")))


def source_lines(trace: Trace, kind: str) -> list[str]:
    """The lines of one kind in the source that are no records."""
    table = trace.table("source")
    return table.filter(pc.equal(table["kind"].cast(pa.string()), kind))["text"].to_pylist()


def object_names(trace: Trace, names: Numbering) -> Row:
    """The names of the objects of a trace: the source's, if it has the same objects."""
    lines = source_lines(trace, "row")
    if lines and _is_whole(trace, names):
        return read_row("\n".join(lines).encode())
    declared = read_row("\n".join(lines).encode()).levels.get("NODE", ())
    node = np.maximum(names.node, 1)  # a trace without a resource model may call it 0
    count = int(node.max()) if not names.cpus else len(names.cpus)
    nodes = [f"node{number}" for number in range(1, count + 1)]
    nodes[: len(declared)] = declared[:count]
    for number, name in zip(node, trace.locations["node"].to_pylist(), strict=True):
        if name:
            nodes[int(number) - 1] = name
    cpus = [name for name, size in zip(nodes, names.cpus, strict=False) for _ in range(size)]
    cpus = cpus or [nodes[int(number) - 1] for number in node]
    digits = len(str(len(cpus)))
    return Row(
        {
            "CPU": tuple(f"{number:0{digits}}.{node}" for number, node in enumerate(cpus, 1)),
            "NODE": tuple(nodes),
            "THREAD": tuple(trace.locations["name"].to_pylist()),
        }
    )


def _is_whole(trace: Trace, names: Numbering) -> bool:
    header = source_header(trace)
    if header is None or names.renumbered:
        return False
    declared = sum(int(layout.threads.sum()) for layout in header.applications)
    return declared == trace.locations.num_rows
