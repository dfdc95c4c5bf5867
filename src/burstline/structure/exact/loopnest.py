"""A nest of loops out of a graph of calls: its cycles, and the cycles in those.

Each call stands in the program once, as in regular expressions of single occurrences inferred
from examples: D. D. Freydenberger, T. Kötzing, DOI 10.1007/s00224-014-9559-3.
"""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass
from functools import reduce
from graphlib import TopologicalSorter
from itertools import islice, pairwise
from operator import or_
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from burstline.structure.exact.callgraph import CallGraph, Edge


@dataclass(frozen=True, slots=True)
class Region:
    """A part of the graph that one body is made of; sets of kinds of lanes as integers."""

    nodes: Sequence[int]
    edges: dict[Edge, int]
    entries: dict[int, int]
    exits: dict[int, int]

    def parts(self, groups: Sequence[Sequence[int]]) -> list[Region]:
        """The parts of some nodes each; entered and left where the rest does."""
        parts = [Region(nodes, {}, {}, {}) for nodes in groups]
        part_of = {
            node: part for nodes, part in zip(groups, parts, strict=True) for node in nodes
        }
        nowhere = Region((), {}, {}, {})
        for node, who in self.entries.items():
            part_of.get(node, nowhere).entries[node] = who
        for node, who in self.exits.items():
            part_of.get(node, nowhere).exits[node] = who
        for (source, target), who in self.edges.items():
            left, entered = part_of.get(source, nowhere), part_of.get(target, nowhere)
            if left is entered:
                left.edges[source, target] = who
            else:
                left.exits[source] = left.exits.get(source, 0) | who
                entered.entries[target] = entered.entries.get(target, 0) | who
        return parts

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
    ordered = sorted(region.nodes, key=place.__getitem__)
    first, last = _first_of_each(ordered, graph), _first_of_each(ordered[::-1], graph)

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


def _first_of_each(nodes: Sequence[int], graph: CallGraph) -> dict[int, int]:
    """The nodes that are the first of some kinds of lanes, and of which."""
    first: dict[int, int] = {}
    seen = 0
    for node in nodes:
        new = graph.who[node] & ~seen
        if new:
            first[node] = new
            seen |= new
    return first


