"""Rows by an id, or by a location and an ordinal on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from burstline.columns.types import UNKNOWN, AnyIntegers, Integers, Mask

_NEAR = 1 << 16


def take(
    values: npt.NDArray[Any], rows: AnyIntegers, missing: float = UNKNOWN
) -> npt.NDArray[Any]:
    """The values at some rows; `missing` where the row is negative.

    >>> take(np.array([5, 6]), np.array([1, -1])).tolist()
    [6, -1]
    """
    if not len(values):
        return np.full(len(rows), missing, values.dtype)
    return np.where(rows >= 0, values[np.maximum(rows, 0)], np.asarray(missing, values.dtype))


def placed(
    values: AnyIntegers | Sequence[int] | int,
    rows: AnyIntegers | Mask | Sequence[int],
    size: int,
    missing: int = 0,
) -> Integers:
    """An array of a size with values at some rows; `missing` elsewhere.

    >>> placed(np.array([5, 6]), np.array([2, 0]), 4, missing=-1).tolist()
    [6, -1, 5, -1]
    """
    array = np.full(size, missing, np.int64)
    array[rows] = values
    return array


def mask_at(rows: AnyIntegers | Sequence[int], size: int) -> Mask:
    """A mask of a size that holds at some rows.

    >>> mask_at([2, 0], 4).tolist()
    [True, False, True, False]
    """
    mask = np.zeros(size, bool)
    mask[rows] = True
    return mask


def lookup(ids: AnyIntegers, rows: Mapping[int, int]) -> npt.NDArray[np.int32]:
    """The row of each id, -1 without one.

    >>> lookup(np.array([7, 9, 7]), {7: 0}).tolist()
    [0, -1, 0]
    """
    if len(ids) and len(rows) <= len(ids):
        low, high = int(ids.min()), int(ids.max())
        if high - low < _NEAR:  # a table is faster than sorting
            table = np.full(high - low + 1, UNKNOWN, np.int32)
            for number, row in rows.items():
                if low <= number <= high:
                    table[number - low] = row
            return table[ids - ids.dtype.type(low)]
    distinct, place = np.unique(ids, return_inverse=True)
    matches = [rows.get(number, UNKNOWN) for number in distinct.tolist()]
    return np.array(matches, np.int32)[place.reshape(-1)]


def row_of(keys: AnyIntegers, wanted: AnyIntegers) -> Integers:
    """The first row that has each wanted key, -1 without one.

    >>> row_of(np.array([7, 5, 7]), np.array([5, 7, 6])).tolist()
    [1, 0, -1]
    """
    if not len(keys):
        return np.full(len(wanted), UNKNOWN, np.int64)
    order = np.argsort(keys, kind="stable")
    place = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
    return np.where(keys[order[place]] == wanted, order[place], UNKNOWN)


class Ordinals:
    """The rows of a table by location and ordinal.

    O(1) each where the ordinals of a location have no holes, as in a whole trace; else
    O(log rows).

    >>> Ordinals(np.array([0, 0, 1]), np.array([3, 7, 0])).rows(
    ...     np.array([0, 0, 1, 2]), np.array([7, 4, 0, 0])
    ... )
    array([ 1, -1,  2, -1])
    """

    def __init__(self, location: AnyIntegers, ordinal: AnyIntegers) -> None:
        self._location, self._ordinal = location, ordinal
        follows = location[1:] == location[:-1]
        self._counts_through = not (follows & (ordinal[1:] - ordinal[:-1] != 1)).any()
        last = int(location[-1]) if len(location) else UNKNOWN
        self.offsets = np.searchsorted(location, np.arange(last + 2))
        if self._counts_through:
            self._end = np.append(self.offsets[1:], 0)
            first = np.minimum(self.offsets, max(len(ordinal) - 1, 0))
            self._shift = self.offsets - (ordinal[first] if len(ordinal) else 0)

    def begin(self, location: AnyIntegers) -> Integers:
        """The first row of each location, or of the next location that has rows."""
        return self.offsets[np.minimum(location, len(self.offsets) - 1)]

    def rows(self, location: AnyIntegers, ordinal: AnyIntegers) -> Integers:
        """The row of each location and ordinal, -1 without one."""
        last = len(self._location) - 1
        if last < 0:
            return np.full(len(ordinal), UNKNOWN, np.int64)
        if self._counts_through:
            # From small tables by location; none has what is behind the last location.
            place = np.minimum(location, len(self.offsets) - 1)
            row = self._shift[place] + ordinal
            is_there = (row >= self.offsets[place]) & (row < self._end[place])
            return np.where(is_there, row, UNKNOWN)
        row = np.minimum(self._searched(location, ordinal), last)
        matches = (self._location[row] == location) & (self._ordinal[row] == ordinal)
        return np.where(matches, row, UNKNOWN)

    def _searched(self, location: AnyIntegers, ordinal: AnyIntegers) -> Integers:
        ordinals = np.unique(self._ordinal)
        count = len(ordinals)
        keys = (
            np.searchsorted(ordinals, self._ordinal) + self._location.astype(np.int64) * count
        )
        wanted = np.searchsorted(ordinals, ordinal) + location.astype(np.int64) * count
        return np.searchsorted(keys, wanted)
