"""Programs with habits that samples might disturb, run many times with them, as Markdown.

::

    python -m experiments.sampling [--runs 100] [--hz 1000] > docs/results/sampling.md

Each habit of `programs/habits.cpp` runs a few times as it is, then many times under the
recorder, under each MPI: status and output have to be those of all runs without it. A run that
is cut by a signature is started with and without the wish for samples.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from burstline.formats.raw import Kind, stored
from burstline.record.building.recorder import shared_object
from burstline.record.launching.mpi import MPICH, OPEN_MPI

HABITS: Final = {
    "fork": "eight children with children of their own, vfork",
    "exec": "children that become other programs, posix_spawn, system",
    "replaced": "another program in its place, all signals blocked",
    "signals": "a handler for every signal, each raised and sent by a timer; all taken back",
    "sigwait": "all signals blocked and waited for one after the other",
    "sleep": "1,200 sleeps, polls and selects between stretches of work",
    "restart": "reads that an own timer interrupts, with and without SA_RESTART",
    "timers": "ITIMER_PROF, ITIMER_VIRTUAL and ITIMER_REAL",
    "abort": "abort()",
    "mpi_abort": "MPI_Abort",
    "exceptions": "400 C++ exceptions through 30 to 49 frames with destructors",
    "coroutines": "four stacks by ucontext, and a coroutine of C++20",
    "jumps": "50 jumps out of a signal handler on a stack of its own",
    "threads": "80 threads that call MPI and end, a quarter by being cancelled",
}
PLAIN: Final = 5
"""Runs without the recorder, which have to be alike for there to be something to compare."""
SOURCE: Final = Path(__file__).parent / "programs" / "habits.cpp"
MPIS: Final = {
    "MPICH": ("mpicxx.mpich", MPICH, "mpiexec.mpich"),
    "Open MPI": ("mpicxx.openmpi", OPEN_MPI, "mpirun.openmpi"),
}


class Outcome(NamedTuple):
    """What a run left behind."""

    status: int
    output: str


class Row(NamedTuple):
    """Runs of a habit: how many were as without the recorder, and what was sampled."""

    alike: int
    runs: int
    status: int
    signals: int


def outcome(words: Sequence[str | Path], variables: dict[str, str]) -> Outcome:
    """Run a program to its end."""
    done = subprocess.run(  # noqa: S603 -- programs of this experiment
        words,
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
        timeout=300,
    )
    return Outcome(done.returncode, done.stdout)


def signals_in(folder: Path) -> int:
    """The signals of samples that came to the threads of a run."""
    count = 0
    for path in folder.glob("*.raw"):
        for records in stored(path):
            rows = np.asarray(records[np.asarray(records["kind"]) == Kind.SAMPLING])
            count += int((rows["b"] >> np.uint64(32)).sum())
            # A thread that does not come to its end does not tell how many came.
            if not len(rows):
                count += int(np.count_nonzero(np.asarray(records["kind"]) == Kind.SAMPLE))
    return count


def habit_row(program: Path, habit: str, recorder: Path, runs: int, hz: int) -> Row:
    """Run one habit without the recorder and with it."""
    plain = {outcome([program, habit], {}) for _ in range(PLAIN)}
    if len(plain) != 1:
        raise SystemExit(f"{habit} is not the same in each run without the recorder: {plain}")
    (expected,) = plain
    alike = signals = 0
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            recorded = {
                "BURSTLINE_DIR": folder,
                "BURSTLINE_SAMPLE": str(hz),
                "LD_PRELOAD": str(recorder),
            }
            found = outcome([program, habit], recorded)
            signals += signals_in(Path(folder))
        alike += found == expected
        if found != expected:
            print(f"{habit}: {found} and not {expected}", file=sys.stderr)
    return Row(alike, runs, expected.status, signals)


def cut_row(program: Path, launcher: str, folder: Path, runs: int, hz: int) -> Row:
    """Cut runs by a signature, without a wish for samples and with it."""
    burstline, start = [sys.executable, "-m", "burstline"], [launcher, "-n", "1", str(program)]
    trace, signature = folder / "steps.store", folder / "steps.sig"
    for words in (
        ["record", "--force", "-o", trace, "--", *start, "steps"],
        ["signature", "build", trace, "-o", signature, "--force"],
    ):
        outcome([*burstline, *words], {})
    measured = ["-o", folder / "steps.json", "--force"]
    run = [*burstline, "signature", "run", signature, *measured, "--", *start, "steps"]
    plain = {_printed(outcome(run, {})) for _ in range(PLAIN)}
    (expected,) = plain
    sampled = {"BURSTLINE_SAMPLE": str(hz)}
    alike = sum(_printed(outcome(run, sampled)) == expected for _ in range(runs))
    return Row(alike, runs, expected.status, 0)


def _printed(found: Outcome) -> Outcome:
    """What the program printed, without what burstline says of its times."""
    lines = [line for line in found.output.splitlines() if line.startswith("step")]
    return Outcome(found.status, "\n".join(lines))


def page(mpis: Sequence[str], runs: int, hz: int, *, cut: bool) -> Iterator[str]:
    """The page, line by line."""
    yield "# Programs with samples"
    yield ""
    yield "Samples of call stacks interrupt a program hundreds of times a second."
    yield "Each program below has a habit that this might disturb; it is run as a process of"
    yield f"its own {runs} times with {hz:,} samples a second of processor time asked for, and"
    yield f"its status and output are held against those of {PLAIN} runs without the recorder."
    yield ""
    yield "```console"
    yield f"$ python -m experiments.sampling --runs {runs} --hz {hz}"
    yield "```"
    yield ""
    for name in mpis:
        compiler, mpi, launcher = MPIS[name]
        yield f"## {name}"
        yield ""
        yield "| program | status | runs as without | signals that came, in all |"
        yield "|---|---|---|---|"
        with tempfile.TemporaryDirectory() as text:
            folder = Path(text)
            program = folder / "habits"
            options = ["-std=c++20", "-O2", "-g", "-pthread", "-o", str(program)]
            words = [compiler, *options, str(SOURCE), "-lrt"]
            subprocess.run(words, check=True)  # noqa: S603 -- one of two compilers
            recorder = shared_object(mpi)
            for habit, what in HABITS.items():
                row = habit_row(program, habit, recorder, runs, hz)
                yield _line(f"`{habit}`: {what}", row)
            if cut:
                row = cut_row(program, launcher, folder, runs, hz)
                yield _line("a run that is cut by a signature", row)
        yield ""
    yield "A run that is cut by a signature is counted and timed, not recorded:"
    yield "no sample is taken."
    yield "The kernel delivers samples when its clock ticks, mostly 250 times a second;"
    yield "each tells how many periods it stands for."
    yield "A handler runs on the alternate stack, if the program has one registered"
    yield "(`sigaltstack`): it has to be there as long as it is registered."
    yield "While a sample is on its way to a thread, Linux may give a signal that was sent to"
    yield "the whole process to another thread, if one is there that does not block it, such as"
    yield "those of MPI libraries: a program that jumps out of a handler has to block it in all"
    yield "others, or to send it to the thread."


def _line(what: str, row: Row) -> str:
    status = f"signal {-row.status}" if row.status < 0 else str(row.status)
    signals = f"{row.signals:,}" if row.signals else ""
    return f"| {what} | {status} | {row.alike} of {row.runs} | {signals} |"


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m experiments.sampling")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--hz", type=int, default=1000)
    parser.add_argument("--no-cut", action="store_true", help="no runs that a signature cuts")
    parser.add_argument("--mpi", choices=MPIS, help="only this one")
    arguments = parser.parse_args()
    mpis = [arguments.mpi] if arguments.mpi else [*MPIS]
    for line in page(mpis, arguments.runs, arguments.hz, cut=not arguments.no_cut):
        print(line, flush=True)


if __name__ == "__main__":
    main()
