"""Sequences of messages by how far each goes, so that ranks which do the same share one.

What holds of a sequence is found once; what depends on the rank as well, of pairs of ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from burstline.columns import (
    UNKNOWN,
    AnyIntegers,
    Integers,
    Mask,
    begins_run,
    prefix_sums,
    ranges,
    sums_by,
)

Numbers = npt.NDArray[np.int32]


class Sequences(NamedTuple):
    """Sequences of messages that differ, one after the other."""

    begin: Integers  # (sequences + 1,)
    # (runs,) ranks from the caller to its partner, around the end, and messages in a row
    ahead: Numbers
    times: Numbers

    @classmethod
    def distinct(
        cls, begin: Integers, ahead: Numbers, times: Numbers
    ) -> tuple[Sequences, Integers]:
        """Those that differ of some, and the number of each; -1 of one without messages."""
        numbers: dict[tuple[bytes, bytes], int] = {}
        first: list[int] = []
        found = np.full(len(begin) - 1, UNKNOWN, np.int64)
        for each, (start, end) in enumerate(pairwise(begin.tolist())):
            if start == end:
                continue
            key = ahead[start:end].tobytes(), times[start:end].tobytes()
            number = found[each] = numbers.setdefault(key, len(first))
            if number == len(first):
                first.append(each)
        runs, starts = places_in(begin, np.array(first, np.int64))
        return cls(starts, ahead[runs], times[runs]), found

    @classmethod
    def of_all(cls, parts: Sequence[Sequences]) -> tuple[Sequences, list[Integers]]:
        """Those that differ of all parts, and the numbers of those of each part."""
        counts = [np.diff(part.begin) for part in parts]
        joined, numbers = cls.distinct(
            prefix_sums(np.concatenate(counts)),
            np.concatenate([part.ahead for part in parts]),
            np.concatenate([part.times for part in parts]),
        )
        return joined, np.split(numbers, np.cumsum([len(own) for own in counts])[:-1])

    def chosen(self, numbers: AnyIntegers) -> Sequences:
        """Some of them."""
        runs, begin = places_in(self.begin, numbers)
        return Sequences(begin, self.ahead[runs], self.times[runs])

    def joined(
        self, ranks: Integers, numbers: Integers
    ) -> tuple[Integers, Sequences, Integers]:
        """One sequence for each of some ranks, that of one which has several joined."""
        order = np.argsort(ranks, kind="stable")
        begins = np.flatnonzero(begins_run(ranks[order]))
        own = numbers[order].astype(np.int32)
        several, of_rank = Sequences.distinct(
            np.append(begins, len(order)), own, np.ones_like(own)
        )
        chosen = self.chosen(several.ahead)
        joined = Sequences(chosen.begin[several.begin], chosen.ahead, chosen.times)
        return ranks[order][begins], joined, of_rank


class Messages:
    """Messages of some ranks, all to or all from their partners, each rank's in order."""

    # (pairs,) ascending, and how many messages each has
    callers: Integers
    partners: Integers
    counts: Integers

    def __init__(
        self, sequences: Sequences, ranks: Integers, numbers: Integers, world: int
    ) -> None:
        has = numbers != UNKNOWN
        ranks, numbers = ranks[has], numbers[has]
        self.world = world
        # (callers,) ascending, and the sequence of each
        self._ranks, self._sequences, self._of_rank = sequences.joined(ranks, numbers)
        begin, ahead, times = self._sequences
        number = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
        # A step is a number of ranks ahead that a sequence has, (steps,) of all in order.
        steps, self._step = np.unique(number * world + ahead, return_inverse=True)
        self._step = self._step.reshape(-1)  # (runs,)
        self._step_begin = np.searchsorted(steps // world, np.arange(len(begin)))
        counts = sums_by(self._step, times, len(steps))
        step, pair_begin = places_in(self._step_begin, self._of_rank)
        callers = np.repeat(self._ranks, np.diff(pair_begin))
        pairs = callers * world + (callers + steps[step] % world) % world
        order = np.argsort(pairs)
        self.pairs = pairs[order]  # each as a number
        self._step_of_pair = step[order]
        self.callers, self.partners = np.divmod(self.pairs, world)
        self.counts = counts[self._step_of_pair]

    @property
    def vary(self) -> bool:
        """Whether a rank has several partners."""
        return len(self.pairs) > len(self._ranks)

    def most_frequent(self, values: Integers) -> int:
        """The value of pairs that most messages have; of equal ones the least."""
        found, number = np.unique(values, return_inverse=True)
        return int(found[sums_by(number, self.counts, len(found)).argmax()])

    def share(self, holds: Mask) -> float:
        """The share of messages whose pair obeys."""
        return float(self.counts[holds].sum() / self.counts.sum())

    def most_to_one(self) -> float:
        """The share of messages that go between each rank and its most frequent partner."""
        most = np.maximum.reduceat(self.counts, np.flatnonzero(begins_run(self.callers)))
        return float(most.sum() / self.counts.sum())

    def share_in_rounds(self, expected: Integers, enough: float) -> float:
        """The share of messages that are the first of their round with one of the partners.

        Where less than `enough` could be, that is not looked at: it is what could be.
        """
        if not np.isin(expected, self.pairs).all():
            return 0.0  # one of the partners is none
        known = np.isin(self.pairs, expected)
        if (most := self.share(known)) < enough:
            return most
        of_round = np.bincount(expected // self.world, minlength=self.world)[self.callers]
        step, turn = self._turns
        begin = np.searchsorted(step, np.arange(self._step_begin[-1]))
        first = 0
        for length in np.unique(of_round[known]).tolist():
            rounds = np.add.reduceat(begins_run(step, turn // length), begin, dtype=np.int64)
            first += int(rounds[self._step_of_pair[known & (of_round == length)]].sum())
        return first / int(self.counts.sum())

    def share_by_turn(self, values: Integers, pattern: Integers) -> float:
        """The share of messages whose pair has the value whose turn it is."""
        step, turn = self._turns
        kinds, count = np.unique(step * len(pattern) + turn % len(pattern), return_counts=True)
        begin = np.searchsorted(kinds // len(pattern), np.arange(self._step_begin[-1] + 1))
        kind, pair_begin = places_in(begin, self._step_of_pair)
        holds = np.repeat(values, np.diff(pair_begin)) == pattern[kinds[kind] % len(pattern)]
        return int(count[kind][holds].sum()) / int(self.counts.sum())

    def of_busiest(self, most: int) -> tuple[int, Integers]:
        """The first rank with most messages, and its partners in order, `most` at most."""
        begin, ahead, times = self._sequences
        length = np.add.reduceat(times, begin[:-1], dtype=np.int64)
        place = int(length[self._of_rank].argmax())
        own = slice(*begin[self._of_rank[place] :][:2].tolist())
        rank = int(self._ranks[place])
        seen = np.repeat(ahead[own], times[own])[:most].astype(np.int64)
        return rank, (rank + seen) % self.world

    @cached_property
    def _turns(self) -> tuple[Integers, Integers]:
        """The step of each message of the sequences, ascending, and which one it is there."""
        begin, _, times = self._sequences
        step = np.repeat(self._step, times)
        messages = prefix_sums(times)[begin]
        turn = ranges(0, np.diff(messages))
        order = np.argsort(step, kind="stable")
        return step[order], turn[order]


def places_in(begin: Integers, chosen: AnyIntegers) -> tuple[Integers, Integers]:
    """The places in some stretches, one after the other, and where each begins among these."""
    lengths = (begin[1:] - begin[:-1])[chosen]
    return ranges(begin[chosen], lengths), prefix_sums(lengths)
