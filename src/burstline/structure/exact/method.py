"""The exact method: loops out of what follows what, all lanes read as the same program.

Without lines of source, the order of calls shows which of one name are several places.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import _core
from burstline.columns import dense
from burstline.identity import Sites
from burstline.structure.assembly import Outcome, assembly
from burstline.structure.exact.callgraph import call_graph
from burstline.structure.exact.loopnest import Body, find_nest
from burstline.structure.exact.occurrences import Nest, NestSteps, read
from burstline.structure.program.nodes import Condition, Loop
from burstline.structure.reduction import reduce_to_sites

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from burstline.columns import Integers, Mask
    from burstline.structure.calls import Calls
    from burstline.structure.exact.occurrences import Reading
    from burstline.structure.program.nodes import Call, Item
    from burstline.structure.program.runs import Runs
    from burstline.structure.reduction import Reduced
    from burstline.trace import Trace


_FIRST_TIMES: Final = (2, 3)
"""What is folded first: all that is repeated, or what is repeated more than by chance."""

_WORK_PER_CALL: Final = 200
_MOST_SITES: Final = 8
"""Sites for one of before; a program that seems to have more is not regular enough."""


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
    count = len(sites)
    work = _WORK_PER_CALL * len(sites.of_call)
    site, symbol = _core.fold_sites(sites.of_call, lane_begin, count, first_times, work)
    if len(symbol) > _MOST_SITES * count:
        return None
    names = np.where(uncertain[sites.of_call], count + site, sites.of_call)
    of_call, keys = dense(names, count + len(symbol))
    if len(keys) == count:
        return None
    former = np.where(keys < count, keys, symbol[np.maximum(keys - count, 0)])
    return Sites(
        of_call.astype(np.int32),
        tuple(sites.distinct[number] for number in former.tolist()),
        sites.has_paths,
    )


def by_order(
    trace: Trace, calls: Calls, sites: Sites, reduced: Reduced | None = None
) -> Outcome:
    """The loops of a program, by which of its calls follow which."""
    unique = dense(calls.lane * len(sites) + sites.of_call, len(calls.ranks) * len(sites))[1]
    ways = [sites, *refined_sites(sites, calls.lane_begin)]
    version = min((_Version.of(way, calls) for way in ways), key=lambda way: way.size)
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
    program: Body
    nest: Nest
    reading: Reading
    size: float  # nodes of the program, and irregularities of a lane in the mean

    @classmethod
    def of(cls, sites: Sites, calls: Calls) -> _Version:
        graph = call_graph(sites, calls.lane_begin)
        program = find_nest(graph)
        nest = Nest.of(program, graph.symbols)
        reading = read(nest, sites.of_call, calls)
        nodes = graph.symbols + program.cost / max(graph.kinds, 1)
        irregular = reading.when.irregularities() + reading.trips.irregularities()
        return cls(sites, program, nest, reading, nodes + irregular / reading.lanes)


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
