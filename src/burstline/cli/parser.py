"""The commands: a table of them, and parsers that load a command when they parse.

A command's module has ``DESCRIPTION``, ``EXAMPLES``, ``OPTIONS`` and ``run(arguments)``, maybe
``USAGE``, ``TAKES_PROGRAM`` (behind ``--``) and ``adapt(parser)``. What it imports loads on
first use: no help loads NumPy.
"""

from __future__ import annotations

import argparse
import re
import sys
from contextlib import ExitStack
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Final, NoReturn, Self

import burstline
from burstline.cli import usage
from burstline.cli.declared import DECLARED
from burstline.errors import printable

_PURPOSES: Final = {
    "Make a trace": {
        "record": "run an MPI program and make a trace of it",
        "counters": "which counters go together in one run",
        "cc": "compile C so that the program counts its work",
        "c++": "compile C++ so that the program counts its work",
    },
    "Understand a trace": {
        "report": "everything about a run on one page, the answers first",
        "info": "what is in a trace, and its parallel efficiency",
        "waits": "where time is lost in waiting, and who causes it",
        "flame": "in which functions threads compute, wait and transfer: a flame graph",
        "clocks": "what statements and calls take: models for a clock that tells ns",
        "compare": "how alike profiles are, of runs or of clocks, and where they differ",
        "structure": "the loops of the program, as pseudo-code",
        "table": "a table of all computation bursts, with counters and context",
        "browse": "its loops, to be folded and looked into",
        "plot": "how often and how far apart calls return, a picture",
    },
    "Prepare a trace": {
        "cut": "a part of a trace, as a trace of its own",
        "annotate": "loops and iterations as events, for Paraver",
        "retime": "the same trace on a logical clock, without the noise of the machine",
        "convert": "the same trace in another format",
    },
    "Merge runs": {
        "merge": "one trace with the counters of several runs",
        "check-merge": "how far counters can be trusted after merging runs",
        "learn": "predict bursts from counters: do more of them help?",
    },
    "Predict another machine": {
        "phases": "what a run does again and again, and how well its early part predicts it",
        "signature": "a short run that predicts the long one: make it, and run it",
        "predict": "how long the program takes where only its signature ran",
    },
    "Get started": {
        "demo": "what it says of a small recorded run",
        "completion": "teach your shell the commands and options",
    },
}
_PURPOSES["Understand a trace"] |= {name: each.purpose for name, each in DECLARED.items()}
_MODULES: Final = {"cc": "compile", "c++": "compile", "check-merge": "check_merge"}
COMMANDS: Final = {name: _MODULES.get(name, name) for of in _PURPOSES.values() for name in of}
"""Their modules here, in the order of the overview."""

_EXAMPLES: Final = """\
examples:
  burstline demo                            what it says of a small recorded run
  burstline info run.prv                    what is in the trace, and its efficiency
  burstline structure run.prv --ranks 0-7   the loops of the program, as pseudo-code
  burstline cut run.prv -o part.prv --from 2s --to 3s

Every command explains itself: burstline COMMAND --help
"""
_WRONG_ARGUMENTS: Final = 2
_NEGATIVE: Final = re.compile(r"-\d+(:-?\d*)?$|-\d*\.\d+$")  # -5: is no option, as -5


