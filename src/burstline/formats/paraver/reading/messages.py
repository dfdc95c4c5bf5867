"""Messages and links out of both sides of the communication records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from burstline.schema import arrow_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from burstline.columns import Mask

_FOUR_GIB = 1 << 32
_TWO_GIB = 1 << 31


def join_sides(
    sends: Mapping[str, npt.NDArray[Any]], receives: Mapping[str, npt.NDArray[Any]]
) -> dict[str, npt.NDArray[Any]]:
    """Join receivers' sides, which come with their key, to the senders' sides.

    Parameters
    ----------
    sends : mapping of str to ndarray, shape (messages,)
        Senders' sides of some locations, sorted by location, each location's whole.
    receives : mapping of str to ndarray, shape (messages,)
        The receivers' sides of the same messages in any order, with ``sender_location``
        and ``ordinal`` of the message on it.

    Returns
    -------
    dict of str to ndarray
        The receivers' columns in the senders' order.
    """
    first = np.searchsorted(sends["sender_location"], receives["sender_location"])
    row = first + receives["ordinal"]
    joined = {}
    for name, values in receives.items():
        if name in ("sender_location", "ordinal"):
            continue
        target = np.empty_like(values)
        target[row] = values
        joined[name] = target
    return joined


def message_tables(
    sends: dict[str, npt.NDArray[Any]], receives: dict[str, npt.NDArray[Any]]
) -> tuple[pa.Table, pa.Table, int]:
    """Give messages and links as tables.

    Returns
    -------
    messages, links : pyarrow.Table
        As in the schema, sorted by sender and then as in the file. The communicator is
        null: the format does not record it.
    negative : int
        How many sizes were printed negative and taken as 32-bit unsigned ones.
    """
    is_link = sends["is_link"].astype(bool)
    links = _link_table(sends, receives, is_link)
    if is_link.any():
        sends = {name: values[~is_link] for name, values in sends.items()}
        receives = {name: values[~is_link] for name, values in receives.items()}
    rows = len(sends["send_ns"])
    size = sends["size"]
    negative = (size < 0) & (size >= -_TWO_GIB)
    if negative.any():
        size = np.where(negative, size + _FOUR_GIB, size)
    columns = {
        name: values for name, values in {**sends, **receives}.items() if name not in _INTERNAL
    }
    columns |= {
        "tag": sends["tag"].astype(np.int32),
        "sent_bytes": size,
        "received_bytes": size,
        "communicator": _nothing(rows, np.int32),
        "send_request": _nothing(rows, np.int64),
        "receive_request": _nothing(rows, np.int64),
    }
    return arrow_table("messages", columns), links, int(np.count_nonzero(negative))


_INTERNAL = frozenset(["is_link", "size", "tag"])


def _nothing(rows: int, kind: type[np.signedinteger[Any]]) -> pa.Array:
    return pa.nulls(rows, pa.int32() if kind is np.int32 else pa.int64())


def _link_table(
    sends: Mapping[str, npt.NDArray[Any]],
    receives: Mapping[str, npt.NDArray[Any]],
    is_link: Mask,
) -> pa.Table:
    row = np.flatnonzero(is_link)
    names = {
        "sender_location": sends["sender_location"],
        "send_ns": sends["send_ns"],
        "send_leave_ns": sends["send_leave_ns"],
        "receiver_location": sends["receiver_location"],
        "post_ns": receives["post_ns"],
        "receive_ns": receives["receive_ns"],
        "size": sends["size"],
        "tag": sends["tag"],
    }
    return arrow_table("links", {name: values[row] for name, values in names.items()})


def unmatched(messages: pa.Table) -> int:
    """Count the messages of which some call is not known."""
    nulls = [
        messages[name].is_null().to_numpy()
        for name in ("send_call", "post_call", "receive_call")
    ]
    return int(np.count_nonzero(np.logical_or.reduce(nulls))) if len(messages) else 0
