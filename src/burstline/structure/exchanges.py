"""Exchanges: with whom each unique call of a trace exchanged its messages, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from burstline.columns import Integers, Mask
from burstline.model import Trace
from burstline.structure.calls import Calls
from burstline.structure.partner_laws import Law, grid_law, law_of

MOST_LISTED: Final = 64
"""More partners of a call than this are counted, not listed."""


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
    caller: npt.NDArray[np.int32]  # (messages,) rank of the unique call
    partner: npt.NDArray[np.int32]  # (messages,) rank at the other end
    is_sent: Mask  # (messages,) whether the call sent it, or was to receive it
    world_size: int
    # what was found already: two methods of detection ask for the same calls
    known: dict[bytes, Partners] = field(default_factory=dict, repr=False)
    # by callers and partners, of which many calls have the same
    laws: dict[tuple[bytes, bytes], Law | None] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, trace: Trace, calls: Calls, unique: Integers) -> Exchanges:
        """The messages of a trace, where `unique` is the number of each of the calls."""
        known = np.zeros(len(calls.row), np.bool_)
        ends = [_message_ends(trace, calls, side) for side in ("send", "post")]
        for call, _ in ends:
            known[call] = True
        # The partner of a call without any message was still named.
        alone = np.flatnonzero((calls.peer >= 0) & ~known)
        ends.append((alone, calls.peer[alone]))
        call = np.concatenate([each for each, _ in ends])
        partner = np.concatenate([each for _, each in ends]).astype(np.int32)
        is_sent = np.repeat([True, False, True], [len(each) for each, _ in ends])
        order = np.lexsort((call, unique[call]))
        call = call[order]
        uniques = int(unique.max(initial=-1)) + 1
        return cls(
            np.searchsorted(unique[call], np.arange(uniques + 1)),
            calls.ranks[calls.lane[call]].astype(np.int32),
            partner[order],
            is_sent[order],
            calls.world_size,
        )

    def partners(self, uniques: Integers) -> Partners:
        """The partners of a call that is some unique calls."""
        key = uniques.tobytes()
        if key not in self.known:
            self.known[key] = self._found(uniques)
        return self.known[key]

    def _found(self, uniques: Integers) -> Partners:
        stretches = zip(
            self.begin[uniques].tolist(), self.begin[uniques + 1].tolist(), strict=True
        )
        rows = np.concatenate([np.arange(*stretch) for stretch in stretches])
        if not len(rows):
            return Partners()
        ways = [rows[self.is_sent[rows]], rows[~self.is_sent[rows]]]
        ways = [way for way in ways if len(way)]
        ranks = np.unique(self.partner[rows]).tolist()
        return Partners(
            tuple(ranks) if len(ranks) <= MOST_LISTED else None,
            len(ranks),
            any(self._vary(way) for way in ways),
            self._law(ways),
        )

    def grid(self) -> Law | None:
        """The grid whose neighbours exchange all messages."""
        sent = self.is_sent
        if not sent.any():
            return None
        return grid_law(self.caller[sent], self.partner[sent], self.world_size)

    def _vary(self, rows: Integers) -> bool:
        pair = self.caller[rows].astype(np.int64) * self.world_size + self.partner[rows]
        return len(np.unique(pair)) > len(np.unique(self.caller[rows]))

    def _law(self, ways: list[Integers]) -> Law | None:
        laws = [self._law_of(self.caller[way], self.partner[way]) for way in ways]
        known = [law for law in laws if law is not None]
        if len(known) < len(laws):
            return None
        if len({law.text for law in known}) == 1:
            text = known[0].text
        else:
            text = f"to {known[0].text}, from {known[1].text}"
        messages = [len(way) for way in ways]
        held = sum(law.share * count for law, count in zip(known, messages, strict=True))
        return Law(text, held / sum(messages))

    def _law_of(
        self, caller: npt.NDArray[np.int32], partner: npt.NDArray[np.int32]
    ) -> Law | None:
        """The law of some messages, those of each caller in their order."""
        key = caller.tobytes(), partner.tobytes()
        if key not in self.laws:
            self.laws[key] = law_of(caller, partner, self.world_size)
        return self.laws[key]


def _message_ends(trace: Trace, calls: Calls, side: str) -> tuple[Integers, Integers]:
    """The calls that sent messages, or were to receive them, and the other's ranks."""
    here, there = "sender_location", "receiver_location"
    if side == "post":
        here, there = there, here
    location, partner, ordinal = trace.arrays("messages", here, there, f"{side}_call")
    applications, ranks = trace.arrays("locations", "application", "rank")
    lane = np.full(len(ranks), -1)
    lane[calls.locations] = np.arange(len(calls.locations))
    taken = (ordinal >= 0) & (lane[location] >= 0)
    taken &= applications[partner] == calls.application
    return calls.lane_begin[lane[location[taken]]] + ordinal[taken], ranks[partner[taken]]
