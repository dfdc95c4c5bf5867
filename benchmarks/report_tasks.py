"""What children measure of the page of a run: its cost beside that of the analyses it shows."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Task = Callable[[], dict[str, Any]]

__all__ = ["report_page"]


class _Timed:
    """A function that adds up the CPU time of its outermost calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.cpu_s, self.depth = function, 0.0, 0

    def __call__(self, *given: Any, **named: Any) -> Any:
        begin, self.depth = time.process_time(), self.depth + 1
        try:
            return self.function(*given, **named)
        finally:
            self.depth -= 1
            if not self.depth:
                self.cpu_s += time.process_time() - begin


def report_page(path: str, warm_up: str, page: str) -> Task:
    """Make the page of a trace by the command, once a small one has loaded everything."""
    import burstline  # noqa: PLC0415 -- in the child
    from burstline.cli import main  # noqa: PLC0415 -- in the child

    def make(trace: str) -> None:
        words = ["report", trace, "-o", page, "--force", "--quiet"]
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            main(words)

    make(warm_up)

    def run() -> dict[str, Any]:
        read, ask = _Timed(burstline.read), _Timed(burstline.Run.ask)

        def asked(*given: Any, **named: Any) -> Any:
            return ask(*given, **named)

        vars(burstline)["read"] = read
        setattr(burstline.Run, "ask", asked)  # noqa: B010 -- in this child
        begin = time.process_time()
        make(path)
        cpu_s = time.process_time() - begin
        return {
            "bytes": Path(page).stat().st_size,
            "analyses_s": ask.cpu_s,
            "all_s": cpu_s - read.cpu_s,
        }

    return run
