"""Messages and links out of both sides of their records; parts of collectives out of calls.

The format has no id for instances of collectives: the k-th collective of each location on a
communicator is the k-th instance, unless tracing was disabled or duplicates of the
communicator share its id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from burstline._core import CallKind
from burstline.columns import ordinal_within
from burstline.formats.paraver.reading.kernel_vocabulary import call_kinds
from burstline.operations import CODES, NON_BLOCKING_COLLECTIVES
from burstline.schema import NO_VALUE, TABLES, UNKNOWN, arrow_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from burstline.columns import Integers
    from burstline.formats.intake import Defects

    Columns = Mapping[str, npt.NDArray[Any]]
    Types = Mapping[str, np.dtype[Any]]

_FOUR_GIB = 1 << 32
_TWO_GIB = 1 << 31


_FLAGS: Final = {"send_done_from": np.int8, "is_link": np.int8}


def _types(names: str) -> Types:
    """The type of each column: places and calls fit into 32 bits."""
    return {
        name: np.dtype(
            np.int32 if name.endswith(("location", "call")) else _FLAGS.get(name, np.int64)
        )
        for name in names.split()
    }


SENDS: Final = _types(
    "sender_location send_call send_ns send_seq send_leave_ns send_done_call send_done_ns "
    "send_done_seq send_done_from receiver_location size tag is_link"
)
"""The sender's side of a message or link."""
_RECEIVES: Final = _types("post_call post_ns post_seq receive_call receive_ns receive_seq")
_KEY: Final = _types("sender_location ordinal")
_CODES = [CODES[name] for name in NON_BLOCKING_COLLECTIVES]


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


def collective_parts(calls: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """The calls that are parts of collectives on a known communicator, by location."""
    kinds = np.append(call_kinds(), 0)
    code = calls["operation"]
    code_or_none = np.where((code >= 0) & (code < len(kinds) - 1), code, len(kinds) - 1)
    rows = np.flatnonzero(
        (kinds[code_or_none] & CallKind.COLLECTIVE != 0) & (calls["communicator"] >= 0)
    )
    operation, location, call = (
        calls[name][rows] for name in ("operation", "location", "call")
    )
    communicator = calls["communicator"][rows]
    # The completion of a non-blocking collective is not recorded.
    blocking = ~np.isin(operation, _CODES)
    return {
        "location": location,
        "call": call,
        "done_call": np.where(blocking, call, np.int32(UNKNOWN)),
        "begin_ns": calls["enter_ns"][rows],
        "end_ns": calls["leave_ns"][rows],
        "begin_seq": calls["enter_seq"][rows],
        "end_seq": np.where(blocking, calls["leave_seq"][rows], NO_VALUE),
        "sent_bytes": _or_zero(calls["sent_bytes"][rows]),
        "received_bytes": _or_zero(calls["received_bytes"][rows]),
        "communicator": communicator,
        "sequence": ordinal_within(communicator, location),
        "operation": operation,
        "own_root": calls["root"][rows],
        "named_root": np.full(len(rows), UNKNOWN, np.int32),
    }


def _or_zero(size: Integers) -> Integers:
    return np.where(size == NO_VALUE, 0, size)
