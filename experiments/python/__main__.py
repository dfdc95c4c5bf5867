"""A program that runs functions in every way of Python, many times with samples, as Markdown.

::

    python -m experiments.python [--runs 100] [--hz 1000] PYTHON…

Generators, coroutines, exec, eval, callbacks of C, recursion 900 deep, forks and threads: each
interpreter, which needs mpi4py, runs `tests/record/python/frames.py` a few times as it is, then
under the recorder. Status and output have to be those of all runs without it, and the frames of
each call those that ``traceback.extract_stack`` gave there.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from burstline.formats import raw
from burstline.record.building.recorder import shared_object
from burstline.record.launching.mpi import abi_of_python
from experiments.python.stacks import same_stacks, stacks_of

PROGRAM: Final = Path(__file__).parents[2] / "tests" / "record" / "python" / "frames.py"
PLAIN: Final = 5
DEPTH: Final = 24
COMPARED: Final = 16


def run(python: str, folder: Path, environment: dict[str, str]) -> tuple[int, str, str]:
    """The status and output of a run of one rank."""
    words = [python, "-W", "ignore", str(PROGRAM), str(folder / "stacks"), "2"]
    done = subprocess.run(
        words, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def row_of(python: str, runs: int, hz: int) -> str:
    """A row of the table, of an interpreter."""
    abi = abi_of_python([python])
    if abi is None:
        return f"| {python} | no mpi4py | | |"
    recorder = shared_object(abi)
    with tempfile.TemporaryDirectory() as name:
        plain = {run(python, Path(name), {}) for _ in range(PLAIN)}
    same = calls = right = 0
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "raw").mkdir()
            settings = {
                "LD_PRELOAD": str(recorder),
                "BURSTLINE_DIR": str(folder / "raw"),
                "BURSTLINE_SAMPLE": str(hz),
                "BURSTLINE_STACK_DEPTH": str(DEPTH),
            }
            same += run(python, folder, settings) in plain
            trace = raw.read(folder / "raw", resolve=None)
            right += same_stacks(trace, 0, folder / "stacks.0", COMPARED)
            calls += sum(map(len, stacks_of(trace, 0)))
    version = subprocess.check_output([python, "-V"], text=True).strip()
    return f"| {version}, {abi.title} | {same} of {runs} | {right} of {runs} | {calls:,} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", nargs="+")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--hz", type=int, default=1000)
    options = parser.parse_args()
    print("| interpreter | runs as without | runs with the same frames | barriers |")
    print("|---|---|---|---|")
    for python in options.python:
        print(row_of(python, options.runs, options.hz), flush=True)


if __name__ == "__main__":
    main()
