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
    """Match bursts within groups so that the sum of S is least, shape (our bursts,).

    As many pairs as possible with an S under the limit, and of these choices the one of
    least sum; O(block^3) for each block.
    """
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
        # Dearer than all that may be matched together: left out first.
        dear = 1.0 + how.weights.limit * min(cost.shape)
        rows, columns = linear_sum_assignment(np.where(allowed, cost, dear))
        kept = allowed[rows, columns]
        same[our[rows[kept]]] = their[columns[kept]]
    return same


def _blocks(ours: Integers, theirs: Integers, block: int) -> list[tuple[Integers, Integers]]:
    """Cut each group into as many blocks of both sides as its longer side needs."""
    found = []
    groups = zip(ours[:-1], ours[1:], theirs[:-1], theirs[1:], strict=True)
    for first, last, begin, end in groups:
        if first == last or begin == end:
            continue
        count = -(-max(last - first, end - begin) // block)
        parts = np.arange(count + 1)
        our_cuts = first + (last - first) * parts // count
        their_cuts = begin + (end - begin) * parts // count
        for k in range(count):
            one = np.arange(our_cuts[k], our_cuts[k + 1])
            other = np.arange(their_cuts[k], their_cuts[k + 1])
            if len(one) and len(other):
                found.append((one, other))
    return found


def _compared(side: Columns, rows: Integers, how: Published) -> Compared:
    _, place, before, after, source, target = side
    sizes = [before[rows], after[rows]] if how.both_sizes else [before[rows]]
    return Compared(place[rows], sizes, [source[rows], target[rows]])
