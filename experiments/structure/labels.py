"""How true detected loops are: adjusted Rand index against labels, as a Markdown table.

``python -m experiments.structure.labels TRACE…``: for each trace and method the index of the
innermost loop of every call, and of every unique call. Labels are those of the trace, or of
``known_loops`` for programs that have been read by hand; traces with neither are named. Where
the trace knows the iterations of its loops, a second line leaves out those that never repeat.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Final

import burstline
from burstline import Trace
from burstline.errors import NotEnoughDataError
from burstline.structure import Structure, detect
from burstline.studies import Accuracy, Labels, accuracy, labels_of
from experiments.structure.known_loops import known_labels

METHODS: Final = ("seed", "exact")
HEADS: Final = ("calls", "unique calls", "loops")
ALL: Final = "all"
REPEATED: Final = "that repeat"


def accuracies(trace: Trace) -> dict[str, list[Accuracy]]:
    """Give the accuracy of each method by which loops count; none if nobody knows them."""
    structures = [detect(trace, method=method) for method in METHODS]
    return {
        which: [accuracy(*pair) for pair in pairs]
        for which, pairs in _truths(trace, structures)
    }


def _truths(
    trace: Trace, structures: list[Structure]
) -> Iterator[tuple[str, list[tuple[Structure, Labels]]]]:
    calls = structures[0].found_in
    try:
        labels = labels_of(trace, calls)
    except NotEnoughDataError:
        labels = known_labels(trace, calls)
    if labels is not None:
        yield ALL, [(each, labels) for each in structures]
    try:
        repeated = labels_of(trace, calls, repeated=True)
    except NotEnoughDataError:
        return
    yield REPEATED, [(each, repeated) for each in structures]


def main(paths: list[str]) -> None:
    """Print the table."""
    heads = " | ".join(f"{method}: {head}" for method in METHODS for head in HEADS)
    print(f"| trace | calls | labelled | loops | | {heads} |")
    print("|---|---|---|---|---|" + "---|" * len(METHODS) * len(HEADS))
    indices: dict[str, list[list[float]]] = {}
    unknown = []
    for path in paths:
        found = accuracies(burstline.read(path, raw=True))
        if not found:
            unknown.append(Path(path).name)
        for which, of_methods in found.items():
            print(_row(Path(path).name, which, of_methods))
            pairs = [[each.adjusted_rand, each.adjusted_rand_unique] for each in of_methods]
            indices.setdefault(which, []).append([index for pair in pairs for index in pair])
    for which, rows in indices.items():
        means = [f"{mean(column):.4f}" for column in zip(*rows, strict=True)]
        cells = [f"{means[at]} | {means[at + 1]} |" for at in range(0, len(means), 2)]
        print(f"| mean | | | | {which} |", " | ".join(cells), "|")
    for name in unknown:
        print(f"\nNo labels: {name}")


def _row(name: str, which: str, of_methods: list[Accuracy]) -> str:
    cells = [
        f"{each.adjusted_rand:.4f} | {each.adjusted_rand_unique:.4f} | {each.loops_found}"
        for each in of_methods
    ]
    first = of_methods[0]
    sizes = f"{first.calls + first.unlabelled:,} | {first.calls:,} | {first.loops_labelled}"
    return f"| {name} | {sizes} | {which} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main(sys.argv[1:])
