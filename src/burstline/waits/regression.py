"""What a count of each counter takes, fitted to the time of computation.

A row of the fit is a call path on a thread: what was counted in its stretches, how many of
these there were, and how long they took. Of rows that counted the same, as in repetitions, the
one that took least counts, as what else runs on a machine only ever adds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from burstline.clocks import (
    CALLS,
    EffortModel,
    counts_of,
    non_negative,
    readings_of,
    share_explained,
)
from burstline.columns import Floats, Integers, take
from burstline.errors import NotEnoughDataError, ParameterError, printable
from burstline.model import Trace
from burstline.synchronisation import graph_of
from burstline.values import Contract, Documented
from burstline.waits.computation import with_computation
from burstline.waits.intrinsic import lengths, nodes_before
from burstline.waits.times import Nodes


@dataclass(frozen=True, slots=True)
class Fit(Documented):
    """An effort model that was fitted, and how well it tells the time."""

    model: EffortModel
    shares: dict[str, float]  # of the time that is modelled, by counter; 0: no information
    event_ns: float  # what an event takes besides, as to be recorded; no part of the model
    explained: float  # share of the time that the model tells at the right places, 0..1
    rows: int

    CONTRACT: ClassVar[Contract] = ("model", "shares", "event_ns", "explained", "rows")


def fitted(
    traces: Iterable[Trace],
    counters: Sequence[str],
    origin: str,
    calls: EffortModel | None = None,
) -> Fit:
    """The weights of counters, none negative, by which computation takes what it took.

    Calls of other code, and into the OpenMP runtime, take what a model says of them.
    """
    given = {} if calls is None else {n: w for n, w in calls.weights.items() if n in CALLS}
    names = [name for name in counters if name not in given]
    columns = [*given, *names]
    parts, costs = zip(*(_computed_counts(trace, columns) for trace in traces), strict=True)
    counts, times = _least_times(np.concatenate(parts))
    if not times.any():
        raise NotEnoughDataError("nothing is computed in these traces: there is no time to fit")
    left = np.maximum(0, times - counts[:, : len(given)] @ list(given.values()))
    free = non_negative(counts[:, len(given) :], left)
    weights = np.array([*given.values(), *free])
    modelled = counts * weights
    by_name = dict(zip(columns, weights.tolist(), strict=False))
    if not any(by_name[name] for name in names):
        raise NotEnoughDataError(
            f"{', '.join(names)}: no information on the time of computation. Name other "
            "counters (`counter`)"
        )
    if calls is None:
        ns = np.concatenate(costs)
        openmp_call = float(np.median(ns)) if len(ns) else 0.0
    else:
        openmp_call = calls.openmp_call
    shares = (modelled.sum(axis=0) / max(float(modelled.sum()), 1.0)).tolist()
    return Fit(
        EffortModel.of(by_name, openmp_call, origin),
        dict(zip(by_name, shares, strict=False)),
        float(weights[-1]),
        share_explained(times, modelled.sum(axis=1)),
        len(times),
    )


def _computed_counts(trace: Trace, counters: Sequence[str]) -> tuple[Floats, Integers]:
    """Counts, stretches and ns of computing call paths by thread; ns of calls into OpenMP."""
    if missing := [name for name in counters if name not in trace.counter_names]:
        raise NotEnoughDataError(
            f"{', '.join(map(printable, missing))}: not recorded in each of these traces. "
            f"Record the program anew: burstline record `counters={','.join(counters)}`"
        )
    if trace.metadata.get("unit", "ns") != "ns":
        raise ParameterError("a model is fitted to time, and this trace is on a logical clock")
    graph = with_computation(graph_of(trace))
    trace, sync, nodes = graph.trace, graph.sync, Nodes(graph.tree.nodes)
    readings = readings_of(trace)
    counts = counts_of(trace, readings, counters)
    node, length = nodes_before(trace, sync, readings), lengths(trace, readings)
    forks, joins = (
        readings.exact(*trace.arrays("teams", "fork_location", f"{name}_seq"))[0]
        for name in ("fork", "join")
    )
    # Behind a fork, and between the end of a region and the join, only the runtime works.
    forked = forks[forks + 1 < len(readings)] + 1
    in_runtime = np.concatenate([forked, joins])
    computes = nodes.computes
    is_computed = np.asarray(take(computes, node, missing=False))
    is_computed[in_runtime] = False
    row = np.flatnonzero(is_computed)
    place = readings.location[row] * np.int64(max(len(nodes), 1)) + node[row]
    places, key = np.unique(place, return_inverse=True)
    values = [*(column[row] for column in counts), np.ones(len(row)), length[row]]
    sums = [np.bincount(key, value, minlength=len(places)) for value in values]
    return np.stack(sums, axis=1), length[in_runtime]


def _least_times(rows: Floats) -> tuple[Floats, Floats]:
    counts, place = np.unique(rows[:, :-1], axis=0, return_inverse=True)
    times = np.full(len(counts), np.inf)
    np.minimum.at(times, place.reshape(-1), rows[:, -1])
    return counts, times
