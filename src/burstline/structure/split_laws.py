"""Split laws: by which rule of the ranks a program is parted into communicators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

from burstline.columns import AnyIntegers, Integers
from burstline.structure.partner_laws import divisors, shapes

Split = Sequence[Integers]  # the members of each communicator

_LETTERS: Final = "ijkl"


class _Rule(NamedTuple):
    """Ranks with the same number are in one communicator."""

    text: str
    part: Integers  # (ranks,) the number of each

    def holds(self, split: Split) -> bool:
        """Whether each communicator is exactly the ranks of one number."""
        sizes = np.bincount(self.part)
        for members in split:
            numbers = self.part[members]
            if (numbers != numbers[0]).any() or sizes[numbers[0]] != len(members):
                return False
        return True


def split_laws(
    splits: Sequence[Split], world: int, node: AnyIntegers | None = None
) -> list[str | None]:
    """The law of each of the splits of a program.

    Parameters
    ----------
    splits : sequence of sequences of ndarray of int, each of shape (members,)
        Of each split, the ranks in each of its communicators, those that are known.
    world : int
        Ranks there are.
    node : ndarray of int, shape (ranks,), optional
        The number of the node of each rank.

    Returns
    -------
    list of str or None
        The simplest rule of which each communicator is exactly one class; None without any.

    Notes
    -----
    Of a grid, as of 4 × 4 ranks, a split alone does not tell whether it is meant: its rows are
    also blocks of 4. Splits along each of its dimensions tell it, and are named first.

    Examples
    --------
    >>> rows = np.arange(6).reshape(2, 3)
    >>> columns = rows.T
    >>> split_laws([rows, columns], 6)
    ['same row of 2 × 3', 'same column of 2 × 3']
    >>> split_laws([rows], 6)
    ['same half']
    """  # noqa: RUF002 -- lengths of a grid have a sign of multiplication between them
    laws: list[str | None] = [None] * len(splits)
    known = [k for k, split in enumerate(splits) if _is_split(split, world)]
    for shape in _shapes_by_dimensions(world) if len(known) > 1 else ():
        rules = list(_of_grid(shape))
        told = {k: _first(rules, splits[k]) for k in known}
        if len({text for text in told.values() if text}) < len(shape):
            continue
        laws = [law or told.get(k) for k, law in enumerate(laws)]
        break
    for k in known:
        laws[k] = laws[k] or _first(_alone(splits[k], world, node), splits[k])
    return laws


def _is_split(split: Split, world: int) -> bool:
    return all(len(members) and members.max() < world for members in split)


def _first(rules: Iterator[_Rule] | Sequence[_Rule], split: Split) -> str | None:
    return next((rule.text for rule in rules if rule.holds(split)), None)


def _alone(split: Split, world: int, node: AnyIntegers | None) -> Iterator[_Rule]:
    """Rules that a split may follow of which no grid is known, the simplest first."""
    rank = np.arange(world)
    yield _Rule("all ranks", np.zeros_like(rank))
    if node is not None and 1 < len(np.unique(node)) < world:
        yield _Rule("same node", node.astype(np.int64))
    size = max(map(len, split))
    if 2 * size == world:
        yield _Rule("same half", rank // size)
        yield _Rule("same rank mod 2", rank % 2)
    if world % size == 0:
        yield from _of_grid((world // size, size))
        yield from _of_grid((size, world // size))
    yield _Rule(f"same rank div {size}", rank // size)
    for modulus in {-(-world // size), -(-world // max(size - 1, 1))}:
        yield _Rule(f"same rank mod {modulus}", rank % modulus)
    for shape in _shapes_by_dimensions(world):
        if len(shape) > 2:
            yield from _of_grid(shape, size)


def _of_grid(shape: tuple[int, ...], size: int | None = None) -> Iterator[_Rule]:
    """Rules by which some coordinates in a grid are the same: planes first, lines last."""
    dimensions = len(shape)
    places = np.unravel_index(np.arange(np.prod(shape)), shape)
    sizes = " × ".join(map(str, shape))  # noqa: RUF001 -- times
    for kept in range(1, dimensions):
        for same in combinations(range(dimensions), kept):
            lengths = [shape[k] for k in same]
            if size is not None and np.prod(shape) != size * np.prod(lengths):
                continue
            said = ", ".join(_LETTERS[k] for k in same)
            if dimensions == 2:
                said = ("row", "column")[same[0]]
            part = np.ravel_multi_index([places[k] for k in same], lengths)
            yield _Rule(f"same {said} of {sizes}", part.astype(np.int64))


def _shapes_by_dimensions(world: int) -> list[tuple[int, ...]]:
    """Shapes of at least 2 dimensions, those of few dimensions first."""
    found = [shape for shape in shapes(divisors(world), world) if len(shape) > 1]
    return sorted(found, key=lambda shape: (len(shape), shape))
