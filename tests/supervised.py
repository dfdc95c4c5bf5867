"""Run a Python child and learn the most memory that it and its children had, and only they."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from typing import NamedTuple

from benchmarks import peak

LIBRARIES = (
    "import numpy, pyarrow.compute, pyarrow.parquet, polars, burstline._core, "
    "burstline.run.run, burstline.signature.processes, burstline.structure.detection, "
    "burstline.waits.analysis"
)
"""With our own analyses: a command has those in memory that it asks a run for."""
ROUND_ABOUT = 64 << 20
"""What may come on top of a limit and the libraries."""


class Done(NamedTuple):
    """What a child did."""

    code: int
    printed: str
    said: str
    peak_bytes: int


@cache
def base_bytes() -> int:
    """Give what a process takes before it reads anything, and what may come on top of a limit.

    Pages of the libraries' files count, and how many of these are there differs by 50 MB from
    one machine to the next.
    """
    return supervised("-c", LIBRARIES).peak_bytes + ROUND_ABOUT


def supervised(*words: object) -> Done:
    """Run ``python WORDS…`` and wait for it."""
    done = subprocess.run(
        [sys.executable, peak.__file__, sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )
    *said, most = done.stderr.splitlines()
    return Done(done.returncode, done.stdout, "\n".join(said), int(most))
