"""Computation bursts: the stretches between two MPI calls, or between OpenMP regions.

On a thread that calls MPI, burst k lies between its calls k and k + 1. On one that does not, a
burst is a stretch inside a parallel construct, outside barriers and locks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline import _core
from burstline.columns import (
    Integers,
    Mask,
    from_numpy,
    numpy_columns,
    ordinal_within,
    prefix_sums,
    to_numpy,
)
from burstline.errors import NotEnoughDataError
from burstline.model import schema
from burstline.model.trace import Trace
from burstline.progress import Progress

WAITING_ROLES: Final = frozenset(
    [
        "barrier",
        "implicit_barrier",
        "join",
        "dispatch",
        "taskwait",
        "lock",
        "critical",
        "ordered",
    ]
)
"""Roles of regions in which a thread does no work of the program."""

GUARDED_ROLES: Final = frozenset(["critical_sblock", "ordered_sblock"])
"""Roles of what a thread does inside such a region after it has waited."""


POLL_GAP_NS: Final = 5_000
"""Failed polls that are less than this apart are waiting."""

POLL_COLUMNS: Final = ("start_ns", "end_ns", "gap_ns", "polls", "polling_ns", "waiting_ns")
"""Columns of `bursts` that :func:`waiting_in` needs."""


def waiting_in(bursts: pa.Table, poll_gap_ns: int) -> Integers:
    """How long each burst waited in failed polls, ns, shape (bursts,).

    It is what the source measured, if it did. Where it only sums polls up, a burst with n of
    them waits as a whole if its length / (n + 1) is below the bound, else for the summed time.
    """
    start, end, gap, polls, polling, measured = numpy_columns(bursts, *POLL_COLUMNS)
    watched = np.maximum(end - start - gap, 0)
    is_short = (polls > 0) & (watched // (np.clip(polls, 0, 2**62) + 1) < poll_gap_ns)
    summed = np.where(is_short, watched, polling)
    return np.clip(np.where(measured == schema.NO_VALUE, summed, measured), 0, watched)


def computing_in(bursts: pa.Table, poll_gap_ns: int) -> Integers:
    """How long each burst computes, ns, shape (bursts,).

    That is all of its time but what nobody watched and what was waiting in failed polls.
    """
    start, end, gap = numpy_columns(bursts, "start_ns", "end_ns", "gap_ns")
    return np.maximum(end - start - gap, 0) - waiting_in(bursts, poll_gap_ns)


def bursts_computing(
    trace: Trace, columns: Iterable[str], poll_gap_ns: int, progress: Progress
) -> Iterator[tuple[pa.Table, Integers]]:
    """The bursts of a trace, part by part, with some columns, and how long each computes, ns.

    Raises NotEnoughDataError if there is none.
    """
    count = trace.rows("bursts")
    if not count:
        raise NotEnoughDataError("no burst lies between two calls in this trace")
    progress.step("bursts", count, "bursts")
    for part in trace.batches("bursts", tuple(dict.fromkeys((*POLL_COLUMNS, *columns)))):
        yield part, computing_in(part, poll_gap_ns)
        progress.advance(part.num_rows)


def bursts_of(tables: Mapping[str, pa.Table]) -> pa.Table:
    """The table of bursts, of threads that call MPI and of those that have regions only."""
    with_calls, silent = _between_calls(tables), between_regions(tables)
    if not silent.num_rows:
        return with_calls
    return sorted_by_location(pa.concat_tables([with_calls, silent]))


def sorted_by_location(table: pa.Table) -> pa.Table:
    """The bursts sorted by (location, burst)."""
    return table.take(pa.array(np.lexsort(numpy_columns(table, "burst", "location"))))


def _counters(tables: Mapping[str, pa.Table]) -> list[str]:
    return tables["counters"]["name"].to_pylist() if "counters" in tables else []


def _table(tables: Mapping[str, pa.Table], name: str) -> pa.Table:
    if name in tables:
        return tables[name]
    return schema.arrow_schema(name, _counters(tables)).empty_table()


def _columns(table: pa.Table, *names: str) -> list[Integers]:
    return [np.ascontiguousarray(column, np.int64) for column in numpy_columns(table, *names)]


def _offsets(table: pa.Table, locations: int) -> Integers:
    column = to_numpy(table["location"])
    return np.searchsorted(column, np.arange(locations + 1)).astype(np.int64)


def _between_calls(tables: Mapping[str, pa.Table]) -> pa.Table:
    counters = _counters(tables)
    locations = tables["locations"].num_rows
    calls, readings, gaps = (_table(tables, name) for name in ("calls", "readings", "gaps"))
    columns = _core.burst_columns(
        np.arange(locations, dtype=np.int32),
        _columns(calls, "enter_ns", "leave_ns", "enter_seq", "leave_seq"),
        _offsets(calls, locations),
        _columns(readings, "seq", "time_ns", *counters),
        _offsets(readings, locations),
        _columns(gaps, "start_ns", "end_ns"),
        _offsets(gaps, locations),
    )
    return burst_table(columns, counters)


def inside_calls(tables: Mapping[str, pa.Table]) -> dict[str, Integers]:
    """What each counter counted in each MPI call, shape (calls,).

    It is known where the counter was read at both ends of the call.
    """
    counters = _counters(tables)
    locations = tables["locations"].num_rows
    calls, readings = _table(tables, "calls"), _table(tables, "readings")
    begin, read = _offsets(calls, locations), _offsets(readings, locations)
    of_readings = _columns(readings, "seq", "time_ns", *counters)
    # a call is what lies between the computation before it and that behind it
    between, offsets = _computation_around(calls, begin)
    none = np.zeros(0, np.int64)
    columns = _core.burst_columns(
        np.arange(locations, dtype=np.int32),
        between,
        offsets,
        of_readings,
        read,
        [none, none],
        np.zeros(locations + 1, np.int64),
    )
    counted = {name: columns[str(k)].copy() for k, name in enumerate(counters)}
    enter_ns, enter_seq, leave_seq = _columns(calls, "enter_ns", "enter_seq", "leave_seq")
    for location in np.flatnonzero(np.diff(begin)).tolist():
        rows = slice(begin[location], begin[location + 1])
        own = [column[slice(*read[location : location + 2])] for column in of_readings]
        is_read = read_at_starts(enter_ns[rows], enter_seq[rows], leave_seq[rows], own)
        for name, known in zip(counters, is_read.tolist(), strict=True):
            if not known:
                counted[name][rows] = schema.NO_VALUE
    return counted


def _computation_around(calls: pa.Table, begin: Integers) -> tuple[list[Integers], Integers]:
    """Where the computation around each location's calls begins and ends, and its offsets."""
    enter_ns, leave_ns, enter_seq, leave_seq = _columns(
        calls, "enter_ns", "leave_ns", "enter_seq", "leave_seq"
    )
    has_calls = np.diff(begin) > 0
    offsets = begin + prefix_sums(has_calls)
    before = np.arange(calls.num_rows) + np.repeat(prefix_sums(has_calls)[:-1], np.diff(begin))
    first, last = begin[:-1][has_calls], begin[1:][has_calls] - 1
    rows = int(offsets[-1])
    start_ns, end_ns, start_seq, end_seq = (np.empty(rows, np.int64) for _ in range(4))
    start_ns[before + 1], start_seq[before + 1] = leave_ns, leave_seq
    end_ns[before], end_seq[before] = enter_ns, enter_seq
    # nothing is known before the first call, and whatever follows the last is behind it
    start_ns[before[first]], start_seq[before[first]] = enter_ns[first], enter_seq[first]
    end_ns[before[last] + 1] = leave_ns[last]
    end_seq[before[last] + 1] = np.iinfo(np.int64).max
    return [start_ns, end_ns, start_seq, end_seq], offsets


