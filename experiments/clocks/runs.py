"""Builds the programs, runs them plainly, and records them with the counters of each clock."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from burstline.errors import BurstlineError, printable

PROGRAMS: Final = Path(__file__).parent / "programs"
SETTINGS: Final = {
    "OMPI_CC": "clang",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}
PASSIVE: Final = {"OMPI_MCA_mpi_yield_when_idle": "1", "OMP_WAIT_POLICY": "passive"}
"""Who waits gives the core to others, where there are more threads than cores."""
_PHASE: Final = re.compile(r"^phase (\w+) (\S+) (\S+)$", re.MULTILINE)
_SUMS: Final = {
    "structure": ("init", "total"),
    "assembly": ("init", "total"),
    "solve": ("total",),
}
_OPTIONS: Final = ("-g", "-O2", "-fopenmp", "-lm")
_FILTER: Final = "-.omp_outlined*\n"
"""Bodies of parallel regions, which are regions of OpenMP already."""


@dataclass(frozen=True, slots=True)
class Mode:
    """How a program is built and recorded."""

    count: str | None = None  # kinds of work that the program counts
    counters: str | None = "none"  # recorded ones; None: nothing is recorded


MODES: Final = {
    "unrecorded": Mode(counters=None),
    "tsc": Mode(),
    "lt_1": Mode(),
    "lt_loop": Mode("iterations", "IR_LOOP_ITER"),
    "lt_bb": Mode("blocks", "IR_BB"),
    "lt_stmt": Mode("statements", "IR_TOT_INS"),
}
"""What each clock needs; `lt_hwctr` is taken from the statements, as there is no counter."""
ALL_CLOCKS: Final = Mode("clocks", "clocks")


@dataclass(frozen=True, slots=True)
class Configuration:
    """A program with its input, ranks and threads, named as what it is like."""

    name: str
    program: str
    words: tuple[str, ...]
    ranks: int
    threads: int

    @property
    def fits(self) -> bool:
        """Whether each thread has a core."""
        return self.ranks * self.threads <= (os.cpu_count() or 1)

    def __str__(self) -> str:
        return f"{self.name} ({self.ranks} x {self.threads})"


Seconds: TypeAlias = Mapping[str, tuple[float, float]]
"""Wall and CPU time of the last rank, by phase, and those of several phases."""


class Site:
    """A folder in which programs are built and recorded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.environment = os.environ | SETTINGS
        (self.folder / "functions").write_text(_FILTER)
        self._built: set[str] = set()

    def record(
        self, configuration: Configuration, mode: Mode, store: str = "last.store"
    ) -> tuple[Seconds, Path]:
        """The times of a run, and where its trace is if it was recorded."""
        program = self._program(configuration.program, mode)
        words = ["mpirun.openmpi", "-n", str(configuration.ranks), f"./{program}"]
        words += configuration.words
        if mode.counters is not None:
            options = ["--force", "--quiet", "--stack-depth", "0", "--functions", "functions"]
            options += ["--counters", mode.counters, "-o", store]
            words = [*_burstline("record"), *options, "--", *words]
        settings = {"OMP_NUM_THREADS": str(configuration.threads)}
        printed = self._run(words, settings if configuration.fits else settings | PASSIVE)
        sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for phase, *seconds in _PHASE.findall(printed):
            for name in (phase, *_SUMS[phase]):
                for k in range(2):
                    sums[name][k] += float(seconds[k])
        return {name: (wall, cpu) for name, (wall, cpu) in sums.items()}, self.folder / store

    def _program(self, source: str, mode: Mode) -> str:
        kind = "plain" if mode.counters is None else mode.count or "entered"
        name = f"{source}.{kind}"
        if name not in self._built:
            words = ["mpicc.openmpi", str(PROGRAMS / f"{source}.c"), "-o", name, *_OPTIONS]
            if mode.counters is not None:
                words.append("-finstrument-functions")
            if mode.count is not None:
                words = [*_burstline("cc"), "--count", mode.count, "--", *words]
            self._run(words, {})
            self._built.add(name)
        return name

    def _run(self, words: Sequence[str], settings: Mapping[str, str]) -> str:
        done = subprocess.run(  # noqa: S603 -- our own words
            words,
            cwd=self.folder,
            env=self.environment | dict(settings),
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        if done.returncode != 0:
            raise BurstlineError(f"{' '.join(words)}: {printable(done.stderr.strip())}")
        return str(done.stdout)


def _burstline(command: str) -> list[str]:
    return [sys.executable, "-m", "burstline", command]
