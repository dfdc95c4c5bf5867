"""Profiles on common axes: call paths by their names from the root, metrics by theirs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np

from burstline.columns import Floats, Integers
from burstline.errors import NotEnoughDataError, ParameterError, printable
from burstline.model.profile import Profile

METRIC_SETS: Final = ("time-tree", "fig1", "all")
TIME: Final = "time"
_KIND: Final = ("name", "combined")
_FIG1: Final = frozenset((
    *("time", "comp", "mpi", "mpi_point2point", "mpi_latesender", "mpi_latereceiver"),
    *("mpi_collective", "mpi_wait_nxn", "omp_time", "omp_management", "omp_synchronization"),
    *("omp_barrier", "omp_ebarrier_wait", "omp_ibarrier_wait", "omp_idle_threads"),
))  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """Profiles side by side.

    Each table has the values of metrics by call path alone, summed over locations; a
    metric's value has those of the metrics below it.
    """

    call_paths: tuple[tuple[int, str], ...]  # above each, -1 of a root, and its last name
    parents: Mapping[str, str | None]  # of metrics, roots without one
    titles: Mapping[str, str]
    times: frozenset[str]  # metrics with the unit of the time
    defined: tuple[frozenset[str], ...]  # metrics that each profile has, if only with zeros
    tables: tuple[Mapping[str, Floats], ...]
    timeless: tuple[int, ...]  # profiles that divide their time into no kinds

    def chosen(self, metric_set: str) -> tuple[str, ...]:
        """The metrics of a set that any profile has."""
        if metric_set not in METRIC_SETS:
            raise ParameterError(f"no set of metrics {metric_set}: {', '.join(METRIC_SETS)}")
        below_time = {name for name in self.times if TIME in _above(self.parents, name)}
        chosen = self.times if metric_set == "all" else below_time | {TIME}
        if metric_set == "fig1":
            chosen = chosen & _FIG1
        if self.timeless:  # one has time alone: what others have below it has no counterpart
            chosen = chosen - below_time
        return tuple(name for name in self.parents if name in chosen)

    def shares(self, members: Sequence[int], metrics: Sequence[str]) -> Floats:
        """What metrics alone take of the time of all, shape (metrics, call paths)."""
        whole = sum(self.tables[member][TIME].sum() for member in members)
        alone = np.zeros((len(metrics), len(self.call_paths)))
        for table in (self.tables[member] for member in members):
            rows = {name: row for row, name in enumerate(metrics) if name in table}
            for name, row in rows.items():
                alone[row] += table[name]
                above = (each for each in _above(self.parents, name) if each in rows)
                for around in islice(above, 1):
                    alone[rows[around]] -= table[name]
        return _as_shares(alone, whole)

    def shares_of(self, metric: str, members: Sequence[int]) -> Floats:
        """What call paths have of a metric, of several profiles that of their mean."""
        total = np.zeros(len(self.call_paths))
        for member in members:
            total += self.tables[member].get(metric, 0)
        total = np.maximum(total, 0)
        return _as_shares(total, total.sum())

    def has(self, metric: str, members: Sequence[int]) -> bool:
        """Whether any of several profiles has a metric, if only with zeros."""
        return any(metric in self.defined[member] for member in members)

    def share_of_time(self, metric: str, members: Sequence[int]) -> float:
        """What a metric takes of the time, with the metrics below it."""
        tables = [self.tables[member] for member in members]
        whole = sum(table[TIME].sum() for table in tables)
        total = sum(table[metric].sum() for table in tables if metric in table)
        return float(total / whole) if whole > 0 else 0.0


def side_by_side(profiles: Sequence[Profile], names: Sequence[str]) -> Tables:
    """Profiles on common axes; errors call them by their `names`."""
    places: dict[tuple[int, str], int] = {}
    rows = [_path_places(profile, places) for profile in profiles]
    parents: dict[str, str | None] = {}
    titles: dict[str, str] = {}
    times: set[str] = set()
    timeless, tables, defined = [], [], []
    for number, (profile, name) in enumerate(zip(profiles, names, strict=True)):
        kinds = dict(zip(*(profile.metrics[key].to_pylist() for key in _KIND), strict=True))
        if TIME not in profile.stored or kinds[TIME] != "sum":
            raise NotEnoughDataError(
                f"{printable(name)} has no metric {TIME}, of which shares are taken"
            )
        edges = _add_metrics(profile, parents, titles, times)
        if not any(edges[name] == TIME for name in times & edges.keys()):
            timeless.append(number)
        defined.append(frozenset(edges))
        tables.append(_value_table(profile, edges, rows[number], len(places), name))
    return Tables(
        tuple(places),
        parents,
        titles,
        frozenset(times),
        tuple(defined),
        tuple(tables),
        tuple(timeless),
    )


def _path_places(profile: Profile, places: dict[tuple[int, str], int]) -> Integers:
    """The place of each call path of a profile; paths that are new are added to `places`."""
    rows: list[int] = []
    parents = profile.call_paths["parent"].to_pylist()
    for parent, name in zip(parents, profile.names(), strict=True):
        above = -1 if parent is None else rows[parent]
        rows.append(places.setdefault((above, name), len(places)))
    return np.array(rows, np.int64)


def _add_metrics(
    profile: Profile, parents: dict[str, str | None], titles: dict[str, str], times: set[str]
) -> dict[str, str | None]:
    """Add metrics of a profile that are sums to those of others; the parents it gives them.

    A metric that is a root in one profile stands in all where another has it.
    """
    metrics = [row for row in profile.metrics.to_pylist() if row["combined"] == "sum"]
    names = {row["metric"]: row["name"] for row in metrics}
    edges = {row["name"]: names.get(row["parent"]) for row in metrics}
    unit = next(row["unit"] for row in metrics if row["name"] == TIME)
    times.update(row["name"] for row in metrics if row["unit"] == unit)
    for row in metrics:
        titles.setdefault(row["name"], row["title"])
        parents.setdefault(row["name"], None)
    for name, above in edges.items():
        is_circle = above is None or name in (above, *_above(parents, above))
        if parents[name] is None and not is_circle:
            parents[name] = above
    return edges


def _above(parents: Mapping[str, str | None], metric: str) -> list[str]:
    """The metrics that a metric is a part of, the nearest first."""
    above = []
    around = parents.get(metric)
    while around is not None:
        above.append(around)
        around = parents.get(around)
    return above


def _value_table(
    profile: Profile, sums: Iterable[str], rows: Integers, count: int, name: str
) -> dict[str, Floats]:
    """The values of a profile's metrics that are sums, by call path of all profiles."""
    table: dict[str, Floats] = {}
    for metric in profile.stored.keys() & set(sums):
        values = profile.exclusive(metric).sum(axis=1, dtype=np.float64)
        if not np.isfinite(values).all():
            raise NotEnoughDataError(
                f"{printable(name)}: values of metric {printable(metric)} are no numbers"
            )
        table[metric] = np.bincount(rows, values, count).astype(np.float64)
    return table


def _as_shares(values: Floats, whole: float) -> Floats:
    """Shares of a whole; what is below zero is what rounding left."""
    return np.maximum(values, 0) / whole if whole > 0 else np.zeros_like(values)
