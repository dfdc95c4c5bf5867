"""A signature run: a program that is timed where a plan says, and stopped at its cut.

::

    Plan ──► plan file ──recorder in each rank──► signature.RANK ──► Measurement
             launched as `record` launches           looked at while the program runs

Nobody is left behind, however the run ends: every process that was started has the name of the
run's folder in its environment, and is ended with it.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from burstline.errors import (
    FormatError,
    ParameterError,
)
from burstline.record.building.fitting import fitted
from burstline.record.building.recorder import shared_object
from burstline.record.launching.checks import (
    check_programs,
    choose_abi,
    launcher_abi,
    libraries_of_mpi4py,
    with_paths,
)
from burstline.record.launching.command_line import parse_command, with_environment
from burstline.record.launching.session import program_environment, run_command
from burstline.record.signing.plan import Plan
from burstline.record.signing.refusals import require_all
from burstline.record.signing.stamps import RankStamps, State, read_stamps

_LEFT_S: Final = 2.0
"""Seconds that processes have to end by themselves, and to obey each signal."""
_RARELY: Final = 50
"""Looking at the files of many ranks takes one part in so many of the time."""
_NAP_S: Final = 0.05
_NO_SIGNAL: Final = 0


@dataclass(frozen=True, slots=True)
class Measurement:
    """A signature run that measured all that it was to."""

    ranks: tuple[RankStamps, ...]
    wall_ns: int  # from the start of the command to its end
    code: int  # with which the command ended: 0 at a cut
    left: int  # processes of this machine that outlived it, and were ended
    library: str


def signed_run(
    plan: Plan,
    command: Sequence[str],
    *,
    patience_s: float,
    mpi: str | None = None,
    place: Path | None = None,
    stdout: IO[Any] | None = None,
) -> Measurement:
    """The stamps of a command's ranks, which is ended if it takes longer than its patience.

    `place` takes the files of the run while it lasts: a folder that all machines share.
    """
    parsed = with_paths(parse_command(command))
    check_programs(parsed)
    recorder = fitted(shared_object(choose_abi(parsed, mpi)), libraries_of_mpi4py(parsed))
    place = Path.cwd() if place is None else place
    try:
        folder = tempfile.TemporaryDirectory(
            prefix=".signature-", dir=place, ignore_cleanup_errors=True
        )
    except OSError as error:
        raise ParameterError(f"{place} cannot be written ({error.strerror})") from error
    with folder as name:
        run = _Run(plan, Path(name).resolve(), patience_s)
        environment = program_environment(run.settings(), run.folder, recorder)
        words = with_environment(parsed, environment, launcher_abi(parsed))
        return run.measured(words, stdout)


@dataclass(slots=True)
class _Run:
    """A run, its folder, and how long it may take."""

    plan: Plan
    folder: Path
    patience_s: float
    begin_ns: int = 0
    next_look_ns: int = 0
    is_late: bool = False

    def settings(self) -> dict[str, str]:
        """What the recorder is told."""
        path = self.folder / "plan"
        path.write_bytes(self.plan.to_bytes())
        return {"BURSTLINE_MODE": "signature", "BURSTLINE_PLAN": str(path)}

    def measured(self, words: Sequence[str], stdout: IO[Any] | None) -> Measurement:
        """The measurement of a run, which is made."""
        self.begin_ns = time.monotonic_ns()
        try:
            ended = run_command(
                words,
                stdout=stdout,
                environment=os.environ | self.settings(),
                is_over=self._is_over,
            )
            wall_ns = time.monotonic_ns() - self.begin_ns
        finally:
            left = _end_all(self.folder)
        if ended.interrupted:
            raise KeyboardInterrupt
        ranks = self._ranks()
        require_all(self.plan, ranks, ended, self.patience_s if self.is_late else None)
        return Measurement(tuple(ranks), wall_ns, ended.exit_code(), left, ranks[0].library)

    def _is_over(self) -> bool:
        """Whether nothing more can come of the run."""
        now = time.monotonic_ns()
        self.is_late = now - self.begin_ns > self.patience_s * 1e9
        if self.is_late:
            return True
        if now < self.next_look_ns:
            return False
        try:
            ranks = self._ranks()
        except FormatError:
            return True
        self.next_look_ns = now + _RARELY * (time.monotonic_ns() - now)
        return any(
            rank.state == State.FINALIZING
            and rank.counts != self.plan.of_rank(rank.rank).counts
            for rank in ranks
        )

    def _ranks(self) -> list[RankStamps]:
        """What the ranks left until now, in their order."""
        paths = self.folder.glob("signature.*")
        ranks = [rank for path in paths if (rank := read_stamps(path, self.plan)) is not None]
        return sorted(ranks, key=lambda rank: rank.rank)


def _end_all(folder: Path) -> int:
    """How many processes of a run were left on this machine, and had to be ended."""
    left = []
    for number in (_NO_SIGNAL, signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + _LEFT_S
        while (processes := list(_processes_of(folder))) and time.monotonic() < deadline:
            for process in processes:
                with suppress(OSError):
                    os.kill(process, number)
            time.sleep(_NAP_S)
        left.append(len(processes))
    return left[0]


def _processes_of(folder: Path) -> Iterable[int]:
    """The processes that were started with the name of a folder in their environment."""
    name = os.fsencode(folder)
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if name in (place / "environ").read_bytes():
                yield int(place.name)
