"""How many bursts are matched as they should be.

::

    Matching + which bursts are the same  ->  Accuracy: right, matched, matchable
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from burstline import Trace
from burstline.identity import tokens_of
from burstline.merge import Matching, loops_of
from experiments.merge.edits import Edited

Integers = npt.NDArray[np.int64]
Bits = npt.NDArray[np.bool_]
Pairs = tuple[Integers, Integers]

WINDOW: Final = 32
"""Bursts on each side among which a burst must be the only one of its kind."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Counts of bursts.

    Attributes
    ----------
    matched, right : int
        Pairs that were matched, and that were so rightly.
    matchable, found : int
        Bursts that can be matched, and those that were so rightly.
    """

    matched: int
    right: int
    matchable: int
    found: int

    @property
    def precision(self) -> float:
        """Share of what was matched that is right; 1 where nothing was."""
        return self.right / self.matched if self.matched else 1.0

    @property
    def rate(self) -> float:
        """Share of what can be matched that was; 1 where nothing can."""
        return self.found / self.matchable if self.matchable else 1.0

    def __add__(self, other: Accuracy) -> Accuracy:
        return Accuracy(
            self.matched + other.matched,
            self.right + other.right,
            self.matchable + other.matchable,
            self.found + other.found,
        )


def pairs_of(matching: Matching, first: Trace, second: Trace) -> Pairs:
    """Give the matched bursts of two runs as rows of their tables of bursts."""
    table = matching.pairs.select(["rank", "thread", "burst_0", "burst_1"]).drop_null()
    rank, thread, *bursts = (column.to_numpy() for column in table.columns)
    rows = []
    for trace, burst in zip((first, second), bursts, strict=True):
        named = zip(
            *(c.tolist() for c in trace.arrays("locations", "rank", "thread")), strict=True
        )
        own = dict(zip(named, trace.offsets("bursts")[:-1].tolist(), strict=True))
        begin = [own[key] for key in zip(rank.tolist(), thread.tolist(), strict=True)]
        rows.append(np.array(begin, np.int64) + burst.astype(np.int64))
    return rows[0], rows[1]


def by_ids(pairs: Pairs, ids: tuple[Integers, Integers]) -> Accuracy:
    """Judge by ids: equal ones on one thread are the same burst; -1 is of unknown meaning.

    Parameters
    ----------
    pairs : tuple of two ndarray of int64
        Rows of matched bursts.
    ids : tuple of two ndarray of int64, shape (bursts,)
        Unique in a run.

    Returns
    -------
    Accuracy
        All that have a twin can be matched.
    """
    ours, theirs = (own[rows] for own, rows in zip(ids, pairs, strict=True))
    known = (ours >= 0) | (theirs >= 0)
    right = int(np.count_nonzero((ours == theirs) & known))
    shared = np.intersect1d(ids[0][ids[0] >= 0], ids[1][ids[1] >= 0])
    return Accuracy(int(np.count_nonzero(known)), right, len(shared), right)


def unique_by_ids(
    pairs: Pairs,
    ids: tuple[Integers, Integers],
    traces: tuple[Trace, Trace],
    *,
    alike: bool = False,
) -> Accuracy:
    """Judge by ids only bursts that their label and neighbours tell from others near them.

    Parameters
    ----------
    pairs, ids
        As for :func:`by_ids`.
    traces : tuple of two Trace
        The runs.
    alike : bool
        Whether twins have their label between the same labels in both runs, so that these
        tell which they are. If not, what is beside a burst may differ from run to run, and
        make it the only one of its kind by accident.

    Returns
    -------
    Accuracy
        Of bursts that are the only ones of their kind in their window, in both runs.
    """
    tokens = tokens_of(traces, [loops_of(trace) for trace in traces]).tokens
    kinds = [
        around(own.label.astype(np.int64), trace.arrays("bursts", "location")[0])
        for trace, own in zip(traces, tokens, strict=True)
    ]
    known = [np.where(unique_near(k), own, -1) for k, own in zip(kinds, ids, strict=True)]
    shared, *rows = np.intersect1d(known[0], known[1], return_indices=True)
    if alike:
        same = (kinds[0][rows[0]] == kinds[1][rows[1]]).all(axis=1)
        shared = shared[same]
    shared = shared[shared >= 0]
    ours, theirs = (own[rows] for own, rows in zip(ids, pairs, strict=True))
    able = np.isin(ours, shared)
    if alike:
        able |= np.isin(theirs, shared)
    right = int(np.count_nonzero(able & (ours == theirs)))
    return Accuracy(int(np.count_nonzero(able)), right, len(shared), right)


class Judge:
    """What of a trace can be matched in edited copies of it.

    Parameters
    ----------
    source : Trace
        The trace the copies were made of.
    """

    def __init__(self, source: Trace) -> None:
        (tokens,) = tokens_of([source], [loops_of(source)]).tokens
        (location,) = source.arrays("bursts", "location")
        self._label = tokens.label.astype(np.int64)
        self._around = around(self._label, location)
        self._unique = unique_near(self._around)

    def told_apart(self, one: Edited, other: Edited, pairs: Pairs) -> Accuracy:
        """Judge as :func:`unique_by_ids` what has the same neighbours in both copies."""
        ids, traces = (one.source, other.source), (one.trace, other.trace)
        return unique_by_ids(pairs, ids, traces, alike=True)

    def unique(self, one: Edited, other: Edited, pairs: Pairs) -> Accuracy:
        """Judge as :func:`unique_by_ids` what is the only one of its kind in each copy."""
        return unique_by_ids(pairs, (one.source, other.source), (one.trace, other.trace))

    def strictly(self, one: Edited, other: Edited, pairs: Pairs) -> Accuracy:
        """Judge by what bursts were: only twins are right, and every twin can be matched."""
        ours, theirs = one.source[pairs[0]], other.source[pairs[1]]
        right = int(np.count_nonzero((ours == theirs) & (ours >= 0)))
        return Accuracy(len(ours), right, len(_twins(one, other)), right)

    def judge(self, one: Edited, other: Edited, pairs: Pairs) -> Accuracy:
        """Judge by what can be known.

        A twin is right. So is a burst of the same label between the same labels, in the
        source or in the copies, at most :data:`WINDOW` bursts away; and an inserted copy for
        the burst of its label that it was put beside. A burst can be matched if it is in both
        copies, and in the source no other in the window around it is of its label between
        the same labels.
        """
        ours, theirs = pairs
        a, b = one.source[ours], other.source[theirs]
        right = (a == b) & (a >= 0)
        away = np.abs(one.beside[ours] - other.beside[theirs])
        real = (a >= 0) & (b >= 0)
        alike = real & (self._around[a] == self._around[b]).all(axis=1)
        here, there = self._in_copy(one)[ours], self._in_copy(other)[theirs]
        right |= (alike | (here == there).all(axis=1)) & (away <= WINDOW)
        same = self._label[one.origin[ours]] == self._label[other.origin[theirs]]
        right |= ~real & same & (away <= 1)
        twins = _twins(one, other)
        able = twins[self._unique[twins]]
        found = np.isin(able, a[right])
        rights, founds = int(np.count_nonzero(right)), int(np.count_nonzero(found))
        return Accuracy(len(ours), rights, len(able), founds)

    def undisturbed(self, one: Edited, other: Edited, pairs: Pairs) -> Accuracy:
        """Judge of what can be matched only what no edit was beside, in either copy."""
        a, b = one.source[pairs[0]], other.source[pairs[1]]
        twins = _twins(one, other)
        able = twins[self._unique[twins]]
        for copy in (one, other):
            calm = (self._in_copy(copy) == self._around[copy.origin]).all(axis=1)
            able = np.intersect1d(able, copy.source[calm])
        ours = np.isin(a, able)
        right = int(np.count_nonzero((a == b) & ours))
        return Accuracy(int(np.count_nonzero(ours)), right, len(able), right)

    def _in_copy(self, copy: Edited) -> Integers:
        (location,) = copy.trace.arrays("bursts", "location")
        return around(self._label[copy.origin], location)


def _twins(one: Edited, other: Edited) -> Integers:
    return np.intersect1d(one.source[one.source >= 0], other.source[other.source >= 0])


def around(label: Integers, location: Integers) -> Integers:
    """Give each burst its thread, the label before it, its own, and the one after it."""
    before, after = np.append(-1, label[:-1]), np.append(label[1:], -1)
    changes = np.flatnonzero(np.diff(location)) + 1
    before[changes] = -1
    after[changes - 1] = -1
    return np.stack([location, before, label, after], axis=1).astype(np.int64)


def unique_near(around: Integers) -> Bits:
    """Tell which bursts are the only ones of their kind in the window around them."""
    unique = np.ones(len(around), bool)
    for distance in range(1, min(WINDOW, len(around) - 1) + 1):
        same = (around[distance:] == around[:-distance]).all(axis=1)
        unique[distance:] &= ~same
        unique[:-distance] &= ~same
    return unique
