"""The loop table: what each iteration of a loop cost, on each rank.

::

    Iterations, calls, bursts  --sums-->  LoopTable: a row per lane and iteration
    LoopTable  --over ranks-->  by iteration   --over iterations-->  by rank, LoopSummary

An iteration lasts from its first call until the next one of its entry begins, so the
computation between the two belongs to the earlier one. The last iteration of an entry ends
with its last call: what is computed after it, and before the first call of the first one,
belongs to no iteration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from burstline.columns import Ordinals, prefix_sums, to_frame
from burstline.schema import NO_VALUE
from burstline.structure.tables.summaries import (
    LoopSummary,
    Rows,
    Slow,
    over_iterations,
    over_ranks,
    slowest,
    summary,
)

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    from burstline.columns import Integers
    from burstline.structure.program.iterations import Iterations
    from burstline.structure.program.model import Structure
    from burstline.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class LoopTable(Rows):
    """What each iteration of a loop cost, on each rank; its columns are those of its rows.

    Made by :func:`loop_table`.
    """

    def summary(self) -> LoopSummary:
        """How long the counted iterations of the loop last, how they spread and drift."""
        return summary(self)

    def slowest(self, most: int = 5) -> tuple[Slow, ...]:
        """The iterations that were unusually slow on some rank, the slowest first.

        At most `most`; each is named once, on the lane where it lasted longest.
        """
        return slowest(self, most)

    def by_iteration(self) -> dict[str, npt.NDArray[Any]]:
        """What each iteration cost over the ranks, columns of shape (iterations,).

        ``iteration``, ``lanes`` that executed it, ``start_ns`` of the earliest, mean, smallest
        and largest duration, rank of the longest, mean and largest useful time, mean MPI and
        unwatched time, and the mean of each counter (NaN where no lane knows it).
        """
        return over_ranks(self)

    def by_rank(self) -> dict[str, npt.NDArray[Any]]:
        """What the iterations of each lane cost, columns of shape (lanes,).

        ``rank``, ``location``, ``entries``, ``iterations``, ``total_ns``; of the rows that are
        `counted` mean, standard deviation, smallest, median and largest duration, mean useful,
        MPI and unwatched time, and the mean of each counter; NaN without any.
        """
        return over_iterations(self)

    def to_frame(self) -> pl.DataFrame:
        """The table as a Polars data frame, counters null where not known."""
        return to_frame(self.to_arrow())

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The columns of the table, in the order in which files hold them."""
        names = ("rank", "location", "entry", "iteration", "whole", "start_ns", "duration_ns")
        spent = ("calls", "mpi_ns", "useful_ns", "unwatched_ns")
        return {name: getattr(self, name) for name in names + spent} | self.counters

    def to_arrow(self) -> pa.Table:
        """The table as an Arrow table, counters null where not known."""
        columns = self.columns()
        return pa.table(
            {
                name: pa.array(
                    values, mask=values == NO_VALUE if name in self.counters else None
                )
                for name, values in columns.items()
            }
        )

    def rows(self) -> list[tuple[object, ...]]:
        """A tuple per lane and iteration, as :meth:`columns`; None where not known."""
        return [
            tuple(None if value == NO_VALUE else value for value in row)
            for row in zip(*(c.tolist() for c in self.columns().values()), strict=True)
        ]

    def as_dict(self, *, most: int = 5) -> dict[str, Any]:
        """The table as JSON output, with at most `most` slow iterations."""
        return {
            "loop": self.loop,
            "method": self.method,
            "summary": self.summary().as_dict(),
            "slowest": [slow._asdict() for slow in self.slowest(most)],
            "by_iteration": records(self.by_iteration()),
            "by_rank": records(self.by_rank()),
        }

    def __repr__(self) -> str:
        lanes = len(np.unique(self.lane))
        return f"<LoopTable: loop {self.loop}, {len(self)} iterations on {lanes} lanes>"


