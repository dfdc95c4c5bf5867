"""What the borders of a selection cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from burstline.columns import AnyIntegers, Integers, Mask, Ordinals, codes, mask_at
from burstline.model import Trace
from burstline.selection.narrowing import narrow
from burstline.selection.window import Borders

StillThere = Callable[[AnyIntegers, AnyIntegers], Mask]


@dataclass(frozen=True, slots=True)
class Losses:
    """What the borders of a selection cost."""

    messages: int  # that are gone although one of their calls is still there
    collectives: int  # with a member whose call is still there that lack a member now
    calls_clipped: int  # that are shorter now


def losses(before: Trace, after: Trace) -> Losses:
    """What is lost of a trace in a selection, because a border cuts through it."""
    if not after.rows("calls"):
        return Losses(messages=0, collectives=0, calls_clipped=0)
    location = former_locations(before, after)
    if before.is_stored:
        is_near = mask_at(location, before.locations.num_rows)
        enter, leave = after.arrays("calls", "enter_ns", "leave_ns")
        before = narrow(before, Borders(int(enter.min()), int(leave.max())), is_near)
    stays, clipped = _calls_still_there(before, after, location)
    ordinals = Ordinals(*before.arrays("calls", "location", "call"))

    def still_there(location: AnyIntegers, call: AnyIntegers) -> Mask:
        row = ordinals.rows(location, call)
        return (row >= 0) & stays[row]

    return Losses(
        messages=_lost_messages(before, after, still_there),
        collectives=_lost_collectives(before, after, still_there),
        calls_clipped=clipped,
    )


def former_locations(before: Trace, after: Trace) -> AnyIntegers:
    """The location in `before` of each location of `after`, shape (locations of `after`,)."""
    names = "application", "rank", "thread"
    old, new = codes(before.arrays("locations", *names), after.arrays("locations", *names))
    order = np.argsort(old, kind="stable")
    return order[np.searchsorted(old[order], new)]


def former_windows(
    before: Trace, after: Trace, start_ns: Integers, end_ns: Integers
) -> tuple[Integers, Integers]:
    """The windows of the locations of `after`, in ns, per location of `before`; else empty."""
    starts, ends = np.zeros((2, before.locations.num_rows), np.int64)
    where = former_locations(before, after)
    starts[where], ends[where] = start_ns, end_ns
    return starts, ends


def _calls_still_there(
    before: Trace, after: Trace, old_location: AnyIntegers
) -> tuple[Mask, int]:
    """Which calls of `before` are in `after`, and how many are shorter."""
    old_calls = before.arrays("calls", "location", "enter_seq", "enter_ns", "leave_ns")
    new_calls = after.arrays("calls", "location", "enter_seq", "enter_ns", "leave_ns")
    old, new = codes(old_calls[:2], [old_location[new_calls[0]], new_calls[1]])
    stays = np.isin(old, new)
    spans_before, spans_after = codes(
        [old[stays], *(column[stays] for column in old_calls[2:])], [new, *new_calls[2:]]
    )
    unchanged = np.isin(spans_before, spans_after)
    return stays, int(np.count_nonzero(~unchanged))


def _lost_messages(before: Trace, after: Trace, still_there: StillThere) -> int:
    sender, send, receiver, post, receive = before.arrays(
        "messages",
        "sender_location",
        "send_call",
        "receiver_location",
        "post_call",
        "receive_call",
    )
    touched = still_there(sender, send)
    for call in (post, receive):
        touched |= still_there(receiver, call)
    return max(0, int(np.count_nonzero(touched)) - after.messages.num_rows)


def _lost_collectives(before: Trace, after: Trace, still_there: StillThere) -> int:
    location, call, instance = before.arrays(
        "collective_members", "location", "call", "collective"
    )
    instances = before.collectives.num_rows
    members = np.bincount(instance, minlength=instances)
    touched = np.bincount(instance[still_there(location, call)], minlength=instances) > 0
    (instance_after,) = after.arrays("collective_members", "collective")
    kept_members = np.bincount(instance_after, minlength=after.collectives.num_rows)
    names = "communicator", "sequence"
    sequence, sequence_after = codes(
        before.arrays("collectives", *names), after.arrays("collectives", *names)
    )
    old, new = codes([sequence, members], [sequence_after, kept_members])
    return int(np.count_nonzero(touched & ~np.isin(old, new)))
