"""``burstline flame``: time by call path, as a tree, a picture, or for a viewer of profiles."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from burstline import show
from burstline.cli import usage
from burstline.cli.inputs import progress_bar, run_of
from burstline.cli.products import print_view, table_file, write_whole
from burstline.errors import plural

DESCRIPTION: Final = """\
Show in which functions and calls the threads of TRACE spend their time: computing, waiting for
others, and transferring (the rest of MPI and OpenMP) apart. Which functions compute between two
calls is known where call stacks were sampled, as burstline record does, or where
functions report themselves; elsewhere it is told by the call that ends the computing.
"""
EXAMPLES: Final = """\
examples:
  burstline flame run.prv                          as a tree
  burstline flame run.prv -o run.svg               as a picture, for a browser
  burstline flame run.prv -o run.json              for speedscope.app and the Firefox Profiler
  burstline flame run.prv --ranks 3 --from 2s --to 3s
  burstline flame run.prv --format csv > paths.csv
"""
OPTIONS: Final = {
    **usage.TRACE,
    "-o, --output FILE": "X.svg: a picture; X.json: a profile as speedscope has it",
    **usage.FORCE,
    **usage.FORMAT,
    **usage.REGION,
    **usage.RESOURCES,
}
_ENDINGS: Final = (".svg", ".json")


def run(arguments: usage.Arguments) -> None:
    """Find where time is spent, and print or write it."""
    path = table_file(arguments.output, force=arguments.force, endings=_ENDINGS)
    opened = run_of(arguments)
    with progress_bar(arguments) as opened.progress:
        flame = opened.ask("flame")
    if path is None:
        print_view(arguments, show.view(flame))
        return
    made = show.speedscope(flame, Path(arguments.trace).name)
    if path.suffix == ".svg":
        made = show.flame_picture(flame).result.svg
    write_whole(path, made)
    where = "a browser" if path.suffix == ".svg" else "speedscope.app or profiler.firefox.com"
    show.note(f"{path}: {plural(len(flame.frames) - 1, 'function')}; open it in {where}")
