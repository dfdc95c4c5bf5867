"""Exchanges: with whom each unique call of a trace exchanged its messages, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline.columns import (
    Integers,
    Mask,
    begins_run,
    mask_at,
    placed,
    run_lengths,
    stable_order,
    take,
)
from burstline.model import Trace
from burstline.structure.calls import Calls, columns_of
from burstline.structure.partner_laws import Law, grid_law, law_of_messages
from burstline.structure.sequences import Messages, Sequences

MOST_LISTED: Final = 64
"""More partners of a call than this are counted, not listed."""

_COLUMNS: Final = ("sender_location", "send_call", "receiver_location", "post_call")


@dataclass(frozen=True, slots=True)
class Partners:
    """The partners of a call on some lanes."""

    ranks: tuple[int, ...] | None = ()  # exactly, in order; None if they are too many to list
    count: int = 0  # how many ranks they are
    vary: bool = False  # whether a rank sends to several, or receives from several
    law: Law | None = None  # what holds for them


@dataclass(frozen=True, slots=True, eq=False)
class Exchanges:
    """Messages, those of each unique call in its order; of a Sendrecv, each is two."""

    ranks: Integers  # (unique,) who makes it
    # (unique,) the sequence of what each sent, and of what it was to receive; -1 if nothing
    sent: Integers
    received: Integers
    sequences: Sequences
    world_size: int
    # what was found already, by callers and what they sent and received: of many calls the same
    known: dict[tuple[bytes, ...], Partners] = field(default_factory=dict, repr=False)
    # by callers and sequences, of which many calls have the same
    laws: dict[tuple[bytes, bytes], Law | None] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, trace: Trace, calls: Calls, unique: Integers, received: Received | None = None
    ) -> Exchanges:
        """The messages of a trace by unique calls, or those a part sends and `received`."""
        call, is_sent, partner = _ends(trace, calls, received)
        order = np.lexsort((call, ~is_sent, unique[call]))  # those sent before those received
        number, is_sent, partner = unique[call[order]], is_sent[order], partner[order]
        begins = np.flatnonzero(begins_run(number, is_sent, partner))
        uniques = int(unique.max(initial=-1)) + 1
        ranks = placed(calls.ranks[calls.lane], unique, uniques)
        way = 2 * number[begins] + ~is_sent[begins]
        sequences, found = Sequences.distinct(
            np.searchsorted(way, np.arange(2 * uniques + 1)),
            ((partner[begins] - ranks[number[begins]]) % calls.world_size).astype(np.int32),
            run_lengths(begins, len(number)).astype(np.int32),
        )
        return cls(ranks, found[::2], found[1::2], sequences, calls.world_size)

    @classmethod
    def of_all(cls, parts: Sequence[Exchanges]) -> Exchanges:
        """Those of the unique calls of all parts of a trace."""
        sequences, numbers = Sequences.of_all([part.sequences for part in parts])
        of_parts = [*zip(parts, numbers, strict=True)]
        return cls(
            np.concatenate([part.ranks for part in parts]),
            np.concatenate([take(own, part.sent) for part, own in of_parts]),
            np.concatenate([take(own, part.received) for part, own in of_parts]),
            sequences,
            parts[0].world_size,
        )

    @property
    def are_none(self) -> bool:
        """Whether no call has a partner."""
        return len(self.sequences.begin) == 1

    def partners(self, uniques: Integers) -> Partners:
        """The partners of a call that is some unique calls."""
        columns = self.ranks, self.sent, self.received
        key = tuple(column[uniques].tobytes() for column in columns)
        if key not in self.known:
            self.known[key] = self._found(uniques)
        return self.known[key]

    def _found(self, uniques: Integers) -> Partners:
        ranks = self.ranks[uniques]
        ways = [own for own in (self.sent[uniques], self.received[uniques]) if own.max() >= 0]
        if not ways:
            return Partners()
        messages = [Messages(self.sequences, ranks, own, self.world_size) for own in ways]
        partners = np.unique(np.concatenate([own.partners for own in messages])).tolist()
        laws = []
        for numbers, own in zip(ways, messages, strict=True):
            key = ranks.tobytes(), numbers.tobytes()
            if key not in self.laws:
                self.laws[key] = law_of_messages(own)
            laws.append(self.laws[key])
        return Partners(
            tuple(partners) if len(partners) <= MOST_LISTED else None,
            len(partners),
            any(own.vary for own in messages),
            _joined(laws, [int(own.counts.sum()) for own in messages]),
        )

    def grid(self) -> Law | None:
        """The grid whose neighbours exchange all messages."""
        if self.are_none or self.sent.max() < 0:
            return None
        sent = Messages(self.sequences, self.ranks, self.sent, self.world_size)
        return grid_law(sent.callers, sent.partners, self.world_size, sent.counts)


class Received(NamedTuple):
    """Messages by who was to receive them."""

    location: npt.NDArray[np.int32]
    call: npt.NDArray[np.int32]  # that posted the receive, its ordinal there
    sender: npt.NDArray[np.int32]  # a location

    @classmethod
    def of(cls, columns: Sequence[npt.NDArray[np.int32]]) -> Received:
        """Those whose receive a call posted, of the columns of messages."""
        sender, _, receiver, post_call = columns
        posted = post_call >= 0
        return cls(receiver[posted], post_call[posted], sender[posted])

    @classmethod
    def of_part(cls, trace: Trace) -> Received:
        """Those that a part of a trace sends, by who receives them."""
        sent = cls.of(columns_of(trace, "messages", *_COLUMNS))
        order = stable_order(sent.location, int(sent.location.max(initial=0)) + 1)
        return cls(*(column[order] for column in sent))

    @classmethod
    def shared_out(cls, sent: Sequence[Received], ranges: Sequence[range]) -> list[Received]:
        """What locations in ranges receive of all that parts send, in the order of these."""
        ends = [0, *(each.stop for each in ranges)]
        bounds = [np.searchsorted(part.location, ends).tolist() for part in sent]
        own = [[slice(*some) for some in pairwise(each)] for each in bounds]
        return [
            cls(
                *(
                    np.concatenate(
                        [part[some] for part, some in zip(each, theirs, strict=True)]
                    )
                    for each in zip(*sent, strict=True)
                )
            )
            for theirs in zip(*own, strict=True)
        ]


def _joined(laws: Sequence[Law | None], messages: Sequence[int]) -> Law | None:
    """The law of what a call sent and received, of so many messages each."""
    known = [law for law in laws if law is not None]
    if len(known) < len(laws):
        return None
    if len({law.text for law in known}) == 1:
        text = known[0].text
    else:
        text = f"to {known[0].text}, from {known[1].text}"
    held = sum(law.share * count for law, count in zip(known, messages, strict=True))
    return Law(text, held / sum(messages))


def _ends(
    trace: Trace, calls: Calls, received: Received | None
) -> tuple[Integers, Mask, npt.NDArray[np.int32]]:
    """The calls that sent messages, then those that were to receive some, and the partners."""
    columns = columns_of(trace, "messages", *_COLUMNS)
    received = Received.of(columns) if received is None else received
    sender, send_call, receiver, _ = columns
    ends = [
        _message_ends(trace, calls, sender, send_call, receiver),
        _message_ends(trace, calls, *received),
    ]
    known = mask_at(np.concatenate([call for call, _ in ends]), calls.lane_begin[-1])
    # The partner of a call without any message was still named.
    alone = np.flatnonzero((calls.peer >= 0) & ~known)
    ends.append((alone, calls.peer[alone].astype(np.int32)))
    return (
        np.concatenate([each for each, _ in ends]),
        np.repeat([True, False, True], [len(each) for each, _ in ends]),
        np.concatenate([each for _, each in ends]).astype(np.int32, copy=False),
    )


def _message_ends(
    trace: Trace,
    calls: Calls,
    location: npt.NDArray[np.int32],
    ordinal: npt.NDArray[np.int32],
    partner: npt.NDArray[np.int32],
) -> tuple[Integers, npt.NDArray[np.int32]]:
    """The calls that sent messages, or were to receive them, and the other's ranks."""
    applications, ranks = trace.arrays("locations", "application", "rank")
    lane = placed(np.arange(len(calls.locations)), calls.locations, len(ranks), -1)
    taken = (ordinal >= 0) & (lane[location] >= 0)
    taken &= applications[partner] == calls.application
    return calls.lane_begin[lane[location[taken]]] + ordinal[taken], ranks[partner[taken]]
