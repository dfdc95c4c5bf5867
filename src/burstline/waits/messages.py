"""Waits for messages: late senders, late receivers, messages in the wrong order."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from burstline import _core
from burstline._core import Wait
from burstline.columns import AnyIntegers, Integers, Mask, begins_run, mask_at, take
from burstline.synchronisation import INSIDE, PLACES, Sync
from burstline.waits.points import PointList
from burstline.waits.severities import Contributions, Severities

TESTS: Final = ("MPI_Test", "MPI_Testany", "MPI_Testall", "MPI_Testsome")
SINGLE: Final = ("MPI_Wait", "MPI_Waitany")
MULTIPLE: Final = ("MPI_Waitall", "MPI_Waitsome")
BLOCKING: Final = ("MPI_Send", "MPI_Ssend")
"""Sends that wait for their receivers in the sense of the definitions."""


def add_message_waits(
    sync: Sync, severities: Severities, points: PointList, *, like_scalasca: bool
) -> None:
    """Add waits for messages, and the points where both sides met."""
    messages, calls = sync.messages, sync.calls
    is_multiple, is_test, may_wait = sync.masks_of(MULTIPLE, TESTS, (*BLOCKING, *SINGLE))
    late = np.minimum(calls.enter_ns[messages.send], calls.leave_ns[messages.receive])
    late = late - calls.enter_ns[messages.receive]
    late[is_test[messages.receive]] = 0
    late = np.maximum(late, 0)
    counted = _counted_once(messages.receive, messages["receive_seq"], late, is_multiple)
    size = messages["sent_bytes"]
    sender, receiver = messages["sender_location"], messages["receiver_location"]
    _add_late(
        sync, severities, points,
        _Side(receiver, messages.receive, messages["receive_seq"]).of(counted),
        _Side(sender, messages.send, messages["send_seq"]).of(counted),
        names=(Wait.LATE_SENDER, "mpi_latesender", "ls"),
        wait=late[counted], size=size[counted],
    )  # fmt: skip
    _add_wrong_order(sync, severities, late, counted, is_multiple, like_scalasca=like_scalasca)

    has_late_sender = mask_at(messages.receive[late > 0], len(calls.node))
    waits_for_receiver = may_wait | (is_multiple & ~has_late_sender)
    known = (messages.done >= 0) & (messages.post >= 0) & messages.done_known
    known &= take(waits_for_receiver, messages.done, missing=False)
    post_ns = take(calls.enter_ns, messages.post)
    wait = post_ns - take(calls.enter_ns, messages.done)
    wait = np.where(known & (take(calls.leave_ns, messages.done) > post_ns), wait, 0)
    counted = _counted_once(
        messages.done, messages["send_done_seq"], np.maximum(wait, 0), is_multiple
    )
    _add_late(
        sync, severities, points,
        _Side(sender, messages.done, messages["send_done_seq"]).of(counted),
        _Side(receiver, messages.post, messages["post_seq"]).of(counted),
        names=(Wait.LATE_RECEIVER, "mpi_latereceiver", "lr"),
        wait=wait[counted], size=size[counted],
        # Scalasca 2.6 compares the wrong way round.
        bound=np.minimum if like_scalasca else np.maximum,
    )  # fmt: skip


def _counted_once(
    call: AnyIntegers, seq: Integers, wait: Integers, is_multiple: Mask
) -> Integers:
    """The messages whose wait counts: of a call that completes several, the largest, once."""
    rows = np.flatnonzero(wait > 0)
    several = is_multiple[call[rows]]
    ones, rows = rows[~several], rows[several]
    rows = rows[np.lexsort((seq[rows], -wait[rows], call[rows]))]
    return np.concatenate([ones, rows[begins_run(call[rows])]])


class _Side(NamedTuple):
    """One side of some messages: where it is, its call, and the event ordinal in it."""

    location: AnyIntegers
    call: AnyIntegers
    seq: AnyIntegers

    def of(self, rows: Integers) -> _Side:
        """The same of some of the messages."""
        return _Side(*(column[rows] for column in self))


def _add_late(
    sync: Sync,
    severities: Severities,
    points: PointList,
    waits: _Side,
    causes: _Side,
    *,
    names: tuple[Wait, str, str],
    wait: Integers,
    size: Integers,
    bound: np.ufunc = np.maximum,
) -> None:
    """Add waits of one side for the other, by names of their metrics, and where both met."""
    calls, (type_, metric, letters) = sync.calls, names
    waiting = Contributions.entered(calls, waits.call)
    severities.add(metric, waiting, wait)
    _count_waits(severities, letters, waiting, size)
    later = calls.leave_ns[waits.call] - calls.leave_ns[causes.call]
    cause = points.add(
        causes.location,
        causes.seq * PLACES + INSIDE,
        node=calls.node[causes.call],
        total=calls.leave_ns[causes.call] - calls.enter_ns[causes.call],
        completion=np.maximum(0, -later),
        peer=waits.location,
        interval=causes.call,
    )
    points.add(
        waits.location,
        waits.seq * PLACES + INSIDE,
        node=waiting.node,
        type_=int(type_),
        wait=wait,
        total=calls.leave_ns[waits.call] - waiting.start_ns,
        completion=bound(0, later),
        cause=cause,
        peer=causes.location,
        interval=waits.call,
    )


def _add_wrong_order(
    sync: Sync,
    severities: Severities,
    late: Integers,
    counted: Integers,
    is_multiple: Mask,
    *,
    like_scalasca: bool,
) -> None:
    messages, calls = sync.messages, sync.calls
    order, begin = _core.order_within(
        np.ascontiguousarray(messages["receiver_location"], np.int32),
        messages["receive_seq"],
        sync.locations,
    )
    counts = mask_at(counted, len(order))
    # Only messages of one such call do not show each other to be in the wrong order.
    call = np.where(is_multiple[messages.receive], messages.receive, -1 - np.arange(len(order)))
    by, first = _core.wrong_order(
        begin,
        call[order],
        np.ascontiguousarray(messages["send_ns"][order]),
        np.ascontiguousarray(messages["sender_location"][order], np.int32),
        counts[order].view(np.uint8),
    )
    hit = np.flatnonzero(by >= 0)
    row, trigger, first_row = order[hit], order[by[hit]], order[first[hit]]
    waiting, wait = Contributions.entered(calls, messages.receive[row]), late[row]
    severities.add("mpi_latesender_wo", waiting, wait)
    _count_waits(severities, "lswo", waiting, messages["sent_bytes"][row])
    # Scalasca 2.6 judges all by the first that a message shows.
    judged = first_row if like_scalasca else row
    waiting = waiting._replace(node=calls.node[messages.receive[judged]])
    same = messages["sender_location"][judged] == messages["sender_location"][trigger]
    for metric, rows in (("mpi_lswo_same", same), ("mpi_lswo_different", ~same)):
        severities.add(metric, waiting.of(rows), wait[rows])


def _count_waits(
    severities: Severities, kind: str, waiting: Contributions, size: Integers
) -> None:
    """Count waits: of messages with a payload (c), and of those without (s)."""
    severities.count(f"mpi_c{kind}_count", waiting, size > 0)
    severities.count(f"mpi_s{kind}_count", waiting, size <= 0)
