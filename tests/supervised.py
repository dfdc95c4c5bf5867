"""Run a Python child and learn the most memory that it and its children had, and only they."""

from __future__ import annotations

import subprocess
import sys
from typing import NamedTuple

from benchmarks import peak


class Done(NamedTuple):
    """What a child did."""

    code: int
    printed: str
    said: str
    peak_bytes: int


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
