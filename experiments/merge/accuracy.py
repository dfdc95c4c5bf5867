"""How many bursts are matched as they should be.

::

    Matching + which bursts are the same  ->  Accuracy: right, matched, matchable
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.merge.tokens import tokens_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from burstline import Trace
    from burstline.merge.model import Matching
    from experiments.merge.edits import Edited

    Integers = npt.NDArray[np.int64]
    Bits = npt.NDArray[np.bool_]

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


def pairs_of(matching: Matching, first: Trace, second: Trace) -> tuple[Integers, Integers]:
    """Give the matched bursts of two runs as rows of their tables of bursts."""
    table = matching.pairs.select(["rank", "thread", "burst_0", "burst_1"]).drop_null()
    rank, thread, *bursts = (column.to_numpy() for column in table.columns)
    rows = []
    for trace, burst in zip((first, second), bursts, strict=True):
        own = dict(
            zip(
                zip(*(c.tolist() for c in trace.arrays("locations", "rank", "thread")), strict=True),
                trace.offsets("bursts")[:-1].tolist(),
                strict=True,
            )
        )
        begin = [own[key] for key in zip(rank.tolist(), thread.tolist(), strict=True)]
        rows.append(np.array(begin, np.int64) + burst.astype(np.int64))
    return rows[0], rows[1]


def by_ids(pairs: tuple[Integers, Integers], ids: tuple[Integers, Integers]) -> Accuracy:
    """Judge by ids: equal ones on one thread are the same burst; -1 is of unknown meaning.

    Parameters
    ----------
    pairs : tuple of two ndarray of int64
        Rows of matched bursts.
    ids : tuple of two ndarray of int64, shape (bursts,)
        Unique in a run.
    """
    ours, theirs = (own[rows] for own, rows in zip(ids, pairs, strict=True))
    known = (ours >= 0) | (theirs >= 0)
    right = int(np.count_nonzero((ours == theirs) & known))
    shared = np.intersect1d(ids[0][ids[0] >= 0], ids[1][ids[1] >= 0])
    return Accuracy(int(np.count_nonzero(known)), right, len(shared), right)


class Judge:
    """What of a trace can be matched in edited copies of it.

    Parameters
    ----------
    source : Trace
        The trace the copies were made of.
    """

    def __init__(self, source: Trace) -> None:
        (tokens,), _, _ = tokens_of([source])
        (location,) = source.arrays("bursts", "location")
        self._label, self._location = tokens.label.astype(np.int64), location
        before = np.append(-1, self._label[:-1])
        after = np.append(self._label[1:], -1)
        begins = np.append(True, location[1:] != location[:-1])  # noqa: FBT003 -- a value
        before[begins] = -1
        after[np.append(begins[1:], True)[: len(after)]] = -1  # noqa: FBT003 -- a value
        triples = np.stack([location, before, self._label, after], axis=1)
        _, self._kind = np.unique(triples, axis=0, return_inverse=True)
        self._kind = self._kind.ravel()
        self.unique = _unique_near(self._kind)

    def strictly(self, one: Edited, other: Edited, pairs: tuple[Integers, Integers]) -> Accuracy:
        """Judge by what bursts were: only twins are right, and every twin can be matched."""
        ours, theirs = one.source[pairs[0]], other.source[pairs[1]]
        right = int(np.count_nonzero((ours == theirs) & (ours >= 0)))
        return Accuracy(len(ours), right, len(self._twins(one, other)), right)

    def judge(self, one: Edited, other: Edited, pairs: tuple[Integers, Integers]) -> Accuracy:
        """Judge by what can be known.

        A twin is right. So is a burst of the same label between the same labels in the
        source, at most :data:`WINDOW` bursts away; and an inserted copy for the burst of
        its label that it was put beside. A burst can be matched if it is in both copies,
        and no other in the window around it is of its label between the same labels.
        """
        ours, theirs = pairs
        a, b = one.source[ours], other.source[theirs]
        right = (a == b) & (a >= 0)
        real = (a >= 0) & (b >= 0)
        right |= real & (self._kind[a] == self._kind[b]) & (np.abs(a - b) <= WINDOW)
        alike = self._label[one.origin[ours]] == self._label[other.origin[theirs]]
        beside = np.abs(one.beside[ours] - other.beside[theirs]) <= 1
        right |= ((a < 0) | (b < 0)) & alike & beside
        twins = self._twins(one, other)
        able = twins[self.unique[twins]]
        found = np.isin(able, a[right])
        return Accuracy(
            len(ours), int(np.count_nonzero(right)), len(able), int(np.count_nonzero(found))
        )

    @staticmethod
    def _twins(one: Edited, other: Edited) -> Integers:
        return np.intersect1d(one.source[one.source >= 0], other.source[other.source >= 0])


def _unique_near(kind: Integers) -> Bits:
    unique = np.ones(len(kind), bool)
    for distance in range(1, min(WINDOW, len(kind) - 1) + 1):
        same = kind[distance:] == kind[:-distance]
        unique[distance:] &= ~same
        unique[:-distance] &= ~same
    return unique