def build_parser() -> argparse.ArgumentParser:
    """The parser of the command line; that of a command is made when the command is named."""
    parser = _MainParser(
        prog="burstline",
        usage="burstline COMMAND …",
        description="Explain what a parallel program did, from its execution trace.",
        epilog=f"{_overview()}\n{_EXAMPLES}",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version")
    parser.add_argument("--traceback", action="store_true", help="show where an error arose")
    parser.commands = parser.add_subparsers(
        dest="command",
        metavar="COMMAND",
        help=argparse.SUPPRESS,
        prog="burstline",
        parser_class=_CommandParser,
    )
    return parser


def run_command(arguments: usage.Arguments) -> None:
    """Run a command, unless it would write onto what it reads; say which traces are damaged."""
    arguments.defects = []  # of what is read: names of traces, and rows
    if any(getattr(arguments, name, None) is not None for name in usage.WRITTEN):
        from burstline.cli.products import require_apart  # noqa: PLC0415 -- loads NumPy

        require_apart(arguments)
    with ExitStack() as arguments.closing:  # what a command opens for as long as it runs
        arguments.run(arguments)
    if arguments.defects:
        from burstline.cli.inputs import warn_of_damage  # noqa: PLC0415 -- loads NumPy

        warn_of_damage(arguments)


def command_parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of each command by its name, with all options: loads every command."""
    return {
        name: _CommandParser(module, prog=f"burstline {name}").load()
        for name, module in COMMANDS.items()
    }


def _overview() -> str:
    width = max(map(len, COMMANDS))
    return "\n".join(
        f"{group}:\n"
        + "".join(f"  {name:{width}}  {purpose}\n" for name, purpose in of.items())
        for group, of in _PURPOSES.items()
    )


class _Parser(argparse.ArgumentParser):
    """A parser whose errors look like all others: usage, then one line."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 -- argparse's own signature
        form = argparse.RawDescriptionHelpFormatter
        super().__init__(formatter_class=form, allow_abbrev=False, **settings)

    def _print_message(self, message: str, file: Any = None) -> None:  # noqa: ANN401 -- argparse's
        if file is sys.stdout:
            file.write(message)  # argparse swallows what went wrong
        else:
            super()._print_message(message, file)

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(_WRONG_ARGUMENTS, f"error: {printable(message, limit=1_000)}\n")


class _MainParser(_Parser):
    """The parser of the command line, which names the command that was meant."""

    commands: argparse._SubParsersAction[_CommandParser]

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401 -- as below
        if args and args[0] == "--":  # newer Pythons leave it out, too
            args = args[1:]
        word = next((word for word in args or () if not word.startswith("-")), None)
        if word is not None and word not in COMMANDS:
            meant = get_close_matches(word, COMMANDS, n=1)
            way_out = f"did you mean {meant[0]}?" if meant else "burstline --help lists them"
            self.error(f"there is no command {printable(word)}: {way_out}")
        if word is not None and word not in self.commands.choices:
            self.commands.add_parser(word, module=COMMANDS[word])
        return super().parse_known_args(args, namespace)


class _CommandParser(_Parser):
    """The parser of a command, which loads the module of the command before it parses."""

    def __init__(self, module: str, **settings: Any) -> None:  # noqa: ANN401 -- as above
        super().__init__(**settings)
        self.add_argument(
            "--traceback",
            action="store_true",
            default=argparse.SUPPRESS,
            help=argparse.SUPPRESS,
        )
        self._module = module
        # Whether what stands behind -- is a command with options of its own.
        self._takes_program = False

    def load(self) -> Self:
        """The parser itself, with what the module of the command says and takes."""
        if self._module:
            command: Any = DECLARED.get(self._module)
            if command is None:
                command = import_module(f"{__package__}.commands.{self._module}")
            self._module = ""
            self.description, self.epilog = command.DESCRIPTION, command.EXAMPLES
            self.usage = getattr(command, "USAGE", None)
            usage.add(self, command.OPTIONS)
            if "--iterations" in self._option_string_actions:
                self._negative_number_matcher = _NEGATIVE
            if adapt := getattr(command, "adapt", None):
                adapt(self)
            self.set_defaults(run=command.run, read_from=usage.read_by(command.OPTIONS))
            self._takes_program = getattr(command, "TAKES_PROGRAM", False)
        return self

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401 -- argparse's has three signatures
        self.load()
        if self._takes_program:
            words = list(args)
            border = words.index("--") if "--" in words else len(words)
            args = words[:border]
            self.set_defaults(program=words[border + 1 :])
        return super().parse_known_args(args, namespace)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        sys.stdout.write(f"burstline {burstline.__version__}\n")
        parser.exit()
