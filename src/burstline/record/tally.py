"""Calls and times: of the operations of a profiled run, and of functions that cost too much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from burstline.columns import match_borders
from burstline.formats.intake import Defects
from burstline.formats.raw import (
    COUNT_TYPE,
    TIME_TYPE,
    CallPaths,
    Kind,
    find_processes,
    open_files,
    operation_numbers,
)
from burstline.progress import SILENCE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy.typing as npt

    from burstline.formats.raw import Frame, Resolver

_COSTLY: Final = 0.05
_MANY: Final = 100  # calls; fewer do not matter


class Tally(NamedTuple):
    """All calls of one operation."""

    calls: int
    time_ns: int  # over all threads


def tallies(folder: Path) -> dict[str, Tally]:
    """The sums over all threads of a profiled run, the longest operation first."""
    sums = np.zeros(3 * COUNT_TYPE, np.int64)
    for file in open_files(folder, Defects(), SILENCE):
        events = file.records[file.records["kind"] == Kind.EVENT]
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
            kind = file.records["kind"]
            borders = file.records[(kind == Kind.REGION_ENTER) | (kind == Kind.REGION_LEAVE)]
            for number, calls, time_ns in _times(borders):
                if number in functions:
                    sum_ = sums.setdefault(functions[number], [0, 0])
                    sum_[0] += calls
                    sum_[1] += time_ns
            file.release()
    costly = [
        Costly(*frame, calls, time_ns, 2 * calls * border_ns)
        for frame, (calls, time_ns) in sums.items()
    ]
    costly = [
        one for one in costly if one.calls >= _MANY and one.recording_ns > one.time_ns * _COSTLY
    ]
    return sorted(costly, key=lambda one: -one.recording_ns)


def _times(borders: npt.NDArray[Any]) -> Iterator[tuple[int, int, int]]:
    """Each region of a thread, its calls, and its time, in which calls in calls count once."""
    number, enters = borders["a"], borders["kind"] == Kind.REGION_ENTER
    partner = match_borders(number.astype(np.int64), enters)
    rows = np.flatnonzero(enters & (partner >= 0))
    rows = rows[np.argsort(number[rows], kind="stable")]
    number, begin, end = number[rows], rows, partner[rows]
    for one in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(number)) + 1):
        if not len(one):
            continue
        before = np.maximum.accumulate(np.append(-1, end[one])[:-1])
        outer = one[begin[one] > before]
        time = borders["time"].astype(np.int64)
        yield int(number[one[0]]), len(one), int((time[end[outer]] - time[begin[outer]]).sum())
