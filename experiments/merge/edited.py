"""Precision and rate of matching edited copies of traces.

::

    python -m experiments.merge.edited TRACE …

Prints Markdown: for each trace, share of edits, one or both copies edited, and method. The
page ``docs/results/merge-accuracy.md`` explains what is counted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import burstline
from burstline import Trace
from burstline.merge import METHODS, match
from experiments.merge.accuracy import Accuracy, Judge, pairs_of
from experiments.merge.edits import Edits, edit

SHARES: Final = (0.01, 0.02, 0.05, 0.1, 0.2)
JITTERS: Final = (0.0, 0.1, 0.25, 0.5)
JITTER: Final = 0.2
SHARE: Final = 0.1
_FIGURES: Final = ("align: precision", "rate", "seed: precision", "rate")
_KINDS: Final = {
    "apart": "told apart",
    "fair": "known in the source",
    "unique": "only one in each",
    "calm": "undisturbed",
    "strict": "strictly",
}
"""How figures are called by what they are of: the first are what the specification asks for."""
_HEAD: Final = (
    *("trace", "edited", "jitter", "copies"),
    *(word for kind in _KINDS.values() for word in (kind, *_FIGURES)),
)


@dataclass(frozen=True, slots=True)
class Case:
    """What is matched with what.

    Attributes
    ----------
    share, jitter : float
        Of the edits.
    both : bool
        Whether both copies are edited, each in its own way, or one is the source.
    seed : int
        Of the edits.
    """

    share: float
    jitter: float = JITTER
    both: bool = True
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Judged:
    """How well a method did.

    Attributes
    ----------
    apart : Accuracy
        Of what its neighbours tell from others near it, the same in both copies.
    fair : Accuracy
        By what can be known of the source.
    unique : Accuracy
        Of what is the only one of its kind in each copy, whatever its neighbours are.
    strict : Accuracy
        By what bursts were.
    calm : Accuracy
        Of what can be matched, only what no edit was beside.
    """

    apart: Accuracy
    fair: Accuracy
    unique: Accuracy
    strict: Accuracy
    calm: Accuracy


def judge(source: Trace, case: Case) -> dict[str, Judged]:
    """Match two copies of a trace with each method.

    Parameters
    ----------
    source : Trace
        The trace.
    case : Case
        How the copies are edited.

    Returns
    -------
    dict of str to Judged
        By method.
    """
    share = case.share if case.both else 0.0
    jitter = case.jitter if case.both else 0.0
    one = edit(source, Edits(share, jitter, 2 * case.seed))
    other = edit(source, Edits(case.share, case.jitter, 2 * case.seed + 1))
    known = Judge(source)
    found = {}
    for method in METHODS:
        pairs = pairs_of(match([one.trace, other.trace], method=method), one.trace, other.trace)
        found[method] = Judged(
            known.told_apart(one, other, pairs),
            known.judge(one, other, pairs),
            known.unique(one, other, pairs),
            known.strictly(one, other, pairs),
            known.undisturbed(one, other, pairs),
        )
    return found


def report(paths: Sequence[Path], seeds: int) -> Iterator[str]:
    """Give the lines of the report: by share and copies, then by jitter."""
    by_share = [(share, JITTER, both) for share in SHARES for both in (False, True)]
    by_jitter = [(SHARE, jitter, True) for jitter in JITTERS]
    for kinds in (by_share, by_jitter):
        yield f"| {' | '.join(_HEAD)} |"
        yield f"| {' | '.join('---' for _ in _HEAD)} |"
        for path in paths:
            source = burstline.read(path, raw=False)
            for share, jitter, both in kinds:
                cases = [Case(share, jitter, both, 1 + seed) for seed in range(seeds)]
                yield _row(path, source, cases)
        yield ""


def _row(path: Path, source: Trace, cases: Sequence[Case]) -> str:
    """Count over edits with several seeds."""
    judged = [judge(source, case) for case in cases]
    case = cases[0]
    words = [path.name.partition(".")[0], f"{case.share:.0%}", f"{case.jitter:.0%}"]
    words.append("both" if case.both else "one")
    for kind in _KINDS:
        counted = [
            sum((getattr(one[method], kind) for one in judged), Accuracy(0, 0, 0, 0))
            for method in METHODS
        ]
        words.append(str(counted[0].matchable))
        words += [f"{v:.4f}" for one in counted for v in (one.precision, one.rate)]
    return f"| {' | '.join(words)} |"


def main() -> None:
    """Print the report of the traces on the command line."""
    parser = argparse.ArgumentParser(prog="python -m experiments.merge.edited")
    parser.add_argument("traces", nargs="+", type=Path, metavar="TRACE")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="edits of each kind")
    wanted = parser.parse_args()
    for line in report(wanted.traces, wanted.seeds):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
