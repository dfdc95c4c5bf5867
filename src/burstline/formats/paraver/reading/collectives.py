"""Collective instances out of the calls: the format has no id for them.

The k-th collective of each member on a communicator is its k-th instance. That holds
only while tracing was never disabled, no cut falls into one, and duplicates of a
communicator, which share its id, are not in use at the same time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from burstline import schema
from burstline._core import CallKind
from burstline.formats.intake import comm_ranks
from burstline.formats.paraver.reading.kernel_vocabulary import call_kinds
from burstline.matching import collective_instances
from burstline.operations import CODES, NON_BLOCKING_COLLECTIVES
from burstline.schema import arrow_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt
    import pyarrow as pa

    from burstline.columns import Integers

PART_COLUMNS = (
    "location",
    "call",
    "operation",
    "communicator",
    "root",
    "enter_ns",
    "leave_ns",
    "enter_seq",
    "leave_seq",
    "sent_bytes",
    "received_bytes",
)
"""What is needed of a call to find its instance."""


def collective_parts(calls: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Pick the calls that are parts of collectives on a known communicator."""
    kinds = np.append(call_kinds(), 0)
    operation = calls["operation"]
    known = np.where((operation >= 0) & (operation < len(kinds) - 1), operation, len(kinds) - 1)
    chosen = np.flatnonzero(
        (kinds[known] & CallKind.COLLECTIVE != 0) & (calls["communicator"] >= 0)
    )
    return {name: calls[name][chosen] for name in PART_COLUMNS}


def collective_tables(
    parts: Mapping[str, npt.NDArray[Any]],
    rank_of_location: npt.NDArray[np.int32],
    members: Sequence[Sequence[int]],
    operations: Sequence[str],
) -> tuple[pa.Table, pa.Table]:
    """Give instances and their members as tables.

    Parameters
    ----------
    parts : mapping of str to ndarray, shape (parts,)
        :func:`collective_parts` of all locations, sorted by location and call.
    rank_of_location : ndarray of int32, shape (locations,)
        Rank of each location.
    members : sequence of sequences of int
        Ranks of the members of each communicator.
    operations : sequence of str
        Names behind the codes of operations.

    Returns
    -------
    instances, members : pyarrow.Table
        As in the schema; `collective` is the row of the instance.
    """
    rank = rank_of_location[parts["location"]]
    comm_rank = comm_ranks(parts["communicator"], rank, members)
    found = collective_instances(
        parts["communicator"],
        parts["location"],
        comm_rank,
        parts["operation"],
        sizes=np.array([len(listed) for listed in members], np.int64),
    )
    first = np.full(len(found.sequence), len(rank), np.int64)
    np.minimum.at(first, found.instance, np.arange(len(rank)))
    root = np.full(len(found.sequence), schema.UNKNOWN, np.int32)
    np.maximum.at(root, found.instance, parts["root"])
    instances = arrow_table(
        "collectives",
        {
            "communicator": found.communicator,
            "operation": parts["operation"][first],
            "root": root,
            "sequence": found.sequence,
            "complete": found.complete,
        },
        operations=operations,
    )
    return instances, _member_table(parts, found.order, found.instance, comm_rank)


def _member_table(
    parts: Mapping[str, npt.NDArray[Any]],
    order: Integers,
    instance: Integers,
    comm_rank: Integers,
) -> pa.Table:
    codes = [CODES[name] for name in NON_BLOCKING_COLLECTIVES]
    blocking = ~np.isin(parts["operation"], codes)
    columns = {
        "collective": instance,
        "location": parts["location"],
        "comm_rank": comm_rank,
        "call": parts["call"],
        # The completion of a non-blocking collective is not recorded.
        "done_call": np.where(blocking, parts["call"], schema.UNKNOWN),
        "begin_ns": parts["enter_ns"],
        "end_ns": parts["leave_ns"],
        "begin_seq": parts["enter_seq"],
        "end_seq": np.where(blocking, parts["leave_seq"], schema.NO_VALUE),
        "sent_bytes": _or_zero(parts["sent_bytes"]),
        "received_bytes": _or_zero(parts["received_bytes"]),
    }
    return arrow_table(
        "collective_members", {name: values[order] for name, values in columns.items()}
    )


def _or_zero(size: Integers) -> Integers:
    return np.where(size == schema.NO_VALUE, 0, size)
