"""Parameters that texts name in backticks, as options of the command line."""

from __future__ import annotations

import re
from typing import Final

_NAMED: Final = re.compile(r"`([a-z_]+)(?:=([^`\s]+))?`")
_OPTIONS: Final = {
    "start_ns": "--from",
    "end_ns": "--to",
    "application": "--app",
    "sample_hz": "--sample",
} | {
    name: f"--{name.replace('_', '-')}"
    for name in (
        "by", "call_cost", "calls", "correct", "counter", "counters", "dataset",
        "features", "format", "functions", "iterations", "leave_free", "loop",
        "memory", "min_match_rate", "min_share", "mpi", "openmp", "papi", "ranks", "scaling",
        "slowest", "stack_depth", "top", "without",
    )
}  # fmt: skip


def in_options(text: str) -> str:
    """A text with options in place of parameters; other names keep their backticks.

    >>> in_options("Take less (`start_ns=5`), or allow more (`memory`), not `this`.")
    'Take less (--from 5ns), or allow more (--memory), not `this`.'
    """
    return _NAMED.sub(_option, text)


def _option(named: re.Match[str]) -> str:
    name, value = named.groups()
    if name not in _OPTIONS:
        return named[0]
    unit = "ns" if name.endswith("_ns") else ""
    return _OPTIONS[name] + (f" {value}{unit}" if value else "")
