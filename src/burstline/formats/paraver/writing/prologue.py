"""The ids of locations in Paraver records, the lines before the records, names of objects.

Paraver wants ids from 1 without holes, and every processor inside the node of its thread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline.columns import AnyIntegers, Integers, distinct, placed
from burstline.errors import NotEnoughDataError, printable
from burstline.formats.paraver.files.declarations import (
    FACTS,
    ONLY,
    OTHERS,
    OWN_IDS,
    SILENT,
    CommunicatorLine,
    comment,
    now,
    read_communicator,
    said_in,
    write_communicator,
)
from burstline.formats.paraver.files.header import (
    DATE_FORMAT,
    Header,
    Objects,
    read_header,
    write_header,
)
from burstline.formats.paraver.files.row import RowNames, read_row
from burstline.formats.paraver.files.threads import is_fact, written_facts
from burstline.model import CHOSEN_RANKS, SILENT_THREADS, Trace

_DATE: Final = re.compile(r"[ -(*-~]{1,29}")


@dataclass(frozen=True, slots=True)
class ObjectNumbers:
    """The ids of locations in records, from 1, shape (locations,) each."""

    cpu: Integers  # 0 without a resource model
    application: Integers
    task: Integers
    thread: Integers
    node: Integers
    cpus: tuple[int, ...]  # processors of each node, empty without a resource model
    objects: Objects
    renumbered: bool  # whether some task is not its rank + 1
    header: Header | None  # of the source, None if it was no Paraver file


def numbering(trace: Trace) -> ObjectNumbers:
    """The ids of locations, with the nodes and processors that the source's header declared."""
    if not trace.locations.num_rows:
        raise NotEnoughDataError("a trace without locations cannot be written as .prv")
    application, rank, thread = trace.arrays("locations", "application", "rank", "thread")
    path = Path(trace.metadata.get("path", "the source"))
    lines = source_lines(trace, "header")
    header = read_header(lines[0].encode(), path) if lines else None
    applications = distinct(application)[1]
    tasks = _dense_within(rank, applications)
    first, process = distinct(applications, tasks)
    declared = _declared_places(header, trace) if header else None
    node, cpu, cpus = declared or _named_places(trace)
    nodes = np.empty(len(first), np.int32)
    nodes[process] = node
    return ObjectNumbers(
        cpu=cpu,
        application=applications + 1,
        task=tasks + 1,
        thread=_dense_within(thread, process) + 1,
        node=node + 1,
        cpus=cpus,
        objects=Objects(
            np.bincount(applications[first]), np.bincount(process).astype(np.int32), nodes
        ),
        renumbered=bool((tasks != rank).any() or (applications != application).any()),
        header=header,
    )


def _dense_within(ids: AnyIntegers, groups: Integers) -> Integers:
    """The rank of each id among the distinct ones of its group, from 0."""
    first, number = distinct(groups, ids)
    return number - np.searchsorted(groups[first], groups)


def _declared_places(
    header: Header, trace: Trace
) -> tuple[Integers, Integers, tuple[int, ...]] | None:
    """The places that the header of the source declared, if Paraver accepts them."""
    application, rank, cpu = trace.arrays("locations", "application", "rank", "cpu")
    tasks = header.objects.tasks
    if application.max() >= len(tasks) or (rank >= tasks[application]).any():
        return None
    first = np.cumsum(tasks) - tasks
    node = header.objects.nodes[first[application] + rank].astype(np.int64)
    cpu = np.maximum(cpu.astype(np.int64), 0)
    if header.cpus_per_node is None:
        return None if cpu.any() else (node, cpu, ())
    end = np.cumsum(header.cpus_per_node)
    begin = end - header.cpus_per_node
    inside = (cpu > begin[node]) & (cpu <= end[node])
    if node.min() < 0 or not (inside | (cpu == 0)).all():
        return None
    return node, cpu, header.cpus_per_node


def _named_places(trace: Trace) -> tuple[Integers, Integers, tuple[int, ...]]:
    """Nodes from 0 by their names, processors from 1 for each location, processors of nodes."""
    names = trace.locations["node"].fill_null("").to_pylist()
    seen = {name: k for k, name in enumerate(dict.fromkeys(names))}
    node = np.array([seen[name] for name in names], np.int64)
    cpu = placed(np.arange(1, len(node) + 1), np.argsort(node, kind="stable"), len(node))
    return node, cpu, tuple(np.bincount(node).tolist())


def source_lines(trace: Trace, kind: str) -> list[str]:
    """The lines of one kind in the source that are no records."""
    table = trace.table("source")
    return table.filter(pc.equal(table["kind"].cast(pa.string()), kind))["text"].to_pylist()


