"""What commands take of a processor, in one process, and beside workers and in them.

    python -m experiments.workers.processor_time X.store [times]
    python -m experiments.workers.processor_time X.prv [times]      of its conversion

Prints Markdown: the least of some runs each. The last column is what is left of the time of one
worker where two share its work evenly; other work on the machine changes it little.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from burstline.distribution import workers_of
from experiments.workers.scale import COMMANDS, MEMORY, SURROUNDINGS

OF_STORES: Final = (
    *COMMANDS,
    "waits {store} --format json -o {folder}/waits.cubex",
    "report {store} -o {folder}/page.html",
)
CONVERSIONS: Final = (
    "convert {store} {folder}/made.store --memory 2G",
    "convert {store} {folder}/made.store --memory 2G --no-raw",
)
_TICKS: Final = os.sysconf("SC_CLK_TCK")


def spent_s(process: int) -> float:
    """The processor time that a process has taken so far."""
    words = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / _TICKS


def of_children_s() -> float:
    """The processor time of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(command: str, store: Path, *options: str) -> float:
    """Run a command; give its own processor time."""
    begin = of_children_s()
    with tempfile.TemporaryDirectory() as folder:
        words = command.format(store=store, folder=folder).split()
        own = [sys.executable, "-m", "burstline", *words, *options, "--quiet"]
        subprocess.run(own, stdout=subprocess.DEVNULL, check=True, env=SURROUNDINGS)
    return of_children_s() - begin


def measured(store: Path, times: int) -> None:
    """Print what each command takes."""
    print("| command | one process | beside workers | in workers | two / one |")
    print("|---|---|---|---|---|")
    for command in OF_STORES if store.suffix == ".store" else CONVERSIONS:
        alone = min(run(command, store) for _ in range(times))
        with workers_of("local:1", memory=MEMORY) as standing:
            (process,) = standing.client.run(os.getpid).values()
            found = []
            for _ in range(times):
                before = spent_s(process)
                beside = run(command, store, "--scheduler", standing.address)
                found.append((beside, spent_s(process) - before))
        beside, inside = (min(each) for each in zip(*found, strict=True))
        left = (beside + inside / 2) / (beside + inside)
        print(
            f"| {command.split()[0]} | {alone:.1f} s | {beside:.1f} s | {inside:.1f} s "
            f"| {left:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    measured(Path(sys.argv[1]), int([*sys.argv[2:], "3"][0]))
