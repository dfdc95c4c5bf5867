"""The published matching: patterns first, then the most similar between two collectives.

After Orteu Aubach, Banchelli, Clascà Ramírez, Garcia-Gasulla, "Heuristic-Based Merging of
HPC Traces to Extend Hardware Counter Coverage". Open in it, and our choice: one reference
run for all threads, the one with the fewest bursts left after the first stage, ties to the
earlier one; for groups that it lacks the earliest run that has them; the place in a span is
in time; a partner that no call names equals another that none names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline.columns import Floats, Integers, Mask
from burstline.errors import require_extra
from burstline.identity import Tokens
from burstline.merge.align.alignment import GAP, first_free
from burstline.merge.model import LEAST_WINDOW, STAGES, Published, Weights

Columns = tuple[npt.NDArray[Any], ...]


class ComparedBursts(NamedTuple):
    """What S compares of some bursts; arrays of two sides broadcast against each other."""

    place: Floats  # where in its span each is, from 0 to 1
    # bytes that the calls moved whose sizes count: before, or before and after
    sizes: Sequence[Floats]
    partners: Sequence[npt.NDArray[Any]]  # of the calls whose partners count, -1 for none


def unlikeness(ours: ComparedBursts, theirs: ComparedBursts, weights: Weights) -> Floats:
    """S of pairs of bursts.

    >>> import numpy as np
    >>> from burstline.merge import Weights
    >>> our = ComparedBursts(np.array([0.5]), [np.array([8.0])], [np.array([1])])
    >>> their = ComparedBursts(np.array([0.5]), [np.array([4.0])], [np.array([1])])
    >>> float(unlikeness(our, their, Weights(place=0.6, size=0.2, partner=0.2))[0])
    0.1
    """
    cost = weights.place * np.abs(ours.place - theirs.place)
    for our, their in zip(ours.sizes, theirs.sizes, strict=True):
        size = np.abs(our - their) / np.maximum(np.maximum(our, their), 1.0)
        cost = cost + weights.size * size / len(ours.sizes)
    for our, their in zip(ours.partners, theirs.partners, strict=True):
        cost = cost + weights.partner * (our != their) / len(ours.partners)
    return np.asarray(cost)


def pair_optimally(ours: Columns, theirs: Columns, how: Published) -> Integers:
    """Their burst for each of ours, -1 without: most pairs under the limit, of least sum."""
    require_extra("scipy.optimize", "ml", "an optimal assignment")
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 -- an extra

    same = np.full(len(ours[1]), -1, np.int64)
    for our, their in _pairs_of_blocks(ours[0], theirs[0], how.block):
        cost = unlikeness(
            _compared_rows(ours, our[:, None], how),
            _compared_rows(theirs, their, how),
            how.weights,
        )
        allowed = cost < how.weights.limit
        # higher than the sum of all allowed costs, so that as many as possible are matched
        dear = 1.0 + how.weights.limit * min(cost.shape)
        rows, columns = linear_sum_assignment(np.where(allowed, cost, dear))
        is_pair = allowed[rows, columns]
        same[our[rows[is_pair]]] = their[columns[is_pair]]
    return same


def _pairs_of_blocks(
    ours: Integers, theirs: Integers, block: int
) -> list[tuple[Integers, Integers]]:
    """The places of both sides in each block: groups are cut so that no side is longer."""
    blocks = []
    groups = zip(ours[:-1], ours[1:], theirs[:-1], theirs[1:], strict=True)
    for first, last, begin, end in groups:
        if first == last or begin == end:
            continue
        count = -(-max(last - first, end - begin) // block)
        parts = np.arange(count + 1)
        our_cuts = first + (last - first) * parts // count
        their_cuts = begin + (end - begin) * parts // count
        for k in range(count):
            our = np.arange(our_cuts[k], our_cuts[k + 1])
            their = np.arange(their_cuts[k], their_cuts[k + 1])
            if len(our) and len(their):
                blocks.append((our, their))
    return blocks


def _compared_rows(side: Columns, rows: Integers, how: Published) -> ComparedBursts:
    _, place, before, after, source, target = side
    sizes = [before[rows], after[rows]] if how.both_sizes else [before[rows]]
    return ComparedBursts(place[rows], sizes, [source[rows], target[rows]])


_STAGES: Final = tuple(STAGES.index(name) for name in ("direct", "pattern", "region"))
_NO_GROUP: Final = -1


def match_published(
    tokens: Sequence[Tokens], bounds: Sequence[Integers], how: Published
) -> tuple[Integers, npt.NDArray[np.uint8]]:
    """Members and stages of all rows, matched by patterns and similarity."""
    runs = [_RunBursts.of(*both) for both in zip(tokens, bounds, strict=True)]
    parts = [_rows_by_position(runs), _rows_by_pattern(runs)]
    for run in runs[1:] if how.aligned_spans else ():
        for ours, theirs in zip(runs[0].parts(), run.parts(), strict=True):
            run.span[theirs] = _spans_as_in(runs[0], ours, run, theirs, how)
    parts += [_rows_by_similarity(runs, how), *_rows_alone(runs)]
    stages = np.zeros(len(parts), np.uint8)
    stages[:3] = _STAGES
    return np.concatenate(parts), np.repeat(stages, [len(rows) for rows in parts])


@dataclass(slots=True, eq=False)
class _RunBursts:
    """The bursts of a run's threads, in the order of the threads all runs have."""

    tokens: Tokens
    row: Integers
    thread: Integers
    threads: int
    pattern: Integers
    span: Integers
    free: Mask

    @classmethod
    def of(cls, tokens: Tokens, bounds: Integers) -> _RunBursts:
        row = np.concatenate([np.zeros(0, np.int64), *(np.arange(*own) for own in bounds)])
        thread = np.repeat(np.arange(len(bounds)), np.diff(bounds).ravel())
        pattern = tokens.pattern[row].astype(np.int64)
        span = tokens.span[row].astype(np.int64)
        return cls(tokens, row, thread, len(bounds), pattern, span, np.ones(len(row), bool))

    def parts(self) -> list[slice]:
        """The bursts of each thread."""
        borders = np.searchsorted(self.thread, np.arange(self.threads + 1)).tolist()
        return [slice(*pair) for pair in pairwise(borders)]