_DEEPEST_SEARCH: Final = 4
_LARGEST_SEARCH: Final = 400
_DEEPEST_NEST: Final = 64
"""Loops in which a loop may be; what repeats in there in more ways is one body."""
_WORK: Final = 1_000_000
"""Nodes and edges that are looked at before the search for the best reading is cut off."""


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a loop, or of the program."""

    # calls, by their site, and the bodies of loops, in the order of the program
    elements: tuple[int | Body, ...]
    # the loops, conditions and lines in disorder that describe it, over all kinds of lanes
    cost: int = 0


def find_nest(graph: CallGraph) -> Body:
    """The loops in a graph of calls, read with the fewest loops, conditions and disorder."""
    nodes = sorted(range(graph.symbols), key=graph.place.__getitem__)
    region = Region(nodes, graph.edges, graph.entries, graph.exits)
    return _Nester(graph).body(region, 0)


class _Nester:
    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.kinds = graph.kinds
        self.work_left = _WORK

    def body(self, region: Region, depth: int) -> Body:
        """The loops and calls of a region, in an order that no edge contradicts."""
        singles = [[node] for node in region.nodes]
        groups = self._groups(region) if depth <= _DEEPEST_NEST else singles
        of_node = {node: k for k, group in enumerate(groups) for node in group}
        places = [min(map(self.graph.place.__getitem__, group)) for group in groups]
        between = [(of_node[a], of_node[b]) for a, b in region.edges]
        order = in_order(places, between)
        loops = iter(region.parts([groups[k] for k in order if len(groups[k]) > 1]))
        elements = [
            self._loop(next(loops), depth)
            if len(groups[k]) > 1
            else self._single(groups[k], region)
            for k in order
        ]
        position = {k: place for place, k in enumerate(order)}
        position_of = {node: position[k] for node, k in of_node.items()}
        steps = [(position_of[a], position_of[b], who) for (a, b), who in region.edges.items()]
        steps += [(-1, position_of[node], who) for node, who in region.entries.items()]
        steps += [(position_of[node], len(order), who) for node, who in region.exits.items()]
        who_has = [_union(self.graph.who[node] for node in groups[k]) for k in order]
        cost = _conditions(who_has, steps) + self._disorder(elements) * self.kinds
        for element, who in zip(elements, who_has, strict=True):
            if isinstance(element, Body):
                cost += element.cost + who.bit_count()
        return Body(tuple(elements), cost)

    def _single(self, group: Sequence[int], region: Region) -> int | Body:
        """A call, or the loop that it is the body of."""
        (node,) = group
        return Body((node,)) if (node, node) in region.edges else node

    def _groups(self, region: Region) -> list[list[int]]:
        """The nodes that are in one loop together."""
        self.work_left -= len(region.edges) + len(region.nodes)
        after = _successors(region.edges)
        cycles = _components(region.nodes, after)
        backward = self._against_lines(region, cycles)
        if not backward:
            return cycles
        # calls executed against the order of their lines are in a loop with what lies between
        for source, target in backward:
            around = self.graph.between(target, source, region.nodes)
            for a, b in pairwise(around):
                after.setdefault(a, []).append(b)
                after.setdefault(b, []).append(a)
        return _components(region.nodes, after)

    def _against_lines(self, region: Region, groups: Sequence[Sequence[int]]) -> list[Edge]:
        """The edges between groups that go back to an earlier line of one function."""
        of_node = {node: k for k, group in enumerate(groups) for node in group}
        return [
            (a, b)
            for a, b in region.edges
            if of_node[a] != of_node[b] and self.graph.stands_before(b, a)
        ]

    def _loop(self, region: Region, depth: int) -> Body:
        """The body of a region that is one loop: the best of several ways to begin it."""
        if depth == _DEEPEST_NEST:
            return self.body(region.without(self._back(region)), depth + 1)
        ways = self._ways(region)
        if len(region.nodes) > _LARGEST_SEARCH or depth >= _DEEPEST_SEARCH:
            ways = islice(ways, 1)
        readings = [self.body(region.without(way), depth + 1) for way in ways]
        return min(readings, key=lambda body: body.cost)

    def _ways(self, region: Region) -> Iterator[set[Edge]]:
        """Different sets of edges that may lead to the next iteration, the likeliest first."""
        nothing = True
        seen: list[set[Edge]] = []
        cycles = _components(region.nodes, _successors(region.edges))
        against = self._against_lines(region, cycles)
        for chosen in next_iterations(region, self.graph, against):
            if self.work_left <= 0:
                break
            if chosen and chosen not in seen:
                seen.append(chosen)
                if len(self._groups(region.without(chosen))) > 1:  # less than the whole loop
                    nothing = False
                    yield chosen
        if nothing:  # or no time to look: all edges against the order of the program
            yield self._back(region)

    def _back(self, region: Region) -> set[Edge]:
        """All edges against the order of the program."""
        place = self.graph.place
        return {(a, b) for a, b in region.edges if place[b] < place[a]}

    def _disorder(self, elements: Sequence[int | Body]) -> int:
        """The number of neighbours that stand against the order of their lines."""
        ends = [_ends(element) for element in elements]
        neighbours = [(before[1], after[0]) for before, after in pairwise(ends)]
        return sum(self.graph.goes_back_in(*pair) is not None for pair in neighbours)


def _ends(element: int | Body) -> tuple[int, int]:
    """The first and the last call of an element."""
    if isinstance(element, int):
        return element, element
    return _ends(element.elements[0])[0], _ends(element.elements[-1])[1]


def _conditions(who_has: Sequence[int], steps: Iterable[tuple[int, int, int]]) -> int:
    """The number of parts of a body that a kind of lanes executes sometimes, over all kinds."""
    # A part goes on until a way around it begins or ends.
    begin: dict[int, list[int]] = {}
    end: dict[int, list[int]] = {}
    for source, target, who in steps:
        if target - source > 1:
            begin.setdefault(source + 1, []).append(who)
            end.setdefault(target, []).append(who)
    conditions = 0
    around: Counter[int] = Counter()
    for position, element_kinds in enumerate(who_has):
        around.update(begin.get(position, ()))
        around.subtract(end.get(position, ()))
        if position in begin or position in end:
            conditions += (_union(+around) & element_kinds).bit_count()
            around = +around
    return conditions


def _union(sets: Iterable[int]) -> int:
    return reduce(or_, sets, 0)


def _successors(edges: Iterable[Edge]) -> dict[int, list[int]]:
    after: dict[int, list[int]] = {}
    for source, target in edges:
        after.setdefault(source, []).append(target)
    return after


def _components(nodes: Iterable[int], after: Mapping[int, Collection[int]]) -> list[list[int]]:
    """The strongly connected components of a graph."""
    # Tarjan's algorithm without recursion, DOI 10.1137/0201010
    place: dict[int, int] = {}
    reaches: dict[int, int] = {}
    open_nodes: dict[int, None] = {}
    targets: dict[int, Iterator[int]] = {}
    parts: list[list[int]] = []
    for root in nodes:
        trail = [] if root in place else [root]
        while trail:
            node = trail[-1]
            if node not in place:
                place[node] = reaches[node] = len(place)
                targets[node] = iter(after.get(node, ()))
                open_nodes[node] = None
            for target in targets[node]:
                if target not in place:
                    trail.append(target)
                    break
                if target in open_nodes:
                    reaches[node] = min(reaches[node], place[target])
            else:
                trail.pop()
                if trail:
                    reaches[trail[-1]] = min(reaches[trail[-1]], reaches[node])
                if reaches[node] == place[node]:
                    parts.append([])
                    while node in open_nodes:
                        parts[-1].append(open_nodes.popitem()[0])
    return parts


def in_order(places: Sequence[int], edges: Iterable[Edge]) -> list[int]:
    """Parts of a graph, each before its successors; where no edge decides, by their places."""
    sorter = TopologicalSorter[int](dict.fromkeys(range(len(places)), ()))
    for source, target in edges:
        if source != target:
            sorter.add(target, source)
    sorter.prepare()
    ready: list[tuple[int, int]] = []
    ordered: list[int] = []
    while sorter.is_active():
        for part in sorter.get_ready():
            heapq.heappush(ready, (places[part], part))
        ordered.append(heapq.heappop(ready)[1])
        sorter.done(ordered[-1])
    return ordered
