"""Loops of small C programs, read in their source: labels for traces that have none.

Each line that calls MPI, with the innermost loop around it while the program runs, named
after the line where that begins; loops that share a line have a letter. A line that is not
here is in no loop.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from burstline import Trace
from burstline.identity import Site, sites_of
from burstline.structure import Calls
from burstline.studies import NO_LABEL, OUTSIDE, Labels

KNOWN: Final[dict[str, dict[int, str]]] = {
    "t1_nested2.c": {9: "7", 12: "6"},
    "t2_nested3.c": {10: "8", 13: "7", 16: "6"},
    "t3_phases3.c": {10: "8", 13: "7"}
    | {21: "19", 22: "19", 23: "19", 26: "18"}
    | {34: "31", 35: "31", 37: "31", 38: "31", 42: "30"},
    "t4_alias.c": {11: "9", 16: "14", 22: "20", 26: "8"},
    "t5_cond.c": {9: "6", 12: "6", 14: "6", 20: "18", 23: "18", 26: "18"},
    "irregular.c": {20: "18", 37: "34", 40: "40", 42: "42", 45: "34"},
    "idrun.c": {14: "14", 18: "18b", 29: "29b", 30: "30b", 32: "25", 33: "25", 34: "25"},
    "mpistream.c": {18: "17", 19: "17", 20: "17", 21: "17", 23: "23"},
    "waits.c": dict.fromkeys((*range(17, 52), *range(57, 64)), "56"),
}
"""By source file and line."""


def known_labels(trace: Trace, calls: Calls) -> Labels | None:
    """Give the labels of calls from a program whose source is known.

    Parameters
    ----------
    trace : Trace
        Its call paths are read.
    calls : Calls
        The calls of one application in it.

    Returns
    -------
    Labels or None
        One per call; None if the program is not known.
    """
    sites = sites_of(trace, calls.row, calls.world_size)
    names = [_loop(site) for site in sites.distinct]
    if not any(names):
        return None
    numbers = {name: number for number, name in enumerate(sorted({*names} - {None, ""}), 1)}
    values = [NO_LABEL if name is None else numbers.get(name, OUTSIDE) for name in names]
    loop = np.array(values, np.int64)[sites.of_call]
    return Labels(loop, {number: name for name, number in numbers.items()}, "regions")


def _loop(site: Site) -> str | None:
    """Give the loop of a call; empty if it is in none, None if nobody knows."""
    program = {frame.file for frame in site.path if frame.file in KNOWN}
    if not site.path:
        return ""
    if not program:
        return None if site.path[-1].file is None else ""
    file = program.pop()
    caller = site.path[-1]
    line = KNOWN[file].get(caller.line or 0) if caller.file == file else None
    return "" if line is None else f"{file}:{line}"
