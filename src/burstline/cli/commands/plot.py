"""``burstline plot``: the clustering plot, as a picture or on the terminal."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from shutil import get_terminal_size
from typing import Final

import burstline
from burstline import show
from burstline.cli import usage
from burstline.cli.inputs import detection, run_of
from burstline.cli.products import picture_file, write_figure
from burstline.errors import plural

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
OPTIONS: Final = {
    **usage.TRACE,
    "-o, --output FILE": "X.svg or X.png; characters without it",
    **usage.FORCE,
    **usage.REGION,
    **usage.RESOURCES,
    **usage.DETECTION,
}
_PIPED: Final = (100, 34)  # columns and lines where no terminal sets them


def run(arguments: usage.Arguments) -> None:
    """Detect the structure of the trace and draw its points."""
    path = picture_file(arguments.output, force=arguments.force)
    opened = run_of(arguments)
    structure = opened.structure(**detection(arguments))
    points = burstline.structure.points(opened.trace, structure)
    if path is not None:
        title = Path(arguments.trace).name
        draw = partial(show.cluster_plot, points, structure, title=title)
        write_figure(path, lambda form: draw(form=form))
        said = plural(len(points), "point"), plural(len(structure.loops), "loop")
        show.note(f"{path}: {said[0]} of {said[1]}")
        return
    width, height = get_terminal_size(_PIPED)
    screen = show.console()
    height = max(height - 1, _PIPED[1])
    for line in show.character_plot(points, structure, width=width, height=height):
        screen.print(line, soft_wrap=True)
