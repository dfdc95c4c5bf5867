"""Which call follows which: the graph that shows the loops of a program.

::

    Calls of all lanes  -->  CallGraph: edges, first and last calls, places, lines

A node is a site, whatever rank makes the call: all ranks run the same program, and
each shows some of its edges.
"""

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
    """The calls of all lanes, by what follows what.

    Lanes that show the same edges are one kind. A set of kinds is an integer: bit k is set if
    kind k is in it.
    """

    edges: dict[Edge, int]  # on what kinds of lanes each site was followed by each other
    # MPI's initialisation and finalisation, where a lane begins and ends with them, and on what
    # kinds
    entries: dict[int, int]
    exits: dict[int, int]
    who: Sequence[int]  # on what kinds of lanes each site occurs
    place: Sequence[int]  # place of each site in the program, from 0
    paths: Sequence[Path]  # call path of each site

    def stands_before(self, a: int, b: int) -> bool:
        """Whether lines say for certain that call `a` stands before `b`.

        They do if both are reached from the same body of one function, on lines that
        differ. Whoever executes `b` before `a` then, went through a loop.
        """
        branch = self._branch(a, b)
        return branch is not None and branch[0] < branch[1]

    def between(self, a: int, b: int, nodes: Collection[int]) -> list[int]:
        """The nodes from `a` to `b`, by line, in the function that both branch off from."""
        path, other = self.paths[a], self.paths[b]
        depth = next(k for k, (x, y) in enumerate(zip(path, other, strict=False)) if x != y)
        above, low, high = path[:depth], path[depth], other[depth]
        low_line, high_line = low.line or 0, high.line or 0

        def is_between(node: int) -> bool:
            here = self.paths[node]
            if len(here) <= depth or here[:depth] != above:
                return False
            frame = here[depth]
            return (
                (frame.function, frame.file) == (low.function, low.file)
                and frame.line is not None
                and low_line <= frame.line <= high_line
            )

        return sorted(filter(is_between, nodes), key=self.place.__getitem__)

    def _branch(self, a: int, b: int) -> tuple[int, int] | None:
        """The lines on which two paths part, if these can be compared."""
        pairs = zip(self.paths[a], self.paths[b], strict=False)
        for one, other in pairs:
            if one != other:
                comparable = (one.function, one.file) == (other.function, other.file)
                if not comparable or one.line is None or other.line is None:
                    return None
                return one.line, other.line
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
    """Count which call follows which.

    O(calls). A lane that does not begin with MPI's initialisation, or does not end with its
    finalisation, was cut somewhere: where it begins or ends then says nothing about the
    program.
    """
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
        own = np.sort(taken[begin[lane] : begin[lane + 1]])
        if (head, tail, own.tobytes()) in kinds:
            continue
        kind = kinds.setdefault((head, tail, own.tobytes()), 1 << len(kinds))
        entries[head] = entries.get(head, 0) | kind
        exits[tail] = exits.get(tail, 0) | kind
        who[head] |= kind
        for edge in own.tolist():
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
    found: dict[int, int], operations: Sequence[str], wanted: frozenset[str]
) -> dict[int, int]:
    """Keep the ends that the program has, and not those a cut made."""
    return {node: who for node, who in found.items() if operations[node] in wanted}


def _in_first_order(lane: np.ndarray, symbols: int) -> list[int]:
    first = np.full(symbols, len(lane), np.int64)
    first[lane[::-1]] = np.arange(len(lane))[::-1]
    occurring = np.flatnonzero(first < len(lane))
    return occurring[np.argsort(first[occurring], kind="stable")].tolist()
