"""The exact method: loops out of what follows what, all lanes read as the same program.

Without lines of source, the order of calls shows which of one name are several places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Final

import numpy as np

from burstline.columns import Integers, Mask
from burstline.identity import Sites
from burstline.structure.assembly import FoundProgram, assembly
from burstline.structure.exact.body import Body, Cost
from burstline.structure.exact.callgraph import CallGraph, call_graph
from burstline.structure.exact.choice import ReadingCosts
from burstline.structure.exact.known import known_program
from burstline.structure.exact.loopnest import Effort, find_nest, refined_nest
from burstline.structure.exact.nodes import NodeBuilder
from burstline.structure.exact.occurrences import Executions, Nest, NestSteps, read
from burstline.structure.exact.repeats import Codes, likely_sites
from burstline.structure.exact.shared_loops import LoopsAt, SharedLoops
from burstline.structure.exact.site_steps import SiteSteps, Step
from burstline.structure.program.length import description_length
from burstline.structure.program.nodes import Item
from burstline.structure.program.rules import Around, Conditions, weight_of_rules
from burstline.structure.program_order import Function
from burstline.structure.source import Source
from burstline.structure.stretches import Times

_PLAIN: Final = 1.4
"""How much longer a program of plain loops may be than one that leaves something open."""

_MOST_DOUBTFUL: Final = 8
"""Functions whose lines are doubted, each for one more reading."""

_MOST_SITES: Final = 2
"""Sites for each name, in the mean, that are not doubted where no line tells them."""

_SOME, _MUCH = 0.1, 0.25
"""The share of its words that a reading at other sites has to save: much, if it has fewer loops
or more conditions."""

_WORDS_A_CONDITION: Final = 4
"""Words that it has to save for each condition more."""

_MOST_TRIED: Final = 80
"""Readings that are tried on the way from one start, each at sites a step from others."""

_LOOKS, _CALLS_PER_LOOK = 100_000, 8
"""Nodes and edges that are looked at on that way, and calls that are as much work as one."""

_NOTHING: Final = Around()


def by_order(source: Source) -> FoundProgram:
    """The loops of a program, by which of its calls follow which."""
    sites, lane_begin = source.sites, source.calls.lane_begin
    reading = with_likelier_sites(best_reading(sites, lane_begin), sites, lane_begin)
    return _shortest_program(source, reading)


def as_known(source: Source) -> FoundProgram | None:
    """The loops that the trace tells of; None if it tells of none that its calls follow."""
    sites, lane_begin = source.sites, source.calls.lane_begin
    program = known_program(source.trace, source.calls, sites)
    if program is None:
        return None
    graph = call_graph(sites, lane_begin)
    return _shortest_program(source, Reading.read_as(program, sites, lane_begin, graph))


def by_any_order(source: Source) -> Iterator[FoundProgram]:
    """The loops of a program, in each way that its sites and lines may be read."""
    for way in likely_sites(source.sites, source.calls.lane_begin):
        reading = Reading.of(way, source.calls.lane_begin)
        yield _shortest_program(source, reading)
        for function in reading.doubtful_functions():
            yield _shortest_program(source, reading.without_lines_of(function))


def _shortest_program(source: Source, reading: Reading) -> FoundProgram:
    reduced = source.reduced_at(reading.sites)
    made = assembly(source.trace, reduced).calls(range(len(reduced.lane)))
    of_site = {call.site: call for call in made}

    def items_of(reading: Reading) -> tuple[Item, ...]:
        builder = NodeBuilder(reading.executions, of_site, reduced.ranks, reduced.run_ns)
        return builder.items(reading.program, Around())

    if (refined := reading.refined()) is not reading and rank_of(items_of(refined)) < rank_of(
        items_of(reading)
    ):
        reading = refined
    steps = reading.steps
    times = source.times(steps.stretches())
    return FoundProgram(
        method="exact",
        parameters={},
        reduced=reduced,
        items=items_of(reading.timed(times)),
        left_out=(),
        steps=steps,
        times=dict(enumerate(times, 1)),
        unique_calls=len(source.reduced.lane),
    )


def rank_of(
    items: Sequence[Item], around: Around = _NOTHING
) -> tuple[int, int, tuple[int, int]]:
    """What is less for the better of two true programs, or parts, that which is chosen."""
    unexplained = Conditions.of(items, around).unexplained
    length = description_length(items, around)
    return length + 2 * unexplained, length, weight_of_rules(items, around)


def best_reading(sites: Sites, lane_begin: Integers) -> Reading:
    """The calls of some lanes, read the way that says most of them in the fewest words."""
    ways = likely_sites(sites, lane_begin)
    reading = Reading.of(ways[0], lane_begin)
    for way in ways[1:]:
        if reading.may_be_longer_than(len(way)):
            other = Reading.of(way, lane_begin)
            reading = other if other.is_shorter_than(reading) else reading
    for function in reading.doubtful_functions():
        other = reading.without_lines_of(function)
        reading = other if other.is_shorter_than(reading) else reading
    return reading


def with_likelier_sites(reading: Reading, sites: Sites, lane_begin: Integers) -> Reading:
    """A reading, or one at sites some steps away that says the same in fewer words.

    From its own sites, and from those that neighbours tell, as long as they are doubtful.
    """
    steps = SiteSteps.of(sites, lane_begin)
    if steps is None:
        return reading
    loops, best = SharedLoops(), reading
    for start in chain([steps.calls.way(reading.sites)], steps.starts()):
        if not best.has_doubtful_sites:
            break
        way = _some_steps_from(start, steps, loops, lane_begin)
        if best.may_be_longer_than(int(way.max()) + 1):
            other = Reading.of(steps.sites(way), lane_begin)
            if other.is_clearer_than(reading) and other.is_shorter_than(best):
                best = other
    return best


def _some_steps_from(
    way: Codes, steps: SiteSteps, loops: SharedLoops, lane_begin: Integers
) -> Codes:
    """The sites that steps lead to, each the first one that makes the reading shorter."""
    effort = Effort(_LOOKS, is_thorough=False)

    def read_at(way: Codes) -> Reading:
        effort.left -= len(way) // _CALLS_PER_LOOK
        return Reading.of(steps.sites(way), lane_begin, effort=effort, known=loops.at(way))

    reading, tried, taken = read_at(way), 0, set[Step]()
    is_shorter = True
    while is_shorter:
        is_shorter = False
        for other in steps.beside(way, reading.program.calls, taken):
            if tried == _MOST_TRIED or effort.left <= 0:
                return way
            if reading.may_be_longer_than(int(other.max()) + 1):
                tried += 1
                beside = read_at(other)
                if is_shorter := beside.is_shorter_than(reading):
                    reading, way = beside, other
                    break
    return way


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One way to read the calls: their sites, and the loops these are in."""

    sites: Sites
    lane_begin: Integers  # (lanes + 1,) where the calls of each lane begin
    graph: CallGraph
    program: Body
    nest: Nest
    executions: Executions
    size: float  # nodes of a kind of lanes, and irregularities of a lane, in the mean
    judge: ReadingCosts | None  # of what its loops cost

    @classmethod
    def of(
        cls,
        sites: Sites,
        lane_begin: Integers,
        graph: CallGraph | None = None,
        judge: ReadingCosts | None = None,
        *,
        known: LoopsAt | None = None,
        effort: Effort | None = None,
    ) -> Reading:
        """The calls of some lanes, read by the order in which their lines are executed."""
        judge = judge or ReadingCosts.of(sites, lane_begin)
        graph = graph or call_graph(sites, lane_begin)
        program = find_nest(graph, judge, known, effort)
        return cls.read_as(program, sites, lane_begin, graph, judge).without_single_iterations()

    @classmethod
    def read_as(
        cls,
        program: Body,
        sites: Sites,
        lane_begin: Integers,
        graph: CallGraph,
        judge: ReadingCosts | None = None,
    ) -> Reading:
        """The calls of some lanes, read as those of a program."""
        nest = Nest.of(program, graph.symbols, len(lane_begin) - 1, judge)
        executions = read(nest, sites.of_call, lane_begin)
        executed = sum(kinds.bit_count() for kinds in graph.kinds_of_site)
        nodes = (executed + program.cost) / max(graph.kinds, 1)
        irregular = (
            executions.when.irregularities().sum() + executions.trips.irregularities().sum()
        )
        size = nodes + irregular / executions.lanes
        return cls(sites, lane_begin, graph, program, nest, executions, size, judge)

    def _as(self, program: Body) -> Reading:
        """The same calls, read as those of another program."""
        return self.read_as(program, self.sites, self.lane_begin, self.graph, self.judge)

    @property
    def steps(self) -> NestSteps:
        """The iterations of its loops."""
        return NestSteps(self.nest, self.sites.of_call, self.lane_begin)

    def timed(self, times: Sequence[Times]) -> Reading:
        """The same with what the entries of each loop took."""
        executions = self.executions
        inside_ns = np.stack([executions.inside_ns[0], *(each.total_ns for each in times)])
        return replace(self, executions=replace(executions, inside_ns=inside_ns))

    def without_single_iterations(self) -> Reading:
        """The same, with what is in loops of one iteration in their place: they are none."""
        trips = self.executions.iterations == self.executions.trips.counts.reshape(
            -1, self.executions.lanes
        )
        single = np.flatnonzero(trips.all(axis=1))[1:]  # the program is executed once
        if not len(single):
            return self
        program = _without_loops(self.program, set(single.tolist()))
        return self._as(program)

    def refined(self) -> Reading:
        """The same calls, in a shorter reading that is a few steps away, if there is one."""
        if self.judge is None:
            return self
        program = refined_nest(self.program, self.graph, self.judge.once_more())
        is_same = program is self.program
        return self if is_same else self._as(program).without_single_iterations()

    @property
    def cost(self) -> Cost | None:
        """What it costs to write the program down; None if nobody knows."""
        calls = len(self.program.elements) - len(self.program.loops)
        return self.program.inner and self.program.inner.plus(Cost(0, calls))

    def is_shorter_than(self, other: Reading) -> bool:
        """Whether this way says the same in fewer words."""
        if self.cost is None and other.cost is None:
            return self.size < other.size
        if self.cost is None or other.cost is None:
            return other.cost is None  # what takes too long to tell is long
        length, *rest = self.cost.rank
        others, *others_rest = other.cost.rank
        if self._is_plain != other._is_plain and self.cost.unexplained + other.cost.unexplained:
            return length < others * (_PLAIN if self._is_plain else 1 / _PLAIN)
        return (length, *rest) < (others, *others_rest)

    def is_clearer_than(self, other: Reading) -> bool:
        """Whether this way is shorter by some words and as easy to read, or by many words.

        Loops are easier to read than conditions, and sites that no line tells are a guess.
        """
        if self.cost is None or other.cost is None or not self.is_shorter_than(other):
            return False
        saved = other.cost.rank[0] - self.cost.rank[0]
        share = saved / other.cost.rank[0]
        more = self.cost.conditions - other.cost.conditions
        if more <= 0 and len(self.nest.loop_parent) >= len(other.nest.loop_parent):
            return share >= _SOME
        return share >= _MUCH and more <= saved // _WORDS_A_CONDITION

    def may_be_longer_than(self, calls: int) -> bool:
        """Whether a reading of so many calls may be better than this one."""
        if self.cost is None:
            return True
        return calls < self.cost.rank[0] * (_PLAIN if self.cost.unexplained else 1)

    @property
    def has_doubtful_sites(self) -> bool:
        """Whether there are many, for their names, or something in their loops is left open."""
        if self.cost is None:
            return False  # nor can anybody tell what other sites cost
        names = {site.operation for site in self.sites.distinct}
        leaves_open = self.cost.unexplained + self.cost.lists > 0
        return leaves_open or len(self.sites) > _MOST_SITES * len(names)

    @property
    def _is_plain(self) -> bool:
        """Whether there are loops, all without conditions and of constant trip counts."""
        loops = self.program.loops
        return bool(loops) and all(loop.is_plain for _, loop in loops)

    def without_lines_of(self, function: Function) -> Reading:
        """The calls read anew, where the lines of one more function do not tell their order."""
        unordered = {*self.graph.unordered, function}
        graph = self.graph.without_lines_of(unordered)
        return self.of(self.sites, self.lane_begin, graph, self.judge)

    def doubtful_functions(self) -> list[Function]:
        """Functions whose lines may be wrong, those most often against the calls first."""
        # Inlining gives calls the lines of others. Read by wrong lines, a loop shows conditions
        # that follow no rule; where all follow one there is no need to doubt.
        irregular = self._irregular_loops()
        loop = self.nest.symbol_loop
        edges = self.graph.edges
        doubted = (
            edge for edge in edges if irregular[loop[edge[0]]] or irregular[loop[edge[1]]]
        )
        back = Counter(self.graph.goes_back_in(*edge) for edge in doubted)
        return [function for function, _ in back.most_common(_MOST_DOUBTFUL) if function]

    def _irregular_loops(self) -> Mask:
        """Which loops, the program first, run once, or have elements by no rule, (loops,)."""
        executions, nest = self.executions, self.nest
        when = executions.when.irregularities().reshape(-1, executions.lanes).any(axis=1)
        trips = executions.trips.irregularities().reshape(-1, executions.lanes).any(axis=1)
        around = np.concatenate([nest.symbol_loop, nest.loop_parent])
        entries = executions.trips.counts.reshape(-1, executions.lanes)
        once = (executions.iterations == entries).all(axis=1)
        once[0] = False  # the program
        return np.isin(np.arange(len(nest.loop_parent)), around[when]) | trips | once


def _without_loops(program: Body, chosen: Collection[int]) -> Body:
    """The program with the elements of some loops in place of these, by their numbers."""
    number = count(1)

    def rebuilt(body: Body) -> Body:
        elements: list[int | Body] = []
        for element in body.elements:
            if isinstance(element, int):
                elements.append(element)
                continue
            is_chosen = next(number) in chosen
            inner = rebuilt(element)
            # what is in a loop that goes is not entered anew by count: no iterations are left
            told = inner.with_loops(lambda loop: replace(loop, most=(), rise=0, anew=()))
            elements += told.elements if is_chosen else [inner]
        return replace(body, elements=tuple(elements))

    return rebuilt(program)
