"""Counts what commands do to traces that grow, in a process of its own; prints JSON.

LD_PRELOAD=asked.so PYTHONMALLOC=malloc python operations.py FOLDER SMALLEST DIMENSION...
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import sys
import threading
from pathlib import Path

import grown
from burstline import write
from burstline.cli import main
from burstline.testing import trace_of

PACKAGE = str(Path(main.__code__.co_filename).parents[1])
COMMANDS = {
    "of the text": "info {}.txt",
    "to .prv": "convert {}.store {}.prv --force",
    "of .prv": "convert {}.prv {}.again.store --force",
    "to OTF2": "convert {}.store {}.otf2 --force",
    "of OTF2": "info {}.otf2",
    "info": "info {}.store --full",
    "waits": "waits {}.store -o {}.cubex --force",
    "structure": "structure {}.store --format json",
    "table": "table {}.store -o {}.table.parquet --force",
}
"""What is counted. Outputs of the first ones are read by the others."""


class Lines:
    """How many lines of the package have been executed, by any thread."""

    count = 0

    def enter(self, frame, _event, _arg):
        return self.line if frame.f_code.co_filename.startswith(PACKAGE) else None

    def line(self, _frame, event, _arg):
        if event == "line":
            self.count += 1
        return self.line


def run(command):
    """Run a command and give its exit code."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            return main([*command.split(), "--quiet"]) or 0
        except SystemExit as end:
            return end.code


def counted(command):
    """Run a command; lines of the package, bytes asked of malloc, and its exit code."""
    lines, asked = Lines(), ctypes.CDLL(None).bytes_asked
    asked.restype = ctypes.c_ulonglong
    before = asked()
    threading.settrace(lines.enter)
    sys.settrace(lines.enter)
    try:
        code = run(command)
    finally:
        sys.settrace(None)
        threading.settrace(None)
    return lines.count, asked() - before, code


def grow(folder, smallest, dimension):
    """Run all commands on a small trace, which loads what they need, and on three more."""
    counts = {name: [] for name in COMMANDS}
    for size in (4, smallest, 2 * smallest, 4 * smallest):
        stem = folder / f"{dimension}{size}"
        text = "\n".join(grown.DIMENSIONS[dimension](size))
        stem.with_suffix(".txt").write_text(text, encoding="utf-8")
        write(trace_of(text), stem.with_suffix(".store"))
        for name, command in COMMANDS.items():
            told = command.replace("{}", str(stem))
            counts[name].append(run(told) if size == 4 else counted(told))
    return {name: each[1:] for name, each in counts.items()}


if __name__ == "__main__":
    place, size, *dimensions = sys.argv[1:]
    print(json.dumps({name: grow(Path(place), int(size), name) for name in dimensions}))
