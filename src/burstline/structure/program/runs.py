"""Runs: long sequences of numbers as the few arithmetic progressions they are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from burstline.columns import Integers, prefix_sums, ranges

_SHORTEST = 3
"""Two numbers are a progression by chance; from three on it is one."""


@dataclass(frozen=True, eq=False)
class Runs:
    """One sequence of integers per lane, as arithmetic progressions.

    0, 2, 4, 6, 8, 20, 21, 22 is (0, step 2, 5 times) and (20, step 1, 3 times).
    """

    begin: Integers  # (lanes + 1,) where the progressions of each lane begin
    # (progressions,) first number, difference of neighbours (0 for a single number), and how
    # many numbers
    first: Integers
    step: Integers
    count: Integers

    @classmethod
    def of(cls, lanes: Iterable[Sequence[int] | Integers]) -> Runs:
        """The progressions in one sequence per lane, greedily from the left."""
        progressions: list[tuple[int, int, int]] = []
        begin = [0]
        known: dict[bytes, list[tuple[int, int, int]]] = {}  # many lanes have the same numbers
        for lane in lanes:
            numbers = np.asarray(lane, np.int64)
            if (key := numbers.tobytes()) not in known:
                known[key] = _progressions(numbers)
            progressions += known[key]
            begin.append(len(progressions))
        columns = np.array(progressions, np.int64).reshape(-1, 3).T
        return cls(np.array(begin, np.int64), *np.ascontiguousarray(columns))

    def values(self, lane: int) -> Integers:
        """The numbers of a lane, shape (numbers,)."""
        begin, end = self.begin[lane], self.begin[lane + 1]
        if begin == end:
            return self.first[:0]
        if end - begin == 1:  # as most are
            return self.first[begin] + self.step[begin] * np.arange(self.count[begin])
        part = slice(begin, end)
        count = self.count[part]
        steps = np.repeat(self.step[part], count) * ranges(0, count)
        return np.repeat(self.first[part], count) + steps

    @classmethod
    def joined(cls, parts: Iterable[Runs | None], lanes: int) -> Runs:
        """Runs of so many lanes each one behind the other; None has no numbers."""
        none = np.zeros(0, np.int64)
        empty = cls(np.zeros(lanes + 1, np.int64), none, none, none)
        filled = [empty if part is None else part for part in parts]
        lengths = np.cumsum([0] + [len(part.first) for part in filled])
        begins = [
            part.begin[:-1] + offset for part, offset in zip(filled, lengths[:-1], strict=True)
        ]
        columns = zip(*(part.columns()[1:] for part in [empty, *filled]), strict=True)
        return cls(np.concatenate([*begins, lengths[-1:]]), *map(np.concatenate, columns))

    @classmethod
    def union(cls, parts: Sequence[Runs]) -> Runs:
        """The numbers of each lane that any of the parts has there, in ascending order."""
        largest = max(parts, key=lambda part: int(part.counts.sum()))
        if all(part is largest or part.is_within(largest) for part in parts):
            return largest
        lanes = range(len(largest.begin) - 1)
        return cls.of(np.unique(np.concatenate([p.values(k) for p in parts])) for k in lanes)

    def columns(self) -> tuple[Integers, Integers, Integers, Integers]:
        """Begin, first, step and count."""
        return self.begin, self.first, self.step, self.count

    def every(self, step: int, start: int) -> bytes:
        """What is equal for equal sequences number `start`, `start + step`, and so on."""
        begins, ends = self.begin[:-1][start::step], self.begin[1:][start::step]
        sizes = ends - begins
        place = ranges(begins, sizes)
        taken = (self.first[place], self.step[place], self.count[place])
        return np.concatenate([sizes, *taken]).tobytes()

    def part(self, first: int, lanes: int) -> Runs:
        """The sequences of a few lanes, from `first` on."""
        begin = self.begin[first : first + lanes + 1]
        rows = slice(begin[0], begin[-1])
        return Runs(begin - begin[0], self.first[rows], self.step[rows], self.count[rows])

    def spread(self, kinds: int, of_lane: Integers) -> Runs:
        """Those of each (item, lane) where these are of each (item, kind of lanes)."""
        item = np.arange((len(self.begin) - 1) // max(kinds, 1)) * kinds
        taken = (item[:, None] + of_lane).ravel()
        sizes = np.diff(self.begin)[taken]
        place = ranges(self.begin[taken], sizes)
        return Runs(prefix_sums(sizes), self.first[place], self.step[place], self.count[place])

    @cached_property
    def counts(self) -> Integers:
        """How many numbers each lane has, shape (lanes,)."""
        ends = prefix_sums(self.count)[self.begin]
        return ends[1:] - ends[:-1]

    def irregularities(self) -> Integers:
        """How many progressions each lane has beyond one, shape (lanes,)."""
        return np.maximum(np.diff(self.begin) - 1, 0)

    def leaves_out(self, totals: Integers) -> bool:
        """Whether a lane has some, but not all, of the numbers 0..total-1, all different."""
        counts = self.counts
        return bool(np.any((counts > 0) & (counts < totals)))

    def key_on(self, lane: int) -> bytes:
        """What is equal for equal numbers on a lane, and only for those."""
        rows = slice(self.begin[lane], self.begin[lane + 1])
        return np.concatenate((self.first[rows], self.step[rows], self.count[rows])).tobytes()

    def key(self) -> bytes:
        """What is equal for equal numbers on all lanes, and only for those."""
        return np.concatenate(self.columns()).tobytes()

    def is_within(self, other: Runs) -> bool:
        """Whether every number of each lane is one of the other's."""
        if np.any(self.counts > other.counts):
            return False
        lanes = np.flatnonzero(self.counts).tolist()
        return all(np.isin(self.values(k), other.values(k)).all() for k in lanes)

    def out_of(self, other: Runs) -> Runs:
        """The numbers of the other at the places in this one; undoes :meth:`within`."""
        lanes = range(len(self.begin) - 1)
        return Runs.of(other.values(k)[self.values(k)] for k in lanes)

    def within(self, other: Runs) -> Runs:
        """The places of the numbers of each lane among the other's, which has them all."""
        if other is self:
            return Runs.of(map(np.arange, self.counts))
        lanes = range(len(self.begin) - 1)
        return Runs.of(np.searchsorted(other.values(k), self.values(k)) for k in lanes)


def _progressions(numbers: Integers) -> list[tuple[int, int, int]]:
    steps = numbers[1:] - numbers[:-1]
    ends = [*(np.flatnonzero(steps[1:] != steps[:-1]) + 1).tolist(), len(steps)]
    values, differences = numbers.tolist(), steps.tolist()
    progressions: list[tuple[int, int, int]] = []
    begin = stretch = 0
    while begin < len(values):
        while ends[stretch] <= begin and stretch + 1 < len(ends):
            stretch += 1
        count = max(ends[stretch] - begin, 0) + 1
        step = differences[begin] if count > 1 else 0
        if count < _SHORTEST and step:
            count, step = 1, 0
        progressions.append((values[begin], step, count))
        begin += count
    return progressions
