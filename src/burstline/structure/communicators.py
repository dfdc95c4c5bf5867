"""Communicators: on which of them the ranks of a call make it, and how these part the ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
import pyarrow.compute as pc

from burstline.columns import AnyIntegers, Integers, Mask, dense, mask_at, placed, prefix_sums
from burstline.model import Trace
from burstline.structure.calls import Calls
from burstline.structure.partner_laws import divisors, shapes
from burstline.structure.sequences import places_in

MOST_LISTED: Final = 1024
"""Of communicators with more members than this together, only the sizes are listed."""

_MOST_RANKS: Final = 1 << 16  # of more, laws are not looked for


@dataclass(frozen=True, slots=True)
class CallCommunicators:
    """The communicators of a call, if it is made on several."""

    count: int = 0  # how many they are
    sizes: tuple[int, int] = (0, 0)  # the fewest and the most members
    # the ranks in each; None if they are too many to list
    members: tuple[tuple[int, ...], ...] | None = ()
    law: str | None = None  # how they part the ranks
    root_law: str | None = None  # which member of each is the root of the call


class UsedCommunicators(NamedTuple):
    """The communicators that some unique calls use."""

    begin: Integers  # (unique + 1,) where those of each unique call begin in `communicator`
    communicator: Integers
    is_root: Mask  # whether it was ever the root of that communicator
    rank: Integers  # (unique,) who makes it

    @classmethod
    def of(cls, calls: Calls, unique: Integers, there_are: int) -> UsedCommunicators:
        """Those of some calls, where `unique` is the number of each."""
        used = np.flatnonzero(calls.communicator >= 0)
        there_are = max(there_are, 1)
        uniques = int(unique.max(initial=-1)) + 1
        place, key = dense(
            unique[used].astype(np.int64) * there_are + calls.communicator[used],
            uniques * there_are,
        )
        rank = placed(calls.ranks[calls.lane], unique, uniques)
        is_root = mask_at(place[calls.root[used] >= 0], len(key))
        begin = np.searchsorted(key // there_are, np.arange(uniques + 1))
        return cls(begin, key % there_are, is_root, rank)


@dataclass(frozen=True, eq=False)
class Memberships:
    """The communicators of each unique call, and who is in them."""

    begin: Integers  # (unique + 1,) where those of each unique call begin in `communicator`
    communicator: Integers
    is_root: Mask  # whether it was ever the root of that communicator
    rank: Integers  # (unique,) who makes it
    member_begin: Integers  # (communicators + 1,) where the ranks of each begin in `member`
    member: Integers
    # the communicators of each site that has several, and the law of these
    splits: tuple[tuple[frozenset[int], str | None], ...] = ()

    @classmethod
    def of(
        cls, trace: Trace, calls: Calls, used: Sequence[UsedCommunicators], site: Integers
    ) -> Memberships:
        """The communicators of a trace, by what is used of them and the site of each use."""
        lists = trace.communicators["members"].combine_chunks()
        sizes = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
        found = cls(
            prefix_sums(np.concatenate([np.diff(part.begin) for part in used])),
            np.concatenate([part.communicator for part in used]),
            np.concatenate([part.is_root for part in used]),
            np.concatenate([part.rank for part in used]),
            prefix_sums(sizes.astype(np.int64)),
            lists.flatten().to_numpy(zero_copy_only=False).astype(np.int64),
        )
        sites = range(int(site.max(initial=-1)) + 1 if found.are_several else 0)
        at_sites = {found.numbers(np.flatnonzero(site == each)) for each in sites}
        splits = sorted(numbers for numbers in at_sites if len(numbers) > 1)
        if not splits or calls.world_size > _MOST_RANKS:
            return found
        members = [[found.members(number) for number in split] for split in splits]
        laws = split_laws(members, calls.world_size, _node_of_rank(trace, calls))
        return replace(found, splits=tuple(zip(map(frozenset, splits), laws, strict=True)))

    @cached_property
    def are_several(self) -> bool:
        """Whether not all calls are made on the same communicator."""
        return bool((self.communicator[1:] != self.communicator[:-1]).any())

    def members(self, number: int) -> Integers:
        """The ranks in a communicator."""
        return self.member[self.member_begin[number] : self.member_begin[number + 1]]

    def numbers(self, uniques: Integers) -> tuple[int, ...]:
        """The communicators of a call that is some unique calls, ascending."""
        return tuple(np.unique(self.communicator[places_in(self.begin, uniques)[0]]).tolist())

    def communicators(self, uniques: Integers) -> CallCommunicators:
        """The communicators of a call that is some unique calls; none if it has just one."""
        numbers = self.numbers(uniques) if self.are_several else ()
        if len(numbers) < 2:
            return CallCommunicators()
        members = [self.members(number) for number in numbers]
        sizes = [len(each) for each in members]
        listed = sum(sizes) <= MOST_LISTED
        return CallCommunicators(
            len(numbers),
            (min(sizes), max(sizes)),
            tuple(tuple(each.tolist()) for each in members) if listed else None,
            next(
                (law for split, law in self.splits if split.issuperset(numbers) and law), None
            ),
            self._root_law(uniques, dict(zip(numbers, members, strict=True))),
        )

    def _root_law(self, uniques: Integers, members: Mapping[int, Integers]) -> str | None:
        """Which member of each communicator is the only root; None if that differs."""
        place, _ = places_in(self.begin, uniques)
        place = place[self.is_root[place]]
        unique = np.searchsorted(self.begin, place, side="right") - 1
        roots = set(zip(self.communicator[place].tolist(), self.rank[unique], strict=True))
        if len(roots) != len(members) or {number for number, _ in roots} != set(members):
            return None
        at = [np.flatnonzero(members[number] == rank).tolist() for number, rank in roots]
        last = [[len(members[number]) - 1] for number, _ in roots]
        if all(each == [0] for each in at):
            return "first of each"
        if at == last:
            return "last of each"
        return f"rank {at[0][0]} of each" if at[0] and at == at[:1] * len(at) else None


def _node_of_rank(trace: Trace, calls: Calls) -> Integers | None:
    """The number of the node of each rank; None if that of one is unknown."""
    application, rank = trace.arrays("locations", "application", "rank")
    own = np.flatnonzero(application == calls.application)
    names = trace.table("locations")["node"].take(own)
    node = np.full(calls.world_size, -1)
    number = pc.dictionary_encode(names.combine_chunks()).indices
    node[rank[own]] = pc.fill_null(number, -1).to_numpy(zero_copy_only=False)
    return node if (node >= 0).all() else None


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
    """The law of each split of a program, given as the known ranks in each communicator.

    The simplest rule of which each communicator is exactly one class; None without any. Of a
    grid, as of 4 × 4 ranks, a split alone does not tell whether it is meant: its rows are also
    blocks of 4. Splits along each of its dimensions tell it, and are named first.

    >>> rows = np.arange(6).reshape(2, 3)
    >>> split_laws([rows, rows.T], 6), split_laws([rows], 6)
    (['same row of 2 × 3', 'same column of 2 × 3'], ['same half'])
    """  # noqa: RUF002 -- lengths of a grid have a sign of multiplication between them
    laws: list[str | None] = [None] * len(splits)
    known = [
        k
        for k, split in enumerate(splits)
        if all(len(members) and members.max() < world for members in split)
    ]
    for shape in _shapes_by_dimensions(world) if len(known) > 1 else ():
        rules = list(_of_grid(shape))
        told = {k: _first_rule_of(rules, splits[k]) for k in known}
        if len({text for text in told.values() if text}) < len(shape):
            continue
        laws = [law or told.get(k) for k, law in enumerate(laws)]
        break
    for k in known:
        laws[k] = laws[k] or _first_rule_of(
            _rules_of_one_split(splits[k], world, node), splits[k]
        )
    return laws


def _first_rule_of(rules: Iterator[_Rule] | Sequence[_Rule], split: Split) -> str | None:
    return next((rule.text for rule in rules if rule.holds(split)), None)


def _rules_of_one_split(split: Split, world: int, node: AnyIntegers | None) -> Iterator[_Rule]:
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
