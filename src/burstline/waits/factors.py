"""Why communication is not efficient: processes wait in turn, or the network takes its time.

The run is replayed on an ideal network, where a call ends as soon as what it must wait for has
happened and takes no time itself: what is lost there is lost to the order of the program
(serialisation), the rest to transfers. As POP defines them; their product is the communication
efficiency. Where processes have threads, the multiplicative hybrid metrics of POP tell what is
lost to MPI and what to OpenMP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.bursts import POLL_GAP_NS, waiting_in
from burstline.columns import UNKNOWN, Ordinals, numpy_columns, prefix_sums
from burstline.efficiency import UsefulTime
from burstline.operations import FINALIZES, INITS
from burstline.sync import PLACES, Weights, rendezvous, replay, rows_of
from burstline.waits.division import computed_in
from burstline.waits.parts import EVER, OUTSIDE, Parts
from burstline.waits.times import Nodes, process_threads

if TYPE_CHECKING:
    import pyarrow as pa

    from burstline.columns import Integers
    from burstline.efficiency import Efficiency
    from burstline.sync import Sync
    from burstline.trace import Trace

    Factors = dict[str, float | None]

_NO_FACTORS: Final = dict.fromkeys(("parallel", "load_balance", "communication"))


def factors(
    trace: Trace,
    sync: Sync,
    poll_gap_ns: int = POLL_GAP_NS,
    *,
    call_paths: pa.Table | None = None,
) -> Factors:
    """The parallel efficiency and its factors, 0..1; None where they are not defined.

    Those of threads need the call paths of the calls and regions.
    """
    fold = UsefulTime(trace)
    if trace.rows("calls"):
        fold.add(trace.table("calls"))
    bursts = trace.table("bursts")
    waiting = waiting_in(bursts, poll_gap_ns)
    fold.add_bursts(bursts, waiting)
    whole = fold.result()
    serialisation = transfer = None
    most = max(whole.useful_ns, default=0)
    if whole.runtime_ns and most:
        ideal = min(max(ideal_runtime(trace, sync, waiting), most), max(whole.runtime_ns, most))
        serialisation, transfer = most / ideal, ideal / whole.runtime_ns
    of_processes = {
        "parallel": whole.parallel,
        "load_balance": whole.load_balance,
        "communication": whole.communication,
        "serialisation": serialisation,
        "transfer": transfer,
    }
    levels: dict[str, Factors] = dict.fromkeys(("hybrid", "mpi", "openmp"), _NO_FACTORS)
    if call_paths is not None:
        masters = fold.result(without_mpi=True)
        levels |= _of_threads(trace, sync, Nodes(call_paths), masters, waiting)
    return of_processes | {
        level if name == "parallel" else f"{level}_{name}": value
        for level, values in levels.items()
        for name, value in values.items()
    }


def factors_of(useful_ns: Integers, runtime_ns: int) -> Factors:
    """How well threads are used that compute this long, (threads,), while this time passes."""
    most = int(useful_ns.max(initial=0))
    if most <= 0 or runtime_ns <= 0:
        return _NO_FACTORS.copy()
    mean = float(useful_ns.mean())
    return {
        "parallel": mean / runtime_ns,
        "load_balance": mean / most,
        "communication": most / runtime_ns,
    }


def _of_threads(
    trace: Trace, sync: Sync, nodes: Nodes, masters: Efficiency, waiting_ns: Integers
) -> dict[str, Factors]:
    """The multiplicative hybrid metrics of POP, by level; none where processes are serial.

    Of MPI, all time of a first thread outside of it is useful, and counts once for each of
    the process' threads; what OpenMP loses beyond that is the quotient.
    """
    outside = dict(zip(masters.ranks, masters.useful_ns, strict=True))
    ranks = zip(sync.application.tolist(), sync.rank.tolist(), strict=True)
    outside_mpi = np.array([outside.get(rank, UNKNOWN) for rank in ranks], np.int64)
    threads = np.flatnonzero(sync.is_cpu & (outside_mpi >= 0))
    if len(threads) <= len(outside):
        return {}
    watched = watched_of(trace, sync)
    useful = computed_in(sync, nodes, watched)[1]
    location, start = trace.arrays("bursts", "location", "start_ns")
    inside = np.flatnonzero(watched.part_of(location, start))
    np.subtract.at(useful, location[inside], waiting_ns[inside])
    hybrid, mpi = (
        factors_of(np.maximum(each[threads], 0), masters.runtime_ns)
        for each in (useful, outside_mpi)
    )
    openmp = {
        name: value / whole if (value := hybrid[name]) is not None and whole else None
        for name, whole in mpi.items()
    }
    return {"hybrid": hybrid, "mpi": mpi, "openmp": openmp}


def watched_of(trace: Trace, sync: Sync) -> Parts:
    """Two parts of each thread: all else, and what of its process' program was watched.

    That is from the end of MPI_Init to the start of MPI_Finalize, or as long as the first
    thread was there, without the gaps of that thread and of its own.
    """
    begin, end = (column.copy() for column in trace.arrays("locations", "born_ns", "died_ns"))
    calls, inits, finals = sync.calls, sync.world_calls(*INITS), sync.world_calls(*FINALIZES)
    begin[calls.location[inits]] = calls.leave_ns[inits]
    end[calls.location[finals]] = calls.enter_ns[finals]
    where, start, stop = trace.arrays("gaps", "location", "start_ns", "end_ns")
    own = where, start, stop
    leader = np.arange(sync.locations)
    for master, workers in process_threads(sync):
        leader[workers] = master
        gap = np.tile(np.flatnonzero(own[0] == master), len(workers))
        where = np.append(where, np.repeat(workers, len(gap) // len(workers)))
        start, stop = np.append(start, own[1][gap]), np.append(stop, own[2][gap])
    # What is outside begins and ends; where nothing of it is open, a thread is inside.
    every = np.arange(sync.locations)
    location = np.concatenate([every, every, every, where, where])
    time = np.concatenate(
        [np.full(sync.locations, EVER), begin[leader], end[leader], start, stop]
    )
    opens = np.repeat([1, -1, 1, 1, -1], [*3 * (sync.locations,), len(where), len(where)])
    order = np.lexsort((time, location))
    inside = np.cumsum(opens[order]) == location[order]
    return Parts([OUTSIDE, "inside"], location[order], time[order], inside.astype(np.int64))


def ideal_runtime(trace: Trace, sync: Sync, waiting_ns: Integers) -> int:
    """How long the run takes on an ideal network, from MPI_Init to MPI_Finalize, ns.

    `waiting_ns` is how long each burst waited in failed polls.
    """
    useful = _useful_before(trace, sync, waiting_ns)
    rows = rows_of(sync, certain_only=True, rendezvous=rendezvous(sync)).of_calls()
    begin, calls = rows.begin, sync.calls
    by_row = np.zeros(len(rows.place), np.int64)
    at_end = np.zeros(sync.locations, np.int64)
    finals = np.full(sync.locations, -1)
    last = sync.world_calls(*FINALIZES)
    finals[calls.location[last]] = last
    for k in range(sync.locations):
        first, end = calls.begin[k], calls.begin[k + 1]
        if first == end:
            continue
        span = slice(int(begin[k]), int(begin[k + 1]))
        around = np.searchsorted(
            calls.enter_seq[first:end], rows.place[span] // PLACES, "right"
        )
        by_row[span] = useful[first + np.maximum(around - 1, 0)]
        at_end[k] = useful[finals[k] if finals[k] >= 0 else end - 1]
    [stamps] = replay(rows, [Weights(rows.steps(by_row))]).stamps
    has_rows = np.flatnonzero(np.diff(begin) > 0)
    last_row = begin[1:][has_rows] - 1
    # What follows the last row of each, up to its MPI_Finalize.
    runtime = at_end.copy()
    runtime[has_rows] += np.maximum(0, stamps[last_row] - by_row[last_row])
    return int(runtime[sync.thread == 0].max(initial=0))


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
    told = np.flatnonzero(row >= 0)
    between[row[told]] = np.maximum(0, between[row[told]] - gap[told] - waiting_ns[told])
    total = prefix_sums(between)[1:]
    start = calls.begin[:-1][calls.location[first]]
    base = np.zeros(sync.locations, np.int64)
    base[calls.location[first]] = total[start] - between[start]
    inits = sync.world_calls(*INITS)
    base[calls.location[inits]] = total[inits]
    return np.maximum(0, total - base[calls.location])
