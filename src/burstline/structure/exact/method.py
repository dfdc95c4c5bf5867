"""The exact method: loops out of what follows what, all lanes read as the same program.

Without lines of source, the order of calls shows which of one name are several places.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.columns import dense, quotients
from burstline.structure.assembly import Outcome, assembly, share_of_run
from burstline.structure.exact.callgraph import call_graph
from burstline.structure.exact.known import known_program
from burstline.structure.exact.loopnest import Body, find_nest
from burstline.structure.exact.occurrences import Nest, NestSteps, read
from burstline.structure.exact.repeats import refined_sites
from burstline.structure.program.nodes import Condition, Loop
from burstline.structure.reduction import reduce_to_sites

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from burstline.columns import Integers, Mask
    from burstline.identity import Sites
    from burstline.structure.calls import Calls
    from burstline.structure.exact.callgraph import CallGraph
    from burstline.structure.exact.occurrences import Lanes, Reading
    from burstline.structure.program.nodes import Call, Item
    from burstline.structure.program.runs import Runs
    from burstline.structure.program_order import Function
    from burstline.structure.reduction import Reduced
    from burstline.trace import Trace


_MOST_DOUBTFUL: Final = 8
"""Functions whose lines are doubted, each for one more reading."""


def by_order(
    trace: Trace, calls: Calls, sites: Sites, reduced: Reduced | None = None
) -> Outcome:
    """The loops of a program, by which of its calls follow which."""
    return _outcome(trace, calls, sites, best_version(sites, calls), reduced)


def as_known(trace: Trace, calls: Calls, sites: Sites) -> Outcome | None:
    """The loops that the trace tells of; None if it tells of none that its calls follow."""
    program = known_program(trace, calls, sites)
    if program is None:
        return None
    graph = call_graph(sites, calls.lane_begin)
    return _outcome(trace, calls, sites, Version.read_as(program, sites, graph, calls))


def by_any_order(trace: Trace, calls: Calls, sites: Sites) -> Iterator[Outcome]:
    """The loops of a program, in each way that its sites and lines may be read."""
    for way in (sites, *refined_sites(sites, calls.lane_begin)):
        version = Version.of(way, calls)
        yield _outcome(trace, calls, sites, version)
        for function in version.doubtful_functions():
            other = version.without_lines_of(function, calls)
            yield _outcome(trace, calls, sites, other)


def _outcome(
    trace: Trace, calls: Calls, sites: Sites, version: Version, reduced: Reduced | None = None
) -> Outcome:
    unique = dense(calls.lane * len(sites) + sites.of_call, len(calls.ranks) * len(sites))[1]
    if reduced is None or version.sites is not sites:
        reduced = reduce_to_sites(trace, calls, version.sites)
    made = assembly(trace, reduced).calls(range(len(reduced.lane)))
    programmer = _Programmer(
        version.reading, {call.site: call for call in made}, calls.ranks, reduced.run_ns
    )
    return Outcome(
        method="exact",
        parameters={},
        reduced=reduced,
        items=programmer.items(version.program, np.ones(len(calls.ranks), np.int64)),
        left_out=(),
        steps=NestSteps(version.nest, version.sites.of_call, calls.lane_begin),
        unique_calls=len(unique),
    )


def best_version(sites: Sites, lanes: Lanes) -> Version:
    """The calls of some lanes, read the way that says most of them in the fewest words."""
    ways = [sites, *refined_sites(sites, lanes.lane_begin)]
    version = min((Version.of(way, lanes) for way in ways), key=lambda way: way.size)
    for function in version.doubtful_functions():
        other = version.without_lines_of(function, lanes)
        version = other if other.size < version.size else version
    return version


@dataclass(frozen=True, slots=True, eq=False)
class Version:
    """One way to read the calls: their sites, and the loops these are in."""

    sites: Sites
    graph: CallGraph
    program: Body
    nest: Nest
    reading: Reading
    size: float  # nodes of a kind of lanes, and irregularities of a lane, in the mean

    @classmethod
    def of(cls, sites: Sites, lanes: Lanes) -> Version:
        """The calls of some lanes, read by the order in which their lines are executed."""
        return cls._read(sites, call_graph(sites, lanes.lane_begin), lanes)

    @classmethod
    def _read(cls, sites: Sites, graph: CallGraph, lanes: Lanes) -> Version:
        return cls.read_as(find_nest(graph), sites, graph, lanes)

    @classmethod
    def read_as(cls, program: Body, sites: Sites, graph: CallGraph, lanes: Lanes) -> Version:
        """The calls of some lanes, read as those of a program."""
        nest = Nest.of(program, graph.symbols)
        reading = read(nest, sites.of_call, lanes)
        executed = sum(kinds.bit_count() for kinds in graph.who)
        nodes = (executed + program.cost) / max(graph.kinds, 1)
        irregular = reading.when.irregularities().sum() + reading.trips.irregularities().sum()
        return cls(sites, graph, program, nest, reading, nodes + irregular / reading.lanes)

    def without_lines_of(self, function: Function, lanes: Lanes) -> Version:
        """The calls read anew, where the lines of one more function do not tell their order."""
        unordered = {*self.graph.unordered, function}
        return self._read(self.sites, self.graph.without_lines_of(unordered), lanes)

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
        """Which loops, the program first, have an element executed by no rule, (loops,)."""
        reading, nest = self.reading, self.nest
        when = reading.when.irregularities().reshape(-1, reading.lanes).any(axis=1)
        trips = reading.trips.irregularities().reshape(-1, reading.lanes).any(axis=1)
        around = np.concatenate([nest.symbol_loop, nest.loop_parent])
        return np.isin(np.arange(len(nest.loop_parent)), around[when]) | trips


@dataclass(frozen=True, slots=True, eq=False)
class _Programmer:
    """Turns a nest into nodes."""

    reading: Reading  # what each element did
    calls: Mapping[int, Call]  # the call of each site
    ranks: Integers  # (lanes,) rank of each lane
    run_ns: int  # how long the run lasted
    # numbers of the loops, each before those in it, as in the nest that was read
    ids: Iterator[int] = field(default_factory=lambda: count(1))

    def items(self, body: Body, times: Integers, loop: int | None = None) -> tuple[Item, ...]:
        """The nodes of the body of a loop, or the program, by its executions on each lane."""
        nodes: list[Item] = []
        when: list[Runs] = []
        for element in body.elements:
            if isinstance(element, Body):
                number = next(self.ids)
                when.append(self.reading.of_element(len(self.calls) + number))
                nodes.append(self._loop(element, number, loop, when[-1], times))
            else:
                when.append(self.reading.of_element(element))
                counts = when[-1].counts()
                share = float(counts.sum() / times[counts > 0].sum())
                nodes.append(replace(self.calls[element], when=when[-1], probability=share))
        return self._conditional(nodes, when, times)

    def _loop(
        self, body: Body, number: int, parent: int | None, when: Runs, times: Integers
    ) -> Loop:
        executions = self.reading.iterations[number]
        inside_ns = self.reading.inside_ns[number]
        entered = when.counts()
        lanes = executions > 0
        return Loop(
            id=number,
            parent=parent,
            ranks=tuple(np.unique(self.ranks[lanes]).tolist()),
            executions=executions,
            iterations=float(executions[lanes].sum() / times[lanes].sum()),
            entered=entered,
            probability=float(entered[lanes].sum() / times[lanes].sum()),
            lane_mean_ns=quotients(inside_ns, executions),
            mean_ns=float(inside_ns[lanes].sum() / executions[lanes].sum()),
            inside_ns=inside_ns.astype(np.float64),
            share=share_of_run(inside_ns.astype(np.float64), lanes, self.run_ns),
            items=self.items(body, executions, number),
            when=when,
            trips=self.reading.trips_of(number),
        )

    def _conditional(
        self, items: Sequence[Item], when: Sequence[Runs], times: Integers
    ) -> tuple[Item, ...]:
        """The items of a body, with conditions around what only some iterations execute."""
        # What a lane executes in all iterations, or in none, is no condition there. Neighbours
        # executed in the same iterations of a body, but not in all, are one condition.
        keys = [runs.key() if runs.leaves_out(times) else None for runs in when]
        nodes: list[Item] = []
        begin = 0
        while begin < len(items):
            end = begin + 1
            if keys[begin] is None:
                nodes.append(items[begin])
            else:
                end = _end_of_condition(keys, when, begin)
                nodes.append(self._condition(items[begin:end], when[begin:end], times))
            begin = end
        return tuple(nodes)

    def _condition(
        self, items: Sequence[Item], when: Sequence[Runs], times: Integers
    ) -> Condition:
        """The condition that holds when the first of its items is executed."""
        holds = when[0]
        held = holds.counts()
        within = [runs.within(holds) for runs in when]
        inner = [replace(item, when=runs) for item, runs in zip(items, within, strict=True)]
        lanes = held > 0
        return Condition(
            ranks=tuple(np.unique(self.ranks[lanes]).tolist()),
            executions=held,
            probability=float(held.sum() / times[lanes].sum()),
            items=self._conditional(inner, within, held),
            when=holds,
        )


def _end_of_condition(keys: Sequence[bytes | None], when: Sequence[Runs], begin: int) -> int:
    """The end of what is executed only if the element at `begin` is."""
    # the last element with the same executions, if all between have no others
    end = position = begin + 1
    while position < len(keys) and keys[position] is not None:
        if keys[position] == keys[begin]:
            end = position + 1
        elif not (keys[begin] in keys[position:] and when[position].is_within(when[begin])):
            break
        position += 1
    return end
