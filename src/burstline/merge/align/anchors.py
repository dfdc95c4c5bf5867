"""Collectives of several runs, distinguished by what all threads did before each.

A collective concerns all threads, so which one of a run is which of another is the same for
all of them. Where threads, aligned each by itself, say otherwise, it is decided for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline.columns import Integers, Mask, placed, take
from burstline.identity import Tokens
from burstline.merge.align.alignment import GAP, TURN, ThreadRows, first_free
from burstline.merge.model import Alignment

Codes = npt.NDArray[np.int32]
Hashes = npt.NDArray[np.uint64]

_ENOUGH: Final = 0.8
"""Share of collectives before which lies what lies before some in all runs, of the run that
has the fewest."""
_ODDS: Final = 0.1
"""Share of the collectives that threads may match differently."""
_SIZES: Final = 1000
"""Different contents are as unlike as sizes that are powers of two; so many there are."""
_MIXER: Final = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True, eq=False)
class _RunCollectives:
    """The collectives of a run: the same on every thread that has any."""

    rows: list[Integers]
    kind: Codes
    turn: Codes
    content: list[Hashes]


def are_at_odds(
    threads: Sequence[ThreadRows], tokens: Sequence[Tokens], bounds: Sequence[Integers]
) -> bool:
    """Whether threads match collectives differently."""
    rows = [_collective_rows(*both) for both in zip(tokens, bounds, strict=True)]
    if not all(_are_common(*both) for both in zip(tokens, rows, strict=True)):
        return False
    return any(_share_at_odds(threads, rows, run) > _ODDS for run in range(len(rows)))


def _share_at_odds(
    threads: Sequence[ThreadRows], rows: Sequence[Sequence[Integers]], run: int
) -> float:
    """The share of a run's collectives that threads match differently."""
    first: Integers | None = None
    differs = np.zeros(0, bool)
    for number, thread in enumerate(threads):
        collectives = [of_run[number] for of_run in rows]
        if not len(collectives[run]):
            continue
        other = _collective_ordinals(thread.members, collectives, run)
        if first is None:
            first, differs = other, np.zeros(len(other), bool)
        else:
            differs |= (other != first).any(axis=1)
    return float(differs.mean())


def _collective_ordinals(members: Integers, rows: Sequence[Integers], leader: int) -> Integers:
    """The ordinal in each run of each collective of a run, -1 without."""
    places = []
    for run, collectives in enumerate(rows):
        place = np.searchsorted(collectives, members[:, run])
        is_collective = np.append(collectives, -2)[place] == members[:, run]
        places.append(np.where(is_collective, place, -1))
    table = np.stack(places, axis=1)
    table = table[table[:, leader] >= 0]
    return table[np.argsort(table[:, leader])]


def renamed(
    tokens: Sequence[Tokens],
    bounds: Sequence[Integers],
    order: Sequence[int],
    how: Alignment,
) -> list[Tokens] | None:
    """The tokens, with names for the collectives of all runs that say which is which."""
    runs = [_collectives_of(*both) for both in zip(tokens, bounds, strict=True)]
    content = _distinctive_contents(runs)
    if content is None:
        return None
    names = _collective_names(runs, content, order, how)
    count = np.bincount(np.concatenate(names))
    first = first_free(tokens, "label", "kind", "matter")
    return [
        _with_names(bursts, run.rows, name, first, count == len(runs))
        for bursts, run, name in zip(tokens, runs, names, strict=True)
    ]


def _collective_rows(tokens: Tokens, bounds: Integers) -> list[Integers]:
    """The bursts of each thread that come after a collective."""
    return [
        first + np.flatnonzero(tokens.divides[first:last]) for first, last in bounds.tolist()
    ]


def _are_common(tokens: Tokens, rows: Sequence[Integers]) -> bool:
    """Whether several threads have collectives, and all of these the same ones."""
    threads = [thread for thread in rows if len(thread)]
    kinds = [tokens.kind[thread] for thread in threads]
    return len(threads) > 1 and all(np.array_equal(kinds[0], other) for other in kinds[1:])


def _collectives_of(tokens: Tokens, bounds: Integers) -> _RunCollectives:
    """The collectives of a run, and what lies before them, on all threads."""
    thread_rows = zip(_collective_rows(tokens, bounds), bounds[:, 0].tolist(), strict=True)
    threads = [(rows, first) for rows, first in thread_rows if len(rows)]
    rows = threads[0][0]
    kind = tokens.kind[rows]
    turn = np.zeros(len(rows), np.int32) if tokens.turn is None else tokens.turn[rows]
    is_ordered = tokens.unordered == -1
    content = []
    for codes, counts in (
        (tokens.label, np.ones(len(is_ordered), bool)),
        (tokens.label, is_ordered),
        (tokens.kind, is_ordered),
    ):
        hashed = np.zeros(len(rows), np.uint64)
        for other, first in threads:
            part = slice(first, int(other[-1]) + 1)
            hashed += _content_hashes(codes[part], other - first, counts[part])
        content.append(hashed)
    return _RunCollectives([other for other, _ in threads], kind, turn, content)


