"""Run a Python child and learn the most memory it had, and only it.

A child of a large process starts with that process's peak, so a small one in between
starts it.
"""

from __future__ import annotations

import subprocess
import sys
from typing import NamedTuple

SUPERVISE = """\
import resource, subprocess, sys
done = subprocess.run([sys.executable, *sys.argv[1:]])
peak = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(peak, file=sys.stderr)
sys.exit(done.returncode)
"""


class Done(NamedTuple):
    """What a child did."""

    code: int
    printed: str
    said: str
    peak_bytes: int


def supervised(*words: object) -> Done:
    """Run ``python WORDS…`` and wait for it."""
    done = subprocess.run(
        [sys.executable, "-c", SUPERVISE, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )
    *said, peak = done.stderr.splitlines()
    return Done(done.returncode, done.stdout, "\n".join(said), int(peak))
