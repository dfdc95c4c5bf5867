"""Matching by aligning: what each thread did in one run, beside what it did in the others.

::

    Tokens of all runs, one thread  --align_lane-->  LaneRows: which bursts are the same

The first run is the beginning of a *common sequence*; each further run is aligned with it
and adds what it alone has. So a burst that the first run lacks is still matched among the
others. What the program does not order, completions of several requests, is put into an
order before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline import _core
from burstline.merge.model import STAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from burstline.merge.model import Alignment
    from burstline.merge.tokens import Tokens

    Integers = npt.NDArray[np.int64]
    Lane = tuple[int, int]

NEAR: Final = 3
"""Matched bursts that may lie between two bursts of one label that changed places."""
NEAR_COMPLETIONS: Final = 64
"""The same for completions, whose order is not the program's."""
_FIELDS: Final = ("label", "kind", "place", "size", "gap", "unordered")


@dataclass(frozen=True, slots=True, eq=False)
class LaneRows:
    """Which bursts of one thread are the same in which runs.

    Attributes
    ----------
    members : ndarray of int64, shape (rows, runs)
        Row of each run's table of bursts; -1 where the run has no such burst.
    stage : ndarray of uint8, shape (rows, runs)
        How the run's burst was matched to those of the runs before it: index into
        :data:`burstline.merge.model.STAGES`.
    """

    members: Integers
    stage: npt.NDArray[np.uint8]


def align_lane(
    tokens: Sequence[Tokens], lanes: Sequence[Lane], order: Sequence[int], how: Alignment
) -> LaneRows:
    """Match the bursts of one thread in all runs.

    Parameters
    ----------
    tokens : sequence of Tokens
        A run each, named in common words.
    lanes : sequence of tuple of int
        For each run, the first row of the thread's bursts, and the row after the last.
    order : sequence of int
        The runs, in the order in which they are aligned.
    how : Alignment
        How to align.

    Returns
    -------
    LaneRows
        A row for each burst that any run has, as often as it has it.

    Notes
    -----
    O(n log n) in the bursts where runs are alike, O(n · window) at worst.
    """
    if _are_direct(tokens, lanes):
        rows = np.stack([np.arange(first, last) for first, last in lanes], axis=1)
        return LaneRows(rows, np.full(rows.shape, STAGES.index("direct"), np.uint8))
    common = _Sequence.of(tokens[order[0]], lanes[order[0]], order[0], len(tokens))
    for run in order[1:]:
        other = _Sequence.of(tokens[run], lanes[run], run, len(tokens))
        common = _joined(common.sorted(), other.sorted(), run, how)
    return LaneRows(common.members, common.stage)


def _are_direct(tokens: Sequence[Tokens], lanes: Sequence[Lane]) -> bool:
    """Tell whether all runs did the same, in the same order."""
    (first, last), rest = lanes[0], zip(tokens[1:], lanes[1:], strict=True)
    kinds = tokens[0].kind[first:last]
    return all(np.array_equal(kinds, one.kind[slice(*lane)]) for one, lane in rest)


@dataclass(slots=True, eq=False)
class _Sequence:
    """Bursts of one thread in some order, with the runs that have each."""

    columns: dict[str, npt.NDArray[Any]]
    members: Integers
    stage: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, tokens: Tokens, lane: Lane, run: int, runs: int) -> _Sequence:
        part = slice(*lane)
        columns: dict[str, npt.NDArray[Any]] = {
            "label": tokens.label[part],
            "kind": tokens.kind[part],
            "place": tokens.place[part],
            "size": tokens.sizes[0][part],
            "gap": tokens.gap[part],
            "unordered": tokens.unordered[part],
        }
        members = np.full((lane[1] - lane[0], runs), -1, np.int64)
        members[:, run] = np.arange(*lane)
        return cls(columns, members, np.zeros(members.shape, np.uint8))

    def __len__(self) -> int:
        return len(self.members)

    def at(self, rows: Integers) -> _Sequence:
        columns = {name: self.columns[name][rows] for name in _FIELDS}
        return _Sequence(columns, self.members[rows], self.stage[rows])

    def sorted(self) -> _Sequence:
        """Order neighbours that the program does not order by their labels."""
        run = self.columns["unordered"]
        if not (run >= 0).any():
            return self
        new = np.ones(len(run), bool)
        new[1:] = (run[1:] != run[:-1]) | (run[1:] < 0)
        label = np.where(run >= 0, self.columns["label"], 0)
        return self.at(np.lexsort((label, np.cumsum(new))))

    def tokens(self, kind: str) -> tuple[npt.NDArray[Any], ...]:
        """Give the columns that the kernel wants, with what it may take for equal."""
        names = ("label", kind, "place", "size", "gap")
        return tuple(np.ascontiguousarray(self.columns[name]) for name in names)


