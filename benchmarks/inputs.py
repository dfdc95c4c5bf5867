"""The generated traces that benchmarks read; each is made once a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from benchmarks.generate import generate

FULL: Final = 500_000_000
"""Bytes of the .prv for which goals are meant; with less, benchmarks do less in proportion."""


@dataclass(slots=True)
class Input:
    """A generated trace.

    Attributes
    ----------
    path : Path
        The .prv.
    small : Path
        A tiny .prv of the same kind, to load with it whatever is loaded late.
    expected : dict
        What a reader must find, as `benchmarks.generate.generate` says.
    rates : dict
        Rates of the baselines on it in MB/s, once measured.
    """

    path: Path
    small: Path
    expected: dict[str, Any]
    rates: dict[str, float] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """Size of the .prv."""
        return int(self.expected["bytes"])


def make_input(folder: Path, *, ranks: int, size: int) -> Input:
    """Generate a trace of about `size` bytes in a folder."""
    path = folder / f"ring_{ranks}_{size}.prv"
    small = folder / "small.prv"
    generate(small, ranks=2, size=20_000)
    return Input(path, small, dict(generate(path, ranks=ranks, size=size)))
