"""Partner laws: whom each rank exchanges messages with, as the source of a program says it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod
from typing import Final, NamedTuple

import numpy as np

from burstline.columns import AnyIntegers, Integers, Mask, sums_by
from burstline.structure.sequences import Messages

TRUE_SHARE: Final = 0.99
"""A law is told where it holds for this share of the messages."""

_DIMENSIONS: Final = 4
_LONGEST_PERIOD: Final = 64
_ENOUGH: Final = 4096  # messages of a rank that are looked at for a period
_REPEATS: Final = 0.9  # a wrong message is seen twice; how many there are is counted later
_FEW: Final = 8  # distances that are listed
_CALLERS: Final = 4  # fewer obey some law of a grid by chance


class Law(NamedTuple):
    """A law that partners follow, and the share of the messages that do."""

    text: str
    share: float


class _Grid(NamedTuple):
    """Ranks in a grid, the last dimension fastest, and who is a neighbour there."""

    shape: tuple[int, ...]
    periodic: bool
    diagonals: bool

    @property
    def text(self) -> str:
        if len(self.shape) == 1:
            return f"(rank±1)%{self.shape[0]}" if self.periodic else "rank±1"
        name = f"neighbours in {' × '.join(map(str, self.shape))}"  # noqa: RUF001 -- times
        name += ", periodic" if self.periodic else ""
        return name + (", with diagonals" if self.diagonals else "")

    def pairs(self, callers: Integers) -> Integers:
        """Each of some ranks with each of its neighbours, as rank · ranks + neighbour."""
        world = prod(self.shape)
        steps = np.stack(np.meshgrid(*[[-1, 0, 1]] * len(self.shape), indexing="ij"), -1)
        steps = steps.reshape(-1, len(self.shape))
        moved = np.abs(steps).sum(axis=1)
        steps = steps[(moved > 0) & (self.diagonals | (moved == 1))]
        at = np.stack(np.unravel_index(callers, self.shape), -1)[:, None] + steps
        inside = ((at >= 0) & (at < self.shape)).all(axis=2) | self.periodic
        at %= np.array(self.shape)
        neighbour = np.ravel_multi_index(tuple(np.moveaxis(at, -1, 0)), self.shape)
        pair = np.unique((callers[:, None] * world + neighbour)[inside])
        return pair[pair // world != pair % world]


def law_of_messages(messages: Messages) -> Law | None:
    """The law that the messages of one call follow, all to or all from the partners.

    The simplest one that holds for all messages, those of a caller in their order, or else for
    99 % of them; None if there is none, or one message or rank is all there is to see it in. A
    law that names one partner holds for a message if that is its partner; one that changes by
    iteration, if its turn is as well. One that names several takes the messages of a rank in
    rounds of so many, and holds for the first in its round with each of the partners: whom
    ranks choose by chance is no law, though all are chosen in the end. About linear in the
    messages, times the grids whose strides occur as distances.
    """
    told: Law | None = None
    for law in _laws(messages):
        if law.share == 1:
            return law
        if told is None and law.share >= TRUE_SHARE:
            told = law
    return told


def _laws(messages: Messages) -> Iterator[Law]:
    """Laws that may hold, the simplest first."""
    several = len(np.unique(messages.callers)) > 1  # of one, any partner is at some distance
    listed: list[Law] = []
    if several:
        if messages.most_to_one() >= TRUE_SHARE:
            yield from _laws_of_one_partner(messages)
        series, listed = _by_turn(messages)
        yield from series
    yield from _in_rounds(messages)
    yield from listed


def grid_law(
    caller: AnyIntegers, partner: AnyIntegers, world: int, times: AnyIntegers | None = None
) -> Law | None:
    """The grid whose neighbours are all pairs of ranks between which messages go, if any is."""
    pair, number = np.unique(caller.astype(np.int64) * world + partner, return_inverse=True)
    messages = sums_by(number.reshape(-1), 1 if times is None else times, len(pair))
    if len(pair) < world:
        return None  # in a grid everybody has a neighbour
    everybody = np.arange(world)
    best: Law | None = None
    for grid in _possible_grids(pair // world, pair % world, world):
        expected = grid.pairs(everybody)
        if len(expected) == world * (world - 1) or not np.isin(expected, pair).all():
            continue  # of a grid in which all are neighbours nobody sees the shape
        share = float(messages[np.isin(pair, expected)].sum() / messages.sum())
        if best is None or share > best.share:
            best = Law(grid.text, share)
    return best if best is not None and best.share >= TRUE_SHARE else None


def _laws_of_one_partner(messages: Messages) -> Iterator[Law]:
    """Laws that give each rank one partner, the simplest first."""
    caller, partner, world = messages.callers, messages.partners, messages.world
    most_frequent, share = messages.most_frequent, messages.share
    root = most_frequent(partner)
    yield Law(f"root {root}", share(partner == root))
    ahead = most_frequent(partner - caller)
    yield Law(shifted(ahead), share(partner - caller == ahead))
    around = most_frequent((partner - caller) % world)
    wrapped = f"({shifted(min(around, around - world, key=abs))})%{world}"
    yield Law(wrapped, share((partner - caller) % world == around))
    bits = most_frequent(caller ^ partner)
    yield Law(f"rank xor {bits}", share(caller ^ partner == bits))
    if len(np.unique(caller)) < _CALLERS:
        return
    yield Law(f"{world - 1}-rank", share(partner == world - 1 - caller))
    for block in (1, 2):
        for rows in divisors(world // block) if world % block == 0 else ():
            columns = world // block // rows
            row, column = np.divmod(caller // block, columns)
            holds = partner == (column * rows + row) * block + caller % block
            if min(rows, columns) > 1:
                of = " pairs" if block == 2 else ""
                yield Law(f"transpose of {rows} × {columns}{of}", share(holds))  # noqa: RUF001 -- times
    for shape in shapes(divisors(world), world):
        if len(shape) > 1:
            yield _law_of_one_step(messages, shape)


def _law_of_one_step(messages: Messages, shape: tuple[int, ...]) -> Law:
    """The law of one step from each rank in a periodic grid."""
    ends = [np.unravel_index(of, shape) for of in (messages.partners, messages.callers)]
    steps = [(there - here) % length for there, here, length in zip(*ends, shape, strict=True)]
    code = np.ravel_multi_index(tuple(steps), shape)
    most = messages.most_frequent(code)
    step = [
        int(min(value, value - length, key=abs))
        for value, length in zip(np.unravel_index(most, shape), shape, strict=True)
    ]
    sizes = " × ".join(map(str, shape))  # noqa: RUF001 -- times
    text = ", ".join(f"{value:+d}" if value else "0" for value in step)
    return Law(f"({text}) in {sizes}, periodic", messages.share(code == most))


def _in_rounds(messages: Messages) -> Iterator[Law]:
    """Laws that give each rank several partners, each once a round."""
    caller, partner, world = messages.callers, messages.partners, messages.world
    callers = np.unique(caller)
    degree = np.bincount(caller).max()
    if degree < 2:
        return
    if degree == world - 1:
        rest = (callers[:, None] * world + np.arange(world)).ravel()
        rest = rest[rest // world != rest % world]
        yield Law("all others", messages.share_in_rounds(rest, TRUE_SHARE))
    if degree > 3**_DIMENSIONS - 1:
        return
    ahead = messages.most_frequent(np.abs(partner - caller))
    both = np.stack([callers - ahead, callers + ahead], -1)
    is_rank = (both >= 0) & (both < world)
    pairs = np.unique((callers[:, None] * world + both)[is_rank])
    yield Law(f"rank±{ahead}", messages.share_in_rounds(pairs, TRUE_SHARE))
    wrapped = np.minimum((partner - caller) % world, (caller - partner) % world)
    around = messages.most_frequent(wrapped)
    both = np.stack([callers - around, callers + around], -1) % world
    pairs = np.unique(callers[:, None] * world + both)
    yield Law(f"(rank±{around})%{world}", messages.share_in_rounds(pairs, TRUE_SHARE))
    if len(callers) >= _CALLERS:
        for grid in _possible_grids(caller, partner, world):
            yield Law(grid.text, messages.share_in_rounds(grid.pairs(callers), TRUE_SHARE))


def _by_turn(messages: Messages) -> tuple[list[Law], list[Law]]:
    """Laws whose one partner changes by execution, the same on all ranks: series, and lists."""
    if not messages.vary:
        return [], []
    caller, partner, world = messages.callers, messages.partners, messages.world
    busiest, seen = messages.of_busiest(_ENOUGH)
    series: list[Law] = []
    listed: list[Law] = []
    for distance, of_busiest, text in (
        ((partner - caller) % world, (seen - busiest) % world, f"(rank+{{}})%{world}"),
        (caller ^ partner, busiest ^ seen, "rank xor {}"),
    ):
        pattern = _repeated(of_busiest)
        said = _formula_of(pattern)
        if len(pattern) > 1 and said is not None:
            share = messages.share_by_turn(distance, np.array(pattern))
            law = Law(f"{text.format(said[0])}, {said[1]}", share)
            # Two distances around the end are rather those of two neighbours.
            is_list = "," in said[1] or (len(pattern) == 2 and "xor" not in text)
            (listed if is_list else series).append(law)
    return series, listed


def _repeated(seen: Integers) -> list[int]:
    """What is repeated in some distances; empty if nothing is."""
    for period in range(1, min(_LONGEST_PERIOD, len(seen)) + 1):
        if period == len(seen) or _share(seen[period:] == seen[:-period]) >= _REPEATS:
            return [_most_frequent(seen[at::period]) for at in range(period)]
    return []


def _formula_of(values: Sequence[int]) -> tuple[str, str] | None:
    """Some distances as a formula, with what its letter runs through."""
    steps = {after - before for before, after in pairwise(values)}
    if all(value > 0 and value.bit_count() == 1 for value in values):
        powers = [value.bit_length() - 1 for value in values]
        jumps = {after - before for before, after in pairwise(powers)}
        if jumps in ({1}, {-1}):
            return "2^i", f"i = {powers[0]}..{powers[-1]}"
    if len(values) > 2 and steps in ({1}, {-1}):
        return "k", f"k = {values[0]}..{values[-1]}"
    return ("k", f"k = {', '.join(map(str, values))}") if len(values) <= _FEW else None


def _possible_grids(caller: Integers, partner: Integers, world: int) -> Iterator[_Grid]:
    """Grids of all ranks whose strides occur as distances between partners."""
    strides = set(np.unique(np.abs(partner - caller)).tolist()) | {1}
    lengths = [each for each in divisors(world) if each in strides]
    for shape in sorted(shapes(lengths, world), key=len):
        for periodic in (False, True):
            yield _Grid(shape, periodic, diagonals=False)
            if len(shape) > 1:
                yield _Grid(shape, periodic, diagonals=True)


def shapes(strides: Sequence[int], world: int) -> Iterator[tuple[int, ...]]:
    """Shapes of 1 to 4 dimensions, none of length 1, each of whose strides is given."""
    todo: list[tuple[int, tuple[int, ...]]] = [(1, ())]
    while todo:
        stride, shape = todo.pop()
        if stride == world:
            if shape:
                yield shape
            continue
        if len(shape) < _DIMENSIONS:
            todo += [
                (wider, (wider // stride, *shape))
                for wider in {*strides, world}
                if wider > stride and wider % stride == 0
            ]


def divisors(number: int) -> list[int]:
    """The numbers that divide it, ascending."""
    return [each for each in range(1, number + 1) if number % each == 0]


def _most_frequent(values: Integers) -> int:
    found, counts = np.unique(values, return_counts=True)
    return int(found[counts.argmax()])


def _share(holds: Mask) -> float:
    return float(holds.mean()) if len(holds) else 1.0


def shifted(ahead: int) -> str:
    """The rank so many ahead of the caller's.

    >>> shifted(-1), shifted(0)
    ('rank-1', 'rank')
    """
    return f"rank{ahead:+d}" if ahead else "rank"