def _content_hashes(codes: Codes, ends: Integers, counts: Mask) -> Hashes:
    """A hash of what a thread did from one collective to the next, in any order."""
    hashed = (codes.astype(np.uint64) + np.uint64(1)) * _MIXER
    hashed ^= hashed >> np.uint64(29)
    hashed *= hashed
    hashed[~counts] = 0
    hashed[ends] = 0
    return np.diff(np.cumsum(hashed)[ends], prepend=np.uint64(0))


def _distinctive_contents(runs: Sequence[_RunCollectives]) -> list[Codes] | None:
    """Numbers for what lies before collectives: the content that most runs share."""
    best, most = None, (0.0, 0.0)
    for contents in zip(*(run.content for run in runs), strict=True):
        shared = contents[0]
        for other in contents[1:]:
            shared = np.intersect1d(shared, other)
        least = min(map(len, contents))
        share = min(
            float(np.isin(content, shared).mean())
            for content in contents
            if len(content) == least
        )
        score = share * len(shared), share
        if share > _ENOUGH and score > most:
            best, most = contents, score
    if best is None:
        return None
    return _dense_numbers(best)


def _dense_numbers(parts: Sequence[npt.NDArray[np.generic]]) -> list[Codes]:
    """The values of all parts as positions among those that occur."""
    _, numbers = np.unique(np.concatenate(parts), return_inverse=True)
    return np.split(numbers.astype(np.int32), np.cumsum([len(part) for part in parts])[:-1])


def _collective_names(
    runs: Sequence[_RunCollectives],
    content: Sequence[Codes],
    order: Sequence[int],
    how: Alignment,
) -> list[Integers]:
    """A number for each collective of each run, equal where collectives are the same."""
    kinds = 1 + max(int(run.kind.max()) for run in runs)
    columns = [
        np.stack([codes.astype(np.int64) * kinds + run.kind, run.kind, codes, run.turn])
        for run, codes in zip(runs, content, strict=True)
    ]
    for rows, labels in zip(
        columns, _dense_numbers([rows[0] for rows in columns]), strict=True
    ):
        rows[0] = labels
    names: list[Integers] = [np.zeros(0, np.int64) for _ in runs]
    common = columns[order[0]]
    name = np.arange(common.shape[1])
    names[order[0]] = name
    for run in order[1:]:
        other = columns[run]
        same = _aligned_collectives(common, other, how)
        matched = np.flatnonzero(same >= 0)
        place = placed(matched, same[matched], other.shape[1], -1)
        new = np.flatnonzero(place < 0)
        after = np.maximum.accumulate(place)[new]
        names[run] = take(name, place)
        names[run][new] = len(name) + np.arange(len(new))
        joined = np.argsort(np.concatenate([np.arange(len(name)), after + 0.5]), kind="stable")
        name = np.concatenate([name, names[run][new]])[joined]
        common = np.concatenate([common, other[:, new]], axis=1)[:, joined]
    return names


def _aligned_collectives(common: Integers, other: Integers, how: Alignment) -> Integers:
    """The place in `other` of each collective of `common`, -1 without."""

    def tokens(columns: Integers) -> tuple[npt.NDArray[np.generic], ...]:
        label, kind, content, turn = columns.astype(np.int32, order="C")
        place, gap = np.zeros(len(label)), np.full(len(label), GAP)
        return label, kind, place, np.exp2(content % _SIZES), gap, turn

    size, limit = how.weights.size, how.weights.limit
    return _core.align(
        tokens(common), tokens(other), 0.0, size,
        most=0.0, limit=limit, turn=TURN, window=how.window,
    )  # fmt: skip


def _with_names(
    tokens: Tokens, rows: Sequence[Integers], name: Integers, first: int, shared: Mask
) -> Tokens:
    label, kind, matter = tokens.label.copy(), tokens.kind.copy(), tokens.matter.copy()
    divides = tokens.divides.copy()
    for thread in rows:
        label[thread] = kind[thread] = matter[thread] = first + name
        divides[thread] = shared[name]
    return replace(tokens, label=label, kind=kind, matter=matter, divides=divides)
