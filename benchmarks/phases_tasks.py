"""What children measure of phases: the function prepares, and returns the work."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.waits_tasks import in_memory, with_counters
from burstline import Trace
from burstline.columns import coded

Task = Callable[[], dict[str, Any]]

__all__ = ["phases"]


def phases(ranks: int, iterations: int, times: int) -> Task:
    """Find phases by both published methods: the least of three times, of some rounds each."""
    from burstline.signature import epas, events_of, pas2p  # noqa: PLC0415 -- in the child

    trace = with_work(ranks, iterations)

    def run() -> dict[str, Any]:
        events = events_of(trace)
        work: dict[str, Callable[[], object]] = {
            "events_s": lambda: events_of(trace),
            "epas_s": lambda: [epas(events, process) for process in range(ranks)],
            "pas2p_s": lambda: pas2p(trace, events),
        }
        best = {name: min(_seconds(do, times) for _ in range(3)) for name, do in work.items()}
        _, coordination = pas2p(trace, events)
        return best | {
            "events": len(events.row),
            "messages": coordination.messages,
            "agreements": coordination.agreements,
            "decisions": coordination.decisions,
        }

    return run


def _seconds(do: Callable[[], object], times: int) -> float:
    """CPU time of one of some rounds."""
    begin = time.process_time()
    for _ in range(times):
        do()
    return (time.process_time() - begin) / times


def with_work(ranks: int, iterations: int) -> Trace:
    """A run along a ring, with work between calls, and the partners of sends."""
    from burstline.model import Trace, bursts_of, schema  # noqa: PLC0415 -- in the child

    trace = with_counters(in_memory(ranks, iterations, 4))
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}
    calls = tables["calls"]
    codes, names = coded(calls["operation"])
    operation = np.array(names)[codes]
    partner = (calls["location"].to_numpy() + 1) % ranks
    columns = {
        "peer": (partner, operation != "MPI_Send"),
        "communicator": (np.zeros(len(codes)), np.isin(operation, ["MPI_Init", "MPI_Wait"])),
    }
    for name, (values, absent) in columns.items():
        column = pa.array(values.astype(np.int32), mask=absent)
        calls = calls.set_column(calls.column_names.index(name), name, column)
    tables["calls"] = calls
    return Trace(tables | {"bursts": bursts_of(tables)})
