"""Predictors: ensembles of trees, the same for the same input."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Final

import numpy as np

from burstline.columns import Floats
from burstline.errors import ParameterError, require_extra
from burstline.learning.matrix import Matrix

MODELS: Final = ("forest", "boosting")
"""Random forests, and trees that each correct the errors of those before."""

_TREES: Final = 100
_ROUNDS: Final = 200
_LEAST_IN_LEAF: Final = 3
_MOST_NAMES: Final = 255
SEED: Final = 20_250_101


class Predictor:
    """Predicts a target by a random forest (DOI 10.1023/A:1010933404324) or boosted trees."""

    def __init__(self, model: str, *, is_log: bool, threads: int = 1) -> None:
        self._is_log = is_log
        self._threads = threads
        self._model = model
        self._ensemble: Any = None

    def learn(self, features: Matrix, target: Floats) -> Predictor:
        """Grow the trees from bursts whose target is known."""
        self._ensemble = self._new(features)
        with _one_thread():
            self._ensemble.fit(features.values, np.log(target) if self._is_log else target)
        if self._model == "forest":
            self._ensemble.n_jobs = 1  # threads would add up their trees in any order
        return self

    def predict(self, features: Matrix) -> Floats:
        """The predicted target, shape (rows,)."""
        with _one_thread():
            predicted = np.asarray(self._ensemble.predict(features.values), np.float64)
        return np.exp(predicted) if self._is_log else predicted

    def _new(self, features: Matrix) -> Any:  # noqa: ANN401 -- scikit-learn has no types
        from sklearn import ensemble  # noqa: PLC0415 -- an extra

        if self._model == "forest":
            # all features are tried at each split: useless ones do not crowd out the others
            return ensemble.RandomForestRegressor(
                _TREES, min_samples_leaf=_LEAST_IN_LEAF, random_state=SEED, n_jobs=self._threads
            )
        few = np.nan_to_num(features.values).max(axis=0, initial=0) < _MOST_NAMES
        names = np.array(features.is_name) & few
        return ensemble.HistGradientBoostingRegressor(
            max_iter=_ROUNDS,
            categorical_features=names if names.any() else None,
            early_stopping=False,
            random_state=SEED,
        )


def _one_thread() -> AbstractContextManager[Any]:
    """A limit of one thread: boosting would wait for those that a shared machine holds up."""
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 -- comes with scikit-learn

    limits: AbstractContextManager[Any] = threadpool_limits(1)
    return limits


def require(model: str) -> None:
    """Raise an error unless there is such a model and scikit-learn to grow it."""
    if model not in MODELS:
        raise ParameterError(f"there is no model {model}; there are {', '.join(MODELS)}")
    require_extra("sklearn", "ml", "learning")
