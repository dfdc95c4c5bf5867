"""The command line: parse, call the library, print. No analysis lives here.

Each command is a module with ``add_parser(commands)``, which imports nothing but the
standard library and sets ``run``: reading a trace is what loads NumPy and Arrow.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NoReturn

from burstline.errors import BurstlineError, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

_GROUPS: Final = {
    "Make a trace": ("record", "counters", "cc", "c++"),
    "Understand a trace": ("info", "structure", "table", "browse", "plot"),
    "Prepare a trace": ("cut", "annotate", "convert"),
    "Merge runs": ("merge", "check-merge", "learn"),
    "Get started": ("demo", "completion"),
}
_MODULES: Final = {"cc": "compile", "c++": "compile", "check-merge": "check_merge"}
_EXAMPLES: Final = """\
examples:
  burstline demo                            the whole thing on a small real trace
  burstline info run.prv                    what is in the trace, and its efficiency
  burstline structure run.prv --ranks 0-7   the loops of the program, as pseudo-code
  burstline cut run.prv -o part.prv --from 2s --to 3s

Every command explains itself: burstline COMMAND --help
"""
_INTERRUPTED: Final = 130
_OUT_OF_MEMORY: Final = 5
_WRONG_ARGUMENTS: Final = 2


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line: results on stdout, errors as one line on stderr.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those of the process.

    Raises
    ------
    SystemExit
        If anything goes wrong, with the exit code of the error tree of
        :mod:`burstline.errors`; also after ``--help`` and ``--version``.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        _run(words)
    except BrokenPipeError:
        _abandon_stdout()
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
    _never_fail_to_encode()
    parser = build_parser()
    try:
        arguments = parser.parse_args(words)
        if arguments.command is None:
            parser.print_help(sys.stderr)
            raise SystemExit(_WRONG_ARGUMENTS)
        arguments.run(arguments)
    finally:
        sys.stdout.flush()


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of all commands; loads only the standard library."""
    parser = _Parser(
        prog="burstline",
        usage="burstline COMMAND …",
        description="Explain what a parallel program did, from its execution trace.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version")
    parser.add_argument("--traceback", action="store_true", help="show where an error arose")
    commands = _Commands(parser)
    names = [name for group in _GROUPS.values() for name in group]
    for module in dict.fromkeys(_MODULES.get(name, name) for name in names):
        import_module(f"{__name__}.{module}").add_parser(commands)
    parser.set_defaults(root=parser)
    parser.epilog = f"{commands.overview()}\n{_EXAMPLES}"
    return parser


class _Parser(argparse.ArgumentParser):
    """A parser whose errors look like all others: usage, then one line."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(_WRONG_ARGUMENTS, f"error: {printable(message, limit=1_000)}\n")


class _Commands:
    """Hands out the parsers of the commands, and remembers what each is for."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._subparsers = parser.add_subparsers(
            dest="command",
            metavar="COMMAND",
            help=argparse.SUPPRESS,
            prog="burstline",
        )
        self._purposes: dict[str, str] = {}

    def add_parser(self, name: str, *, help: str, **settings: Any) -> argparse.ArgumentParser:  # noqa: A002, ANN401 -- argparse's own signature
        self._purposes[name] = help
        settings.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        parser = self._subparsers.add_parser(name, allow_abbrev=False, **settings)
        parser.add_argument(
            "--traceback",
            action="store_true",
            default=argparse.SUPPRESS,
            help=argparse.SUPPRESS,
        )
        return parser

    def overview(self) -> str:
        width = max(map(len, self._purposes))
        lines = []
        for group, names in _GROUPS.items():
            lines.append(f"{group}:")
            lines += [f"  {name:{width}}  {self._purposes[name]}" for name in names]
            lines.append("")
        return "\n".join(lines)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from burstline import __version__  # noqa: PLC0415 -- asked for once in a while

        sys.stdout.write(f"burstline {__version__}\n")
        parser.exit()


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


def _never_fail_to_encode() -> None:
    """Let a terminal without Unicode show a question mark instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def _abandon_stdout() -> None:
    """Let the interpreter's last flush go nowhere: whoever read our output has left."""
    import os  # noqa: PLC0415 -- only here

    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
