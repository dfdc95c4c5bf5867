"""Twice the trace is at most a little more than twice the work, whatever it has more of."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grown import DIMENSIONS, SMALLER

HERE = Path(__file__).parents[1]
SMALLEST = 100
MOST = 2.5  # n log n gives 2.2 at these sizes, and n² gives 4
KINDS = {"lines": 1_000, "bytes": 150_000}
"""What is counted, and the step that is none: a table of names that grows, say."""


@pytest.fixture(scope="session")
def allocator(tmp_path_factory):
    """Give a library that counts what is asked of malloc, and lines of Python."""
    target = tmp_path_factory.mktemp("asked") / "asked.so"
    command = ["cc", "-std=gnu11", "-O2", "-shared", "-fPIC", HERE / "asked.c", "-o", target]
    subprocess.run(command, check=True)
    return target


@pytest.fixture(scope="session")
def counted(allocator, tmp_path_factory):
    """Give a function that counts what commands do to growing traces, in another process."""

    def count(dimensions):
        variables = {
            "LD_PRELOAD": str(allocator),
            "PYTHONMALLOC": "malloc",
            "ARROW_DEFAULT_MEMORY_POOL": "system",
            "PYTHONPATH": str(HERE),
        }
        sizes = [f"{name}={SMALLER.get(name, SMALLEST)}" for name in dimensions]
        done = subprocess.run(
            [sys.executable, HERE / "operations.py", tmp_path_factory.mktemp("grown"), *sizes],
            env=os.environ | variables,
            check=True,
            capture_output=True,
            text=True,
        )
        return json.loads(done.stdout)

    return count


def steep(commands):
    """What grows faster than it may, of commands with their counts at three sizes."""
    return [
        f"{command}: {kind} {counts}"
        for command, runs in commands.items()
        for kind, counts in zip(KINDS, list(zip(*runs, strict=True)), strict=False)
        if counts[2] - counts[1] > MOST * max(counts[1] - counts[0], 0) + KINDS[kind]
    ]


def least(runs, others):
    """The smaller counts of two series, and the larger exit codes."""
    return [
        (min(a, x), min(b, y), max(c, z))
        for (a, b, c), (x, y, z) in zip(runs, others, strict=True)
    ]


def test_work_grows_as_the_trace_does(counted):
    """Double a dimension twice: the second step costs at most 2.5 times the first one.

    Seconds say nothing on a machine with neighbours, so operations are counted: the lines of
    Python that are executed, and the bytes that anybody asks of malloc: Python for its
    objects, NumPy and Arrow for columns, kernels for tables. A loop in Python is in the first
    number. A call of NumPy, a slice or a join is one line, whatever its size, but puts its
    result somewhere: that is in the second one, so `np.unique` at each level of a tree has
    bytes of the square of its depth. What neither sees is a kernel that walks where it has
    been without keeping anything, and a search through a list.

    Costs of a command are left out by looking at differences: what n more cost, and 2 n more.
    All dimensions are looked at in one process, for it takes long to start.
    """
    found = counted(DIMENSIONS)
    if again := [dimension for dimension, commands in found.items() if steep(commands)]:
        # What is loaded once, or kept by chance, is in one of two counts: the least is taken.
        for dimension, commands in counted(again).items():
            found[dimension] = {
                command: least(runs, found[dimension][command])
                for command, runs in commands.items()
            }

    refused = [
        f"{dimension}, {command}: exit codes {codes}"
        for dimension, commands in found.items()
        for command, runs in commands.items()
        if any(codes := [code for *_, code in runs])
    ]

    assert {name: steep(commands) for name, commands in found.items() if steep(commands)} == {}
    assert refused == []  # what is refused costs nothing, and would show nothing