def records(columns: dict[str, npt.NDArray[Any]]) -> list[dict[str, Any]]:
    """A dictionary per row, None for what is not a number."""
    return [
        {
            name: None if value != value else value  # noqa: PLR0124 -- not a number
            for name, value in zip(columns, row, strict=True)
        }
        for row in zip(*(column.tolist() for column in columns.values()), strict=True)
    ]


def loop_table(trace: Trace, structure: Structure, loop: int) -> LoopTable:
    """What each iteration of a loop cost, on each rank.

    Parameters
    ----------
    trace : Trace
        The trace the structure was found in; its calls and bursts are read.
    structure : Structure
        What was found.
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
    Linear in calls and bursts, and no Python loop over either. Calls between two iterations
    that the structure does not explain count in the earlier one. Failed polls that a source
    only sums up count as computation.

    Examples
    --------
    >>> from burstline import structure
    >>> from burstline.testing import trace_of
    >>> calls = " | ".join(
    ...     f"{9 * k} enter MPI_Barrier path 0 | {9 * k + 2} leave" for k in range(4)
    ... )
    >>> trace = trace_of(f"ranks 1 | path 0 main file a.c line 3 | 0 | {calls}")
    >>> table = loop_table(trace, structure.detect(trace), 1)
    >>> table.duration_ns.tolist(), table.mpi_ns.tolist(), table.whole.tolist()
    ([9, 9, 9, 2], [2, 2, 2, 2], [True, True, True, False])
    """
    return Costs(trace).table(structure, loop)


def loops_table(trace: Trace, structure: Structure) -> pa.Table:
    """What the loops of a program cost, on each rank.

    Parameters
    ----------
    trace : Trace
        The trace the structure was found in; its calls and bursts are read.
    structure : Structure
        What was found.

    Returns
    -------
    pyarrow.Table
        A row per loop and lane: ``loop``, ``parent`` (null without) and the columns of
        :meth:`~burstline.structure.LoopTable.by_rank`; means are null where no
        iteration counts.

    Notes
    -----
    Linear in the calls for each loop.
    """
    costs = Costs(trace)
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
    whole = ("loop", "parent", "rank", "location", "entries", "iterations", "total_ns")
    means = ("mean_ns", "std_ns", "min_ns", "median_ns", "max_ns")
    spent = ("useful_ns", "mpi_ns", "unwatched_ns", *trace.counter_names)
    fields = [(name, pa.int64()) for name in whole]
    return pa.schema(fields + [(name, pa.float64()) for name in means + spent]).empty_table()


class Costs:
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
        self._counters = {}
        for name, values in zip(trace.counter_names, counters, strict=True):
            read = values[has_call] != NO_VALUE
            read_values = np.where(read, values[has_call], 0)
            self._counters[name] = self._placed(read_values, 0), self._placed(~read, 1)

    def _placed(self, values: npt.NDArray[Any], otherwise: int) -> Integers:
        """The sums of values of bursts before each call, by the call that precedes them."""
        by_call = np.full(self._calls, otherwise, np.int64)
        by_call[self._row] = values
        return prefix_sums(by_call)

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
        mpi_ns = self._mpi_ns[after] - self._mpi_ns[iterations.first]
        unwatched_ns = self._gap_ns[until] - self._gap_ns[iterations.first]
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
            calls=after - iterations.first,
            mpi_ns=mpi_ns,
            useful_ns=duration_ns - mpi_ns - unwatched_ns,
            unwatched_ns=unwatched_ns,
            counters=self._read(iterations, until),
        )

    def _read(self, iterations: Iterations, until: Integers) -> dict[str, Integers]:
        counters = {}
        for name, (total, missing) in self._counters.items():
            sums = total[until] - total[iterations.first]
            counters[name] = np.where(
                missing[until] > missing[iterations.first], NO_VALUE, sums
            )
        return counters
