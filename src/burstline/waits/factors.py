"""Why communication is not efficient: processes wait in turn, or the network takes its time.

The run is replayed on an ideal network, where a call ends as soon as what it must wait for has
happened and takes no time itself: what is lost there is lost to the order of the program
(serialisation), the rest to transfers. As POP defines them; their product is the communication
efficiency.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from burstline.bursts import POLL_GAP_NS, waiting_in
from burstline.columns import Ordinals, numpy_columns, prefix_sums
from burstline.efficiency import UsefulTime
from burstline.operations import FINALIZES, INITS
from burstline.sync import PLACES, Weights, rendezvous, replay, rows_of

if TYPE_CHECKING:
    from burstline.columns import Integers
    from burstline.sync import Sync
    from burstline.trace import Trace


def factors(
    trace: Trace, sync: Sync, poll_gap_ns: int = POLL_GAP_NS
) -> dict[str, float | None]:
    """The parallel efficiency and its factors, 0..1; None where they are not defined."""
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
    return {
        "parallel": whole.parallel,
        "load_balance": whole.load_balance,
        "communication": whole.communication,
        "serialisation": serialisation,
        "transfer": transfer,
    }


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
