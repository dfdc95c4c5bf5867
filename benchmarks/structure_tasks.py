"""What children measure of loop detection: each function prepares, and returns the work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

from benchmarks.conjugate import in_memory
from burstline import Trace
from burstline.structure.reduction import Reduced

Task = Callable[[], dict[str, Any]]

__all__ = ["call_loop", "detection", "read_and_detect", "reduction"]


def call_loop(ranks: int, iterations: int) -> Task:
    """Reduce calls in a plain Python loop: what takes the published tool most of its time.

    Repetitions, times, mean and deviation of durations, partners; counters are left out.
    """
    table = in_memory(ranks, iterations).table("calls")
    names = ("location", "operation", "call_path", "enter_ns", "leave_ns", "peer")
    columns = [table[name].to_pylist() for name in names]

    def run() -> dict[str, Any]:
        found: dict[tuple[Any, ...], tuple[list[int], list[int], set[int]]]
        found = defaultdict(lambda: ([], [], set()))
        for location, operation, path, enter, leave, peer in zip(*columns, strict=True):
            begins, durations, peers = found[location, operation, path]
            begins.append(enter)
            durations.append(leave - enter)
            peers.add(peer)
        spread = [(fmean(took), pstdev(took)) for _, took, _ in found.values()]
        return {"calls": table.num_rows, "unique": len(spread)}

    return run


def reduction(ranks: int, iterations: int) -> Task:
    """Reduce the calls of a trace to unique ones."""
    from burstline.identity import sites_of  # noqa: PLC0415 -- in the child
    from burstline.structure import Calls  # noqa: PLC0415 -- in the child
    from burstline.structure.reduction import reduce_to_sites  # noqa: PLC0415 -- in the child

    def reduced_calls(trace: Trace) -> Reduced:
        calls = Calls(trace, None)
        return reduce_to_sites(trace, calls, sites_of(trace, calls.row, calls.world_size))

    trace = in_memory(ranks, iterations)
    reduced_calls(in_memory(2, 1))

    def run() -> dict[str, Any]:
        reduced = reduced_calls(trace)
        return {"calls": len(reduced.sequence), "unique": len(reduced.lane)}

    return run


def detection(ranks: int, iterations: int, method: str) -> Task:
    """Find the loops of a trace."""
    from burstline.structure import detect  # noqa: PLC0415 -- in the child

    trace = in_memory(ranks, iterations)
    detect(in_memory(2, 1), method=method)
    return lambda: _said(detect(trace, method=method))


def read_and_detect(path: str, warm_up: str, method: str) -> Task:
    """Read a trace, and find its loops."""
    import burstline  # noqa: PLC0415 -- in the child
    from burstline.structure import detect  # noqa: PLC0415 -- in the child

    detect(burstline.read(Path(warm_up), raw=False), method=method)
    return lambda: _said(detect(burstline.read(Path(path), raw=False), method=method))


def _said(found: Any) -> dict[str, Any]:
    from burstline.structure import walk  # noqa: PLC0415 -- in the child

    return {
        "calls": found.calls,
        "unique": found.unique_calls,
        "nodes": sum(1 for _ in walk(found.items)),
        "fidelity": found.fidelity,
    }
