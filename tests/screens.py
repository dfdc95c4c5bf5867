"""What `burstline browse` shows, as text: its screen after some keys."""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import Sequence
from unittest.mock import patch

SIZE = (120, 18)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def browsed(
    words: Sequence[str], keys: Sequence[str] = (), size: tuple[int, int] = SIZE
) -> str:
    """Run a command of the browser, press keys, and return what is on the screen then."""
    from textual.app import App

    from burstline.cli import main

    seen = []

    def run(app: App[None]) -> None:
        async def story() -> None:
            async with app.run_test(size=size, notifications=True) as pilot:
                await pilot.pause()
                await pilot.press(*keys)
                await pilot.pause()
                await app.workers.wait_for_complete()
                await pilot.pause()
                lines = (strip.text for strip in app.screen._compositor.render_strips())
                seen.extend(line.replace("\xa0", " ").rstrip() for line in lines)

        asyncio.run(story())

    said = sys.stderr
    streams = {name: Terminal() for name in ("stdin", "stdout", "stderr")}
    with patch.multiple(sys, **streams), patch.object(App, "run", run):
        try:
            main(list(words))
        finally:
            said.write(streams["stderr"].getvalue())
    return "\n".join(seen)
