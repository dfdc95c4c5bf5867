"""Directed graphs as dictionaries of successors: their cycles, and an order without any."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

Edge = tuple[int, int]


def successors(edges: Iterable[Edge]) -> dict[int, list[int]]:
    """The successors of each node that has any, in the order of the edges."""
    after: dict[int, list[int]] = {}
    for source, target in edges:
        after.setdefault(source, []).append(target)
    return after


def components(nodes: Iterable[int], after: Mapping[int, Collection[int]]) -> list[list[int]]:
    """The strongly connected components of a graph, each before those that it leads to."""
    search = _Search(after)
    for node in nodes:
        if node not in search.place:
            search.begin(node)
    return search.components[::-1]


class _Search:
    """Tarjan's algorithm without recursion, DOI 10.1137/0201010."""

    def __init__(self, after: Mapping[int, Collection[int]]) -> None:
        self.after = after
        self.place: dict[int, int] = {}
        self.reaches: dict[int, int] = {}
        self.components: list[list[int]] = []
        self._open: list[int] = []
        self._is_open: set[int] = set()

    def begin(self, root: int) -> None:
        trail = [self._visit(root)]
        while trail:
            node, targets = trail[-1]
            for target in targets:
                if target not in self.place:
                    trail.append(self._visit(target))
                    break
                if target in self._is_open:
                    self.reaches[node] = min(self.reaches[node], self.place[target])
            else:
                trail.pop()
                self._close(node)
                if trail:
                    above = trail[-1][0]
                    self.reaches[above] = min(self.reaches[above], self.reaches[node])

    def _visit(self, node: int) -> tuple[int, Iterator[int]]:
        self.place[node] = self.reaches[node] = len(self.place)
        self._open.append(node)
        self._is_open.add(node)
        return node, iter(self.after.get(node, ()))

    def _close(self, node: int) -> None:
        if self.reaches[node] != self.place[node]:
            return
        members: list[int] = []
        while not members or members[-1] != node:
            members.append(self._open.pop())
        self._is_open.difference_update(members)
        self.components.append(members)


def sorted_by_edges(
    nodes: Collection[int], edges: Iterable[Edge], key: Callable[[int], object]
) -> list[int]:
    """The nodes, each before its successors; where no edge decides, by a key."""
    distinct = {(source, target) for source, target in edges if source != target}
    after = successors(distinct)
    missing = dict.fromkeys(nodes, 0)
    for _, target in distinct:
        missing[target] += 1
    ready = [(key(node), node) for node, count in missing.items() if count == 0]
    heapq.heapify(ready)
    ordered: list[int] = []
    while ready:
        node = heapq.heappop(ready)[1]
        ordered.append(node)
        for target in after.get(node, ()):
            missing[target] -= 1
            if missing[target] == 0:
                heapq.heappush(ready, (key(target), target))
    return ordered
