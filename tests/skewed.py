"""Traces whose clocks disagree: the stamps of each process are moved on purpose."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from burstline import Trace
from burstline.model import schema

DURATIONS = "polling_ns", "waiting_ns", "gap_ns"


def skewed(trace, offset_ns, drift_ppm):
    """The trace as clocks would record it that are off by these, by process."""
    process = trace.locations["process"].to_numpy()
    tables = {}
    for name in schema.TABLES:
        if name not in trace:
            continue
        table = trace.table(name)
        for place, field in enumerate(table.schema):
            if not field.name.endswith("_ns") or field.name in DURATIONS:
                continue
            sides = ["receiver_location"] if field.name.startswith(("post", "receive")) else []
            sides += ["sender_location", "fork_location", "location"]
            side = next(each for each in sides if each in table.column_names)
            owner = process[table[side].to_numpy()]
            values = [
                None if time is None else time + offset_ns[p] + time * drift_ppm[p] // 1_000_000
                for time, p in zip(table[field.name].to_pylist(), owner.tolist(), strict=True)
            ]
            table = table.set_column(place, field, pa.array(values, field.type))
        tables[name] = table
    return Trace(tables)


def clocks(trace, seed, *, offset_ns=1_000_000, drift_ppm=50):
    """Offsets and drifts at random, up to these, of each process."""
    random = np.random.default_rng(seed)
    count = int(trace.locations["process"].to_numpy().max()) + 1
    offset = random.integers(0, offset_ns, count, endpoint=True)
    return offset.tolist(), random.integers(0, drift_ppm, count, endpoint=True).tolist()
