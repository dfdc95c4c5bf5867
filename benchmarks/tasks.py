"""What children measure: each function prepares, and returns what is to be timed."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.burst_table_tasks import burst_rows, burst_rows_by_joins
from benchmarks.matching_tasks import (
    match_by_difflib,
    match_equal,
    match_stores,
    match_tokens,
    write_runs,
)
from benchmarks.otf2 import otf2_columns, otf2_loop, otf2_pipit, otf2_read
from benchmarks.phases_tasks import phases
from benchmarks.plain import column_loop, line_loop, trace_loop
from benchmarks.raw_files import copy_raw, least_raw, read_raw, store_raw
from benchmarks.report_tasks import report_page
from benchmarks.structure_tasks import call_loop, detection, read_and_detect, reduction
from benchmarks.waits_tasks import clocks, waits

Task = Callable[[], dict[str, Any]]

__all__ = [
    "burst_rows",
    "burst_rows_by_joins",
    "call_loop",
    "clocks",
    "column_loop",
    "command",
    "copy_raw",
    "detection",
    "least_raw",
    "line_loop",
    "match_by_difflib",
    "match_equal",
    "match_stores",
    "match_tokens",
    "otf2_columns",
    "otf2_loop",
    "otf2_pipit",
    "otf2_read",
    "phases",
    "read",
    "read_and_detect",
    "read_raw",
    "reduction",
    "report_page",
    "scan",
    "store_raw",
    "trace_loop",
    "waits",
    "write_runs",
]


def scan(path: str, warm_up: str, threads: int) -> Task:
    """Go over the bytes in blocks, all fields parsed, nothing kept."""
    from burstline.formats import paraver  # noqa: PLC0415 -- in the child

    paraver.scan(Path(warm_up), threads=threads)
    return lambda: dict(paraver.scan(Path(path), threads=threads))


def read(path: str, warm_up: str, threads: int, raw: bool) -> Task:  # noqa: FBT001 -- from JSON
    """Read a trace whole."""
    import burstline  # noqa: PLC0415 -- in the child
    from burstline.model import schema  # noqa: PLC0415 -- in the child

    burstline.read(Path(warm_up), raw=raw, threads=threads)

    def run() -> dict[str, Any]:
        trace = burstline.read(Path(path), raw=raw, threads=threads)
        names = [name for name in schema.TABLES if name in trace]
        return {
            "arrow_bytes": sum(trace.table(name).nbytes for name in names),
            "rows": {name: trace.table(name).num_rows for name in names},
        }

    return run


def command(warm_up: list[str], words: list[str]) -> Task:
    """Run a command of burstline a second time: the first has imported everything."""
    from burstline.cli import main  # noqa: PLC0415 -- in the child

    def run_quietly(words: list[str]) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            main(words)

    run_quietly(warm_up)

    def run() -> dict[str, Any]:
        run_quietly(words)
        return {"modules": sorted({name.partition(".")[0] for name in sys.modules})}

    return run
