"""Pooling: the unique calls of several ranks become one call of the program.

::

    groups of unique calls + Reduced  --weighted means, joined spreads-->  a Call per group
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from burstline.schema import UNKNOWN
from burstline.structure.program.nodes import Call

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from burstline.columns import Floats, Integers
    from burstline.structure.reduction import Reduced


@dataclass(frozen=True, slots=True)
class _Means:
    """The means of a group; None where no member has a value."""

    time_ns: float
    time_spread_ns: float
    size_bytes: float | None
    size_spread_bytes: float | None
    burst_ns: float | None
    counters: dict[str, float]
    iteration_counters: dict[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Turns groups of unique calls into calls."""

    reduced: Reduced  # the unique calls
    communicators: Sequence[str]  # the name of each communicator

    def calls(self, groups: Sequence[Sequence[int]], iterations: Sequence[int]) -> list[Call]:
        """One call for each group, with its mean iterations around."""
        if not groups:
            return []
        reduced = self.reduced
        members = np.concatenate([np.asarray(group, np.int64) for group in groups])
        begin = np.cumsum([0, *map(len, groups)])
        lane, repetitions = reduced.lane[members], reduced.repetitions_of(members)
        site = reduced.site[members[begin[:-1]]].tolist()
        times = np.add.reduceat(repetitions, begin[:-1]).tolist()
        calls = []
        for k, means in enumerate(self._means(members, repetitions, begin[:-1])):
            part = slice(begin[k], begin[k + 1])
            executions = np.zeros(len(reduced.ranks), np.int64)
            executions[lane[part]] = repetitions[part]
            peers, peers_vary, offset = self._partners(members[part])
            calls.append(
                Call(
                    site=site[k],
                    operation=reduced.sites[site[k]].operation,
                    path=reduced.sites[site[k]].path,
                    ranks=self._ranks(lane[part]),
                    executions=executions,
                    probability=times[k] / iterations[k],
                    time_ns=means.time_ns,
                    time_spread_ns=means.time_spread_ns,
                    size_bytes=means.size_bytes,
                    size_spread_bytes=means.size_spread_bytes,
                    burst_ns=means.burst_ns,
                    counters=means.counters,
                    iteration_counters=means.iteration_counters,
                    peers=peers,
                    peers_vary=peers_vary,
                    offset=offset,
                    communicator=self._communicator(members[part]),
                    roots=self._ranks(lane[part][reduced.is_root[members[part]]]),
                )
            )
        return calls

    def _means(self, members: Integers, weights: Integers, begin: Integers) -> list[_Means]:
        reduced = self.reduced
        single = (reduced.time_ns, reduced.size_bytes, reduced.burst_ns)
        values = np.column_stack(
            [
                *(column[members] for column in single),
                reduced.burst_counters[members],
                reduced.iteration_counters[members],
            ]
        )
        spreads = np.column_stack(
            [reduced.time_spread_ns[members], reduced.size_spread_bytes[members]]
        )
        means, joined = pooled(values, spreads, weights, begin)
        return [
            self._as_means(row, spread)
            for row, spread in zip(means.tolist(), joined.tolist(), strict=True)
        ]

    def _as_means(self, values: list[float], spreads: list[float]) -> _Means:
        names = self.reduced.counters
        time_ns, size_bytes, burst_ns, *counters = values
        time_spread_ns, size_spread_bytes = spreads
        return _Means(
            time_ns=time_ns,
            time_spread_ns=time_spread_ns,
            size_bytes=_or_none(size_bytes),
            size_spread_bytes=_or_none(size_spread_bytes),
            burst_ns=_or_none(burst_ns),
            counters=_without_nan(names, counters[: len(names)]),
            iteration_counters=_without_nan(names, counters[len(names) :]),
        )

    def _ranks(self, lanes: Integers) -> tuple[int, ...]:
        return tuple(sorted(set(self.reduced.ranks[lanes].tolist())))

    def _partners(self, members: Integers) -> tuple[tuple[int, ...], bool, int | None]:
        pairs = [pair for pair in self.reduced.peer[members].tolist() if pair[0] != UNKNOWN]
        offsets = _all_of(self.reduced.offset[members].tolist()) - {UNKNOWN}
        return (
            tuple(sorted(_all_of(pairs))),
            any(low != high for low, high in pairs),
            offsets.pop() if len(offsets) == 1 else None,
        )

    def _communicator(self, members: Integers) -> str | None:
        numbers = set(self.reduced.communicator[members].tolist())
        if numbers == {UNKNOWN}:
            return None
        names = {self.communicators[number] for number in numbers if number != UNKNOWN}
        return names.pop() if len(names) == 1 else "several"


def _all_of(pairs: Iterable[Iterable[int]]) -> set[int]:
    return {value for pair in pairs for value in pair}


def _or_none(value: float) -> float | None:
    return None if isnan(value) else value


def _without_nan(names: Sequence[str], values: Sequence[float]) -> dict[str, float]:
    return {name: value for name, value in zip(names, values, strict=True) if not isnan(value)}


def pooled(
    means: Floats, spreads: Floats, weights: Integers, begin: Integers
) -> tuple[Floats, Floats]:
    """The mean and standard deviation of groups as if their members were one.

    >>> import numpy as np
    >>> column = np.array([[1.0], [3.0], [np.nan]])
    >>> mean, spread = pooled(column, np.zeros((3, 1)), np.array([3, 1, 5]), np.array([0]))
    >>> mean.item(), round(spread.item(), 3)
    (1.5, 0.866)
    """
    is_known = ~np.isnan(means)
    share = np.where(is_known, weights[:, None], 0)
    total = np.add.reduceat(share, begin).astype(np.float64)
    total[total == 0] = np.nan
    mean = np.add.reduceat(np.where(is_known, means, 0.0) * share, begin) / total
    group = np.repeat(np.arange(len(begin)), np.diff(begin, append=len(means)))
    spread = slice(spreads.shape[1])
    distance = np.nan_to_num(means[:, spread] - mean[group][:, spread])
    squares = (np.nan_to_num(spreads) ** 2 + distance**2) * share[:, spread]
    return mean, np.sqrt(np.add.reduceat(squares, begin) / total[:, spread])
