"""A run under the recorder: the folder of raw files, the program, and what came of it.

::

    folder ──run──► p-HOST-PID.t-T.raw … ──survey──► ranks, records, dropped, how ranks ended

A program that fails, is killed or is interrupted leaves its files, and they are as good as
any up to that moment.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, Final

from burstline.errors import NotEnoughDataError, ParameterError, printable
from burstline.progress import SILENCE, Progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import FrameType

_CHUNK: Final = 1 << 20
_ENDING: Final = ((signal.SIGINT, 5.0), (signal.SIGTERM, 5.0), (signal.SIGKILL, None))
"""What an interrupted program is told, and how many seconds it may take about it."""
_TERMINAL_S: Final = 5.0
"""How long a program may take that has been told by the terminal."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    interrupted: bool

    def exit_code(self) -> int:
        """What a shell would: 128 and the signal for what a signal ended."""
        return 128 - self.code if self.code < 0 else self.code


@dataclass(slots=True)
class Survey:
    """What the raw files of a run hold, and how its ranks ended."""

    files: int = 0
    ranks: dict[int, set[str]] = field(default_factory=dict)
    size: int = 0
    records: int = 0
    dropped: int = 0
    overhead_ns: int = 0
    ended: dict[int, str] = field(default_factory=dict)

    def missing(self) -> int:
        """Count the ranks that left no file."""
        return max(self.size - len(self.ranks), 0)

    def alone(self) -> bool:
        """Whether several processes each took themselves for the only rank."""
        return self.size == 1 and len(self.ranks.get(0, ())) > 1


def make_folder(output: Path, keep: Path | None) -> Path:
    """Make the folder of a run's raw files."""
    folder = keep or output.with_name(f".{output.name}.{secrets.token_hex(4)}.raw")
    try:
        folder.mkdir(exist_ok=keep is not None)
        if any(folder.iterdir()):
            raise ParameterError(f"{folder} is not empty; raw files want a folder of their own")
        probe = folder / ".probe"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ParameterError(
            f"{folder.parent} cannot be written ({(error.strerror or 'error').lower()}). "
            "Choose another place: -o FOLDER/NAME.prv"
        ) from error
    return folder.resolve()


def run_command(words: Sequence[str], *, stdout: IO[Any] | None = None) -> Ended:
    """Run a command to its end; Ctrl-C and SIGTERM end it, not us."""
    try:
        process = subprocess.Popen(words, stdout=stdout)  # noqa: S603 -- what the user wants
    except OSError as error:
        raise ParameterError(f"{printable(words[0])}: {error.strerror}") from error
    with _terminations_interrupt():
        return _wait(process)


def survey(folder: Path, progress: Progress = SILENCE) -> Survey:
    """Go through the raw files of a run that is over, and put their tails to them.

    O(records), a piece of a file at a time.
    """
    from burstline.formats.raw import HEADER_BYTES, settle  # noqa: PLC0415 -- only after a run

    settle(folder, HEADER_BYTES)
    found, paths = Survey(), sorted(folder.glob("*.raw"))
    progress.step("Looking through", len(paths), "files")
    for path in paths:
        _add(found, path)
        progress.advance(1)
    return found


def require_ranks(found: Survey) -> None:
    """See to it that there is something to make a trace of."""
    if found.alone():
        raise NotEnoughDataError(
            f"{len(found.ranks[0])} processes ran, each as the only rank: launcher and "
            "program belong to different MPIs, or do not speak to each other. Start the "
            "program with the launcher of its own MPI; with srun, try --mpi=pmix or --mpi=pmi2"
        )
    if not found.ranks:
        raise NotEnoughDataError(
            "no rank recorded anything: the program does not call MPI, has MPI linked into "
            "itself, or uses another MPI than the recorder is for (--mpi)"
        )


def _wait(process: subprocess.Popen[bytes]) -> Ended:
    steps = iter(_ENDING)
    patience: float | None = None
    interrupted = False
    while True:
        try:
            return Ended(process.wait(patience), interrupted)
        except (KeyboardInterrupt, subprocess.TimeoutExpired) as event:
            first, interrupted = not interrupted, True
            if first and type(event) is KeyboardInterrupt and _has_terminal():
                patience = _TERMINAL_S
                continue
            told, patience = next(steps, _ENDING[-1])
            process.send_signal(told)


class _Terminated(KeyboardInterrupt):
    """We were asked to end; nobody else was."""


def _has_terminal() -> bool:
    """Whether Ctrl-C goes to the program, too: all in the foreground get it."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


@contextmanager
def _terminations_interrupt() -> Iterator[None]:
    """Treat SIGTERM, with which batch systems announce the end, as Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise _Terminated


def _add(found: Survey, path: Path) -> None:
    import numpy as np  # noqa: PLC0415 -- slow, and only needed after a run

    from burstline.formats.intake import Defects  # noqa: PLC0415 -- as above
    from burstline.formats.raw import HEADER_BYTES, Kind, stored  # noqa: PLC0415 -- as above

    records = stored(path, HEADER_BYTES, Defects())
    if not len(records):
        return
    found.files += 1
    rank: int | None = None
    left = (0, 0)
    wanted = (Kind.RANK, Kind.GAP, Kind.OVERHEAD, Kind.LEFT)
    for start in range(0, len(records), _CHUNK):
        piece = records[start : start + _CHUNK]
        kind = np.asarray(piece["kind"])
        found.records += int(np.count_nonzero(kind))
        for row in piece[np.isin(kind, wanted)].tolist():
            _, what, op, a, b, c = row
            if what == Kind.RANK:
                rank, found.size = a, max(found.size, b)
            elif what == Kind.GAP:
                found.dropped += c
            elif what == Kind.OVERHEAD:
                found.overhead_ns += b * c
            else:
                left = (op, a)
    if rank is not None:
        found.ranks.setdefault(rank, set()).add(path.name.partition(".")[0])
        if (said := _how(*left)) is not None:
            found.ended[rank] = said


def _how(left: int, detail: int) -> str | None:
    """What ended a rank, unless it ended in order."""
    from burstline.formats.raw import Ending  # noqa: PLC0415 -- as above

    if left == 0:
        return "was killed"
    if left == Ending.ABORT:
        return f"called MPI_Abort({detail})"
    if left == Ending.SIGNAL:
        names = {one.value: one.name for one in signal.Signals}
        return f"was ended by {names.get(detail, f'signal {detail}')}"
    return None


def program_environment(
    settings: dict[str, str], folder: Path, recorder: Path
) -> dict[str, str]:
    """The environment of a rank that is recorded."""
    own = {name: text for name, text in os.environ.items() if name.startswith("BURSTLINE_")}
    others = os.environ.get("LD_PRELOAD", "")
    preload = f"{recorder}:{others}" if others else str(recorder)
    return own | settings | {"BURSTLINE_DIR": str(folder), "LD_PRELOAD": preload}
