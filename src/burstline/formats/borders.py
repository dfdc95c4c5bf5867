"""Borders of intervals: which leave belongs to which enter, and what lies inside what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from burstline.schema import UNKNOWN

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]


def match_borders(what: Integers, enters: npt.NDArray[np.bool_]) -> Integers:
    """Find the leave of each enter.

    Parameters
    ----------
    what : ndarray of int64, shape (borders,)
        What is entered or left, in order of time.
    enters : ndarray of bool, shape (borders,)
        Which borders are enters.

    Returns
    -------
    ndarray of int64, shape (borders,)
        Position of the leave of each enter and of the enter of each leave; -1 without one.

    Notes
    -----
    O(borders log borders), without a stack: among the borders of one thing, those of one
    depth alternate, once leaves of what is not open are put aside.

    Examples
    --------
    >>> import numpy as np
    >>> match_borders(np.array([7, 7, 7, 7]), np.array([True, True, False, False])).tolist()
    [3, 2, 1, 0]
    """
    partner = np.full(len(what), UNKNOWN, np.int64)
    order = np.argsort(what, kind="stable")
    same, up = what[order], enters[order]
    first = np.searchsorted(same, same)
    total = np.cumsum(np.where(up, 1, -1))
    balance = total - np.append(0, total)[first]
    # lowest balance so far within the thing: lifted so that one accumulation serves all
    lift = first * 2 * (len(what) + 1)
    lowest = np.minimum(np.minimum.accumulate((balance - lift)[: len(what)]) + lift, 0)
    before = np.where(np.arange(len(what)) == first, 0, np.append(0, lowest)[:-1])
    kept = np.flatnonzero(up | (balance >= before))
    depth = (balance - lowest - up)[kept]
    pairs = np.lexsort((np.arange(len(kept)), depth, same[kept]))
    a, b = kept[pairs[:-1]], kept[pairs[1:]]
    joined = (same[a] == same[b]) & (depth[pairs[:-1]] == depth[pairs[1:]]) & up[a] & ~up[b]
    partner[order[a[joined]]] = order[b[joined]]
    partner[order[b[joined]]] = order[a[joined]]
    return partner


def enclosing(enter: Integers, leave: Integers) -> Integers:
    """Find the innermost interval around each: the last one entered that is still open.

    Parameters
    ----------
    enter : ndarray of int64, shape (intervals,)
        Where each begins, ascending.
    leave : ndarray of int64, shape (intervals,)
        Where it ends: it is open at every place up to there. Intervals may cross.

    Returns
    -------
    ndarray of int64, shape (intervals,)
        Position of the interval around each; -1 without one.

    Notes
    -----
    What was entered just before, or what that one was found to be inside of so far: those
    in between ended before, so each round doubles how far back is looked.
    O(intervals log intervals) for intervals of any one depth.

    Examples
    --------
    >>> import numpy as np
    >>> enclosing(np.array([0, 1, 4, 8]), np.array([7, 3, 6, 9])).tolist()
    [-1, 0, 0, -1]
    """
    around = np.arange(len(enter), dtype=np.int64) - 1
    rows = np.flatnonzero(around >= 0)
    while len(rows):
        rows = rows[leave[around[rows]] < enter[rows]]
        around[rows] = around[around[rows]]
        rows = rows[around[rows] >= 0]
    return around
