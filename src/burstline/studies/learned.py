"""What learning finds: errors of predictions fold by fold, and what they rest on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from burstline.columns import Floats
from burstline.values import Contract, Documented

FEATURELESS: Final = ("mean", "nothing")
"""Names of scores of no features at all."""

_ERRORS: Final = 2.0
"""Standard errors that a difference must exceed to be called one."""

_LEAST: Final = 0.02
"""And the share of the error that it must reach."""


@dataclass(frozen=True, slots=True, eq=False)
class Score(Documented):
    """How well a set of features predicts bursts that the predictor has never seen.

    Attributes
    ----------
    name : str
        ``base``, ``merged``; ``reliable``: merged without the counters that vary too much;
        ``shuffled``: merged, with the values of other runs' counters dealt out at random;
        ``nothing``: no feature, the median of the others; ``mean``: their mean.
    features : tuple of str
        What was predicted from.
    errors, medians : ndarray of float64, shape (folds,)
        Mean and median of ``|predicted - measured| / max(predicted, measured)`` over the bursts
        of a fold: 0.5 is a factor of two, either way.
    relative : ndarray of float64, shape (folds,)
        Mean of ``|predicted - measured| / measured``, which a few bursts that are predicted
        much too long can dominate.
    weighted : ndarray of float64, shape (folds,)
        Sum of the errors over the sum of what was measured: long bursts count more.
    r2 : ndarray of float64, shape (folds,)
        Share of the variance that is predicted, of the logarithm where that is; NaN without.
    unseen : float or None
        Mean error of bursts unlike all that was learnt from, see `seen`; None without any.
    seen : float
        Share of the tested bursts that have a twin among those learnt from: equal in all
        features but position and concurrency.
    predicted : ndarray of float64, shape (rows,)
        Each burst's prediction, by a predictor that has not seen its group.
    """

    name: str
    features: tuple[str, ...]
    errors: Floats
    medians: Floats
    relative: Floats
    weighted: Floats
    r2: Floats
    unseen: float | None
    seen: float
    predicted: Floats

    @property
    def mean(self) -> float:
        """Mean error over the folds."""
        return float(self.errors.mean())

    @property
    def spread(self) -> float:
        """Standard deviation of the error over the folds."""
        return float(self.errors.std(ddof=1))

    @property
    def _mean_r2(self) -> float | None:
        defined = self.r2[~np.isnan(self.r2)]
        return float(defined.mean()) if len(defined) else None

    CONTRACT: ClassVar[Contract] = (
        *("mean", "spread", ("median", lambda self: self.medians.mean())),
        ("relative", lambda self: self.relative.mean()),
        ("weighted", lambda self: self.weighted.mean()),
        *(("r2", "_mean_r2"), "seen", "unseen", ("folds", "errors"), "features"),
    )


@dataclass(frozen=True, slots=True)
class Gain(Documented):
    """By how much one set of features predicts better than another."""

    mean: float  # over the folds, error of one less that of the other; positive is better
    error: float  # standard error of that mean, as if folds were independent
    # folds in which it is better, of how many
    better: int
    folds: int
    # ``better`` or ``worse``, if the mean exceeds two standard errors and 2 % of the error it
    # began with; else ``no difference``
    verdict: str

    CONTRACT: ClassVar[Contract] = (
        "mean",
        ("standard_error", "error"),
        "better",
        "folds",
        "verdict",
    )


def gain(before: Score, after: Score) -> Gain:
    """What `after` gains over `before`, compared fold by fold."""
    differences = before.errors - after.errors
    mean = float(differences.mean())
    error = float(differences.std(ddof=1)) / math.sqrt(len(differences))
    verdict = "no difference"
    if abs(mean) > max(_ERRORS * error, _LEAST * before.mean):
        verdict = "better" if mean > 0 else "worse"
    return Gain(mean, error, int((differences > 0).sum()), len(differences), verdict)


@dataclass(frozen=True, slots=True, eq=False)
class Learned(Documented):
    """What learning found; made by :func:`~burstline.studies.learn`.

    Attributes
    ----------
    target : str
        What was predicted.
    unit : str
        Its unit.
    by : str
        What the folds keep together: ``rank``, ``application`` or ``code``.
    groups, folds : int
        How many of these there are, and in how many parts they were left out in turn.
    model : str
        ``forest`` or ``boosting``.
    is_log : bool
        Whether the logarithm of the target was predicted.
    measured : ndarray of float64, shape (rows,)
        The target of each burst that was used.
    left : dict of str to int
        Bursts that were not used, by reason.
    scores : tuple of Score
        In the order in which sets of features were tried, ``mean`` and ``nothing`` last.
    importance : dict of str to float
        By how much the mean error of the largest set rises if the values of a feature are
        shuffled in the bursts tested; largest first.
    left_out : dict of str to str
        Columns that are no features, and why.
    reliability : dict of str to str
        Verdict on the counters of which there is one.
    warnings : tuple of str
        What to mind, as sentences.
    """

    target: str
    unit: str
    by: str
    groups: int
    folds: int
    model: str
    is_log: bool
    measured: Floats
    left: dict[str, int]
    scores: tuple[Score, ...]
    importance: dict[str, float]
    left_out: dict[str, str]
    reliability: dict[str, str]
    warnings: tuple[str, ...]

    def score(self, name: str) -> Score | None:
        """The score of a set of features; None if it was not tried."""
        return next((score for score in self.scores if score.name == name), None)

    @property
    def gains(self) -> dict[str, Gain]:
        """What each set of features gains over the base's, by name."""
        base = self.score("base")
        others = [score for score in self._learnt if score is not base]
        return {} if base is None else {score.name: gain(base, score) for score in others}

    @property
    def over_nothing(self) -> dict[str, Gain]:
        """What each set gains over having no feature, the median or the mean, by name."""
        featureless = [score for score in self.scores if score.name in FEATURELESS]
        if not featureless:
            return {}
        best = min(featureless, key=lambda score: score.mean)
        return {score.name: gain(best, score) for score in self._learnt}

    @property
    def _learnt(self) -> list[Score]:
        """The scores of sets of features."""
        return [score for score in self.scores if score.name not in FEATURELESS]

    @property
    def _scores(self) -> dict[str, Score | None]:
        return {"base": None, "merged": None} | {each.name: each for each in self.scores}

    CONTRACT: ClassVar[Contract] = (
        *("target", "unit", ("log", "is_log"), "model", "by", "groups", "folds"),
        ("bursts", lambda self: len(self.measured)),
        "left",
        ("**", "_scores"),
        *(("gain", "gains"), ("gain_over_nothing", "over_nothing")),
        *("importance", "left_out", "reliability", "warnings"),
    )