def prologue(trace: Trace, names: ObjectNumbers, end_ns: int) -> bytes:
    """The lines before the first record of a trace whose last moment is `end_ns`."""
    communicators = list(_communicators_left(trace, names))
    date = names.header.date if names.header else ""
    if not _DATE.fullmatch(date):  # none that every reader accepts
        date = now().strftime(DATE_FORMAT)
    header = write_header(date, end_ns, names.cpus or None, names.objects, len(communicators))
    comments = [line for line in source_lines(trace, "comment") if not is_fact(line)]
    for key, beginning in FACTS.items():
        text = trace.metadata.get(key)
        if text and said_in(comments, beginning) is None:
            comments.append(f"{beginning}{printable(text, limit=1_000)}")
    if said_in(comments, SILENT) is None:
        comments += [
            f"{SILENT}{printable(name, limit=1_000)}"
            for name in _first_of(SILENT_THREADS, trace)
        ]
    if said_in(comments, ONLY) is None:
        for chosen in _first_of(CHOSEN_RANKS, trace):
            comments.append(f"{ONLY}{printable(chosen, limit=1_000)}")
            lacking = _members_left_out(trace, communicators)
            comments.append(" ".join([OTHERS.rstrip(), *lacking]))
    if OWN_IDS not in comments and _have_own_ids(trace):
        comments.append(OWN_IDS)
    ids = (names.application, names.task, names.thread)
    places = zip(*(each.tolist() for each in ids), strict=True)
    comments += written_facts(trace, list(places))
    if names.renumbered:
        comments.append(comment("RENUMBER", trace, "ids count what is left; see .row"))
    lines = [" ".join(line.splitlines()) for line in comments]
    return b"".join(
        [header, *map(write_communicator, communicators), *(f"{x}\n".encode() for x in lines)]
    )


def _have_own_ids(trace: Trace) -> bool:
    """Whether a source that is no Paraver file told several communicators apart."""
    table = trace.communicators
    ids = table.group_by(["application", "source_id"]).aggregate([])
    return (
        not source_lines(trace, "header")
        and 1 < table.num_rows == ids.num_rows
        and not pc.any(table["ambiguous"]).as_py()
    )


def _first_of(kind: str, trace: Trace) -> list[str]:
    """What a defect of this kind says, if there is one."""
    rows = trace.defects.select(["kind", "first"]).to_pylist()
    return [row["first"] for row in rows if row["kind"] == kind][:1]


def _members_left_out(trace: Trace, left: Sequence[CommunicatorLine]) -> Iterator[str]:
    """Of each communicator its application, its id and how many members are not left."""
    before = {(line.application, line.source_id): line for line in _source_communicators(trace)}
    for line in left:
        whole = before.get((line.application, line.source_id), line)
        if count := len(whole.members) - len(line.members):
            yield f"{line.application + 1}:{line.source_id}:{count}"


def _communicators_left(trace: Trace, names: ObjectNumbers) -> Iterator[CommunicatorLine]:
    """The communicators with those of their members that are left, by their new ids."""
    application, rank = trace.arrays("locations", "application", "rank")
    places = zip(application.tolist(), rank.tolist(), strict=True)
    task = dict(zip(places, (names.task - 1).tolist(), strict=True))
    number = dict(zip(application.tolist(), (names.application - 1).tolist(), strict=True))
    for communicator in _source_communicators(trace):
        ranks = communicator.members.tolist()
        members = [task.get((communicator.application, member)) for member in ranks]
        left = [member for member in members if member is not None]
        is_whole = len(left) == len(members) and not (communicator.sides and names.renumbered)
        if communicator.application in number and (is_whole or left):
            yield replace(
                communicator,
                application=number[communicator.application],
                members=np.array(left, np.int32),
            )


def _source_communicators(trace: Trace) -> Iterator[CommunicatorLine]:
    lines = source_lines(trace, "communicator")
    if lines:
        yield from filter(None, (read_communicator(line.encode()) for line in lines))
        return
    for row in trace.communicators.to_pylist():
        members = np.array(row["members"], np.int32)
        if row["kind"] != "inter":
            yield CommunicatorLine(row["application"], row["source_id"], members)


def object_names(trace: Trace, names: ObjectNumbers) -> RowNames:
    """The names of the objects of a trace: the source's, if it has the same objects."""
    lines = source_lines(trace, "row")
    row = read_row("\n".join(lines).encode())
    declared = len(names.header.objects.process) if names.header else 0
    if lines and not names.renumbered and declared == trace.locations.num_rows:
        return row
    given = row.levels.get("NODE", ())
    node = np.maximum(names.node, 1)  # a trace without a resource model may call it 0
    count = int(node.max()) if not names.cpus else len(names.cpus)
    nodes = [f"node{number}" for number in range(1, count + 1)]
    nodes[: len(given)] = given[:count]
    for number, name in zip(node, trace.locations["node"].to_pylist(), strict=True):
        if name:
            nodes[int(number) - 1] = name
    cpus = [name for name, size in zip(nodes, names.cpus, strict=False) for _ in range(size)]
    cpus = cpus or [nodes[int(number) - 1] for number in node]
    digits = len(str(len(cpus)))
    return RowNames(
        {
            "CPU": tuple(f"{number:0{digits}}.{node}" for number, node in enumerate(cpus, 1)),
            "NODE": tuple(nodes),
            "THREAD": tuple(trace.locations["name"].to_pylist()),
        }
    )
