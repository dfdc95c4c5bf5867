"""How well processes and threads are used: the factors of POP, also of parts of a run.

Where processes have threads, the multiplicative hybrid metrics of POP tell what is lost to MPI
and what to OpenMP.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from burstline.columns import UNKNOWN, Integers, begins_run, prefix_sums, sums_by
from burstline.efficiency import (
    FACTORS,
    Efficiency,
    Factors,
    Ideal,
    efficiencies_of,
    thread_factors,
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
    waiting = waiting_in(trace.table("bursts"), POLL_GAP_NS)
    whole, masters = efficiencies_of(trace, waiting, ideal)
    levels: dict[str, Factors] = dict.fromkeys(
        ("hybrid", "mpi", "openmp"), dict.fromkeys(FACTORS)
    )
    levels |= _of_threads(trace, sync, Nodes(call_paths), masters, waiting)
    return {
        **whole,
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

    What it does before its first call and behind its last one takes as long there. A call, or
    a stretch between two, that a border divides is divided there in the same proportion.
    """
    location, start, real, ideal = _stretches(sync, run)
    row, part, length = parts.split_at_borders(location, start, real)
    is_first = begins_run(row)
    total = prefix_sums(length)
    done = total[1:] - total[:-1][is_first][row]
    # Rounded up to the end of each piece, so that pieces add up.
    scale = np.where(real > 0, ideal / np.maximum(real, 1), 0.0)[row]
    until = np.where(done >= real[row], ideal[row], np.rint(done * scale).astype(np.int64))
    pieces = until - np.where(is_first, 0, np.roll(until, 1))
    return sums_by((part, location[row]), pieces, (len(parts.keys), sync.locations))


def _stretches(sync: Sync, run: Ideal) -> tuple[Integers, Integers, Integers, Integers]:
    """Location, start, length and ideal length of calls and of what lies around them."""
    calls, (enter, leave, node) = sync.calls, sync.programs
    where, begin, end = calls.location, calls.enter_ns, calls.leave_ns
    inner = np.flatnonzero(where[1:] == where[:-1])
    told = np.flatnonzero((np.diff(calls.begin) > 0) & (node >= 0))
    first, last = calls.begin[:-1][told], calls.begin[1:][told] - 1
    before, behind = (
        np.maximum(each, 0) for each in (begin[first] - enter[told], leave[told] - end[last])
    )
    return (
        np.concatenate([where, where[inner], told, told]),
        np.concatenate([begin, end[inner], enter[told], end[last]]),
        np.concatenate([end - begin, begin[inner + 1] - end[inner], before, behind]),
        np.concatenate([
            run.leave_ns - run.enter_ns, run.enter_ns[inner + 1] - run.leave_ns[inner],
            before, behind,
        ]),
    )  # fmt: skip


def why_not_split(sync: Sync) -> str:
    """Why communication in parts has no serialisation and transfer; empty if it has."""
    if not len(sync.calls.location):
        return "no process calls MPI"
    if process_threads(sync):
        return (
            "processes have several threads: an ideal network tells how long a process takes, "
            "and what its threads lose to OpenMP would count as waiting in turn"
        )
    return ""
