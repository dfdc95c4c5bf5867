"""Grouping without a loop: numbering keys that occur, and sums over groups of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from burstline.schema import UNKNOWN

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

_SMALL = 1 << 16


def dense(codes: Integers, space: int) -> tuple[Integers, Integers]:
    """Renumber codes so that all numbers occur; give the codes in the order of the numbers."""
    if space > 4 * len(codes) + _SMALL:
        keys, numbers = np.unique(codes, return_inverse=True)
        return numbers, keys
    occurs = np.bincount(codes, minlength=space) > 0
    return (np.cumsum(occurs) - 1)[codes], np.flatnonzero(occurs)


def stable_order(codes: Integers, count: int) -> Integers:
    """Order that groups equal codes; NumPy sorts 16 bits in linear time."""
    return np.argsort(codes.astype(np.uint16) if count <= _SMALL else codes, kind="stable")


class Groups:
    """Sums over the executions of each unique call."""

    def __init__(self, of_call: Integers, count: int, order: Integers, begin: Integers) -> None:
        self.of_call, self.count, self.order, self.begin = of_call, count, order, begin

    def mean(
        self,
        values: npt.NDArray[np.generic],
        valid: npt.NDArray[np.bool_] | None = None,
    ) -> Floats:
        """Mean per unique call of the values that are valid; NaN without any."""
        of_call = self.of_call if valid is None else self.of_call[valid]
        kept = values if valid is None else values[valid]
        counts = np.bincount(of_call, minlength=self.count)
        sums = np.bincount(of_call, weights=kept, minlength=self.count)
        return np.divide(sums, counts, out=np.full(self.count, np.nan), where=counts > 0)

    def moments(
        self,
        values: Integers,
        valid: npt.NDArray[np.bool_] | None = None,
    ) -> tuple[Floats, Floats]:
        """Mean and standard deviation per unique call of the values that are valid."""
        mean = self.mean(values, valid)
        return mean, np.sqrt(self.mean((values - mean[self.of_call]) ** 2, valid))

    def extremes(self, values: Integers) -> Integers:
        """Smallest and largest value that is not negative, per unique call; -1 without."""
        ordered = values[self.order]
        low = np.minimum.reduceat(
            np.where(ordered < 0, np.iinfo(np.int64).max, ordered), self.begin[:-1]
        )
        high = np.maximum.reduceat(ordered, self.begin[:-1])
        return np.stack([np.where(high < 0, UNKNOWN, low), high], axis=1)
