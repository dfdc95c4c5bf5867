"""Several runs of one program, as the commands that compare runs read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import burstline
from burstline import formats, show
from burstline.cli.inputs.memory import memory_budget, require
from burstline.cli.inputs.options import thread_count
from burstline.errors import InconsistentTraceError, NotEnoughDataError, printable

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
    traces, has_loops = [], True
    for path in paths:
        trace = burstline.read(
            path, raw=False, memory=memory, threads=threads, progress=progress
        )
        if has_loops and "loops_left_out" in trace.defects["kind"].to_pylist():
            show.note(
                f"warning: {path} is read without its loops: allow more memory (--memory)"
            )
            has_loops = False
        tables = ("calls", "messages", "bursts")
        traces.append(require(trace, memory, tables=tables, copies=1, region={}))
    for path, trace in zip(paths, traces, strict=True):
        if not trace.rows("bursts"):
            raise NotEnoughDataError(f"{path} has no bursts: no thread of it makes two calls")
    require_as_many_ranks(paths, traces, "merged")
    return traces


def require_as_many_ranks(
    paths: Sequence[Path | str], traces: Sequence[Trace], aim: str
) -> None:
    """Refuse runs of different numbers of ranks by name; `aim` is what they cannot be."""
    places = [trace.locations.select(["application", "rank"]) for trace in traces]
    ranks = [len({tuple(row.values()) for row in place.to_pylist()}) for place in places]
    if len(set(ranks)) > 1:
        told = ", ".join(f"{path}: {count}" for path, count in zip(paths, ranks, strict=True))
        raise InconsistentTraceError(
            f"the runs have different numbers of ranks ({told}). Only runs of one program on "
            f"as many ranks can be {aim}"
        )
