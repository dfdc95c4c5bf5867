"""Programs that are ended early, again and again, with something pending, as Markdown.

::

    python -m experiments.signature.ending [--runs 100] [--ranks 2]

Each run is cut in the middle of a ring of messages: its status is to be 0, what it printed and
wrote before is to be there, and no process may be left.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import numpy as np

from burstline.errors import BurstlineError
from burstline.model import CODES
from burstline.record import Plan, RankPlan, signed_run
from burstline.signature import hashes

_PROGRAMS: Final = Path(__file__).parents[2] / "tests" / "record"
_SETTINGS: Final = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}
STEP: Final = ("MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce")
_STEPS: Final = 50
_PATIENCE_S: Final = 60.0
PENDING: Final[dict[str, tuple[str, ...]]] = {
    "nothing": (),
    "receive": ("MPI_Irecv",),
    "persistent": ("MPI_Start",),
    "eager": ("MPI_Isend",),
    "rendezvous": ("MPI_Isend",),
    "synchronous": ("MPI_Issend",),
    "collective": ("MPI_Iallreduce",),
    "file": (),
    "window": (),
}
"""Counted calls before the ring, by what they leave pending."""
PENDING["all"] = tuple(name for names in PENDING.values() for name in names)
FORTRAN: Final = ("MPI_Irecv", "MPI_Isend")
_MPIS: Final = {"openmpi": "mpirun.openmpi", "mpich": "mpiexec.mpich"}


class Case(NamedTuple):
    """A program, what it is given, and the counted calls before its ring."""

    name: str
    program: Path
    words: tuple[str, ...]
    before: tuple[str, ...]


class Outcome(NamedTuple):
    """What came of the runs of a case."""

    status_0: int = 0
    kept: int = 0
    left: int = 0
    seconds: tuple[float, ...] = ()
    said: str = ""


def plan_of(before: Sequence[str], ranks: int) -> Plan:
    """A plan for a ring that is cut after some steps."""
    names = [*before, *STEP * _STEPS]
    known = hashes(np.array([CODES[name] << 48 for name in names], np.uint64))
    counts = (0, len(before) + len(STEP), len(names))
    rank = RankPlan(counts, tuple(int(known[count]) for count in counts), len(names))
    return Plan((rank,) * ranks, full=False)


def cases(folder: Path, mpi: str) -> Iterator[Case]:
    """The programs for an MPI, which are built; without gfortran those in C alone."""
    languages = {"C": ("mpicc", "ending.c")}
    if shutil.which(f"mpif90.{mpi}") and shutil.which("gfortran"):
        languages["Fortran"] = ("mpif90", "ending.f90")
    for language, (compiler, source) in languages.items():
        program = folder / f"ending-{os.getpid()}-{mpi}-{language}"
        words = [f"{compiler}.{mpi}", "-w", "-O1", "-o", str(program), str(_PROGRAMS / source)]
        subprocess.run(words, check=True)  # noqa: S603 -- a compiler
        if language == "C":
            for pending, before in PENDING.items():
                yield Case(f"{language}, {pending}", program, (pending, "kept"), before)
        else:
            yield Case(f"{language}, receive and rendezvous", program, ("kept",), FORTRAN)


def outcome_of(case: Case, launcher: str, ranks: int, runs: int) -> Outcome:
    """What comes of a case, run after run."""
    outcome, plan = Outcome(), plan_of(case.before, ranks)
    for _ in range(runs):
        for path in Path().glob("kept.*"):
            path.unlink()
        begin = time.monotonic()
        with Path("printed").open("wb") as printed:
            words = [launcher, "-n", str(ranks), str(case.program), *case.words]
            try:
                measured = signed_run(plan, words, patience_s=_PATIENCE_S, stdout=printed)
                code, left, said = measured.code, measured.left, outcome.said
            except BurstlineError as error:
                code, left, said = 1, 0, str(error)
        outcome = Outcome(
            outcome.status_0 + (code == 0),
            outcome.kept + _is_kept(ranks),
            outcome.left + left + _processes(case.program),
            (*outcome.seconds, time.monotonic() - begin),
            said,
        )
    return outcome


def _is_kept(ranks: int) -> bool:
    """Whether all lines are there that were written before the cut, and none from behind it."""
    printed = Path("printed").read_text(encoding="utf-8")
    lines = [f"rank {rank} begins" for rank in range(ranks)]
    files = [Path(f"kept.{rank}").read_text(encoding="utf-8").strip() for rank in range(ranks)]
    return files == lines and all(line in printed for line in lines) and "ends" not in printed


def _processes(program: Path) -> int:
    """How many processes run a program, whose name no other has."""
    return sum(os.fsencode(program) in _words(path) for path in Path("/proc").glob("[0-9]*"))


def _words(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


def main() -> None:
    """Run all cases under each MPI that is here, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--ranks", type=int, default=2)
    chosen = parser.parse_args()
    os.environ.update(_SETTINGS)
    print(
        "| MPI | program, pending | runs | status 0 | output kept | processes left | s a run |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        for mpi, launcher in _MPIS.items():
            if not shutil.which(f"mpicc.{mpi}") or not shutil.which(launcher):
                continue
            for case in cases(Path(name), mpi):
                outcome = outcome_of(case, launcher, chosen.ranks, chosen.runs)
                row = (mpi, case.name, chosen.runs, *outcome[:3])
                seconds = f"{median(outcome.seconds):.2f}"
                print("|", " | ".join(map(str, (*row, seconds))), "|", flush=True)
                if outcome.said:
                    print(outcome.said, file=sys.stderr)
        os.chdir("/")


if __name__ == "__main__":
    main()
