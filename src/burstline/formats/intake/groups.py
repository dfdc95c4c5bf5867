"""Groups of processes: how a run is cut into them, and how they are read ahead.

::

    sizes of processes ──borders_of──► groups ──in_order──► results, while later ones are made

What a group is does not show in the tables, nor how many are read at once.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, pairwise
from typing import TYPE_CHECKING, TypeVar

from burstline.formats.intake.source import Processes

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

Part = TypeVar("Part")
Result = TypeVar("Result")


def borders_of(sizes: Sequence[int], most: int) -> list[int]:
    """Cut processes into groups of at most so many records, or of one process.

    >>> borders_of([3, 3, 3, 9, 1], 6)
    [0, 2, 3, 4, 5]
    """
    borders, held = [0], 0
    for number, size in enumerate(sizes):
        if number > borders[-1] and held + size > most:
            borders.append(number)
            held = 0
        held += size
    return [*borders, len(sizes)]


def groups_of(sizes: Sequence[int], most: int) -> list[Processes]:
    """Groups of whole processes, of at most so many units or of one process."""
    return [Processes(range(*pair)) for pair in pairwise(borders_of(sizes, most))]


def in_order(
    read: Callable[[Part], Result], parts: Sequence[Part], threads: int
) -> Generator[Result]:
    """What is read of each part in order, while some of those to come are being read.

    >>> list(in_order(str, [3, 1, 2], threads=2))
    ['3', '1', '2']
    """
    if threads < 1 or len(parts) == 1:
        yield from map(read, parts)
        return
    pool = ThreadPoolExecutor(threads, "read")
    try:
        coming = deque(pool.submit(read, part) for part in parts[:threads])
        rest = iter(parts[threads:])
        while coming:
            result = [coming.popleft().result()]
            coming.extend(pool.submit(read, part) for part in islice(rest, 1))
            yield result.pop()  # no reference stays here: what is done with goes at once
    finally:
        pool.shutdown(cancel_futures=True)
