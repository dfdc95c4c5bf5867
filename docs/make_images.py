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
MOST_LINES = 32
STYLES = {
    r"^ *FILE .*$": "bold",
    r"\b(?:for|if|else|to|in)\b(?=.*:)": "bold magenta",
    r"\bMPI_\w+": "bold cyan",
    r"\b[\w.+-]+\.(?:c|cc|cpp|f|f90|h|hpp) +\d+\b": "green",
    r"\d[\d.]* (?:ns|µs|ms|s|B|kB|MB|GB)(?=\s|$)": "yellow",
    r"#.*?(?=  |$)": "grey62",
}


def draw(name, words, *, start):
    """Run a command and draw what it prints, from its first loop on, as ``images/NAME.svg``.

    The lines before the one that holds `start` are left out, but for the table's head.
    """
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        main([*words, str(shipped_trace()), "--quiet"])
    lines = [line.rstrip() for line in printed.getvalue().splitlines()]
    head = next(number for number, line in enumerate(lines) if "PSEUDOCODE" in line)
    first = next(number for number, line in enumerate(lines) if start in line)
    shown = [*lines[head : head + 2], *lines[first : first + MOST_LINES]]
    text = Text("\n".join(shown))
    for pattern, style in STYLES.items():
        text.highlight_regex(re.compile(pattern, re.MULTILINE), style)
    console = Console(width=max(map(len, shown)), record=True, file=io.StringIO())
    console.print(text, soft_wrap=True)
    title = f"burstline {' '.join(words)} my.prv"
    svg = console.export_svg(title=title, theme=MONOKAI, unique_id=name)
    IMAGES.mkdir(exist_ok=True)
    # No fonts from the network: the reader's own are good enough.
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code, monospace", "monospace")
    (IMAGES / f"{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    draw("structure", ["structure", "--show-ranks", "0"], start="for 1 to")
