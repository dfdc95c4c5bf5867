"""Precision and rate of matching our own recorded runs of irregular programs.

::

    python -m experiments.merge.recorded [--mpi openmpi|mpich] [--ranks N] [--keep FOLDER]

Builds ``tests/record/irregular.c``, records each of its scenarios twice, the second time with
other completions and extra steps, and prints Markdown like :mod:`experiments.merge.known`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import burstline
from burstline.errors import BurstlineError, printable
from experiments.merge.known import HEAD, row, with_ids

ROOT: Final = Path(__file__).resolve().parents[2]
SOURCE: Final = ROOT / "tests" / "record" / "irregular.c"
_TOOLS: Final = {
    "openmpi": ("mpicc.openmpi", "mpirun.openmpi"),
    "mpich": ("mpicc.mpich", "mpiexec.mpich"),
}


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is run twice.

    Attributes
    ----------
    how : str
        Scenario of the program.
    extra, skipped : int
        Share of the steps that the second run does twice, or leaves out, in per cent.
    depth : int
        Frames of call paths that are recorded.
    loops : bool
        Whether the program is compiled so that its loops are labelled.
    """

    how: str
    extra: int = 10
    skipped: int = 0
    depth: int = 8
    loops: bool = False

    @property
    def name(self) -> str:
        """What the report calls it."""
        words = [self.how, f"{self.extra} % extra" if self.extra else ""]
        words += [f"{self.skipped} % missing" if self.skipped else ""]
        words += ["" if self.depth else "no call paths", "loops" if self.loops else ""]
        return ", ".join(filter(None, words))


SCENARIOS: Final = (
    *map(Scenario, ("waitany", "test", "waitsome", "testsome", "wildcard")),
    *map(Scenario, ("interleaved", "places", "adaptive", "farm")),
    Scenario("farm", extra=0),
    Scenario("blind", extra=0),
    Scenario("mixed"),
    Scenario("mixed", skipped=5),
    Scenario("mixed", depth=0),
)
LOOPS: Final = (
    Scenario("farm", loops=True),
    Scenario("places", loops=True),
    Scenario("blind", extra=0, loops=True),
    Scenario("mixed", depth=0, loops=True),
    Scenario("mixed", skipped=5, loops=True),
)
"""Those that the loops of the program tell more of; they want clang."""


def build(folder: Path, mpi: str, *, loops: bool = False) -> Path:
    """Compile the program into a folder, with its loops labelled or not."""
    program = folder / ("irregular_loops" if loops else "irregular")
    headers = Path(burstline.__file__).parent / "record" / "native"
    before = [sys.executable, "-m", "burstline", "cc", "--loops", "--"] if loops else []
    words: list[str | Path] = [
        *before,
        _TOOLS[mpi][0],
        "-g",
        "-O1",
        "-w",
        "-I",
        headers,
        "-o",
        program,
        SOURCE,
    ]
    compiler = {"OMPI_CC": "clang", "MPICH_CC": "clang"} if loops else {}
    subprocess.run(words, check=True, env=os.environ | compiler)  # noqa: S603 -- our own words
    return program


def record(program: Path, scenario: Scenario, mpi: str, size: Sequence[int]) -> list[Path]:
    """Record a scenario twice.

    Parameters
    ----------
    program : Path
        As :func:`build` made it.
    scenario : Scenario
        What to run.
    mpi : str
        ``openmpi`` or ``mpich``.
    size : sequence of int
        Ranks, steps, messages.

    Returns
    -------
    list of Path
        Two stores beside the program.
    """
    ranks, steps, messages = map(str, size)
    made = []
    for run in (1, 2):
        target = program.with_name(f"{scenario.name.replace(' ', '_')}_run{run}.store")
        varied = [scenario.extra, scenario.skipped] if run == 2 else [0, 0]
        words: list[str | Path] = [
            sys.executable,
            "-m",
            "burstline",
            "record",
            "--force",
            "-o",
            target,
        ]
        words += ["--stack-depth", str(scenario.depth), "--", _TOOLS[mpi][1], "-n", ranks]
        words += [program, scenario.how, steps, messages, *map(str, varied), str(run)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 -- as above
        if done.returncode != 0:
            raise BurstlineError(f"{scenario.name}: {printable(done.stderr.strip())}")
        made.append(target)
    return made


def report(folder: Path, mpi: str, size: Sequence[int]) -> Iterator[str]:
    """Give the lines of the report: a scenario each."""
    program = build(folder, mpi)
    has_loops = shutil.which("clang") is not None
    yield f"| {' | '.join(HEAD)} |"
    yield f"| {' | '.join('---' for _ in HEAD)} |"
    scenarios = (*SCENARIOS, *LOOPS) if has_loops else SCENARIOS
    labelled = build(folder, mpi, loops=True) if has_loops else program
    for scenario in scenarios:
        built = labelled if scenario.loops else program
        runs = [with_ids(path) for path in record(built, scenario, mpi, size)]
        yield row(scenario.name, runs)


def main() -> None:
    """Record, and print the report."""
    parser = argparse.ArgumentParser(prog="python -m experiments.merge.recorded")
    parser.add_argument("--mpi", choices=tuple(_TOOLS), default="openmpi")
    parser.add_argument("--ranks", type=int, default=4, metavar="N")
    parser.add_argument("--steps", type=int, default=40, metavar="N")
    parser.add_argument(
        "--messages", type=int, default=5, metavar="N", help="of a shift, at most"
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where runs are kept")
    wanted = parser.parse_args()
    os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    size = (wanted.ranks, wanted.steps, wanted.messages)
    with tempfile.TemporaryDirectory(prefix="burstline-") as folder:
        place = wanted.keep or Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        for line in report(place.resolve(), wanted.mpi, size):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
