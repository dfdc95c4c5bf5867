"""How fast waits are told from a trace in memory, and how much memory a large profile takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from benchmarks.child import measure
from benchmarks.figures import Figure
from benchmarks.inputs import FULL, Input

_MEGA: Final = 1e6
_RANKS, _STEPS, _PLACES = 32, 14_000, 4
_MANY_RANKS, _MANY_STEPS, _MANY_PLACES = 1024, 2_125, 222
"""50 million events, 2,000 call paths."""
_LONG_STEPS: Final = 67_935
"""50 million events on the fewer ranks."""


def wait_speed(trace: Input) -> Iterator[Figure]:
    """Tell waits alone, and with the costs of delays and the critical path.

    An event is an enter, a leave, one of a message or of a collective: a second of CPU time of
    one core. Of the trace only the size counts: below 500 MB, runs are shorter in proportion.
    """
    part = min(1.0, trace.bytes / FULL)
    size = {"ranks": _RANKS, "iterations": max(2, round(part * _STEPS)), "places": _PLACES}
    for name, goal, has_causes in (
        ("waits alone", ">= 8", False),
        ("with causes", ">= 3", True),
    ):
        done = measure("waits", repeats=3, causes=has_causes, **size)
        rate = done.result["events"] / done.cpu_s / _MEGA
        yield Figure("waits", name, rate, "million events/s", goal)
    done = measure("clocks", repeats=3, ranks=_RANKS, iterations=size["iterations"])
    rate = done.result["events"] / done.cpu_s / _MEGA
    yield Figure("waits", "five logical clocks", rate, "million events/s", ">= 4")
    many = {
        "iterations": max(2, round(part * _MANY_STEPS)),
        "places": _MANY_PLACES,
        "causes": True,
    }
    done = measure("waits", ranks=_MANY_RANKS, **many)
    paths = f"{done.result['call_paths']:,} call paths on {_MANY_RANKS:,} ranks"
    rate = done.result["events"] / done.cpu_s / _MEGA
    yield Figure("waits", paths, rate, "million events/s")
    yield Figure("waits", f"memory of {paths}", done.peak_bytes / 2**30, "GiB", "<= 8")
    size["iterations"] = max(2, round(part * _LONG_STEPS))
    done = measure("waits", causes=True, clock="lt_bb", **size)
    name = f"memory of {done.result['events']:,} events on a logical clock"
    yield Figure("waits", name, done.peak_bytes / 2**30, "GiB", "<= 8")
