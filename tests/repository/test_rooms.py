"""The way from a trace to its waits passes few doors."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

ROOMS = Path(__file__).parents[2] / ".ci" / "rooms"


def test_waits_are_found_in_few_rooms_each_entered_once_or_twice():
    trace = files("burstline") / "data" / "lulesh_8r.prv.gz"
    # Values alone: whether the run may be judged is asked beside, of other analyses.
    words = [sys.executable, ROOMS, "waits", str(trace), "--format", "csv"]

    printed = subprocess.run(words, check=True, capture_output=True, text=True).stdout

    entered, again = map(
        int, re.findall(r"^(\d+) entered, (\d+) of them again", printed, re.MULTILINE)[0]
    )
    assert 10 < entered <= 35
    assert again <= 12
