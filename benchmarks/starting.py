"""What one pays before and around the work: start-up, and a first answer."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from benchmarks.child import measure
from benchmarks.figures import Figure
from benchmarks.inputs import Input
from benchmarks.reading import command
from benchmarks.supervise import watch

_REPEATS: Final = 10
_UNWELCOME: Final = ("polars", "sklearn", "scipy", "pandas")


def help_text(_: Input) -> Iterator[Figure]:
    """CPU time of ``burstline --help``, the least of ten runs."""
    ours = min(watch(command("--help")).cpu_s for _ in range(_REPEATS))
    bare = min(watch([sys.executable, "-c", "pass"]).cpu_s for _ in range(_REPEATS))
    name, baseline = "CPU time", "python -c pass"
    yield Figure("help", name, ours, "s", "<= 0.1", baseline, ours / bare)


def info(trace: Input) -> Iterator[Figure]:
    """CPU time of ``info --quick`` once everything is imported, and what it imported."""
    last = ["--format", "json", "--quiet"]
    words, warm_up = (
        ["info", "--quick", str(path), *last] for path in (trace.path, trace.small)
    )
    done = measure("command", repeats=3, warm_up=warm_up, words=words)
    per_100_mb = done.cpu_s * 1e8 / trace.bytes
    name = "CPU time after imports, per 100 MB"
    yield Figure("info", name, per_100_mb, "s", "<= 1.2")
    unwelcome = sum(name in _UNWELCOME for name in done.result["modules"])
    yield Figure("info", "unwelcome imports", unwelcome, "", "<= 0")
