"""Which functions compute between calls, by samples of the call stacks of threads.

A sample belongs to the stretch between two calls that it was taken in, and to the innermost
function on its stack whose source is known: what that calls in libraries without lines is its
own. One rank is slow by the function in which it computes longer than the others, whichever
function all of them are in most.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from burstline.columns import AnyIntegers, Floats, Integers, distinct, sums_by, take
from burstline.extrae import UNRESOLVED
from burstline.model import UNKNOWN, Trace, last_until
from burstline.synchronisation import Sync
from burstline.waits.absence import region_at
from burstline.waits.stops import Stops

_LEAST: Final = 5
"""Periods: fewer say nothing of where a rank computes longer."""
_BY_CHANCE: Final = 3.0
"""Standard deviations by which counts of samples may differ where the work is the same."""
_MOST_OF_IT: Final = 0.5
_NEARLY_ALL: Final = 0.9


@dataclass(frozen=True, slots=True)
class Sampled:
    """A function that computes at some place, and its line that was seen most."""

    function: str
    file: str | None
    line: int | None
    # periods of samples on each rank that has some; in a construct, on each location
    periods: Mapping[int, int]


def functions_by_place(
    trace: Trace, stops: Stops, rows: Integers, place: AnyIntegers
) -> dict[int, tuple[Sampled, ...]]:
    """The functions seen in stretches behind stops, by their places; those seen most first."""
    if not _has_samples(trace):
        return {}
    frames, stretch, location, function, periods = _seen(trace, stops, rows)
    (rank,) = trace.arrays("locations", "rank")
    return _counted(frames, (place[stretch], function, rank[location]), periods)


def functions_in_constructs(trace: Trace, sync: Sync) -> dict[int, dict[int, Sampled]]:
    """The function that a thread of a rank is longer in than others, by construct and rank."""
    if not _has_samples(trace) or not trace.rows("regions"):
        return {}
    frames, location, time_ns, function, periods = _samples_of(trace)
    (definition,) = trace.arrays("regions", "region")
    paradigms = trace.table("region_defs")["paradigm"].to_pylist()
    is_construct = np.array([each == "openmp" for each in paradigms], bool)[definition]
    node = np.where(is_construct, sync.regions.node, UNKNOWN)
    around = take(node, region_at(trace, sync, location, time_ns))
    inside = np.flatnonzero((around >= 0) & (function >= 0))
    columns = around[inside], function[inside], location[inside]
    found = {
        place: {
            rank: slow
            for rank in np.unique(sync.rank).tolist()
            if (slow := _of_slow_thread(seen, np.flatnonzero(sync.rank == rank)))
        }
        for place, seen in _counted(frames, columns, periods[inside]).items()
    }
    return {place: of_ranks for place, of_ranks in found.items() if of_ranks}


def _of_slow_thread(seen: Sequence[Sampled], threads: Integers) -> Sampled | None:
    """The function of the thread that is seen most: those of a team have the same to do."""
    own = threads.tolist()
    sums = {thread: sum(each.periods.get(thread, 0) for each in seen) for thread in own}
    if len(own) == 1 or not any(sums.values()):
        return None
    here = [
        replace(each, periods={thread: each.periods.get(thread, 0) for thread in own})
        for each in seen
    ]
    return function_of(here, max(sums, key=sums.__getitem__), len(own))


def _counted(
    frames: Sequence[Mapping[str, Any]],
    columns: tuple[AnyIntegers, AnyIntegers, AnyIntegers],
    periods: Integers,
) -> dict[int, tuple[Sampled, ...]]:
    """The functions of samples by their place, from place, frame, and rank or location."""
    first, group = distinct(*columns)
    sums = sums_by(group, periods, len(first))
    keys = zip(*(column[first].tolist() for column in columns), sums.tolist(), strict=True)
    counts: dict[int, dict[tuple[str, str | None], _PeriodCounts]] = defaultdict(
        lambda: defaultdict(_PeriodCounts)
    )
    for each, row, of, count in keys:
        frame = frames[row]
        counts[each][frame["function"], frame["file"]].add(of, frame["line"], count)
    return {each: _most_first(found) for each, found in counts.items()}


def time_by_function(
    trace: Trace, stops: Stops, rows: Integers, place: AnyIntegers
) -> dict[int, dict[tuple[str, str | None], Floats]]:
    """How long locations were in functions, ns, by place; a stretch by its own samples."""
    if not _has_samples(trace):
        return {}
    frames, stretch, _, function, periods = _seen(trace, stops, rows)
    length = (stops.enter_ns[rows + 1] - stops.leave_ns[rows])[stretch]
    whole = np.bincount(stretch, periods, minlength=len(rows))[stretch]
    share, location = length * periods / whole, stops.location[rows[stretch]]
    locations = trace.rows("locations")
    made: dict[int, dict[tuple[str, str | None], Floats]] = defaultdict(dict)
    first, group = distinct(place[stretch], function)
    for number, (where, of) in enumerate(
        zip(place[stretch[first]].tolist(), function[first].tolist(), strict=True)
    ):
        inside = group == number
        name = frames[of]["function"], frames[of]["file"]
        time = np.bincount(location[inside], share[inside], locations).astype(np.float64)
        made[where][name] = time + made[where].get(name, 0.0)
    return dict(made)


def _seen(
    trace: Trace, stops: Stops, rows: Integers
) -> tuple[list[dict[str, Any]], Integers, AnyIntegers, AnyIntegers, Integers]:
    """Samples in stretches behind stops: all frames, then stretch, location, frame, periods."""
    frames, location, time_ns, function, periods = _samples_of(trace)
    # the last stop of those chosen that was left before; the next one was not entered yet
    last = last_until((stops.location[rows], stops.leave_ns[rows]), (location, time_ns))
    inside = (last >= 0) & (time_ns < take(stops.enter_ns[rows + 1], last))
    seen = np.flatnonzero(inside & (function >= 0))
    return frames, last[seen], location[seen], function[seen], periods[seen]


def _samples_of(
    trace: Trace,
) -> tuple[list[dict[str, Any]], AnyIntegers, Integers, Integers, Integers]:
    """All frames, then location, time, frame of the function and periods of each sample."""
    location, time_ns, periods, path = trace.arrays(
        "samples", "location", "time_ns", "periods", "call_path"
    )
    frames = trace.table("call_paths").to_pylist()
    return frames, location, time_ns, take(functions_on(frames), path), periods


def _has_samples(trace: Trace) -> bool:
    return trace.rows("samples") > 0 and trace.metadata.get("unit", "ns") == "ns"


def function_of(seen: Sequence[Sampled], rank: int | None, ranks: int) -> Sampled | None:
    """The function that a rank computes longer in than the others; None if none stands out.

    What equal work may differ by, by chance, does not. Without a rank, it is the function that
    nearly all is computed in.
    """
    if rank is None:
        total = [sum(each.periods.values()) for each in seen]
        return seen[0] if seen and total[0] >= max(_NEARLY_ALL * sum(total), _LEAST) else None
    more, noise, others = [], [], max(ranks - 1, 1)
    for each in seen:
        own = each.periods.get(rank, 0)
        rest = sum(each.periods.values()) - own
        more.append(max(own - rest / others, 0.0))
        # of counts, the variance is the count
        noise.append(_BY_CHANCE * math.sqrt(own + rest / others**2))
    largest = max(more, default=0.0)
    if largest < _LEAST or largest < _MOST_OF_IT * sum(more):
        return None
    place = more.index(largest)
    return seen[place] if largest >= noise[place] else None


class _PeriodCounts:
    """Periods by rank and by line."""

    def __init__(self) -> None:
        self.ranks: defaultdict[int, int] = defaultdict(int)
        self.lines: defaultdict[int | None, int] = defaultdict(int)

    def add(self, rank: int, line: int | None, periods: int) -> None:
        """Count what was seen on a rank at a line."""
        self.ranks[rank] += periods
        self.lines[line] += periods


def _most_first(found: Mapping[tuple[str, str | None], _PeriodCounts]) -> tuple[Sampled, ...]:
    functions = [
        Sampled(*name, max(count.lines, key=count.lines.__getitem__), dict(count.ranks))
        for name, count in found.items()
    ]
    return tuple(sorted(functions, key=lambda each: -sum(each.periods.values())))


def functions_on(frames: Sequence[Mapping[str, object]]) -> Integers:
    """The row of the innermost function with a known source on each call path, or its own."""
    known: list[int] = []
    for row, frame in enumerate(frames):
        above = frame["parent"]
        is_known = frame["file"] is not None
        inherited = known[above] if isinstance(above, int) else UNKNOWN
        known.append(row if is_known else inherited)
    # Of a program without debug information nothing but names is known.
    return np.array(
        [
            row if known[row] < 0 and frame["function"] != UNRESOLVED else known[row]
            for row, frame in enumerate(frames)
        ],
        np.int64,
    )


def by_times_seen(place: AnyIntegers, function: AnyIntegers, periods: AnyIntegers) -> Integers:
    """A sample of each function at each place; the last one of a place was seen most."""
    first, group = distinct(place, function)
    seen = sums_by(group, periods, len(first))
    return first[np.argsort(seen, kind="stable")]
