"""How true detected loops are: adjusted Rand index against labels, as a Markdown table.

``python -m experiments.structure.labels TRACE…``: for each trace and method the index of the
innermost loop of every call, and of every unique call. Labels are those of the trace, or of
``known_loops`` for programs that have been read by hand; traces with neither are named.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Final

import burstline
from burstline.structure import detect
from burstline.structure.accuracy import accuracy
from burstline.structure.labels import has_labels, labels_of
from experiments.structure.known_loops import known_labels

if TYPE_CHECKING:
    from burstline import Trace
    from burstline.structure.accuracy import Accuracy

METHODS: Final = ("seed", "exact")
HEADS: Final = ("calls", "unique calls", "loops")


def accuracies(trace: Trace) -> list[Accuracy] | None:
    """Give the accuracy of each method; None if nobody knows the loops of the program."""
    structures = [detect(trace, method=method) for method in METHODS]
    calls = structures[0].found_in
    labels = labels_of(trace, calls) if has_labels(trace) else known_labels(trace, calls)
    return None if labels is None else [accuracy(each, labels) for each in structures]


def main(paths: list[str]) -> None:
    """Print the table."""
    print(
        "| trace | calls | loops |",
        " | ".join(f"{m}: {h}" for m in METHODS for h in HEADS),
        "|",
    )
    print("|---|---|---|" + "---|" * len(METHODS) * len(HEADS))
    indices: dict[str, list[tuple[float, float]]] = {method: [] for method in METHODS}
    unknown = []
    for path in paths:
        found = accuracies(burstline.read(path, raw=True))
        if found is None:
            unknown.append(Path(path).name)
            continue
        cells: list[str] = []
        for each in found:
            pair = each.adjusted_rand, each.adjusted_rand_unique
            indices[each.method].append(pair)
            cells += [*(f"{index:.4f}" for index in pair), f"{each.loops_found}"]
        first = found[0]
        sizes = f"{first.calls:,} | {first.loops_labelled}"
        print(f"| {Path(path).name} | {sizes} |", " | ".join(cells), "|")
    if any(indices.values()):
        means = [f"{mean(c):.4f}" for p in indices.values() for c in zip(*p, strict=True)]
        print(f"| mean | | | {means[0]} | {means[1]} | | {means[2]} | {means[3]} | |")
    for name in unknown:
        print(f"\nNo labels: {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
