"""How long each kind lasts in columns of time, from fine ones to one that is the whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from burstline import _core
from burstline.columns import Floats, Integers, to_numpy
from burstline.errors import ParameterError
from burstline.timeline.kinds import KINDS
from burstline.timeline.result import Timeline

_MOST_BYTES = 1 << 26
"""Of the columns of some locations, before they are summed."""


@dataclass(frozen=True, slots=True, eq=False)
class Pyramid:
    """Exact times by kind in columns, each level of half as many as the one before."""

    first_ns: int  # where the first column of every level begins
    # how long a column of the finest level is; one of level k is 2**k times as long
    width_ns: int
    # Shape (locations, columns, kinds), ns; the last has one column. A kind that is present in
    # a column is present in every wider one around it.
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
    span = span_ns or (line.first_ns, line.last_ns)
    width, count = _columns(columns, span)
    locations = line.locations.num_rows
    time = _times(line, slice(0, locations), span, width, count)
    return Pyramid(span[0], width, tuple(_levels(time, locations, count)))


def summed_columns(
    line: Timeline, lane: Integers, columns: int, span_ns: tuple[int, int]
) -> tuple[int, Integers]:
    """How wide the finest columns of a pyramid are, and their times, summed over locations.

    `lane` is the row of each location, shape (locations,); times have the shape (lanes,
    columns, kinds). Of many locations some are looked at after others, for that is what takes
    memory.
    """
    width, count = _columns(columns, span_ns)
    summed = np.zeros((int(lane.max(initial=-1)) + 1, count, len(KINDS)), np.int64)
    some = max(_MOST_BYTES // (2 * 8 * count * len(KINDS)), 1)
    for begin in range(0, len(lane), some):
        here = slice(begin, min(begin + some, len(lane)))
        finest, *_ = _levels(
            _times(line, here, span_ns, width, count), here.stop - begin, count
        )
        np.add.at(summed, lane[here], finest)
    return width, summed


def _columns(columns: int, span_ns: tuple[int, int]) -> tuple[int, int]:
    """How wide columns of a span are, and how many there are, at most those asked for."""
    first, last = span_ns
    if columns < 1 or first >= last:
        raise ParameterError("a pyramid has one column or more, of some time")
    width = -(-(last - first) // columns)
    return width, -(-(last - first) // width)


def _times(
    line: Timeline, locations: slice, span_ns: tuple[int, int], width: int, count: int
) -> Integers:
    """The times of all levels of a pyramid of some locations."""
    first, last = span_ns
    begin = np.ascontiguousarray(line.begin[locations.start : locations.stop + 1], np.int64)
    rows = slice(int(begin[0]), int(begin[-1]))
    start, end, kind = (
        to_numpy(line.pieces[name])[rows] for name in ("start_ns", "end_ns", "kind")
    )
    return _core.pyramid(
        begin - begin[0],
        np.minimum(start, last),
        np.minimum(end, last),
        np.ascontiguousarray(kind),
        first,
        width,
        count,
        len(KINDS),
    )


def _levels(time: Integers, locations: int, count: int) -> list[Integers]:
    levels = []
    while True:
        size = locations * count * len(KINDS)
        levels.append(time[:size].reshape(locations, count, len(KINDS)))
        if count == 1:
            return levels
        time, count = time[size:], (count + 1) // 2
