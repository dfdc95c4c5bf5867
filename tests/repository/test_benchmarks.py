"""What the benchmarks say of their goals."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from repository.source import ROOT

RUN = """
import sys, benchmarks.__main__ as ours
from benchmarks.figures import Figure
ours.make_input = lambda *_, **__: None
ours.BENCHMARKS["some"] = lambda _: [Figure("some", "time", 1.0, "s", "<= 60")]
ours.main()
"""


@pytest.mark.parametrize("size", ["--quick", "--size=40M", "--size=499M", "--size=500M"])
def test_a_goal_is_stated_only_at_the_size_it_is_meant_for(size):
    done = subprocess.run(
        [sys.executable, "-c", RUN, "some", size],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    is_full = size == "--size=500M"

    assert json.loads(done.stdout).get("within_goal") == (True if is_full else None)
    assert ("<= 60" in done.stderr) == is_full
