"""Runs that were matched, written as one Paraver trace with the counters of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from burstline import columns, formats, merge
from burstline.errors import NotEnoughDataError, printable
from burstline.formats import atomic, paraver
from burstline.formats.paraver import WantedCounter
from burstline.merge import FusedCounter, Fusion
from burstline.model import Trace
from burstline.progress import SILENCE, Progress

Run = tuple[Path, Trace]


def write_merged(
    runs: Sequence[Run],
    fused: Fusion,
    target: Path,
    *,
    memory: int,
    progress: Progress = SILENCE,
) -> None:
    """Write the base of a merge as a Paraver trace, with the counters that it has not."""
    base = runs[fused.base][1]
    with _as_paraver(runs[fused.base], target, memory, progress) as source:
        counters = paraver.added_types(
            [_wanted(one, runs[one.runs[0]]) for one in fused.added],
            paraver.type_labels(source, base),
        )
        values = [columns.to_numpy(fused.table[one.column]) for one in fused.added]
        location, end_ns = base.arrays("bursts", "location", "end_ns")
        own = base.counters["source_type"].to_pylist()
        additions = paraver.Additions(location, end_ns, counters, values, own)
        paraver.splice(source, target, additions, progress=progress)


@contextmanager
def _as_paraver(run: Run, target: Path, memory: int, progress: Progress) -> Iterator[Path]:
    """The base as a Paraver file: itself, or its records written beside the output."""
    path, trace = run
    if formats.is_prv(path):
        yield path
        return
    if not trace.has_raw:
        raise NotEnoughDataError(
            f"{path} is the base, and it has no records. {_way_to_records(path, trace)}, or "
            "write a table alone (`dataset`)"
        )
    with atomic.scratch(target) as folder:
        written = folder / "base.prv"
        paraver.write(trace, written, memory=memory, progress=progress)
        yield written


def _way_to_records(path: Path, trace: Trace) -> str:
    """How to come by records: an archive was made from no ``.prv``, but becomes one."""
    source = trace.metadata.get("path", "") if trace.metadata.get("format") == "otf2" else ""
    if source:
        archive = printable(str(source if trace.is_stored else path))
        return f"Make one that has: burstline convert {archive} run.prv, and give that"
    return "Give the .prv that it was made from, convert that again with its records"


def _wanted(one: FusedCounter, run: Run) -> WantedCounter:
    """What a counter is in the run it is from."""
    path, trace = run
    name = merge.counter_columns(trace.counter_names)[one.counter]
    number = next(
        row["source_type"] for row in trace.counters.to_pylist() if row["name"] == name
    )
    prefix = one.column.removesuffix(one.counter)
    label = paraver.type_labels(path, trace).get(number, "")
    return paraver.WantedCounter(f"{prefix}{name}", name, number, label)
