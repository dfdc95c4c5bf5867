"""Parts of a trace, each some of its locations: what is folded over them, here or by workers.

A part is a path and a range of locations, never a table: a worker opens the store itself.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from burstline import formats, selection
from burstline.errors import InconsistentTraceError, ParameterError
from burstline.formats import store
from burstline.model import Trace

_PARTS_EACH: Final = 4  # so that no worker is left with the last one for long
_LEAST_ROWS: Final = 1 << 17  # a smaller part takes less time than to send it
_TABLES: Final = ("bursts", "calls")
"""Those by whose parts a trace is divided, the first that has any."""


def require_store(trace: Trace, path: str) -> None:
    """Raise ParameterError unless workers can read parts of a trace."""
    if not trace.is_stored:
        raise ParameterError(
            f"workers take stores apart, and {path} is none. Convert it first: "
            f"burstline convert {shlex.quote(path)} X.store"
        )


class FoldTask(NamedTuple):
    """What a worker is asked: to fold some locations of a store."""

    path: Path
    stamp: tuple[int, int]  # of the store: one that was made anew is opened anew
    locations: range
    memory: int | None
    fold: Callable[..., Any]  # of the trace of these locations and the options
    with_whole: bool  # whether the fold asks for the whole, and which locations these are
    options: Mapping[str, Any]


def folded(part: FoldTask, whole: Trace | None = None) -> Any:  # noqa: ANN401 -- as the fold
    """What becomes of a part of a trace; a store that is opened stays so for the next one."""
    whole = whole or _opened(part.path, part.stamp, part.memory)
    beside = {"whole": whole, "locations": part.locations} if part.with_whole else {}
    return part.fold(selection.of_locations(whole, part.locations), **beside, **part.options)


@lru_cache(maxsize=1)
def _opened(path: Path, stamp: tuple[int, int], memory: int | None) -> Trace:
    if store.stamp_of(path) != stamp:
        raise InconsistentTraceError(f"{path} was replaced while workers read it: begin again")
    return formats.read(path, raw=False, memory=memory, threads=1)


def divided(trace: Trace, path: Path, workers: int, *, least: int = 1) -> list[range]:
    """All locations of a store in ranges of about equal work, a few for each worker.

    There are at least so many, if its parts are: the borders are those of them, for each is
    read by one worker alone. No process has locations on both sides of one.
    """
    locations, stretches = _stretches(path, store.stamp_of(path))
    left = sum(rows for _, rows in stretches)
    count = max(min(workers * _PARTS_EACH, left // _LEAST_ROWS), least)
    (process,) = trace.arrays("locations", "process")
    number = np.unique(process, return_inverse=True)[1]
    last = np.zeros(number.max(initial=0) + 1, np.int64)
    np.maximum.at(last, number, np.arange(len(number)))
    ends = np.maximum.accumulate(last[number])  # where all that has begun is complete
    borders, held = [0], 0
    for begin, rows in stretches:
        # Of what is left, each gets the same: so the last are not the largest.
        is_due = 0 < left <= held * count and count > 1
        if is_due and begin > borders[-1] and ends[begin - 1] < begin:
            borders.append(begin)
            left, count, held = left - held, count - 1, 0
        held += rows
    borders.append(locations)
    return [range(*ends) for ends in pairwise(borders)]


def largest_share(path: Path, ranges: Sequence[range]) -> float:
    """The share of the rows of a store that the largest of some parts of it has."""
    _, stretches = _stretches(path, store.stamp_of(path))
    rows = [sum(count for begin, count in stretches if begin in part) for part in ranges]
    return max(rows, default=0) / max(sum(rows), 1)


@lru_cache(maxsize=1)
def _stretches(path: Path, stamp: tuple[int, int]) -> tuple[int, list[tuple[int, int]]]:  # noqa: ARG001 -- of the store as it is
    return store.stretches_of(path, _TABLES)
