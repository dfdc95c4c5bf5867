"""How long bursts last, and what a counter says of them: a histogram of both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from burstline.columns import AnyIntegers, Floats, Integers, numpy_columns, sums_by
from burstline.errors import NotEnoughDataError, ParameterError, printable
from burstline.model import (
    INSTRUCTIONS,
    IPC,
    NO_VALUE,
    POLL_GAP_NS,
    Trace,
    bursts_computing,
    instructions_and_cycles,
    processor_clock,
)
from burstline.progress import SILENCE, Progress

RANK: Final = "rank"
"""In place of a counter: bursts by their rank."""
_DECADES: Final = 18
_MOST_IPC: Final = 16
_IPC_WIDTH: Final = 0.5
_MOST_BINS: Final = 1_000
_MOST_RANKS: Final = 256


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Bursts by how long they compute, and by a counter, IPC or their rank."""

    counter: str  # the counter, ``IPC`` or ``rank``
    unit: str  # of its values: ``ns`` of a time; empty of counts
    duration_ns: Integers  # (columns + 1,) where columns begin and the last one ends
    values: Floats  # (rows + 1,) the same of rows; of ranks they are counted
    # the rank of each row, or the first and last of some, where rows are ranks; else empty
    ranks: tuple[str, ...]
    bursts: Integers  # (rows, columns)
    time_ns: Integers  # how long they compute, shape (rows, columns)
    unread: int  # bursts for which the counter is not known; they are in no row
    unread_ns: int


def histogram(
    trace: Trace,
    *,
    counter: str | None = None,
    bins: int = 2,
    poll_gap_ns: int = POLL_GAP_NS,
    progress: Progress = SILENCE,
) -> Histogram:
    """How long bursts compute, by a counter, by instructions a cycle, or by rank.

    Linear in the bursts; memory of the bins that hold any, and 16 bytes for each of the result.
    A burst computes for all of its time but what nobody watched and what was waiting in failed
    polls; a counter counts in these as well. Of more than 256 ranks, neighbours share a row.

    >>> from burstline.testing import trace_of
    >>> calls = "0 enter MPI_Init | 5 leave | 25 enter MPI_Barrier | 30 leave"
    >>> made = histogram(trace_of(f"ranks 1 | 0 | {calls} | 70 enter MPI_Barrier | 72 leave"))
    >>> made.counter, made.duration_ns.tolist(), made.time_ns.tolist()
    ('rank', [10, 32, 100], [[20, 40]])
    """
    cells = bursts_binned(
        trace, counter=counter, bins=bins, poll_gap_ns=poll_gap_ns, progress=progress
    )
    return histogram_of(trace, [cells], counter=counter, bins=bins)


def bursts_binned(
    trace: Trace,
    *,
    counter: str | None,
    bins: int,
    poll_gap_ns: int,
    progress: Progress = SILENCE,
) -> Cells:
    """The bursts of some locations, sorted into the cells of a histogram."""
    if not 1 <= bins <= _MOST_BINS:
        raise ParameterError(f"bins within a factor of ten are 1 to {_MOST_BINS}, got {bins}")
    chosen = _chosen(trace, counter)
    read: tuple[str, ...] = instructions_and_cycles(trace) or () if chosen == IPC else ()
    if chosen in trace.counter_names:
        read = (chosen,)
    durations, values, _, row_of_location = _axes(trace, chosen, bins)
    found = Cells(len(durations))
    for part, length in bursts_computing(trace, ("location", *read), poll_gap_ns, progress):
        (location,) = numpy_columns(part, "location")
        counted, is_known = _counted(numpy_columns(part, *read), length)
        found.unread += [np.count_nonzero(~is_known), length[~is_known].sum()]
        column = np.searchsorted(durations, length, side="right") - 1
        if row_of_location is not None:
            row = row_of_location[location]
        else:
            row = np.searchsorted(values, counted, side="right") - 1
        inside = is_known & (row >= 0)
        found.add(row[inside], column[inside], length[inside])
    return found


def histogram_of(
    trace: Trace, parts: Iterable[Cells], *, counter: str | None, bins: int
) -> Histogram:
    """The histogram of a trace by the bursts of its parts."""
    chosen = _chosen(trace, counter)
    durations, values, ranks, _ = _axes(trace, chosen, bins)
    found = Cells(len(durations))
    for part in parts:
        found.add_all(part)
    first, last, bursts, time_ns = found.dense()
    counters = trace.table("counters").to_pylist()
    return Histogram(
        chosen,
        next((row["unit"] for row in counters if row["name"] == chosen), ""),
        durations[first[1] : last[1] + 2],
        values[first[0] : last[0] + 2],
        ranks[first[0] : last[0] + 1],
        bursts,
        time_ns,
        *found.unread.tolist(),
    )


