"""S of the published method: how unlike two bursts are, and the pairs of least S."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from burstline.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from burstline.columns import Floats, Integers
    from burstline.merge.model import Published, Weights

    Columns = tuple[npt.NDArray[Any], ...]


class Compared(NamedTuple):
    """What S compares of some bursts; arrays of two sides broadcast against each other."""

    place: Floats  # where in its span each is, from 0 to 1
    # bytes that the calls moved whose sizes count: before, or before and after
    sizes: Sequence[Floats]
    partners: Sequence[npt.NDArray[Any]]  # of the calls whose partners count, -1 for none


def unlikeness(ours: Compared, theirs: Compared, weights: Weights) -> Floats:
    """S of pairs of bursts.

    >>> import numpy as np
    >>> from burstline.merge import Weights
    >>> our = Compared(np.array([0.5]), [np.array([8.0])], [np.array([1])])
    >>> their = Compared(np.array([0.5]), [np.array([4.0])], [np.array([1])])
    >>> float(unlikeness(our, their, Weights(place=0.6, size=0.2, partner=0.2))[0])
    0.1
    """
    cost = weights.place * np.abs(ours.place - theirs.place)
    for our, their in zip(ours.sizes, theirs.sizes, strict=True):
        size = np.abs(our - their) / np.maximum(np.maximum(our, their), 1.0)
        cost = cost + weights.size * size / len(ours.sizes)
    for our, their in zip(ours.partners, theirs.partners, strict=True):
        cost = cost + weights.partner * (our != their) / len(ours.partners)
    return np.asarray(cost)


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
