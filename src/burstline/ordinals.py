"""Finding rows by what names them: a location and an ordinal on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from burstline.schema import UNKNOWN

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.integer]


class Ordinals:
    """The names of the rows of a table.

    Parameters
    ----------
    location, ordinal : ndarray of integers, shape (rows,)
        Location of each row and its ordinal there, sorted by both; locations from 0.

    Notes
    -----
    O(1) for a name where the rows of each location count through, which those of a whole
    trace and most of a part do; else O(log rows).

    Examples
    --------
    >>> import numpy as np
    >>> Ordinals(np.array([0, 0, 1]), np.array([3, 7, 0])).rows(
    ...     np.array([0, 0, 1, 2]), np.array([7, 4, 0, 0])
    ... )
    array([ 1, -1,  2, -1])
    """

    def __init__(self, location: Integers, ordinal: Integers) -> None:
        self._location, self._ordinal = location, ordinal
        follows = location[1:] == location[:-1]
        self._counts_through = not (follows & (ordinal[1:] - ordinal[:-1] != 1)).any()
        last = int(location[-1]) if len(location) else UNKNOWN
        self.offsets = np.searchsorted(location, np.arange(last + 2))

    def begin(self, location: Integers) -> npt.NDArray[np.int64]:
        """Give the first row of locations; where they have none, of the next that has."""
        return self.offsets[np.minimum(location, len(self.offsets) - 1)]

    def rows(self, location: Integers, ordinal: Integers) -> npt.NDArray[np.int64]:
        """Give the row of each name, -1 where there is none."""
        last = len(self._location) - 1
        if last < 0:
            return np.full(len(ordinal), UNKNOWN, np.int64)
        if self._counts_through:
            first = np.minimum(self.begin(location), last)
            row = np.clip(first + ordinal - self._ordinal[first], 0, last)
        else:
            row = np.minimum(self._searched(location, ordinal), last)
        found = (self._location[row] == location) & (self._ordinal[row] == ordinal)
        return np.where(found, row, UNKNOWN)

    def _searched(self, location: Integers, ordinal: Integers) -> npt.NDArray[np.int64]:
        own = np.unique(self._ordinal)
        dense = np.searchsorted(own, self._ordinal) + self._location.astype(np.int64) * len(own)
        return np.searchsorted(
            dense, np.searchsorted(own, ordinal) + location.astype(np.int64) * len(own)
        )
