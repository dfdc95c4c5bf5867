"""Noise and work that are planted into the stamps and counts of a recording: nothing runs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import burstline
from burstline.clocks import readings_of, restamp, stamps_of
from burstline.identity import call_tree
from burstline.model import schema
from burstline.synchronisation import rows_of, sync_of

COUNTED = "IR_BB", "IR_TOT_INS", "IR_LD_INS"


def computing(trace, readings):
    """Which events end a stretch of computation: enters of calls, but the first."""
    location, seq = trace.arrays("calls", "location", "enter_seq")
    computes = np.zeros(len(readings), bool)
    computes[readings.rows(location, seq)] = True
    computes[readings.begin[:-1]] = False
    return computes


def stretched(trace, sleeps=(), rank=None, factor=1):
    """The trace with sleeps (location, stretch of computation, ns), and more work of a rank.

    Who waits for who is late waits longer; all else takes as long as recorded.
    """
    readings = readings_of(trace)
    times = readings.times(trace)
    length = np.maximum(1, np.diff(times, prepend=times[:1]))
    length[readings.begin[:-1]] = times[readings.begin[:-1]] - times.min() + 1
    computes = computing(trace, readings)
    if rank is not None:
        mine = computes & (readings.location == rank)
        length[mine] = np.rint(length[mine] * factor)
    for where, stretch, ns in sleeps:
        rows = np.flatnonzero(computes & (readings.location == where))
        length[rows[stretch]] += ns
    sync = sync_of(trace, call_tree(trace))
    [stamps] = stamps_of(rows_of(sync, "without noise"), readings, [length])
    moved = restamp(trace, stamps)
    if rank is None:
        return moved
    table = moved.table("readings")
    more = np.where(table["location"].to_numpy() == rank, factor, 1)
    for name in COUNTED:
        if name in table.column_names:
            values = pa.array(np.rint(table[name].to_numpy() * more).astype(np.int64))
            table = table.set_column(table.column_names.index(name), name, values)
    tables = {name: moved.table(name) for name in schema.TABLES if name in moved}
    return burstline.Trace(tables | {"readings": table})
