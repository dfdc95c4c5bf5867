"""Where threads are off their processors: long stretches in which hardly anything is computed.

Between calls that no function is known of, such a stretch is a place of its own. Of a program
that reports its functions, it belongs to the one that its middle lies in.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

import numpy as np
import pyarrow as pa

from burstline.columns import (
    NO_VALUE,
    UNKNOWN,
    AnyIntegers,
    Integers,
    distinct,
    numpy_columns,
    sums_by,
    take,
)
from burstline.model import Trace, innermost_open, is_off_processor, processor_clock
from burstline.synchronisation import Sync

OFF_PROCESSOR: Final = "off the processor"
"""What the name of a call path begins with that is no computing: nobody computes there."""


def as_computing(nodes: pa.Table) -> Integers:
    """Each call path; for one off the processor, what is computed there, if anything is."""
    place = {
        (row["parent"], row["function"], row["file"], row["begin_line"]): number
        for number, row in enumerate(nodes.to_pylist())
    }
    same = np.arange(len(nodes))
    for (parent, name, *where), number in place.items():
        if name.startswith(OFF_PROCESSOR):
            rest = name.removeprefix(f"{OFF_PROCESSOR} ")
            computing = rest if rest.startswith("between") else f"computing {rest}"
            same[number] = place.get((parent, computing, *where), number)
    return same


def off_stretches(trace: Trace) -> tuple[AnyIntegers, Integers, Integers, Integers]:
    """The stretches off the processor: location, the call before each there, start and end."""
    name = processor_clock(trace)
    if name is None:
        none = np.zeros(0, np.int64)
        return none, none, none, none
    location, start, end, before, counted = numpy_columns(
        trace.table("bursts"), "location", "start_ns", "end_ns", "call_before", name
    )
    off = (before >= 0) & is_off_processor(end - start, counted)
    return location[off], before[off], start[off], end[off]


def time_on_processor(trace: Trace, sync: Sync) -> dict[int, dict[int, int]]:
    """How long ranks computed on a processor, ns, by call path, -1 of all, then by rank."""
    name = processor_clock(trace)
    if name is None:
        return {}
    location, before, counted = numpy_columns(
        trace.table("bursts"), "location", "call_before", name
    )
    known = (before >= 0) & (counted != NO_VALUE)
    location, before, counted = location[known], before[known], counted[known]
    rank = sync.rank[location]
    every = _by_place(np.full(len(rank), UNKNOWN), rank, counted)
    node = take(sync.computation_node, sync.calls.begin[location] + before)
    return every | _by_place(*(column[node >= 0] for column in (node, rank, counted)))


def _by_place(
    node: AnyIntegers, rank: AnyIntegers, time_ns: AnyIntegers
) -> dict[int, dict[int, int]]:
    """Times in all by call path, then by rank."""
    first, group = distinct(node, rank)
    sums = sums_by(group, time_ns, len(first)).tolist()
    found: dict[int, dict[int, int]] = defaultdict(dict)
    for place, of, time in zip(node[first].tolist(), rank[first].tolist(), sums, strict=True):
        found[place][of] = time
    return dict(found)


def absence_in_regions(trace: Trace, sync: Sync) -> dict[int, dict[int, int]]:
    """How long ranks were off their processors in regions, ns: by call path, then by rank."""
    location, before, start, end = off_stretches(trace)
    if not len(location) or not trace.rows("regions"):
        return {}
    calls = sync.calls.begin[location] + before
    if len(sync.computation_node):
        unknown = sync.computation_node[calls] == UNKNOWN
        location, start, end = location[unknown], start[unknown], end[unknown]
    region = region_at(trace, sync, location, (start + end) // 2)
    node = take(sync.regions.node, region)
    columns = node, sync.rank[location], end - start
    return _by_place(*(column[node >= 0] for column in columns))


def region_at(trace: Trace, sync: Sync, location: AnyIntegers, time_ns: Integers) -> Integers:
    """The row of the innermost region around moments, which stand by location; -1 of none."""
    regions = sync.regions
    intervals = (
        regions.location,
        regions.enter_ns,
        regions.leave_ns,
        regions_around(trace, sync),
    )
    return innermost_open(intervals, location, time_ns, np.ones(len(regions.node), bool))


def regions_around(trace: Trace, sync: Sync) -> Integers:
    """The region around each region, -1 for none."""
    location, parent = trace.arrays("regions", "location", "parent")
    row = sync.regions.begin[location] + parent
    return np.where((parent >= 0) & (row < np.arange(len(row))), row, UNKNOWN)
