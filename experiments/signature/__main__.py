"""Predictions by signatures beside whole runs, as Markdown.

::

    python -m experiments.signature --folder DIR [--programs LIST] [--part PART] [--quick]

Builds the programs below `programs`, records each, predicts two other configurations of it by
each method, and runs these whole; then times analyses over 2 to 16 processes. Open MPI, MPICH
and their compilers are needed, and a machine with a core for each of two ranks that runs
nothing else meanwhile. All of it takes about an hour; `--quick` makes a twentieth of the steps,
which tries the driver and predicts nothing.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from burstline.errors import MissingExtraError
from experiments.signature.analyses import TIMED, Analysis, ProcessClass, analyses, variation
from experiments.signature.results import (
    LARGEST_SPREAD,
    Prediction,
    Predictions,
    goals,
    predictions,
)
from experiments.signature.runs import METHODS, PROGRAMS, Site

VERDICTS = {True: "holds", False: "**does not hold**", None: "not judged"}


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """A Markdown table, and an empty line."""
    head = list(head)
    yield f"| {' | '.join(head)} |"
    yield f"| {' | '.join('---' for _ in head)} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def machine() -> Iterator[str]:
    """What everything ran on (table 2)."""
    yield "## Machine (table 2)"
    yield ""
    models = [
        line.partition(": ")[2]
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        if line.startswith("model name")
    ]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    tools = ("gcc", "gfortran", "mpirun.openmpi", "mpirun.mpich")
    rows = [
        ["processor", f"{models[0] if models else platform.machine()}, {os.cpu_count()} cores"],
        ["memory", f"{memory:.0f} GiB"],
        ["system", f"{platform.system()} {platform.release()}"],
        ["load at the start", f"{os.getloadavg()[0]:.1f}"],
        *([tool, _version(tool)] for tool in tools),
    ]
    yield from table(["", ""], rows)


def _version(tool: str) -> str:
    words = [tool, "--version"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout  # noqa: S603 -- our own words
    lines = [line.strip() for line in said.splitlines()]
    return next((line for line in lines if line.startswith("Version")), lines[0])


def predicted(found: Predictions) -> Iterator[str]:
    """Each prediction (tables 5 and 6), what does not count or failed apart, and the goals."""
    head = ["program", "target", "method", "AET, s", "spread", "PET, s", "error"]
    head += ["of PET", "interval, s", "holds AET", "SET, s", "measured, s", "cut, s"]
    head += ["wall, s", "wall of AET", "coverage"]
    yield "## Predictions (tables 5 and 6)"
    yield ""
    yield "AET is the mean of whole runs, PET what signature runs predict together, one before"
    yield "each of these. Errors are of AET, and as published of PET."
    yield ""
    made, failed = found.together, found.failures
    yield from table(head, (_row(each) for each in made if each.counts))
    apart = [each for each in made if not each.counts]
    if apart:
        yield f"Whole runs of these differ by more than {LARGEST_SPREAD:.0%}: not counted."
        yield ""
        yield from table(head, map(_row, apart))
    if failed:
        yield f"Failed, {len(failed)}:"
        yield ""
        yield from (f"- {line}" for line in failed)
        yield ""
    yield from _by_method([each for each in made if each.counts])
    yield "## By each signature run alone"
    yield ""
    yield from _by_method([each for each in found.alone if each.counts])
    yield "## Goals"
    yield ""
    yield "They are of predictions by `loops`."
    yield ""
    rows = ([goal.text, goal.outcome, VERDICTS[goal.holds]] for goal in goals(made))
    yield from table(["goal", "measured", ""], rows)


def _row(each: Prediction) -> list[str]:
    low, high = each.interval_s
    return [
        each.program,
        each.target,
        each.method,
        f"{each.mean_s:.2f}",
        f"{each.spread:.1%}",
        f"{each.predicted_s:.2f}",
        f"{each.error:+.1%}",
        f"{each.published_error:+.1%}",
        f"{low:.2f} to {high:.2f}",
        "yes" if each.is_held else "no",
        f"{each.signature_s:.3f}",
        f"{each.measured_s:.3f}",
        f"{each.early_s:.2f}",
        f"{each.wall_s:.2f}",
        f"{each.wall_s / each.mean_s:.1%}",
        f"{each.coverage:.3f}",
    ]


def _by_method(counted: Sequence[Prediction]) -> Iterator[str]:
    rows = []
    for method in METHODS:
        chosen = [each for each in counted if each.method == method]
        if not chosen:
            continue
        errors = [abs(each.error) for each in chosen]
        row = [method, str(len(chosen)), f"{statistics.mean(errors):.1%}", f"{max(errors):.1%}"]
        row.append(f"{sum(each.is_held for each in chosen)} of {len(chosen)}")
        row.append(f"{statistics.median(each.half_width for each in chosen):.1%}")
        rows.append(row)
    head = ["method", "predictions", "mean absolute error", "worst", "AET in interval"]
    yield from table([*head, "median half-width"], rows)


def analysed(made: Sequence[Analysis]) -> Iterator[str]:
    """How long analyses take by processes (tables 3 and 4)."""
    yield "## Analysis over processes (tables 3 and 4)"
    yield ""
    yield "TFAT is the CPU time of an analysis of all processes, of a trace in memory; events/s"
    yield "are of epas itself, without the time to find the events. Events are of the process"
    yield "with most, AET of more ranks than cores and small arrays. Messages and collectives"
    yield "are what processes send if each analyses its own events, as published for pas2p; how"
    yield "long these take on a cluster is a model, not measured."
    yield ""
    head = ["program", "processes", "AET, s", "trace, MB", "events", "to find them, s"]
    head += [
        "TFAT epas, s",
        "million events/s",
        "TFAT pas2p, s",
        "pas2p / epas",
        "messages",
        "collectives",
    ]
    rows = []
    for each in made:
        found, epas, pas2p = (each.seconds[part] for part in ("events", *TIMED))
        rate = each.all_events / max(epas - found, 1e-9) / 1e6
        row = [each.program, str(each.processes), f"{each.actual_s:.2f}"]
        row += [f"{each.trace_bytes / 1e6:.1f}", f"{each.events:,}", f"{found:.4f}"]
        row += [f"{epas:.4f}", f"{rate:.1f}", f"{pas2p:.4f}", f"{pas2p / epas:.1f}"]
        row += [
            f"{each.coordination.messages:,}",
            f"{each.collectives:,}",
            f"{each.modelled_s:.3f}",
        ]
        rows.append(row)
    yield from table([*head, "modelled, s"], rows)
    yield "Time of a process's part, over the processes: the coefficient of variation."
    yield ""
    rows = []
    for program in dict.fromkeys(each.program for each in made):
        chosen = [each for each in made if each.program == program]
        times = {method: [each.per_process_s(method) for each in chosen] for method in TIMED}
        rows.append([program, *(f"{variation(values):.0%}" for values in times.values())])
    yield from table(["program", *TIMED], rows)


def classified(classes: Sequence[ProcessClass]) -> Iterator[str]:
    """The classes of irregular programs, each with its error."""
    yield "## Classes of processes of irregular programs"
    yield ""
    yield "Errors are of predictions by each process's own windows, replayed on the trace."
    yield ""
    head = ["program", "processes", "method", "ranks", "relevant phases", "coverage"]
    rows = []
    for each in classes:
        worst = max(each.errors, key=abs)
        row = [each.program, str(each.processes), each.method, " ".join(map(str, each.ranks))]
        row += [f"{each.phases:.1f}", f"{each.coverage:.3f}"]
        rows.append([*row, f"{statistics.mean(map(abs, each.errors)):.1%}", f"{worst:+.1%}"])
    yield from table([*head, "mean absolute error", "worst"], rows)


def draw(made: Sequence[Analysis], path: Path) -> None:
    """Draw the time of a process's part over the processes (figure 15)."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 -- an extra
    except ImportError as error:
        raise MissingExtraError("plot", "a picture") from error
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot(
        xscale="log", yscale="log", xlabel="processes", ylabel="analysis time of a process, s"
    )
    for number, program in enumerate(dict.fromkeys(each.program for each in made)):
        chosen = [each for each in made if each.program == program]
        for method, line in zip(TIMED, ("-", "--"), strict=True):
            axes.plot(
                [each.processes for each in chosen],
                [each.per_process_s(method) for each in chosen],
                f"C{number}{line}",
                marker="o",
                label=f"{program}, {method}",
            )
    axes.set_xticks(sorted({each.processes for each in made}))
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.legend(fontsize="x-small", ncols=2, handlelength=3.5)
    figure.savefig(path)


