"""What the page of a run costs: to make, to keep, and to look at in a browser.

The browser is Chromium through Playwright, without a screen; without both, only the others
are measured.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, Final

import burstline
from benchmarks.child import measure
from benchmarks.figures import Figure
from benchmarks.inputs import FULL, Input, make_input

_PAGE_BYTES: Final = 100_000_000
"""Of the trace whose page has a size; a part of it with small inputs."""
_MILLION_BYTES: Final = 371_000_000
"""Of a trace with a million bursts."""
_RANKS: Final = 64
_TURNS: Final = 20
_VIEWPORT: Final[Any] = {"width": 1280, "height": 900}
_DRAWN: Final = """
async ({ turns, share, isZoom }) => {
  const { state, show, draw } = burstlineTimeline;
  const data = JSON.parse(document.getElementById("tl-data").textContent);
  const idle = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  const times = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const length = data.length * (isZoom ? 0.7 ** turn : share);
    const begin = (data.length - length) / 2 - turn;
    await idle();
    const before = performance.now();
    show(begin, begin + length);
    draw();
    times.push(performance.now() - before);
  }
  return times;
}
"""


def report(trace: Input) -> Iterator[Figure]:
    """Make a page and weigh it, then open and redraw one of a million bursts."""
    part = min(1.0, trace.bytes / FULL)
    folder = Path(tempfile.mkdtemp(prefix="report-", dir=trace.path.parent))
    try:
        small = make_input(folder, ranks=_RANKS, size=round(part * _PAGE_BYTES))
        page = folder / "page.html"
        done = measure(
            "report_page",
            repeats=3,
            path=str(small.path),
            warm_up=str(small.small),
            page=str(page),
        )
        size = f"{small.bytes / 1e6:,.0f} MB"
        yield Figure("report", f"page of {size}", done.result["bytes"] / 1e6, "MB", "<= 5")
        analyses, made = done.result["analyses_s"], done.result["all_s"]
        ratio = made / analyses
        name = "CPU time over that of the analyses shown"
        yield Figure("report", name, ratio, "", "<= 1.5", "the analyses", ratio)
        yield from _in_browser(folder, round(part * _MILLION_BYTES))
    finally:
        shutil.rmtree(folder)


def _in_browser(folder: Path, size: int) -> Iterator[Figure]:
    """Load a page, draw all of it, and zoom into it step by step."""
    chromium = shutil.which("chromium")
    if chromium is None or find_spec("playwright") is None:
        sys.stderr.write("report: no Chromium with Playwright, nothing is drawn\n")
        return
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 -- may be missing

    large = make_input(folder, ranks=_RANKS, size=size)
    page = folder / "large.html"
    measure("report_page", path=str(large.path), warm_up=str(large.small), page=str(page))
    bursts = burstline.read(large.path).rows("bursts")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        loads = []
        for _ in range(_TURNS):
            opened = browser.new_page(viewport=_VIEWPORT)
            begin = time.perf_counter()
            opened.goto(page.as_uri())
            opened.evaluate("burstlineTimeline.loaded")
            loads.append(1e3 * (time.perf_counter() - begin))
            opened.close()
        opened = browser.new_page(viewport=_VIEWPORT)
        opened.goto(page.as_uri())
        opened.evaluate("burstlineTimeline.loaded")
        asked = {"turns": _TURNS, "share": 1, "isZoom": False}
        redraws = opened.evaluate(_DRAWN, asked)
        steps = opened.evaluate(_DRAWN, asked | {"isZoom": True})
        browser.close()
    of = f"{bursts:,} bursts"
    yield Figure("report", f"{of}: page", page.stat().st_size / 1e6, "MB", "<= 20")
    yield Figure("report", f"{of}: load", median(loads), "ms", "<= 3000")
    yield Figure("report", f"{of}: draw all of it", median(redraws), "ms", "<= 150")
    yield Figure("report", f"{of}: a step of zooming", median(steps), "ms", "<= 50")
