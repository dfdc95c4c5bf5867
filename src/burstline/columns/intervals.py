"""Borders of intervals: the leave of each enter, and the interval around each."""

from __future__ import annotations

import numpy as np

from burstline.columns.types import UNKNOWN, Integers, Mask


def match_borders(things: Integers, enters: Mask) -> Integers:
    """The position of the leave of each enter, and of the enter of each leave; -1 without one.

    Borders of `things` stand in order of time. O(borders log borders), no stack.

    >>> things = np.array([7, 7, 7, 7])
    >>> match_borders(things, np.array([True, True, False, False])).tolist()
    [3, 2, 1, 0]
    """
    partner = np.full(len(things), UNKNOWN, np.int64)
    order = np.argsort(things, kind="stable")
    same, up = things[order], enters[order]
    first = np.searchsorted(same, same)
    total = np.cumsum(np.where(up, 1, -1))
    balance = total - np.append(0, total)[first]
    # Among the borders of one thing, those of one depth alternate between enter and leave,
    # once leaves of what is not open are put aside: they take the balance below its lowest
    # so far. One accumulation finds the lowest of every thing, because each thing is lifted
    # below all that was reached before it.
    lift = first * 2 * (len(things) + 1)
    lowest = np.minimum(np.minimum.accumulate((balance - lift)[: len(things)]) + lift, 0)
    before = np.where(np.arange(len(things)) == first, 0, np.append(0, lowest)[:-1])
    closable = np.flatnonzero(up | (balance >= before))
    depth = (balance - lowest - up)[closable]
    pairs = np.lexsort((np.arange(len(closable)), depth, same[closable]))
    a, b = closable[pairs[:-1]], closable[pairs[1:]]
    joined = (same[a] == same[b]) & (depth[pairs[:-1]] == depth[pairs[1:]]) & up[a] & ~up[b]
    partner[order[a[joined]]] = order[b[joined]]
    partner[order[b[joined]]] = order[a[joined]]
    return partner


def enclosing(enter: Integers, leave: Integers) -> Integers:
    """The position of the last interval entered that is open where each begins; -1 without one.

    Intervals stand in order of `enter`; each is open up to and at `leave`; they may cross.
    O(intervals log intervals) for intervals of any one depth.

    >>> enclosing(np.array([0, 1, 4, 8]), np.array([7, 3, 6, 9])).tolist()
    [-1, 0, 0, -1]
    """
    # Around an interval is the one entered just before, or what that one was found to be
    # inside of so far: those in between ended before, so each round doubles the look back.
    around = np.arange(len(enter), dtype=np.int64) - 1
    rows = np.flatnonzero(around >= 0)
    while len(rows):
        rows = rows[leave[around[rows]] < enter[rows]]
        around[rows] = around[around[rows]]
        rows = rows[around[rows] >= 0]
    return around
