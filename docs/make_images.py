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
WIDTH = 108
MOST_LINES = 34
STYLES = {
    r"^ *FILE .*$": "bold",
    r"\b(?:for|if|else|to|in)\b(?=.*:)": "bold magenta",
    r"\bMPI_\w+": "bold cyan",
    r"\b[\w.+-]+\.(?:c|cc|cpp|f|f90|h|hpp) +\d+\b": "green",
    r"\d[\d.]* (?:ns|µs|ms|s|B|kB|MB|GB)$": "yellow",
    r"#.*?(?=  |$)": "grey62",
}


def draw(name, words, *, start):
    """Run a command and draw what it prints, from its first loop on, as ``images/NAME.svg``.

    The lines before the one that holds `start` are left out, but for the table's head.
    """
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        main([*words, str(shipped_trace()), "--quiet"])
    lines = [line[:WIDTH] for line in printed.getvalue().rstrip().splitlines()]
    head = next(number for number, line in enumerate(lines) if "PSEUDOCODE" in line)
    first = next(number for number, line in enumerate(lines) if start in line)
    shown = [*lines[head : head + 2], *lines[first : first + MOST_LINES]]
    text = Text("\n".join(shown))
    for pattern, style in STYLES.items():
        text.highlight_regex(re.compile(pattern, re.MULTILINE), style)
    console = Console(width=WIDTH, record=True, file=io.StringIO())
    console.print(text, soft_wrap=True)
    title = f"burstline {' '.join(words)} my.prv"
    svg = console.export_svg(title=title, theme=MONOKAI, unique_id=name)
    IMAGES.mkdir(exist_ok=True)
    # Fonts from the network are not needed: the style falls back on the reader's own.
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    (IMAGES / f"{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    draw("structure", ["structure"], start="for 1 to")
