"""A nest of loops out of a graph of calls: its cycles, and the cycles in those.

Each call stands in the program once, as in regular expressions of single occurrences inferred
from examples: D. D. Freydenberger, T. Kötzing, DOI 10.1007/s00224-014-9559-3.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from graphlib import CycleError
from itertools import chain, pairwise, permutations
from operator import or_
from sys import maxsize
from typing import Final

from burstline.structure.exact.body import Body, Cost, first_and_last_call, renamed
from burstline.structure.exact.callgraph import CallGraph, Edge
from burstline.structure.exact.choice import ReadingCosts
from burstline.structure.exact.edits import edits
from burstline.structure.exact.shared_loops import LoopKey, LoopsAt


@dataclass(frozen=True, slots=True)
class Subgraph:
    """A part of the graph that one body is made of; sets of kinds of lanes as integers."""

    nodes: Sequence[int]
    edges: dict[Edge, int]
    entries: dict[int, int]
    exits: dict[int, int]

    def parts(self, groups: Sequence[Sequence[int]]) -> list[Subgraph]:
        """The parts of some nodes each; entered and left where the rest does."""
        parts = [Subgraph(nodes, {}, {}, {}) for nodes in groups]
        part_of = {
            node: part for nodes, part in zip(groups, parts, strict=True) for node in nodes
        }
        nowhere = Subgraph((), {}, {}, {})
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

    def without(self, chosen: Collection[Edge]) -> Subgraph:
        """The region without edges that lead to the next iteration."""
        edges, entries, exits = {}, dict(self.entries), dict(self.exits)
        for edge, who in self.edges.items():
            if edge in chosen:
                entries[edge[1]] = entries.get(edge[1], 0) | who
                exits[edge[0]] = exits.get(edge[0], 0) | who
            else:
                edges[edge] = who
        return Subgraph(self.nodes, edges, entries, exits)


def next_iterations(
    region: Subgraph, graph: CallGraph, against: Collection[Edge]
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


def outer_iterations(region: Subgraph, graph: CallGraph) -> Iterator[set[Edge]]:
    """Sets of edges to the next iteration of a loop around others: from its end to its head."""
    place = graph.place
    backward = [(a, b) for a, b in region.edges if place[b] <= place[a]]
    if len(region.nodes) <= _MOST_HEADS:
        for high in sorted({place[b] for _, b in backward}, reverse=True):
            for low in sorted({place[a] for a, _ in backward}):
                yield {(a, b) for a, b in backward if place[a] >= low and place[b] <= high}


def _first_of_each(nodes: Sequence[int], graph: CallGraph) -> dict[int, int]:
    """The nodes that are the first of some kinds of lanes, and of which."""
    first: dict[int, int] = {}
    seen = 0
    for node in nodes:
        new = graph.kinds_of_site[node] & ~seen
        if new:
            first[node] = new
            seen |= new
    return first


_DEEPEST_SEARCH: Final = 4
_LARGEST_SEARCH: Final = 400
_MOST_LIKELY: Final = 4
"""The shortest readings of a loop in which entries are sought that nobody saw."""
_MOST_PARTED, _MOST_PARTINGS = 16, 3
"""Elements of a loop whose iterations are parted, and how often."""
_LARGEST_REFINED: Final = 24
"""Elements of a loop up to which shorter readings are looked for a few steps away."""
_MOST_STEPS, _LONGER = 8, 1
"""Readings of a loop whose neighbours are tried, once the shortest of all ways is known, and by
how much they may be longer than the shortest."""
_SMALL_LOOP, _CLEAR = 16, 30
"""Calls of a loop up to which all ways are tried, even if a likely one explains everything, and
those up to which some more are, outside other loops, if it takes many words to do so."""
_MANY_WORDS, _MOST_MORE = 8, 24
"""Conditions, those that name no end twice, that are many; and how many more ways are tried."""
_WORDS_A_RULE: Final = 3
"""Words of a condition that follows a rule, at most."""
_WORDS_A_CONDITION: Final = 3
"""Words that are saved for each condition that takes the place of a loop, beside two a loop."""
_MOST_HEADS: Final = 40
"""Calls of a loop in which the ends of one around others are looked for everywhere."""
_DEEPEST_NEST: Final = 64
"""Loops in which a loop may be; what repeats in there in more ways is one body."""
_ABOVE, _NEVER = -1, maxsize
"""The node above all in the search for parts of a graph, and what is found after all others."""
_WORK: Final = 1_000_000
"""Nodes and edges that are looked at before the search for the best reading is cut off."""


def _rank_of(body: Body) -> tuple[tuple[int, ...], int]:
    """What is less for the better of two bodies that somebody can tell the cost of."""
    return () if body.whole is None else body.whole.rank, body.cost


def _looks(body: Body) -> Hashable:
    """What is equal for readings that part their iterations in other words, but alike."""
    return body.elements, body.whole, body.most, body.rise, body.anew


def _is_told_by_rules(body: Body) -> bool:
    """Whether a loop takes no more words than rules do for its conditions."""
    if body.whole is None or body.whole.unexplained + body.whole.lists:
        return False
    return body.whole.length <= body.plain_length + _WORDS_A_RULE * body.whole.conditions


def _loops_in(body: Body) -> int:
    """The loops in a body."""
    return sum(1 + _loops_in(loop) for _, loop in body.loops)


def _is_as_easy(body: Body, other: Body) -> bool:
    """Whether a body is as easy to read as another one.

    A loop is easier to read than the conditions that would take its place, unless these are
    few, or follow rules and save many words. Trip counts alone are easier than conditions, too,
    if these leave as much open.
    """
    if body.whole is None or other.whole is None:
        return False
    fewer = _loops_in(other) - _loops_in(body)
    more = body.whole.conditions - other.whole.conditions
    by_rules = not body.whole.unexplained + body.whole.lists
    if fewer <= 0:
        explains_more = by_rules or body.whole.unexplained < other.whole.unexplained
        return more <= 0 or other.whole.conditions > 0 or explains_more
    saved = max(other.whole.rank[0] - body.whole.rank[0], 0) if by_rules else 0
    return more <= 2 * fewer + saved // _WORDS_A_CONDITION


@dataclass(slots=True)
class Effort:
    """How far the best reading of a program is looked for."""

    left: int = _WORK  # nodes and edges that are looked at before the search is cut off
    is_thorough: bool = True  # whether ends of a loop around others are looked for everywhere


def find_nest(
    graph: CallGraph,
    judge: ReadingCosts,
    known: LoopsAt | None = None,
    effort: Effort | None = None,
) -> Body:
    """The loops in a graph of calls, in the shortest of the readings that were tried."""
    nodes = sorted(range(graph.symbols), key=graph.place.__getitem__)
    region = Subgraph(nodes, graph.edges, graph.entries, graph.exits)
    of_judge = judge.known if known is None else known
    return _Nester(graph, judge, of_judge, effort or Effort()).body(region, 0)


def refined_nest(program: Body, graph: CallGraph, judge: ReadingCosts) -> Body:
    """A program with its loops in shorter readings that a few steps lead to."""
    graph = graph.without_lines_of(frozenset()) if graph.unordered else graph
    return _Nester(graph, judge, {}, Effort()).refined(program, is_program=True)


@dataclass(slots=True, eq=False)
class _Nester:
    """Looks for the loops in the parts of a graph, by what their readings cost."""

    graph: CallGraph
    judge: ReadingCosts
    known: dict[LoopKey, Body] | LoopsAt
    effort: Effort
    # the loops of one call, by this and whether they are in another
    of_one_call: dict[tuple[int, bool], Body] = field(default_factory=dict)
    # what is equal for loops that no step makes shorter
    shortest: set[Hashable] = field(default_factory=set)
    # of loops entered by count, the shortest that are entered where calls tell
    whole_entries: dict[Body, Body] = field(default_factory=dict)

    def body(self, region: Subgraph, depth: int) -> Body:
        """The loops and calls of a region, in an order that no edge contradicts."""
        singles = [[node] for node in region.nodes]
        groups = self._groups(region) if depth <= _DEEPEST_NEST else singles
        return self._body(region, self._ordered(region, groups), depth)

    def _ordered(self, region: Subgraph, groups: list[list[int]]) -> list[list[int]]:
        """The parts of a region, in an order that no edge contradicts."""
        of_node = {node: k for k, group in enumerate(groups) for node in group}
        places = [min(map(self.graph.place.__getitem__, group)) for group in groups]
        between = [(of_node[a], of_node[b]) for a, b in region.edges]
        return [groups[k] for k in in_order(places, between)]

    def _body(self, region: Subgraph, groups: Sequence[Sequence[int]], depth: int) -> Body:
        loops = iter(region.parts([group for group in groups if len(group) > 1]))
        elements = [
            self._loop(next(loops), depth)
            if len(group) > 1
            else self._single(group, region, depth)
            for group in groups
        ]
        position_of = {node: k for k, group in enumerate(groups) for node in group}
        steps = [(position_of[a], position_of[b], who) for (a, b), who in region.edges.items()]
        steps += [(-1, position_of[node], who) for node, who in region.entries.items()]
        steps += [(position_of[node], len(groups), who) for node, who in region.exits.items()]
        who_has = [
            _all_kinds(self.graph.kinds_of_site[node] for node in group) for group in groups
        ]
        disorder = self._disorder(elements)
        cost = _count_conditions(who_has, steps) + disorder * self.graph.kinds
        for element, who in zip(elements, who_has, strict=True):
            if isinstance(element, Body):
                cost += element.cost + who.bit_count()
        return Body(tuple(elements), cost, inner=_inner(elements, disorder))

    def _single(self, group: Sequence[int], region: Subgraph, depth: int) -> int | Body:
        """A call, or the loop that it is the body of."""
        (node,) = group
        if (node, node) not in region.edges:
            return node
        key = node, depth > 0
        if key not in self.of_one_call:
            self.of_one_call[key] = self._chosen([self._judged(Body((node,)))], depth)
        return self.of_one_call[key]

    def _chosen(self, readings: Sequence[Body], depth: int) -> Body:
        """The shortest of the readings of a loop, and of those that they suggest."""
        told = sorted((body for body in readings if body.whole), key=_rank_of)
        if not told:
            return min(readings, key=lambda body: body.cost)
        likely = [*map(self._with_hidden_loops, told[:_MOST_LIKELY])]
        body = min([*likely, *told], key=_rank_of)
        in_disorder = body.whole is not None and body.whole.disorder
        doubtful = (each for each in (likely if in_disorder else [body]) if each.leaves_open)
        body = min([body, *map(self._with_iterations_apart, doubtful)], key=_rank_of)
        if depth == 0:
            return body
        counted = min([*map(self._entered_by_count, told), body], key=_rank_of)
        if counted.most:
            self.whole_entries[counted] = body
        return counted

    def _with_iterations_apart(self, body: Body) -> Body:
        """A body with iterations parted that run on into each other, if that is shorter."""
        if len(body.elements) > _MOST_PARTED:
            return body
        for _ in range(_MOST_PARTINGS):
            shortest = body
            for other in self.judge.with_iterations_apart(body):
                shortest = self._shorter(shortest, other)
            if shortest is body:
                break
            body = shortest
        return body

    def _with_hidden_loops(self, body: Body) -> Body:
        """A body with loops in it that nobody saw, if that is shorter."""
        if body.leaves_open:
            for other in self.judge.with_hidden_loops(body):
                body = self._shorter(body, other)
        return body

    def refined(self, body: Body, *, is_program: bool = False) -> Body:
        """A body, and the loops in it, in the shortest reading that a few steps lead to."""
        if body.is_plain or body.inner is None:
            return body
        alike = None if is_program or len(body.calls) > _MOST_PARTED else self._alike(body)
        if alike in self.shortest:
            return body
        told = self._refined(body, is_program=is_program)
        if alike is not None and told is body:
            self.shortest.add(alike)
        return told

    def _refined(self, body: Body, *, is_program: bool) -> Body:
        told = self._with_refined_loops(body)
        if told is body and len(body.elements) > _LARGEST_REFINED:
            return body
        told = told if told.whole else self._told(told)
        if told.whole is None:
            return told
        # the best first, and also those that are hardly longer: two steps may be shorter
        left = [told, *(each for each in self._counted_anew(told) if each.whole)]
        best, seen = min(left, key=_rank_of), set(map(_looks, left))
        most = _rank_of(best)[0][0] + _LONGER
        for _ in range(_MOST_STEPS):
            near = [body for body in left if body.whole and body.whole.rank[0] <= most]
            if not near:
                break
            nearest = min(near, key=_rank_of)
            beside = self._beside(nearest, most, is_program=is_program)
            new = {_looks(body): body for body in beside}
            others = [body for looks, body in new.items() if looks not in seen]
            seen |= new.keys()
            left = [body for body in near if body is not nearest] + others
            best = min([best, *others], key=_rank_of)
            most = min(most, _rank_of(best)[0][0] + _LONGER)
        if best is not told:
            best = self._with_refined_loops(best, {*told.elements})
        return best if is_program else self._in_a_loop(best)

    def _in_a_loop(self, body: Body) -> Body:
        """A loop that makes the same calls again and again as one in another, if shorter."""
        if _is_told_by_rules(body):
            return body
        places = self.judge.equal_entries(body)
        if not places:
            return body
        judge = self.judge.entered_at(places)
        inner = _Nester(self.graph, judge, {}, self.effort).loop_of(body.calls)
        other = self._told(Body((judge.entering(inner, places),)))
        if other.whole is None or body.whole is None or not _is_as_easy(other, body):
            return body
        is_shorter = other.whole.rank[:2] < body.whole.rank[:2]
        return other if is_shorter else body

    def loop_of(self, calls: Iterable[int]) -> Body:
        """The shortest reading of some calls that are a loop in another."""
        graph, nodes = self.graph, sorted(calls, key=self.graph.place.__getitem__)
        (region,) = Subgraph(nodes, graph.edges, graph.entries, graph.exits).parts([nodes])
        return self.refined(self._loop(region, 1))

    def _alike(self, body: Body) -> Hashable:
        """What is equal for loops that are read alike, and whose calls are made alike."""
        graph = self.graph
        calls = sorted(body.calls, key=graph.place.__getitem__)
        names = {call: name for name, call in enumerate(calls)}
        paths = [graph.paths[call] for call in calls]
        return (
            renamed(body, names),
            *(graph.stands_before(*pair) for pair in permutations(calls, 2)),
            *map(paths.index, paths),
            *(graph.kinds_of_site[call] for call in calls),
            *self.judge.made(calls),
        )

    def _with_refined_loops(self, body: Body, known: Collection[int | Body] = ()) -> Body:
        """A body with the loops in it that are not known yet in their shortest reading."""
        told = body.with_loops(lambda loop: loop if loop in known else self.refined(loop))
        is_same = all(a is b for a, b in zip(told.elements, body.elements, strict=True))
        return body if is_same else self._told(told)

    def _beside(self, body: Body, most: int, *, is_program: bool) -> Iterator[Body]:
        """The readings of some length at most that a step leads to."""
        steps = edits(body, self.graph, self.judge, is_program=is_program)
        if not is_program and len(body.elements) <= _MOST_PARTED:
            steps = chain(
                steps,
                self.judge.with_iterations_apart(body),
                self.judge.with_ends_apart(body),
                self.judge.with_plainer_trips(body),
            )
        for step in steps:
            if step.plain_length <= most + 2 * is_program:
                told = self._told(step)
                if _is_as_easy(told, body):
                    yield told

    def _counted_anew(self, body: Body) -> Iterator[Body]:
        """A body with a loop that is entered by count in the reading that is best without."""
        for at, loop in body.loops:
            if loop.most:
                whole = self.refined(self._told(loop.entered_by_count(())))
                for most, rise in ((), 0), *self.judge.entries_by_count(whole, body):
                    yield self._told(body.put(at, at + 1, whole.entered_by_count(most, rise)))

    def _groups(self, region: Subgraph) -> list[list[int]]:
        """The nodes that are in one loop together."""
        self.effort.left -= len(region.edges) + len(region.nodes)
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

    def _against_lines(self, region: Subgraph, groups: Sequence[Sequence[int]]) -> list[Edge]:
        """The edges between groups that go back to an earlier line of one function."""
        of_node = {node: k for k, group in enumerate(groups) for node in group}
        return [
            (a, b)
            for a, b in region.edges
            if of_node[a] != of_node[b] and self.graph.stands_before(b, a)
        ]

    def _loop(self, region: Subgraph, depth: int) -> Body:
        """The body of a region that is one loop: the shortest of several ways to read it."""
        if depth == _DEEPEST_NEST:
            return self.body(region.without(self._back(region)), depth + 1)
        nodes = sorted(region.nodes)
        doubted = self.graph.doubted_among(nodes)
        edges = frozenset(region.edges)
        is_inner = depth > 0
        key = tuple(nodes), edges, doubted, is_inner
        body = self.known.get(key)
        if body is None:
            body = self._best(region, depth)
            # what is doubted for the sake of other loops may be right for this one
            believed = self.known.get((tuple(nodes), edges, frozenset(), is_inner)) or body
            is_less = believed.whole and body.whole and believed.whole.rank < body.whole.rank
            body = believed if is_less else body
            self.known[key] = body
        return body

    def _best(self, region: Subgraph, depth: int) -> Body:
        readings: list[Body] = []
        best: Cost | None = None
        in_order = True
        size, more = len(region.nodes), 0
        for is_likely, left, groups in self._ways(region):
            explained = best is not None and not best.unexplained and in_order
            if best is not None and explained and size > _SMALL_LOOP and not is_likely:
                more += 1
                is_worth_it = depth == 0 and size <= _CLEAR and best.conditions >= _MANY_WORDS
                if not is_worth_it or more > _MOST_MORE:
                    break
            body = self._judged(self._body(left, groups, depth + 1), best)
            readings.append(body)
            if body.whole and (best is None or body.whole.rank < best.rank):
                in_order = not self._disorder(body.elements)
            best = min(filter(None, (best, body.whole)), default=None, key=lambda c: c.rank)
            too_far = size > _LARGEST_SEARCH or depth >= _DEEPEST_SEARCH
            if too_far or body.is_plain:
                break
        return self._chosen(readings, depth)

    def _judged(self, body: Body, best: Cost | None = None) -> Body:
        """The body of a loop, with what it costs; without it if that is more than the best."""
        calls = len(body.elements) - len(body.loops)
        least = body.inner and body.inner.plus(Cost(0, calls))
        if best is not None and least is not None and least.rank > best.rank:
            return body
        shortest = self._told(body, is_other=False)
        if shortest.whole is not None and shortest.leaves_open:
            for other in self._with_whole_entries(shortest):
                shortest = self._shorter(shortest, other)
        return shortest

    def _shorter(self, body: Body, other: Body) -> Body:
        """The shorter of two bodies that make the same calls, the first if in doubt."""
        told = self._told(other)
        if told.whole is None or body.whole is None:
            return body
        is_shorter = told.whole.rank < body.whole.rank and told.whole.words <= body.whole.words
        return told if is_shorter else body

    def _entered_by_count(self, body: Body) -> Body:
        """A loop in another, entered by count if that is shorter."""
        if body.whole is None or not body.leaves_open:
            return body
        most = self.judge.shared_trips(body)
        return self._shorter(body, replace(body, most=most)) if most else body

    def _with_whole_entries(self, body: Body) -> Iterator[Body]:
        """A body with loops entered where calls tell, one or all: each is longer by itself."""
        known = self.whole_entries
        whole = {at: known[loop] for at, loop in body.loops if loop in known}
        for some in [*([at] for at in whole), *([whole] if len(whole) > 1 else [])]:
            own = (whole[at] if at in some else each for at, each in enumerate(body.elements))
            yield body.of(own)

    def _told(self, body: Body, around: Body | None = None, *, is_other: bool = True) -> Body:
        """The body of a loop, with what it costs, if anybody knows."""
        if any(loop.inner is None for _, loop in body.loops):
            body = body.with_loops(
                lambda loop: self._told(loop, body) if loop.inner is None else loop
            )
        inner = body.inner or _inner(body.elements, self._disorder(body.elements))
        own = self.judge.cost(body, around, is_other=is_other)
        return body.told(own and inner and own.plus(inner), inner)

    def _ways(self, region: Subgraph) -> Iterator[tuple[bool, Subgraph, list[list[int]]]]:
        """The region without edges that may lead on, the likeliest first, and its loops."""
        seen: list[set[Edge]] = []
        seen_groups: set[tuple[frozenset[int], ...]] = set()
        cycles = _components(region.nodes, _successors(region.edges))
        against = self._against_lines(region, cycles)
        likely = ((True, way) for way in next_iterations(region, self.graph, against))
        others = ((False, way) for way in outer_iterations(region, self.graph))
        for is_likely, chosen in chain(likely, others if self.effort.is_thorough else ()):
            if self.effort.left <= 0:
                break
            if chosen and chosen not in seen:
                seen.append(chosen)
                left = region.without(chosen)
                groups = self._ordered(left, self._groups(left))
                parts = *map(frozenset, groups), frozenset(a for a, b in left.edges if a == b)
                if len(groups) > 1 and parts not in seen_groups:  # less than the whole loop
                    seen_groups.add(parts)
                    yield is_likely, left, groups
        if not seen_groups:  # or no time to look: all edges against the order of the program
            left = region.without(self._back(region))
            yield True, left, self._ordered(left, self._groups(left))

    def _back(self, region: Subgraph) -> set[Edge]:
        """All edges against the order of the program."""
        place = self.graph.place
        return {(a, b) for a, b in region.edges if place[b] < place[a]}

    def _disorder(self, elements: Sequence[int | Body]) -> int:
        """The number of neighbours that stand against the order of their lines."""
        ends = [first_and_last_call(element) for element in elements]
        neighbours = [(before[1], after[0]) for before, after in pairwise(ends)]
        return sum(self.graph.goes_back_in(*pair) is not None for pair in neighbours)


def _inner(elements: Sequence[int | Body], disorder: int) -> Cost | None:
    """What the loops in a body cost, and its lines in disorder; None if nobody knows."""
    inner: Cost | None = Cost(0, disorder, disorder=disorder)
    for element in elements:
        if isinstance(element, Body):
            inner = inner and element.whole and inner.plus(element.whole)
    return inner


def _count_conditions(who_has: Sequence[int], steps: Iterable[tuple[int, int, int]]) -> int:
    """The number of parts of a body that a kind of lanes executes sometimes, over all kinds."""
    # A part goes on until a way around it begins or ends.
    changes: dict[int, list[tuple[int, int]]] = {}
    for source, target, who in steps:
        if target - source > 1:
            changes.setdefault(source + 1, []).append((who, 1))
            changes.setdefault(target, []).append((who, -1))
    conditions = 0
    ways: dict[int, int] = {}  # those around, by the kinds of lanes that take them
    for position, element_kinds in enumerate(who_has):
        if position in changes:
            for who, change in changes[position]:
                ways[who] = ways.get(who, 0) + change
            around = _all_kinds(who for who, some in ways.items() if some)
            conditions += (around & element_kinds).bit_count()
    return conditions


def _all_kinds(sets: Iterable[int]) -> int:
    return reduce(or_, sets, 0)


def _successors(edges: Iterable[Edge]) -> dict[int, list[int]]:
    after: dict[int, list[int]] = {}
    for source, target in edges:
        after.setdefault(source, []).append(target)
    return after


def _components(nodes: Iterable[int], after: dict[int, list[int]]) -> list[list[int]]:
    """The strongly connected components of a graph."""
    # Tarjan's algorithm without recursion, DOI 10.1137/0201010, from above all nodes
    reaches = {_ABOVE: 0}  # the first node, as they are found, that each leads back to
    found: list[int] = []  # nodes that are in no part yet
    parts: list[list[int]] = []
    trail = [(_ABOVE, 0, iter(nodes))]
    while True:
        node, place, targets = trail[-1]
        for target in targets:
            if target not in reaches:
                trail.append((target, len(reaches), iter(after.get(target, ()))))
                reaches[target] = len(reaches)
                found.append(target)
                break
            if reaches[target] < reaches[node]:  # noqa: PLR1730 -- takes half the time of min
                reaches[node] = reaches[target]
        else:
            trail.pop()
            if not trail:
                return parts
            if reaches[node] < place:
                above = trail[-1][0]
                reaches[above] = min(reaches[above], reaches[node])
                continue
            parts.append([])
            while node not in parts[-1][-1:]:
                parts[-1].append(found.pop())
                reaches[parts[-1][-1]] = _NEVER


def in_order(places: Sequence[int], edges: Iterable[Edge]) -> list[int]:
    """Parts of a graph, each before its successors; where no edge decides, by their places."""
    after: list[list[int]] = [[] for _ in places]
    left = [0] * len(places)  # edges from parts that are not in order yet
    for source, target in edges:
        if source != target:
            after[source].append(target)
            left[target] += 1
    ready = [(place, part) for part, place in enumerate(places) if not left[part]]
    heapq.heapify(ready)
    ordered: list[int] = []
    while ready:
        _, part = heapq.heappop(ready)
        ordered.append(part)
        for target in after[part]:
            left[target] -= 1
            if not left[target]:
                heapq.heappush(ready, (places[target], target))
    if len(ordered) < len(places):
        raise CycleError
    return ordered
