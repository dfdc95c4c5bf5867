"""Runs: long sequences of numbers as the few arithmetic progressions they are made of.

::

    0, 2, 4, 6, 8, 20, 21, 22   ->   (0, step 2, 5 times), (20, step 1, 3 times)

The iterations in which a condition holds and the trip counts of a loop are such sequences,
one per lane: regular ones take the same few numbers however long they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from burstline.structure.grouping import Integers

_SHORTEST = 3
"""Two numbers are a progression by chance; from three on it is one."""


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """One sequence of integers per lane, as arithmetic progressions.

    Attributes
    ----------
    begin : ndarray of int64, shape (lanes + 1,)
        Where the progressions of each lane begin.
    first, step, count : ndarray of int64, shape (progressions,)
        First number, difference of neighbours (0 for a single number) and how many numbers.
    """

    begin: Integers
    first: Integers
    step: Integers
    count: Integers

    @classmethod
    def of(cls, lanes: Iterable[Sequence[int] | Integers]) -> Runs:
        """Find the progressions in one sequence per lane, greedily from the left.

        Parameters
        ----------
        lanes : iterable of sequence of int
            The numbers of each lane.

        Returns
        -------
        Runs
            The same numbers.

        Notes
        -----
        Linear in the numbers. :meth:`values` gives the numbers back.

        Examples
        --------
        >>> runs = Runs.of([[0, 2, 4, 6, 20, 21, 22], [5]])
        >>> list(zip(runs.first.tolist(), runs.step.tolist(), runs.count.tolist()))
        [(0, 2, 4), (20, 1, 3), (5, 0, 1)]
        >>> runs.values(0).tolist()
        [0, 2, 4, 6, 20, 21, 22]
        """
        found: list[tuple[int, int, int]] = []
        begin = [0]
        for numbers in lanes:
            found += _progressions([int(number) for number in numbers])
            begin.append(len(found))
        columns = np.array(found, np.int64).reshape(-1, 3).T
        return cls(np.array(begin, np.int64), *np.ascontiguousarray(columns))

    def values(self, lane: int) -> Integers:
        """Give the numbers of a lane, shape (numbers,)."""
        here = slice(self.begin[lane], self.begin[lane + 1])
        count = self.count[here]
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        return np.repeat(self.first[here], count) + np.repeat(self.step[here], count) * within

    def key(self, lane: int) -> bytes:
        """Give what is equal for lanes with equal numbers, and only for those."""
        here = slice(self.begin[lane], self.begin[lane + 1])
        return np.stack([self.first[here], self.step[here], self.count[here]]).tobytes()


def _progressions(numbers: list[int]) -> list[tuple[int, int, int]]:
    found: list[tuple[int, int, int]] = []
    begin = 0
    while begin < len(numbers):
        end = begin + 1
        step = numbers[end] - numbers[begin] if end < len(numbers) else 0
        while end < len(numbers) and numbers[end] - numbers[end - 1] == step:
            end += 1
        if end - begin < _SHORTEST and step:
            end, step = begin + 1, 0
        found.append((numbers[begin], step, end - begin))
        begin = end
    return found
