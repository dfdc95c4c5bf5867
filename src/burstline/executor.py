"""Work on parts, by threads or other processes, with what becomes of them in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeVar

from burstline.progress import SILENCE, Progress

_Part = TypeVar("_Part")
_Result = TypeVar("_Result")


class Workers(Protocol):
    """Processes that work on parts, maybe on other machines."""

    @property
    def count(self) -> int:
        """How many there are."""

    @property
    def memory_each(self) -> int | None:
        """The bytes that each may take; None if nobody says."""

    def require_seen(self, path: Path) -> None:
        """Raise WorkersError unless each sees the file or folder that is here."""

    def in_order(
        self,
        work: Callable[[_Part], _Result],
        parts: Sequence[_Part],
        *,
        progress: Progress = SILENCE,
    ) -> Generator[_Result]:
        """What becomes of each part in order; `work` is a function of a module."""


def threads_allowed(threads: int | None = None) -> int:
    """The threads asked for, or as many as this process may run on."""
    return threads or len(os.sched_getaffinity(0))


def in_order(
    work: Callable[[_Part], _Result],
    parts: Iterable[_Part],
    threads: int,
    *,
    ahead: int | None = None,
) -> Generator[_Result]:
    """What becomes of each part in order, while some of those to come are being worked on.

    `ahead` parts (by default one a thread) are begun or done before they are asked for; with no
    threads the caller works. Close it to give up: parts that have not begun do not begin.

    >>> list(in_order(str, [3, 1, 2], threads=2))
    ['3', '1', '2']
    """
    if threads < 1 or (isinstance(parts, Sized) and len(parts) == 1):
        yield from map(work, parts)
        return
    rest = iter(parts)
    pool = ThreadPoolExecutor(threads)
    try:
        coming = deque(pool.submit(work, part) for part in islice(rest, ahead or threads))
        while coming:
            result = [coming.popleft().result()]
            coming.extend(pool.submit(work, part) for part in islice(rest, 1))
            yield result.pop()  # no reference stays here: what is done with goes at once
    finally:
        pool.shutdown(cancel_futures=True)
