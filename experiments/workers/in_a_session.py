"""What one worker and two take where Python and Dask are loaded, as in a notebook.

    python -m experiments.workers.in_a_session X.store [times]

Prints Markdown: medians of wall times of the structure of a store. One worker and two, with one
thread each, stand one after the other, twice: neither shares the machine with the other.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import TYPE_CHECKING

import burstline
from burstline.distribution import workers_of
from experiments.workers.scale import MEMORY

if TYPE_CHECKING:
    from distributed import Client


def took_s(store: str, times: int, workers: int | None) -> list[float]:
    """Wall times of the structure, by workers or in this process; the first is left out."""
    if workers is None:
        return [once_s(store, None) for _ in range(times + 1)][1:]
    with workers_of(f"local:{workers}", memory=MEMORY) as standing:
        return [once_s(store, standing.client) for _ in range(times + 1)][1:]


def once_s(store: str, client: Client | None) -> float:
    """The wall time from a path to the structure."""
    begin = time.monotonic()
    with burstline.open(store, scheduler=client) as run:
        run.structure()
    return time.monotonic() - begin


if __name__ == "__main__":
    given, count = sys.argv[1], int((sys.argv[2:] or ["5"])[0])
    each: dict[int | None, list[float]] = {None: [], 1: [], 2: []}
    for _ in range(2):
        for workers, found in each.items():
            found.extend(took_s(given, count, workers))
    alone, one, two = (statistics.median(found) for found in each.values())
    print("| one process | one worker | two workers | two / one |")
    print("|---|---|---|---|")
    print(f"| {alone:.1f} s | {one:.1f} s | {two:.1f} s | {two / one:.2f} |")
    print(f"\nLeast: {min(each[None]):.1f} s, {min(each[1]):.1f} s, {min(each[2]):.1f} s")
