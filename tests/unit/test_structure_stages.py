"""What each stage of the detection took is taken by a stopwatch, and told."""

from __future__ import annotations

import itertools
import json

import pytest

import command
from burstline.progress import Stopwatch
from burstline.structure import detect
from loop_programs import Do, loop, run, text

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


def test_what_precedes_the_first_step_is_in_none():
    watch = watched([0, 90, 100])
    watch.step("read", 0, "")

    assert watch.stages() == {"read": 10}


@pytest.mark.parametrize(
    ("method", "stages"),
    [
        ("seed", SEED),
        ("exact", [*SEED[:2], "exact method", "fidelity"]),
        ("auto", [*SEED[:2], "exact method", "fidelity"]),
    ],
)
def test_each_method_has_its_stages(method, stages):
    watch = Stopwatch(itertools.count().__next__)

    detect(run(PROGRAM), method=method, progress=watch)

    assert list(watch.stages()) == stages
    assert all(watch.stages().values())


def test_auto_asks_both_methods_where_the_exact_one_leaves_something_open():
    primes = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37}
    program = loop(40, Do("Send", 9), Do("Barrier", 12, when=lambda k: k in primes))
    watch = Stopwatch(itertools.count().__next__)

    detect(run(program), progress=watch)

    assert list(watch.stages()) == [*SEED[:2], "exact method", "fidelity", *SEED[2:-1]]


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
