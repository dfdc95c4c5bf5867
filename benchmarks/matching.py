"""How fast bursts of several runs are matched, and that the time grows as the runs do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Final

from benchmarks.child import Measured, measure
from benchmarks.figures import Figure
from benchmarks.inputs import FULL, Input

DIFFLIB: Final = "difflib, labels of a thread"
_MEGA: Final = 1e6
_GIGA: Final = 2**30
_THREADS: Final = 20
_OF_DIFFLIB: Final = 4_000
_SHORT: Final = 60_000
_EQUAL: Final = 500_000
_RANKS: Final = 32
_RUNS: Final = 3
_ITERATIONS: Final = 209
"""5.5 million bursts, as the largest run of the published work."""


def matching(trace: Input) -> Iterator[Figure]:
    """Match threads, runs of growing length, equal bursts, and runs from stores.

    Of the trace only the size counts: below 500 MB there are fewer bursts in proportion.
    """
    part = min(1.0, trace.bytes / FULL)
    by_difflib = _rate(measure("match_by_difflib", bursts=_OF_DIFFLIB))
    yield Figure("matching", DIFFLIB, by_difflib, "million bursts/s")
    one = {"runs": 2, "threads": 1, "bursts": _OF_DIFFLIB}
    alike = _rate(measure("match_tokens", repeats=3, method="align", **one))
    ratio = alike / by_difflib
    yield Figure("matching", "the same, align", alike, "million bursts/s", "", DIFFLIB, ratio)
    yield from _growth(max(600, round(part * _SHORT)), by_difflib)
    yield from _equal(max(600, round(part * _EQUAL)))
    yield from _stores(trace, max(1, round(part * _ITERATIONS)))


def _growth(bursts: int, by_difflib: float) -> Iterator[Figure]:
    """Match runs of some length, and of five times that."""
    for method in ("align", "seed"):
        found = []
        for times in (1, 5):
            size = {"runs": _RUNS, "threads": _THREADS, "bursts": times * bursts}
            done = measure("match_tokens", method=method, **size)
            rate, name = _rate(done), f"{method}, {done.result['bursts'] / _MEGA:.3g} million"
            ratio = rate / by_difflib
            yield Figure("matching", name, rate, "million bursts/s", "", DIFFLIB, ratio)
            found.append(rate)
        goal = ">= 0.8" if method == "align" else ""
        yield Figure("matching", f"{method}, five times the run", found[1] / found[0], "", goal)


def _equal(bursts: int) -> Iterator[Figure]:
    """Match bursts that are all alike: nothing but their places tells them apart."""
    for method in ("align", "seed"):
        done = measure("match_equal", bursts=bursts, method=method)
        yield Figure("matching", f"{method}, {bursts:,} equal bursts", done.wall_s, "s")


def _stores(trace: Input, iterations: int) -> Iterator[Figure]:
    """Read runs from stores and match them; with all counters there are, as one command."""
    folder = trace.path.parent / "runs"
    folder.mkdir()
    size = {"runs": _RUNS, "ranks": _RANKS, "iterations": iterations}
    measure("write_runs", folder=str(folder), **size)
    paths = [str(folder / f"conjugate_run{run}.store") for run in range(1, _RUNS + 1)]
    for method in ("align", "seed"):
        done = measure("match_stores", paths=paths, method=method)
        name = f"{method}, {_RUNS} stores, {done.result['bursts'] / _MEGA:.3g} million bursts"
        goals = ("<= 60", "<= 8") if method == "align" else ("", "")
        yield Figure("matching", name, done.wall_s, "s", goals[0])
        yield Figure(
            "matching", f"memory of that, {method}", done.peak_bytes / _GIGA, "GiB", goals[1]
        )
    shutil.rmtree(folder)


def _rate(done: Measured) -> float:
    """Give millions of bursts a second."""
    return done.result["bursts"] / done.wall_s / _MEGA