def read_at_starts(
    leave_ns: Integers, leave_seq: Integers, next_seq: Integers, readings: Sequence[Integers]
) -> Mask:
    """Whether each counter is read where a call is left, before the event `next_seq`."""
    seq, time, *values = readings
    call = np.searchsorted(leave_seq, seq, "right") - 1
    inside = np.flatnonzero(call >= 0)
    call = call[inside]
    begin = inside[(seq[inside] < next_seq[call]) & (time[inside] == leave_ns[call])]
    return np.array([bool((value[begin] != schema.NO_VALUE).any()) for value in values], bool)


def burst_table(columns: Mapping[str, Integers], counters: list[str]) -> pa.Table:
    """Bursts as a table; counter columns are named ``"0"``, ``"1"``, … in `columns`."""
    target = schema.arrow_schema("bursts", counters)
    fixed = [column.name for column in schema.TABLES["bursts"].columns]
    arrays = []
    for position, field in enumerate(target):
        source = field.name if position < len(fixed) else str(position - len(fixed))
        arrays.append(from_numpy(columns[source], field.type, marked=field.nullable))
    return pa.Table.from_arrays(arrays, schema=target)


def between_regions(tables: Mapping[str, pa.Table]) -> pa.Table:
    """The bursts of threads that have regions but no MPI calls."""
    counters = _counters(tables)
    regions, calls = _table(tables, "regions"), _table(tables, "calls")
    empty = schema.arrow_schema("bursts", counters).empty_table()
    locations = tables["locations"].num_rows
    begins = _offsets(regions, locations)
    silent = np.flatnonzero((np.diff(begins) > 0) & (np.diff(_offsets(calls, locations)) == 0))
    if not len(silent):
        return empty
    readings = _table(tables, "readings")
    read = _offsets(readings, locations)
    roles = tables["region_defs"]["role"].to_pylist()
    paradigms = tables["region_defs"]["paradigm"].to_pylist()
    waiting = np.array([role in WAITING_ROLES for role in roles], bool)
    guarded = np.array([role in GUARDED_ROLES for role in roles], bool)
    useful = np.array([paradigm in ("openmp", "pthread") for paradigm in paradigms], bool)
    useful &= ~waiting
    names = ("region", "enter_ns", "leave_ns", "enter_seq", "leave_seq")
    of_regions = _columns(regions, *names)
    of_readings = _columns(readings, "seq", "time_ns", *counters)
    parts = [empty]
    for location in silent.tolist():
        rows = slice(begins[location], begins[location + 1])
        region, *edges = (column[rows] for column in of_regions)
        if not useful[region].any():
            continue
        borders = _Borders(*edges)
        work = borders.depth(useful[region]) > 0
        work &= borders.depth(waiting[region]) <= borders.depth(guarded[region])
        values = [column[slice(*read[location : location + 2])] for column in of_readings]
        parts.append(burst_table(_region_bursts(location, borders, work, values), counters))
    return pa.concat_tables(parts)


