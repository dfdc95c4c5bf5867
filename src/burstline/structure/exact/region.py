"""A part of a graph of calls, and which of its edges may lead to the next iteration.

::

    Region (a cycle, with where it is entered and left)  -->  sets of edges, the likeliest first

Sets of the kinds of lanes that execute something are integers with a bit per kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from burstline.structure.exact.callgraph import CallGraph
    from burstline.structure.exact.graphs import Edge


@dataclass(frozen=True, slots=True)
class Region:
    """A part of the graph that one body is made of; sets of kinds of lanes as integers."""

    nodes: Sequence[int]
    edges: Mapping[Edge, int]
    entries: Mapping[int, int]
    exits: Mapping[int, int]

    def part(self, nodes: Sequence[int]) -> Region:
        """The part of a few nodes; entered and left where the rest does."""
        inside = set(nodes)
        entries = {node: who for node, who in self.entries.items() if node in inside}
        exits = {node: who for node, who in self.exits.items() if node in inside}
        edges = {}
        for (source, target), who in self.edges.items():
            if source in inside and target in inside:
                edges[source, target] = who
            elif source in inside:
                exits[source] = exits.get(source, 0) | who
            elif target in inside:
                entries[target] = entries.get(target, 0) | who
        return Region(nodes, edges, entries, exits)

    def without(self, chosen: Collection[Edge]) -> Region:
        """The region without edges that lead to the next iteration."""
        edges, entries, exits = {}, dict(self.entries), dict(self.exits)
        for edge, who in self.edges.items():
            if edge in chosen:
                entries[edge[1]] = entries.get(edge[1], 0) | who
                exits[edge[0]] = exits.get(edge[0], 0) | who
            else:
                edges[edge] = who
        return Region(self.nodes, edges, entries, exits)


def next_iterations(
    region: Region, graph: CallGraph, against: Collection[Edge]
) -> Iterator[set[Edge]]:
    """Sets of edges that may be those to the next iteration, the likeliest first."""
    place, entries, exits = graph.place, region.entries, region.exits
    first, last = _ends_by_kind(region, graph)

    def back(a: int, b: int) -> bool:
        return place[b] <= place[a]

    def goes_on(a: int, b: int) -> bool:
        return a != b and not graph.stands_before(a, b)

    rules: list[Callable[[int, int, int], object]] = [
        # against the lines: certain
        lambda a, b, _: (a, b) in against,
        # from where the loop is left to where it is entered, if it is left after its body
        lambda a, b, _: a in exits and b in entries and back(a, b),
        lambda a, b, _: a in exits and b in entries,
        # left in the middle of its body: from the call it is left at, or to the one entered
        lambda a, b, _: a in exits and goes_on(a, b),
        lambda a, b, _: b in entries and goes_on(a, b),
        # entered or left where the trace was cut: from the last call by line, or to the first
        lambda a, b, who: back(a, b) and who & last.get(a, 0),
        lambda a, b, who: back(a, b) and who & first.get(b, 0),
        lambda a, b, _: a in exits and back(a, b),
        lambda a, b, _: b in entries and back(a, b),
        lambda a, _b, _: a in exits,
        lambda _a, b, _: b in entries,
    ]
    for leads_on in rules:
        yield {edge for edge, who in region.edges.items() if leads_on(*edge, who)}


def _ends_by_kind(region: Region, graph: CallGraph) -> tuple[dict[int, int], dict[int, int]]:
    """The first and the last nodes by line, and for which kinds of lanes they are that."""
    ordered = sorted(region.nodes, key=graph.place.__getitem__)
    return _first_of_each(ordered, graph), _first_of_each(ordered[::-1], graph)


def _first_of_each(nodes: Sequence[int], graph: CallGraph) -> dict[int, int]:
    first: dict[int, int] = {}
    seen = 0
    for node in nodes:
        new = graph.who[node] & ~seen
        if new:
            first[node] = new
            seen |= new
    return first
