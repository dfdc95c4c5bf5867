"""A run under the recorder: its folder of raw files, the program, and its outcome.

::

    folder ──run──► p-HOST-PID.raw … ──survey──► ranks, records, dropped, how ranks ended

The files of a program that fails, is killed or is interrupted are good up to that moment.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt

from burstline.errors import FormatError, NotEnoughDataError, ParameterError, printable
from burstline.formats import atomic, raw
from burstline.progress import SILENCE, Progress

_CHUNK: Final = 1 << 20
_ENDING: Final = ((signal.SIGINT, 5.0), (signal.SIGTERM, 5.0), (signal.SIGKILL, None))
"""Signals to an interrupted program, and the seconds it has to obey each."""
_LEAVE_FREE: Final = 1 << 30
"""Bytes of the disk that stay free if nothing else is said, or 1 %; see ``output.c``."""
_STRANGER: Final = (1 << 32) - 3
"""The other side of a message, if it is no rank of this run; see ``raw.h``."""
_OF_BORDERS: Final = 1
_OF_THREADS: Final = 2
"""What a record of kind ``OVERHEAD`` tells of, if not of calls; see ``raw.h``."""
_SPAWNS: Final = ("MPI_Comm_spawn", "MPI_Comm_spawn_multiple")
_STRIPPED: Final = "LD_PRELOAD is taken out of its environment, as env -i and sudo do"
_GLANCE_S: Final = 0.1
"""Seconds between two looks at a command that somebody watches."""
_TERMINAL_S: Final = 5.0
"""Seconds for a program that got Ctrl-C from the terminal."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a command."""

    code: int
    interrupted: bool

    def exit_code(self) -> int:
        """The exit code of a shell: 128 and the signal for what a signal ended."""
        return 128 - self.code if self.code < 0 else self.code


@dataclass(slots=True)
class Survey:
    """Contents of the raw files of a run, and the ends of its ranks."""

    threads: int = 0
    gone: bool = False  # the folder was removed
    ranks: dict[int, set[str]] = field(default_factory=dict)
    size: int = 0
    records: int = 0
    dropped: int = 0
    calls: int = 0
    overhead_ns: int = 0
    reading_ns: int = 0  # of the overhead
    threads_ns: int = 0  # what their beginnings and ends took, beside the overhead of calls
    sampling_ns: int = 0  # what samples of call stacks took
    signals: int = 0  # how many of them came
    borders: int = 0  # of functions that reported themselves
    border_ns: int = 0  # what recording one takes
    spawned: bool = False
    strange: int = 0  # sends and receives whose other side is no rank of this run
    failed: Counter[str] = field(default_factory=Counter)  # calls that returned an error
    ended: dict[int, str] = field(default_factory=dict)

    def missing(self, chosen: Sequence[range] | None = None) -> int:
        """The number of ranks that left no file, of those that were to leave one."""
        if chosen is None:
            return max(self.size - len(self.ranks), 0)
        wanted = {rank for span in chosen for rank in span if rank < self.size}
        return len(wanted - self.ranks.keys())

    def alone(self) -> bool:
        """Whether several processes were rank 0 of 1 each."""
        return self.size == 1 and len(self.ranks.get(0, ())) > 1


def make_folder(output: Path, keep: Path | None) -> Path:
    """A new folder for the raw files of a run."""
    folder = keep or output.with_name(f".{output.name}.{secrets.token_hex(4)}.raw")
    try:
        folder.mkdir(exist_ok=keep is not None)
        if any(folder.iterdir()):
            raise ParameterError(f"{folder} is not empty; raw files want a folder of their own")
        probe = folder / ".probe"
        probe.touch()
        probe.unlink()
    except OSError as error:
        # Of a folder that is there and takes no files, like /proc, the system says it is not.
        missing = error.errno == errno.ENOENT
        reason = "it takes no files" if missing else (error.strerror or "error").lower()
        raise ParameterError(
            f"{folder.parent} cannot be written ({reason}). "
            "Choose another place: -o FOLDER/NAME.prv"
        ) from error
    if keep is None:
        atomic.lock(folder)  # as long as we run: nobody takes it for one that was left
    return folder.resolve()


