"""Draw the pictures of README and docs again: ``make images``.

Each is what a command prints for the trace that ships with the package, as SVG.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from burstline.cli import main
from burstline.cli.demo import shipped_trace

IMAGES = Path(__file__).parent / "images"
WIDTH = 110
MOST_LINES = 36
STYLES = {
    r"^.*#.*$": "grey62",
    r"\b(?:loop|for|while|if|else|times)\b": "bold magenta",
    r"\bMPI_\w+": "bold cyan",
    r"\b[\w.+-]+\.(?:c|cc|cpp|f|f90|h)(?::\d+)?\b": "green",
    r"(?<![\w.])\d[\d.,]*(?: ?(?:ns|us|µs|ms|s|B|kB|MB|%|x))?\b": "yellow",
}


def draw(name, words):
    """Run a command and draw what it prints as ``images/NAME.svg``."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        main([*words, str(shipped_trace()), "--quiet"])
    lines = printed.getvalue().rstrip().splitlines()
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], "…"]
    text = Text("\n".join(line[:WIDTH] for line in lines))
    for pattern, style in STYLES.items():
        text.highlight_regex(re.compile(pattern, re.MULTILINE), style)
    console = Console(width=WIDTH, record=True, file=io.StringIO())
    console.print(text, soft_wrap=True)
    title = f"burstline {' '.join(words)} run.prv"
    svg = console.export_svg(title=title, theme=MONOKAI, unique_id=name)
    IMAGES.mkdir(exist_ok=True)
    # Fonts from the network are not needed: the style falls back on the reader's own.
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    (IMAGES / f"{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    draw("structure", ["structure"])
