"""Calls and times: of the operations of a profiled run, and of functions that cost too much."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline.columns import match_borders
from burstline.formats.intake import Defects
from burstline.formats.raw import (
    COUNT_TYPE,
    TIME_TYPE,
    CallPaths,
    Frame,
    Kind,
    Resolver,
    find_processes,
    open_files,
    operation_numbers,
)
from burstline.progress import SILENCE

_COSTLY: Final = 0.05
_AT_ONCE: Final = 1 << 20
"""Records that are looked at together; calls that begin before them are left out."""
_MANY: Final = 100  # calls; fewer do not matter


class Tally(NamedTuple):
    """All calls of one operation."""

    calls: int
    time_ns: int  # over all threads


def tallies(folder: Path) -> dict[str, Tally]:
    """The sums over all threads of a profiled run, the longest operation first."""
    sums = np.zeros(3 * COUNT_TYPE, np.int64)
    for file in open_files(folder, Defects(), SILENCE):
        records = file.records[:]
        events = records[records["kind"] == Kind.EVENT]
        events = events[events["a"] < len(sums)]
        np.add.at(sums, events["a"].astype(np.int64), events["b"].astype(np.int64))
    by_name = {
        name: Tally(int(sums[COUNT_TYPE + number]), int(sums[TIME_TYPE + number]))
        for number, name in operation_numbers().items()
        if sums[COUNT_TYPE + number]
    }
    return dict(sorted(by_name.items(), key=lambda item: -item[1].time_ns))


class Costly(NamedTuple):
    """A function that takes so long that recording its calls is a good part of it."""

    name: str
    file: str | None
    line: int | None
    calls: int
    time_ns: int  # from each call that no other of the function is around to its end
    recording_ns: int  # of all its calls


def costly_functions(folder: Path, resolver: Resolver, border_ns: int) -> list[Costly]:
    """The functions of which recording took more than 5 %, the one that took longest first."""
    sums: dict[Frame, list[int]] = {}
    paths = CallPaths(resolver)
    for process in find_processes(open_files(folder, Defects(), SILENCE), Defects()):
        functions = paths.functions(process.defined)
        for file in process.files if functions else ():
            for start in range(0, len(file.records), _AT_ONCE):
                for number, calls, time_ns in _times(file.records[start : start + _AT_ONCE]):
                    if number in functions:
                        total = sums.setdefault(functions[number], [0, 0])
                        total[0] += calls
                        total[1] += time_ns
            file.release()
    costly = [
        Costly(*frame, calls, time_ns, 2 * calls * border_ns)
        for frame, (calls, time_ns) in sums.items()
    ]
    costly = [
        one for one in costly if one.calls >= _MANY and one.recording_ns > one.time_ns * _COSTLY
    ]
    return sorted(costly, key=lambda one: -one.recording_ns)


def _times(records: npt.NDArray[Any]) -> Iterator[tuple[int, int, int]]:
    """Each region of a thread, its calls that end in these records, and their time.

    Time in which one call of it is in another counts once.
    """
    kind = records["kind"]
    borders = records[(kind == Kind.REGION_ENTER) | (kind == Kind.REGION_LEAVE)]
    enters, number = borders["kind"] == Kind.REGION_ENTER, borders["a"].astype(np.int64)
    partner, time = match_borders(number, enters), borders["time"].astype(np.int64)
    begin = np.flatnonzero(enters & (partner >= 0))
    begin = begin[np.argsort(number[begin], kind="stable")]
    for calls in np.split(begin, np.flatnonzero(np.diff(number[begin])) + 1):
        if len(calls):
            before = np.maximum.accumulate(np.append(-1, partner[calls])[:-1])
            outer = calls[calls > before]
            time_ns = int((time[partner[outer]] - time[outer]).sum())
            yield int(number[calls[0]]), len(calls), time_ns
