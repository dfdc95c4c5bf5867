"""Events of messages whose other side is not there: the table `half_messages`.

::

    sends, receives that match nothing ─┐
    posts that nobody saw complete     ─┴─► an event each: send, send_done, post, receive
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline.formats.intake.target import types_of
from burstline.schema import HALF_KINDS, NO_VALUE, SEND_DONE_SOURCES, UNKNOWN, arrow_table

if TYPE_CHECKING:
    import pyarrow as pa

    from burstline.columns import Integers
    from burstline.formats.intake.target import Columns


HALF_COLUMNS: Final = (
    "location",
    "seq",
    "time_ns",
    "kind",
    "call",
    "communicator",
    "peer",
    "tag",
    "bytes",
    "request",
)
"""Those of the table."""

_KIND: Final = {name: code for code, name in enumerate(HALF_KINDS)}
_RECORDED: Final = SEND_DONE_SOURCES.index("recorded")
_ABSENT: Final = {
    "call": UNKNOWN,
    "communicator": UNKNOWN,
    "peer": UNKNOWN,
    "tag": UNKNOWN,
    "bytes": NO_VALUE,
    "request": NO_VALUE,
}


def half_types() -> dict[str, np.dtype[Any]]:
    """The types of :data:`HALF_COLUMNS`."""
    return types_of(HALF_COLUMNS, "half_messages")


def events(kind: str, **columns: Integers) -> Columns:
    """Events of one kind; columns that are not given are not known.

    >>> import numpy as np
    >>> one = np.array([3])
    >>> found = events("post", location=one, seq=one, time_ns=one, request=one)
    >>> found["peer"].tolist(), found["request"].tolist()
    ([-1], [3])
    """
    count = len(columns["location"])
    whole = {name: np.full(count, value, np.int64) for name, value in _ABSENT.items()}
    return whole | {"kind": np.full(count, _KIND[kind], np.int64)} | columns


def of_sends(sends: Columns, peer: Integers) -> list[Columns]:
    """The events of sends that nobody received."""
    about = {name: sends[name] for name in ("communicator", "tag")}
    about |= {"location": sends["sender_location"], "request": sends["send_request"]}
    started = events(
        "send",
        seq=sends["send_seq"],
        time_ns=sends["send_ns"],
        call=sends["send_call"],
        bytes=sends["sent_bytes"],
        peer=peer,
        **about,
    )
    done = (about["request"] != NO_VALUE) & (sends["send_done_from"] == _RECORDED)
    names = ("sender_location", "send_done_seq", "send_done_ns", "send_done_call")
    location, seq, time_ns, call, request = (
        sends[name][done] for name in (*names, "send_request")
    )
    place = {"location": location, "seq": seq, "time_ns": time_ns}
    return [started, events("send_done", call=call, request=request, **place)]


def of_receives(receives: Columns, peer: Integers) -> list[Columns]:
    """The events of receives of what nobody sent."""
    about = {name: receives[name] for name in ("communicator", "tag")}
    about |= {"location": receives["receiver_location"], "request": receives["receive_request"]}
    complete = events(
        "receive",
        seq=receives["receive_seq"],
        time_ns=receives["receive_ns"],
        call=receives["receive_call"],
        bytes=receives["received_bytes"],
        peer=peer,
        **about,
    )
    posted = (about["request"] != NO_VALUE) & (receives["post_seq"] != NO_VALUE)
    names = ("receiver_location", "post_seq", "post_ns", "post_call")
    location, seq, time_ns, call, request = (
        receives[name][posted] for name in (*names, "receive_request")
    )
    place = {"location": location, "seq": seq, "time_ns": time_ns}
    return [complete, events("post", call=call, request=request, **place)]


def half_table(rows: Columns) -> pa.Table:
    """The table of events that are in any order."""
    order = np.lexsort([rows[name] for name in reversed(HALF_COLUMNS)])
    return arrow_table("half_messages", {name: rows[name][order] for name in HALF_COLUMNS})
