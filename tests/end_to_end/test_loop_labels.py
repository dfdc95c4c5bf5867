"""Programs compiled with ``--loops`` say in which loop they are, and how far."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import warm
from recording import line_of

KERNELS = Path(__file__).parents[1] / "record" / "kernels"
SOURCE = KERNELS / "labelled.c"
OUTER, INNER = (line_of(f"int {name} = 0", SOURCE.read_text()) for name in ("step", "side"))
MANY = """
#define main nested
#include "labelled.c"
#undef main
int main(void) {
    for (int outer = 0; outer < 400; outer++)
        for (int inner = 0; inner < 50; inner++) exchange();
    return 0;
}
"""


def said(clang, folder, cache, *options, source=SOURCE, **settings):
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), **settings}
    words = ["cc", "--loops", "--", clang, *options, source, "-o", "program"]
    code, _, told = warm.run(words, folder, environment)
    assert (code, told) == (0, "")
    done = subprocess.run(
        ["./program"], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.splitlines()


def halo():
    yield f"enter {INNER} 0"
    for side in range(2):
        yield f"iteration {INNER} {side}"
        yield f"call {INNER}"
    yield f"leave {INNER} 2"


def whole(steps):
    yield "call 0"
    yield f"enter {OUTER} 0"
    for step in range(steps):
        yield f"iteration {OUTER} {step}"
        yield from halo()
        yield f"call {OUTER}"
    yield f"leave {OUTER} {steps}"
    yield "call 0"


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3"])
def test_each_call_knows_the_loop_around_it_and_each_loop_its_iterations(
    clang, level, tmp_path, built_once
):
    # field[5] is 1, 1.5, 1.75: the third step leaves by the break.
    assert said(clang, tmp_path, built_once, level) == list(whole(3))


def test_nothing_is_told_of_iterations_that_are_not_sampled(clang, tmp_path, built_once):
    lines = said(clang, tmp_path, built_once, "-O2", BURSTLINE_LOOP_SAMPLING="0")

    calls = [line for line in whole(3) if line.startswith("call")]
    rest = [line for line in lines if not line.startswith("call")]
    assert [line for line in lines if line.startswith("call")] == calls
    assert rest == [f"enter {OUTER} 0", f"leave {OUTER} 3"]


def test_loops_inside_are_told_of_only_in_iterations_that_are_sampled(
    clang, tmp_path, built_once
):
    lines = said(clang, tmp_path, built_once, "-O2", BURSTLINE_LOOP_SAMPLING="0.5")

    outer = [line for line in lines if line.startswith(f"iteration {OUTER} ")]
    assert lines.count(f"enter {INNER} 0") == len(outer)
    assert lines == said(clang, tmp_path, built_once, "-O2", BURSTLINE_LOOP_SAMPLING="0.5")


@pytest.mark.parametrize("part", [0.5, 0.2])
def test_samples_scaled_by_their_depth_estimate_all_iterations(
    clang, part, tmp_path, built_once
):
    source = tmp_path / "many.c"
    source.write_text(MANY)
    options = ["-O2", f"-I{KERNELS}"]
    settings = {"BURSTLINE_LOOP_SAMPLING": str(part)}

    lines = said(clang, tmp_path, built_once, *options, source=source, **settings)

    outer, inner = (line_of(f"int {name} =", MANY) for name in ("outer", "inner"))
    seen = [line.split()[1] for line in lines if line.startswith("iteration ")]
    calls, rows, columns = 400 * 50, seen.count(str(outer)), seen.count(str(inner))
    # Five standard deviations of sums of independent choices.
    far = 5 * (400 * (1 - part) / part) ** 0.5
    assert abs(rows / part - 400) < far
    of_rows = 50 * (400 * (1 - part) / part) ** 0.5
    within = (calls * (1 - part) / part**2) ** 0.5
    assert abs(columns / part**2 - calls) < 5 * (of_rows + within)
    assert lines.count(f"leave {inner} 50") == rows
    assert [line for line in lines if line.startswith("call")] == [f"call {inner}"] * calls
