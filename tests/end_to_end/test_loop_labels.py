"""Programs compiled with ``--loops`` say in which loop they are, and how far."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

KERNELS = Path(__file__).parents[1] / "record" / "kernels"
SOURCE = KERNELS / "labelled.c"
STATEMENTS = SOURCE.read_text().splitlines()


def line_of(text):
    """Find the line of the source that holds a text; counted from 1."""
    (line,) = [number for number, line in enumerate(STATEMENTS, start=1) if text in line]
    return line


OUTER, INNER = line_of("int step = 0"), line_of("int side = 0")


def said(clang, folder, cache, *options, **settings):
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), **settings}
    command = [sys.executable, "-m", "burstline", "cc", "--loops", "--", clang]
    built = subprocess.run(
        [*command, *options, SOURCE, "-o", "program"],
        cwd=folder,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert (built.returncode, built.stderr) == (0, "")
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
    clang, level, tmp_path, pass_cache
):
    # field[5] is 1, 1.5, 1.75: the third step leaves by the break.
    assert said(clang, tmp_path, pass_cache, level) == list(whole(3))


def test_nothing_is_told_of_iterations_that_are_not_sampled(clang, tmp_path, pass_cache):
    lines = said(clang, tmp_path, pass_cache, "-O2", BURSTLINE_LOOP_SAMPLING="0")

    calls = [line for line in whole(3) if line.startswith("call")]
    rest = [line for line in lines if not line.startswith("call")]
    assert [line for line in lines if line.startswith("call")] == calls
    assert rest == [f"enter {OUTER} 0", f"leave {OUTER} 3"]


def test_loops_inside_are_told_of_only_in_iterations_that_are_sampled(
    clang, tmp_path, pass_cache
):
    lines = said(clang, tmp_path, pass_cache, "-O2", BURSTLINE_LOOP_SAMPLING="0.5")

    outer = [line for line in lines if line.startswith(f"iteration {OUTER} ")]
    assert lines.count(f"enter {INNER} 0") == len(outer)
    assert lines == said(clang, tmp_path, pass_cache, "-O2", BURSTLINE_LOOP_SAMPLING="0.5")
