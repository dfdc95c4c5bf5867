"""How long each kind lasts in columns of time, from fine ones to one that is the whole."""

from __future__ import annotations

from math import prod

import numpy as np

from burstline import _core
from burstline.columns import Integers, to_numpy
from burstline.errors import ParameterError
from burstline.timeline.kinds import KINDS
from burstline.timeline.result import Timeline

_MOST_BYTES = 1 << 26
"""Of the columns of some locations, before they are summed."""


def summed_columns(
    line: Timeline, lane: Integers, columns: int, span_ns: tuple[int, int]
) -> tuple[int, Integers]:
    """How wide the finest columns of a pyramid are, and their times, summed over locations.

    `lane` is the row of each location, shape (locations,); times have the shape (lanes,
    columns, kinds). Of many locations some are looked at after others, for that is what takes
    memory.
    """
    first, last = span_ns
    if columns < 1 or first >= last:
        raise ParameterError("a pyramid has one column or more, of some time")
    width = -(-(last - first) // columns)
    count = -(-(last - first) // width)
    summed = np.zeros((int(lane.max(initial=-1)) + 1, count, len(KINDS)), np.int64)
    some = max(_MOST_BYTES // (2 * 8 * count * len(KINDS)), 1)
    for begin in range(0, len(lane), some):
        here = slice(begin, min(begin + some, len(lane)))
        shape = here.stop - begin, count, len(KINDS)
        times = _times(line, here, span_ns, width, count)
        np.add.at(summed, lane[here], times[: prod(shape)].reshape(shape))
    return width, summed


def _times(
    line: Timeline, locations: slice, span_ns: tuple[int, int], width: int, count: int
) -> Integers:
    """The times of all levels of a pyramid of some locations, the finest first.

    A level has half as many columns as the one before, twice as wide; the last has one.
    """
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
