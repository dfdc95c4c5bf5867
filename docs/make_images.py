"""Draw the pictures of README and docs again: ``make images``.

Each is what a command prints or draws, as SVG: for the trace of LULESH that ships with the
package, and the clustering plot for a program with more loops. The first screen of a page is
photographed in Chromium, through Playwright; without them that picture stays as it is.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import random
import re
import shutil
import struct
import sys
import tempfile
import zlib
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

import burstline
from burstline.browser import Browser, OutlineView
from burstline.cli import main
from burstline.plots import cluster_plot
from burstline.structure import detect, points
from burstline.testing import trace_of

IMAGES = Path(__file__).parent / "images"
TRACE = files("burstline") / "data" / "lulesh_8r.prv.gz"
TITLE = "lulesh.prv"
MOST_LINES = 32
DEMO = files("burstline") / "data" / "heat.prv.gz"
PNG = b"\x89PNG\r\n\x1a\n"
SCREEN = {"width": 1280, "height": 900}
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
        main([*words, str(TRACE), "--quiet"])
    lines = [line.rstrip() for line in printed.getvalue().splitlines()]
    head = next(number for number, line in enumerate(lines) if "PSEUDOCODE" in line)
    first = next(number for number, line in enumerate(lines) if start in line)
    shown = [*lines[head : head + 2], *lines[first : first + MOST_LINES]]
    text = Text("\n".join(shown))
    for pattern, style in STYLES.items():
        text.highlight_regex(re.compile(pattern, re.MULTILINE), style)
    console = Console(width=max(map(len, shown)), record=True, file=io.StringIO())
    console.print(text, soft_wrap=True)
    title = f"burstline {' '.join(words)} {TITLE}"
    write(name, console.export_svg(title=title, theme=MONOKAI, unique_id=name))


def write(name, svg):
    """Write a picture of a terminal as ``images/NAME.svg``."""
    IMAGES.mkdir(exist_ok=True)
    # No fonts from the network: the reader's own are good enough.
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code, monospace", "monospace")
    svg = re.sub(r"terminal-\d+", f"terminal-{name}", svg)
    (IMAGES / f"{name}.svg").write_text(svg, encoding="utf-8")


def draw_browser(name, *keys, size):
    """Open the browser, press keys, and draw its screen as ``images/NAME.svg``."""
    trace = burstline.read(TRACE)
    app = Browser(trace, detect(trace), OutlineView(), name=TITLE)

    async def story():
        async with app.run_test(size=size) as pilot:
            await pilot.press(*keys)
            await app.workers.wait_for_complete()
            await pilot.pause()
            return app.export_screenshot(title=f"burstline browse {TITLE}")

    write(name, asyncio.run(story()))


def draw_plot(name):
    """Draw the clustering plot of a program of three phases as ``images/NAME.svg``."""
    trace = trace_of(" | ".join(program(ranks=4)))
    structure = detect(trace, method="exact")
    picture = cluster_plot(points(trace, structure), structure, form="svg", title="my.prv")
    (IMAGES / f"{name}.svg").write_bytes(picture)


def photograph(name):
    """Write the page of the demo's run, and keep its first screen as ``images/NAME.png``."""
    chromium = shutil.which("chromium")
    if chromium is None or find_spec("playwright") is None:
        sys.stderr.write(f"no Chromium with Playwright: {name}.png stays as it is\n")
        return
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 -- may be missing

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "heat.html"
        shown = first_titles(page)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        screen = browser.new_page(viewport=SCREEN, color_scheme="light")
        screen.goto(page.as_uri())
        screen.evaluate("burstlineTimeline.loaded")
        picture = screen.screenshot()
        browser.close()
    (IMAGES / f"{name}.png").write_bytes(with_text(picture, shown))


def first_titles(page):
    """Write the page of the demo's run; give the titles of what its first screen shows."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        main(["report", str(DEMO), "-o", str(page), "--force", "--quiet"])
    return "\n".join(printed.getvalue().split("Timeline")[0].split())


def with_text(picture, text):
    """Put a text into a PNG, behind its first part: what it shows, for whoever compares."""
    begin = len(PNG) + 25  # of the part that tells the size
    body = b"iTXt" + b"Description\0\0\0\0\0" + text.encode()
    part = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    return picture[:begin] + part + picture[begin:]


def program(ranks):
    """Write a run down as text: setup, then phases of loops in loops; lines of main.c."""
    yield f"ranks {ranks}"
    yield from (f"path {line} main file main.c line {line}" for line in range(80))
    dice = random.Random(2026)  # noqa: S311 -- noise, the same every time
    for rank in range(ranks):
        yield str(rank)
        now = 0
        for operation, line, work in steps():
            now += round(1_000 * work * dice.lognormvariate(0, 0.15))
            yield f"{now} enter MPI_{operation} path {line}"
            now += round(20_000 * dice.lognormvariate(0, 0.4))
            yield f"{now} leave"


def steps():
    """Go through the calls of a rank: operation, line and the time computed before, in us."""
    yield "Bcast", 12, 300
    for _ in range(6):
        yield "Allgather", 18, 900
    for _ in range(40):
        for _ in range(25):
            yield "Sendrecv", 31, 120
            yield "Sendrecv", 32, 15
        yield "Allreduce", 35, 400
    for _ in range(15):
        for _ in range(12):
            yield "Sendrecv", 52, 700
        yield "Reduce", 55, 2_000
        yield "Bcast", 56, 100
    yield "Gather", 70, 500


def draw_all():
    """Draw every picture that this script makes."""
    draw("structure", ["structure", "--show-ranks", "0"], start="for 1 to")
    draw_browser("browse", "r", "0", "enter", "end", "slash", *"loop", "enter", size=(112, 34))
    draw_plot("cluster-plot")
    photograph("report")


if __name__ == "__main__":
    draw_all()
