"""Parts of a trace, each some of its locations: what is folded over them, here or by workers.

A part is a path and a range of locations, never a table: a worker opens the store itself.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

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


class Part(NamedTuple):
    """What a worker is asked: to fold some locations of a store."""

    path: Path
    stamp: tuple[int, int]  # of the store: one that was made anew is opened anew
    locations: range
    memory: int | None
    fold: Callable[..., Any]  # of the trace of these locations and the options
    with_whole: bool  # whether the fold asks for the whole, and which locations these are
    options: Mapping[str, Any]


def folded(part: Part) -> Any:  # noqa: ANN401 -- what the fold makes
    """What becomes of a part; the store stays open for the next one."""
    whole = _opened(part.path, part.stamp, part.memory)
    beside = {"whole": whole, "locations": part.locations} if part.with_whole else {}
    return part.fold(selection.of_locations(whole, part.locations), **beside, **part.options)


@lru_cache(maxsize=1)
def _opened(path: Path, stamp: tuple[int, int], memory: int | None) -> Trace:
    if store.stamp_of(path) != stamp:
        raise InconsistentTraceError(f"{path} was replaced while workers read it: begin again")
    return formats.read(path, raw=False, memory=memory, threads=1)


def divided(path: Path, workers: int) -> list[range]:
    """All locations of a store in ranges of about equal work, a few for each worker.

    The borders are those of its parts: each is read by one worker alone.
    """
    locations, stretches = store.stretches_of(path, _TABLES)
    rows = sum(count for _, count in stretches)
    wanted = max(rows // (workers * _PARTS_EACH), _LEAST_ROWS)
    borders, held = [0], 0
    for begin, count in stretches:
        if held >= wanted and begin > borders[-1]:
            borders.append(begin)
            held = 0
        held += count
    borders.append(locations)
    return [range(*ends) for ends in pairwise(borders)]
