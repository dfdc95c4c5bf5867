"""Precision and rate of matching runs that log what their bursts are.

::

    python -m experiments.merge.known [--without-loops] RUN1 RUN2 [RUN1 RUN2 …]

Ids are read from ``NAME.truth.csv`` beside a trace ``NAME.prv`` or ``NAME.prv.gz``
(``rank,time_ns,id``: the burst around that time), or else from the trace's own events of
type 900, which nothing that matches ever looks at: of all events only those of loops are
left. Prints Markdown.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

import burstline
from burstline import Trace
from burstline.errors import NotEnoughDataError, ParameterError, printable
from burstline.merge import METHODS, match
from burstline.model import schema
from experiments.merge.accuracy import Accuracy, by_ids, pairs_of, unique_by_ids

Integers = npt.NDArray[np.int64]

ITEM: Final = 900
"""Event type under which a program logs what its burst is."""
_LOOP_TABLES: Final = ("loops", "loop_entries", "loop_iterations", "call_loops")
_NO_ID: Final = -1
_FIGURES: Final = ("align: precision", "rate", "seed: precision", "rate")
_KINDS: Final = ("with a twin", "told apart", "only one in each")
HEAD: Final = ("runs", "bursts", *(word for kind in _KINDS for word in (kind, *_FIGURES)))


def with_ids(path: Path, *, loops: bool = True) -> tuple[Trace, Integers]:
    """Read a trace, and what its bursts are.

    Parameters
    ----------
    path : Path
        The trace.
    loops : bool
        Whether its loops are left to it, if it has any.

    Returns
    -------
    trace : Trace
        Without the events the ids are in.
    ids : ndarray of int64, shape (bursts,)
        Unique on their thread; -1 of unknown meaning.

    Raises
    ------
    NotEnoughDataError
        If there are no ids.
    """
    truth = path.with_name(f"{path.name.partition('.')[0]}.truth.csv")
    trace = burstline.read(path, raw=not truth.exists())
    if truth.exists():
        return trace, _placed(trace, *_listed(trace, truth))
    location, time, kind, value = trace.arrays("events", "location", "time_ns", "type", "value")
    chosen = kind == ITEM
    if not chosen.any():
        name = printable(str(path))
        raise NotEnoughDataError(f"{name}: no events of type {ITEM}, and no {truth.name}")
    without = {"events"} if loops else {"events", *_LOOP_TABLES}
    names = [name for name in schema.TABLES if name in trace and name not in without]
    plain = Trace({name: trace.table(name) for name in names})
    return plain, _placed(plain, location[chosen], time[chosen], value[chosen])


def _listed(trace: Trace, truth: Path) -> tuple[Integers, Integers, Integers]:
    (rank,) = trace.arrays("locations", "rank")
    where = {one: place for place, one in reversed(list(enumerate(rank.tolist())))}
    with truth.open(newline="") as file:
        rows = [
            (where[int(r["rank"])], int(r["time_ns"]), int(r["id"]))
            for r in csv.DictReader(file)
        ]
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    return columns[0], columns[1], columns[2]


def _placed(trace: Trace, location: Integers, time: Integers, value: Integers) -> Integers:
    """Give each burst the id that was told in it."""
    start, end = trace.arrays("bursts", "start_ns", "end_ns")
    offsets = trace.offsets("bursts")
    ids = np.full(len(start), _NO_ID, np.int64)
    for place in range(len(offsets) - 1):
        own = np.flatnonzero(location == place)
        first, last = offsets[place], offsets[place + 1]
        row = first + np.searchsorted(start[first:last], time[own], side="right") - 1
        inside = (row >= first) & (time[own] <= end[np.maximum(row, 0)])
        ids[row[inside]] = value[own[inside]]
    return ids


def by_thread(trace: Trace, ids: Integers) -> Integers:
    """Make ids unique among all threads: the thread's number goes on top."""
    (location,) = trace.arrays("bursts", "location")
    return np.where(ids >= 0, ids + (location.astype(np.int64) << 54), _NO_ID)


def judge(
    runs: Sequence[tuple[Trace, Integers]], method: str = "align"
) -> tuple[Accuracy, Accuracy, Accuracy]:
    """Match two runs, and count by their ids.

    Parameters
    ----------
    runs : sequence of (Trace, ndarray of int64)
        Two, as :func:`with_ids` gives them.
    method : str
        Of matching.

    Returns
    -------
    tuple of three Accuracy
        Of all bursts that have an id; of those that their neighbours tell from others near
        them, the same in both runs; of those that are the only ones of their kind, whether
        or not their neighbours are the same.
    """
    (first, ours), (second, theirs) = runs
    pairs = pairs_of(match([first, second], method=method), first, second)
    ids = (by_thread(first, ours), by_thread(second, theirs))
    traces = (first, second)
    told_apart = unique_by_ids(pairs, ids, traces, alike=True)
    return by_ids(pairs, ids), told_apart, unique_by_ids(pairs, ids, traces)


def report(pairs: Sequence[tuple[Path, Path]], *, loops: bool = True) -> Iterator[str]:
    """Give the lines of the report: a pair of runs each, with their loops or without."""
    yield f"| {' | '.join(HEAD)} |"
    yield f"| {' | '.join('---' for _ in HEAD)} |"
    for paths in pairs:
        yield row(paths[0].name.partition(".")[0], [with_ids(p, loops=loops) for p in paths])


def row(name: str, runs: Sequence[tuple[Trace, Integers]]) -> str:
    """Give a line of the report.

    Parameters
    ----------
    name : str
        What the runs are called.
    runs : sequence of (Trace, ndarray of int64)
        Two.
    """
    found = [judge(runs, method) for method in METHODS]
    words = [name, str(runs[0][0].rows("bursts"))]
    for kind in range(len(_KINDS)):
        counted = [one[kind] for one in found]
        words.append(str(counted[0].matchable))
        words += [f"{share:.4f}" for one in counted for share in (one.precision, one.rate)]
    return f"| {' | '.join(words)} |"


def main() -> None:
    """Print the report of the pairs of runs on the command line."""
    parser = argparse.ArgumentParser(prog="python -m experiments.merge.known")
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--without-loops", action="store_true", help="take them away first")
    wanted = parser.parse_args()
    paths = wanted.runs
    if len(paths) % 2:
        raise ParameterError("runs come in pairs")
    pairs = list(zip(paths[::2], paths[1::2], strict=True))
    for line in report(pairs, loops=not wanted.without_loops):
        sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
