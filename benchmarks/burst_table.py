"""How fast a burst table is made, beside the same joins in a data frame library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from benchmarks.child import Measured, measure
from benchmarks.figures import Figure
from benchmarks.inputs import Input

JOINS: Final = "Polars, joins and sorts"
_RANKS: Final = 32
_ITERATIONS: Final = 38
"""A million bursts."""

_FULL: Final = 500_000_000
_MEGA: Final = 1e6


def burst_table(trace: Input) -> Iterator[Figure]:
    """Make the table of a million bursts, and weigh a row.

    The program is :mod:`benchmarks.conjugate`; of the trace only the size counts: below
    500 MB there are fewer bursts in proportion.
    """
    iterations = max(1, round(min(1.0, trace.bytes / _FULL) * _ITERATIONS))
    size = {"ranks": _RANKS, "iterations": iterations}
    joins = measure("burst_rows_by_joins", repeats=2, **size)
    ours = measure("burst_rows", repeats=3, **size)
    if ours.result["check"] != joins.result["check"]:
        raise SystemExit(f"concurrency: {ours.result} and {joins.result} differ")
    yield Figure("table", JOINS, _rate(joins), "million bursts/s")
    ratio = _rate(ours) / _rate(joins)
    yield Figure("table", "burst table", _rate(ours), "million bursts/s", ">= 1", JOINS, ratio)
    yield Figure("table", "a row", ours.result["row_bytes"], "bytes")
    peak = (ours.peak_bytes - ours.before_bytes) / ours.result["bursts"]
    yield Figure("table", "peak memory of a row, above the trace's", peak, "bytes")


def _rate(done: Measured) -> float:
    """Give millions of bursts a second of one core."""
    return done.result["bursts"] / done.cpu_s / _MEGA
