"""Which call follows which, on any lane: the graph that shows the loops of a program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from burstline import _core
from burstline.columns import Integers, prefix_sums
from burstline.identity import Path, Sites
from burstline.model import FINALIZES, INITS
from burstline.structure.kinds import alike_lanes, in_first_order, lanes_of
from burstline.structure.program_order import (
    Function,
    parting,
    paths_to_compare,
    program_places,
)

Edge = tuple[int, int]
"""Sites that follow each other."""


@dataclass(frozen=True, slots=True, eq=False)
class CallGraph:
    """The calls of all lanes, by what follows what."""

    # Lanes with the same edges are one kind; a set of kinds is an integer with a bit per kind.
    edges: dict[Edge, int]  # the kinds of lanes on which each site was followed by each other
    # MPI's initialisation and finalisation, where a lane begins and ends with them, and the
    # kinds of lanes
    entries: dict[int, int]
    exits: dict[int, int]
    kinds_of_site: Sequence[int]  # the kinds of lanes on which each site occurs
    place: Sequence[int]  # place of each site in the program, from 0
    paths: Sequence[Path]  # call path of each site, if its lines say what comes before what
    orders: Sequence[Sequence[int]]  # sites of each lane in the order of first execution
    # functions whose lines do not tell the order of their statements
    unordered: frozenset[Function] = frozenset()
    # those that are known
    partings: dict[Edge, tuple[int, int, int] | None] = field(default_factory=dict)

    def without_lines_of(self, functions: Collection[Function]) -> CallGraph:
        """The graph, with no order of statements from the lines of some functions."""
        place = program_places(self.paths, self.orders, functions)
        return replace(self, place=place, unordered=frozenset(functions))

    def stands_before(self, a: int, b: int) -> bool:
        """Whether `a` stands on an earlier line than `b` in the function that reaches both."""
        parting = self._parting(a, b)
        return (
            parting is not None
            and parting[1] < parting[2]
            and self._function(a, parting[0]) not in self.unordered
        )

    def goes_back_in(self, a: int, b: int) -> Function | None:
        """The function in which `b` stands on an earlier line than `a`, whatever lines tell."""
        parting = self._parting(a, b)
        went_back = parting is not None and parting[2] < parting[1]
        return self._function(a, parting[0]) if parting and went_back else None

    def doubted_among(self, nodes: Iterable[int]) -> frozenset[Function]:
        """The functions whose lines do not tell the order of some of the nodes."""
        if not self.unordered:
            return self.unordered
        paths = [self.paths[node] for node in nodes]
        at_depths = enumerate(zip(*paths, strict=False))
        shared = next((depth for depth, frames in at_depths if len({*map(id, frames)}) > 1), 0)
        apart = {(frame.function, frame.file) for path in paths for frame in path[shared:]}
        return self.unordered & apart

    def between(self, a: int, b: int, nodes: Collection[int]) -> list[int]:
        """The nodes on the lines from `a` to `b`, which it stands before, in their order."""
        parting = self._parting(a, b)
        if parting is None:
            return []
        depth, low, high = parting
        path = self.paths[a]

        def is_between(node: int) -> bool:
            other = self.paths[node]
            if len(other) <= depth or other[:depth] != path[:depth]:
                return False
            frame, line = path[depth], other[depth].line
            is_same = (other[depth].function, other[depth].file) == (frame.function, frame.file)
            return is_same and line is not None and low <= line <= high

        return sorted(filter(is_between, nodes), key=self.place.__getitem__)

    def _function(self, a: int, depth: int) -> Function:
        return self.paths[a][depth].function, self.paths[a][depth].file

    def _parting(self, a: int, b: int) -> tuple[int, int, int] | None:
        """The depth at which two paths part, and the lines there, if these can be compared."""
        if (a, b) not in self.partings:
            self.partings[a, b] = parting(self.paths[a], self.paths[b])
        return self.partings[a, b]

    @property
    def symbols(self) -> int:
        """Sites there are."""
        return len(self.place)

    @property
    def kinds(self) -> int:
        """Kinds of lanes there are."""
        return max(self.kinds_of_site, default=0).bit_length()


def call_graph(sites: Sites, lane_begin: Integers) -> CallGraph:
    """The graph of which call follows which."""
    distinct = sites.distinct
    first, _ = alike_lanes(sites.of_call, lane_begin)  # others go the same way
    sequence = lanes_of(sites.of_call, lane_begin, first)
    lane_begin = prefix_sums(np.diff(lane_begin)[first])
    source, target, _, begin, taken = _core.count_follows(sequence, lane_begin, len(sites))
    pairs = list(zip(source.tolist(), target.tolist(), strict=True))
    paths = paths_to_compare(distinct)
    bounds = pairwise(lane_begin.tolist())
    orders = [in_first_order(sequence[a:b], len(sites)).tolist() for a, b in bounds]
    lanes = np.flatnonzero(np.diff(lane_begin)).tolist()
    heads = sequence[lane_begin[:-1][lanes]].tolist()
    tails = sequence[lane_begin[1:][lanes] - 1].tolist()
    edges: dict[Edge, int] = defaultdict(int)
    entries: dict[int, int] = defaultdict(int)
    exits: dict[int, int] = defaultdict(int)
    who = [0] * len(sites)
    kinds: dict[tuple[int, int, bytes], int] = {}
    for lane, head, tail in zip(lanes, heads, tails, strict=True):
        lane_edges = np.sort(taken[begin[lane] : begin[lane + 1]])
        if (head, tail, lane_edges.tobytes()) in kinds:
            continue
        kind = kinds.setdefault((head, tail, lane_edges.tobytes()), 1 << len(kinds))
        entries[head] |= kind
        exits[tail] |= kind
        who[head] |= kind
        for edge in lane_edges.tolist():
            edges[pairs[edge]] |= kind
            who[pairs[edge][1]] |= kind
    operations = [site.operation for site in distinct]
    return CallGraph(
        edges=dict(edges),
        entries=_certain_ends(entries, operations, INITS),
        exits=_certain_ends(exits, operations, FINALIZES),
        kinds_of_site=who,
        place=program_places(paths, orders),
        paths=paths,
        orders=orders,
    )


def _certain_ends(
    ends: dict[int, int], operations: Sequence[str], names: tuple[str, ...]
) -> dict[int, int]:
    """The ends that the program has, without those that a cut made."""
    return {node: who for node, who in ends.items() if operations[node] in names}
