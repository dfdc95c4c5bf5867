"""Logical clocks on three hybrid programs, beside what was published, as Markdown.

::

    python -m experiments.clocks [--quick] [--effort-models | --noise] --folder DIR

Builds the programs below `programs`, which are like MiniFE, LULESH and TeaLeaf, runs them
plainly and recorded in turns, and tells profiles by each clock. A picture of each configuration
is put into the folder. Open MPI, clang and Matplotlib are needed.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from burstline.plots import comparison_plot
from experiments.clocks import models, noise
from experiments.clocks.results import CLOCKS, LOGICAL, PHYSICAL, Results, measured
from experiments.clocks.runs import MODES, Site
from experiments.clocks.statements import DELAY, GOAL, IDLE, MINIFE, STATEMENTS, TEALEAF, WAIT

AGREES: Final = "agrees"
DIFFERS: Final = "**does not agree**"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """A Markdown table, and an empty line."""
    head = list(head)
    yield f"| {' | '.join(head)} |"
    yield f"| {' | '.join('---' for _ in head)} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def report(results: Results, repetitions: int) -> Iterator[str]:
    """The tables, then the statements."""
    load = os.getloadavg()[2]
    yield f"{platform.machine()}, {os.cpu_count()} cores, {repetitions} repetitions;"
    yield f"load {load:.1f}, the mean of the last quarter of an hour."
    yield "`lt_hwctr` counts statements (`IR_TOT_INS`) in place of instructions."
    yield ""
    yield from _overheads(results)
    yield from _variants(results)
    yield from _scores(results)
    yield from _shares(results)
    yield from _places(results)
    yield from _statements(results)


def _overheads(results: Results) -> Iterator[str]:
    yield "## Overhead (table I, figure 2)"
    yield ""
    yield "% of the CPU time of an unrecorded run, in brackets of its wall time:"
    yield "the least of all turns over the least, as what else runs only ever adds."
    yield ""
    phases = [("MiniFE", phase) for phase in ("structure", "init", "solve", "total")]
    phases += [("LULESH", "total"), ("TeaLeaf", "total")]
    rows = []
    for mode in (*tuple(MODES)[1:], "lt_hwctr"):
        cells = [
            [results.overhead(name, mode, phase, kind) for kind in (1, 0)]
            for name, phase in phases
        ]
        rows.append([mode, *(f"{cpu:+.1f} ({wall:+.1f})" for cpu, wall in cells)])
    seconds = (results.least(name, "unrecorded", phase, 1) for name, phase in phases)
    rows.append(["unrecorded, s", *(f"{each:.3f}" for each in seconds)])
    heads = (f"{results.configurations[name]}, {phase}" for name, phase in phases)
    yield from table(["mode", *heads], rows)


def _variants(results: Results) -> Iterator[str]:
    yield "## TeaLeaf by ranks and threads (table II)"
    yield ""
    rows = []
    for name in TEALEAF:
        configuration = results.configurations[name]
        walls = (results.least(name, mode, "total", 0) for mode in ("unrecorded", PHYSICAL))
        overheads = (results.overhead(name, PHYSICAL, "total", kind) for kind in (0, 1))
        row = [str(configuration), "yes" if configuration.fits else "no"]
        row += [*(f"{wall:.3f}" for wall in walls), *(f"{each:+.1f}" for each in overheads)]
        rows.append(row)
    head = ["ranks x threads", "a core each", "unrecorded, s", "tsc, s"]
    yield from table([*head, "overhead of wall time, %", "of CPU time, %"], rows)


def _scores(results: Results) -> Iterator[str]:
    yield "## J of metrics and call paths against tsc (figures 3 and 4)"
    yield ""
    yield "In brackets the least J of two repetitions."
    yield ""
    rows = []
    for name in results.comparisons:
        least = {clock: results.run_to_run(name, clock) for clock in CLOCKS}
        row = [f"{results.score(name, clock):.3f} ({least[clock]:.3g})" for clock in LOGICAL]
        rows.append([str(results.configurations[name]), f"({least[PHYSICAL]:.3f})", *row])
    yield from table(["", *CLOCKS], rows)
    yield "## J of call paths against tsc (figures 5, 6, 9)"
    yield ""
    rows = [
        [name, metric, *(f"{results.score(name, clock, metric):.3f}" for clock in LOGICAL)]
        for name in results.comparisons
        for metric in ("comp", WAIT, DELAY)
        if results.of_time(name, PHYSICAL, metric) > 0
    ]
    yield from table(["", "metric", *LOGICAL], rows)


def _shares(results: Results) -> Iterator[str]:
    yield "## Shares of the time, in %T (figures 7 and 8)"
    yield ""
    metrics = ("comp", "mpi", "omp_time", IDLE, WAIT, "mpi_latesender", "omp_ibarrier_wait")
    rows = [
        [name, clock, *(f"{results.of_time(name, clock, metric):.1f}" for metric in metrics)]
        for name in results.comparisons
        for clock in CLOCKS
    ]
    yield from table(["", "clock", *metrics], rows)


def _places(results: Results) -> Iterator[str]:
    yield "## Top functions, with the calls and loops in them, in %M (figures 5, 6, 9)"
    yield ""
    rows = []
    for name in ("MiniFE-1", "MiniFE-2", "LULESH-1", "TeaLeaf-2"):
        for metric in ("comp", WAIT, DELAY):
            for function, shares in results.by_function(name, metric).items():
                rows.append([name, metric, function, *(f"{share:.1f}" for share in shares)])
    yield from table(["", "metric", "function", *CLOCKS], rows)


def _statements(results: Results) -> Iterator[str]:
    yield "## What was published, and what is measured here"
    yield ""
    rows = []
    for where, text, rule in STATEMENTS:
        if isinstance(rule, str):
            rows.append([where, text, rule, "not reproducible here"])
        else:
            found, agrees = rule(results)
            rows.append([where, text, found, AGREES if agrees else DIFFERS])
    published = [verdict for where, *_, verdict in rows if where != GOAL]
    agree, differ = published.count(AGREES), published.count(DIFFERS)
    others = len(published) - agree - differ
    counts = f"{agree} of {len(published)} agree, {differ} do not"
    yield f"{counts}, {others} are not reproducible here."
    yield ""
    yield from table(["", "published", "measured", ""], rows)


def draw(results: Results, folder: Path) -> None:
    """Put a picture of each configuration into a folder, with the panels of figures 3 to 9."""
    for name, comparison in results.comparisons.items():
        metric = WAIT if name in MINIFE else DELAY  # figures 6 and 9b
        picture = comparison_plot(comparison, form="png", metric=metric)
        folder.joinpath(f"{name}.png").write_bytes(picture)


def main() -> None:
    """Run everything, and print the report."""
    parser = argparse.ArgumentParser(prog="python -m experiments.clocks")
    parser.add_argument("--quick", action="store_true", help="2 repetitions in place of 5")
    parser.add_argument("--folder", type=Path, required=True, help="for programs and traces")
    parser.add_argument("--effort-models", action="store_true", help="judge these instead")
    parser.add_argument("--noise", action="store_true", help="judge intrinsic waits instead")
    chosen = parser.parse_args()
    repetitions = 2 if chosen.quick else 5
    site = Site(chosen.folder)

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    if chosen.effort_models or chosen.noise:
        told = noise if chosen.noise else models
        for line in told.report(site, repetitions, say):
            print(line)
        return
    results = measured(site, repetitions, say)
    for line in report(results, repetitions):
        print(line)
    draw(results, chosen.folder)


if __name__ == "__main__":
    main()
