"""Messages as arrows from the call that sends to the call that has received."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from burstline.formats.perfetto.places import Places
    from burstline.trace import Trace

_COLUMNS: Final = (
    "sender_location",
    "send_ns",
    "send_leave_ns",
    "receiver_location",
    "post_ns",
    "receive_ns",
    "tag",
    "sent_bytes",
)


def events(trace: Trace, places: Places) -> Iterator[str]:
    """Give both ends of every arrow.

    Parameters
    ----------
    trace : Trace
        The trace.
    places : Places
        Where events stand.

    Yields
    ------
    str
        Two events for each message. An end lies within its slice, so at a call's last
        nanosecond where the trace has the moment at which the call was left.
    """
    number = 0
    for part in trace.batches("messages", _COLUMNS):
        column = {name: part[name].to_numpy() for name in _COLUMNS}
        begin = np.minimum(column["send_ns"], column["send_leave_ns"] - 1)
        end = np.maximum(column["post_ns"], column["receive_ns"] - 1)
        rows = zip(
            column["sender_location"].tolist(),
            begin.tolist(),
            column["receiver_location"].tolist(),
            end.tolist(),
            column["tag"].tolist(),
            column["sent_bytes"].tolist(),
            strict=True,
        )
        for sender, sent, receiver, received, tag, size in rows:
            number += 1
            common = f'"name":"message","cat":"message","id":{number}'
            told = f'"args":{{"tag":{tag},"bytes":{size}}}'
            yield (
                f'{{"ph":"s",{common},{places.where[sender]},"ts":{places.time(sent)},{told}}}'
            )
            yield (
                f'{{"ph":"f","bp":"e",{common},{places.where[receiver]},'
                f'"ts":{places.time(received)}}}'
            )
