"""The variable-factor map: how features go together, by principal components."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from typing import Any, Final

import numpy as np

from burstline.columns import Floats
from burstline.errors import NotEnoughDataError
from burstline.structure.study.call_features import Features

_SAME: Final = 1e-9
"""Spread, relative to the largest value, below which a variable is the same for all."""


@dataclass(frozen=True, slots=True, eq=False)
class FactorMap:
    """Principal components of features."""

    names: tuple[str, ...]  # the variables that differ from row to row
    # (variables, components) of each variable with each component; the strongest of a component
    # is positive
    correlation: Floats
    # (components,) share of the variance that each explains, in falling order; they sum up to 1
    explained: Floats
    between: Floats  # (variables, variables) correlation of the variables with each other
    rows: int  # unique calls, or loops, looked at
    constant: tuple[str, ...]  # variables that are the same for all and explain nothing

    @property
    def on_map(self) -> Floats:
        """Share of the variance of each variable that two components hold, (variables,)."""
        return (self.correlation[:, :2] ** 2).sum(axis=1)

    def as_dict(self) -> dict[str, Any]:
        """The map as JSON output."""
        return {
            "rows": self.rows,
            "explained": self.explained.tolist(),
            "correlation": dict(zip(self.names, self.correlation.tolist(), strict=True)),
            "between": dict(zip(self.names, self.between.tolist(), strict=True)),
            "constant": list(self.constant),
        }


def factor_map(found: Features) -> FactorMap:
    """The principal components of features.

    Parameters
    ----------
    found : Features
        Of unique calls, or of loops.

    Returns
    -------
    FactorMap
        Of their variables, each reduced to mean 0 and standard deviation 1.

    Raises
    ------
    NotEnoughDataError
        If there are fewer than three rows, or fewer than two variables that differ.

    Notes
    -----
    O(rows · variables²). Correlations say how variables go together, not which of them
    distinguish loops; calls of one loop are not independent of each other.

    Examples
    --------
    >>> from burstline.structure import detect, features
    >>> from burstline.testing import trace_of
    >>> names = ["MPI_Send", "MPI_Barrier", "MPI_Barrier"]
    >>> calls = [(k * k, names[k % 3], k % 2) for k in range(1, 16)]
    >>> steps = [f"{k} enter {name} path {path} | {k + 1} leave" for k, name, path in calls]
    >>> paths = "path 0 main file a.c line 3 | path 1 main file a.c line 4"
    >>> trace = trace_of(f"ranks 1 | {paths} | 0 | {' | '.join(steps)}")
    >>> found = factor_map(features(trace, detect(trace).found_in))
    >>> found.names, found.rows, round(float(found.explained.sum()), 9)
    (('iterations', 'iteration time'), 4, 1.0)
    """
    values = found.values
    spread = values.std(axis=0) if len(values) else np.zeros(len(found.names))
    differs = spread > _SAME * np.abs(values).max(axis=0, initial=0)
    if len(values) < 3 or np.count_nonzero(differs) < 2:
        raise NotEnoughDataError(
            f"{len(values)} rows of {np.count_nonzero(differs)} variables that differ are too "
            "few for a variable-factor map: it takes three of two"
        )
    values = values[:, differs]
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    _, singular, axes = np.linalg.svd(standard, full_matrices=False)
    correlation = axes.T * (singular / np.sqrt(len(values)))
    strongest = np.abs(correlation).argmax(axis=0)
    signs = np.sign(correlation[strongest, np.arange(len(singular))])
    return FactorMap(
        names=tuple(compress(found.names, differs)),
        correlation=correlation * np.where(signs < 0, -1.0, 1.0),
        explained=singular**2 / (singular**2).sum(),
        between=standard.T @ standard / len(values),
        rows=len(values),
        constant=tuple(compress(found.names, ~differs)),
    )
