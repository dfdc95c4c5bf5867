"""The demo is the first thing that a newcomer runs."""

from __future__ import annotations

import command


def test_the_demo_explains_the_trace_that_ships():
    done = command.burstline("demo")

    assert done.returncode == 0, done.stderr
    assert "$ burstline info" in done.stdout
    assert "$ burstline structure" in done.stdout
    assert "Next, with this trace" in done.stdout
