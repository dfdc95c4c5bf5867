"""What one worker and two take where Python and Dask are loaded, as in a notebook.

    python -m experiments.workers.in_a_session X.store [times]

Prints Markdown: medians of wall times of the structure and the burst table of a store, and of
the processor time of the workers. One worker and two, with one thread each, stand one after the
other, twice: neither shares the machine with the other. The last column is what two would take
if nobody waited: half of their processor time, and what one worker does not work on.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

import burstline
from burstline import cli
from burstline.distribution import workers_of
from experiments.workers.scale import MEMORY

if TYPE_CHECKING:
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


ASKED: Final[tuple[Callable[[str, Client | None], None], ...]] = (structure, table)


def measured(
    asked: Callable[[str, Client | None], None], store: str, times: int, workers: int | None
) -> list[tuple[float, float]]:
    """The wall time and what workers compute meanwhile, of each time but the first."""
    if workers is None:
        return [once(asked, store, None) for _ in range(times + 1)][1:]
    with workers_of(f"local:{workers}", memory=MEMORY) as standing:
        return [once(asked, store, standing.client) for _ in range(times + 1)][1:]


def once(
    asked: Callable[[str, Client | None], None], store: str, client: Client | None
) -> tuple[float, float]:
    """The seconds from a path to the result, and the processor seconds of all workers."""
    spent, begin = spent_s(client), time.monotonic()
    asked(store, client)
    took = time.monotonic() - begin
    return took, spent_s(client) - spent


def spent_s(client: Client | None) -> float:
    """What all workers have taken of a processor so far."""
    return 0.0 if client is None else sum(client.run(time.process_time).values())


def main(store: str, times: int) -> None:
    """Print a row for each question."""
    print(
        "| what | one process | one worker | two | two / one | work of one | of two | least |"
    )
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for asked in ASKED:
        found: dict[int | None, list[tuple[float, float]]] = {None: [], 1: [], 2: []}
        for _ in range(2):
            for workers, each in found.items():
                each.extend(measured(asked, store, times, workers))
        (one, work), (two, both) = (
            tuple(map(median, zip(*found[workers], strict=True))) for workers in (1, 2)
        )
        alone = median(wall for wall, _ in found[None])
        print(
            f"| {asked.__name__} | {alone:.2f} s | {one:.2f} s | {two:.2f} s | {two / one:.2f} "
            f"| {work:.2f} s | {both:.2f} s | {(both / 2 + one - work) / one:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1], int((sys.argv[2:] or ["5"])[0]))
