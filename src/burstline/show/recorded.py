"""What ``burstline record --profile`` says at its end: the calls of a run, by operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burstline.show import terminal
from burstline.show.units import format_ns, format_share

if TYPE_CHECKING:
    from collections.abc import Mapping


def print_counted(calls: Mapping[str, tuple[int, int]]) -> None:
    """Print how often each operation was called, and how long that took."""
    total_ns = sum(time_ns for _, time_ns in calls.values())
    rows = [
        (
            name,
            f"{count:,}",
            format_ns(time_ns),
            format_share(time_ns / total_ns if total_ns else None),
            format_ns(time_ns // count),
        )
        for name, (count, time_ns) in calls.items()
    ]
    names = ("operation", "calls", "time", "of MPI time", "mean")
    terminal.print_table(names, rows, title="MPI calls, the most time first")
