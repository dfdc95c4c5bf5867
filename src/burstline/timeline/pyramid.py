"""How long each kind lasts in columns of time, from fine ones to one that is the whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from burstline import _core
from burstline.columns import Floats, Integers, to_numpy
from burstline.errors import ParameterError
from burstline.timeline.kinds import KINDS
from burstline.timeline.result import Timeline


@dataclass(frozen=True, slots=True, eq=False)
class Pyramid:
    """Exact times by kind in columns, each level of half as many as the one before.

    Attributes
    ----------
    first_ns : int
        Where the first column of every level begins.
    width_ns : int
        How long a column of the finest level is; one of level k is 2**k times as long.
    levels : tuple of ndarray of int64
        Shape (locations, columns, kinds), ns; the last has one column. A kind that is present
        in a column is present in every wider one around it.
    """

    first_ns: int
    width_ns: int
    levels: tuple[Integers, ...]

    def shares(self, level: int) -> Floats:
        """The share of each kind in each column, 0..1; they sum to 1 where there is time."""
        time = self.levels[level]
        whole = time.sum(axis=2, keepdims=True)
        return np.divide(time, whole, out=np.zeros(time.shape), where=whole > 0)


def pyramid_of(line: Timeline, columns: int, span_ns: tuple[int, int] | None = None) -> Pyramid:
    """The pyramid of a timeline, or of a span of it, in at most so many columns.

    The last column of a level may be shorter than the others: it ends with the span. Takes 8
    bytes for each location, column and kind, twice. O(pieces + locations * columns).
    """
    first, last = span_ns or (line.first_ns, line.last_ns)
    if columns < 1 or first >= last:
        raise ParameterError("a pyramid has one column or more, of some time")
    width = -(-(last - first) // columns)
    count = -(-(last - first) // width)
    start, end, kind = (to_numpy(line.pieces[name]) for name in ("start_ns", "end_ns", "kind"))
    time = _core.pyramid(
        np.ascontiguousarray(line.begin, np.int64),
        np.minimum(start, last),
        np.minimum(end, last),
        np.ascontiguousarray(kind),
        first,
        width,
        count,
        len(KINDS),
    )
    return Pyramid(first, width, tuple(_levels(time, line.locations.num_rows, count)))


def _levels(time: Integers, locations: int, count: int) -> list[Integers]:
    levels = []
    while True:
        size = locations * count * len(KINDS)
        levels.append(time[:size].reshape(locations, count, len(KINDS)))
        if count == 1:
            return levels
        time, count = time[size:], (count + 1) // 2
