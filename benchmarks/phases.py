"""How fast phases are found in a trace in memory, and whether more processes cost more each."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean, pstdev
from typing import Any, Final

from benchmarks.child import measure
from benchmarks.figures import Figure
from benchmarks.inputs import FULL, Input

_MEGA: Final = 1e6
_RANKS: Final = (8, 16, 32, 64, 128, 256)
_ITERATIONS: Final = 2_000
"""Of 5 events: 10,000 events a process."""


def phase_speed(trace: Input) -> Iterator[Figure]:
    """Find phases in traces of more and more processes, with equally many events each.

    Of the trace only the size counts: below 500 MB, runs are shorter in proportion.
    """
    iterations = max(2, round(min(1.0, trace.bytes / FULL) * _ITERATIONS))
    runs = [
        measure("phases", ranks=ranks, iterations=iterations, times=_RANKS[-1] // ranks).result
        for ranks in _RANKS
    ]
    last = runs[-1]
    rate = last["events"] / (last["events_s"] + last["epas_s"]) / _MEGA
    yield Figure("phases", "events and their phases", rate, "million events/s", ">= 5")
    rate = last["events"] / last["epas_s"] / _MEGA
    yield Figure("phases", "phases of each process alone", rate, "million events/s")
    for method, published in (("epas", 0.42), ("pas2p", 0.98)):
        yield _variation(method, runs, published)
    for ranks, run in zip(_RANKS, runs, strict=True):
        ratio = run["pas2p_s"] / run["epas_s"]
        yield Figure("phases", f"pas2p, {ranks} ranks", run["pas2p_s"], "s", "", "epas", ratio)
    for name in ("messages", "agreements", "decisions"):
        yield Figure(
            "phases", f"{name} of pas2p in parallel, {_RANKS[-1]} ranks", last[name], "in all"
        )


def _variation(method: str, runs: list[dict[str, Any]], published: float) -> Figure:
    """How much the time of an event varies with the number of processes."""
    times = [run[f"{method}_s"] / run["events"] for run in runs]
    variation = pstdev(times) / fmean(times)
    name = f"{method}: time of an event, {_RANKS[0]} to {_RANKS[-1]} ranks"
    goal = f"<= {published}"
    return Figure(
        "phases", name, variation, "variation", goal, "the published", variation / published
    )
