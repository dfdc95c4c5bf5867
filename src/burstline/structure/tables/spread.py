"""How numbers spread: medians and outliers of groups, and the trend of a series.

Ranks and medians are robust: the few slow iterations that are looked for do not hide
themselves by widening the spread.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from burstline.columns import Floats, Integers

FAR_OUT: Final = 3.5
"""Score above which Iglewicz and Hoaglin (1993) call a value an outlier."""

_MAD_OF_NORMAL: Final = 0.6745
_MEAN_DEVIATION_OF_NORMAL: Final = 0.7979
LONGEST_SERIES: Final = 1000
"""Of longer ones, blocks of neighbours are one value each: their median."""
_HALF: Final = 0.5
_FEWEST: Final = 4
"""Of three numbers one in three orders is monotonic: that says nothing."""


def medians(
    values: Integers | Floats, group: Integers, count: int, rounds: Integers | None = None
) -> Floats:
    """The median of each group of values, shape (groups,); of so many `rounds`, others 0."""
    ordered = values[np.lexsort((values, group))].astype(np.float64)
    sizes = np.bincount(group, minlength=count)
    begin = np.cumsum(sizes) - sizes
    whole = sizes if rounds is None else rounds
    found: Floats = np.where((sizes > 0) | (rounds is not None), 0.0, np.nan)
    for middle in ((whole - 1) // 2, whole // 2):
        place = middle - (whole - sizes)
        has_value = (place >= 0) & (sizes > 0)
        found[has_value] += ordered[(begin + place)[has_value]] / 2
    return found


def scores(values: Integers | Floats, group: Integers, count: int) -> Floats:
    """The modified z-score of each value in its group, shape (values,)."""
    distance = values - medians(values, group, count)[group]
    usual = medians(np.abs(distance), group, count) / _MAD_OF_NORMAL
    sizes = np.bincount(group, minlength=count)
    mean = np.bincount(group, np.abs(distance), count) / np.maximum(sizes, 1)
    # where more than half of the values are equal, the median distance is 0
    usual = np.where(usual > 0, usual, mean / _MEAN_DEVIATION_OF_NORMAL)[group]
    return np.divide(distance, usual, out=np.zeros(len(values)), where=usual > 0)


@dataclass(frozen=True, slots=True)
class Step:
    """The two levels that explain most of a series."""

    at: int  # place of the first value on the second level
    # mean before and from there on
    before: float
    after: float
    explained: float  # share of the variance


@dataclass(frozen=True, slots=True)
class Trend:
    """How a series drifts."""

    slope: float  # median change from one value to the next
    # between these the slope is with 95 % confidence
    low: float
    high: float
    # how probable so monotonic a series is if its values come in any order, independent of each
    # other: too small where slow iterations come in groups
    p_value: float
    explained: float  # share of the variance that a straight line explains at best
    step: Step  # what two levels explain

    @property
    def is_step(self) -> bool:
        """Whether two levels explain more than a line does, and at least half."""
        return self.step.explained >= max(self.explained, _HALF)

    @property
    def is_line(self) -> bool:
        """Whether a line explains at least half, and no two levels more."""
        return self.explained >= _HALF and not self.is_step


def trend(values: Floats) -> Trend | None:
    """The drift of a series: the median slope of all pairs, and Kendall's test of it."""
    # P. K. Sen, DOI 10.1080/01621459.1968.10480934; H. B. Mann, DOI 10.2307/1907187
    if len(values) < _FEWEST:
        return None
    series, position, rise, slopes = _pairwise_slopes(values)
    spread = math.sqrt(_variance_of_kendall(series))
    rising = int(np.sign(rise).sum())
    score = (abs(rising) - 1) / spread if rising and spread else 0.0
    reach = 1.96 * spread
    low = max(math.floor((len(slopes) - reach) / 2) - 1, 0)
    high = min(math.ceil((len(slopes) + reach) / 2), len(slopes) - 1)
    return Trend(
        slope=float(np.median(slopes)),
        low=float(slopes[low]),
        high=float(slopes[high]),
        p_value=math.erfc(score / math.sqrt(2)),
        explained=_explained_by_line(position, series),
        step=_best_step(position, series),
    )


def in_blocks(values: Floats) -> tuple[Floats, Integers]:
    """A series of at most `LONGEST_SERIES` values, and where each of its blocks begins."""
    count = len(values)
    length = min(count, LONGEST_SERIES)
    begin = -(-np.arange(length) * count // length)
    if length == count:
        return values.astype(np.float64), begin
    block = np.arange(count) * length // count
    return medians(values, block, length), begin


def slope_of(values: Floats) -> float:
    """The median slope of all pairs of a series, in its unit from one value to the next."""
    return float(np.median(_pairwise_slopes(values)[-1]))


def _pairwise_slopes(values: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """A series in blocks and their positions; the rise of each pair, and all slopes, sorted."""
    series, begin = in_blocks(values)
    position = (begin + np.append(begin[1:], len(values)) - 1) / 2
    earlier, later = np.triu_indices(len(series), 1)
    rise = series[later] - series[earlier]
    return series, position, rise, np.sort(rise / (position[later] - position[earlier]))


def _explained_by_line(position: Floats, series: Floats) -> float:
    """The share of the variance of a series that its regression on the position explains."""
    across, along = series - series.mean(), position - position.mean()
    total = float(across @ across) * float(along @ along)
    return min(float(across @ along) ** 2 / total, 1.0) if total else 0.0


def _best_step(position: Floats, series: Floats) -> Step:
    """The two levels that explain most of a series; each has two values or more."""
    count = len(series)
    sizes = np.arange(1, count)
    sums = np.cumsum(series)[:-1]
    before, after = sums / sizes, (series.sum() - sums) / (count - sizes)
    between = sizes * (count - sizes) / count * (before - after) ** 2
    best = 1 + int(between[1:-1].argmax())
    total = float(((series - series.mean()) ** 2).sum())
    return Step(
        at=math.ceil(position[best + 1]),
        before=float(before[best]),
        after=float(after[best]),
        explained=min(float(between[best]) / total, 1.0) if total else 0.0,
    )


def _variance_of_kendall(series: Floats) -> float:
    """Variance of the rising pairs less the falling ones, if any order is as probable."""
    sizes = np.append(np.unique(series, return_counts=True)[1], len(series))
    orders = sizes * (sizes - 1) * (2 * sizes + 5)
    return float(orders[-1] - orders[:-1].sum()) / 18
