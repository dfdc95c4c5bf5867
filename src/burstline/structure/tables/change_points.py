"""Change points: where the level of a series changes in steps.

The search is that for the least sum of squares with a penalty for each change [1]_, of normal
scores of the ranks: a single slow iteration weighs no more than its rank. Levels that the first
search holds for one are searched again, with scores of their own. The penalty is that of [2]_,
and larger where neighbours are alike [3]_: slow iterations that come in groups are no level.

.. [1] R. Killick, P. Fearnhead, I. A. Eckley, "Optimal detection of changepoints with a linear
   computational cost", DOI 10.1080/01621459.2012.737745.
.. [2] N. R. Zhang, D. O. Siegmund, "A modified Bayes information criterion", DOI
   10.1111/j.1541-0420.2006.00662.x.
.. [3] S. Chakar, E. Lebarbier, C. Lévy-Leduc, S. Robin, "A robust approach for estimating
   change-points in the mean of an AR(1) process", DOI 10.3150/15-BEJ782.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import NormalDist
from typing import Final

import numpy as np

from burstline.columns import Floats
from burstline.structure.tables.spread import in_blocks, slope_of

_FEWEST: Final = 4
_SHORTEST: Final = 2
"""Values of a level: one alone is an outlier."""
_PRICE: Final = 3
"""Of a change, times the logarithm of the number of values."""
_MOST_ALIKE: Final = 0.95
_LEAST_CHANGE: Final = 0.01
"""Levels whose medians differ by less than this share are one."""
_EXACT: Final = 1e-6
"""Share of the spread below which what is left is rounding."""


def change_points(values: Floats) -> list[int]:
    """Where values begin to be on another level; nowhere if one level, or a line, says it."""
    if len(values) < _FEWEST:
        return []
    series, begin = in_blocks(values)
    price = _PRICE * math.log(len(series)) * _likeness_of_neighbours(normal_scores(series))
    places = _nested_change_points(series, 0, price)
    places = _to_the_value(values, [int(begin[place]) for place in places])
    return _unless_a_line(values, _without_equals(values, places))


def normal_scores(values: Floats) -> Floats:
    """Normal quantiles of the ranks, with variance 1; those of equals are their mean."""
    quantile = NormalDist().inv_cdf
    count = len(values)
    scores = np.array([quantile((k + 0.5) / count) for k in range(count)])
    scores /= scores.std()
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    sums = np.bincount(np.repeat(np.arange(len(sizes)), sizes), scores)
    means: Floats = (sums / sizes)[group]
    return means


def _likeness_of_neighbours(scores: Floats) -> float:
    """How much more the mean of neighbours spreads than if they were independent."""
    near, far = np.abs(np.diff(scores)), np.abs(scores[2:] - scores[:-2])
    # Where values go on from the one before by a share, (far / near)² is 1 + that share.
    # Changes of level are in the means, and chance is more in the medians.
    share = min(
        (typical(far) / typical(near)) ** 2 - 1 if typical(near) else 0.0
        for typical in (np.mean, np.median)
    )
    share = min(max(share - 2 / math.sqrt(len(scores)), 0.0), _MOST_ALIKE)
    return float((1 + share) / (1 - share))


def _nested_change_points(series: Floats, first: int, price: float) -> list[int]:
    """The change points of a part that begins at `first`, and of its parts."""
    inner = cheapest(normal_scores(series), price) if len(series) >= _FEWEST else []
    if not inner:
        return []
    places = []
    for begin, end in pairwise([0, *inner, len(series)]):
        places += [first + begin] * (begin > 0)
        places += _nested_change_points(series[begin:end], first + begin, price)
    return places


def cheapest(scores: Floats, price: float) -> list[int]:
    """The change points with the least sum of squares around the means, plus their price."""
    count = len(scores)
    sums = np.concatenate([np.zeros(1), np.cumsum(scores)])
    cost = np.full(count + 1, np.inf)
    cost[0] = -price
    before = np.zeros(count + 1, np.int64)
    candidates = np.zeros(1, np.int64)
    for end in range(_SHORTEST, count + 1):
        # squares of the values themselves are in every sum, and left out
        so_far = cost[candidates] - (sums[end] - sums[candidates]) ** 2 / (end - candidates)
        best = int(so_far.argmin())
        cost[end], before[end] = so_far[best] + price, candidates[best]
        begin = end + 1 - _SHORTEST
        if begin >= _SHORTEST:
            candidates = np.append(candidates, begin)
    places = []
    place = int(before[count])
    while place > 0:
        places.append(place)
        place = int(before[place])
    return places[::-1]


def _to_the_value(values: Floats, places: Sequence[int]) -> list[int]:
    """Change points that were found by scores of blocks, where they part the values best."""
    exact: list[int] = []
    for place, end in pairwise([*places, len(values)]):
        begin = exact[-1] if exact else 0
        low, high = begin + _SHORTEST, end - _SHORTEST
        left, right = np.median(values[begin:place]), np.median(values[place:end])
        near = values[low:high]
        # what it costs to have a value on the right level, rather than on the left
        more = np.abs(near - right) - np.abs(near - left)
        ahead = np.concatenate([np.cumsum(more[::-1])[::-1], np.zeros(1)])
        exact.append(low + int(ahead.argmin()))
    return exact


def _without_equals(values: Floats, places: Iterable[int]) -> list[int]:
    """The change points between levels whose medians differ by enough to speak of."""
    kept: list[int] = []
    bounds = [*places, len(values)]
    for place, end in pairwise(bounds):
        left = np.median(values[kept[-1] if kept else 0 : place])
        right = np.median(values[place:end])
        if abs(right - left) > _LEAST_CHANGE * max(abs(left), abs(right)):
            kept.append(place)
    return kept


def _unless_a_line(values: Floats, places: list[int]) -> list[int]:
    """The change points, if levels explain the values better than a line, by Schwarz."""
    if not places:
        return []
    levels = [
        np.abs(values[begin:end] - np.median(values[begin:end])).sum()
        for begin, end in pairwise([0, *places, len(values)])
    ]
    straight = values - slope_of(values) * np.arange(len(values))
    left_by_line = float(np.abs(straight - np.median(straight)).sum())
    least = _EXACT * float(np.abs(values - np.median(values)).sum())
    count = len(values)
    by_levels = count * math.log(max(sum(levels), least))
    by_line = count * math.log(max(left_by_line, least))
    # a line is two numbers; levels are one each, and a place for each change
    more = 2 * len(places) + 1 - 2
    return places if by_levels + more * math.log(count) < by_line else []
