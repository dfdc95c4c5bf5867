"""Exchanges: with whom each unique call of a trace exchanged its messages, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline.columns import Integers, Mask, begins_run, prefix_sums, run_lengths, stable_order
from burstline.model import Trace
from burstline.structure.calls import Calls, columns_of
from burstline.structure.partner_laws import Law, grid_law, law_of

MOST_LISTED: Final = 64
"""More partners of a call than this are counted, not listed."""

_COLUMNS: Final = ("sender_location", "send_call", "receiver_location", "post_call")
_Ranks = npt.NDArray[np.int32]


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

    begin: Integers  # (unique + 1,) where those of each unique call begin
    ranks: Integers  # (unique,) who makes it
    # (runs,) rank at the other end of so many messages, and whether the call sent them, or was
    # to receive them: those are behind
    partner: npt.NDArray[np.int32]
    is_sent: Mask
    times: npt.NDArray[np.int32]
    world_size: int
    # what was found already: two methods of detection ask for the same calls
    known: dict[bytes, Partners] = field(default_factory=dict, repr=False)
    # by callers, partners and times, of which many calls have the same
    laws: dict[tuple[bytes, ...], Law | None] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, trace: Trace, calls: Calls, unique: Integers, received: Received | None = None
    ) -> Exchanges:
        """The messages of a trace, where `unique` is the number of each of the calls.

        A part of a trace has those that are sent there: what it `received` is told beside it.
        """
        columns = columns_of(trace, "messages", *_COLUMNS)
        received = Received.of(columns) if received is None else received
        sender, send_call, receiver, _ = columns
        ends = [
            _message_ends(trace, calls, sender, send_call, receiver),
            _message_ends(trace, calls, *received),
        ]
        known = np.zeros(calls.lane_begin[-1], np.bool_)
        for call, _ in ends:
            known[call] = True
        # The partner of a call without any message was still named.
        alone = np.flatnonzero((calls.peer >= 0) & ~known)
        ends.append((alone, calls.peer[alone].astype(np.int64)))
        call = np.concatenate([each for each, _ in ends])
        partner = np.concatenate([each for _, each in ends]).astype(np.int32)
        is_sent = np.repeat([True, False, True], [len(each) for each, _ in ends])
        order = np.lexsort((call, ~is_sent, unique[call]))
        number, partner, is_sent = unique[call[order]], partner[order], is_sent[order]
        begins = np.flatnonzero(begins_run(number, is_sent, partner))
        uniques = int(unique.max(initial=-1)) + 1
        ranks = np.zeros(uniques, np.int64)
        ranks[unique] = calls.ranks[calls.lane]
        return cls(
            np.searchsorted(number[begins], np.arange(uniques + 1)),
            ranks,
            partner[begins],
            is_sent[begins],
            run_lengths(begins, len(number)).astype(np.int32),
            calls.world_size,
        )

    @classmethod
    def of_all(cls, parts: Sequence[Exchanges]) -> Exchanges:
        """Those of the unique calls of all parts of a trace."""
        counts = np.concatenate([np.diff(part.begin) for part in parts])
        return cls(
            prefix_sums(counts),
            np.concatenate([part.ranks for part in parts]),
            np.concatenate([part.partner for part in parts]),
            np.concatenate([part.is_sent for part in parts]),
            np.concatenate([part.times for part in parts]),
            parts[0].world_size,
        )

    def partners(self, uniques: Integers) -> Partners:
        """The partners of a call that is some unique calls."""
        key = uniques.tobytes()
        if key not in self.known:
            self.known[key] = self._found(uniques)
        return self.known[key]

    def _found(self, uniques: Integers) -> Partners:
        bounds = self.begin[uniques].tolist(), self.begin[uniques + 1].tolist()
        stretches = [slice(*stretch) for stretch in zip(*bounds, strict=True)]
        partner = np.concatenate([self.partner[each] for each in stretches])
        if not len(partner):
            return Partners()
        is_sent = np.concatenate([self.is_sent[each] for each in stretches])
        times = np.concatenate([self.times[each] for each in stretches])
        counts = self.begin[uniques + 1] - self.begin[uniques]
        caller = np.repeat(self.ranks[uniques].astype(np.int32), counts)
        ways = [(caller[way], partner[way], times[way]) for way in (is_sent, ~is_sent)]
        ways = [way for way in ways if len(way[0])]
        ranks = np.unique(partner).tolist()
        return Partners(
            tuple(ranks) if len(ranks) <= MOST_LISTED else None,
            len(ranks),
            any(self._vary(*ends) for *ends, _ in ways),
            self._law(ways),
        )

    def grid(self) -> Law | None:
        """The grid whose neighbours exchange all messages."""
        sent = self.is_sent
        if not sent.any():
            return None
        caller = np.repeat(self.ranks.astype(np.int32), np.diff(self.begin))
        return grid_law(caller[sent], self.partner[sent], self.world_size, self.times[sent])

    def _vary(self, caller: _Ranks, partner: _Ranks) -> bool:
        pair = caller.astype(np.int64) * self.world_size + partner
        return len(np.unique(pair)) > len(np.unique(caller))

    def _law(self, ways: Sequence[tuple[_Ranks, _Ranks, _Ranks]]) -> Law | None:
        laws = [self._law_of(*way) for way in ways]
        known = [law for law in laws if law is not None]
        if len(known) < len(laws):
            return None
        if len({law.text for law in known}) == 1:
            text = known[0].text
        else:
            text = f"to {known[0].text}, from {known[1].text}"
        messages = [int(times.sum()) for *_, times in ways]
        held = sum(law.share * count for law, count in zip(known, messages, strict=True))
        return Law(text, held / sum(messages))

    def _law_of(self, caller: _Ranks, partner: _Ranks, times: _Ranks) -> Law | None:
        """The law of some messages, those of each caller in their order."""
        key = caller.tobytes(), partner.tobytes(), times.tobytes()
        if key not in self.laws:
            self.laws[key] = law_of(caller, partner, self.world_size, times)
        return self.laws[key]


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
        """Those that a part of a trace sends."""
        return cls.of(columns_of(trace, "messages", *_COLUMNS))

    @classmethod
    def shared_out(cls, sent: Sequence[Received], ranges: Sequence[range]) -> list[Received]:
        """What locations in ranges receive of all that is sent, in the order of the senders."""
        ends = [each.stop for each in ranges]
        columns = [np.concatenate(column) for column in zip(*sent, strict=True)]
        part = np.searchsorted(ends, columns[0], side="right")
        order = stable_order(part, len(ends))
        bounds = np.searchsorted(part[order], np.arange(len(ends) + 1)).tolist()
        ordered = [column[order] for column in columns]
        return [cls(*(column[slice(*own)] for column in ordered)) for own in pairwise(bounds)]


def _message_ends(
    trace: Trace,
    calls: Calls,
    location: npt.NDArray[np.int32],
    ordinal: npt.NDArray[np.int32],
    partner: npt.NDArray[np.int32],
) -> tuple[Integers, Integers]:
    """The calls that sent messages, or were to receive them, and the other's ranks."""
    applications, ranks = trace.arrays("locations", "application", "rank")
    lane = np.full(len(ranks), -1)
    lane[calls.locations] = np.arange(len(calls.locations))
    taken = (ordinal >= 0) & (lane[location] >= 0)
    taken &= applications[partner] == calls.application
    return calls.lane_begin[lane[location[taken]]] + ordinal[taken], ranks[partner[taken]]
