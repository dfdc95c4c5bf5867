"""Clustering: which unique calls are in the body of one loop.

These are executed equally often, equally far apart. Calls for which that is true by chance are
separated by their order: `ABAB` is one loop, `AABB` are two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline.columns import Floats, Integers, quotients
from burstline.errors import ParameterError
from burstline.structure.reduction import Reduced

Scale = Literal["minmax", "log"]
SCALES: Final = ("log", "minmax")
RankMerge = Literal["late", "early"]
RANK_MERGES: Final = ("late", "early")

_TAKE_TURNS: Final = 0.75


@dataclass(frozen=True, slots=True)
class SeedOptions:
    """What the published method leaves to choose."""

    eps: float  # largest distance of calls of one loop
    scale: Scale  # how repetitions and times are made comparable
    min_share: float  # calls whose repetitions span less of the run than this are left out
    # ``"late"``: the calls of each rank are clustered, and merged in the end. ``"early"``: the
    # calls of all ranks from one call path are merged first, to their means.
    rank_merge: RankMerge = "late"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.eps) and self.eps > 0):
            raise ParameterError(f"eps must be a positive number, got {self.eps}")
        if self.scale not in SCALES:
            raise ParameterError(f"no scale {self.scale!r}; there are {', '.join(SCALES)}")
        if self.rank_merge not in RANK_MERGES:
            raise ParameterError(
                f"no rank_merge {self.rank_merge!r}; there are {', '.join(RANK_MERGES)}"
            )


def clusters(points: Floats, *, eps: float) -> Integers:
    """The cluster of each point: DBSCAN with one point per core, shape (points,)."""
    # then, clusters are the connected components of points at distance `eps` or less
    flat = np.ascontiguousarray(points, np.float64).ravel()
    try:
        return _core.connected_within(flat, points.shape[1], float(eps))
    except ValueError as error:
        raise ParameterError(
            f"these points cannot be clustered with eps={eps}: {error}"
        ) from error


def normalised(values: Floats, *, scale: Scale) -> Floats:
    """Positive quantities on the scale of `eps`, shape (points, dimensions)."""
    if scale == "log":
        return np.log(np.maximum(values, np.finfo(np.float64).tiny))
    low = values.min(axis=0, initial=np.inf)
    extent = values.max(axis=0, initial=-np.inf) - low
    return np.divide(values - low, extent, out=np.zeros_like(values), where=extent > 0)


def cluster_calls(
    reduced: Reduced, chosen: npt.NDArray[np.intp], limits: SeedOptions
) -> list[list[int]]:
    """The groups of unique calls that are repeated equally often, equally far apart."""
    if not len(chosen):
        return []
    features = np.stack(
        [reduced.repetitions[chosen], reduced.iteration_mean_ns()[chosen]], axis=1
    ).astype(np.float64)
    point = np.arange(len(chosen))
    if limits.rank_merge == "early":
        point, features = merged(reduced.site[chosen], features)
    features[:, 1] = np.fmax(features[:, 1], 1.0)
    labels = clusters(normalised(features, scale=limits.scale), eps=limits.eps)[point]
    order = np.argsort(labels, kind="stable")
    bounds = np.flatnonzero(np.diff(labels[order])) + 1
    return [members.tolist() for members in np.split(chosen[order], bounds)]


def merged(site: Integers, features: Floats) -> tuple[Integers, Floats]:
    """The point of each call, and the mean features of each point: the calls of one site."""
    sites, point = np.unique(site, return_inverse=True)
    means = []
    for values in features.T:
        is_known = ~np.isnan(values)
        counts = np.bincount(point[is_known], minlength=len(sites))
        sums = np.bincount(point[is_known], values[is_known], minlength=len(sites))
        means.append(quotients(sums, counts))
    return point, np.stack(means, axis=1)


def split_aliased(reduced: Reduced, cluster: Sequence[int]) -> list[list[int]]:
    """The loops of a cluster: calls that take turns, neighbour by neighbour, on some rank."""
    site = dict(zip(cluster, reduced.site[cluster].tolist(), strict=True))
    group = {number: number for number in sorted(set(site.values()))}
    seen: set[tuple[int, ...]] = set()
    for members in _by_lane_and_time(reduced, cluster):
        kind = tuple(sorted(site[unique] for unique in members))
        if kind in seen:  # ranks with the same set of calls are taken to behave alike
            continue
        seen.add(kind)
        for before, after in pairwise(members):
            if take_turns(reduced.executions(before), reduced.executions(after)):
                group[_root_of(group, site[after])] = _root_of(group, site[before])
    loops: dict[int, list[int]] = {}
    for unique in cluster:
        loops.setdefault(_root_of(group, site[unique]), []).append(unique)
    return list(loops.values())


def _by_lane_and_time(reduced: Reduced, cluster: Sequence[int]) -> Iterator[list[int]]:
    """The unique calls of each lane, in the order of their first execution."""
    members = np.array(cluster)
    lane = reduced.lane[members]
    order = np.lexsort((reduced.first_ns[members], lane))
    bounds = np.flatnonzero(np.diff(lane[order])) + 1
    for part in np.split(members[order], bounds):
        yield part.tolist()


def _root_of(group: dict[int, int], member: int) -> int:
    while group[member] != member:
        member = group[member]
    return member


def take_turns(a: Integers, b: Integers) -> bool:
    """Whether two calls are executed in turns, by and large."""
    runs = count_runs(a, b) + count_runs(b, a)
    return runs >= _TAKE_TURNS * (len(a) + len(b))


def count_runs(of: Integers, other: Integers) -> int:
    """The stretches of executions of one call that no execution of another interrupts."""
    return _core.count_runs(np.ascontiguousarray(of), np.ascontiguousarray(other))
