"""Fidelity: how true a structure is.

::

    items of a Structure  --expand-->  sequence of calls of a rank  --similarity-->  0..1

A structure that misreads the run says so itself: expanded again, it does not give the calls
of the trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import _core
from burstline.structure.grouping import stable_order
from burstline.structure.nodes import Call, Loop

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from burstline.structure.grouping import Integers
    from burstline.structure.nodes import Item

    Sequences = npt.NDArray[np.int32]

WINDOW: Final = 1 << 14
"""Longest stretch of calls that is compared exactly."""


def expand(items: Sequence[Item], lane: int) -> Sequences:
    """Give the calls that a program of this structure makes on one lane, in order.

    What the structure does not know is spread evenly: a call of which only is known that
    it is executed in 9 of 10 iterations skips the first, a loop of 2.5 iterations has 2 and
    3 in turns.

    Parameters
    ----------
    items : sequence of Call, Condition and Loop
        The program.
    lane : int
        Whose executions count.

    Returns
    -------
    ndarray of int32, shape (executed calls,)
        Their signatures.

    Notes
    -----
    O(calls) per level of nesting, without a loop over calls or iterations.
    """
    return _bodies(items, lane, 1)[0]


def _bodies(items: Sequence[Item], lane: int, entries: int) -> tuple[Sequences, Integers]:
    """Give the calls of a body executed `entries` times, and which time each belongs to."""
    symbols: list[Sequences] = [np.zeros(0, np.int32)]
    places: list[Integers] = [np.zeros(0, np.int64)]
    for item in items:
        executed = int(item.executions[lane])
        if not executed:
            continue
        entry = _entry_of_each(item, lane, executed, entries)
        if isinstance(item, Call):
            symbols.append(np.full(executed, item.signature, np.int32))
            places.append(entry)
        else:
            inner, iteration = _bodies(item.items, lane, executed)
            symbols.append(inner)
            places.append(entry[iteration])
    place = np.concatenate(places)
    order = stable_order(place, entries)
    return np.concatenate(symbols)[order], place[order]


def _entry_of_each(item: Item, lane: int, executed: int, entries: int) -> Integers:
    """Give the execution of the body around that each execution of an item is in."""
    if item.when is None:
        return _spread(executed, entries)
    when = item.when.values(lane)
    if isinstance(item, Loop) and item.trips is not None:
        return np.repeat(when, item.trips.values(lane))
    return when


def _spread(executed: int, entries: int) -> Integers:
    """Entry of each execution, spread evenly, shape (executed,)."""
    until = np.arange(entries + 1) * executed // entries
    return np.repeat(np.arange(entries), np.diff(until))


def similarity(a: Sequences, b: Sequences, *, window: int = WINDOW) -> float:
    """Say how alike two sequences are: 1 - (insertions + deletions) / (both lengths).

    Parameters
    ----------
    a, b : ndarray of int32, shape (symbols,)
        The sequences.
    window : int
        Longest stretch compared exactly; what differs over longer stretches is compared
        piece by piece.

    Returns
    -------
    float
        1 if they are equal, 0 if they have no symbol in common; never more than is true.

    Notes
    -----
    One pass if they are equal, ``window / 64`` steps per symbol otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> similarity(np.array([1, 2, 3], np.int32), np.array([1, 3], np.int32))
    0.8
    """
    if not len(a) and not len(b):
        return 1.0
    common = _core.common_in_order(np.ascontiguousarray(a), np.ascontiguousarray(b), window)
    return 2 * common / (len(a) + len(b))
