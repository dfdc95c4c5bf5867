"""How much of a command is the work of single ranks, which workers could share.

    python -m experiments.workers.single_ranks A.store B.store

Prints Markdown: the processor time of commands in one process, the share of it in functions
that look at each rank alone, of those that workers share and of the others, and what would be
left of it if two workers shared these others evenly, too, and nothing had to be sent. The
profiler counts, too: many small functions seem longer than they are.
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

_OF_LOOPS: Final = {"source.py:_found", "source.py:_telling"}
SHARED: Final = {"summary.py:summed"} | _OF_LOOPS | {
    "computing.py:bursts_summed", "histogram.py:bursts_binned", "matrix.py:messages_summed",
}  # fmt: skip
"""What workers do of commands that take `--scheduler`."""
COMMANDS: Final = {
    "waits {first} --format json": {"computation.py:with_computation", "tree.py:call_tree"},
    "report {first} -o {folder}/page.html": {
        "tree.py:call_tree", "pieces.py:timeline_of", "pyramid.py:summed_columns",
        "costs.py:loop_table",
    },
    "merge {first} {second} --dataset {folder}/bursts.parquet": {
        "matching.py:_aligned_rows", "bursts.py:burst_table",
    },
}  # fmt: skip
"""What else looks at each rank alone; a timeline finds computing between calls, too."""


def measured(command: str, alone: set[str]) -> tuple[float, float, float]:
    """The processor time of a command, and that in what is shared and in other functions."""
    profile = cProfile.Profile(time.process_time)
    with redirect_stdout(io.StringIO()), suppress(SystemExit):
        profile.runcall(main, [*command.split(), "--quiet", "--threads", "1"])
    found = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    spent = [(f"{Path(file).name}:{name}", row[3]) for (file, _, name), row in found.items()]
    shared, others = (
        sum(time_s for name, time_s in spent if name in names) for names in (SHARED, alone)
    )
    return max(time_s for _, time_s in spent), shared, others


def run(first: str, second: str) -> None:
    """Print what each command takes."""
    print("| command | one process | shared out | others of single ranks | two / one at best |")
    print("|---|---|---|---|---|")
    for command, alone in COMMANDS.items():
        with tempfile.TemporaryDirectory() as folder:
            words = command.format(first=first, second=second, folder=folder)
            whole_s, shared_s, others_s = measured(words, alone)
        left = 1 - others_s / whole_s / 2
        cells = f"{whole_s:.1f} s | {shared_s:.1f} s | {others_s:.1f} s | {left:.2f}"
        print(f"| {command.split()[0]} | {cells} |", flush=True)


if __name__ == "__main__":
    run(*sys.argv[1:3])
