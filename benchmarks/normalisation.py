"""Which normalisation finds loops best? ``python -m benchmarks.normalisation TRACE…``.

For each trace and each scale, eps, and with and without the repair of split bodies: the
fidelity of the structure and the number of its loops, as a Markdown table.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from statistics import mean
from unittest.mock import patch

import burstline
from burstline import structure

SCALES = ("minmax", "log")
DISTANCES = (0.1, 0.2, 0.4)


def unrepaired():
    """Give a context in which bodies that were split stay split."""
    return patch.object(structure, "join_split", lambda _, loops: list(loops))


def main(paths):
    ways = list(product((False, True), SCALES, DISTANCES))
    names = [f"{scale} {eps}{' repaired' if repaired else ''}" for repaired, scale, eps in ways]
    print("| trace |", " | ".join(names), "|")
    print("|---|" + "---|" * len(names))
    found = [[] for _ in ways]
    for path in paths:
        trace = burstline.read(path, raw=False)
        cells = []
        for (repaired, scale, eps), fidelities in zip(ways, found, strict=True):
            with nullcontext() if repaired else unrepaired():
                result = structure.detect(trace, scale=scale, eps=eps)
            fidelities.append(result.fidelity)
            cells.append(f"{result.fidelity:.4f} ({len(result.loops)})")
        print(f"| {Path(path).name} |", " | ".join(cells), "|")
    print("| mean |", " | ".join(f"{mean(fidelities):.4f}" for fidelities in found), "|")


if __name__ == "__main__":
    main(sys.argv[1:])
