"""Match rates of repeated runs, and how well each counter repeats: our tables 3 to 9.

::

    python -m experiments.merge.tables FOLDER

Reads every group of runs ``NAME_run1``, ``NAME_run2``, … (``.prv``, ``.prv.gz`` or
``.store``) of the folder and prints Markdown, after the tables of *Heuristic-Based Merging of
HPC Traces to Extend Hardware Counter Coverage*. Counters that begin with ``synthetic`` were
not counted: :mod:`experiments.merge.synthetic` says how they were made.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import burstline
from burstline import Trace
from burstline.errors import NotEnoughDataError, printable
from burstline.merge import METHODS, CounterQuality, Matching, check, match
from experiments.merge.synthetic import with_synthetic

_RUN: Final = re.compile(r"(?P<name>.+)_run(?P<run>\d+)\.(?:prv|prv\.gz|store)")


def groups(folder: Path) -> dict[str, list[Path]]:
    """Find the programs of a folder that were run several times.

    Parameters
    ----------
    folder : Path
        Where the traces are.

    Returns
    -------
    dict of str to list of Path
        By name of the program, in the order of the runs.

    Raises
    ------
    NotEnoughDataError
        If there is none.
    """
    found: dict[str, list[tuple[int, Path]]] = defaultdict(list)
    for path in folder.iterdir():
        named = _RUN.fullmatch(path.name)
        if named:
            found[named["name"]].append((int(named["run"]), path))
    several = {name: [p for _, p in sorted(runs)] for name, runs in sorted(found.items())}
    several = {name: runs for name, runs in several.items() if len(runs) > 1}
    if not several:
        raise NotEnoughDataError(f"{printable(str(folder))}: no NAME_run1 with a NAME_run2")
    return several


def report(folder: Path) -> Iterator[str]:
    """Give the lines of the report."""
    runs = {
        name: with_synthetic([burstline.read(path, raw=False) for path in paths])
        for name, paths in groups(folder).items()
    }
    yield from _rates(runs)
    for name, traces in runs.items():
        yield ""
        yield from _counters(name, traces)


def _rates(runs: dict[str, list[Trace]]) -> Iterator[str]:
    yield "| program | bursts of each run | method | matched | of the time | by stage |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, traces in runs.items():
        for method in METHODS:
            found = match(traces, method=method)
            words = [name, " ".join(map(str, found.bursts.tolist())), method]
            words += [
                " ".join(f"{share:.2%}" for share in shares)
                for shares in (found.match_rate, found.time_coverage)
            ]
            yield f"| {' | '.join([*words, _stages(found)])} |"


def _stages(found: Matching) -> str:
    counted = found.pairs.group_by("stage").aggregate([("rank", "count")]).to_pylist()
    stages = {str(row["stage"]): row["rank_count"] for row in counted}
    stages.pop("none", None)
    total = max(sum(stages.values()), 1)
    return ", ".join(f"{name} {count / total:.2%}" for name, count in stages.items())


def _counters(name: str, traces: list[Trace]) -> Iterator[str]:
    yield f"**{name}**"
    yield ""
    yield "| counter | correlation | mean difference | relative | below 30 % | verdict |"
    yield "| --- | --- | --- | --- | --- | --- |"
    found = check(traces)
    for one in (*found.counters, *found.features):
        yield _row(one)


def _row(one: CounterQuality) -> str:
    words = [one.name, _shown(one.correlation, ".3f"), _shown(one.mae, ".4g")]
    words += [_shown(one.relative_difference, ".3f"), _shown(one.below_30, ".1%")]
    return f"| {' | '.join([*words, one.verdict])} |"


def _shown(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def main() -> None:
    """Print the report of the folder on the command line."""
    parser = argparse.ArgumentParser(prog="python -m experiments.merge.tables")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    for line in report(parser.parse_args().folder):
        sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
