"""The published method and the exact one on the same traces, as a Markdown table.

``python -m experiments.structure.methods TRACE…``: for each trace and method the fidelity,
the loops, the nodes, and the nodes per call site.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import mean

import burstline
from burstline.structure import Call, Structure, detect, walk

METHODS = ("seed", "exact")
HEADS = ("fidelity", "loops", "nodes", "nodes per site")


def figures(found: Structure) -> tuple[float, int, int, float]:
    """Give what the table says about one structure."""
    sites = {(i.operation, i.path) for i, _ in walk(found.items) if isinstance(i, Call)}
    return found.fidelity, len(found.loops), found.nodes, found.nodes / max(len(sites), 1)


def main(paths: list[str]) -> None:
    """Print the table."""
    print("| trace | calls |", " | ".join(f"{m}: {h}" for m in METHODS for h in HEADS), "|")
    print("|---|---|" + "---|" * len(METHODS) * len(HEADS))
    fidelities: dict[str, list[float]] = {method: [] for method in METHODS}
    for path in paths:
        trace = burstline.read(path, raw=False)
        cells: list[str] = []
        for method in METHODS:
            fidelity, loops, nodes, ratio = figures(detect(trace, method=method))
            fidelities[method].append(fidelity)
            cells += [f"{fidelity:.4f}", f"{loops}", f"{nodes}", f"{ratio:.2f}"]
        print(f"| {Path(path).name} | {trace.calls.num_rows:,} |", " | ".join(cells), "|")
    means = [(f"{mean(found):.4f}", "", "", "") for found in fidelities.values()]
    print("| mean | |", " | ".join(cell for cells in means for cell in cells), "|")


if __name__ == "__main__":
    main(sys.argv[1:])
