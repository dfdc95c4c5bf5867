"""Why communication is not efficient: processes wait in turn, or the network takes its time.

The run is replayed on an ideal network, where a call ends as soon as what it must wait for has
happened and takes no time itself: what is lost there is lost to the order of the program
(serialisation), the rest to transfers. As POP defines them; their product is the communication
efficiency. Where processes have threads, the multiplicative hybrid metrics of POP tell what is
lost to MPI and what to OpenMP.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from burstline.columns import UNKNOWN, Integers, Ordinals, numpy_columns, prefix_sums, take
from burstline.efficiency import Efficiency, UsefulTime
from burstline.model import POLL_GAP_NS, Trace, waiting_in
from burstline.synchronisation import PLACES, Sync, Weights, rendezvous, replay, rows_of
from burstline.waits.division import computed_in
from burstline.waits.parts import EVER, OUTSIDE, Parts
from burstline.waits.times import Nodes, process_threads

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
    most = max(whole.useful_ns, default=0)
    ideal = ideal_runtime(trace, sync, waiting) if whole.runtime_ns and most else None
    of_processes = {
        "parallel": whole.parallel,
        "load_balance": whole.load_balance,
        "communication": whole.communication,
        **of_communication(most, whole.runtime_ns, ideal),
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


def of_communication(useful_ns: int, runtime_ns: int, ideal_ns: int | None) -> Factors:
    """Serialisation and transfer, of the thread that computes most and of the longest one."""
    if ideal_ns is None or not useful_ns or not runtime_ns:
        return {"serialisation": None, "transfer": None}
    ideal = min(max(ideal_ns, useful_ns), max(runtime_ns, useful_ns))
    return {"serialisation": useful_ns / ideal, "transfer": ideal / runtime_ns}


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
    calls, inits, finals = sync.calls, sync.inits, sync.finals
    begin[calls.location[inits]] = calls.leave_ns[inits]
    end[calls.location[finals]] = calls.enter_ns[finals]
    where, start, stop = trace.arrays("gaps", "location", "start_ns", "end_ns")
    leader, offsets = np.arange(sync.locations), trace.offsets("gaps")
    threads, gaps = [where], [np.arange(len(where))]
    for master, workers in process_threads(sync):
        leader[workers] = master
        of_master = np.arange(*offsets[master : master + 2])
        threads.append(np.repeat(workers, len(of_master)))
        gaps.append(np.tile(of_master, len(workers)))
    where, gap = np.concatenate(threads), np.concatenate(gaps)
    # What is outside begins and ends; where nothing of it is open, a thread is inside.
    every = np.arange(sync.locations)
    location = np.concatenate([every, every, every, where, where])
    time = np.concatenate(
        [np.full(sync.locations, EVER), begin[leader], end[leader], start[gap], stop[gap]]
    )
    opens = np.repeat([1, -1, 1, 1, -1], [*3 * (sync.locations,), len(where), len(where)])
    order = np.lexsort((time, location))
    inside = np.cumsum(opens[order]) == location[order]
    return Parts([OUTSIDE, "inside"], location[order], time[order], inside.astype(np.int64))


def ideal_runtime(trace: Trace, sync: Sync, waiting_ns: Integers) -> int:
    """How long the run takes on an ideal network, from MPI_Init to MPI_Finalize, ns.

    `waiting_ns` is how long each burst waited in failed polls.
    """
    enter, leave = ideal_stamps(trace, sync, waiting_ns)
    begin, end = sync.calls.begin[:-1], sync.calls.begin[1:]
    runtime = np.where(end > begin, take(leave, end - 1), 0)
    runtime[sync.calls.location[sync.finals]] = enter[sync.finals]
    return int(runtime[sync.thread == 0].max(initial=0))


def ideal_in(trace: Trace, sync: Sync, parts: Parts) -> Integers:
    """How long each thread is in each part on an ideal network, ns, (parts, locations).

    Parts begin and end where calls do.
    """
    waiting = waiting_in(trace.table("bursts"), POLL_GAP_NS)
    enter, leave = ideal_stamps(trace, sync, waiting)
    calls, location = sync.calls, sync.calls.location
    ideal = np.zeros((len(parts.keys), sync.locations), np.int64)
    part = parts.part_of(location, calls.enter_ns)
    np.add.at(ideal, (part, location), leave - enter)
    row = np.flatnonzero(location[1:] == location[:-1])
    part = parts.part_of(location[row], calls.leave_ns[row])
    np.add.at(ideal, (part, location[row]), enter[row + 1] - leave[row])
    return ideal


def ideal_stamps(trace: Trace, sync: Sync, waiting_ns: Integers) -> tuple[Integers, Integers]:
    """When each call is entered and left on an ideal network, ns since MPI_Init, (calls,)."""
    useful = _useful_before(trace, sync, waiting_ns)
    rows = rows_of(sync, certain_only=True, rendezvous=rendezvous(sync)).of_calls()
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
    [stamps] = replay(rows, [Weights(rows.steps(by_row))]).stamps
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
    told = np.flatnonzero(row >= 0)
    between[row[told]] = np.maximum(0, between[row[told]] - gap[told] - waiting_ns[told])
    total = prefix_sums(between)[1:]
    start = calls.begin[:-1][calls.location[first]]
    base = np.zeros(sync.locations, np.int64)
    base[calls.location[first]] = total[start] - between[start]
    base[calls.location[sync.inits]] = total[sync.inits]
    return np.maximum(0, total - base[calls.location])
