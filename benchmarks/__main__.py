"""Run benchmarks: ``python -m benchmarks [NAME …] [--quick]``.

Each figure is one line of JSON on stdout; the table of all comes last, on stderr. A
figure that misses its goal does not fail the run: machines differ. A wrong answer does.
Goals are meant for 500 MB and more; with less they are not stated.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks import reading, starting
from benchmarks.burst_table import burst_table
from benchmarks.figures import Figure, publish, tabulate
from benchmarks.generate import size_in_bytes
from benchmarks.inputs import FULL, make_input
from benchmarks.large import large
from benchmarks.matching import matching
from benchmarks.otf2 import otf2_reading
from benchmarks.phases import phase_speed
from benchmarks.raw_files import raw_files
from benchmarks.recording import record
from benchmarks.report import report
from benchmarks.structure import structure
from benchmarks.waits import wait_speed

BENCHMARKS: Final[dict[str, Callable[..., Iterable[Figure]]]] = {
    "baseline": reading.baselines,
    "scan": reading.scan,
    "read": reading.read,
    "convert": reading.convert,
    "paramedir": reading.paramedir,
    "info": starting.info,
    "help": starting.help_text,
    "structure": structure,
    "raw": raw_files,
    "otf2": otf2_reading,
    "record": record,
    "table": burst_table,
    "matching": matching,
    "waits": wait_speed,
    "phases": phase_speed,
    "report": report,
}
QUICK: Final = size_in_bytes("30M")


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = [*BENCHMARKS, "large"]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="30 MB: does it run?")
    parser.add_argument("--size", type=size_in_bytes, default="500M", metavar="BYTES")
    parser.add_argument("--ranks", type=int, default=64, metavar="N")
    parser.add_argument("--memory", type=size_in_bytes, default="2G", metavar="BYTES")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where inputs are made")
    wanted = parser.parse_args()
    unknown = set(wanted.names) - set(names)
    if unknown:
        parser.error(f"no benchmark called {', '.join(sorted(unknown))}")
    chosen = {
        name: BENCHMARKS.get(name, partial(large, memory=wanted.memory)) for name in names
    }
    size = QUICK if wanted.quick else wanted.size
    with tempfile.TemporaryDirectory(prefix="burstline-", dir=wanted.folder) as folder:
        sys.stderr.write(f"generating {size / 1e6:,.0f} MB, {wanted.ranks} ranks ...\n")
        trace = make_input(Path(folder), ranks=wanted.ranks, size=size)
        measured = (
            figure for name in wanted.names or BENCHMARKS for figure in chosen[name](trace)
        )
        if size < FULL:
            measured = (replace(figure, goal="") for figure in measured)
        figures = [publish(figure) for figure in measured]
    tabulate(figures)


if __name__ == "__main__":
    main()
