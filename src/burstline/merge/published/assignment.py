"""The pairs of least total unlikeness, where scipy is at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from burstline.errors import MissingExtraError
from burstline.merge.published.similarity import Compared, unlikeness

if TYPE_CHECKING:
    import numpy.typing as npt

    from burstline.columns import Integers
    from burstline.merge.model import Published

    Columns = tuple[npt.NDArray[Any], ...]


def pair_optimally(ours: Columns, theirs: Columns, how: Published) -> Integers:
    """Their burst for each of ours, -1 without: most pairs under the limit, of least sum."""
    try:
        from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 -- an extra
    except ImportError as error:
        raise MissingExtraError("ml", "an optimal assignment") from error
    same = np.full(len(ours[1]), -1, np.int64)
    for our, their in _blocks(ours[0], theirs[0], how.block):
        cost = unlikeness(
            _compared(ours, our[:, None], how), _compared(theirs, their, how), how.weights
        )
        allowed = cost < how.weights.limit
        # higher than the sum of all allowed costs, so that as many as possible are matched
        dear = 1.0 + how.weights.limit * min(cost.shape)
        rows, columns = linear_sum_assignment(np.where(allowed, cost, dear))
        is_pair = allowed[rows, columns]
        same[our[rows[is_pair]]] = their[columns[is_pair]]
    return same


def _blocks(ours: Integers, theirs: Integers, block: int) -> list[tuple[Integers, Integers]]:
    """The places of both sides in each block: groups are cut so that no side is longer."""
    blocks = []
    groups = zip(ours[:-1], ours[1:], theirs[:-1], theirs[1:], strict=True)
    for first, last, begin, end in groups:
        if first == last or begin == end:
            continue
        count = -(-max(last - first, end - begin) // block)
        parts = np.arange(count + 1)
        our_cuts = first + (last - first) * parts // count
        their_cuts = begin + (end - begin) * parts // count
        for k in range(count):
            our = np.arange(our_cuts[k], our_cuts[k + 1])
            their = np.arange(their_cuts[k], their_cuts[k + 1])
            if len(our) and len(their):
                blocks.append((our, their))
    return blocks


def _compared(side: Columns, rows: Integers, how: Published) -> Compared:
    _, place, before, after, source, target = side
    sizes = [before[rows], after[rows]] if how.both_sizes else [before[rows]]
    return Compared(place[rows], sizes, [source[rows], target[rows]])
