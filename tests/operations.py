"""Counts what commands do to traces that grow, in a process of its own; prints JSON.

LD_PRELOAD=asked.so PYTHONMALLOC=malloc python operations.py FOLDER DIMENSION=SMALLEST...
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import io
import json
import os
import sys
import threading
from pathlib import Path

import grown
from burstline import write
from burstline.cli import main
from burstline.structure.exact import loopnest, site_steps
from burstline.testing import trace_of

COMMANDS = {
    "of the text": "info {}.txt --quick", "to .prv": "convert {}.store {}.prv --force",
    "of .prv": "convert {}.prv {}.again.store --force",
    "to OTF2": "convert {}.store {}.otf2 --force", "of OTF2": "info {}.otf2 --quick",
    "info": "info {}.store --quick --full", "waits": "waits {}.store -o {}.cubex --force",
    "structure": "structure {}.store --format json",
    "flame": "flame {}.store -o {}.json --force",
    "table": "table {}.store -o {}.table.parquet --force",
}  # fmt: skip
"""What is counted. Outputs of the first ones are read by the others."""

MORE = {
    "loops": {"annotate": "annotate {}.store -o {}.marked.prv --force"},
    "counters": {"merge": "merge {}.store {}.store --dataset {}.merged.parquet --force"},
}
"""What is counted of one dimension only."""

LIMITS = {
    loopnest: {"_WORK": 20_000, "_DEEPEST_NEST": 16},
    site_steps: {"_MOST_SITES": 20},
}
"""Where searches for loops and sites end: so low that the small traces are beyond."""


COUNTER, PYTHON = ctypes.CDLL(None), ctypes.pythonapi
PYTHON.PyEval_SetTrace.argtypes = [ctypes.c_void_p, ctypes.py_object]


def told(name):
    """Ask the library that counts for a number."""
    function = getattr(COUNTER, name)
    function.restype = ctypes.c_ulonglong
    return function()


def count_lines(*_):
    """Count the lines that this thread executes from now on, if the library is loaded."""
    PYTHON.PyEval_SetTrace(ctypes.cast(COUNTER.count_line, ctypes.c_void_p), None)


def run(command):
    """Run a command and give its exit code."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            return main([*command.split(), "--quiet"]) or 0
        except SystemExit as end:
            return end.code


def counted(command):
    """Run a command; lines of Python, bytes asked of malloc, and its exit code."""
    before = told("lines_executed"), told("bytes_asked")
    threading.settrace(count_lines)
    count_lines()
    try:
        code = run(command)
    finally:
        PYTHON.PyEval_SetTrace(None, None)
        threading.settrace(None)
    return told("lines_executed") - before[0], told("bytes_asked") - before[1], code


def grow(folder, dimension, smallest, *, loaded):
    """Run all commands on three traces; on a small one before, unless what they need is loaded.

    What one dimension alone loads looks steep, and is counted again, in another process.
    """
    place = folder / dimension  # a command that writes reads the whole folder
    place.mkdir()
    commands = COMMANDS | MORE.get(dimension, {})
    counts = {name: [] for name in commands}
    for size in (*[4] * (not loaded), smallest, 2 * smallest, 4 * smallest):
        stem = place / f"of{size}"
        text = "\n".join(grown.DIMENSIONS[dimension](size))
        stem.with_suffix(".txt").write_text(text, encoding="utf-8")
        write(trace_of(text), stem.with_suffix(".store"))
        for name, command in commands.items():
            of_trace = command.replace("{}", str(stem))
            counts[name].append(run(of_trace) if size == 4 else counted(of_trace))
    return {name: each[-3:] for name, each in counts.items()}


if __name__ == "__main__":
    os.fsync = os.fstat  # disks are slow
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    for searched, limits in LIMITS.items():
        for name, limit in limits.items():
            setattr(searched, name, limit)
    place, *asked = sys.argv[1:]
    sizes = {name: int(size) for name, size in (each.split("=") for each in asked)}
    first = next(iter(sizes))
    print(
        json.dumps(
            {
                name: grow(Path(place), name, size, loaded=name != first and name not in MORE)
                for name, size in sizes.items()
            }
        )
    )
