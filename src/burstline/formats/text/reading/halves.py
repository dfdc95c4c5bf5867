"""Halves of messages and parts of collectives out of the rows of a text, in arrays.

Both are numbered here, and joined by :mod:`burstline.formats.intake`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import schema
from burstline.columns import ordinal_within
from burstline.formats.intake import (
    HALF_COLUMNS,
    PART_COLUMNS,
    RECEIVE_COLUMNS,
    SEND_COLUMNS,
    channel_ordinals,
)
from burstline.schema import NO_VALUE, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from burstline.columns import Columns, Integers
    from burstline.formats.intake import Places
    from burstline.formats.text.forms import Row

_RECORDED, _INFERRED, _UNKNOWN = map(
    schema.SEND_DONE_SOURCES.index, ("recorded", "inferred", "unknown")
)
_TABLES: Final = ("messages", "half_messages", "collective_members")
_LONG: Final = {
    c.name for name in _TABLES for c in schema.TABLES[name].columns if c.type == "int64"
}


def sends_of(rows: Iterable[Row], places: Places) -> Columns:
    """The sends of all locations, in their order, with their numbers on their channels."""
    rows = sorted(rows, key=lambda row: (row["location"], row["send_seq"]))
    columns = _columns([_send(row) for row in rows], SEND_COLUMNS)
    sender, receiver = places.process[columns["sender_location"]], _partners(rows, "to", places)
    ordinal = _ordinals(columns, sender, receiver, columns["send_ns"])
    return columns | {"receiver": receiver, "ordinal": ordinal}


def _send(row: Row) -> Row:
    call = row["within"]
    send = row | {"send_leave_ns": call["leave_ns"] if call else row["send_ns"]}
    if "send_done_ns" in row:
        return send | {"send_done_from": _RECORDED}
    if row["send_request"] is not None:
        return send | {"send_done_from": _UNKNOWN}
    return send | {
        "send_done_call": row["send_call"],
        "send_done_ns": send["send_leave_ns"],
        "send_done_seq": call["leave_seq"] if call else row["send_seq"],
        "send_done_from": _INFERRED,
    }


def receives_of(rows: Iterable[Row], places: Places) -> Columns:
    """The receives of all locations, numbered on their channels by when they were posted."""
    rows = sorted(rows, key=lambda r: (r["location"], r["post_seq"], r["receive_seq"]))
    columns = _columns(rows, RECEIVE_COLUMNS)
    sender, receiver = (
        _partners(rows, "from", places),
        places.process[columns["receiver_location"]],
    )
    ordinal = _ordinals(columns, sender, receiver, columns["post_ns"])
    return columns | {"sender": sender, "ordinal": ordinal}


def _ordinals(
    columns: Columns, sender: Integers, receiver: Integers, time_ns: Integers
) -> Integers:
    channel = [columns["communicator"], sender, receiver, columns["tag"]]
    return channel_ordinals(channel, time_ns, np.arange(len(time_ns)))


def half_messages(rows: Iterable[Row], posts: Iterable[Row]) -> Columns:
    """What is told of messages without another side, and the posts of lost receives."""
    lost = [
        {"location": row["location"], "call": row["post_call"], "seq": row["post_seq"]}
        | {"time_ns": row["post_ns"], "kind": "post", "request": row["request"]}
        for row in posts
    ]
    kinds = schema.HALF_KINDS
    halves = [row | {"kind": kinds.index(row["kind"])} for row in [*rows, *lost]]
    return _columns(halves, HALF_COLUMNS)


def parts_of(rows: Iterable[Row], places: Places, operations: Mapping[str, int]) -> Columns:
    """Parts of collectives by process and time, numbered on their communicators.

    An instance has one root: who names another one is wrong.
    """
    process = places.process.tolist()
    rows = sorted(
        (
            row | {"named_root": row["root"], "operation": operations[row["operation"]]}
            for row in rows
        ),
        key=lambda row: (
            process[row["location"]],
            row["begin_ns"],
            row["location"],
            row["begin_seq"],
        ),
    )
    columns = _columns(rows, PART_COLUMNS)
    sequence = ordinal_within(columns["communicator"], places.process[columns["location"]])
    roots: dict[tuple[int, int], int] = {}
    for row, number in zip(rows, sequence.tolist(), strict=True):
        if row["root"] is not None:
            root = roots.setdefault((row["communicator"], number), row["root"])
            if root != row["root"]:
                raise row["statement"].error(f"root {root}, as others say")
    return columns | {"sequence": sequence}


def _columns(rows: Sequence[Row], names: Iterable[str]) -> Columns:
    """Columns of rows, with a sentinel for what a row does not have."""
    columns = {}
    for name in names:
        absent = NO_VALUE if name in _LONG else UNKNOWN
        values = (row.get(name) for row in rows)
        columns[name] = np.array([absent if v is None else v for v in values], np.int64)
    return columns


def _partners(rows: Sequence[Row], side: str, places: Places) -> Integers:
    """The process on the other side of each row."""
    location, rank = (np.array([r[n] for r in rows], np.int64) for n in ("location", side))
    partner = places.process_of(location, rank)
    for missing in np.flatnonzero(partner < 0).tolist():
        application = places.application[places.process[location[missing]]]
        raise rows[missing]["statement"].error(
            f"a rank of application {application}", str(rank[missing])
        )
    return partner
