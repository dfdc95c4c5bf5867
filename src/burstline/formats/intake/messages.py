"""Messages out of sends, posts and receives, by MPI's order and not by clocks.

On a channel (communicator, sender, receiver, tag) the k-th receive *posted* gets the k-th
message sent. Wildcards need nothing extra: a receive carries whom it really came from. All
sends of a channel are of one process, and so are all its receives: each process numbers
its own, and halves of equal number belong together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import Integers, codes, ordinal_within, take
from burstline.formats.intake.calls import (
    ANY_SOURCE,
    PROC_NULL,
    CallFacts,
    Calls,
    DetailKind,
    Details,
)
from burstline.formats.intake.defects import Defects
from burstline.formats.intake.source import Columns, Joining, Placement
from burstline.formats.intake.target import types_of
from burstline.model import NO_VALUE, UNKNOWN, arrow_table, match_messages, schema

HALF_COLUMNS: Final = (
    "location", "seq", "time_ns", "kind", "call", "communicator", "peer", "tag", "bytes",
    "request",
)  # fmt: skip
"""Those of the table."""
HALF_TYPES: Final = types_of(HALF_COLUMNS, "half_messages")

_KIND: Final = {name: code for code, name in enumerate(schema.HALF_KINDS)}
_RECORDED: Final = schema.SEND_DONE_SOURCES.index("recorded")
_ABSENT: Final = {
    "call": UNKNOWN,
    "communicator": UNKNOWN,
    "peer": UNKNOWN,
    "tag": UNKNOWN,
    "bytes": NO_VALUE,
    "request": NO_VALUE,
}


def events(kind: str, **columns: Integers) -> Columns:
    """Events of one kind; columns that are not given are not known."""
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


SEND_COLUMNS: Final = (
    "sender_location", "send_call", "send_ns", "send_seq", "send_leave_ns", "send_done_call",
    "send_done_ns", "send_done_seq", "send_done_from", "communicator", "tag", "sent_bytes",
    "send_request", "receiver", "ordinal",
)  # fmt: skip
"""A send: its columns of `messages`, the process it goes to, its number on its channel."""

RECEIVE_COLUMNS: Final = (
    "receiver_location", "post_call", "post_ns", "post_seq", "receive_call", "receive_ns",
    "receive_seq", "received_bytes", "receive_request", "communicator", "tag", "sender",
    "ordinal",
)  # fmt: skip
"""A receive: its columns of `messages`, and its channel and number there."""


@dataclass(frozen=True, slots=True, eq=False)
class _Halves:
    """One side of messages: rows of their records, and the process on the other side."""

    details: Details
    rows: Integers
    other: Integers

    def pick(self, chosen: npt.NDArray[np.integer | np.bool_]) -> _Halves:
        return _Halves(self.details, self.rows[chosen], self.other[chosen])

    def of(self, name: str) -> Integers:
        column: Integers = getattr(self.details, name)
        return column[self.rows]


def _both_sides(
    details: Details, places: Placement, defects: Defects
) -> tuple[_Halves, _Halves]:
    """Sends and receives whose partner is a process of the trace; others are noted."""
    sides, strangers = [], []
    for kind in (DetailKind.SEND, DetailKind.RECEIVE):
        rows = np.flatnonzero((details.kind == kind) & (details.partner != PROC_NULL))
        other = places.process_of(details.location[rows], details.partner[rows])
        sides.append(_Halves(details, rows, other).pick(other >= 0))
        strangers.append(rows[(other < 0) & details.is_own(rows)])
    lost = np.sort(np.concatenate(strangers))
    is_left_out = places.is_part & (details.partner[lost] >= 0)
    for name, severity, rows in (
        ("message_of_unrecorded_rank", "info", lost[is_left_out]),
        ("message_of_unknown_rank", "loss", lost[~is_left_out]),
    ):
        stranger = details.location[rows], details.partner[rows]
        defects.note_rows(name, severity, "location {}, rank {}", *stranger)
    return sides[0], sides[1]


def message_halves(
    details: Details,
    ends: Integers,
    facts: CallFacts,
    *,
    places: Placement,
    defects: Defects,
    probe: Integers,
    stamped: tuple[Details, Calls] | None = None,
) -> tuple[Columns, Columns, Columns, Columns]:
    """Sends, receives, posts that never completed, and what waits in queues, by location.

    What calls send and receive is noted with them. `probe` is, of a receive of a matched
    message or its post, the record of its probe, else -1. Times are of the records and calls
    that are `stamped`, if any.
    """
    sends, receives = _both_sides(details, places, defects)
    _describe_messages(details, ends, sends, receives, facts)
    details, calls = stamped or (details, facts.calls)
    sends, receives = (replace(side, details=details) for side in (sends, receives))
    lost = _never_completed(details, calls, ends, defects)
    end = ends[sends.rows]
    is_sent = (end < 0) | (details.kind[end] != DetailKind.CANCELLED)
    sends = sends.pick(is_sent & details.is_own(sends.rows))
    entered = calls.enter_ns[details.call]
    columns = _send_columns(sends, calls, ends)
    columns["receiver"] = sends.other
    columns["ordinal"] = channel_ordinals(
        _channel_columns(sends, places), entered[sends.rows], sends.rows
    )
    post = ends[receives.rows]
    posted = np.where(post >= 0, post, receives.rows)
    by = np.maximum(probe[posted], probe[receives.rows])
    posted = np.where(by >= 0, by, posted)
    here = details.is_own(posted)
    if not here.all():
        receives, posted = receives.pick(here), posted[here]
    waiting = _waiting_posts(details, ends, places)
    index = np.concatenate([posted, waiting.rows])
    # Receives that wait stand in the queue too: what they took is nobody else's.
    columns_of_both = zip(
        _channel_columns(receives, places), _channel_columns(waiting, places), strict=True
    )
    channel = [np.concatenate(pair) for pair in columns_of_both]
    ordinal = channel_ordinals(channel, entered[index], index)
    received = _receive_columns(receives, calls, ends)
    received |= {"sender": receives.other, "ordinal": ordinal[: len(posted)]}
    queued = {name: waiting.of(name) for name in ("communicator", "tag")}
    queued |= {"sender": waiting.other, "ordinal": ordinal[len(posted) :]}
    return columns, received, lost, queued


def _never_completed(
    details: Details, calls: Calls, ends: Integers, defects: Defects
) -> Columns:
    """The posts of receives that nobody saw complete, as halves of messages."""
    waiting = (details.kind == DetailKind.POST) & (details.request != 0) & (ends < 0)
    waiting &= details.partner != PROC_NULL
    posts = details.pick(details.where(waiting))
    if len(posts):
        source, label = (
            f"{word} {number[0]}" if number[0] >= 0 else f"any {word}"
            for word, number in (("rank", posts.partner), ("tag", posts.tag))
        )
        text = f"location {posts.location[0]}: {source}, {label}"
        defects.note("receive_never_completed", "loss", text, len(posts))
    return events(
        "post",
        location=posts.location,
        seq=calls.enter_seq[posts.call],
        time_ns=calls.enter_ns[posts.call],
        call=calls.call[posts.call],
        communicator=posts.communicator,
        peer=np.where(posts.partner >= 0, posts.partner, UNKNOWN),
        tag=np.maximum(posts.tag, UNKNOWN),
        request=posts.request,
    )


def channel_ordinals(
    channel: Sequence[Integers], time_ns: Integers, index: Integers
) -> Integers:
    """The ordinal of each half on its channel by time, at one time by record."""
    (name,) = codes(channel)
    return ordinal_within(name, order=np.lexsort((index, time_ns, name)))


def _waiting_posts(details: Details, ends: Integers, places: Placement) -> _Halves:
    """The receives without wildcards that nobody saw complete, but that may have."""
    waiting = (details.kind == DetailKind.POST) & (details.request != 0)
    waiting &= (details.partner >= 0) & (details.tag >= 0)
    rows = details.where(waiting)
    rows = rows[(ends[rows] < 0) | (details.kind[ends[rows]] == DetailKind.FREED)]
    other = places.process_of(details.location[rows], details.partner[rows])
    return _Halves(details, rows, other).pick(other >= 0)


def _channel_columns(halves: _Halves, places: Placement) -> list[Integers]:
    process = places.process[halves.of("location")]
    return [halves.of("communicator"), process, halves.other, halves.of("tag")]


def _describe_messages(
    details: Details, ends: Integers, sends: _Halves, receives: _Halves, facts: CallFacts
) -> None:
    """Note with the calls what they send and receive: also what nobody answered."""
    call = sends.of("call")
    facts.add_partners(call, sends.of("partner"), sends.of("tag"), received=False)
    facts.add_communicators(call, sends.of("communicator"))
    facts.add_bytes("sent", call, sends.of("size"))
    facts.add_bytes("received", receives.of("call"), receives.of("size"))
    post = np.flatnonzero((details.kind == DetailKind.POST) & (details.partner != PROC_NULL))
    answered = ends[post] >= 0
    answered &= details.kind[ends[post]] == DetailKind.RECEIVE
    source = np.where(answered, ends[post], post)
    partner, call = details.partner[source], details.call[post]
    named = partner > ANY_SOURCE
    facts.add_partners(call[named], partner[named], details.tag[source[named]], received=True)
    communicator = details.communicator[post]
    either = np.where(communicator >= 0, communicator, details.communicator[source])
    facts.add_communicators(call, either)
    direct = receives.pick(receives.of("request") == 0)
    call = direct.of("call")
    facts.add_partners(call, direct.of("partner"), direct.of("tag"), received=True)
    facts.add_communicators(call, direct.of("communicator"))


def _send_columns(sends: _Halves, calls: Calls, ends: Integers) -> dict[str, Integers]:
    details, call, request = sends.details, sends.of("call"), sends.of("request")
    end = ends[sends.rows]
    blocking = request == 0
    done = np.where(blocking, call, take(details.call, end))
    recorded = blocking | (take(details.kind, end) == DetailKind.SEND_DONE)
    sources = (schema.SEND_DONE_SOURCES.index(name) for name in ("recorded", "unknown"))
    return {
        "sender_location": sends.of("location"),
        "send_call": calls.call[call],
        "send_ns": calls.enter_ns[call],
        "send_seq": calls.enter_seq[call],
        "send_leave_ns": calls.leave_ns[call],
        "send_done_call": np.where(recorded, calls.call[done], UNKNOWN),
        "send_done_ns": np.where(recorded, calls.leave_ns[done], NO_VALUE),
        "send_done_seq": np.where(recorded, calls.leave_seq[done], NO_VALUE),
        "send_done_from": np.where(recorded, *sources),
        "communicator": sends.of("communicator"),
        "tag": sends.of("tag"),
        "sent_bytes": sends.of("size"),
        "send_request": np.where(blocking, NO_VALUE, request),
    }


def _receive_columns(receives: _Halves, calls: Calls, ends: Integers) -> dict[str, Integers]:
    details, call, request = receives.details, receives.of("call"), receives.of("request")
    post = ends[receives.rows]
    blocking = request == 0
    posted = np.where(post >= 0, take(details.call, post), call)
    has_post = blocking | (post >= 0)
    return {
        "receiver_location": receives.of("location"),
        "communicator": receives.of("communicator"),
        "tag": receives.of("tag"),
        "post_call": np.where(has_post, calls.call[posted], UNKNOWN),
        "post_ns": calls.enter_ns[posted],
        "post_seq": np.where(has_post, calls.enter_seq[posted], NO_VALUE),
        "receive_call": calls.call[call],
        "receive_ns": calls.leave_ns[call],
        "receive_seq": calls.leave_seq[call],
        "received_bytes": receives.of("size"),
        "receive_request": np.where(blocking, NO_VALUE, request),
    }


_SENT: Final = ("sender_location", "send_call", "receiver")
_RECEIVED: Final = ("receiver_location", "receive_call", "sender")


class MpiOrder(Joining):
    """Joins the halves of messages by channel and number; at the end it notes what is odd."""

    sends = types_of(SEND_COLUMNS, "messages")
    receives = types_of(RECEIVE_COLUMNS, "messages")

    def __init__(self, places: Placement, defects: Defects) -> None:
        self._places, self._defects = places, defects
        self._alone: dict[str, tuple[int, tuple[int, ...]]] = {}

    def senders(self, receives: Columns) -> Integers:
        """The process that sent what each receive took."""
        return receives["sender"]

    def join(
        self, sends: Columns, receives: Columns
    ) -> tuple[dict[str, pa.Table], list[Columns]]:
        """Messages of some senders, in the order of sending, and events of what stays alone."""
        events: list[Columns] = []
        process = self._places.process
        sent = [sends[name] for name in ("communicator", "receiver", "tag", "ordinal")]
        sent.insert(1, process[sends["sender_location"]])
        took = [receives[name] for name in ("communicator", "sender", "tag", "ordinal")]
        took.insert(2, process[receives["receiver_location"]])
        partner = match_messages(*codes(sent, took))
        taken = np.full(len(sends["tag"]), UNKNOWN, np.int64)
        matched = np.flatnonzero(partner >= 0)
        taken[partner[matched]] = matched
        for kind, halves, alone, (location, call, other) in (
            ("unmatched_send", sends, taken < 0, _SENT),
            ("unmatched_receive", receives, partner < 0, _RECEIVED),
        ):
            rows = np.flatnonzero(alone)
            rank = self._places.rank[halves[other][rows]]
            places = [halves[name][rows] for name in (location, call)]
            self._count(kind, [*places, rank, halves["tag"][rows]])
            half = {name: column[rows] for name, column in halves.items()}
            events += events_of(half, rank)
        rows = np.flatnonzero(taken >= 0)
        columns = {name: sends[name][rows] for name in SEND_COLUMNS[:-2]}
        columns |= {name: receives[name][taken[rows]] for name in RECEIVE_COLUMNS[:-4]}
        self._note_early(columns)
        return {"messages": arrow_table("messages", columns)}, events

    def _count(self, kind: str, alone: list[Integers]) -> None:
        if not len(alone[0]):
            return
        row = int(np.lexsort(alone[::-1])[0])
        place = tuple(int(column[row]) for column in alone)
        count, first = self._alone.get(kind, (0, place))
        self._alone[kind] = (count + len(alone[0]), min(first, place))

    def _note_early(self, columns: Columns) -> None:
        accuracy_ns = self._places.accuracy_ns
        if accuracy_ns is None:
            return
        early = columns["receive_ns"] + accuracy_ns < columns["send_ns"]
        kind, sent = "message_arrives_before_it_is_sent", ("sender_location", "send_ns")
        values = (columns[name][early] for name in sent)
        self._defects.note_rows(kind, "error", "location {} at {} ns", *values)

    def finish(self) -> None:
        """Note the halves that stay alone."""
        for kind, (count, (location, _, rank, tag)) in self._alone.items():
            text = f"location {location}: rank {rank}, tag {tag}"
            self._defects.note(kind, "loss", text, count)
