"""How well a counter of matched bursts repeats: the published figures, and a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline.columns import Floats, Mask
from burstline.errors import ParameterError
from burstline.values import Contract, Documented

NO_INFORMATION: Final = "no information"
TRUST: Final = "trust"
WITH_CARE: Final = "with care"
DO_NOT_USE: Final = "do not use"
VERDICTS: Final = (NO_INFORMATION, TRUST, WITH_CARE, DO_NOT_USE)


@dataclass(frozen=True, slots=True)
class Limits:
    """Where verdicts change.

    Attributes
    ----------
    trust_difference : float
        Largest relative difference of a counter to trust. Instructions differ by up to
        0.019 in the published tables, cycles by 0.045 and more.
    trust_close : float
        Least share of bursts below `tolerance` of a counter to trust. Instructions reach
        97.2 %, the least steady cycles 96.7 %.
    care_difference : float
        Largest relative difference of a counter that can be used with care: between the
        0.214 of L1 misses in SOD2D and the 0.262 of L3 misses in Alya.
    care_close : float
        Least share of bursts below `tolerance` of such a counter: between the 68.5 % of L3
        misses in Stream and the 74.1 % of L2 misses in Alya.
    trust_total, care_total : float
        Largest difference of a whole counter, as a share of it, to trust it and to use it
        with care: bursts that counted more weigh more, so that a thousand short ones do not
        speak for a long one. No published figure.
    care_correlation : float
        Least correlation of a counter to use with care, unless bursts are as alike as
        `trust_total` asks: below 0.7, less than half of what distinguishes bursts repeats.
        The published counters of that kind reach 0.976.
    tolerance : float
        Relative difference below which the values of a burst are close, 30 % as published.

    Raises
    ------
    ParameterError
        If a limit is negative, or one for care is stricter than the one for trust.
    """

    trust_difference: float = 0.02
    trust_close: float = 0.97
    care_difference: float = 0.25
    care_close: float = 0.70
    trust_total: float = 0.05
    care_total: float = 0.25
    care_correlation: float = 0.70
    tolerance: float = 0.30

    def __post_init__(self) -> None:
        ordered = 0 <= self.trust_difference <= self.care_difference
        ordered = ordered and 0 <= self.trust_total <= self.care_total
        if not (ordered and 0 <= self.care_close <= self.trust_close <= 1):
            raise ParameterError(
                "limits of verdicts: care may not ask for more than trust, and shares are 0..1"
            )
        if not self.tolerance > 0:
            raise ParameterError(f"the tolerance must be positive, got {self.tolerance}")


PUBLISHED: Final = Limits()


class Decision(NamedTuple):
    """A figure that keeps a counter from a better verdict."""

    figure: str  # `relative_difference`, `close`, `of_total`, `correlation`, or `counted`
    value: float  # of `close`, the share of bursts below the tolerance, those appearing too
    limit: float  # that it exceeds, or falls short of


def judged(
    difference: float | None,
    close: float | None,
    limits: Limits = PUBLISHED,
    *,
    total: float | None = None,
    correlation: float | None = None,
) -> tuple[str, tuple[Decision, ...]]:
    """The verdict by these figures, and those that keep the counter from a better one.

    >>> judged(None, None)
    ('no information', ())
    >>> judged(0.1, 0.9, total=1.035)
    ('do not use', (Decision(figure='of_total', value=1.035, limit=0.25),))
    """
    if close is None:
        return NO_INFORMATION, ()
    if difference is None:
        return DO_NOT_USE, (Decision("counted", 0, 1),)
    total = 0.0 if total is None else total
    figures = {"relative_difference": difference, "close": close, "of_total": total}
    trusted = (limits.trust_difference, limits.trust_close, limits.trust_total)
    used = (limits.care_difference, limits.care_close, limits.care_total)
    not_trusted, not_used = (
        [Decision(*figure, limit) for figure, limit in zip(figures.items(), least, strict=True)]
        for least in (trusted, used)
    )
    # A high correlation proves nothing: L2 misses of SOD2D reach 1.000 and differ by 0.512. A
    # low one does, but for bursts so alike that only noise distinguishes them.
    if correlation is not None and total > limits.trust_total:
        not_used.append(Decision("correlation", correlation, limits.care_correlation))
    missed = tuple(filter(_misses_limit, not_trusted))
    if not missed:
        return TRUST, ()
    worse = tuple(filter(_misses_limit, not_used))
    return (DO_NOT_USE, worse) if worse else (WITH_CARE, missed)


def _misses_limit(reason: Decision) -> bool:
    """Whether a figure is on the wrong side of its limit."""
    if reason.figure in {"close", "correlation"}:
        return reason.value < reason.limit
    return reason.value > reason.limit


_INNER: Final = (0.05, 0.95)
_FENCE: Final = 1.5
_QUARTILES: Final = (0.25, 0.5, 0.75)


@dataclass(frozen=True, slots=True)
class Spread:
    """How far one run is from the first, over all bursts: a box of a box plot."""

    run: int
    bursts: int  # that both have, and where the first counted anything
    # quartiles of the relative difference |t - first| / first
    median: float
    lower: float
    upper: float
    # ends of the whiskers: the outermost within 1.5 times the quartiles' distance of them
    low: float
    high: float
    outliers: int  # bursts beyond the whiskers


@dataclass(frozen=True, slots=True)
class CounterQuality(Documented):
    """How well one counter, or another quantity, repeats.

    b is the value of the base, µ the mean of the others; None where no burst counts.
    """

    name: str
    bursts: int  # that the base and at least one other run have
    # Pearson's, of the base with each other run; None where one of them is constant
    correlations: tuple[float | None, ...]
    mae: float | None  # mean of |b - µ| within the fence, in the counter's unit
    relative_difference: float | None  # mean of |b - µ| / b within the fence, where b > 0
    below_30: float | None  # share of bursts below the tolerance where b > 0; nothing fenced
    # sum of |b - µ| over the sum of b, nothing fenced: long bursts weigh more; None for names
    of_total: float | None
    counted: int  # bursts with b > 0; of names, all
    fenced_mae: int  # bursts beyond the fence
    fenced_relative: int
    appearing: int  # bursts where the base counted nothing and others did: they are not close
    per_run: tuple[Spread, ...]  # but the first that has the counter, against that
    verdict: str
    decided_by: tuple[Decision, ...] = ()  # what keeps it from a better verdict

    @property
    def correlation(self) -> float | None:
        """Mean of the correlations that there are; None if there is none."""
        return _mean_correlation(self.correlations)

    CONTRACT: ClassVar[Contract] = (
        *("correlation", "mae", "relative_difference", "below_30", "verdict"),
        (
            "details",
            (
                *("bursts", "counted", "appearing", "of_total", "fenced_mae"),
                *("fenced_relative", "correlations"),
                *("decided_by", "per_run"),
            ),
        ),
    )


def compare(
    name: str,
    values: npt.ArrayLike,
    *,
    base: int = 0,
    present: npt.ArrayLike | None = None,
    categories: bool = False,
    limits: Limits = PUBLISHED,
) -> CounterQuality:
    """How well a counter repeats over matched bursts; `values` has the shape (bursts, runs).

    >>> quality = compare("PAPI_TOT_INS", [[100, 100], [200, 202], [50, 50]])
    >>> round(quality.relative_difference, 4), quality.below_30, quality.verdict
    (0.0033, 1.0, 'trust')
    """
    table, is_present = _checked_values(values, present, base)
    compared = is_present[:, base] & (is_present.sum(axis=1) >= 2)
    table, is_present = table[compared], is_present[compared]
    others = [run for run in range(table.shape[1]) if run != base]
    score = distances(table, is_present, base, categories=categories)
    counts = table[:, base]
    counted = np.ones(len(counts), bool) if categories else counts > 0
    relative = score[counted] if categories else score[counted] / counts[counted]
    appearing = int((score[~counted] > 0).sum())
    kept_score, kept_relative = (
        (values if categories else _within_fence(values)) for values in (score, relative)
    )
    difference = _mean_or_none(kept_relative)
    close = int((relative < limits.tolerance).sum())
    active = len(relative) + appearing
    correlations = tuple(
        pearson(*(table[is_present[:, other], run] for run in (base, other)))
        for other in others
    )
    of_total = None if categories or counts.sum() <= 0 else float(score.sum() / counts.sum())
    word, decided_by = judged(
        difference,
        close / active if active else None,
        limits,
        total=of_total,
        correlation=_mean_correlation(correlations),
    )
    return CounterQuality(
        name=name,
        bursts=len(counts),
        correlations=correlations,
        mae=_mean_or_none(kept_score),
        relative_difference=difference,
        below_30=close / len(relative) if len(relative) else None,
        of_total=of_total,
        counted=len(relative),
        fenced_mae=len(score) - len(kept_score),
        fenced_relative=len(relative) - len(kept_relative),
        appearing=appearing,
        per_run=() if categories else _spreads(table, is_present),
        verdict=word,
        decided_by=decided_by,
    )


def _mean_correlation(correlations: tuple[float | None, ...]) -> float | None:
    defined = [each for each in correlations if each is not None]
    return sum(defined) / len(defined) if defined else None


def pearson(*pair: Floats) -> float | None:
    """Pearson's correlation of two columns; None where one is constant."""
    centred = []
    for values in pair:
        if len(values) < 2 or values.min() == values.max():
            return None
        away = values - values.mean()
        centred.append(away / np.abs(away).max())
    lengths = [np.sqrt(np.dot(each, each)) for each in centred]
    correlation = np.dot(*centred) / (lengths[0] * lengths[1])
    return float(np.clip(np.round(correlation, 15), -1, 1))


