"""Which calls messages and collectives are of: rows of `calls`, linked by ordinals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from burstline.columns import AnyIntegers, Integers, Mask, Ordinals
from burstline.model import Trace
from burstline.synchronisation.intervals import narrow


class MessageCalls(NamedTuple):
    """Rows of `calls` by message, -1 for a call that is not known."""

    send: AnyIntegers  # the call that started the send
    done: AnyIntegers  # the one that completed it
    post: AnyIntegers  # the one that posted the receive
    receive: AnyIntegers  # the one that completed it


class MemberCalls(NamedTuple):
    """Rows of `calls` by member of a collective, -1 for a call that is not known."""

    start: Integers
    done: Integers  # the call that completed it, of a non-blocking one; else the same


class Links:
    """The calls of a trace by location and ordinal, and who names them."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._rows = Ordinals(*trace.arrays("calls", "location", "call"))

    def rows(self, location: AnyIntegers, call: AnyIntegers) -> Integers:
        """The rows of some calls, -1 where there is none."""
        return self._rows.rows(location, call)

    def messages(self) -> MessageCalls:
        """The calls of both sides of each message."""
        sender, receiver, send, done, post, receive = self._trace.arrays(
            "messages", "sender_location", "receiver_location",
            "send_call", "send_done_call", "post_call", "receive_call",
        )  # fmt: skip
        sides = (sender, send), (sender, done), (receiver, post), (receiver, receive)
        return MessageCalls(*(narrow(self.rows(*side)) for side in sides))

    def members(self) -> MemberCalls:
        """The calls of each member of a collective."""
        location, started, done = self._trace.arrays(
            "collective_members", "location", "call", "done_call"
        )
        start = self.rows(location, started)
        if not (done >= 0).any():
            return MemberCalls(start, start)
        return MemberCalls(start, self.rows(location, np.where(done >= 0, done, started)))

    def certain(self) -> tuple[Mask, Mask]:
        """Which collectives have all members, and which are on ambiguous communicators."""
        communicator, complete = self._trace.arrays("collectives", "communicator", "complete")
        ambiguous = self._trace.arrays("communicators", "ambiguous")[0].astype(bool)
        return complete.astype(bool), np.append(ambiguous, False)[communicator]
