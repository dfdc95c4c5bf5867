"""How well processes and threads are used: the factors of POP, also of parts of a run.

Where processes have threads, the multiplicative hybrid metrics of POP tell what is lost to MPI
and what to OpenMP.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from burstline.columns import UNKNOWN, Integers
from burstline.efficiency import (
    Efficiency,
    Factors,
    Ideal,
    UsefulTime,
    communication_factors,
    thread_factors,
    undefined_factors,
)
from burstline.model import POLL_GAP_NS, Trace, waiting_in
from burstline.synchronisation import Sync
from burstline.waits.division import computed_in
from burstline.waits.parts import EVER, OUTSIDE, Parts
from burstline.waits.times import Nodes, process_threads


def factors(
    trace: Trace, sync: Sync, call_paths: pa.Table, ideal: Callable[[], Ideal]
) -> Factors:
    """The parallel efficiency and its factors, 0..1; None where they are not defined."""
    fold = UsefulTime(trace)
    if trace.rows("calls"):
        fold.add(trace.table("calls"))
    bursts = trace.table("bursts")
    waiting = waiting_in(bursts, POLL_GAP_NS)
    fold.add_bursts(bursts, waiting)
    whole = fold.result()
    most = max(whole.useful_ns, default=0)
    ideal_ns = ideal().runtime_ns if whole.runtime_ns and most else None
    levels = dict.fromkeys(("hybrid", "mpi", "openmp"), undefined_factors())
    masters = fold.result(without_mpi=True)
    levels |= _of_threads(trace, sync, Nodes(call_paths), masters, waiting)
    return {
        **whole.factors,
        **communication_factors(most, whole.runtime_ns, ideal_ns),
        **{
            level if name == "parallel" else f"{level}_{name}": value
            for level, values in levels.items()
            for name, value in values.items()
        },
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
        thread_factors(np.maximum(each[threads], 0), masters.runtime_ns)
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


def ideal_in(sync: Sync, parts: Parts, run: Ideal) -> Integers:
    """How long each thread is in each part on an ideal network, ns, (parts, locations).

    Parts begin and end where calls do.
    """
    calls, location = sync.calls, sync.calls.location
    ideal = np.zeros((len(parts.keys), sync.locations), np.int64)
    part = parts.part_of(location, calls.enter_ns)
    np.add.at(ideal, (part, location), run.leave_ns - run.enter_ns)
    row = np.flatnonzero(location[1:] == location[:-1])
    part = parts.part_of(location[row], calls.leave_ns[row])
    np.add.at(ideal, (part, location[row]), run.enter_ns[row + 1] - run.leave_ns[row])
    return ideal
