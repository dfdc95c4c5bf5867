"""Collective operations: the parts of all members, put together to instances.

The k-th collective of each member on a communicator is its k-th instance; non-blocking
ones count where they were started.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from burstline.formats.columns import arrow_table
from burstline.formats.raw.layout import Kind
from burstline.matching import Instances, collective_instances
from burstline.schema import NO_VALUE, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pyarrow as pa

    from burstline.formats.raw.calls import Calls, Details, Facts
    from burstline.formats.raw.oddities import Oddities
    from burstline.formats.raw.places import Places

    Integers = npt.NDArray[np.int64]


def collective_tables(
    details: Details,
    calls: Calls,
    ends: Integers,
    *,
    places: Places,
    members: Sequence[tuple[int, ...]],
    facts: Facts,
    odd: Oddities,
) -> tuple[pa.Table, pa.Table]:
    """Put the parts of collectives together, and tell the calls about them.

    Parameters
    ----------
    details, calls, ends, places, facts, odd
        As for :func:`burstline.formats.raw.messages.message_table`.
    members : sequence of tuple of int
        World ranks of the members of each communicator.

    Returns
    -------
    instances, members : pyarrow.Table
        The tables `collectives` and `collective_members`.
    """
    rows = np.flatnonzero(details.kind == Kind.COLLECTIVE)
    parts = details.pick(rows)
    _describe(parts, places, facts)
    # Threads of a process take turns: their parts are in the order of time.
    process = places.process[parts.location]
    turn = np.lexsort((parts.index, parts.location, calls.enter_ns[parts.call], process))
    turn = turn[parts.communicator[turn] >= 0]
    rows, parts, process = rows[turn], parts.pick(turn), process[turn]
    rank = places.rank[process]
    comm_rank = _comm_ranks(parts.communicator, rank, members)
    operation = calls.operation[parts.call]
    found = collective_instances(
        parts.communicator,
        process,
        comm_rank,
        operation,
        sizes=np.array([len(listed) for listed in members], np.int64),
    )
    first = np.full(len(found.sequence), len(parts), np.int64)
    np.minimum.at(first, found.instance, np.arange(len(parts)))
    instances = arrow_table(
        "collectives",
        {
            "communicator": found.communicator,
            "operation": operation[first],
            "root": _roots(details, parts, rank, found),
            "sequence": found.sequence,
            "complete": found.complete,
        },
        operations=calls.names,
    )
    _note_incomplete(found, [calls.names[code] for code in operation[first]], odd)
    return instances, _member_table(
        parts, found, comm_rank, details=details, calls=calls, ends=ends[rows]
    )


def _describe(parts: Details, places: Places, facts: Facts) -> None:
    rank = places.rank[places.process[parts.location]]
    facts.communicator(parts.call, parts.communicator)
    facts.root(parts.call[parts.op == 1], rank[parts.op == 1])
    facts.add_bytes("sent", parts.call, parts.b)
    facts.add_bytes("received", parts.call, parts.c)


def _note_incomplete(found: Instances, names: Sequence[str], odd: Oddities) -> None:
    wrong = np.flatnonzero(~found.complete)
    if len(wrong):
        first = int(wrong[0])
        text = f"{names[first]}, number {found.sequence[first]} on communicator "
        odd.note(
            "incomplete_collective", "loss", text + str(found.communicator[first]), len(wrong)
        )


def _comm_ranks(
    communicator: Integers, rank: Integers, members: Sequence[tuple[int, ...]]
) -> Integers:
    found = np.full(len(rank), UNKNOWN, np.int64)
    for row in np.unique(communicator).tolist():
        here = communicator == row
        listed = np.array(members[row], np.int64)
        if len(listed):
            order = np.argsort(listed)
            at = np.minimum(np.searchsorted(listed[order], rank[here]), len(listed) - 1)
            place = order[at]
            found[here] = np.where(listed[place] == rank[here], place, UNKNOWN)
    return found


def _roots(details: Details, parts: Details, rank: Integers, found: Instances) -> Integers:
    """Give the root that the members name, or the member that says it is the root."""
    root = np.full(len(found.sequence), UNKNOWN, np.int64)
    own = np.where(parts.op == 1, rank, UNKNOWN)
    np.maximum.at(root, found.instance, own)
    named = np.flatnonzero((details.kind == Kind.ROOT) & (details.b >= 0))
    order = np.argsort(parts.call, kind="stable")
    if not len(named) or not len(order):
        return root
    call = details.call[named]
    at = np.minimum(np.searchsorted(parts.call[order], call), len(order) - 1)
    hit = (parts.call[order][at] == call) & (details.b[named] <= np.iinfo(np.int32).max)
    told = np.full(len(root), UNKNOWN, np.int64)
    np.maximum.at(told, found.instance[order[at[hit]]], details.b[named][hit])
    return np.where(root >= 0, root, told)


def _member_table(
    parts: Details,
    found: Instances,
    comm_rank: Integers,
    *,
    details: Details,
    calls: Calls,
    ends: Integers,
) -> pa.Table:
    blocking = parts.request == 0
    end = np.maximum(ends, 0)
    ended = ~blocking & (ends >= 0) & (np.append(details.kind, 0)[end] == Kind.COLLECTIVE_DONE)
    done = np.where(ended, np.append(details.call, 0)[end], parts.call)
    known = blocking | ended
    columns = {
        "collective": found.instance,
        "location": parts.location,
        "comm_rank": comm_rank,
        "call": calls.call[parts.call],
        "done_call": np.where(known, calls.call[done], UNKNOWN),
        "begin_ns": calls.enter_ns[parts.call],
        "end_ns": calls.leave_ns[done],
        "begin_seq": calls.enter_seq[parts.call],
        "end_seq": np.where(known, calls.leave_seq[done], NO_VALUE),
        "sent_bytes": parts.b,
        "received_bytes": parts.c,
    }
    return arrow_table(
        "collective_members", {name: values[found.order] for name, values in columns.items()}
    )
