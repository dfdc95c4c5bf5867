"""Several runs of one program, as the commands that compare runs read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import burstline
from burstline import formats, merge, show
from burstline.cli.inputs.budget import require
from burstline.cli.inputs.options import memory_budget, thread_count
from burstline.errors import (
    InconsistentTraceError,
    MemoryBudgetError,
    NotEnoughDataError,
    printable,
)
from burstline.formats import paraver

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from burstline.progress import Progress
    from burstline.trace import Trace


def warn_of_twins(paths: Sequence[Path]) -> None:
    """Say which run is given twice: it agrees with itself in everything."""
    for number, path in enumerate(paths):
        for other in paths[:number]:
            if path.exists() and other.exists() and path.samefile(other):
                show.note(f"warning: {path} is given twice; nothing is learned from that")


def warn_of_losses(paths: Sequence[Path], traces: Sequence[Trace]) -> None:
    """Say which runs lack something that was lost on the way to us."""
    for path, trace in zip(paths, traces, strict=True):
        lost = [row for row in trace.defects.to_pylist() if row["severity"] != "info"]
        if lost:
            told = ", ".join(f"{row['kind']} ({row['count']:,} times)" for row in lost)
            show.note(f"warning: {path}: {printable(told)}. See: burstline info {path}")


def read_runs(
    paths: Sequence[Path], arguments: argparse.Namespace, progress: Progress
) -> list[Trace]:
    """Read the runs, and refuse those of different numbers of ranks by name."""
    memory = formats.memory_each(memory_budget(arguments), len(paths))
    threads = thread_count(arguments)
    traces = []
    have_loops = all(_tells_loops(path) for path in paths)
    for path in paths:
        trace = _read(
            path, have_loops=have_loops, memory=memory, threads=threads, progress=progress
        )
        have_loops &= trace.has_raw
        tables = ("calls", "messages", "bursts")
        traces.append(require(trace, memory, tables=tables, copies=1, region={}))
    for path, trace in zip(paths, traces, strict=True):
        if not trace.rows("bursts"):
            raise NotEnoughDataError(f"{path} has no bursts: no thread of it makes two calls")
    ranks = [len(set(zip(*_processes(trace), strict=True))) for trace in traces]
    if len(set(ranks)) > 1:
        told = ", ".join(f"{path}: {count}" for path, count in zip(paths, ranks, strict=True))
        raise InconsistentTraceError(
            f"the runs have different numbers of ranks ({told}). Only runs of one program on "
            "as many ranks can be merged"
        )
    return traces


def _tells_loops(path: Path) -> bool:
    """Whether a run may say which loop a call is in: among its records, if it has any."""
    if not path.name.endswith((".prv", ".prv.gz")):
        return True
    labels, _ = paraver.companion_paths(path)
    known = paraver.read_pcf(labels.read_bytes()).types if labels.is_file() else {}
    return not known.keys().isdisjoint(merge.LOOP_TYPES)


def _read(
    path: Path, *, have_loops: bool, memory: int, threads: int, progress: Progress
) -> Trace:
    """Read a run; its records only where they tell of loops, and fit."""
    if have_loops:
        try:
            return burstline.read(path, memory=memory, threads=threads, progress=progress)
        except MemoryBudgetError:
            show.note(
                f"warning: {path} is read without its loops: allow more memory (--memory)"
            )
    return burstline.read(path, raw=False, memory=memory, threads=threads, progress=progress)


def _processes(trace: Trace) -> tuple[list[int], list[int]]:
    application, rank = trace.arrays("locations", "application", "rank")
    return application.tolist(), rank.tolist()
