"""What commands cost by the size of a store, in one process and shared out, and projected.

    python -m experiments.workers.scale A.store B.store … [--ranks N --calls N]

Prints Markdown: wall time and memory of one process with its threads, of one worker and of two
with one thread each, which stand when the command begins; and what a larger run would take. The
model is what a command takes for each call and each rank, in workers and beside them: fitted to
all stores but the largest, and checked by that one. Give four or more.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

import burstline
from burstline.distribution import workers_of

COMMANDS = (
    "info {store} --quick",
    "matrix {store} --format json",
    "phases {store} --format json",
    "structure {store} --format json",
    "table {store} -o {folder}/bursts.parquet",
)
MEMORY = 2 << 30
# As before there are workers: Dask sets variables that slow down what is started later. And
# modules are compiled once, as where they are installed.
SURROUNDINGS = {
    name: word for name, word in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}
SAID = re.compile(r"busy for ([\d., ]+) s, at most ([\d.]+) (\w?B)")
UNITS = {"kB": 1e-6, "MB": 1e-3, "GB": 1.0}


class Cost(NamedTuple):
    """What a command took: wall time, that of all workers, and the memory of one, in GB."""

    wall_s: float
    busy_s: float
    memory: float

    def __str__(self) -> str:
        """As a cell of a table."""
        return f"{self.wall_s:.1f} s, {self.memory:.2f} GB"


class Size(NamedTuple):
    """What commands cost by."""

    ranks: int
    calls: int


def run(command: str, store: Path, *options: str) -> tuple[float, str]:
    """Run a command as a process of its own; give how long it took, and what it said."""
    with tempfile.TemporaryDirectory() as folder:
        words = command.format(store=store, folder=folder).split()
        own = ["/usr/bin/time", "-f", "peak %M", sys.executable, "-m", "burstline"]
        begin = time.monotonic()
        done = subprocess.run(
            [*own, *words, *options],
            capture_output=True,
            text=True,
            check=True,
            env=SURROUNDINGS,
        )
        return time.monotonic() - begin, done.stderr


def alone(command: str, store: Path) -> Cost:
    """What a command takes in one process, with all its threads."""
    wall_s, said = run(command, store)
    return Cost(wall_s, wall_s, int(said.rpartition("peak ")[2]) * 1024e-9)


def shared(command: str, store: Path, workers: int) -> Cost:
    """What a command takes with some workers that stand when it begins."""
    with workers_of(f"local:{workers}", memory=MEMORY) as standing:
        wall_s, said = run(command, store, "--scheduler", standing.address)
    found = SAID.search(said)
    if found is None:
        raise SystemExit(said)
    busy, memory, unit = found.groups()
    return Cost(wall_s, sum(map(float, busy.split(", "))), float(memory) * UNITS[unit])


def fitted(sizes: list[Size], seconds: list[float], asked: Size) -> float:
    """What a size would take, if each call and each rank takes what it does in others."""
    columns = np.array([[1, size.calls, size.ranks] for size in sizes], float)
    scale = columns.max(axis=0)
    cost, _ = nnls(columns / scale, np.array(seconds))
    return float(np.array([1, asked.calls, asked.ranks]) / scale @ cost)


def measured(stores: dict[Size, Path], asked: Size) -> None:
    """Print what each command takes, and what it would take of the size that is asked for."""
    sizes = sorted(stores, key=lambda size: size.calls)
    print("| command | calls | ranks | one process | one worker | two workers | two / one |")
    print("|---|---|---|---|---|---|---|")
    costs: dict[str, list[Cost]] = {}
    for command in COMMANDS:
        name = command.split()[0]
        for size in sizes:
            store = stores[size]
            by_one, by_two = (shared(command, store, count) for count in (1, 2))
            costs.setdefault(name, []).append(by_two)
            cells = alone(command, store), by_one, by_two
            print(
                f"| {name} | {size.calls:,} | {size.ranks:,} | {' | '.join(map(str, cells))} | "
                f"{by_two.wall_s / by_one.wall_s:.2f} |",
                flush=True,
            )
    *known, largest = sizes
    print(
        f"\n| command | in workers, {largest.calls:,} calls | fitted | beside them | fitted | "
        f"{asked.calls:,} calls, {asked.ranks:,} ranks: in workers | beside them |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, each in costs.items():
        cells = []
        for beside in (False, True):
            took = [cost.wall_s - cost.busy_s / 2 if beside else cost.busy_s for cost in each]
            cells += [f"{took[-1]:.1f} s", f"{fitted(known, took[:-1], largest):.1f} s"]
            cells.append(f"{fitted(sizes, took, asked) / 60:.0f} min")
        in_workers, beside_them = cells[:3], cells[3:]
        row = [*in_workers[:2], *beside_them[:2], in_workers[2], beside_them[2]]
        print(f"| {name} | {' | '.join(row)} |")


def size_of(store: Path) -> Size:
    """How many calls and ranks a store has."""
    trace = burstline.read(store)
    return Size(len(set(trace.locations["rank"].to_pylist())), trace.rows("calls"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("stores", nargs="+", type=Path)
    parser.add_argument("--ranks", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=2_650_000_000)
    words = parser.parse_args()
    measured({size_of(store): store for store in words.stores}, Size(words.ranks, words.calls))
