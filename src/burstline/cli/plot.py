"""``burstline plot``: the clustering plot, as a picture or on the terminal."""

from __future__ import annotations

from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Final

import burstline
from burstline import show
from burstline.cli.inputs.detection import add_detection, detected
from burstline.cli.inputs.options import add_region, add_resources, add_trace, read_selected
from burstline.cli.products.pictures import form_of, picture_path, write_picture

if TYPE_CHECKING:
    import argparse

    from burstline.structure import Points, Structure

DESCRIPTION: Final = """\
Draw the picture that loops are found in: every call of every rank by how often, and how
far apart, it is executed. Calls of one loop lie together; what spans the same share of the
run lies on one curve.
"""
EXAMPLES: Final = """\
examples:
  burstline plot run.prv                   in characters, on the terminal
  burstline plot run.prv -o loops.svg
  burstline plot run.prv -o loops.png --method seed

pictures need an extra: pip install 'burstline[plot]'
"""
_PIPED: Final = (100, 34)
"""Columns and lines where no terminal sets them."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_trace(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="X.svg or X.png; characters without it"
    )
    parser.add_argument("--force", action="store_true", help="replace a FILE that exists")
    add_region(parser)
    add_resources(parser)
    add_detection(parser)


def run(arguments: argparse.Namespace) -> None:
    """Detect the structure of the trace and draw its points."""
    path = _output(arguments)
    trace = read_selected(arguments)
    structure = detected(trace, arguments)
    found = burstline.structure.points(trace, structure)
    if path is None:
        _print(found, structure)
    else:
        _write(found, structure, path, title=Path(arguments.trace).name)


def _print(found: Points, structure: Structure) -> None:

    width, height = get_terminal_size(_PIPED)
    screen = show.console()
    lines = show.character_plot(
        found, structure, width=width, height=max(height - 1, _PIPED[1])
    )
    for line in lines:
        screen.print(line, soft_wrap=True)


def _write(found: Points, structure: Structure, path: Path, *, title: str) -> None:

    write_picture(path, show.cluster_plot(found, structure, form=form_of(path), title=title))
    said = show.plural(len(found), "point"), show.plural(len(structure.loops), "loop")
    show.note(f"{path}: {said[0]} of {said[1]}")


def _output(arguments: argparse.Namespace) -> Path | None:
    wanted = arguments.output
    return None if wanted is None else picture_path(wanted, force=arguments.force)
