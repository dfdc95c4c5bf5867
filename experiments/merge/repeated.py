"""How much of the accuracy is chance: scenarios of our own, recorded again and again.

::

    python -m experiments.merge.repeated [--mpi openmpi|mpich] [--pairs N] [--ranks N]

Records the scenarios in which chance decides, N pairs of runs each, and prints means and
standard deviations as Markdown.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from burstline.merge import METHODS
from experiments.merge.known import judge, with_ids
from experiments.merge.recorded import Scenario, build, record

SCENARIOS: Final = (Scenario("farm"), Scenario("farm", extra=0), Scenario("blind", extra=0))
_KINDS: Final = ("with a twin", "told apart")
_STEPS: Final = 40
_MESSAGES: Final = 5
HEAD: Final = (
    *("runs", "of", "align: precision", "rate", "seed: precision", "rate"),
    "below seed: precision, rate",
)


def rows(name: str, found: Sequence[Sequence[Sequence[float]]]) -> Iterator[str]:
    """Give the lines of a scenario.

    Parameters
    ----------
    name : str
        What it is called.
    found : sequence of sequence of sequence of float
        For each pair of runs and kind of bursts, precision and rate of each method.
    """
    figures = np.array(found)
    for number, kind in enumerate(_KINDS):
        own = figures[:, number]
        spread = zip(own.mean(axis=0), own.std(axis=0), strict=True)
        words = [name, kind, *(f"{mean:.3f} ± {far:.3f}" for mean, far in spread)]
        below = (own[:, :2] < own[:, 2:]).sum(axis=0)
        words.append(", ".join(f"{count} of {len(own)}" for count in below))
        yield f"| {' | '.join(words)} |"


def report(folder: Path, mpi: str, ranks: int, pairs: int) -> Iterator[str]:
    """Give the lines of the report: a scenario and a kind of bursts each."""
    program = build(folder, mpi)
    yield f"| {' | '.join(HEAD)} |"
    yield f"| {' | '.join('---' for _ in HEAD)} |"
    for scenario in SCENARIOS:
        found = []
        for _ in range(pairs):
            paths = record(program, scenario, mpi, (ranks, _STEPS, _MESSAGES))
            runs = [with_ids(path) for path in paths]
            judged = [judge(runs, method) for method in METHODS]
            found.append(
                [
                    [share for one in judged for share in (one[k].precision, one[k].rate)]
                    for k in range(len(_KINDS))
                ]
            )
        yield from rows(scenario.name, found)


def main() -> None:
    """Record, and print the report."""
    parser = argparse.ArgumentParser(prog="python -m experiments.merge.repeated")
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), default="openmpi")
    parser.add_argument("--ranks", type=int, default=4, metavar="N")
    parser.add_argument("--pairs", type=int, default=8, metavar="N")
    wanted = parser.parse_args()
    os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    with tempfile.TemporaryDirectory(prefix="burstline-") as folder:
        place = Path(folder).resolve()
        for line in report(place, wanted.mpi, wanted.ranks, wanted.pairs):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