def _rows_by_position(runs: list[_RunBursts]) -> Integers:
    """The rows of threads that did the same in all runs, by position; they are taken."""
    rows = [np.zeros((0, len(runs)), np.int64)]
    for parts in zip(*(run.parts() for run in runs), strict=True):
        pairs = list(zip(runs, parts, strict=True))
        first, *rest = (run.pattern[part] for run, part in pairs)
        if all(np.array_equal(first, other) for other in rest):
            rows.append(np.stack([run.row[part] for run, part in pairs], axis=1))
            for run, part in pairs:
                run.free[part] = False
    return np.concatenate(rows)


def _rows_by_pattern(runs: list[_RunBursts]) -> Integers:
    """The rows of patterns of equal frequency, by their order on a thread; they are taken."""
    patterns = first_free(runs, "pattern")
    space = runs[0].threads * patterns
    keys = [(run.thread * patterns + run.pattern)[run.free] for run in runs]
    counts = np.stack([np.bincount(key, minlength=space) for key in keys])
    equal = (counts == counts[0]).all(axis=0) & (counts[0] > 0)
    columns = []
    for run, key in zip(runs, keys, strict=True):
        free = np.flatnonzero(run.free)
        chosen = equal[key]
        order = np.argsort(key[chosen], kind="stable")
        rows = free[chosen][order]
        columns.append(run.row[rows])
        run.free[rows] = False
    return np.stack(columns, axis=1)


def _rows_by_similarity(runs: list[_RunBursts], how: Published) -> Integers:
    """The most similar rows of what is left with one pattern and span; they are taken."""
    keys = _group_keys(runs)
    groups = np.unique(np.concatenate(keys))
    rest = [
        _Leftover(
            run, np.flatnonzero(run.free)[key >= 0], np.searchsorted(groups, key[key >= 0])
        )
        for run, key in zip(runs, keys, strict=True)
    ]
    has = np.stack([np.bincount(side.group, minlength=len(groups)) > 0 for side in rest])
    reference = int(np.argmin([len(side.group) for side in rest]))
    leading = np.where(has[reference], reference, np.argmax(has, axis=0))
    shared = has.sum(axis=0) >= 2
    parts = [np.zeros((0, len(runs)), np.int64)]
    for leader in dict.fromkeys([reference, *range(len(runs))]):
        chosen = shared & (leading == leader)
        if chosen.any():
            parts.append(_matched_to(leader, [side.of(chosen) for side in rest], how))
    members = np.concatenate(parts)
    for number, run in enumerate(runs):
        taken = members[:, number]
        run.free &= ~np.isin(run.row, taken[taken >= 0])
    return members


