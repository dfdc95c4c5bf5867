"""Events of messages whose other side is not there: the table `half_messages`.

::

    sends, receives that match nothing ─┐
    posts that nobody saw complete     ─┴─► an event each: send, send_done, post, receive
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.formats.intake.target import types_of
from burstline.schema import HALF_KINDS, NO_VALUE, SEND_DONE_SOURCES, UNKNOWN, arrow_table

if TYPE_CHECKING:
    import pyarrow as pa

    from burstline.columns import Integers
    from burstline.formats.intake.source import Columns


HALF_COLUMNS: Final = (
    "location", "seq", "time_ns", "kind", "call", "communicator", "peer", "tag", "bytes",
    "request",
)  # fmt: skip
"""Those of the table."""
HALF_TYPES: Final = types_of(HALF_COLUMNS, "half_messages")

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


def events_of(halves: Columns, peer: Integers) -> list[Columns]:
    """The events of sends that nobody received, or of receives of what nobody sent."""
    if "sender_location" in halves:
        side, kind, other, size = "sender", "send", "send_done", "sent_bytes"
        is_apart = halves["send_done_from"] == _RECORDED
    else:
        side, kind, other, size = "receiver", "receive", "post", "received_bytes"
        is_apart = halves["post_seq"] != NO_VALUE
    request = halves[f"{kind}_request"]

    def moments(name: str) -> Columns:
        places = {"seq": f"{name}_seq", "time_ns": f"{name}_ns", "call": f"{name}_call"}
        columns = {column: halves[source] for column, source in places.items()}
        return columns | {"location": halves[f"{side}_location"], "request": request}

    about = {name: halves[name] for name in ("communicator", "tag")}
    about |= {"bytes": halves[size], "peer": peer}
    apart = np.flatnonzero(is_apart & (request != NO_VALUE))
    others = {name: column[apart] for name, column in moments(other).items()}
    return [events(kind, **moments(kind), **about), events(other, **others)]


def half_table(rows: Columns) -> pa.Table:
    """The table of events that are in any order."""
    order = np.lexsort([rows[name] for name in reversed(HALF_COLUMNS)])
    return arrow_table("half_messages", {name: rows[name][order] for name in HALF_COLUMNS})
