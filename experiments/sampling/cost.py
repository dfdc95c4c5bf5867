"""What samples cost: by the recorder's own clock, and in runs with and without, as Markdown.

::

    python -m experiments.sampling.cost [--pairs 20]

Three programs of one rank, recorded in turns with 250 samples a second and with none: the CPU
time of the process, in the kernel too, over that of the run beside it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from collections.abc import Iterator
from functools import partial
from math import comb
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import burstline
from burstline.record.building.recorder import shared_object
from burstline.record.launching.mpi import MPICH

HERE: Final = Path(__file__).parent
CLOCKS: Final = HERE.parent / "clocks" / "programs"
HZ: Final = 250
COMPILER: Final = "mpicc.mpich"


class Program(NamedTuple):
    """A program and its input."""

    name: str
    source: Path
    words: tuple[str, ...]


PROGRAMS: Final = (
    Program("conjugate gradients, as NPB-CG", CLOCKS / "elements.c", ("48", "20", "150")),
    Program("hydrodynamics, as LULESH", CLOCKS / "cube.c", ("30", "60", "1")),
    Program("a million calls a second", HERE / "programs" / "calls.c", ("1500000",)),
)


class Run(NamedTuple):
    """What a recorded run took: seconds of CPU time, and what samples took of it."""

    cpu_s: float
    sampling_ns: int
    signals: int
    own_s: float  # of the thread, by its samples


def run(program: Path, words: tuple[str, ...], recorder: Path, hz: int) -> Run:
    """Run a program under the recorder."""
    with tempfile.TemporaryDirectory() as folder:
        variables = {
            "BURSTLINE_DIR": folder,
            "BURSTLINE_SAMPLE": str(hz),
            "BURSTLINE_COUNTERS": "none",
            "LD_PRELOAD": str(recorder),
            "OMP_NUM_THREADS": "1",
        }
        with subprocess.Popen(  # noqa: S603 -- a program of this experiment
            [program, *words], env=os.environ | variables, stdout=subprocess.DEVNULL
        ) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{program} ended with {process.returncode}")
        cpu_s = used.ru_utime + used.ru_stime
        if hz == 0:
            return Run(cpu_s, 0, 0, cpu_s)
        trace = burstline.read(Path(folder))
        (row,) = trace.table("recordings").to_pylist()[:1]
        periods = sum(trace.table("samples")["periods"].to_pylist())
        periods += row["mpi_periods"] + row["lost_periods"]
        return Run(cpu_s, row["sampling_ns"], row["signals"], periods / hz)


def interval(quotients: list[float]) -> tuple[float, float]:
    """Between which the median of such quotients lies in 95 of 100 cases, by their order."""
    count, ordered = len(quotients), sorted(quotients)
    outside, rank = 1 / 2**count, 0
    while rank + 1 < count / 2 and 2 * (outside + comb(count, rank + 1) / 2**count) <= 0.05:
        rank += 1
        outside += comb(count, rank) / 2**count
    return ordered[rank], ordered[-1 - rank]


def page(pairs: int) -> Iterator[str]:
    """The table, line by line."""
    recorder = shared_object(MPICH)
    heads = "ns a sample", "samples a second", "of the thread's time", "quotient of CPU time"
    yield f"| program | {' | '.join(heads)} |"
    yield "|---|---|---|---|---|"
    with tempfile.TemporaryDirectory() as text:
        for number, program in enumerate(PROGRAMS):
            binary = Path(text) / str(number)
            words = [COMPILER, "-w", "-O2", "-o", str(binary), str(program.source), "-lm"]
            subprocess.run(words, check=True)  # noqa: S603 -- as above
            once = partial(run, binary, program.words, recorder)
            runs = [(once(HZ), once(0)) for _ in range(pairs)]
            quotients = [sampled.cpu_s / plain.cpu_s for sampled, plain in runs]
            low, high = interval(quotients)
            ns = sum(sampled.sampling_ns for sampled, _ in runs)
            signals = sum(sampled.signals for sampled, _ in runs)
            seconds = sum(sampled.own_s for sampled, _ in runs)
            yield (
                f"| {program.name} | {ns / signals:,.0f} | {signals / seconds:.0f} "
                f"| {ns / seconds / 1e9:.3%} "
                f"| {median(quotients):.4f} ({low:.4f} to {high:.4f}) |"
            )
    yield ""
    yield f"{pairs} pairs of runs, load {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores."


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, prog="python -m experiments.sampling.cost"
    )
    parser.add_argument("--pairs", type=int, default=20)
    for line in page(parser.parse_args().pairs):
        print(line, flush=True)


if __name__ == "__main__":
    main()
