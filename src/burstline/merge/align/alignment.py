"""Matching by aligning: what each thread did in one run, beside what it did in the others.

The first run is the beginning of a *common sequence*; each further run is aligned with it
and adds what it alone has, so that what the first run lacks is still matched among the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline.columns import Floats, Integers, Mask, begins_run, mask_at, placed
from burstline.identity import Tokens
from burstline.merge.model import STAGES, Alignment

Thread = tuple[int, int]
"""The first row of a thread's bursts in a run, and the one behind the last."""

NEAR: Final = 3
"""Matched bursts that may lie between two bursts of one label that changed places."""
FAR: Final = 64
"""The same for completions, whose order is not the program's; and, between two collectives,
for loose bursts whose label nothing else in as many bursts around has."""
GAP: Final = 0.15
"""What it costs to leave out a burst: two together are as dear as a match may be."""
DIVIDING_GAP: Final = 0.5
"""The same for one that a collective is before: all ranks would have to miss it."""
NEVER: Final = 100.0
"""What it costs to leave out a burst that must be in both."""
_MOST_OF_PLACE: Final = 1 / 60
"""Of the weight of a place: it decides between what is else alike, and outweighs nothing."""
TURN: Final = 0.02
"""What it costs that turns of loops differ, unless they did before."""


class _RestRule(NamedTuple):
    """How what was left over is matched: by what, how unlike in size, how far away."""

    stage: str
    key: str
    tolerance: float
    near: int


# What is nearest comes first: one that is left over must not shift all behind it.
_RESTS: Final = (
    *(_RestRule("moved", "label", 0.0, near) for near in (0, NEAR, FAR)),
    *(_RestRule("similar", "kind", 1.0, near) for near in (0, NEAR, FAR)),
    _RestRule("similar", "matter", 0.0, FAR),
)


@dataclass(frozen=True, slots=True, eq=False)
class ThreadRows:
    """Which bursts of one thread are the same in which runs."""

    # (rows, runs) row of each run's table of bursts; -1 where the run has no such burst
    members: Integers
    # (rows, runs) how the run's burst was matched to those of the runs before it: index into
    # :data:`burstline.merge.STAGES`
    stage: npt.NDArray[np.uint8]


def have_same_collectives(tokens: Sequence[Tokens], threads: Sequence[Integers]) -> bool:
    """Whether every thread has the same collectives in all runs, one after the other."""

    def collectives(tokens: Tokens, threads: Integers) -> Iterator[npt.NDArray[np.int32]]:
        for first, last in threads.tolist():
            yield tokens.kind[first:last][tokens.divides[first:last]]

    runs = [collectives(*both) for both in zip(tokens, threads, strict=True)]
    return all(
        np.array_equal(kinds, other)
        for kinds, *rest in zip(*runs, strict=True)
        for other in rest
    )


def align_thread(
    tokens: Sequence[Tokens],
    threads: Sequence[Thread],
    order: Sequence[int],
    how: Alignment,
    *,
    anchored: bool = False,
) -> ThreadRows:
    """The matched bursts of one thread in all runs, aligned in the order of `order`."""
    if _are_equal(tokens, threads, "kind"):
        return _by_position(threads, "direct")
    handed_out = _are_handed_out(tokens, threads)
    if handed_out and _are_equal(tokens, threads, "matter"):  # with any partners
        return _by_position(threads, "aligned")
    free = first_free(tokens, "label", "kind") if handed_out else None
    common = _Sequence.of(tokens[order[0]], threads[order[0]], order[0], len(tokens), free)
    for run in order[1:]:
        other = _Sequence.of(tokens[run], threads[run], run, len(tokens), free)
        common = _with_run(common.sorted(), other.sorted(), run, how, anchored=anchored)
    return ThreadRows(common.members, common.stage)


def _are_equal(tokens: Sequence[Tokens], threads: Sequence[Thread], name: str) -> bool:
    """Whether a column of a thread's tokens is the same in all runs."""
    pairs = zip(tokens, threads, strict=True)
    first, *rest = (getattr(run, name)[slice(*thread)] for run, thread in pairs)
    return all(np.array_equal(first, other) for other in rest)


