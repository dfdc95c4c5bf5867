"""How long each rank was computing, and how long it was observed.

From MPI_Init to MPI_Finalize only differences of stamps of one rank enter, so clocks that
disagree between nodes do no harm. Everything is an integer until the last division.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline import extrae
from burstline.columns import Integers, Mask, coded, mask_at, numpy_columns, prefix_sums
from burstline.efficiency.factors import SPANS, Efficiency, rank_efficiency, undefined
from burstline.model import INITS, POLL_COLUMNS, Trace

CALL_COLUMNS: Final = ("location", "operation", "enter_ns", "leave_ns")
"""Columns of `calls` that :meth:`UsefulTime.add` needs."""

BURST_COLUMNS: Final = ("location", *POLL_COLUMNS)
"""Columns of `bursts` that :meth:`UsefulTime.add_bursts` needs."""


class UsefulTime:
    """A fold: batches of calls are added, the parallel efficiency and its factors are read.

    Rank r, by its first CPU thread, counts from the end of its MPI_Init to the start of its
    MPI_Finalize, or as long as it was observed where the trace has no such call; U(r) is that
    time without MPI calls, waiting in failed polls and gaps. T is the longest time any rank was
    observed in its span.

    Of the span ``trace``, T is the duration of the trace and U(r) the time in the state Running
    or, in a trace without states, the time outside MPI, failed polls and all, as BasicAnalysis
    has it.
    """

    def __init__(self, trace: Trace, span: str = SPANS[0]) -> None:
        self._span, self._duration_ns = span, trace.duration_ns
        self._application, self._rank, self._process, thread, born, died = trace.arrays(
            "locations", "application", "rank", "process", "thread", "born_ns", "died_ns"
        )
        self.first_threads = _first_threads(trace, self._process, thread)
        self._begin, self._end = born.copy(), died.copy()
        self._calls, self._mpi, self._waiting = np.zeros((3, len(born)), np.int64)
        self._gaps = dict(gaps_of_locations(trace, self.first_threads))
        self._running = (
            _running_time(trace) if span == "trace" and trace.rows("states") else None
        )

    def add(self, calls: pa.Table) -> None:
        """Add all calls of some locations."""
        location, enter, leave = numpy_columns(calls, "location", "enter_ns", "leave_ns")
        codes, names = coded(calls["operation"])
        self._calls += np.bincount(location, minlength=len(self._calls))
        names = names if self._span == SPANS[0] else []
        inits = np.isin(codes, [names.index(name) for name in INITS if name in names])
        np.maximum.at(self._begin, location[inits], leave[inits])
        if "MPI_Finalize" in names:
            finals = codes == names.index("MPI_Finalize")
            np.minimum.at(self._end, location[finals], enter[finals])
        begin, end = self._begin[location], self._end[location]
        inside = np.minimum(leave, end) - np.maximum(enter, begin)
        np.add.at(self._mpi, location, np.maximum(inside, 0))
        for place, rows in rows_of_locations(location):
            if place in self._gaps:
                # Of time in gaps, which are subtracted, no MPI time is, too.
                until, since = (
                    mpi_before(moments, enter[rows], leave[rows])
                    for moments in reversed(self._inside(place))
                )
                self._mpi[place] -= (until - since).sum()

    def add_bursts(self, bursts: pa.Table, waiting_ns: Integers) -> None:
        """Add how long bursts waited, of some locations whose calls were added."""
        (location,) = numpy_columns(bursts, "location")
        inside = self.has(bursts)
        np.add.at(self._waiting, location[inside], waiting_ns[inside])

    def has(self, bursts: pa.Table) -> Mask:
        """Mask of the bursts in the span of their location, of those whose calls were added."""
        location, start = numpy_columns(bursts, "location", "start_ns")
        return (start >= self._begin[location]) & (start < self._end[location])

    def add_all(self, other: UsefulTime) -> None:
        """Add what was added to another fold of the trace: of other locations."""
        self._begin = np.maximum(self._begin, other._begin)
        self._end = np.minimum(self._end, other._end)
        self._calls += other._calls
        self._mpi += other._mpi
        self._waiting += other._waiting
        self._gaps |= other._gaps
        if self._running is None:
            self._running = other._running
        elif other._running is not None:
            self._running += other._running

    def applications(self) -> tuple[int, ...]:
        """The applications that called MPI so far."""
        return tuple(np.unique(self._application[self._calls > 0]).tolist())

    def result(self, *, without_mpi: bool = False) -> Efficiency:
        """The efficiency of what was added; if nobody calls MPI, of all, if that is asked."""
        applications = self.applications()
        if without_mpi and not applications:
            applications = tuple(np.unique(self._application).tolist())
        if not applications:
            return undefined("no application calls MPI")
        observed = np.maximum(self._end - self._begin, 0)
        for place in self._gaps:
            starts, ends = self._inside(place)
            observed[place] -= (ends - starts).sum()
        chosen = np.flatnonzero(np.isin(self._application, applications) & self.first_threads)
        chosen = chosen[np.lexsort((self._rank[chosen], self._application[chosen]))]
        places = (each[chosen].tolist() for each in (self._application, self._rank))
        ranks = zip(*places, strict=True)
        if self._span == "trace":
            useful = observed - self._mpi if self._running is None else self._running
            runtime_ns = self._duration_ns
        else:
            useful = observed - self._mpi - self._waiting
            runtime_ns = int(observed[chosen].max(initial=0))
        return rank_efficiency(
            np.maximum(useful[chosen], 0), runtime_ns, tuple(ranks), self._span
        )

    def _inside(self, place: int) -> tuple[Integers, Integers]:
        """The gaps of a location, clipped to its span."""
        starts, ends = self._gaps[place]
        begin, end = self._begin[place], max(self._begin[place], self._end[place])
        return np.clip(starts, begin, end), np.clip(ends, begin, end)


def _running_time(trace: Trace) -> Integers:
    """The time in the state Running, ns, shape (locations,)."""
    total = np.zeros(trace.locations.num_rows, np.int64)
    columns = ("location", "begin_ns", "end_ns", "state")
    for batch in trace.batches("states", columns):
        location, begin, end, state = numpy_columns(batch, *columns)
        rows = (state == extrae.RUNNING) & (end > begin)
        np.add.at(total, location[rows], (end - begin)[rows])
    return total


def _first_threads(
    trace: Trace, process: npt.NDArray[np.int32], thread: npt.NDArray[np.int32]
) -> Mask:
    """Mask of the first CPU thread of every process, shape (locations,)."""
    is_cpu = np.array([kind == "cpu" for kind in trace.locations["kind"].to_pylist()], bool)
    order = np.lexsort((thread, process))
    order = order[is_cpu[order]]
    _, first = np.unique(process[order], return_index=True)
    return mask_at(order[first], len(process))


def gaps_of_locations(
    trace: Trace, wanted: Mask
) -> Iterator[tuple[int, tuple[Integers, Integers]]]:
    """Every wanted location with gaps, and their union as disjoint intervals."""
    for batch in trace.batches("gaps", ("location", "start_ns", "end_ns")):
        location, start, end = numpy_columns(batch, *batch.column_names)
        for place, rows in rows_of_locations(location):
            if not wanted[place]:
                continue
            until = np.maximum.accumulate(end[rows])
            begin = np.maximum(start[rows], np.concatenate([start[rows][:1], until[:-1]]))
            yield place, (begin, np.maximum(until, begin))


def rows_of_locations(location: npt.NDArray[np.int32]) -> Iterator[tuple[int, slice]]:
    """Each location of a sorted column, and its rows."""
    starts = np.flatnonzero(np.diff(location, prepend=-1))
    ends = np.append(starts, len(location))[1:].tolist()
    for place, start, end in zip(location[starts].tolist(), starts.tolist(), ends, strict=True):
        yield place, slice(start, end)


def mpi_before(moments: Integers, enter: Integers, leave: Integers) -> Integers:
    """The time in calls before each moment; the calls are disjoint and in order."""
    total = prefix_sums(leave - enter)
    entered = np.searchsorted(enter, moments, side="right")
    last_leave = np.where(entered > 0, leave[np.maximum(entered - 1, 0)], moments)
    return total[entered] - np.maximum(last_leave - moments, 0)
