"""Which normalisation finds loops best? ``python -m benchmarks.normalisation TRACE…``.

For each trace and each scale, eps, and with and without the repair of split bodies: the
fidelity of the structure and the number of its loops, as a Markdown table. With
``--rank-merge``: the same for late and early merging of ranks, at the default scale and eps,
with the points that are clustered and the time of the method in milliseconds.
"""

from __future__ import annotations

import argparse
import time
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from statistics import mean
from unittest.mock import patch

import numpy as np

import burstline
from burstline.identity import sites_of
from burstline.structure import Calls, detect
from burstline.structure.published import method
from burstline.structure.published.method import SeedOptions, by_means
from burstline.structure.reduction import reduce_to_sites

SCALES = ("minmax", "log")
DISTANCES = (0.1, 0.2, 0.4)
RANK_MERGES = ("late", "early")
EPS, MIN_SHARE = 0.2, 0.1


def unrepaired():
    """Give a context in which bodies that were split stay split."""
    return patch.object(method, "join_split", lambda _, loops: list(loops))


def compare(paths, ways, headings, before):
    """Print fidelity and loops of each way of detection, for each trace."""
    print("| trace |", " | ".join(headings), "|")
    print("|---|" + "---|" * len(headings))
    found = [[] for _ in ways]
    for path in paths:
        trace = burstline.read(path, raw=False)
        cells = before(trace)
        for (repaired, options), fidelities in zip(ways, found, strict=True):
            with nullcontext() if repaired else unrepaired():
                result = detect(trace, method="seed", **options)
            fidelities.append(result.fidelity)
            cells.append(f"{result.fidelity:.4f} ({len(result.loops)})")
        print(f"| {Path(path).name} |", " | ".join(cells), "|")
    blank = ["" for _ in headings[len(ways) :]]
    averages = [f"{mean(fidelities):.4f}" for fidelities in found]
    print("| mean |", " | ".join([*blank, *averages]), "|")


def scales(paths):
    """Compare the scales at each distance."""
    ways = list(product((False, True), SCALES, DISTANCES))
    compare(
        paths,
        [(repaired, {"scale": scale, "eps": eps}) for repaired, scale, eps in ways],
        [f"{scale} {eps}{' repaired' if repaired else ''}" for repaired, scale, eps in ways],
        lambda _: [],
    )


def rank_merges(paths):
    """Compare late and early merging of ranks."""
    ways = list(product((False, True), RANK_MERGES))
    compare(
        paths,
        [(repaired, {"rank_merge": merge}) for repaired, merge in ways],
        [
            *(f"{what}, {merge}" for what in ("points", "ms") for merge in RANK_MERGES),
            *(f"{merge}{' repaired' if repaired else ''}" for repaired, merge in ways),
        ],
        points_and_time,
    )


def points_and_time(trace):
    """Give the points that are clustered, and the milliseconds of the method."""
    calls = Calls(trace, None)
    sites = sites_of(trace, calls.row, calls.world_size)
    reduced = reduce_to_sites(trace, calls, sites)
    looked_at = (reduced.repetitions > 1) & (reduced.shares() >= MIN_SHARE)
    points = [looked_at.sum(), len(np.unique(reduced.site[looked_at]))]
    took = []
    for merge in RANK_MERGES:
        limits = SeedOptions(eps=EPS, scale="log", min_share=MIN_SHARE, rank_merge=merge)
        took.append(min(timed(by_means, trace, calls, sites, limits) for _ in range(5)))
    return [*map(str, points), *(f"{1e3 * seconds:.1f}" for seconds in took)]


def timed(function, *arguments):
    """Give the seconds of a call."""
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def main():
    """Compare what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.normalisation", description=__doc__
    )
    parser.add_argument("traces", nargs="+", type=Path, metavar="TRACE")
    parser.add_argument("--rank-merge", action="store_true", help="late against early")
    wanted = parser.parse_args()
    (rank_merges if wanted.rank_merge else scales)(wanted.traces)


if __name__ == "__main__":
    main()