def require_room(place: Path, leave_free: int | None) -> None:
    """Raise ParameterError if a disk has less room than is to stay free, in bytes."""
    disk = shutil.disk_usage(place)
    kept = min(disk.total // 100, _LEAVE_FREE) if leave_free is None else leave_free
    if disk.free < kept:
        raise ParameterError(
            f"the disk of {place} has {disk.free / 1e6:,.0f} MB left, of which "
            f"{kept / 1e6:,.0f} MB are to stay free (`leave_free`): nothing could be "
            "recorded. Choose another place: -o FOLDER/NAME.prv"
        )


def run_command(
    words: Sequence[str],
    *,
    stdout: IO[Any] | None = None,
    environment: Mapping[str, str] | None = None,
    is_over: Callable[[], bool] | None = None,
) -> Ended:
    """The end of a command, which is run; Ctrl-C and SIGTERM end it, not us.

    It is ended as soon as `is_over`, which is asked now and then, says so.
    """
    try:
        process = subprocess.Popen(words, stdout=stdout, env=environment)  # noqa: S603 -- what the user wants
    except OSError as error:
        raise ParameterError(f"{printable(words[0])}: {error.strerror}") from error
    with _terminations_interrupt():
        return _wait(process, is_over)


def survey(folder: Path, progress: Progress = SILENCE) -> Survey:
    """The survey of a run that is over, whose raw files get their tails; O(records)."""
    raw.settle(folder)
    run, paths = Survey(gone=not folder.is_dir()), sorted(folder.glob("*.raw"))
    progress.step("Looking through", len(paths), "files")
    for path in paths:
        _add_file(run, path)
        progress.advance(1)
    return run


def require_ranks(run: Survey, unseen: str | None = None, *, chosen: bool = False) -> None:
    """Raise NotEnoughDataError if there is nothing to make a trace of.

    `unseen` is a program that finds MPI without the linker; `chosen` says that not all ranks
    were to be recorded.
    """
    if run.alone():
        raise NotEnoughDataError(
            f"{len(run.ranks[0])} processes ran, each as the only rank: launcher and "
            "program belong to different MPIs, or do not speak to each other. Start the "
            "program with the launcher of its own MPI; with srun, try --mpi=pmix or --mpi=pmi2"
        )
    if not run.ranks:
        reason = _reason(run, unseen) or (
            "the program does not call MPI, has MPI linked into itself, looks its functions up "
            "in its library (dlsym, ctypes, ccall), uses another MPI than the recorder is for "
            f"(`mpi`), finds no room on the disk, or runs without the recorder: {_STRIPPED}"
        )
        others = "the program has none of the ranks in `ranks`, or " if chosen else ""
        raise NotEnoughDataError(f"no rank recorded anything: {others}{reason}")


def nothing_recorded(
    run: Survey, code: int, launcher: str | None, unseen: str | None = None
) -> str:
    """The sentence on a command that failed, and of which no rank is recorded."""
    text = f"the program ended with code {code}, and no rank recorded anything; no trace."
    if reason := _reason(run, unseen):
        return f"{text} The reason: {reason}"
    text = (
        f"{text} It ended before MPI_Init, found no room on the disk, or ran without the "
        f"recorder: {_STRIPPED}"
    )
    if launcher is None:
        return text
    return f"{text}. Where {launcher} names env above, it means the program, which env starts"


def _reason(run: Survey, unseen: str | None) -> str | None:
    """Why no rank recorded anything, where that is certain."""
    if run.gone:
        return "the folder of the raw files was removed while the program ran, by it or others"
    if unseen is None or run.threads:
        return None
    return (
        f"{printable(unseen)} is not linked with MPI and looks its functions up by dlsym, "
        "which passes the recorder over. Link it with MPI (mpicc), or ask RTLD_DEFAULT for "
        "them (in ctypes: load the library with RTLD_GLOBAL, and ask CDLL(None))"
    )


def _wait(process: subprocess.Popen[bytes], is_over: Callable[[], bool] | None) -> Ended:
    steps = iter(_ENDING)
    patience: float | None = None
    interrupted = False
    while True:
        try:
            return Ended(_code(process, patience, is_over), interrupted)
        except KeyboardInterrupt as event:
            first, interrupted = not interrupted, True
            if first and type(event) is KeyboardInterrupt and _has_terminal():
                patience = _TERMINAL_S
                continue
        except subprocess.TimeoutExpired:
            pass
        number, patience = next(steps, _ENDING[-1])
        process.send_signal(number)


def _code(
    process: subprocess.Popen[bytes], patience: float | None, is_over: Callable[[], bool] | None
) -> int:
    """The code with which a process ends by itself, or TimeoutExpired."""
    if patience is not None or is_over is None:
        return process.wait(patience)
    while True:
        try:
            return process.wait(_GLANCE_S)
        except subprocess.TimeoutExpired:
            if is_over():
                raise


class _SignalToUs(KeyboardInterrupt):
    """A signal to us alone, not to the program."""


def _has_terminal() -> bool:
    """Whether Ctrl-C goes to the program, too, as to all in the foreground."""
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
    """A time in which SIGTERM, with which batch systems announce the end, is Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise _SignalToUs


def _add_file(run: Survey, path: Path) -> None:
    try:
        threads = raw.stored(path)
    except FormatError:
        return  # whoever reads it says why
    for records in threads:
        if len(records):
            _add_thread(run, records, path.name.partition(".")[0])


def _add_thread(run: Survey, records: Any, process: str) -> None:  # noqa: ANN401 -- as of an array
    names, kinds = raw.operation_numbers(), raw.Kind
    spawns = [op for op, name in names.items() if name in _SPAWNS]
    run.threads += 1
    rank: int | None = None
    left, unsettled = (0, 0), 0
    wanted = (kinds.RANK, kinds.GAP, kinds.OVERHEAD, kinds.SAMPLING, kinds.LEFT)
    for start in range(0, len(records), _CHUNK):
        piece = records[start : start + _CHUNK]
        kind = np.asarray(piece["kind"])
        run.records += int(np.count_nonzero(kind))
        refused = (kind == kinds.LEAVE) & (piece["a"] != 0)
        run.failed.update(names.get(op, f"operation {op}") for op in piece["op"][refused])
        moved = (kind == kinds.SEND) | (kind == kinds.RECEIVE)
        strange, unsettled = _strange(
            kind == kinds.ENTER, refused, moved & (piece["a"] == _STRANGER), unsettled
        )
        run.strange += strange
        run.spawned |= bool(np.isin(piece["op"][kind == kinds.ENTER], spawns).any())
        for row in piece[np.isin(kind, wanted)].tolist():
            _, record_kind, op, a, b, c = row
            if record_kind == kinds.RANK:
                rank, run.size = a, max(run.size, b)
            elif record_kind == kinds.GAP:
                run.dropped += c
            elif record_kind == kinds.SAMPLING:
                run.sampling_ns += c
                run.signals += b >> 32
            elif record_kind == kinds.OVERHEAD:
                _add_costs(run, op, a, b, c)
            else:
                left = (op, a)
    if rank is not None:
        run.ranks.setdefault(rank, set()).add(process)
        if (ending := _end_of(*left)) is not None:
            run.ended[rank] = ending


def _add_costs(run: Survey, of: int, reading_ns: int, each_ns: int, count: int) -> None:
    if of == _OF_BORDERS:
        run.borders += count
        run.border_ns = max(run.border_ns, each_ns)
    elif of == _OF_THREADS:
        run.threads_ns += each_ns * count
    else:
        run.calls += count
        run.overhead_ns += each_ns * count
        run.reading_ns += min(reading_ns, each_ns) * count


def _strange(
    entered: npt.NDArray[np.bool_],
    refused: npt.NDArray[np.bool_],
    strangers: npt.NDArray[np.bool_],
    before: int,
) -> tuple[int, int]:
    """How many records with a stranger are of no refused call, and how many of the last call.

    `before` are those of the call that was not left yet, which may still be refused.
    """
    if not before and not strangers.any():
        return 0, 0
    call = entered.cumsum()  # 0: entered before
    refusals = set(call[refused].tolist())
    of_calls = call[strangers].tolist()
    kept = sum(one not in refusals for one in of_calls) - (before if 0 in refusals else 0)
    return kept, of_calls.count(call[-1]) + (before if call[-1] == 0 else 0)


def _end_of(left: int, detail: int) -> str | None:
    """The end of a rank in words, None if it ended in order."""
    if left == 0:
        return "ended without notice, by SIGKILL, _exit or exec"
    if left == raw.Ending.ABORT:
        return f"called MPI_Abort({detail})"
    if left == raw.Ending.SIGNAL:
        names = {number.value: number.name for number in signal.Signals}
        return f"was ended by {names.get(detail, f'signal {detail}')}"
    return None


def program_environment(
    settings: dict[str, str], folder: Path, *preloaded: Path
) -> dict[str, str]:
    """The environment of a rank that is recorded."""
    inherited = {
        name: text for name, text in os.environ.items() if name.startswith("BURSTLINE_")
    }
    others = os.environ.get("LD_PRELOAD", "")
    preload = ":".join(filter(None, [*map(str, preloaded), others]))
    return inherited | settings | {"BURSTLINE_DIR": str(folder), "LD_PRELOAD": preload}