def _are_handed_out(tokens: Sequence[Tokens], threads: Sequence[Thread]) -> bool:
    """Whether a thread sent the same in the same order, but to other partners."""
    sent = []
    for run, thread in zip(tokens, threads, strict=True):
        part = slice(*thread)
        if (run.unordered[part] >= 0).any():
            return False
        sends = run.sends[part]
        sent.append((run.matter[part][sends], run.partners[0][part][sends]))
    (matter, partner), *rest = sent
    if not len(matter) or not all(np.array_equal(matter, other) for other, _ in rest):
        return False
    return any((other != partner).any() for _, other in rest)


def first_free(runs: Sequence[object], *names: str) -> int:
    """A number from which on no burst has one in some columns."""
    return 1 + max(int(getattr(run, name).max(initial=0)) for run in runs for name in names)


def _by_position(threads: Sequence[Thread], stage: str) -> ThreadRows:
    rows = np.stack([np.arange(first, last) for first, last in threads], axis=1)
    return ThreadRows(rows, np.full(rows.shape, STAGES.index(stage), np.uint8))


@dataclass(slots=True, eq=False)
class _Sequence:
    """Bursts of one thread in some order, with the runs that have each."""

    columns: dict[str, npt.NDArray[Any]]
    members: Integers
    stage: npt.NDArray[np.uint8]

    @classmethod
    def of(
        cls, tokens: Tokens, thread: Thread, run: int, runs: int, free: int | None = None
    ) -> _Sequence:
        """The bursts of a thread; from `free` on, sends are named by what they sent."""
        part = slice(*thread)
        label, kind = tokens.label[part], tokens.kind[part]
        if free is not None:
            sent, sends = tokens.matter[part] + np.int32(free), tokens.sends[part]
            label, kind = np.where(sends, sent, label), np.where(sends, sent, kind)
        columns: dict[str, npt.NDArray[Any]] = {
            "label": label,
            "kind": kind,
            "matter": tokens.matter[part],
            "place": tokens.place[part],
            "size": tokens.sizes[0][part],
            "gap": np.where(tokens.divides[part], DIVIDING_GAP, GAP),
            "unordered": tokens.unordered[part],
            "turn": np.zeros(thread[1] - thread[0], np.int32)
            if tokens.turn is None
            else tokens.turn[part],
        }
        members = np.full((thread[1] - thread[0], runs), -1, np.int64)
        members[:, run] = np.arange(*thread)
        return cls(columns, members, np.zeros(members.shape, np.uint8))

    def __len__(self) -> int:
        return len(self.members)

    def take(self, rows: Integers) -> _Sequence:
        columns = {name: column[rows] for name, column in self.columns.items()}
        return _Sequence(columns, self.members[rows], self.stage[rows])

    def sorted(self) -> _Sequence:
        """The bursts, with neighbours that the program does not order sorted by label."""
        run = self.columns["unordered"]
        if not (run >= 0).any():
            return self
        new = begins_run(run) | (run < 0)
        kind, label = (np.where(run >= 0, self.columns[n], 0) for n in ("kind", "label"))
        return self.take(np.lexsort((label, kind, np.cumsum(new))))

    def anchored(self) -> _Sequence:
        """The bursts, with collectives that may not be left out."""
        gap = self.columns["gap"]
        gap = np.where(gap == DIVIDING_GAP, NEVER, gap)
        return _Sequence(self.columns | {"gap": gap}, self.members, self.stage)

    def tokens(self) -> tuple[npt.NDArray[Any], ...]:
        """The columns that the kernel wants, with labels for what it may take for equal."""
        names = ("label", "label", "place", "size", "gap", "turn")
        return tuple(np.ascontiguousarray(self.columns[name]) for name in names)


def _with_run(
    common: _Sequence, other: _Sequence, run: int, how: Alignment, *, anchored: bool
) -> _Sequence:
    """The common sequence, with a run aligned to it and what that run alone has."""
    same, stage = _partners_and_stages(common, other, how, anchored=anchored)
    matched = same >= 0
    common.members[matched, run] = other.members[same[matched], run]
    common.stage[matched, run] = stage[matched]
    rest = np.ones(len(other), bool)
    rest[same[matched]] = False
    # What the run alone has comes after the last burst before it that both have.
    partner = placed(np.flatnonzero(matched), same[matched], len(other), -1)
    after = np.maximum.accumulate(partner)[rest]
    place = np.concatenate([np.arange(len(common)) + 0.0, after + 0.5])
    added = other.take(np.flatnonzero(rest))
    columns = {
        name: np.concatenate([column, added.columns[name]])
        for name, column in common.columns.items()
    }
    members = np.concatenate([common.members, added.members])
    both = _Sequence(columns, members, np.concatenate([common.stage, added.stage]))
    return both.take(np.argsort(place, kind="stable"))