def _axes(
    trace: Trace, chosen: str, bins: int
) -> tuple[Integers, Floats, tuple[str, ...], Integers | None]:
    """Where columns and rows begin; by rank, which ranks rows are, and the row of locations."""
    if not (chosen == RANK and chosen not in trace.counter_names):
        return _powers(bins), _values(chosen, bins), (), None
    ranks, row_of_location = _ranks(trace)
    return _powers(bins), np.arange(len(ranks) + 1, dtype=np.float64), ranks, row_of_location


def _chosen(trace: Trace, counter: str | None) -> str:
    names = trace.counter_names
    has_ipc = instructions_and_cycles(trace) is not None
    if counter is None:
        clock = processor_clock(trace) or (IPC if has_ipc else None)
        return clock or next((name for name in INSTRUCTIONS if name in names), RANK)
    if counter in names or counter == RANK or (counter == IPC and has_ipc):
        return counter
    there_are = ", ".join(printable(each) for each in (*names, *[IPC] * has_ipc, RANK))
    raise ParameterError(f"no counter {printable(counter)!r} in this trace: say {there_are}")


def _powers(bins: int) -> Integers:
    """0, and from 1 on the least numbers not below each power, so many within ten.

    >>> _powers(2)[:6].tolist()
    [0, 1, 4, 10, 32, 100]
    """
    exact = [10**k for k in range(_DECADES + 1)]
    powers = np.ceil(10.0 ** (np.arange(_DECADES * bins + 1) / bins)).astype(np.int64)
    powers[::bins] = exact
    return np.unique(np.concatenate([[0], powers]))


def _values(chosen: str, bins: int) -> Floats:
    """Where rows begin of a counter, or of instructions a cycle."""
    if chosen == IPC:
        width = _IPC_WIDTH / bins
        return np.arange(int(_MOST_IPC / width) + 1, dtype=np.float64) * width
    return _powers(bins).astype(np.float64)


def _ranks(trace: Trace) -> tuple[tuple[str, ...], Integers]:
    """The ranks of each row, and the row of each location."""
    application, rank = trace.arrays("locations", "application", "rank")
    places, row = np.unique(np.stack([application, rank]), axis=1, return_inverse=True)
    several = len(np.unique(application)) > 1
    names = [f"{of}/{each}" if several else str(each) for of, each in places.T.tolist()]
    width = -(-len(names) // _MOST_RANKS)
    if width > 1:
        groups = (names[first : first + width] for first in range(0, len(names), width))
        names = ["-".join(dict.fromkeys((each[0], each[-1]))) for each in groups]
    return tuple(names), row.ravel() // width


def _counted(
    columns: tuple[AnyIntegers, ...], length: Integers
) -> tuple[npt.NDArray[np.generic], npt.NDArray[np.bool_]]:
    """What was counted in each burst, or how much by how much, and whether it is known."""
    if not columns:
        return length, np.ones(len(length), bool)
    if len(columns) == 1:
        return columns[0], columns[0] != NO_VALUE
    instructions, cycles = columns
    is_known = (instructions != NO_VALUE) & (cycles != NO_VALUE) & (cycles > 0)
    ratio = np.where(is_known, instructions, 0) / np.where(is_known, cycles, 1)
    return np.minimum(ratio, np.nextafter(_MOST_IPC, 0)), is_known


class Cells:
    """Sums of the cells that hold any burst, and of bursts whose counter was not read."""

    def __init__(self, columns: int) -> None:
        self.unread = np.zeros(2, np.int64)  # how many, and how long they compute
        self._columns = columns
        self._keys = np.zeros(0, np.int64)
        self._sums = np.zeros((2, 0), np.int64)

    def add(self, row: Integers, column: Integers, time_ns: Integers) -> None:
        """Add bursts by their cell."""
        self._add(row * self._columns + column, np.stack([np.ones_like(time_ns), time_ns]))

    def add_all(self, other: Cells) -> None:
        """Add what other cells hold."""
        self._add(other._keys, other._sums)
        self.unread += other.unread

    def _add(self, keys: Integers, more: Integers) -> None:
        every = np.concatenate([self._keys, keys])
        sums = np.concatenate([self._sums, more], axis=1)
        self._keys, number = np.unique(every, return_inverse=True)
        self._sums = np.stack([sums_by(number, each, len(self._keys)) for each in sums])

    def dense(self) -> tuple[tuple[int, int], tuple[int, int], Integers, Integers]:
        """The first and last row and column that hold any, and both sums of those between."""
        if not len(self._keys):
            raise NotEnoughDataError("the counter was read at the ends of no burst")
        row, column = np.divmod(self._keys, self._columns)
        first = int(row.min()), int(column.min())
        last = int(row.max()), int(column.max())
        shape = 2, last[0] - first[0] + 1, last[1] - first[1] + 1
        made = np.zeros(shape, np.int64)
        made[:, row - first[0], column - first[1]] = self._sums
        return first, last, made[0], made[1]
