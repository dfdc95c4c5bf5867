"""What one worker and two take where Python and Dask are loaded, as in a notebook.

    python -m experiments.workers.in_a_session X.store [times]

Prints Markdown: medians of wall times of the structure and the burst table of a store. One
worker and two, with one thread each, stand one after the other, twice: neither shares the
machine with the other. The last row is the bound that the machine sets: plain processes write
the parts of the table, one all of them or two every second, and nobody serves them.
"""

from __future__ import annotations

import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import burstline
from burstline import cli, show
from burstline.distribution import workers_of
from burstline.formats.store import stamp_of
from burstline.run.parts import FoldTask, divided, folded
from experiments.workers.scale import MEMORY

if TYPE_CHECKING:
    from multiprocessing.synchronize import Barrier

    from distributed import Client


def structure(store: str, client: Client | None) -> None:
    """Find the loops of a run."""
    with burstline.open(store, scheduler=client) as run:
        run.structure()


def table(store: str, client: Client | None) -> None:
    """Write the burst table of a run."""
    with tempfile.TemporaryDirectory(dir=Path(store).parent) as folder:
        words = ["table", store, "-o", f"{folder}/table.parquet", "--quiet"]
        if client is not None:
            words += ["--scheduler", client.scheduler.address]
        cli.main(words)


ASKED: Final[dict[str, Callable[[str, Client | None], None]]] = {
    "structure": structure,
    "table": table,
}


def took_s(asked: str, store: str, times: int, workers: int | None) -> list[float]:
    """Wall times, by workers or in this process; the first is left out."""
    if workers is None:
        return [once_s(asked, store, None) for _ in range(times + 1)][1:]
    with workers_of(f"local:{workers}", memory=MEMORY) as standing:
        return [once_s(asked, store, standing.client) for _ in range(times + 1)][1:]


def once_s(asked: str, store: str, client: Client | None) -> float:
    """The wall time from a path to the result."""
    begin = time.monotonic()
    ASKED[asked](store, client)
    return time.monotonic() - begin


def write_parts(store: str, number: int, processes: int, ready: Barrier) -> None:
    """Write every part of the table of which the number is one of this process, twice."""
    whole = burstline.open(store).whole
    path = Path(store).absolute()
    options = {
        "ending": ".parquet", "columns": None, "min_duration_ns": 0, "longest": 10,
    }  # fmt: skip
    for _ in range(2):
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            ready.wait()
            for locations in divided(whole, path, 2)[number::processes]:
                part = FoldTask(
                    path,
                    stamp_of(path),
                    locations,
                    memory=None,
                    fold=show.write_fragment,
                    with_whole=True,
                    options={**options, "folder": Path(folder)},
                )
                folded(part, whole)
            ready.wait()


def plain_s(store: str, processes: int) -> float:
    """The wall time of plain processes, the second time that they write the parts."""
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(processes + 1)
    started = [
        context.Process(target=write_parts, args=(store, number, processes, ready))
        for number in range(processes)
    ]
    for each in started:
        each.start()
    for _ in range(2):
        ready.wait()
        begin = time.monotonic()
        ready.wait()
        took = time.monotonic() - begin
    for each in started:
        each.join()
    return took


def row(asked: str, alone: list[float], one: list[float], two: list[float]) -> None:
    """Print the medians of wall times, and what two take of one."""
    medians = [
        f"{statistics.median(found):.2f} s" if found else "" for found in (alone, one, two)
    ]
    ratio = statistics.median(two) / statistics.median(one)
    print(f"| {asked} | {' | '.join(medians)} | {ratio:.2f} |", flush=True)


def main(store: str, times: int) -> None:
    """Print a row for each question, and the bound."""
    print("| what | one process | one worker | two workers | two / one |")
    print("|---|---|---|---|---|", flush=True)
    for asked in ASKED:
        each: dict[int | None, list[float]] = {None: [], 1: [], 2: []}
        for _ in range(2):
            for workers, found in each.items():
                found.extend(took_s(asked, store, times, workers))
        row(asked, *each.values())
    one, two = ([plain_s(store, count) for _ in range(times)] for count in (1, 2))
    row("parts of the table by plain processes", [], one, two)


if __name__ == "__main__":
    main(sys.argv[1], int((sys.argv[2:] or ["5"])[0]))
