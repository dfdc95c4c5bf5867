"""``burstline cc`` and ``burstline c++``: compile programs so that they count their work."""

from __future__ import annotations

import argparse
import os
import subprocess
from typing import Final

from burstline import record
from burstline.cli import usage
from burstline.errors import ParameterError

DESCRIPTION: Final = """\
Run a compiler of LLVM as given, and let what it compiles count its work: basic blocks,
statements, loads, stores, branches, floating-point operations. `burstline record` reads the
counters at every MPI call where `--counters work` asks for them.
"""
EXAMPLES: Final = """\
examples:
  burstline {name} -- {clang} -O2 -c solver.{suffix}
  burstline {name} -- {clang} -O2 main.{suffix} solver.o -o solver
  burstline {name} --count statements,flops -- {clang} -O2 main.{suffix} -o solver
  burstline {name} --loops -- {clang} -O2 -g main.{suffix} -o solver
  make {variable}="burstline {name} -- {clang}"
"""
_BY_NAME: Final = {
    "cc": {"clang": "clang", "suffix": "c", "variable": "CC"},
    "c++": {"clang": "clang++", "suffix": "cpp", "variable": "CXX"},
}
OPTIONS: Final = {
    "--count KINDS=all": "of blocks, statements, memory, branches, flops, vectors, calls, "
    "iterations (default: all; clocks: blocks, statements, iterations)",
    "--loops": "label MPI calls with the loop around them",
    "words COMPILER ...": "and its arguments",
}
_SIGNALLED: Final = 128


def adapt(parser: argparse.ArgumentParser) -> None:
    """Write the usage and the examples of either command."""
    name = parser.prog.removeprefix("burstline ")
    parser.usage = f"burstline {name} [--count KINDS] [--loops] -- COMPILER ARGUMENT …"
    parser.epilog = EXAMPLES.format(name=name, **_BY_NAME[name])


def run(arguments: argparse.Namespace) -> None:
    """Run the compiler, and pass on how it ended."""
    words = usage.command_in(arguments)
    if not words:
        raise ParameterError(
            f"no compiler is named. Write it after two dashes: "
            f"burstline {arguments.command} -- clang -O2 -c main.c"
        )
    kinds = ",".join(record.kinds_of(arguments.count))
    if arguments.loops:
        os.environ[record.LOOPS] = "1"
    command = record.instrumented(words)
    environment = os.environ | {record.COUNT: kinds}
    code = subprocess.run(command, check=False, env=environment).returncode  # noqa: S603 -- asked for
    if code:
        raise SystemExit(code if code > 0 else _SIGNALLED - code)
