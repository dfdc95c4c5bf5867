"""Messages out of sends, posts and receives, by MPI's order and not by clocks.

On a channel (communicator, sender, receiver, tag) the k-th receive *posted* gets the k-th
message sent. Wildcards need nothing extra: a receive carries whom it really came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from burstline.formats.columns import arrow_table
from burstline.formats.raw.layout import ANY_SOURCE, PROC_NULL, Kind
from burstline.matching import channels, match_messages
from burstline.schema import NO_VALUE, SEND_DONE_SOURCES, UNKNOWN

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    from burstline.formats.raw.calls import Calls, Details, Facts
    from burstline.formats.raw.oddities import Oddities
    from burstline.formats.raw.places import Places

    Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _Halves:
    """One side of messages: their records, and the process on the other side."""

    rows: Integers
    details: Details
    other: Integers

    def pick(self, chosen: npt.NDArray[np.integer | np.bool_]) -> _Halves:
        return _Halves(self.rows[chosen], self.details.pick(chosen), self.other[chosen])


def message_table(
    details: Details,
    calls: Calls,
    ends: Integers,
    *,
    places: Places,
    facts: Facts,
    odd: Oddities,
) -> pa.Table:
    """Match sends and receives, and tell the calls about them.

    Parameters
    ----------
    details : Details
        Records of all calls.
    calls : Calls
        All calls.
    ends : ndarray of int64, shape (records,)
        What :func:`burstline.formats.raw.requests.follow` found.
    places : Places
        Where processes and locations are.
    facts : Facts
        Told of partners and bytes.
    odd : Oddities
        Told of halves that stay alone, and of messages that arrive before they are sent.

    Returns
    -------
    pyarrow.Table
        The table `messages`, by sender and in the order of sending.
    """
    sends = _halves(details, Kind.SEND, places, odd)
    receives = _halves(details, Kind.RECEIVE, places, odd)
    _describe(details, ends, sends, receives, facts)
    ended = np.append(details.kind, Kind.END_OF_FILE)[ends[sends.rows]]
    sends = sends.pick(ended != Kind.CANCELLED)
    sends = _in_order(sends, calls.enter_ns[sends.details.call], sends.rows)
    post = ends[receives.rows]
    posted = np.where(post >= 0, post, receives.rows)
    queue = _Queue(receives, posted, _waiting(details, ends, places))
    partner = queue.match(sends, calls.enter_ns[details.call], places)
    _note_lost(details, ends, sends, receives, partner=partner, odd=odd)
    kept = np.flatnonzero(partner >= 0)
    sends, receives = sends.pick(partner[kept]), receives.pick(kept)
    order = np.lexsort((sends.details.index, sends.details.location))
    sends, receives = sends.pick(order), receives.pick(order)
    columns = _send_columns(sends, details, calls, ends)
    columns |= _receive_columns(receives, details, calls, ends)
    early = columns["receive_ns"] + places.accuracy_ns < columns["send_ns"]
    if early.any():
        row = int(early.argmax())
        text = f"location {columns['sender_location'][row]} at {columns['send_ns'][row]} ns"
        odd.note("message_arrives_before_it_is_sent", "error", text, np.count_nonzero(early))
    return arrow_table("messages", columns)


def _halves(details: Details, kind: Kind, places: Places, odd: Oddities) -> _Halves:
    rows = np.flatnonzero((details.kind == kind) & (details.partner != PROC_NULL))
    mine = details.pick(rows)
    other = places.process_of(mine.location, mine.partner)
    lost = np.flatnonzero(other < 0)
    if len(lost):
        text = f"location {mine.location[lost[0]]}, rank {mine.partner[lost[0]]}"
        odd.note("message_of_unknown_rank", "loss", text, len(lost))
    kept = other >= 0
    return _Halves(rows[kept], mine.pick(kept), other[kept])


def _in_order(halves: _Halves, time_ns: Integers, index: Integers) -> _Halves:
    # Rows of details count by location and record: they are the order on a location.
    return halves.pick(np.lexsort((index, time_ns)))


def _waiting(details: Details, ends: Integers, places: Places) -> _Halves:
    """Give the receives that nobody saw complete: each may have taken a message.

    Whose it was is known where neither source nor tag is a wildcard.
    """
    ended = np.append(details.kind, Kind.END_OF_FILE)[ends]
    waiting = (details.kind == Kind.POST) & (details.request != 0)
    waiting &= (ends < 0) | (ended == Kind.FREED)
    waiting &= (details.partner >= 0) & (details.tag >= 0)
    rows = np.flatnonzero(waiting)
    mine = details.pick(rows)
    other = places.process_of(mine.location, mine.partner)
    return _Halves(rows, mine, other).pick(other >= 0)


@dataclass(frozen=True, slots=True, eq=False)
class _Queue:
    """Receives with the records that posted them, and those that wait."""

    receives: _Halves
    posted: Integers
    waiting: _Halves

    def match(self, sends: _Halves, entered_ns: Integers, places: Places) -> Integers:
        """Give the send of each receive, -1 without one; `entered_ns` is by record.

        Receives that wait stand in the queue too: what they took is nobody else's.
        """
        index = np.concatenate([self.posted, self.waiting.rows])
        order = np.lexsort((index, entered_ns[index]))
        sides = [
            _channel(half, places, sending=False) for half in (self.receives, self.waiting)
        ]
        columns = [np.concatenate(pair)[order] for pair in zip(*sides, strict=True)]
        partner = np.empty(len(order), np.int64)
        partner[order] = match_messages(
            *channels(_channel(sends, places, sending=True), columns)
        )
        return partner[: len(self.receives.rows)]


def _channel(halves: _Halves, places: Places, *, sending: bool) -> list[Integers]:
    own = places.process[halves.details.location]
    ends = (own, halves.other) if sending else (halves.other, own)
    return [halves.details.communicator, *ends, halves.details.tag]


def _describe(
    details: Details, ends: Integers, sends: _Halves, receives: _Halves, facts: Facts
) -> None:
    """Tell the calls about the halves: also about those that nobody answered."""
    mine = sends.details
    facts.partner(mine.call, mine.partner, mine.tag, received=False)
    facts.communicator(mine.call, mine.communicator)
    facts.add_bytes("sent", mine.call, mine.c)
    facts.add_bytes("received", receives.details.call, receives.details.c)
    at = np.flatnonzero((details.kind == Kind.POST) & (details.partner != PROC_NULL))
    post = details.pick(at)
    answer = np.where(ends[at] >= 0, ends[at], at)
    answered = details.kind[answer] == Kind.RECEIVE
    partner = np.where(answered, details.partner[answer], post.partner)
    tag = np.where(answered, details.tag[answer], post.tag)
    named = partner > ANY_SOURCE
    facts.partner(post.call[named], partner[named], tag[named], received=True)
    facts.communicator(post.call, post.communicator)
    direct = receives.details.pick(receives.details.request == 0)
    facts.partner(direct.call, direct.partner, direct.tag, received=True)
    facts.communicator(direct.call, direct.communicator)


def _note_lost(
    details: Details,
    ends: Integers,
    sends: _Halves,
    receives: _Halves,
    *,
    partner: Integers,
    odd: Oddities,
) -> None:
    unsent = np.ones(len(sends.rows), bool)
    unsent[partner[partner >= 0]] = False
    waiting = (details.kind == Kind.POST) & (details.request != 0) & (ends < 0)
    waiting &= details.partner != PROC_NULL
    for kind, mine in (
        ("unmatched_send", sends.pick(unsent).details),
        ("unmatched_receive", receives.pick(partner < 0).details),
        ("receive_never_completed", details.pick(np.flatnonzero(waiting))),
    ):
        if len(mine):
            text = f"location {mine.location[0]}: rank {mine.partner[0]}, tag {mine.tag[0]}"
            odd.note(kind, "loss", text, len(mine))


def _send_columns(
    sends: _Halves, details: Details, calls: Calls, ends: Integers
) -> dict[str, Integers]:
    mine = sends.details
    end = ends[sends.rows]
    blocking = mine.request == 0
    done = np.where(blocking, mine.call, details.call[np.maximum(end, 0)])
    recorded = blocking | ((end >= 0) & (details.kind[np.maximum(end, 0)] == Kind.SEND_DONE))
    source = np.where(
        recorded, SEND_DONE_SOURCES.index("recorded"), SEND_DONE_SOURCES.index("unknown")
    )
    return {
        "sender_location": mine.location,
        "send_call": calls.call[mine.call],
        "send_ns": calls.enter_ns[mine.call],
        "send_seq": calls.enter_seq[mine.call],
        "send_leave_ns": calls.leave_ns[mine.call],
        "send_done_call": np.where(recorded, calls.call[done], UNKNOWN),
        "send_done_ns": np.where(recorded, calls.leave_ns[done], NO_VALUE),
        "send_done_seq": np.where(recorded, calls.leave_seq[done], NO_VALUE),
        "send_done_from": source,
        "communicator": mine.communicator,
        "tag": mine.tag,
        "sent_bytes": mine.c,
        "send_request": np.where(blocking, NO_VALUE, mine.request),
    }


def _receive_columns(
    receives: _Halves, details: Details, calls: Calls, ends: Integers
) -> dict[str, Integers]:
    mine = receives.details
    post = ends[receives.rows]
    here = mine.request == 0
    posted = np.where(post >= 0, details.call[np.maximum(post, 0)], mine.call)
    known = here | (post >= 0)
    return {
        "receiver_location": mine.location,
        "post_call": np.where(known, calls.call[posted], UNKNOWN),
        "post_ns": calls.enter_ns[posted],
        "post_seq": np.where(known, calls.enter_seq[posted], NO_VALUE),
        "receive_call": calls.call[mine.call],
        "receive_ns": calls.leave_ns[mine.call],
        "receive_seq": calls.leave_seq[mine.call],
        "received_bytes": mine.c,
        "receive_request": np.where(here, NO_VALUE, mine.request),
    }
