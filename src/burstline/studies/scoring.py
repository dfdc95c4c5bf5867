"""Scores: predict each fold from the others, and see how far off that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from burstline.columns import Floats, Integers, Mask
from burstline.errors import NotEnoughDataError, ParameterError, require_extra
from burstline.identity import SIDES, SITE
from burstline.progress import Progress
from burstline.studies.burst_features import FeatureMatrix, column_values
from burstline.studies.learned import Score

MODELS: Final = ("forest", "boosting")
"""Random forests, and trees that each correct the errors of those before."""

_TREES: Final = 100
_ROUNDS: Final = 200
_LEAST_IN_LEAF: Final = 3
_MOST_NAMES: Final = 255
"""Names of one feature that boosting tells apart."""
SEED: Final = 20_250_101


def require(model: str) -> None:
    """Raise an error unless there is such a model and scikit-learn to grow it."""
    if model not in MODELS:
        raise ParameterError(f"there is no model {model}; there are {', '.join(MODELS)}")
    require_extra("sklearn", "ml", "learning")


WAYS: Final = ("rank", "application", "code")
"""What is left out together: the bursts of a rank; of a table, or of an application in it;
or of a place in the program, known by the calls before and after."""

_FOLDS: Final = 5
_OTHER: Final = {
    "rank": "`by=code` leaves out bursts by their calls",
    "application": "Give further data sets, of other programs or sizes, or choose `by=rank`",
    "code": "`by=rank` leaves out ranks",
}


def groups(tables: Sequence[pa.Table], by: str) -> Integers:
    """What each burst is left out together with, shape (rows,)."""
    if by not in WAYS:
        raise ParameterError(f"bursts are grouped by {', '.join(WAYS)}, not by {by}")
    table = np.repeat(np.arange(len(tables)), [part.num_rows for part in tables]).astype(float)
    names = ["application"]
    if by == "rank":
        names.append("rank")
    elif by == "code":
        names = [f"{name}_{side}" for name in SITE for side in SIDES]
    shared = [name for name in names if all(name in part.column_names for part in tables)]
    needed = {"rank": "rank", "code": "operation_before", "application": None}[by]
    if needed is not None and needed not in shared:
        raise ParameterError(f"no column {needed}: bursts cannot be grouped by {by}")
    columns = [column_values(tables, name) for name in shared]
    keys = np.column_stack([*([] if by == "code" else [table]), *columns])
    plain = np.nan_to_num(keys, nan=-1.0)
    return np.asarray(np.unique(plain, axis=0, return_inverse=True)[1]).ravel()


def folds(group: Integers, by: str) -> list[tuple[Integers, Integers]]:
    """The rows to learn from and those to test, for each fold."""
    numbers, number, sizes = np.unique(group, return_inverse=True, return_counts=True)
    if len(numbers) < 2:
        raise NotEnoughDataError(
            f"all bursts are of one {by}: nothing is left to test on. {_OTHER[by]}"
        )
    count = len(numbers) if by == "application" else min(_FOLDS, len(numbers))
    filled = np.zeros(count, np.int64)
    fold_of = np.zeros(len(numbers), np.int64)
    # the largest group first, each to the fold with the fewest bursts
    for row in np.argsort(-sizes, kind="stable").tolist():
        fold_of[row] = int(np.argmin(filled))
        filled[fold_of[row]] += sizes[row]
    fold = fold_of[number.ravel()]
    return [
        (np.flatnonzero(fold != each), np.flatnonzero(fold == each)) for each in range(count)
    ]


_SHUFFLES: Final = 5
_MOST_SHUFFLED: Final = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What all sets of features are tried on."""

    measured: Floats  # (rows,) the target; positive
    # rows to learn from and rows to test, of each fold
    split: Sequence[tuple[Integers, Integers]]
    model: str  # kind of predictor
    is_log: bool  # whether the logarithm is predicted
    threads: int  # to grow trees on


def _grown_trees(trial: Trial, features: FeatureMatrix, target: Floats) -> Any:  # noqa: ANN401 -- untyped
    """A random forest (DOI 10.1023/A:1010933404324) or boosted trees, the same for the same."""
    from sklearn import compose, ensemble  # noqa: PLC0415 -- an extra

    if trial.model == "forest":
        # all features are tried at each split: useless ones do not crowd out the others
        trees = ensemble.RandomForestRegressor(
            _TREES, min_samples_leaf=_LEAST_IN_LEAF, random_state=SEED, n_jobs=trial.threads
        )
    else:
        few = np.nan_to_num(features.values).max(axis=0, initial=0) < _MOST_NAMES
        names = np.array(features.is_name) & few
        trees = ensemble.HistGradientBoostingRegressor(
            max_iter=_ROUNDS,
            categorical_features=names if names.any() else None,
            early_stopping=False,
            random_state=SEED,
        )
    scale = {"func": np.log, "inverse_func": np.exp} if trial.is_log else {}
    grown = compose.TransformedTargetRegressor(trees, **scale, check_inverse=False)
    grown.fit(features.values, target)
    if trial.model == "forest":
        grown.regressor_.n_jobs = 1  # threads would add up their trees in any order
    return grown


