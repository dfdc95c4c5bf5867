"""The command line: parse, call the library, print. No analysis lives here."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from burstline.cli.commands import build_parser
from burstline.errors import BurstlineError, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

_INTERRUPTED: Final = 130
_OUT_OF_MEMORY: Final = 5
_WRONG_ARGUMENTS: Final = 2


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line: results on stdout, errors as one line on stderr."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        _run(words)
    except BrokenPipeError:
        # Whoever read our output has left: let the interpreter's last flush go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(_INTERRUPTED) from None
    except Exception as error:  # noqa: BLE001 -- the one place that may not let anything through
        if "--traceback" in words:
            sys.excepthook(type(error), error, error.__traceback__)
        text, code = _explain(error)
        sys.stderr.write(f"error: {printable(' '.join(text.split()), limit=2_000)}\n")
        raise SystemExit(code) from None


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
        arguments.run(arguments)
    finally:
        sys.stdout.flush()


def _explain(error: Exception) -> tuple[str, int]:
    """Say in one line what went wrong, and with which exit code."""
    if isinstance(error, BurstlineError):
        return str(error), error.exit_code
    if isinstance(error, MemoryError):
        way_out = "Pass a smaller --memory, or take a part: --from, --to, --ranks"
        return f"out of memory. {way_out}", _OUT_OF_MEMORY
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{error.filename}: "
        wrong = isinstance(
            error, (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)
        )
        return f"{where}{error.strerror.lower()}", _WRONG_ARGUMENTS if wrong else 1
    kind = type(error).__name__
    return f"this is a bug of burstline: {kind}: {error}. --traceback shows where it arose", 1
