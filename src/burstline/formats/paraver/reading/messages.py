"""Messages and links out of both sides of the communication records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from burstline.schema import TABLES, arrow_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from burstline.columns import Integers
    from burstline.formats.intake import Defects

    Columns = Mapping[str, npt.NDArray[Any]]
    Types = Mapping[str, np.dtype[Any]]

_FOUR_GIB = 1 << 32
_TWO_GIB = 1 << 31


SENDS: Final[Types] = {
    "sender_location": np.dtype(np.int32),
    "send_call": np.dtype(np.int32),
    "send_ns": np.dtype(np.int64),
    "send_seq": np.dtype(np.int64),
    "send_leave_ns": np.dtype(np.int64),
    "send_done_call": np.dtype(np.int32),
    "send_done_ns": np.dtype(np.int64),
    "send_done_seq": np.dtype(np.int64),
    "send_done_from": np.dtype(np.int8),
    "receiver_location": np.dtype(np.int32),
    "size": np.dtype(np.int64),
    "tag": np.dtype(np.int64),
    "is_link": np.dtype(np.int8),
}
"""The sender's side of a message or link."""
_RECEIVES: Final[Types] = {
    "post_call": np.dtype(np.int32),
    "post_ns": np.dtype(np.int64),
    "post_seq": np.dtype(np.int64),
    "receive_call": np.dtype(np.int32),
    "receive_ns": np.dtype(np.int64),
    "receive_seq": np.dtype(np.int64),
}
_KEY: Final[Types] = {"sender_location": np.dtype(np.int32), "ordinal": np.dtype(np.int64)}


class ExactOrder:
    """Joins both sides of messages by the sender's location and the ordinal there.

    Of a trace in one part, receivers' sides come in the order of the senders', without a key.
    """

    sends: Final = SENDS

    def __init__(
        self, process: Integers, defects: Defects, *, in_one_part: bool, raw: bool
    ) -> None:
        self._process, self._defects = process, defects
        self._in_one_part, self._raw = in_one_part, raw
        self.receives: Types = _RECEIVES if in_one_part else {**_KEY, **_RECEIVES}

    def senders(self, receives: Columns) -> Integers:
        """The process that sent what each receive took."""
        return self._process[receives["sender_location"]]

    def join(
        self, sends: Columns, receives: Columns
    ) -> tuple[dict[str, pa.Table], list[Columns]]:
        """Messages, and links of a raw trace, by sender and as in the file; no halves."""
        if not self._in_one_part:
            receives = _in_order(sends, receives)
        messages, links, negative = _tables(sends, receives)
        text = "taken as unsigned 32-bit numbers"
        self._defects.note("negative_message_size", "info", text, negative)
        return {"messages": messages} | ({"links": links} if self._raw else {}), []

    def finish(self) -> None:
        """Nothing."""


def _in_order(sends: Columns, receives: Columns) -> Columns:
    """The receivers' sides in the order of the senders', which are sorted by location."""
    first = np.searchsorted(sends["sender_location"], receives["sender_location"])
    row = first + receives["ordinal"]
    joined = {}
    for name in _RECEIVES:
        joined[name] = np.empty_like(receives[name])
        joined[name][row] = receives[name]
    return joined


def _tables(sends: Columns, receives: Columns) -> tuple[pa.Table, pa.Table, int]:
    """Messages, links, and the number of sizes that were printed negative, now unsigned."""
    is_link = sends["is_link"].astype(bool)
    sides = {**sends, **receives}
    names = [column.name for column in TABLES["links"].columns]
    links = arrow_table("links", {name: sides[name][is_link] for name in names})
    if is_link.any():
        sides = {name: values[~is_link] for name, values in sides.items()}
    rows, size = len(sides["send_ns"]), sides["size"]
    negative = (size < 0) & (size >= -_TWO_GIB)
    if negative.any():
        size = np.where(negative, size + _FOUR_GIB, size)
    columns = {name: values for name, values in sides.items() if name not in _INTERNAL}
    columns |= {
        "tag": sides["tag"].astype(np.int32),
        "sent_bytes": size,
        "received_bytes": size,
        "communicator": pa.nulls(rows, pa.int32()),
        "send_request": pa.nulls(rows, pa.int64()),
        "receive_request": pa.nulls(rows, pa.int64()),
    }
    return arrow_table("messages", columns), links, int(np.count_nonzero(negative))


_INTERNAL = frozenset(["is_link", "size", "tag"])
