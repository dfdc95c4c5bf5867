"""What a timeline is opened at: the run, iterations of its costliest loop, its worst wait."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from burstline.columns import Integers, to_numpy
from burstline.structure import Structure
from burstline.timeline import Timeline

_MARGIN: Final = 0.02
_AROUND_WAIT: Final = 0.5
_MOST_MARKS: Final = 5000


class Steps(NamedTuple):
    """The iterations of a loop, each from the first rank that begins to the last that ends."""

    loop: int
    number: Integers  # from 1
    begin_ns: Integers
    end_ns: Integers
    mean_ns: Integers  # over the ranks

    def median(self) -> int:
        """Row of the iteration of middle duration."""
        return int(np.argsort(self.mean_ns, kind="stable")[(len(self.mean_ns) - 1) // 2])

    def slowest(self) -> int:
        """Row of the iteration that takes longest."""
        return int(self.mean_ns.argmax())

    def window(self, row: int, line: Timeline) -> tuple[int, int]:
        """A little more than an iteration."""
        begin, end = int(self.begin_ns[row]), int(self.end_ns[row])
        return within(line, begin, end, (end - begin) * _MARGIN)

    def marks(self) -> Integers:
        """Rows of the iterations that are marked: every so many of very many."""
        return np.arange(0, len(self.number), max(1, -(-len(self.number) // _MOST_MARKS)))


def steps_of(structure: Structure | None, line: Timeline) -> Steps | None:
    """The iterations of the loop that spans most of the run, as far as they are shown."""
    if structure is None or not structure.loops:
        return None
    loop = max(structure.loops, key=lambda each: each.share).id
    table = structure.iterations(loop)
    count = int(table.iteration.max(initial=-1)) + 1
    begin = np.full(count, np.iinfo(np.int64).max)
    end = np.full(count, np.iinfo(np.int64).min)
    np.minimum.at(begin, table.iteration, table.start_ns)
    np.maximum.at(end, table.iteration, table.end_ns)
    ranks = np.bincount(table.iteration, minlength=count)
    spent = np.zeros(count, np.int64)
    np.add.at(spent, table.iteration, table.end_ns - table.start_ns)
    first, last = line.baseline_ns
    rows = np.flatnonzero((ranks > 0) & (end > first) & (begin < last))
    if not len(rows):
        return None
    mean = spent[rows] // ranks[rows]
    return Steps(loop, rows + 1, begin[rows], end[rows], mean)


def worst_wait(line: Timeline) -> int | None:
    """Row of the longest single wait that lies in the baseline."""
    table = line.waits.instances
    start, wait = (to_numpy(table[name]) for name in ("start_ns", "wait_ns"))
    first, last = line.baseline_ns
    rows = np.flatnonzero((start >= first) & (start + wait <= last))
    return int(rows[0]) if len(rows) else None  # they are sorted


def window_of_wait(line: Timeline, row: int) -> tuple[int, int]:
    """A wait with what comes before and after it."""
    [wait] = line.waits.instances.slice(row, 1).to_pylist()
    begin, length = wait["start_ns"], wait["wait_ns"]
    return within(line, begin, begin + length, length * _AROUND_WAIT)


def within(line: Timeline, begin: int, end: int, margin: float) -> tuple[int, int]:
    """A window with a margin, in the baseline, never empty."""
    first, last = line.baseline_ns
    begin, end = max(first, begin - round(margin)), min(last, end + round(margin))
    return (begin, end) if begin < end else (first, last)