def _checked_values(
    values: npt.ArrayLike, present: npt.ArrayLike | None, base: int
) -> tuple[Floats, Mask]:
    table = np.asarray(values, np.float64)
    if table.ndim != 2 or table.shape[1] < 2:
        raise ParameterError("a counter is compared between at least two runs")
    if not 0 <= base < table.shape[1]:
        raise ParameterError(f"the base is one of runs 0 to {table.shape[1] - 1}, got {base}")
    is_present = ~np.isnan(table) if present is None else np.asarray(present, bool)
    if is_present.shape != table.shape:
        raise ParameterError("values and where they are present differ in shape")
    return table, is_present


def distances(
    table: Floats, is_present: Mask, base: int, *, categories: bool = False
) -> Floats:
    """``|b - µ|``, or the share of others that differ; exactly 0 where all are equal."""
    others = [run for run in range(table.shape[1]) if run != base]
    total = np.zeros(len(table))
    for other in others:
        difference = table[:, other] - table[:, base]
        total += np.where(
            is_present[:, other], difference != 0 if categories else difference, 0
        )
    return np.abs(total) / is_present[:, others].sum(axis=1)


def _within_fence(scores: Floats) -> Floats:
    # Orteu Aubach et al., section 4.4. Where 95 % of the bursts repeat exactly, every other
    # one is left out: how many are, and `below_30`, which leaves out none, show it.
    if not len(scores):
        return scores
    low, high = np.quantile(scores, _INNER)
    return scores[scores <= high + _FENCE * (high - low)]


def _mean_or_none(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None


def _spreads(table: Floats, is_present: Mask) -> tuple[Spread, ...]:
    used = np.flatnonzero(is_present.any(axis=0)).tolist()
    spreads = []
    for run in used[1:]:
        first = table[:, used[0]]
        both = is_present[:, used[0]] & is_present[:, run] & (first > 0)
        if both.any():
            relative = np.abs(table[both, run] - first[both]) / first[both]
            spreads.append(_spread(run, relative))
    return tuple(spreads)


def _spread(run: int, relative: Floats) -> Spread:
    lower, median, upper = np.quantile(relative, _QUARTILES).tolist()
    reach = _FENCE * (upper - lower)
    inside = relative[(relative >= lower - reach) & (relative <= upper + reach)]
    return Spread(
        run=run,
        bursts=len(relative),
        median=median,
        lower=lower,
        upper=upper,
        low=min(float(inside.min()), lower),
        high=max(float(inside.max()), upper),
        outliers=len(relative) - len(inside),
    )
