"""Recordings that may not be judged: each check fails on one that is made for it."""

from __future__ import annotations

from pathlib import Path

import pytest

import burstline
from skewed import skewed

SOURCE = Path(__file__).parents[1] / "record" / "judged.c"
RUNS = {
    "long enough": ([], [], ["24", "1"]),
    "enough iterations": ([], [], ["12", "5"]),
    "processors not shared": ([], ["taskset", "-c", "0"], ["24", "5"]),
    "callers known": (["--stack-depth=0"], [], ["4", "5"]),
    "recorded at little cost": ([], [], ["4", "1", "calls"]),
    "nothing dropped": ([], [], ["4", "5", "ends"]),
    "OpenMP seen": ([], [], ["4", "5", "threads"]),
}
"""Options of the recording, how the program is started, and its words."""


@pytest.mark.parametrize("check", RUNS)
def test_each_check_fails_on_a_recording_made_for_it(on_mpich, check):
    options, before, words = RUNS[check]
    app = on_mpich.compile("mpicc", SOURCE, "-O2", *["-fopenmp"] * ("threads" in words))
    start = [*on_mpich.ranks(2), *before, app, *words]
    code, _, said = on_mpich.record("-o", "app.store", *options, "--quiet", "--", *start)
    assert code == 0 or "ends" in words, said  # for it, the launcher may end the other rank

    document = on_mpich.document_of("info", "app.store", "--quiet")

    [found] = [each for each in document["checks"] if each["name"] == check]
    assert found["passed"] is False, document["checks"]
    assert document["verdict"][0]["sentence"].startswith("Judge this run with care: ")


def test_clocks_of_a_recording_are_seen_to_disagree(on_mpich):
    app = on_mpich.compile("mpicc", SOURCE, "-O2")
    trace = on_mpich.recorded("app.store", "--", *on_mpich.ranks(2), app, "4", "5")

    one, other = (
        burstline.open(skewed(trace, [ns, 0], [0, 0])).verdict() for ns in (0, 80_000_000)
    )

    passed = [{each.name: each.passed for each in verdict.checks} for verdict in (one, other)]
    assert [each["clocks in order"] for each in passed] == [True, False]
