"""How much of a command is the work of single ranks, which workers could share.

    python -m experiments.workers.single_ranks A.store B.store

Prints Markdown: the processor time of commands in one process, the share of it in functions
that look at each rank alone, and what would be left of it if two workers shared these evenly
and nothing had to be sent. The profiler counts, too: many small functions seem longer than
they are.
"""

from __future__ import annotations

import cProfile
import io
import pstats
import sys
import tempfile
import time
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Final

from burstline.cli import main

_FOLDS: Final = {
    "summary.py:summed", "computing.py:bursts_summed", "histogram.py:bursts_binned",
    "matrix.py:messages_summed",
}  # fmt: skip
COMMANDS: Final = {
    "waits {first} --format json": {
        "summary.py:summed", "computation.py:with_computation", "tree.py:call_tree",
    },
    "report {first} -o {folder}/page.html": _FOLDS | {
        "computation.py:with_computation", "tree.py:call_tree",
        "source.py:_found", "source.py:_telling", "pieces.py:timeline_of",
    },
    "merge {first} {second} --dataset {folder}/bursts.parquet": {
        "matching.py:_aligned_rows", "bursts.py:burst_table",
    },
}  # fmt: skip


def measured(command: str, alone: set[str]) -> tuple[float, float]:
    """The processor time of a command, and that in some functions."""
    profile = cProfile.Profile(time.process_time)
    with redirect_stdout(io.StringIO()), suppress(SystemExit):
        profile.runcall(main, [*command.split(), "--quiet", "--threads", "1"])
    found = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    inside = sum(
        row[3] for (file, _, name), row in found.items() if f"{Path(file).name}:{name}" in alone
    )
    return max(row[3] for row in found.values()), inside


def run(first: str, second: str) -> None:
    """Print what each command takes."""
    print("| command | one process | of single ranks | two / one at best |")
    print("|---|---|---|---|")
    for command, alone in COMMANDS.items():
        with tempfile.TemporaryDirectory() as folder:
            words = command.format(first=first, second=second, folder=folder)
            whole_s, inside_s = measured(words, alone)
        cells = f"{whole_s:.1f} s | {inside_s:.1f} s | {1 - inside_s / whole_s / 2:.2f}"
        print(f"| {command.split()[0]} | {cells} |", flush=True)


if __name__ == "__main__":
    run(*sys.argv[1:3])
