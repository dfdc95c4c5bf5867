"""What each stage of the detection took is taken by a stopwatch, and told."""

from __future__ import annotations

import json

import command
from burstline.progress import Stopwatch
from loop_programs import Do, loop, text

PROGRAM = loop(6, loop(4, Do("Send", 9)), Do("Barrier", 12))
SEED = ["call sites", "reduction", "clustering", "nesting", "assembly", "fidelity"]


def watched(times):
    clock = iter(times)
    return Stopwatch(lambda: next(clock))


def test_a_stopwatch_sums_the_steps_of_one_name_in_the_order_in_which_they_began():
    watch = watched([0, 5, 12, 20, 50])

    for name in ("read", "nest", "read"):
        watch.step(name, 100, "B")
        watch.advance(50)

    assert watch.stages() == {"read": 7 + 30, "nest": 8}


def test_times_are_shown_and_written_if_they_are_asked_for(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(text(PROGRAM))
    asked = ("structure", path, "--method", "seed")

    shown = command.burstline(*asked, "--times").stdout
    written = json.loads(command.burstline(*asked, "--times", "--format", "json").stdout)
    usual = json.loads(command.burstline(*asked, "--format", "json").stdout)

    table = shown.split("Stages of the detection\n")[1].splitlines()[2:]
    assert [line[:14].strip() for line in table[:7]] == ["reading", *SEED]
    assert [each["stage"] for each in written["stages"]] == ["reading", *SEED]
    assert all(each["time_ns"] > 0 for each in written["stages"])
    assert "stages" not in usual
