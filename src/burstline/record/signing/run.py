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
    InconsistentTraceError,
    NotEnoughDataError,
    ParameterError,
    plural,
)
from burstline.record.building.fitting import recorder_for
from burstline.record.launching.checks import launcher_abi, with_local_paths
from burstline.record.launching.command_line import parse_command, with_environment
from burstline.record.launching.session import Ended, program_environment, run_command
from burstline.record.signing.plan import Plan
from burstline.record.signing.stamps import RankStamps, State, read_stamps

_MOST_NAMED: Final = 8

_LEFT_S: Final = 2.0
"""Seconds that processes have to end by themselves, and to obey each signal."""
_RARELY: Final = 50
"""Looking at the files of many ranks takes one part in so many of the time."""
_NAP_S: Final = 0.05
_NO_SIGNAL: Final = 0


@dataclass(frozen=True, slots=True)
class SignedRun:
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
) -> SignedRun:
    """The stamps of a command's ranks, which is ended if it takes longer than its patience.

    `place` takes the files of the run while it lasts: a folder that all machines share.
    """
    parsed = with_local_paths(parse_command(command))
    recorder = recorder_for(parsed, mpi)
    place = Path.cwd() if place is None else place
    try:
        folder = tempfile.TemporaryDirectory(
            prefix=".signature-", dir=place, ignore_cleanup_errors=True
        )
    except OSError as error:
        raise ParameterError(f"{place} cannot be written ({error.strerror})") from error
    with folder as name:
        run = _SignatureRun(plan, Path(name).resolve(), patience_s)
        environment = program_environment(run.settings(), run.folder, recorder)
        words = with_environment(parsed, environment, launcher_abi(parsed))
        return run.measured(words, stdout)


@dataclass(slots=True)
class _SignatureRun:
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

    def measured(self, words: Sequence[str], stdout: IO[Any] | None) -> SignedRun:
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
        return SignedRun(tuple(ranks), wall_ns, ended.exit_code(), left, ranks[0].library)

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


def require_all(
    plan: Plan, ranks: Sequence[RankStamps], ended: Ended, patience_s: float | None
) -> None:
    """Raise an error that says why, if not every rank did what was planned."""
    if not ranks:
        raise NotEnoughDataError(
            f"the program ended with code {ended.exit_code()} before any rank had passed "
            "MPI_Init under the recorder: it does not call MPI, has MPI linked into itself, "
            "or runs without the recorder"
            if patience_s is None
            else f"no rank came to MPI_Init in {patience_s:g} s"
        )
    for rank in sorted(ranks, key=lambda rank: rank.state != State.DISAGREES):
        _require_fit(plan, rank)
    missing = set(range(ranks[0].size)) - {rank.rank for rank in ranks}
    unfinished = [rank for rank in ranks if not rank.is_done(plan)]
    if missing or unfinished:
        _refuse_unfinished(plan, ranks, ended, patience_s)


def _require_fit(plan: Plan, rank: RankStamps) -> None:
    """Raise an error if a rank is none that the plan is for."""
    expected = plan.of_rank(rank.rank)
    if rank.state == State.DISAGREES:
        agreed = f"up to call {rank.counts[-1]:,}" if rank.counts else "nowhere"
        raise InconsistentTraceError(
            f"rank {rank.rank} makes other calls than the program of the signature: at "
            f"boundary {len(rank.counts) + 1} of {len(expected.counts)}, after {rank.count:,} "
            f"counted calls, their hash is {rank.hash:#018x}, and "
            f"{expected.hashes[len(rank.counts)]:#018x} was expected after "
            f"{expected.counts[len(rank.counts)]:,}; they agreed {agreed}. Use the program "
            "and the input that the signature was made of"
        )
    if rank.state == State.THREADED:
        raise NotEnoughDataError(
            "the program has MPI_THREAD_MULTIPLE: the order of its calls may differ from run "
            "to run, and a signature counts calls. Ask MPI for MPI_THREAD_SERIALIZED or less"
        )
    if rank.state == State.OTHER_WORLD:
        if plan.ranks and rank.size != len(plan.ranks):
            raise InconsistentTraceError(
                f"the program ran with {plural(rank.size, 'rank')}, and the signature is of "
                f"{len(plan.ranks)}"
            )
        raise NotEnoughDataError(
            f"rank {rank.rank}: several programs in one run, and processes that are spawned or "
            "joined, have no signature"
        )
    if rank.state == State.NO_PLAN:
        raise NotEnoughDataError(
            f"rank {rank.rank} could not use the plan or make its file; it says above why"
        )
    if rank.state == State.FINALIZING and rank.counts != expected.counts:
        raise InconsistentTraceError(
            f"rank {rank.rank} came to MPI_Finalize after {rank.count:,} counted calls, and "
            f"the signature has boundaries up to call {expected.counts[-1]:,}: another input, "
            "or a smaller number of steps"
        )


def _refuse_unfinished(
    plan: Plan, ranks: Sequence[RankStamps], ended: Ended, patience_s: float | None
) -> None:
    """Raise an error that says where each rank was."""
    first = sorted(ranks, key=lambda rank: (rank.is_done(plan), rank.state, rank.rank))
    places = "; ".join(_whereabouts(plan, rank) for rank in first[:_MOST_NAMED])
    if len(ranks) > _MOST_NAMED:
        places += f"; and {len(ranks) - _MOST_NAMED} more"
    if absent := ranks[0].size - len(ranks):
        places += (
            f"; {absent} of {plural(ranks[0].size, 'rank')} left no file here: all machines of "
            "a run must share this folder"
        )
    if patience_s is not None:
        raise NotEnoughDataError(
            f"the program was ended after {patience_s:g} s, the patience of this run: {places}"
        )
    if ended.code:
        raise NotEnoughDataError(
            f"the program ended with code {ended.exit_code()} before it was measured: {places}"
        )
    raise InconsistentTraceError(f"the program ended before it was measured: {places}")


def _whereabouts(plan: Plan, rank: RankStamps) -> str:
    """Where a rank was, as a clause."""
    expected = plan.of_rank(rank.rank).counts
    counted = f"{rank.count:,} counted calls"
    if expected:
        counted = f"{rank.count:,} of {expected[-1]:,} counted calls"
    if rank.state == State.WAITING:
        return f"rank {rank.rank} waited at its cut for the others, after {counted}"
    if rank.state in {State.CUT, State.FINALIZING}:
        return f"rank {rank.rank} ended after {counted}"
    if rank.operation is None:
        return f"rank {rank.rank} was in no MPI call, after {counted}"
    return f"rank {rank.rank} was in {rank.operation}, after {counted}"
