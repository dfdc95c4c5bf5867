"""How long work reports on itself: an argument with a silent default.

Analyses and readers call :meth:`Progress.step` and :meth:`Progress.advance`;
only the command line knows how that looks.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol


class Progress(Protocol):
    """Whoever wants to know how far a long piece of work is."""

    def step(self, name: str, total: int, unit: str) -> None:
        """Begin a step of `total` units (``"B"`` for bytes), 0 if unknown."""
        ...

    def advance(self, amount: int) -> None:
        """Report that `amount` more units of the current step are done."""
        ...


class _Silence:
    """The progress of somebody who does not want to know."""

    def step(self, name: str, total: int, unit: str) -> None:
        """Ignore the step."""

    def advance(self, amount: int) -> None:
        """Ignore the advance."""


SILENCE: Progress = _Silence()


class Stopwatch:
    """A progress that takes the time of its steps; those of one name are one stage."""

    def __init__(self, clock: Callable[[], int] = time.perf_counter_ns) -> None:
        self._clock = clock
        self._stage, self._since = "", clock()
        self._stages: dict[str, int] = {}

    def step(self, name: str, total: int, unit: str) -> None:  # noqa: ARG002 -- a progress
        """Begin a stage; the one before ends."""
        now = self._clock()
        if self._stage:
            spent = self._stages.get(self._stage, 0)
            self._stages[self._stage] = spent + now - self._since
        self._stage, self._since = name, now

    def advance(self, amount: int) -> None:
        """Ignore the advance."""

    def stages(self) -> dict[str, int]:
        """The stages in the order in which they began, and what each took, ns."""
        self.step("", 0, "")
        return dict(self._stages)