def score(
    trial: Trial, name: str, features: FeatureMatrix, progress: Progress
) -> tuple[Score, list[Any]]:
    """The score of some features, each fold predicted from the others, and the predictors."""
    predicted = np.zeros(len(trial.measured))
    seen = np.zeros(len(trial.measured), bool)
    kinds = features.kinds()
    predictors = []
    for train, test in trial.split:
        learnt = features.rows(train)
        predictors.append(_grown_trees(trial, learnt, trial.measured[train]))
        tested = features.rows(test).known_to(learnt)
        predicted[test] = predictors[-1].predict(tested.values)
        seen[test] = np.isin(kinds[test], kinds[train])
        progress.advance(1)
    return _score_of(trial, name, features.names, predicted, seen), predictors


def score_of_nothing(trial: Trial, name: str = "nothing") -> Score:
    """The score of always predicting the median, or the ``mean``, of the bursts learnt from."""
    middle = np.mean if name == "mean" else np.median
    predicted = np.zeros(len(trial.measured))
    for train, test in trial.split:
        predicted[test] = middle(trial.measured[train])
    seen = np.ones(len(trial.measured), bool)
    return _score_of(trial, name, (), predicted, seen)


def _score_of(
    trial: Trial, name: str, names: tuple[str, ...], predicted: Floats, seen: Mask
) -> Score:
    relative = relative_errors(trial.measured, predicted)
    absolute = np.abs(predicted - trial.measured)
    tests = [test for _, test in trial.split]
    unseen = np.flatnonzero(~seen)
    return Score(
        name=name,
        features=names,
        errors=np.array([relative[test].mean() for test in tests]),
        medians=np.array([np.median(relative[test]) for test in tests]),
        relative=np.array([(absolute[test] / trial.measured[test]).mean() for test in tests]),
        weighted=np.array(
            [absolute[test].sum() / trial.measured[test].sum() for test in tests]
        ),
        r2=np.array([_r2(trial, predicted, test) for test in tests]),
        unseen=float(relative[unseen].mean()) if len(unseen) else None,
        seen=float(seen.mean()),
        predicted=predicted,
    )


def relative_errors(measured: Floats, predicted: Floats) -> Floats:
    """How far predictions are off, relative to the larger of both, shape (rows,)."""
    return np.asarray(np.abs(predicted - measured) / np.maximum(predicted, measured))


def _r2(trial: Trial, predicted: Floats, test: Integers) -> float:
    pair = (trial.measured[test], predicted[test])
    measured, predicted = (np.log(values) for values in pair) if trial.is_log else pair
    total = float(((measured - measured.mean()) ** 2).sum())
    return 1 - float(((measured - predicted) ** 2).sum()) / total if total else float("nan")


def importances(
    trial: Trial, features: FeatureMatrix, predictors: Sequence[Any]
) -> dict[str, float]:
    """By how much the error rises if a feature is shuffled among the bursts tested."""
    generator = np.random.default_rng(SEED)
    rises = np.zeros(len(features.names))
    total = 0
    for (train, test), predictor in zip(trial.split, predictors, strict=True):
        tested = test
        if len(test) > _MOST_SHUFFLED:
            tested = np.sort(generator.choice(test, _MOST_SHUFFLED, replace=False))
        bursts = features.rows(tested).known_to(features.rows(train))
        whole = relative_errors(trial.measured[tested], predictor.predict(bursts.values)).mean()
        shuffled = [
            bursts.shuffled([name], generator).values
            for name in features.names
            for _ in range(_SHUFFLES)
        ]
        # All at once: a forest of a hundred trees takes as long for a row as for a thousand.
        predicted = predictor.predict(np.concatenate(shuffled))
        errors = relative_errors(np.tile(trial.measured[tested], len(shuffled)), predicted)
        means = errors.reshape(len(features.names), -1).mean(axis=1)
        rises += len(test) * (means - whole)
        total += len(test)
    order = np.argsort(-rises, kind="stable").tolist()
    return {features.names[place]: float(rises[place] / total) for place in order}
