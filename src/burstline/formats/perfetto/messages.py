"""Messages as arrows from the sending to the receiving call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.columns import to_numpy
from burstline.formats.walk import Walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt
    import pyarrow as pa

    from burstline.columns import Integers
    from burstline.formats.perfetto.labels import Places
    from burstline.trace import Trace

_COLUMNS: Final = (
    "sender_location", "send_call", "send_ns", "receiver_location", "post_ns", "receive_ns",
    "tag", "sent_bytes",
)  # fmt: skip


def events(trace: Trace, places: Places) -> Iterator[str]:
    """Yield both ends of every arrow."""
    # An end lies within its slice, so one nanosecond before its call is left; but viewers leave
    # out arrows that end before they begin.
    number = 0
    senders = _Senders(trace)
    for part in trace.batches("messages", _COLUMNS):
        column = {name: to_numpy(part[name]) for name in _COLUMNS}
        begin = senders.moments(*(column[name] for name in _COLUMNS[:3]))
        end = np.maximum(column["post_ns"], column["receive_ns"] - 1)
        end = np.maximum(end, np.minimum(begin, column["receive_ns"]))
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
            arguments = f'"args":{{"tag":{tag},"bytes":{size}}}'
            yield (
                f'{{"ph":"s",{common},{places.where[sender]},"ts":{places.time(sent)},{arguments}}}'
            )
            yield (
                f'{{"ph":"f","bp":"e",{common},{places.where[receiver]},'
                f'"ts":{places.time(received)}}}'
            )


class _Senders:
    """The calls that sent, which are asked for location after location."""

    def __init__(self, trace: Trace) -> None:
        self._walk = Walk(trace, "calls", ("location", "call", "enter_ns", "leave_ns"))
        self._location = -1
        self._rows: pa.Table | None = None

    def moments(
        self,
        location: npt.NDArray[np.int32],
        call: npt.NDArray[np.int32],
        sent: Integers,
    ) -> Integers:
        """The moments of sending in ns, each within its call; `location` ascends."""
        result = sent.copy()
        for sender in np.unique(location).tolist():
            of_sender = slice(*np.searchsorted(location, [sender, sender + 1]).tolist())
            rows = self._of(sender)
            calls, enter, leave = (
                to_numpy(rows[name]) for name in ("call", "enter_ns", "leave_ns")
            )
            row = np.searchsorted(calls, call[of_sender])
            has_call = np.append(calls, -1)[row] == call[of_sender]
            first, last = np.append(enter, 0)[row], np.append(leave, 0)[row] - 1
            inside = np.clip(sent[of_sender], first, np.maximum(first, last))
            result[of_sender] = np.where(
                has_call & (call[of_sender] >= 0), inside, sent[of_sender]
            )
        return result

    def _of(self, location: int) -> pa.Table:
        if self._rows is None or location != self._location:
            self._location, self._rows = location, self._walk.of(location)
        return self._rows
