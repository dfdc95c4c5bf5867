"""Collective operations: the parts of all members, put together to instances.

The k-th collective of each member on a communicator is its k-th instance; non-blocking
ones count where they were started.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from burstline.columns import Integers, ordinal_within, row_of, take
from burstline.formats.intake.calls import CallFacts, Calls, DetailKind, Details
from burstline.formats.intake.source import Placement, Source
from burstline.model import NO_VALUE, UNKNOWN, arrow_table, collective_instances

Columns = dict[str, Integers]

_MEMBER_COLUMNS: Final = (
    "location", "call", "done_call", "begin_ns", "end_ns", "begin_seq", "end_seq", "sent_bytes",
    "received_bytes",
)  # fmt: skip
PART_COLUMNS: Final = (
    *_MEMBER_COLUMNS, "communicator", "sequence", "operation", "own_root", "named_root",
)  # fmt: skip
"""A part: its columns of `collective_members`, the communicator, its number there, what it is
and the root: the member itself where it is one, and the one that it names; -1 if unknown."""


def collective_parts(
    details: Details, calls: Calls, ends: Integers, *, places: Placement
) -> Columns:
    """Parts of collectives of some whole processes, by process and in the order of time."""
    rows = details.where(details.kind == DetailKind.COLLECTIVE)
    parts = details.pick(rows)
    # Threads of a process take turns: their parts are in the order of time.
    process = places.process[parts.location]
    turn = np.lexsort((parts.index, parts.location, calls.enter_ns[parts.call], process))
    turn = turn[parts.communicator[turn] >= 0]
    rows, parts, process = rows[turn], parts.pick(turn), process[turn]
    blocking, end = parts.request == 0, ends[rows]
    ended = ~blocking & (take(details.kind, end) == DetailKind.COLLECTIVE_DONE)
    done = np.where(ended, take(details.call, end), parts.call)
    is_done = blocking | ended
    return {
        "location": parts.location,
        "call": calls.call[parts.call],
        "done_call": np.where(is_done, calls.call[done], UNKNOWN),
        "begin_ns": calls.enter_ns[parts.call],
        "end_ns": calls.leave_ns[done],
        "begin_seq": calls.enter_seq[parts.call],
        "end_seq": np.where(is_done, calls.leave_seq[done], NO_VALUE),
        "sent_bytes": parts.sent,
        "received_bytes": parts.received,
        "communicator": parts.communicator,
        "sequence": ordinal_within(parts.communicator, process),
        # A start says what it starts: what was made before.
        "operation": np.where(
            parts.operation >= 0, parts.operation, calls.operation[parts.call]
        ),
        "own_root": np.where(parts.is_root, places.rank[process], UNKNOWN),
        "named_root": _named_roots(details, parts),
    }


def join_collectives(
    parts: Columns, source: Source[Any, Any], members: Sequence[tuple[int, ...]], first: int
) -> tuple[pa.Table, pa.Table]:
    """Rows of `collectives` and `collective_members` out of all parts of some instances."""
    places, operations = source.places, source.operations
    process = places.process[parts["location"]]
    communicator, operation = parts["communicator"], parts["operation"]
    comm_rank = comm_ranks(communicator, places.rank[process], members)
    instances = collective_instances(
        communicator,
        parts["sequence"],
        parts["location"],
        comm_rank,
        operation,
        sizes=np.array([len(listed) for listed in members], np.int64),
    )
    count = len(instances.sequence)
    begin = np.full(count, len(process), np.int64)
    np.minimum.at(begin, instances.instance, np.arange(len(process)))
    by_root, by_name = np.full((2, count), UNKNOWN, np.int64)
    np.maximum.at(by_root, instances.instance, parts["own_root"])
    np.maximum.at(by_name, instances.instance, parts["named_root"])
    columns = {
        "communicator": instances.communicator,
        "operation": operation[begin],
        "root": np.where(by_root >= 0, by_root, by_name),
        "sequence": instances.sequence,
        "complete": instances.complete,
    }
    lacking = np.flatnonzero(~instances.complete)
    are_all = np.zeros(len(lacking), bool)
    if places.is_part:
        recorded = np.array([np.isin(listed, places.rank).sum() for listed in members])
        seen = np.bincount(instances.instance, minlength=count)[lacking]
        are_all = seen == recorded[instances.communicator[lacking]]
    for kind, severity, chosen in (
        ("collective_of_unrecorded_rank", "info", lacking[are_all]),
        ("incomplete_collective", "loss", lacking[~are_all]),
    ):
        if len(chosen):
            code, number, row = (
                int(columns[name][chosen[0]])
                for name in ("operation", "sequence", "communicator")
            )
            words, name = source.words_of_instance, operations[code]
            text = words.format(operation=name, number=number, communicator=row)
            source.defects.note(kind, severity, text, len(chosen))
    rows = {name: parts[name][instances.order] for name in _MEMBER_COLUMNS}
    rows["collective"] = instances.instance[instances.order] + first
    rows["comm_rank"] = comm_rank[instances.order]
    return (
        arrow_table("collectives", columns, operations=operations),
        arrow_table("collective_members", rows),
    )


def describe_collectives(details: Details, places: Placement, facts: CallFacts) -> None:
    """Note with the calls the communicator, root and bytes of their collectives."""
    parts = details.of(DetailKind.COLLECTIVE)
    rank = places.rank[places.process[parts.location]]
    facts.add_communicators(parts.call, parts.communicator)
    facts.add_roots(parts.call[parts.is_root], rank[parts.is_root])
    facts.add_bytes("sent", parts.call, parts.sent)
    facts.add_bytes("received", parts.call, parts.received)


def comm_ranks(
    communicator: Integers, rank: Integers, members: Sequence[Sequence[int]]
) -> Integers:
    """The place of each rank among the members of a communicator, -1 without one."""
    used, place = np.unique(communicator, return_inverse=True)
    listed = [np.array(members[row], np.int64) for row in used.tolist()]
    sizes = np.array([len(ranks) for ranks in listed], np.int64)
    if not sizes.sum():
        return np.full(len(rank), UNKNOWN, np.int64)
    every = np.concatenate(listed)
    span = max(int(every.max()), int(rank.max())) + 1
    keys = np.repeat(np.arange(len(used)), sizes) * span + every
    # Of a member that a damaged line lists twice, the last place counts.
    order = np.argsort(keys, kind="stable")
    wanted = place.reshape(-1) * span + rank
    member = order[np.maximum(np.searchsorted(keys[order], wanted, "right") - 1, 0)]
    first = np.cumsum(sizes) - sizes
    return np.where(keys[member] == wanted, member - first[place.reshape(-1)], UNKNOWN)


def _named_roots(details: Details, parts: Details) -> Integers:
    roots = np.full(len(parts), UNKNOWN, np.int64)
    is_named = (details.kind == DetailKind.ROOT) & (details.root >= 0)
    named = np.flatnonzero(is_named & (details.root <= np.iinfo(np.int32).max))
    if len(named):
        part = row_of(parts.call, details.call[named])
        np.maximum.at(roots, part[part >= 0], details.root[named][part >= 0])
    return roots
