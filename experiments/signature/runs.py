"""Builds the programs, records them, runs their signatures, and runs them whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from burstline.errors import BurstlineError, printable

SOURCES: Final = Path(__file__).parent / "programs"
RANKS: Final = 2
METHODS: Final = ("loops", "epas", "pas2p")
_SETTINGS: Final = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}
_CROWDED: Final = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}
"""Who waits gives its core to others, where there are more ranks than cores."""
_ENDS: Final = ("--calls", "MPI_Init,MPI_Finalize", "--counters", "none", "--stack-depth", "0")
_COMPILERS: Final = {".c": "mpicc", ".f90": "mpif90"}
_LONGEST_S: Final = 900


@dataclass(frozen=True, slots=True)
class Configuration:
    """How a program is built, and how large its arrays are."""

    mpi: str
    level: str
    size: int

    def __str__(self) -> str:
        return f"{self.mpi} {self.level} {self.size}"


@dataclass(frozen=True, slots=True)
class Program:
    """A program with the configuration that is recorded, and those that are predicted.

    The calls of all of them are the same. `crowded_size` and `crowded_steps` are of runs with
    more ranks, whose traces are there to be analysed: their times tell little.
    """

    source: str
    steps: int
    base: Configuration
    targets: tuple[Configuration, ...]
    crowded_size: int
    crowded_steps: int
    irregular: bool = False

    @property
    def name(self) -> str:
        """The name of its source, without the ending."""
        return Path(self.source).stem


PROGRAMS: Final = (
    Program(
        "wavefront.c",
        25_000,
        Configuration("openmpi", "-O3", 32),
        (Configuration("openmpi", "-O2", 34), Configuration("mpich", "-O3", 32)),
        crowded_size=32,
        crowded_steps=300,
    ),
    Program(
        "sweeps.f90",
        28_000,
        Configuration("openmpi", "-O1", 36),
        (Configuration("openmpi", "-O3", 38), Configuration("mpich", "-O1", 36)),
        crowded_size=32,
        crowded_steps=1000,
    ),
    Program(
        "conjugate.c",
        17_000,
        Configuration("openmpi", "-O3", 20),
        (Configuration("mpich", "-O3", 20), Configuration("openmpi", "-O3", 22)),
        crowded_size=16,
        crowded_steps=200,
    ),
    Program(
        "bodies.c",
        1500,
        Configuration("openmpi", "-O1", 1600),
        (Configuration("openmpi", "-O3", 1700), Configuration("mpich", "-O1", 1600)),
        crowded_size=320,
        crowded_steps=2000,
    ),
    Program(
        "farm.c",
        1000,
        Configuration("openmpi", "-O3", 6000),
        (Configuration("openmpi", "-O1", 6000), Configuration("mpich", "-O3", 6500)),
        crowded_size=500,
        crowded_steps=2000,
        irregular=True,
    ),
    Program(
        "growing.f90",
        10_500,
        Configuration("openmpi", "-O1", 120),
        (Configuration("openmpi", "-O3", 140), Configuration("mpich", "-O1", 120)),
        crowded_size=100,
        crowded_steps=150,
        irregular=True,
    ),
)


class Site:
    """A folder in which programs are built, recorded and run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)

    def build(self, program: Program, configuration: Configuration) -> str:
        """The built program, relative to the folder."""
        name = f"{program.name}.{configuration.mpi}{configuration.level}"
        if not (self.folder / name).exists():
            source = SOURCES / program.source
            compiler = f"{_COMPILERS[source.suffix]}.{configuration.mpi}"
            places = ["-J", self._modules(name)] if source.suffix == ".f90" else []
            words = [compiler, "-g", configuration.level, "-fno-math-errno", *places]
            self._run([*words, "-o", name, str(source), "-lm"])
        return f"./{name}"

    def command(
        self, program: Program, configuration: Configuration, steps: int, ranks: int = RANKS
    ) -> list[str]:
        """What runs a configuration."""
        built = self.build(program, configuration)
        launcher = [f"mpirun.{configuration.mpi}", "-n", str(ranks)]
        return [*launcher, built, str(configuration.size), str(steps)]

    def record(self, command: Sequence[str], store: str, *options: str) -> Path:
        """A trace of a run."""
        self.burstline("record", "--force", *options, "-o", store, "--", *command)
        return self.folder / store

    def seconds(self, command: Sequence[str]) -> float:
        """How long a run takes from `MPI_Init` to `MPI_Finalize`, which are all it records."""
        store = self.record(command, "whole.store", *_ENDS)
        runtime_ns = self.document("info", store.name)["efficiency"]["runtime_ns"]
        return float(runtime_ns) / 1e9

    def sign(self, traces: Sequence[Path], method: str, signature: str) -> None:
        """Build the signature of recorded runs."""
        names = [str(path) for path in traces]
        options = ["--method", method, "--force", "-o", signature]
        self.burstline("signature", "build", *names, *options)

    def measure(self, signature: str, command: Sequence[str], measured: str) -> str:
        """Run a signature: what it measured, relative to the folder."""
        options = ["--force", "-o", measured]
        self.burstline("signature", "run", signature, *options, "--", *command)
        return measured

    def predict(self, signature: str, measured: Sequence[str]) -> dict[str, Any]:
        """What runs of the signature predict together."""
        return self.document("predict", signature, *measured)

    def document(self, *words: str) -> dict[str, Any]:
        """What a command prints for programs."""
        document: dict[str, Any] = json.loads(self.burstline(*words, "--format", "json"))
        return document

    def burstline(self, command: str, *words: str) -> str:
        """What a command of burstline prints."""
        return self._run([sys.executable, "-m", "burstline", command, *words])

    def _modules(self, name: str) -> str:
        (self.folder / f"{name}.modules").mkdir(exist_ok=True)
        return f"{name}.modules"

    def _run(self, words: Sequence[str]) -> str:
        crowded = "-n" in words and int(words[words.index("-n") + 1]) > (os.cpu_count() or 1)
        done = subprocess.run(  # noqa: S603 -- our own words
            words,
            cwd=self.folder,
            env=os.environ | _SETTINGS | (_CROWDED if crowded else {}),
            capture_output=True,
            text=True,
            check=False,
            timeout=_LONGEST_S,
        )
        if done.returncode != 0:
            raise BurstlineError(f"{' '.join(words)}: {printable(done.stderr.strip())}")
        return str(done.stdout)
