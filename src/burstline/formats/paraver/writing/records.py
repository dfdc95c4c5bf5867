"""The raw tables of a trace as the columns that the writer's kernel merges.

::

    events, states, messages + links  ->  Records(events, states, links)  ->  _core.PrvBody
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa

from burstline.columns import to_numpy

if TYPE_CHECKING:
    from burstline.columns import Integers
    from burstline.trace import Trace


EVENT_COLUMNS: Final = ("location", "time_ns", "type", "value")
STATE_COLUMNS: Final = ("location", "begin_ns", "end_ns", "state")
LINK_COLUMNS: Final = (
    "sender_location",
    "send_ns",
    "send_leave_ns",
    "receiver_location",
    "post_ns",
    "receive_ns",
    "size",
    "tag",
)
MESSAGE_COLUMNS: Final = (*LINK_COLUMNS[:6], "received_bytes", "tag")

_TAG_BITS: Final = np.int64(0xFFFF_FFFF)


class Records(NamedTuple):
    """Columns of int64 for the kernel, behind the offsets of locations, (locations + 1,)."""

    events: tuple[Integers, ...]  # time, type, value
    states: tuple[Integers, ...]  # begin, end, state
    # by sender and send leave: send, send leave, receiver, post, receive, size, tag
    links: tuple[Integers, ...]

    @property
    def rows(self) -> int:
        """The number of events, states and communications."""
        return len(self.events[1]) + len(self.states[1]) + len(self.links[1])


def whole(trace: Trace) -> Records:
    """The records of a trace; events and states in memory are not copied."""
    return from_tables(
        trace.table("events").select(list(EVENT_COLUMNS)),
        trace.table("states").select(list(STATE_COLUMNS)),
        pa.concat_tables([as_links(trace.table(name)) for name in ("messages", "links")]),
        trace.locations.num_rows,
    )


def from_tables(events: pa.Table, states: pa.Table, links: pa.Table, locations: int) -> Records:
    """The records of three tables sorted by location; `links` in any order within it."""
    order = np.lexsort((to_numpy(links["send_leave_ns"]), to_numpy(links["sender_location"])))
    return Records(
        _grouped(events, locations),
        _grouped(states, locations),
        _grouped(links.take(pa.array(order)), locations),
    )


def as_links(table: pa.Table) -> pa.Table:
    """Messages or other communications with :data:`LINK_COLUMNS`, as int64; tags unsigned."""
    is_messages = "received_bytes" in table.column_names
    names = MESSAGE_COLUMNS if is_messages else LINK_COLUMNS
    columns = [_integers(table[name]) for name in names]
    if is_messages:
        columns[-1] = columns[-1] & _TAG_BITS
    return pa.table(dict(zip(LINK_COLUMNS, columns, strict=True)))


def _grouped(table: pa.Table, locations: int) -> tuple[Integers, ...]:
    group, *columns = table.columns
    offsets = np.searchsorted(to_numpy(group), np.arange(locations + 1))
    return (offsets.astype(np.int64), *(_integers(column) for column in columns))


def _integers(column: pa.ChunkedArray) -> Integers:
    return np.ascontiguousarray(to_numpy(column), dtype=np.int64)