class _Borders:
    """The enters and leaves of one location's regions, in order."""

    def __init__(
        self, enter: Integers, leave: Integers, enter_seq: Integers, leave_seq: Integers
    ) -> None:
        seq = np.concatenate([enter_seq, leave_seq])
        self.order = np.argsort(seq, kind="stable")
        self.seq = seq[self.order]
        self.time = np.concatenate([enter, leave])[self.order]

    def depth(self, counted: Mask) -> Integers:
        """Open regions among the counted ones, after each border."""
        step = np.concatenate([counted, -counted.astype(np.int64)])
        return np.cumsum(step[self.order])


def _region_bursts(
    location: int, borders: _Borders, work: Mask, values: list[Integers]
) -> dict[str, Integers]:
    begin = np.flatnonzero(work[:-1] & (borders.time[1:] > borders.time[:-1]))
    columns = _without_calls(
        np.full(len(begin), location),
        np.arange(len(begin)),
        borders.time[begin],
        borders.time[begin + 1],
    )
    seq, time, *counters = values
    first, first_read = _reading_at(borders, begin, seq, time)
    last, last_read = _reading_at(borders, begin + 1, seq, time)
    begins_only = ~np.isin(begin, begin + 1)
    for position, counter in enumerate(counters):
        recorded = counter != schema.NO_VALUE
        sums = prefix_sums(np.where(recorded, counter, 0))
        recorded = np.append(recorded, False)
        at_start, at_end = first_read & recorded[first], last_read & recorded[last]
        # A counter that is read only where bursts end holds deltas that a merge wrote.
        whole = at_end & (at_start | ~at_start[begins_only].any())
        before = np.where(first_read, first + 1, first)
        total = (
            sums[np.minimum(last + 1, len(sums) - 1)] - sums[np.minimum(before, len(sums) - 1)]
        )
        columns[str(position)] = np.where(whole, total, schema.NO_VALUE)
    return columns


def _reading_at(
    borders: _Borders, border: Integers, seq: Integers, time: Integers
) -> tuple[Integers, Mask]:
    row = np.searchsorted(seq, borders.seq[border])
    is_read = np.append(time, schema.NO_VALUE)[row] == borders.time[border]
    return row, is_read


def bursts_of_states(states: pa.Table, useful: int, counters: list[str]) -> pa.Table:
    """The intervals of one state as bursts, for traces that have no events."""
    chosen = states.filter(pc.equal(states["state"], useful))
    location = to_numpy(chosen["location"]).astype(np.int64)
    columns = _without_calls(
        location,
        ordinal_within(location),
        to_numpy(chosen["begin_ns"]),
        to_numpy(chosen["end_ns"]),
    )
    for position in range(len(counters)):
        columns[str(position)] = np.full(len(location), schema.NO_VALUE)
    return burst_table(columns, counters)


def _without_calls(
    location: Integers, burst: Integers, start_ns: Integers, end_ns: Integers
) -> dict[str, Integers]:
    """The columns of bursts between no calls, without polls, gaps and counters."""
    unknown, none = np.full(len(burst), schema.UNKNOWN), np.zeros(len(burst), np.int64)
    return {
        "location": location,
        "burst": burst,
        "start_ns": start_ns,
        "end_ns": end_ns,
        "call_before": unknown,
        "call_after": unknown,
        "polling_ns": none,
        "polls": none,
        "waiting_ns": none + schema.NO_VALUE,
        "gap_ns": none,
    }
