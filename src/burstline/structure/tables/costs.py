"""Costs: what each iteration of a loop took, on each rank."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import Integers, Ordinals, placed, prefix_sums
from burstline.model import NO_VALUE, POLL_GAP_NS, Trace, waiting_in
from burstline.structure.program.model import Structure
from burstline.structure.tables.table import LoopTable


def loop_table(trace: Trace, structure: Structure, loop: int) -> LoopTable:
    """What each iteration of a loop cost, on each rank.

    Parameters
    ----------
    trace : Trace
        Its calls and bursts are read.
    structure : Structure
        What was found in it.
    loop : int
        Number of the loop.

    Returns
    -------
    LoopTable
        A row per lane and iteration.

    Raises
    ------
    ParameterError
        If there is no such loop.

    Notes
    -----
    Linear in calls and bursts. An iteration lasts until the next one of its entry begins, with
    calls between that the structure does not explain; the last one of an entry ends with its
    last call. What is computed after it, or before an entry's first call, is in no iteration.
    Waiting in failed polls that are no calls is no computation, as :func:`burstline.summarise`
    tells it.

    Examples
    --------
    >>> from burstline import structure
    >>> from burstline.testing import trace_of
    >>> steps = [f"{9 * k} enter MPI_Barrier path 0 | {9 * k + 2} leave" for k in range(4)]
    >>> trace = trace_of(f"ranks 1 | path 0 main file a.c line 3 | 0 | {' | '.join(steps)}")
    >>> table = loop_table(trace, structure.detect(trace), 1)
    >>> table.duration_ns.tolist(), table.mpi_ns.tolist(), table.whole.tolist()
    ([9, 9, 9, 2], [2, 2, 2, 2], [True, True, True, False])
    """
    return CallSums(trace).table(structure, loop)


def loops_table(trace: Trace, structure: Structure) -> pa.Table:
    """What the loops of a program cost, on each rank; linear in the calls for each loop.

    Parameters
    ----------
    trace : Trace
        Its calls and bursts are read.
    structure : Structure
        What was found in it.

    Returns
    -------
    pyarrow.Table
        A row per loop and lane: ``loop``, ``parent`` (null without) and the columns of
        :meth:`~burstline.structure.LoopTable.by_rank`, null where no iteration counts.
    """
    costs = CallSums(trace)
    parts = []
    for loop in structure.loops:
        columns = costs.table(structure, loop.id).by_rank()
        lanes = len(columns["rank"])
        names = {
            "loop": pa.array([loop.id] * lanes, pa.int64()),
            "parent": pa.array([loop.parent] * lanes, pa.int64()),
        }
        values = {name: pa.array(column, from_pandas=True) for name, column in columns.items()}
        parts.append(pa.table(names | values))
    return pa.concat_tables(parts) if parts else _no_loops(trace)


def _no_loops(trace: Trace) -> pa.Table:
    whole = "loop parent rank location entries iterations total_ns"
    means = "mean_ns std_ns min_ns median_ns max_ns useful_ns mpi_ns unwatched_ns waiting_ns"
    fields = [(name, pa.int64()) for name in whole.split()]
    fields += [(name, pa.float64()) for name in (*means.split(), *trace.counter_names)]
    return pa.schema(fields).empty_table()


class CallSums:
    """What lies between any two calls of a trace: sums that loops take their share from."""

    def __init__(self, trace: Trace) -> None:
        location, call, enter_ns, leave_ns = trace.arrays(
            "calls", "location", "call", "enter_ns", "leave_ns"
        )
        where, before, gap_ns, *counters = trace.arrays(
            "bursts", "location", "call_before", "gap_ns", *trace.counter_names
        )
        row = Ordinals(location, call).rows(where, before)
        has_call = row >= 0
        self._row, self._calls = row[has_call], len(call)
        self._mpi_ns = prefix_sums(leave_ns - enter_ns)
        self._gap_ns = self._placed(gap_ns[has_call], 0)
        waiting_ns = waiting_in(trace.table("bursts"), POLL_GAP_NS)
        self._waiting_ns = self._placed(waiting_ns[has_call], 0)
        self._counters = {}
        for name, values in zip(trace.counter_names, counters, strict=True):
            read = values[has_call] != NO_VALUE
            read_values = np.where(read, values[has_call], 0)
            self._counters[name] = self._placed(read_values, 0), self._placed(~read, 1)

    def _placed(self, values: npt.NDArray[Any], otherwise: int) -> Integers:
        """The sums of values of bursts before each call, by the call that precedes them."""
        by_call = placed(values, self._row, self._calls, otherwise)
        return prefix_sums(by_call)

    def behind(self, rows: Integers) -> tuple[Integers, Integers]:
        """Gaps, and waiting in failed polls, between some calls and the next ones, ns."""
        gap_ns, waiting_ns = self._gap_ns, self._waiting_ns
        return gap_ns[rows + 1] - gap_ns[rows], waiting_ns[rows + 1] - waiting_ns[rows]

    def table(self, structure: Structure, loop: int) -> LoopTable:
        """The table of a loop, as :func:`loop_table`."""
        iterations = structure.iterations(loop)
        whole = np.zeros(len(iterations), bool)
        whole[:-1] = (np.diff(iterations.lane) == 0) & (np.diff(iterations.entry) == 0)
        after = iterations.last + 1
        after[:-1][whole[:-1]] = iterations.first[1:][whole[:-1]]
        # the burst behind the last call of an entry belongs to no iteration
        until = np.where(whole, after, after - 1)
        duration_ns = iterations.end_ns - iterations.start_ns
        first = iterations.first
        mpi_ns = self._mpi_ns[after] - self._mpi_ns[first]
        unwatched_ns = self._gap_ns[until] - self._gap_ns[first]
        waiting_ns = self._waiting_ns[until] - self._waiting_ns[first]
        counters = {
            name: np.where(missing[until] > missing[first], NO_VALUE, sums[until] - sums[first])
            for name, (sums, missing) in self._counters.items()
        }
        return LoopTable(
            loop=loop,
            method=structure.method,
            lane=iterations.lane,
            location=iterations.location,
            rank=iterations.rank,
            entry=iterations.entry,
            iteration=iterations.iteration + 1,
            whole=whole,
            start_ns=iterations.start_ns,
            duration_ns=duration_ns,
            calls=after - first,
            mpi_ns=mpi_ns,
            useful_ns=duration_ns - mpi_ns - unwatched_ns - waiting_ns,
            unwatched_ns=unwatched_ns,
            waiting_ns=waiting_ns,
            counters=counters,
        )
