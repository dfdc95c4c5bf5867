"""Run a Python child and learn the most memory that it and its children had, and only they."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import warm

LIBRARIES = (
    "import numpy, pyarrow.compute, pyarrow.parquet, polars, burstline._core, "
    "burstline.run.run, burstline.signature.processes, burstline.structure.detection, "
    "burstline.waits.analysis"
)
"""With our own analyses: a command has those in memory that it asks a run for."""
ROUND_ABOUT = 64 << 20
"""What may come on top of a limit and the libraries."""


@cache
def base_bytes() -> int:
    """Give what a process takes before it reads anything, and what may come on top of a limit.

    Pages of the libraries' files count, and how many of these are there differs by 50 MB from
    one machine to the next.
    """
    return supervised("-c", LIBRARIES).peak_bytes + ROUND_ABOUT


def supervised(*words: object) -> warm.Done:
    """Run ``python WORDS…`` and wait for it."""
    return warm.python(words, Path.cwd(), os.environ, is_watched=True)
