"""Collectives of several runs, told apart by what all threads did before each.

::

    Tokens of all runs  --aligned thread by thread-->  are_at_odds: which collective is which?
                        --renamed-->                   Tokens whose collectives have own names

A collective concerns all threads, so which one of a run is which of another is the same for
all of them. Where threads, aligned each by itself, say otherwise, it is decided for all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import _core
from burstline.merge.align.alignment import GAP, TURN

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from burstline.columns import Integers, Mask
    from burstline.identity import Tokens
    from burstline.merge.align.alignment import LaneRows
    from burstline.merge.model import Alignment

    Codes = npt.NDArray[np.int32]
    Hashes = npt.NDArray[np.uint64]

_ENOUGH: Final = 0.8
"""Share of collectives before which lies what lies before some in all runs, of the run that
has the fewest."""
_ODDS: Final = 0.1
"""Share of the collectives of which threads may say different things."""
_SIZES: Final = 1000
"""Different contents are as unlike as sizes that are powers of two; so many there are."""
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """The collectives of a run: the same on every thread that has any."""

    rows: list[Integers]
    kind: Codes
    turn: Codes
    content: list[Hashes]


def are_at_odds(
    found: Sequence[LaneRows], tokens: Sequence[Tokens], lanes: Sequence[Integers]
) -> bool:
    """Whether threads say different things of which collective is which.

    O(bursts · log collectives) time for each run.

    >>> from burstline.merge.align.alignment import align_lane
    >>> from burstline.merge import Alignment
    >>> from burstline.identity import tokens_of
    >>> from burstline.testing import trace_of
    >>> step = "{0} enter MPI_Barrier | {1} leave"
    >>> calls = " | ".join(step.format(10 * k, 10 * k + 4) for k in range(4))
    >>> run = trace_of(f"ranks 2 | 0 | {calls} | 1 | {calls}")
    >>> tokens, lanes = (
    ...     tokens_of([run, run], [None, None]).tokens,
    ...     [np.array([[0, 3], [3, 6]])] * 2,
    ... )
    >>> both = [(tuple(lane),) * 2 for lane in lanes[0].tolist()]
    >>> found = [align_lane(tokens, lane, [0, 1], Alignment()) for lane in both]
    >>> are_at_odds(found, tokens, lanes)
    False
    """
    rows = [_rows(*both) for both in zip(tokens, lanes, strict=True)]
    if not all(_are_common(one, own) for one, own in zip(tokens, rows, strict=True)):
        return False
    return any(_odd(found, rows, run) > _ODDS for run in range(len(rows)))


def _odd(found: Sequence[LaneRows], rows: Sequence[Sequence[Integers]], run: int) -> float:
    """The share of a run's collectives of which threads say different things."""
    said: Integers | None = None
    is_odd = np.zeros(0, bool)
    for lane, one in enumerate(found):
        own = [lanes[lane] for lanes in rows]
        if not len(own[run]):
            continue
        other = _ordinals(one.members, own, run)
        if said is None:
            said, is_odd = other, np.zeros(len(other), bool)
        else:
            is_odd |= (other != said).any(axis=1)
    return float(is_odd.mean())


def _ordinals(members: Integers, rows: Sequence[Integers], leader: int) -> Integers:
    """For each collective of a run its ordinal in each run, or -1."""
    places = []
    for run, own in enumerate(rows):
        place = np.searchsorted(own, members[:, run])
        is_own = np.append(own, -2)[place] == members[:, run]
        places.append(np.where(is_own, place, -1))
    table = np.stack(places, axis=1)
    table = table[table[:, leader] >= 0]
    return table[np.argsort(table[:, leader])]


def renamed(
    tokens: Sequence[Tokens],
    lanes: Sequence[Integers],
    order: Sequence[int],
    how: Alignment,
) -> list[Tokens] | None:
    """Names for the collectives of all runs that say which is which.

    Those that all runs have still divide what is around them, and none of them is left out.

    O(bursts · log bursts) time, and the named columns of all bursts again.

    >>> from burstline.merge import Alignment
    >>> from burstline.identity import tokens_of
    >>> from burstline.testing import trace_of
    >>> step = "{0} enter MPI_Barrier | {1} leave"
    >>> calls = " | ".join(step.format(10 * k, 10 * k + 4) for k in range(4))
    >>> run = trace_of(f"ranks 2 | 0 | {calls} | 1 | {calls}")
    >>> lanes = [np.array([[0, 3], [3, 6]])] * 2
    >>> [one, _] = renamed(
    ...     tokens_of([run, run], [None, None]).tokens, lanes, [0, 1], Alignment()
    ... )
    >>> one.label.tolist()
    [1, 2, 3, 1, 2, 3]
    """
    runs = [_run(*both) for both in zip(tokens, lanes, strict=True)]
    content = _telling(runs)
    if content is None:
        return None
    names = _named(runs, content, order, how)
    count = np.bincount(np.concatenate(names))
    codes = [code for one in tokens for code in (one.label, one.kind, one.matter)]
    first = 1 + max(int(code.max(initial=0)) for code in codes)
    return [
        _renamed(one, run.rows, name, first, count == len(runs))
        for one, run, name in zip(tokens, runs, names, strict=True)
    ]


def _rows(tokens: Tokens, lanes: Integers) -> list[Integers]:
    """Find the bursts of each thread that a collective is before."""
    return [
        first + np.flatnonzero(tokens.divides[first:last]) for first, last in lanes.tolist()
    ]