def _partners_and_stages(
    common: _Sequence, other: _Sequence, how: Alignment, *, anchored: bool
) -> tuple[Integers, npt.NDArray[np.uint8]]:
    """The place in the other sequence of each burst of the common one, and its stage."""
    weights = how.weights
    if anchored:
        common, other = common.anchored(), other.anchored()
    same = _core.align(
        common.tokens(), other.tokens(), weights.place, weights.size,
        most=weights.place * _MOST_OF_PLACE, limit=weights.limit, turn=TURN, window=how.window,
    )  # fmt: skip
    stage = np.where(same >= 0, STAGES.index("aligned"), 0).astype(np.uint8)
    for rest in _RESTS:
        rows = _add_rest(common, other, same, rest)
        stage[rows] = STAGES.index(rest.stage)
    return same, stage


def _add_rest(common: _Sequence, other: _Sequence, same: Integers, how: _RestRule) -> Integers:
    """The rows that were left over and match what is near; their partners go into `same`."""
    matched = same >= 0
    taken = mask_at(same[matched], len(other))
    if matched.all() or taken.all():
        return np.zeros(0, np.int64)
    ours = _Left.of(common, matched, how)
    theirs = _Left.of(other, taken, how)
    if how.near == FAR:
        alone = np.intersect1d(ours.key[ours.is_alone], theirs.key[theirs.is_alone])
        ours, theirs = (
            side.where(
                (side.is_alone & np.isin(side.key, alone))
                | (how.key != "matter") & side.unordered
            )
            for side in (ours, theirs)
        )
    if not len(ours.rows) or not len(theirs.rows):
        return np.zeros(0, np.int64)
    partner = _core.pair_near(ours.columns(how.near), theirs.columns(how.near), how.tolerance)
    rows = ours.rows[partner >= 0]
    same[rows] = theirs.rows[partner[partner >= 0]]
    return rows


class _Left(NamedTuple):
    """Bursts that were left over: their keys, and how many matched ones precede them."""

    rows: Integers
    key: npt.NDArray[np.int32]
    ordinal: Integers
    size: Floats
    unordered: Mask
    is_alone: Mask

    @classmethod
    def of(cls, sequence: _Sequence, matched: Mask, how: _RestRule) -> _Left:
        columns, rows = sequence.columns, np.flatnonzero(~matched)
        key, unordered = columns[how.key], columns["unordered"][rows] >= 0
        ordinal = np.cumsum(matched, dtype=np.int64)
        is_alone = np.zeros(len(rows), bool)
        if how.near == FAR:
            divides = columns["gap"] >= DIVIDING_GAP
            ordinal += (FAR + 1) * np.cumsum(matched & divides, dtype=np.int64)
            is_alone = columns["unordered"][rows] != -1
            is_alone &= _are_alone(key, np.cumsum(divides), rows)
        return cls(rows, key[rows], ordinal[rows], columns["size"][rows], unordered, is_alone)

    def where(self, chosen: Mask) -> _Left:
        return _Left._make(column[chosen] for column in self)

    def columns(self, near: int) -> tuple[npt.NDArray[Any], ...]:
        reach = np.full(len(self.rows), near, np.int64)
        return self.key, self.ordinal, reach, self.size


def _are_alone(key: npt.NDArray[np.int32], span: Integers, rows: Integers) -> Mask:
    """Mask of the rows whose key no other near them, between the same collectives, has."""
    order = np.argsort(key, kind="stable")
    near = (np.diff(key[order]) == 0) & (np.diff(span[order]) == 0) & (np.diff(order) <= FAR)
    crowded = mask_at(order[1:][near], len(key))
    crowded[order[:-1][near]] = True
    return ~crowded[rows]
