"""``burstline demo``: the main job on a small real trace that ships with the package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from burstline.errors import NotEnoughDataError

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

_DESCRIPTION: Final = """\
Show what burstline does on a small real trace that ships with it: what is in the trace,
and the loops of the program as pseudo-code.
"""
_NEXT: Final = """\
Next, with this trace or one of yours:

  burstline info {trace} --format json
  burstline structure {trace}
  burstline cut {trace} -o part.prv --ranks 0-3
  burstline convert {trace} run.store

From Python:  import burstline; burstline.read("{trace}").calls
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "demo",
        help="all of it on a small real trace",
        description=_DESCRIPTION,
        epilog="example:\n  burstline demo\n",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run ``info`` and ``structure`` on the shipped trace, and say what to try next."""
    trace = shipped_trace()
    for words in (["info", str(trace)], ["structure", str(trace), "--show-ranks", "0"]):
        _say(f"$ burstline {' '.join(words)}\n")
        chosen = arguments.root.parse_args(words)
        chosen.run(chosen)
        _say("\n")
    _say(_NEXT.format(trace=trace))


def shipped_trace() -> Path:
    """Give the path of the trace that ships with the package.

    Raises
    ------
    NotEnoughDataError
        If the package was installed without it.
    """
    from pathlib import Path  # noqa: PLC0415 -- `burstline --help` stays fast

    import burstline  # noqa: PLC0415 -- as above

    folders = [Path(folder) / "data" for folder in burstline.__path__]
    found = sorted(path for folder in folders for path in folder.glob("*.prv*"))
    if not found:
        raise NotEnoughDataError(
            "this installation has no demo trace; try burstline info TRACE"
        )
    return found[0]


def _say(text: str) -> None:
    print(text, end="", flush=True)  # noqa: T201 -- printing is what this is for
