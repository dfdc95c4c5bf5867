"""What features of loops say: how they go together, and which of them tell loops apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from burstline.columns import Floats, Integers, placed
from burstline.errors import NotEnoughDataError, require_extra
from burstline.studies.loop_features import Features
from burstline.studies.loop_labels import NO_LABEL
from burstline.values import Contract, Documented

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestClassifier


_SAME: Final = 1e-9
"""Spread, relative to the largest value, below which a variable is the same for all."""


@dataclass(frozen=True, slots=True, eq=False)
class FactorMap(Documented):
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

    CONTRACT: ClassVar[Contract] = (
        *("rows", "explained"),
        ("correlation", lambda self: dict(zip(self.names, self.correlation, strict=True))),
        ("between", lambda self: dict(zip(self.names, self.between, strict=True))),
        "constant",
    )


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
    >>> from burstline.structure import detect
    >>> from burstline.studies import features
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


_TREES: Final = 100
_SHUFFLES: Final = 10
_FOLDS: Final = 5
_SEED: Final = 20_170_331


@dataclass(frozen=True, slots=True, eq=False)
class Importance(Documented):
    """How much each feature says about the loop of a call."""

    names: tuple[str, ...]  # the variables
    # (variables,) share of the decrease of the Gini index that each brings about in the trees:
    # the published measure. It prefers variables of many values.
    impurity: Floats
    # (variables,) loss of accuracy on unseen call sites if the variable is shuffled; NaN if
    # there is nothing to test on
    permutation: Floats
    accuracy: float  # share of the calls of unseen call sites whose loop is found; NaN as above
    by_chance: float  # the same, if all were put into the loop that most of them are in
    # unique calls and loops (the outside is one) looked at, and how many of the calls could be
    # tested: those of loops that have another call site
    rows: int
    loops: int
    tested: int

    @property
    def _permutation(self) -> dict[str, float] | None:
        by_name = dict(zip(self.names, self.permutation.tolist(), strict=True))
        return by_name if self.tested else None

    CONTRACT: ClassVar[Contract] = (
        *("rows", "loops", "tested", "accuracy"),
        ("by_chance", lambda self: self.by_chance if self.tested else None),
        ("impurity", lambda self: dict(zip(self.names, self.impurity, strict=True))),
        ("permutation", "_permutation"),
    )


def importance(found: Features) -> Importance:
    """How much each feature distinguishes the loops of a program.

    Parameters
    ----------
    found : Features
        Of unique calls with labels; those without are left out.

    Returns
    -------
    Importance
        The same for the same features and version of scikit-learn.

    Raises
    ------
    MissingExtraError
        If scikit-learn is not installed.
    NotEnoughDataError
        If the labelled calls are not in two different loops.

    Notes
    -----
    Six random forests (L. Breiman, DOI 10.1023/A:1010933404324) at most, of 100 trees. Ranks
    that execute the same call are no independent evidence: for accuracy and permutation, all
    calls of a call site are left out of the forest that predicts their loop. Two variables that
    say the same share their importance, or lose it.
    """
    require_extra("sklearn", "ml", "the importance of features")
    labelled = np.flatnonzero(found.loop != NO_LABEL)
    values, loop, site = found.values[labelled], found.loop[labelled], found.site[labelled]
    loops = np.unique(loop)
    if len(loops) < 2:
        raise NotEnoughDataError(
            f"calls of {len(loops)} labelled loops: features tell loops apart from two on"
        )
    losses = np.zeros(len(found.names))
    right, unseen = 0, [np.zeros(0, np.int64)]
    for train, test in _folds_by_site(loop, site):
        forest = _grown_forest(values[train], loop[train])
        right += int(np.count_nonzero(forest.predict(values[test]) == loop[test]))
        losses += len(test) * _permutation_losses(forest, values[test], loop[test])
        unseen.append(loop[test])
    sizes = np.unique_counts(np.concatenate(unseen)).counts
    tested = int(sizes.sum())
    return Importance(
        names=found.names,
        impurity=_grown_forest(values, loop).feature_importances_,
        permutation=losses / tested if tested else np.full(len(found.names), np.nan),
        accuracy=right / tested if tested else float("nan"),
        by_chance=int(sizes.max()) / tested if tested else float("nan"),
        rows=len(labelled),
        loops=len(loops),
        tested=tested,
    )


def _grown_forest(values: Floats, loop: Integers) -> RandomForestClassifier:
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415 -- an extra

    forest = RandomForestClassifier(_TREES, random_state=_SEED, n_jobs=1)
    return forest.fit(values, loop)


def _folds_by_site(loop: Integers, site: Integers) -> Iterator[tuple[Integers, Integers]]:
    """The rows to learn from and to test, by call site, of loops that have another site."""
    sites, number = np.unique(site, return_inverse=True)
    # Sites of one loop are spread over the folds: in the order of loops, one after another.
    first = placed(loop[::-1], number[::-1], len(sites))
    place = np.argsort(np.argsort(first, kind="stable"), kind="stable")
    fold = place[number] % min(_FOLDS, len(sites))
    for each in range(min(_FOLDS, len(sites))):
        train = np.flatnonzero(fold != each)
        test = np.flatnonzero((fold == each) & np.isin(loop, loop[train]))
        if len(test):
            yield train, test


def _permutation_losses(
    forest: RandomForestClassifier, values: Floats, loop: Integers
) -> Floats:
    """The accuracy that is lost if a variable is shuffled, shape (variables,)."""
    generator = np.random.default_rng(_SEED)
    whole = np.mean(forest.predict(values) == loop)
    losses = np.zeros(values.shape[1])
    for number, column in enumerate(values.T):
        copies = np.tile(values, (_SHUFFLES, 1))
        shuffled = [generator.permutation(column) for _ in range(_SHUFFLES)]
        copies[:, number] = np.concatenate(shuffled)
        losses[number] = whole - np.mean(forest.predict(copies) == np.tile(loop, _SHUFFLES))
    return losses