def main() -> None:
    """Run everything, and print each part of the report as soon as it is there."""
    names = [program.name for program in PROGRAMS]
    parser = argparse.ArgumentParser(prog="python -m experiments.signature")
    parser.add_argument("--folder", type=Path, required=True, help="for programs and traces")
    parser.add_argument("--programs", default=",".join(names), metavar="LIST")
    parser.add_argument("--part", choices=("predictions", "analyses"), help="only this part")
    parser.add_argument("--bases", type=int, default=5, help="recorded runs of each program")
    parser.add_argument(
        "--turns", type=int, default=2, help="runs of each target and signature"
    )
    parser.add_argument("--quick", action="store_true", help="a twentieth of the steps")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="analysis time, as .svg")
    chosen = parser.parse_args()
    wanted = chosen.programs.split(",")
    if unknown := set(wanted) - set(names):
        parser.error(f"no program {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    programs = [program for program in PROGRAMS if program.name in wanted]
    site, shorter = Site(chosen.folder), 20 if chosen.quick else 1

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def tell(lines: Iterable[str]) -> None:
        for line in lines:
            print(line, flush=True)

    tell(machine())
    if chosen.part != "analyses":
        made = Predictions([], [], [])
        turns = {"turns": chosen.turns, "bases": chosen.bases}
        for program in programs:
            more = predictions(site, program, shorter=shorter, say=say, **turns)
            made.together.extend(more.together)
            made.alone.extend(more.alone)
            made.failures.extend(more.failures)
        tell(predicted(made))
    if chosen.part != "predictions":
        over = [
            pair for each in programs for pair in analyses(site, each, shorter=shorter, say=say)
        ]
        times = [analysis for analysis, _ in over]
        tell(analysed(times))
        tell(classified([each for _, classes in over for each in classes]))
        if chosen.plot is not None:
            draw(times, chosen.plot)


if __name__ == "__main__":
    main()
