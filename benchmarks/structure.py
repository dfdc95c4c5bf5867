"""How fast loops are found, in how much memory, and how little is left of a long run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from benchmarks.child import Measured, measure
from benchmarks.conjugate import ITERATIONS_OF_CLASS_A, write_prv
from benchmarks.figures import Figure
from benchmarks.inputs import FULL, Input

LOOP: Final = "Python loop over calls"
_RANKS: Final = 32
_LONG: Final = 6 * ITERATIONS_OF_CLASS_A
_LOOP_RANKS: Final = 4
_MEGA: Final = 1e6
_SLOWEST_OF_SEED_S: Final = 148.0
"""What the published tool needs for the reduction of CG class A on 32 ranks, by its thesis."""


def structure(trace: Input) -> Iterator[Figure]:
    """Reduce, detect with each method, read and detect, and compare two lengths of a run.

    The program is :mod:`benchmarks.conjugate`; of the trace only the size counts: below
    500 MB, runs are shorter in proportion.
    """
    part = min(1.0, trace.bytes / FULL)
    iterations = max(1, round(part * _LONG))
    loop = _rate(measure("call_loop", ranks=_LOOP_RANKS, iterations=max(1, iterations // 8)))
    yield Figure("structure", LOOP, loop, "million calls/s")
    yield from _speed(iterations, loop)
    yield from _reading(trace, max(1, round(part * ITERATIONS_OF_CLASS_A)))
    yield from _growth(max(1, iterations // 4))


def _speed(iterations: int, loop: float) -> Iterator[Figure]:
    """Measure calls a second: of the reduction, of each method, of all together."""
    from burstline.structure import METHODS  # noqa: PLC0415 -- no benchmark needs all

    size = {"ranks": _RANKS, "iterations": iterations}
    rate = _rate(measure("reduction", repeats=3, **size))
    yield Figure("structure", "reduction", rate, "million calls/s", "", LOOP, rate / loop)
    seconds = 0.0
    for method in METHODS:
        done = measure("detection", repeats=3, method=method, **size)
        rate = _rate(done)
        name = f"detection, {method}"
        yield Figure("structure", name, rate, "million calls/s", "", LOOP, rate / loop)
        yield Figure("structure", f"fidelity, {method}", done.result["fidelity"], "")
        seconds += 0.0 if method == "auto" else 1 / rate
    goal = ">= 2"
    yield Figure(
        "structure", "every method, one after the other", 1 / seconds, "million calls/s", goal
    )


def _reading(trace: Input, iterations: int) -> Iterator[Figure]:
    """From the bytes of a .prv to its loops, in one process."""
    path = trace.path.with_name("conjugate.prv")
    small = trace.path.with_name("conjugate_small.prv")
    calls = write_prv(path, _RANKS, iterations)
    write_prv(small, 2, 1)
    done = measure(
        "read_and_detect", repeats=2, path=str(path), warm_up=str(small), method="auto"
    )
    if done.result["calls"] != calls:
        raise SystemExit(f"{path}: {done.result['calls']} calls found, {calls} written")
    name = "CG class A, 32 ranks: read and detected"
    ratio = done.wall_s / _SLOWEST_OF_SEED_S
    yield Figure("structure", name, done.wall_s, "s", "<= 1", "the published tool's", ratio)
    peak = (done.peak_bytes - done.before_bytes) / path.stat().st_size
    yield Figure("structure", "memory of that above start", peak, "of the .prv's")


def _growth(iterations: int) -> Iterator[Figure]:
    """Memory of a call and nodes of the program, for a run and one four times as long."""
    found = []
    for times in (1, 4):
        done = measure("detection", ranks=_RANKS, iterations=times * iterations, method="auto")
        per_call = (done.peak_bytes - done.before_bytes) / done.result["calls"]
        name = f"memory of a call, {done.result['calls'] / _MEGA:.2g} million"
        yield Figure("structure", name, per_call, "bytes")
        found.append((per_call, done.result["nodes"]))
    (short, few), (long, many) = found
    yield Figure(
        "structure", "memory of a call, four times the run", long / short, "times", "<= 1.1"
    )
    yield Figure("structure", "nodes", few, "nodes")
    yield Figure("structure", "nodes, four times the run", many / few, "times", "<= 1")


def _rate(done: Measured) -> float:
    """Give millions of calls a second of one core."""
    return done.result["calls"] / done.cpu_s / _MEGA
