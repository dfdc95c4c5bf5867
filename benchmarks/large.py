"""A trace much larger than the memory allowed: to a store, and an answer from there.

Only on demand: ``python -m benchmarks large --ranks 1024 --size 20G --memory 2G``.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.inputs import Input
from benchmarks.reading import command
from benchmarks.supervise import Watched, size_on_disk, watch


def large(trace: Input, memory: int) -> Iterator[Figure]:
    """Convert under a limit, then ``info`` from the store under the same."""
    folder = Path(tempfile.mkdtemp(prefix="store-", dir=trace.path.parent))
    try:
        store = folder / "run.store"
        words = command("convert", trace.path, store, "--memory", memory, "--quiet")
        done = watch(words, memory=memory, folder=folder)
        rate = trace.bytes / done.wall_s / 1e6
        yield Figure("large", "convert: rate", rate, "MB/s")
        yield from _resources("convert", done, memory)
        stored = size_on_disk(folder)
        growth = done.folder_bytes / stored
        name = "convert: most disk in use"
        yield Figure("large", name, done.folder_bytes / 1e9, "GB", "", "store", growth)

        words = command(
            "info", store, "--quick", "--memory", memory, "--format", "json", "--quiet"
        )
        done = watch(words, memory=memory)
        yield Figure("large", "info from the store: time", done.wall_s, "s")
        yield from _resources("info", done, memory)
        _agree(trace, json.loads(done.output))
    finally:
        shutil.rmtree(folder)


def _resources(name: str, done: Watched, memory: int) -> Iterator[Figure]:
    peak, bound = done.peak_bytes / 1e6, memory / 1e6
    label = f"{name}: peak resident memory, limited by {done.limited_by}"
    yield Figure("large", label, peak, "MB", f"<= {bound:.0f}")
    yield Figure("large", f"{name}: open files", done.open_files, "", "<= 511")


def _agree(trace: Input, found: dict[str, object]) -> None:
    """Refuse to quote figures of a wrong answer."""
    expected = trace.expected
    counts = {
        name: found[name] for name in ("states", "events", "communications", "collectives")
    }
    wanted = {name: expected[name] for name in counts}
    calls = found["calls"]
    counts["calls"] = {name: row["count"] for name, row in dict(calls).items()}  # type: ignore[call-overload]
    wanted["calls"] = expected["calls"]
    if counts != wanted:
        sys.exit(f"{trace.path}: found {counts}, expected {wanted}")
