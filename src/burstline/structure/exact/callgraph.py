"""Which call follows which, on any lane: the graph that shows the loops of a program."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import _core
from burstline.structure.program_order import program_places

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from burstline.columns import Integers
    from burstline.identity import Path, Sites
    from burstline.structure.exact.graphs import Edge

_BEGINNINGS: Final = frozenset({"MPI_Init", "MPI_Init_thread"})
_ENDS: Final = frozenset({"MPI_Finalize"})


@dataclass(frozen=True, slots=True, eq=False)
class CallGraph:
    """The calls of all lanes, by what follows what."""

    # Lanes with the same edges are one kind; a set of kinds is an integer with a bit per kind.
    edges: dict[Edge, int]  # the kinds of lanes on which each site was followed by each other
    # MPI's initialisation and finalisation, where a lane begins and ends with them, and the
    # kinds of lanes
    entries: dict[int, int]
    exits: dict[int, int]
    who: Sequence[int]  # the kinds of lanes on which each site occurs
    place: Sequence[int]  # place of each site in the program, from 0
    paths: Sequence[Path]  # call path of each site

    def stands_before(self, a: int, b: int) -> bool:
        """Whether `a` stands on an earlier line than `b` in the function that reaches both."""
        branch = self._branch(a, b)
        return branch is not None and branch[0] < branch[1]

    def between(self, a: int, b: int, nodes: Collection[int]) -> list[int]:
        """The nodes from `a` to `b`, by line, in the function that both branch off from."""
        path, other = self.paths[a], self.paths[b]
        depth = next(k for k, (x, y) in enumerate(zip(path, other, strict=False)) if x != y)
        above, low, high = path[:depth], path[depth], other[depth]
        low_line, high_line = low.line or 0, high.line or 0

        def is_between(node: int) -> bool:
            node_path = self.paths[node]
            if len(node_path) <= depth or node_path[:depth] != above:
                return False
            frame = node_path[depth]
            return (
                (frame.function, frame.file) == (low.function, low.file)
                and frame.line is not None
                and low_line <= frame.line <= high_line
            )

        return sorted(filter(is_between, nodes), key=self.place.__getitem__)

    def _branch(self, a: int, b: int) -> tuple[int, int] | None:
        """The lines on which two paths part, if these can be compared."""
        pairs = zip(self.paths[a], self.paths[b], strict=False)
        for frame, other in pairs:
            if frame != other:
                comparable = (frame.function, frame.file) == (other.function, other.file)
                if not comparable or frame.line is None or other.line is None:
                    return None
                return frame.line, other.line
        return None

    @property
    def symbols(self) -> int:
        """Sites there are."""
        return len(self.place)

    @property
    def kinds(self) -> int:
        """Kinds of lanes there are."""
        return max(self.who, default=0).bit_length()


def call_graph(sites: Sites, lane_begin: Integers) -> CallGraph:
    """The graph of which call follows which."""
    sequence, distinct = sites.of_call, sites.distinct
    source, target, _, begin, taken = _core.count_follows(sequence, lane_begin, len(sites))
    pairs = list(zip(source.tolist(), target.tolist(), strict=True))
    paths = [site.path for site in distinct]
    bounds = pairwise(lane_begin.tolist())
    orders = (_in_first_order(sequence[a:b], len(sites)) for a, b in bounds)
    lanes = np.flatnonzero(np.diff(lane_begin)).tolist()
    heads = sequence[lane_begin[:-1][lanes]].tolist()
    tails = sequence[lane_begin[1:][lanes] - 1].tolist()
    edges: dict[Edge, int] = {}
    entries: dict[int, int] = {}
    exits: dict[int, int] = {}
    who = [0] * len(sites)
    kinds: dict[tuple[int, int, bytes], int] = {}
    for lane, head, tail in zip(lanes, heads, tails, strict=True):
        lane_edges = np.sort(taken[begin[lane] : begin[lane + 1]])
        if (head, tail, lane_edges.tobytes()) in kinds:
            continue
        kind = kinds.setdefault((head, tail, lane_edges.tobytes()), 1 << len(kinds))
        entries[head] = entries.get(head, 0) | kind
        exits[tail] = exits.get(tail, 0) | kind
        who[head] |= kind
        for edge in lane_edges.tolist():
            pair = pairs[edge]
            edges[pair] = edges.get(pair, 0) | kind
            who[pair[1]] |= kind
    operations = [site.operation for site in distinct]
    return CallGraph(
        edges=edges,
        entries=_certain(entries, operations, _BEGINNINGS),
        exits=_certain(exits, operations, _ENDS),
        who=who,
        place=program_places(paths, orders),
        paths=paths,
    )


def _certain(
    ends: dict[int, int], operations: Sequence[str], names: frozenset[str]
) -> dict[int, int]:
    """The ends that the program has, without those that a cut made."""
    return {node: who for node, who in ends.items() if operations[node] in names}


def _in_first_order(lane: np.ndarray, symbols: int) -> list[int]:
    first = np.full(symbols, len(lane), np.int64)
    first[lane[::-1]] = np.arange(len(lane))[::-1]
    occurring = np.flatnonzero(first < len(lane))
    return occurring[np.argsort(first[occurring], kind="stable")].tolist()