def _joined(common: _Sequence, other: _Sequence, run: int, how: Alignment) -> _Sequence:
    """Align a run with the common sequence, and add what it alone has."""
    same, stage = _paired(common, other, how)
    matched = same >= 0
    common.members[matched, run] = other.members[same[matched], run]
    common.stage[matched, run] = stage[matched]
    rest = np.ones(len(other), bool)
    rest[same[matched]] = False
    # What the run alone has comes after the last burst before it that both have.
    partner = np.full(len(other), -1, np.int64)
    partner[same[matched]] = np.flatnonzero(matched)
    after = np.maximum.accumulate(partner)[rest]
    place = np.concatenate([np.arange(len(common)) + 0.0, after + 0.5])
    added = other.at(np.flatnonzero(rest))
    return _chained(common, added).at(np.argsort(place, kind="stable"))


def _chained(one: _Sequence, other: _Sequence) -> _Sequence:
    columns = {
        name: np.concatenate([one.columns[name], other.columns[name]]) for name in _FIELDS
    }
    members = np.concatenate([one.members, other.members])
    return _Sequence(columns, members, np.concatenate([one.stage, other.stage]))


def _paired(
    common: _Sequence, other: _Sequence, how: Alignment
) -> tuple[Integers, npt.NDArray[np.uint8]]:
    """Give for each burst of the common sequence its place in the other, and how found."""
    weights = how.weights
    same = _core.align(
        common.tokens("label"),
        other.tokens("label"),
        place=weights.place,
        size=weights.size,
        most=weights.place / 60,
        limit=weights.limit,
        window=how.window,
    )
    stage = np.where(same >= 0, STAGES.index("aligned"), 0).astype(np.uint8)
    for name, key, tolerance in (("moved", "label", 0.0), ("similar", "kind", 1.0)):
        found = _pair_rest(common, other, same, key, tolerance)
        stage[found] = STAGES.index(name)
    return same, stage


def _pair_rest(
    common: _Sequence, other: _Sequence, same: Integers, key: str, tolerance: float
) -> Integers:
    """Match what was left over to what is near it; changes `same` where it did."""
    matched = same >= 0
    taken = np.zeros(len(other), bool)
    taken[same[matched]] = True
    ours, theirs = np.flatnonzero(~matched), np.flatnonzero(~taken)
    if not len(ours) or not len(theirs):
        return np.zeros(0, np.int64)
    found = _core.pair_near(
        _left(common, matched, ours, key), _left(other, taken, theirs, key), tolerance
    )
    rows = ours[found >= 0]
    same[rows] = theirs[found[found >= 0]]
    return rows


def _left(
    sequence: _Sequence, matched: npt.NDArray[np.bool_], rows: Integers, key: str
) -> tuple[npt.NDArray[Any], ...]:
    columns = sequence.columns
    reach = np.where(columns["unordered"][rows] >= 0, NEAR_COMPLETIONS, NEAR).astype(np.int64)
    ordinal = np.cumsum(matched)[rows].astype(np.int64)
    return columns[key][rows], ordinal, reach, columns["size"][rows]
