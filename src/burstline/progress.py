"""How long work reports on itself: an argument with a silent default.

Analyses and readers call :meth:`Progress.step` and :meth:`Progress.advance`;
only the command line knows how that looks.
"""

from __future__ import annotations

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
