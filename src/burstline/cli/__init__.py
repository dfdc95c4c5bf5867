"""The command line: parse, call the library, print. No analysis lives here."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

from burstline import show
from burstline.cli.parser import build_parser, run_command
from burstline.errors import BurstlineError, printable

_ENDINGS: Final = (signal.SIGTERM, signal.SIGHUP)
_BY_SIGNAL: Final = 128
_INTERRUPTED: Final = 130
_WRONG_NAMES: Final = (errno.ENAMETOOLONG, errno.ELOOP)
_OUTPUT_ERRORS: Final = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
_OUT_OF_MEMORY: Final = 5
_WRONG_ARGUMENTS: Final = 2
_MOST_SAID: Final = 2_000
_MOST_OF_A_NAME: Final = 1_000
_LOADED: Final = 10_000
"""Objects after which a command looks for garbage: what it loads is none, and is much."""


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line: results on stdout, errors as one line on stderr."""
    words = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        gc.set_threshold(_LOADED)
    _open_closed()
    try:
        with _endings():
            _run(words)
    except BrokenPipeError:
        _drop_output()
    except KeyboardInterrupt:
        _say("interrupted")
        raise SystemExit(_INTERRUPTED) from None
    except _Terminated:
        _say("terminated")
        raise
    except Exception as error:  # noqa: BLE001 -- the one place that may not let anything through
        if "--traceback" in words:
            sys.excepthook(type(error), error, error.__traceback__)
        text, code = _explain(error)
        _say(f"error: {printable(' '.join(text.split()), limit=_MOST_SAID)}")
        raise SystemExit(code) from None
    finally:
        if argv is None:  # the process ends: a last search for garbage would be for nothing
            gc.freeze()


def _open_closed() -> None:
    """Open the streams that the process began without, so that no file takes their place.

    What is printed is refused; what is said goes nowhere.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            file = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
            setattr(sys, name, open(file, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: PTH123, SIM115 -- a descriptor, for good


class _Terminated(SystemExit):
    """The end that a signal asks for, once everything is cleaned up."""


@contextmanager
def _endings() -> Iterator[None]:
    """A block that ends as by Ctrl-C where a batch system or a closed terminal ends it."""
    taken: list[int] = []
    if threading.current_thread() is threading.main_thread():
        taken = [number for number in _ENDINGS if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in taken:
            signal.signal(number, _terminate)
        yield
    finally:
        _stop_children(stopped=False)
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _terminate(number: int, _: FrameType | None) -> None:
    for later in _ENDINGS:
        signal.signal(later, signal.SIG_IGN)  # cleaning up is under way
    _stop_children(stopped=True)  # threads that clean up would wait for them
    raise _Terminated(_BY_SIGNAL + number)


def _stop_children(*, stopped: bool) -> None:
    """End the processes that read an archive, or let them begin again."""
    if kernel := sys.modules.get("burstline._core"):
        kernel.otf2_stop(stopped)


def _say(line: str) -> None:
    with suppress(OSError):  # nobody may be there to read it
        sys.stderr.write(f"{line}\n")
    _drop_output()


def _drop_output() -> None:
    """Let what waits to be printed go nowhere, where whoever read it has left."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _run(words: list[str]) -> None:
    for stream in (sys.stdout, sys.stderr):
        # A terminal without Unicode shows a question mark instead of ending the command.
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="replace")
    parser = build_parser()
    try:
        arguments = parser.parse_args(words)
        if arguments.command is None:
            parser.print_help(sys.stderr)
            raise SystemExit(_WRONG_ARGUMENTS)
        run_command(arguments)
    finally:
        sys.stdout.flush()


def _explain(error: Exception) -> tuple[str, int]:
    """Say in one line what went wrong, and with which exit code."""
    if isinstance(error, BurstlineError):
        return show.in_options(str(error)), error.exit_code
    # C code may fail and not say why, as NumPy's does where memory is refused.
    has_no_reason = isinstance(error, SystemError) and "without" in str(error)
    if isinstance(error, MemoryError) or has_no_reason:
        way_out = "Pass a smaller --memory, or take a part: --from, --to, --ranks"
        return f"out of memory. {way_out}", _OUT_OF_MEMORY
    if isinstance(error, OSError) and error.strerror:
        if error.errno == errno.EBADF and error.filename is None:
            return "standard output is closed", 1
        # Whatever writes a file names it; what is printed has no name.
        where = "standard output: " if error.errno in _OUTPUT_ERRORS else ""
        if error.filename is not None:  # cut before it takes the room of what is said of it
            where = f"{printable(str(error.filename), limit=_MOST_OF_A_NAME)}: "
        wrong = error.errno in _WRONG_NAMES or isinstance(
            error, (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)
        )
        return f"{where}{error.strerror.lower()}", _WRONG_ARGUMENTS if wrong else 1
    kind = type(error).__name__
    return f"this is a bug of burstline: {kind}: {error}. --traceback shows where it arose", 1
