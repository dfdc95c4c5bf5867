"""The progress bar: on standard error, and only once a piece of work takes a second.

Drawn by hand: importing a library for it would cost more than most of the work it shows.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Final, Self, TextIO

from burstline.show.units import format_amount

_PATIENCE_S: Final = 1.0
_REDRAW_S: Final = 0.1
_LINE_EVERY_S: Final = 10.0
_BAR_WIDTH: Final = 32
_ERASE: Final = "\r\x1b[K"


class Bar:
    """A progress that people watch, a context whose `advance` any thread may call."""

    def __init__(
        self, stream: TextIO | None, *, live: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream, self._live, self._clock = stream, live, clock
        self._lock = threading.Lock()
        self._name, self._unit, self._total, self._done = "", "", 0, 0
        self._started = clock()
        self._due = float("inf")
        self._drawn = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def step(self, name: str, total: int, unit: str) -> None:
        """Begin a step of `total` units, 0 if unknown."""
        with self._lock:
            self._erase()
            self._name, self._total, self._unit, self._done = name, total, unit, 0
            self._started = self._clock()
            self._due = self._started + (_PATIENCE_S if self._live else _LINE_EVERY_S)

    def advance(self, amount: int) -> None:
        """Report `amount` more units of the step; draw if it is time to."""
        with self._lock:
            self._done += amount
            now = self._clock()
            if now >= self._due:
                self._due = now + (_REDRAW_S if self._live else _LINE_EVERY_S)
                self._draw(now - self._started)

    def close(self) -> None:
        """Leave the terminal as it was."""
        with self._lock:
            self._erase()
            self._due = float("inf")

    def _draw(self, elapsed_s: float) -> None:
        what = self._name, self._done, self._total
        line = progress_line(*what, unit=self._unit, elapsed_s=elapsed_s)
        if self._live and self._stream is not None:
            line = _ERASE + line[: _columns(self._stream) - 1]
        self._write(line if self._live else line + "\n")
        self._drawn = True

    def _erase(self) -> None:
        if self._live and self._drawn:
            self._write(_ERASE)
        self._drawn = False

    def _write(self, text: str) -> None:
        if self._stream is not None:
            self._stream.write(text)
            self._stream.flush()


def progress_line(name: str, done: int, total: int, *, unit: str, elapsed_s: float) -> str:
    """How far a step is: share, rate and remaining time, or amount and rate.

    >>> progress_line("Reading", 3_000_000, 0, unit="B", elapsed_s=2.0)
    'Reading  3.00 MB  1.50 MB/s'
    """
    rate = done / elapsed_s
    speed = f"{format_amount(round(rate), unit)}/s"
    if not total:
        return f"{name}  {format_amount(done, unit)}  {speed}"
    share = min(done / total, 1.0)
    filled = "━" * round(share * _BAR_WIDTH)
    left = f"{_clock_face((total - done) / rate)} left" if 0 < done < total else ""
    return f"{name}  {share:4.0%}  {filled:{_BAR_WIDTH}}  {speed}  {left}".rstrip()


def _clock_face(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except OSError:
        return 80
