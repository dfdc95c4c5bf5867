"""Messages and links out of both sides of the communication records.

The receiver's side of a message knows its sender's location, and which of the messages of
that location it is: both sides meet without a doubt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from burstline.schema import arrow_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from burstline.columns import Integers, Mask
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
    """Joins both sides of messages by the sender's location and the number there.

    `process` is that of each location. Of a trace in one part the receivers' sides come in the
    order of the senders', without a key; `raw` asks for links.
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
        """Messages, links if asked for, by sender and as in the file; no half stays alone."""
        if not self._in_one_part:
            receives = _in_order(sends, receives)
        messages, links, negative = _tables(sends, receives)
        text = "taken as unsigned 32-bit numbers"
        self._defects.note("negative_message_size", "info", text, negative)
        return {"messages": messages} | ({"links": links} if self._raw else {}), []

    def finish(self) -> None:
        """Nothing stays to be said."""


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
    """Messages, links, and how many sizes were printed negative and are taken as unsigned.

    The communicator is null: the format does not record it.
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
    sends: Columns,
    receives: Columns,
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