def _are_common(tokens: Tokens, rows: Sequence[Integers]) -> bool:
    """Whether several threads have collectives, and all of these the same ones."""
    own = [lane for lane in rows if len(lane)]
    kinds = [tokens.kind[lane] for lane in own]
    return len(own) > 1 and all(np.array_equal(kinds[0], other) for other in kinds[1:])


def _run(tokens: Tokens, lanes: Integers) -> _Run:
    """Describe the collectives of a run, and what lies before them, on all threads."""
    found = zip(_rows(tokens, lanes), lanes[:, 0].tolist(), strict=True)
    own = [(rows, first) for rows, first in found if len(rows)]
    rows = own[0][0]
    kind = tokens.kind[rows]
    turn = np.zeros(len(rows), np.int32) if tokens.turn is None else tokens.turn[rows]
    content = [np.zeros(len(rows), np.uint64) for _ in range(3)]
    for other, first in own:
        part = slice(int(first), int(other[-1]) + 1)
        is_ordered = tokens.unordered[part] == -1
        ends = other - int(first)
        content[0] += _between(tokens.label[part], ends, np.ones(len(is_ordered), bool))
        content[1] += _between(tokens.label[part], ends, is_ordered)
        content[2] += _between(tokens.kind[part], ends, is_ordered)
    return _Run([other for other, _ in own], kind, turn, content)


def _between(codes: Codes, ends: Integers, counts: Mask) -> Hashes:
    """Hash what a thread did from one collective to the next, in any order."""
    hashed = (codes.astype(np.uint64) + np.uint64(1)) * _ODD
    hashed ^= hashed >> np.uint64(29)
    hashed *= hashed
    hashed[~counts] = 0
    hashed[ends] = 0
    return np.diff(np.cumsum(hashed)[ends], prepend=np.uint64(0))


def _telling(runs: Sequence[_Run]) -> list[Codes] | None:
    """Numbers for what lies before collectives: what most have, and what tells most."""
    best, most = None, (0.0, 0.0)
    for found in zip(*(run.content for run in runs), strict=True):
        shared = found[0]
        for other in found[1:]:
            shared = np.intersect1d(shared, other)
        least = min(map(len, found))
        share = min(float(np.isin(one, shared).mean()) for one in found if len(one) == least)
        told = share * len(shared), share
        if share > _ENOUGH and told > most:
            best, most = found, told
    if best is None:
        return None
    _, numbers = np.unique(np.concatenate(best), return_inverse=True)
    return np.split(numbers.astype(np.int32), np.cumsum([len(one) for one in best])[:-1])


def _named(
    runs: Sequence[_Run], content: Sequence[Codes], order: Sequence[int], how: Alignment
) -> list[Integers]:
    """A number for each collective of each run, equal where collectives are the same."""
    kinds = 1 + max(int(run.kind.max()) for run in runs)
    columns = [
        np.stack([own.astype(np.int64) * kinds + run.kind, run.kind, own, run.turn])
        for run, own in zip(runs, content, strict=True)
    ]
    _, labels = np.unique(np.concatenate([one[0] for one in columns]), return_inverse=True)
    begin = 0
    for one in columns:
        one[0] = labels[begin : begin + one.shape[1]]
        begin += one.shape[1]
    names: list[Integers] = [np.zeros(0, np.int64) for _ in runs]
    common = columns[order[0]]
    name = np.arange(common.shape[1])
    names[order[0]] = name
    for run in order[1:]:
        other = columns[run]
        same = _aligned(common, other, how)
        matched = np.flatnonzero(same >= 0)
        own = np.full(other.shape[1], -1)
        own[same[matched]] = matched
        new = np.flatnonzero(own < 0)
        after = np.maximum.accumulate(own)[new]
        own[own >= 0] = name[own[own >= 0]]
        own[new] = len(name) + np.arange(len(new))
        names[run] = own
        kept = np.argsort(np.concatenate([np.arange(len(name)), after + 0.5]), kind="stable")
        name = np.concatenate([name, own[new]])[kept]
        common = np.concatenate([common, other[:, new]], axis=1)[:, kept]
    return names


def _aligned(common: Integers, other: Integers, how: Alignment) -> Integers:
    """Align two sequences of collectives: label, kind, content, turn."""

    def tokens(columns: Integers) -> tuple[npt.NDArray[np.generic], ...]:
        label, kind, content, turn = columns
        length = len(label)
        return (
            label.astype(np.int32),
            kind.astype(np.int32),
            np.zeros(length),
            np.exp2(content % _SIZES),
            np.full(length, GAP),
            turn.astype(np.int32),
        )

    weights = how.weights
    return _core.align(
        tokens(common),
        tokens(other),
        place=0.0,
        size=weights.size,
        most=0.0,
        limit=weights.limit,
        turn=TURN,
        window=how.window,
    )


def _renamed(
    tokens: Tokens, rows: Sequence[Integers], name: Integers, first: int, shared: Mask
) -> Tokens:
    label, kind, matter = tokens.label.copy(), tokens.kind.copy(), tokens.matter.copy()
    divides = tokens.divides.copy()
    for own in rows:
        label[own] = kind[own] = matter[own] = first + name
        divides[own] = shared[name]
    return replace(tokens, label=label, kind=kind, matter=matter, divides=divides)
