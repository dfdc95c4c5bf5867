"""The run on an ideal network: how long it would take if no transfer took any time.

There a call ends as soon as what it must wait for has happened, and takes no time itself: what
is lost is lost to the order of the program (serialisation), the rest to transfers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from burstline.columns import Integers, Ordinals, numpy_columns, placed, prefix_sums, take
from burstline.efficiency.factors import Efficiency, Factors, communication_factors
from burstline.efficiency.useful_time import UsefulTime
from burstline.model import POLL_GAP_NS, Trace, waiting_in
from burstline.synchronisation import (
    PLACES,
    Graph,
    ReplayModel,
    Sync,
    graph_of,
    replay,
    rows_of,
)


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Ideal:
    """A run on an ideal network."""

    # (calls,) when each is entered and left there, ns since MPI_Init
    enter_ns: Integers
    leave_ns: Integers
    runtime_ns: int  # from MPI_Init to MPI_Finalize


def ideal_of(graph: Graph, poll_gap_ns: int = POLL_GAP_NS) -> Ideal:
    """The run of a graph on an ideal network."""
    waiting = waiting_in(graph.trace.table("bursts"), poll_gap_ns)
    stamps = ideal_stamps(graph.trace, graph.sync, waiting)
    return Ideal(*stamps, ideal_runtime(graph.sync, *stamps))


def is_defined(efficiency: Efficiency) -> bool:
    """Whether anything was computed, so that a run on an ideal network takes time."""
    return efficiency.parallel is not None and any(efficiency.useful_ns)


def with_communication(efficiency: Efficiency, trace: Trace, poll_gap_ns: int) -> Efficiency:
    """The efficiency of a trace with serialisation and transfer."""
    ideal = ideal_of(graph_of(trace), poll_gap_ns) if is_defined(efficiency) else None
    return compared_with(efficiency, ideal)


def compared_with(efficiency: Efficiency, ideal: Ideal | None) -> Efficiency:
    """The efficiency of a run with serialisation and transfer, by its run on that network."""
    most = max(efficiency.useful_ns, default=0)
    runtime_ns = None if ideal is None else ideal.runtime_ns
    split = communication_factors(most, efficiency.runtime_ns, runtime_ns)
    return replace(efficiency, of_communication=split)


def efficiencies_of(
    trace: Trace, waiting_ns: Integers, ideal: Callable[[], Ideal]
) -> tuple[Factors, Efficiency]:
    """The factors of ranks that call MPI, and how well all ranks are used."""
    fold = UsefulTime(trace)
    if trace.rows("calls"):
        fold.add(trace.table("calls"))
    fold.add_bursts(trace.table("bursts"), waiting_ns)
    whole = fold.result()
    run = ideal() if is_defined(whole) else None
    return compared_with(whole, run).factors, fold.result(without_mpi=True)


def ideal_runtime(sync: Sync, enter_ns: Integers, leave_ns: Integers) -> int:
    """How long the run takes there, from MPI_Init to MPI_Finalize, ns, by its stamps there."""
    begin, end = sync.calls.begin[:-1], sync.calls.begin[1:]
    runtime = np.where(end > begin, take(leave_ns, end - 1), 0)
    runtime[sync.calls.location[sync.finals]] = enter_ns[sync.finals]
    return int(runtime[sync.thread == 0].max(initial=0))


def ideal_stamps(trace: Trace, sync: Sync, waiting_ns: Integers) -> tuple[Integers, Integers]:
    """When each call is entered and left there, ns since MPI_Init, by polling of bursts."""
    useful = _useful_before(trace, sync, waiting_ns)
    rows = rows_of(sync, "ideal network")
    calls, ordinal = sync.calls, rows.place // PLACES
    spans = [
        (slice(*calls.begin[k : k + 2]), slice(*rows.begin[k : k + 2]))
        for k in range(sync.locations)
        if calls.begin[k] < calls.begin[k + 1]
    ]
    by_row = np.zeros(len(rows.place), np.int64)
    for of_calls, of_rows in spans:
        around = np.searchsorted(calls.enter_seq[of_calls], ordinal[of_rows], "right") - 1
        by_row[of_rows] = useful[of_calls][np.maximum(around, 0)]
    [stamps] = replay(rows, [ReplayModel(rows.steps(by_row))]).stamps
    waited = np.maximum(0, stamps - by_row)
    enter, leave = useful.copy(), useful.copy()
    for of_calls, of_rows in spans:
        before = np.searchsorted(ordinal[of_rows], calls.enter_seq[of_calls], "left") - 1
        until = np.searchsorted(ordinal[of_rows], calls.leave_seq[of_calls], "right") - 1
        enter[of_calls] += take(waited[of_rows], before, missing=0)
        leave[of_calls] += take(waited[of_rows], until, missing=0)
    return enter, leave


def _useful_before(trace: Trace, sync: Sync, waiting_ns: Integers) -> Integers:
    """How long the thread of each call computed before it, since its MPI_Init, ns, (calls,)."""
    calls = sync.calls
    first = calls.begin[:-1][np.diff(calls.begin) > 0]
    since = np.roll(calls.leave_ns, 1)
    (born,) = trace.arrays("locations", "born_ns")
    since[first] = born[calls.location[first]]
    between = np.maximum(0, calls.enter_ns - since)
    location, after, gap = numpy_columns(
        trace.table("bursts"), "location", "call_after", "gap_ns"
    )
    row = Ordinals(*trace.arrays("calls", "location", "call")).rows(location, after)
    has_call = np.flatnonzero(row >= 0)
    between[row[has_call]] = np.maximum(
        0, between[row[has_call]] - gap[has_call] - waiting_ns[has_call]
    )
    total = prefix_sums(between)[1:]
    start = calls.begin[:-1][calls.location[first]]
    base = placed(total[start] - between[start], calls.location[first], sync.locations)
    base[calls.location[sync.inits]] = total[sync.inits]
    return np.maximum(0, total - base[calls.location])
