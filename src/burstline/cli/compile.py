"""``burstline cc`` and ``burstline c++``: compile programs so that they count their work."""

from __future__ import annotations

import argparse
from typing import Final

from burstline.errors import ParameterError

_DESCRIPTION: Final = """\
Run a compiler of LLVM as given, and let what it compiles count its work: basic blocks,
statements, loads, stores, branches, floating-point operations. `burstline record` reads the
counters at every MPI call where `--counters work` asks for them.
"""
_EXAMPLES: Final = """\
examples:
  burstline {name} -- {clang} -O2 -c solver.{suffix}
  burstline {name} -- {clang} -O2 main.{suffix} solver.o -o solver
  burstline {name} --count statements,flops -- {clang} -O2 main.{suffix} -o solver
  burstline {name} --loops -- {clang} -O2 -g main.{suffix} -o solver
  make {variable}="burstline {name} -- {clang}"
"""
_BY_NAME: Final = {
    "cc": {"clang": "clang", "suffix": "c", "variable": "CC", "language": "C"},
    "c++": {"clang": "clang++", "suffix": "cpp", "variable": "CXX", "language": "C++"},
}
_KINDS: Final = (
    "of blocks, statements, memory, branches, flops, vectors, calls, iterations (default: all)"
)
_SIGNALLED: Final = 128


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add both commands to the command line."""
    for name, words in _BY_NAME.items():
        parser = commands.add_parser(
            name,
            help=f"compile {words['language']} so that the program counts its work",
            usage=f"burstline {name} [--count KINDS] [--loops] -- COMPILER ARGUMENT …",
            description=_DESCRIPTION,
            epilog=_EXAMPLES.format(name=name, **words),
        )
        parser.add_argument("--count", default="all", metavar="KINDS", help=_KINDS)
        parser.add_argument(
            "--loops", action="store_true", help="label MPI calls with the loop around them"
        )
        parser.add_argument(
            "words", nargs=argparse.REMAINDER, metavar="COMPILER", help="and its arguments"
        )
        parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the compiler, and pass on how it ended."""
    words = arguments.words[1:] if arguments.words[:1] == ["--"] else arguments.words
    if not words:
        raise ParameterError(
            f"no compiler is named. Write it after two dashes: "
            f"burstline {arguments.command} -- clang -O2 -c main.c"
        )
    import os  # noqa: PLC0415 -- `burstline --help` stays fast
    import subprocess  # noqa: PLC0415 -- as above

    from burstline.record import (  # noqa: PLC0415 -- as above
        COUNT,
        LOOPS,
        instrumented,
        kinds_of,
    )

    kinds = ",".join(kinds_of(arguments.count))
    if arguments.loops:
        os.environ[LOOPS] = "1"
    command = instrumented(words)
    environment = os.environ | {COUNT: kinds}
    code = subprocess.run(command, check=False, env=environment).returncode  # noqa: S603 -- asked for
    if code:
        raise SystemExit(code if code > 0 else _SIGNALLED - code)
