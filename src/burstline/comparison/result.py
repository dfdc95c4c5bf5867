"""The comparison of several profiles: scores of pairs, and where they differ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from burstline.columns import Floats, Mask
from burstline.comparison.scores import jaccard
from burstline.comparison.tables import TIME, Tables, side_by_side
from burstline.errors import ParameterError
from burstline.model.profile import Profile
from burstline.values import Contract, Documented

_PLACED: Final = ("binding", "launcher")
"""Facts of a profile on how its threads were placed."""
_MODELLED: Final = ("modelled_ticks", "modelled_share")
"""Facts of a profile of a logical clock."""
_MOST_DIFFERENCES: Final = 100
_SMALL: Final = 0.001  # of the time: a difference that is called none


class Pair(NamedTuple):
    """The scores of two profiles.

    Attributes
    ----------
    first, second : int
        Which ones, of the names of the comparison.
    j_mc : float
        How alike they divide their time, see :func:`burstline.comparison.j_mc`.
    j_c : dict of str to float
        How alike they divide each metric that both have, and of which one has any, see
        :func:`burstline.comparison.j_c`.
    """

    first: int
    second: int
    j_mc: float
    j_c: dict[str, float]


class Difference(NamedTuple):
    """A metric in a call path that takes other shares of the time in two profiles.

    Attributes
    ----------
    metric : str
        Its name.
    call_path : tuple of str
        The names of the regions, from the root.
    shares : tuple of float
        Of the time, in the first and in the second: the metric without those below it.
    """

    metric: str
    call_path: tuple[str, ...]
    shares: tuple[float, float]

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        a, b = self.shares
        path = list(self.call_path)
        return {"metric": self.metric, "call_path": path, "share_a": a, "share_b": b}


@dataclass(frozen=True, slots=True, eq=False)
class Comparison(Documented):
    """How alike profiles are, and where they differ.

    Attributes
    ----------
    names : tuple of str
        What is compared: profiles, or means of several.
    runs : tuple of int
        The number of profiles that each is the mean of.
    pairs : tuple of Pair
        The pairs that are compared: all, or the first with each other one.
    run_to_run : tuple of float or None
        The least :func:`burstline.comparison.j_mc` of two of the profiles that each is the
        mean of; None of one.
    metric_set : str
        The set of metrics that is compared.
    metrics : tuple of str
        The metrics in it, an axis of `shares`.
    call_paths : tuple of (int, str)
        All call paths, an axis of `shares`: the place of the one above, -1 of a root, and the
        last name; :meth:`path` has all names.
    shares : ndarray of float64, shape (names, metrics, call paths)
        What a metric takes of the time, 0..1, without the metrics below it.
    by_call_path : dict of str to ndarray of float64, shape (names, call paths)
        What each call path has of a metric, 0..1, for all metrics with any value.
    of_time : dict of str to tuple of float
        What each metric with the unit of the time takes of it, with those below it; NaN where
        there is no such metric.
    titles : dict of str to str
        What metrics are called for people.
    timeless : tuple of str
        Names of what divides its time into no kinds: then ``time`` alone is compared.
    modelled : tuple of (int, float) or None
        Of a logical clock, ticks that no counter gave, and their share of all ticks: means.
    placed : tuple of mapping of str to str
        What threads of each were bound to (``binding``), and who started them (``launcher``),
        as far as that is known and one thing.
    """

    names: tuple[str, ...]
    runs: tuple[int, ...]
    pairs: tuple[Pair, ...]
    run_to_run: tuple[float | None, ...]
    metric_set: str
    metrics: tuple[str, ...]
    call_paths: tuple[tuple[int, str], ...]
    shares: Floats
    by_call_path: Mapping[str, Floats]
    of_time: Mapping[str, tuple[float, ...]]
    titles: Mapping[str, str]
    timeless: tuple[str, ...]
    modelled: tuple[tuple[int, float] | None, ...]
    placed: tuple[Mapping[str, str], ...] = ()

    @property
    def least(self) -> Pair:
        """The pair that is least alike, the first of several."""
        return min(self.pairs, key=lambda pair: pair.j_mc)

    @property
    def j_mc(self) -> float:
        """The least score of a pair, 0..1."""
        return self.least.j_mc

    @property
    def j_c(self) -> dict[str, float]:
        """The least score of a pair by metric, for metrics with any value."""
        return {
            metric: min(pair.j_c[metric] for pair in self.pairs if metric in pair.j_c)
            for metric in self.by_call_path
            if any(metric in pair.j_c for pair in self.pairs)
        }

    def path(self, call_path: int) -> tuple[str, ...]:
        """The names of a call path, from the root."""
        names = []
        while call_path >= 0:
            call_path, name = self.call_paths[call_path]
            names.append(name)
        return tuple(names[::-1])

    def differences(self, pair: Pair | None = None) -> Iterator[Difference]:
        """Where two profiles differ, most first; by default the least alike ones."""
        pair = pair or self.least
        first, second = self.shares[pair.first], self.shares[pair.second]
        apart = np.abs(first - second)
        metrics, paths = np.nonzero(apart)
        order = np.argsort(-apart[metrics, paths], kind="stable")
        for row, column in zip(metrics[order].tolist(), paths[order].tolist(), strict=True):
            shares = float(first[row, column]), float(second[row, column])
            yield Difference(self.metrics[row], self.path(column), shares)

    def missing(self, pair: Pair | None = None) -> dict[str, int]:
        """Metrics that only one of a pair has any of, and which one that is."""
        pair = pair or self.least
        which = {}
        for metric, shares in self.by_call_path.items():
            has = [number for number in pair[:2] if shares[number].any()]
            if len(has) == 1:
                which[metric] = has[0]
        return which

    def elsewhere(self, pair: Pair | None = None) -> tuple[float, float]:
        """The shares of the time of a pair in call paths where the other spends none."""
        pair = pair or self.least
        first, second = self.by_call_path[TIME][[pair.first, pair.second]]
        return float(first[second == 0].sum()), float(second[first == 0].sum())

    @property
    def _verdict(self) -> str:
        return verdict(self)

    @property
    def _profiles(self) -> list[dict[str, Any]]:
        rows = zip(self.names, self.runs, self.run_to_run, self.modelled, strict=True)
        return [
            {"name": name, "runs": runs, "run_to_run": score}
            | ({} if ticks is None else dict(zip(_MODELLED, ticks, strict=True)))
            for name, runs, score, ticks in rows
        ]

    @property
    def _pairs(self) -> list[dict[str, Any]]:
        return [
            {"a": self.names[a], "b": self.names[b], "j_mc": j_mc, "j_c": j_c}
            for a, b, j_mc, j_c in self.pairs
        ]

    CONTRACT: ClassVar[Contract] = (
        ("verdict", "_verdict"),
        *(("metrics", "metric_set"), "j_mc", "j_c"),
        *(("profiles", "_profiles"), ("pairs", "_pairs")),
        ("least_alike", lambda self: [self.names[which] for which in self.least[:2]]),
        ("share_time", "of_time"),
        ("differences", lambda self: [*islice(self.differences(), _MOST_DIFFERENCES)]),
        ("elsewhere", lambda self: self.elsewhere()),
        ("only_in", lambda self: {m: self.names[one] for m, one in self.missing().items()}),
        ("time_alone", "timeless"),
    )


def compare(
    profiles: Sequence[Profile],
    *others: Sequence[Profile],
    metrics: str = "time-tree",
    names: Sequence[str] = (),
) -> Comparison:
    """Compare profiles with each other, or the mean of some with the means of others.

    Parameters
    ----------
    profiles : sequence of Profile
        Repetitions, at least two: each is compared with each. With `others`, one or more
        repetitions, whose mean is compared.
    *others : sequence of Profile
        Repetitions of another program, machine or clock each, whose mean is compared with
        that of `profiles`.
    metrics : {'time-tree', 'fig1', 'all'}
        The metrics, as :func:`burstline.comparison.j_mc` takes them.
    names : sequence of str, optional
        What the profiles are called, or with `others` the sequences of them; by default they
        are numbered from 1.

    Returns
    -------
    Comparison
        Scores of pairs, of repetitions with each other, and where profiles differ.

    Raises
    ------
    NotEnoughDataError
        If a profile has no metric ``time``, or values that are no numbers.
    ParameterError
        If there are not two profiles to compare, as many names as them, or no such set of
        metrics.

    Notes
    -----
    The mean is that of severities, then shares are taken: a repetition counts by its length.

    Examples
    --------
    Three runs in which the second rank comes to a barrier late, each time later; a clock that
    counts events does not see it:

    >>> from burstline import wait_states
    >>> from burstline.testing import trace_of
    >>> runs = [
    ...     trace_of(
    ...         "ranks 2 | 0 | 0 enter MPI_Init | 2 leave | 4 enter MPI_Barrier | 40 leave "
    ...         f"| 1 | 0 enter MPI_Init | 2 leave | {late} enter MPI_Barrier | 40 leave"
    ...     )
    ...     for late in (10, 20, 30)
    ... ]
    >>> physical, logical = (
    ...     [wait_states(run, clock=clock).profile for run in runs]
    ...     for clock in ("physical", "lt_1")
    ... )
    >>> comparison = compare(physical)
    >>> comparison.least.first, comparison.least.second
    (0, 2)
    >>> comparison = compare(physical, logical, names=["time", "events"])
    >>> comparison.run_to_run
    (0.6, 1.0)
    >>> next(comparison.differences())[:2]
    ('mpi_sync_collective', ('program', 'MPI_Barrier'))
    """
    groups = [list(profiles), *map(list, others)]
    if not others:
        groups = [[profile] for profile in profiles]
    if len(groups) < 2 or not all(groups):
        raise ParameterError("a comparison takes at least two profiles")
    names = tuple(names) or tuple(map(str, range(1, len(groups) + 1)))
    if len(names) != len(groups):
        raise ParameterError(f"{len(names)} names for {len(groups)} profiles to compare")
    owners = [name for name, group in zip(names, groups, strict=True) for _ in group]
    tables = side_by_side([profile for group in groups for profile in group], owners)
    numbers = iter(range(len(owners)))
    members = [[next(numbers) for _ in group] for group in groups]
    chosen = tables.chosen(metrics)
    shares = np.stack([tables.shares(group, chosen) for group in members])
    by_call_path = {
        metric: np.stack([tables.shares_of(metric, group) for group in members])
        for metric in tables.parents
    }
    by_call_path = {metric: each for metric, each in by_call_path.items() if each.any()}
    shared = {
        metric: np.array([tables.has(metric, group) for group in members])
        for metric in by_call_path
    }
    pairs = [pair for pair in combinations(range(len(groups)), 2) if not (others and pair[0])]
    return Comparison(
        names,
        tuple(map(len, groups)),
        tuple(_scored_pair(shares, by_call_path, shared, *pair) for pair in pairs),
        tuple(_run_to_run(tables, group, chosen) for group in members),
        metrics,
        chosen,
        tables.call_paths,
        shares,
        by_call_path,
        {
            metric: tuple(
                tables.share_of_time(metric, group) if has else math.nan
                for group, has in zip(members, shared[metric].tolist(), strict=True)
            )
            for metric in by_call_path
            if metric in tables.times
        },
        tables.titles,
        tuple(dict.fromkeys(owners[number] for number in tables.timeless)),
        tuple(_mean_modelled(group) for group in groups),
        tuple(map(_placed, groups)),
    )


def _placed(profiles: Sequence[Profile]) -> dict[str, str]:
    """How the threads of all profiles were placed, where that is the same."""
    said = {
        name: {profile.attributes.get(name, "") for profile in profiles} for name in _PLACED
    }
    return {name: texts.pop() for name, texts in said.items() if len(texts) == 1 and all(texts)}


def _mean_modelled(profiles: Sequence[Profile]) -> tuple[int, float] | None:
    """Ticks of profiles that no counter gave, and their share, on the mean; None of time."""
    modelled = [
        [float(profile.attributes[name]) for name in _MODELLED]
        for profile in profiles
        if all(name in profile.attributes for name in _MODELLED)
    ]
    if not modelled:
        return None
    ticks, share = (sum(column) / len(modelled) for column in zip(*modelled, strict=True))
    return round(ticks), share


def verdict(comparison: Comparison) -> str:
    """How alike profiles are and where they differ most, as a sentence."""
    least, names = comparison.least, comparison.names
    if not comparison.shares.any():
        return "No profile has any time: there is nothing to compare."
    most = next(comparison.differences(), None)
    what = "shares of the time by metric and call path"
    if comparison.timeless:
        what = "shares of the time by call path, not by metric"
    moved = "".join(f" {each}" for each in _changes(comparison))
    if most is None:
        return f"The profiles are equal in {what}: J is 1.{moved}"
    score = f"{comparison.j_mc:.1%} in {what} (J)"
    if len(comparison.pairs) == 1:
        agree = f"The profiles agree by {score};"
    else:
        best = max(pair.j_mc for pair in comparison.pairs)
        pair = f"{names[least.first]} and {names[least.second]}"
        agree = f"Pairs of profiles agree by {score} to {best:.1%}; the least alike are {pair};"
    if abs(most.shares[0] - most.shares[1]) < _SMALL:
        return f"{agree} nothing differs by as much as {_SMALL:.1%} of the time.{moved}"
    first, second = (f"{share:.1%}" for share in most.shares)
    where = f"{first} of the time in {names[least.first]}, {second} in {names[least.second]}"
    metric = f"{comparison.titles[most.metric]} ({most.metric})"
    place = " > ".join(most.call_path[-2:])
    return f"{agree} they differ most in {metric} of {place}: {where}.{moved}"


def _changes(comparison: Comparison) -> Iterator[str]:
    """What is otherwise in how threads were placed, of the two that are least alike."""
    if not comparison.placed:
        return
    pair = comparison.least
    first, second = (comparison.placed[which] for which in pair[:2])
    between = f"between {comparison.names[pair.first]} and {comparison.names[pair.second]}"
    for name in _PLACED:
        before, after = first.get(name), second.get(name)
        if before and after and before != after:
            yield f"{name.capitalize()} changed from {before} to {after} {between}."


def _scored_pair(
    shares: Floats,
    by_call_path: Mapping[str, Floats],
    shared: Mapping[str, Mask],
    first: int,
    second: int,
) -> Pair:
    scores = {
        metric: jaccard(each[first], each[second])
        for metric, each in by_call_path.items()
        if each[[first, second]].any() and shared[metric][[first, second]].all()
    }
    return Pair(first, second, jaccard(shares[first], shares[second]), scores)


def _run_to_run(tables: Tables, members: Sequence[int], metrics: Sequence[str]) -> float | None:
    """The least score of two repetitions; None of one."""
    shares = [tables.shares([member], metrics) for member in members]
    return min((jaccard(*pair) for pair in combinations(shares, 2)), default=None)
