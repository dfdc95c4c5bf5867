"""The exact method: loops out of what follows what, all lanes read as the same program.

Without lines of source, the order of calls shows which of one name are several places.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import count, pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import _core
from burstline.columns import dense, prefix_sums
from burstline.identity import Sites
from burstline.structure.assembly import Outcome, assembly
from burstline.structure.exact.callgraph import call_graph
from burstline.structure.exact.loopnest import Body, find_nest
from burstline.structure.exact.occurrences import Nest, NestSteps, read
from burstline.structure.program.nodes import Condition, Loop
from burstline.structure.reduction import reduce_to_sites

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from burstline.columns import Integers, Mask
    from burstline.structure.calls import Calls
    from burstline.structure.exact.callgraph import CallGraph
    from burstline.structure.exact.occurrences import Reading
    from burstline.structure.program.nodes import Call, Item
    from burstline.structure.program.runs import Runs
    from burstline.structure.program_order import Function
    from burstline.structure.reduction import Reduced
    from burstline.trace import Trace


_FIRST_TIMES: Final = (2, 3)
"""What is folded first: all that is repeated, or what is repeated more than by chance."""

_WORK_PER_CALL: Final = 200
_MOST_SITES: Final = 64
"""Sites for one of before; a program that seems to have more is not regular enough."""

_MOST_DOUBTFUL: Final = 8
"""Functions whose lines are doubted, each for one more reading."""


def refined_sites(sites: Sites, lane_begin: Integers) -> list[Sites]:
    """The same calls, in several ways, with more sites for those without a line of source."""
    uncertain = np.array([not s.path or s.path[-1].line is None for s in sites.distinct])
    if not uncertain.any():
        return []
    candidates = (_folded(sites, lane_begin, uncertain, times) for times in _FIRST_TIMES)
    return [folded for folded in candidates if folded is not None]


def _folded(
    sites: Sites, lane_begin: Integers, uncertain: Mask, first_times: int
) -> Sites | None:
    # Without paths, sites differ by the partner's place beside the caller: that tells what is
    # repeated, but ranks that have other partners at the same place run the same program.
    count = len(sites)
    general = [replace(site, offset=None) for site in sites.distinct]
    kinds = _first_alike([(s.operation, s.path, s.communicator) for s in general])
    teams = _lanes_alike(kinds[sites.of_call], lane_begin)
    parts = [_together(sites.of_call, lane_begin, lanes, count) for lanes in teams]
    former = np.concatenate([keys for _, keys in parts])
    shifts = prefix_sums(np.array([len(keys) for _, keys in parts]))
    sequence = np.concatenate(
        [part + shift for (part, _), shift in zip(parts, shifts.tolist(), strict=False)]
    )
    begin = prefix_sums(np.array([len(part) for part, _ in parts]))
    site, symbol = _core.fold_sites(
        sequence.astype(np.int32),
        begin,
        _first_alike(kinds[former].tolist()),
        first_times,
        _WORK_PER_CALL * len(sites.of_call),
    )
    if len(symbol) > _MOST_SITES * count:
        return None
    folded = dict.fromkeys(range(len(lane_begin) - 1), site)
    for lanes, (start, end) in zip(teams, pairwise(begin.tolist()), strict=True):
        folded |= dict.fromkeys(lanes, site[start:end])
    new = count + np.concatenate(list(folded.values()))
    renamed = np.where(uncertain[sites.of_call], new, sites.of_call)
    of_call, keys = dense(renamed, count + len(symbol))
    if len(keys) == count:
        return None
    names = np.concatenate([np.arange(count), former[symbol]])[keys]
    distinct = tuple(general[number] for number in names.tolist())
    return Sites(of_call.astype(np.int32), distinct, sites.has_paths)


def _first_alike(things: Sequence[Hashable]) -> npt.NDArray[np.int32]:
    """The place of the first that is equal, of each thing."""
    first: dict[Hashable, int] = {}
    places = [first.setdefault(thing, place) for place, thing in enumerate(things)]
    return np.array(places, np.int32)


def _lanes_alike(kinds: npt.NDArray[np.int32], lane_begin: Integers) -> list[list[int]]:
    """The lanes whose calls are of the same kinds, one after another."""
    teams: dict[bytes, list[int]] = {}
    for lane, (begin, end) in enumerate(pairwise(lane_begin.tolist())):
        teams.setdefault(kinds[begin:end].tobytes(), []).append(lane)
    return list(teams.values())


def _together(
    of_call: npt.NDArray[np.int32], lane_begin: Integers, lanes: Sequence[int], count: int
) -> tuple[Integers, Integers]:
    """The calls of lanes alike as one sequence, of symbols equal where all are; their sites."""
    bounds = [slice(lane_begin[lane], lane_begin[lane + 1]) for lane in lanes]
    together, keys = dense(of_call[bounds[0]].astype(np.int64), count)
    for calls in bounds[1:]:
        together, keys = dense(together * count + of_call[calls], len(keys) * count)
    first = np.zeros(len(keys), np.int64)
    first[together[::-1]] = of_call[bounds[0]][::-1]
    return together, first


def by_order(
    trace: Trace, calls: Calls, sites: Sites, reduced: Reduced | None = None
) -> Outcome:
    """The loops of a program, by which of its calls follow which."""
    unique = dense(calls.lane * len(sites) + sites.of_call, len(calls.ranks) * len(sites))[1]
    ways = [sites, *refined_sites(sites, calls.lane_begin)]
    version = min((_Version.of(way, calls) for way in ways), key=lambda way: way.size)
    for function in version.doubtful_functions():
        other = version.without_lines_of(function, calls)
        version = other if other.size < version.size else version
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


@dataclass(frozen=True, slots=True, eq=False)
class _Version:
    """One way to read the calls: their sites, and the loops these are in."""

    sites: Sites
    graph: CallGraph
    program: Body
    nest: Nest
    reading: Reading
    size: float  # nodes of a kind of lanes, and irregularities of a lane, in the mean

    @classmethod
    def of(cls, sites: Sites, calls: Calls) -> _Version:
        return cls._read(sites, call_graph(sites, calls.lane_begin), calls)

    @classmethod
    def _read(cls, sites: Sites, graph: CallGraph, calls: Calls) -> _Version:
        program = find_nest(graph)
        nest = Nest.of(program, graph.symbols)
        reading = read(nest, sites.of_call, calls)
        executed = sum(kinds.bit_count() for kinds in graph.who)
        nodes = (executed + program.cost) / max(graph.kinds, 1)
        irregular = reading.when.irregularities().sum() + reading.trips.irregularities().sum()
        return cls(sites, graph, program, nest, reading, nodes + irregular / reading.lanes)

    def without_lines_of(self, function: Function, calls: Calls) -> _Version:
        """The calls read anew, where the lines of one more function do not tell their order."""
        unordered = {*self.graph.unordered, function}
        return self._read(self.sites, self.graph.without_lines_of(unordered), calls)

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
            probability=float(entered[lanes].sum() / times[lanes].sum()),
            mean_ns=float(inside_ns[lanes].sum() / executions[lanes].sum()),
            share=float(np.clip(inside_ns[lanes] / self.run_ns, 0, 1).mean()),
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