def _group_keys(runs: list[_RunBursts]) -> list[Integers]:
    """Thread, span and pattern of what is left as a number; -1: no such span."""
    spans, patterns = first_free(runs, "span"), first_free(runs, "pattern")
    keys = []
    for run in runs:
        key = (run.thread * spans + run.span) * patterns + run.pattern
        keys.append(np.where(run.span >= 0, key, _NO_GROUP)[run.free])
    return keys


@dataclass(frozen=True, slots=True, eq=False)
class _Leftover:
    """What the first stage left of a run: places among its bursts, and their groups."""

    run: _RunBursts
    place: Integers
    group: Integers

    def of(self, chosen: Mask) -> tuple[Integers, Columns]:
        """The bursts of some groups, group after group, in the order of their places."""
        is_chosen = chosen[self.group]
        group = (np.cumsum(chosen) - 1)[self.group[is_chosen]]
        rows = self.run.row[self.place[is_chosen]]
        tokens = self.run.tokens
        order = np.lexsort((rows, tokens.place[rows], group))
        group, rows = group[order], rows[order]
        begin = np.searchsorted(group, np.arange(np.count_nonzero(chosen) + 1))
        sizes = (size[rows] for size in tokens.sizes)
        partners = (partner[rows] for partner in tokens.partners)
        return rows, (begin.astype(np.int64), tokens.place[rows], *sizes, *partners)


def _matched_to(leader: int, sides: list[tuple[Integers, Columns]], how: Published) -> Integers:
    """The rows of all runs that match bursts of the leading one."""
    rows, columns = sides[leader]
    members = np.full((len(rows), len(sides)), -1, np.int64)
    members[:, leader] = rows
    for run, (other_rows, other_columns) in enumerate(sides):
        if run != leader:
            same = _most_similar(columns, other_columns, how)
            members[same >= 0, run] = other_rows[same[same >= 0]]
    return members[(members >= 0).sum(axis=1) >= 2]


def _most_similar(ours: Columns, theirs: Columns, how: Published) -> Integers:
    if how.assignment == "optimal":
        return pair_optimally(ours, theirs, how)
    weights = asdict(how.weights)
    return _core.pair_alike(ours, theirs, **weights, both_sizes=how.both_sizes, block=how.block)


def _spans_as_in(
    ours: _RunBursts, part: slice, run: _RunBursts, their_part: slice, how: Published
) -> Integers:
    """The spans of a thread by the numbers of the reference's, -1 where that has none."""
    first, second = ours.row[part], run.row[their_part]
    begins = [rows[side.tokens.divides[rows]] for side, rows in ((ours, first), (run, second))]
    columns = []
    for side, rows in zip((ours, run), begins, strict=True):
        kind, nothing = side.tokens.kind[rows], np.zeros(len(rows))
        gap, turn = np.full(len(rows), GAP), np.zeros(len(rows), np.int32)
        columns.append((kind, kind, nothing, nothing, gap, turn))
    weights = how.weights
    same = _core.align(
        columns[0], columns[1], weights.place, weights.size,
        most=0.0, limit=weights.limit, turn=0.0, window=max(how.block, LEAST_WINDOW),
    )  # fmt: skip
    numbers = np.full(len(begins[1]) + 1, _NO_GROUP)
    numbers[0] = 0
    matched = np.flatnonzero(same >= 0)
    numbers[same[matched] + 1] = matched + 1
    return numbers[run.tokens.span[second]]


def _rows_alone(runs: list[_RunBursts]) -> Iterator[Integers]:
    for number, run in enumerate(runs):
        members = np.full((int(np.count_nonzero(run.free)), len(runs)), -1, np.int64)
        members[:, number] = run.row[run.free]
        yield members
