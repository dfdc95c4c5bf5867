"""The nodes of a nest: what each element did, as loops, conditions and calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np

from burstline import _core
from burstline.columns import Integers, Mask, quotients
from burstline.structure.assembly import share_of_run
from burstline.structure.exact.body import Body
from burstline.structure.exact.occurrences import Executions
from burstline.structure.program.nodes import Call, Condition, Item, Loop
from burstline.structure.program.rules import Around
from burstline.structure.program.runs import Runs

Part = int | tuple["Part", ...]
"""An element of a body, or what is in a condition."""
_BEGIN, _END = -1, -2
"""What the kernel writes around the elements of a condition."""


@dataclass(frozen=True, slots=True, eq=False)
class NodeBuilder:
    """Turns a nest into nodes."""

    executions: Executions  # what each element did
    calls: Mapping[int, Call]  # the call of each site
    ranks: Integers  # (lanes,) rank of each lane
    run_ns: int  # how long the run lasted
    # numbers of the loops, each before those in it, as in the nest that was read
    ids: Iterator[int] = field(default_factory=lambda: count(1))

    def items(self, body: Body, around: Around) -> tuple[Item, ...]:
        """The nodes of the body of a loop, or the program."""
        nodes: list[Item] = []
        when: list[Runs] = []
        times = self._times(around)
        for element in body.elements:
            if isinstance(element, Body):
                number = next(self.ids)
                when.append(self.executions.of_element(len(self.calls) + number))
                nodes.append(self._loop(element, number, around, when[-1]))
            else:
                when.append(self.executions.of_element(element))
                counts = when[-1].counts
                share = float(counts.sum() / times[counts > 0].sum())
                nodes.append(replace(self.calls[element], when=when[-1], probability=share))
        return self._conditional(nodes, when, around)

    def _loop(self, body: Body, number: int, around: Around, when: Runs) -> Loop:
        times = self._times(around)
        executions = self.executions.iterations[number]
        inside_ns = self.executions.inside_ns[number]
        entered = when.counts
        lanes = executions > 0
        loop = Loop(
            id=number,
            parent=None if around.loop is None else around.loop.id,
            ranks=tuple(np.unique(self.ranks[lanes]).tolist()),
            executions=executions,
            iterations=float(executions[lanes].sum() / times[lanes].sum()),
            entered=entered,
            probability=float(entered[lanes].sum() / times[lanes].sum()),
            lane_mean_ns=quotients(inside_ns, executions),
            mean_ns=float(inside_ns[lanes].sum() / executions[lanes].sum()),
            inside_ns=inside_ns.astype(np.float64),
            share=share_of_run(inside_ns.astype(np.float64), lanes, self.run_ns),
            items=(),
            when=when,
            trips=self.executions.trips_of(number),
        )
        return replace(loop, items=self.items(body, around.inner(loop)))

    def _conditional(
        self, items: Sequence[Item], when: Sequence[Runs], around: Around
    ) -> tuple[Item, ...]:
        """The items of a body, with conditions around what only some iterations execute."""
        times = self._times(around)
        if around.loop is None or not any(runs.leaves_out(times) for runs in when):
            return tuple(items)
        trips = self.executions.trips_of(around.loop.id)
        parts = _conditional_body(when, trips)
        by_element = dict(enumerate(when))
        return tuple(self._node(part, items, by_element, times) for part in parts)

    def _node(
        self, part: Part, items: Sequence[Item], when: Mapping[int, Runs], times: Integers
    ) -> Item:
        """An item of a body, or the condition on some, by the executions of the body."""
        if isinstance(part, int):
            item, own = items[part], when[part]
            return item if item.when is own else replace(item, when=own)
        elements = _elements_in(part)
        # Most elements of a condition are executed in the same iterations as others of it.
        keys = {e: when[e].key() for e in elements}
        different = {keys[e]: when[e] for e in elements}
        holds = Runs.union([*different.values()])
        held = holds.counts
        places = {key: each.within(holds) for key, each in different.items()}
        within = {e: places[keys[e]] for e in elements}
        lanes = held > 0
        return Condition(
            ranks=tuple(np.unique(self.ranks[lanes]).tolist()),
            executions=held,
            probability=float(held.sum() / times[lanes].sum()),
            items=tuple(self._node(each, items, within, held) for each in part),
            when=holds,
        )

    def _times(self, around: Around) -> Integers:
        """How often a body was executed, on each lane; the program once."""
        once = np.ones(self.executions.lanes, np.int64)
        return once if around.executions is None else around.executions


def _conditional_body(when: Sequence[Runs], trips: Runs) -> tuple[Part, ...]:
    """The elements of a body, with conditions around what not all iterations execute."""
    parts: list[list[Part]] = [[]]
    for each in _core.conditional_body(*_iterations(when, trips)).tolist():
        if each == _BEGIN:
            parts.append([])
        elif each == _END:
            inside = tuple(parts.pop())
            parts[-1].append(inside)
        else:
            parts[-1].append(each)
    return tuple(parts[0])


def _iterations(when: Sequence[Runs], trips: Runs) -> tuple[Mask, Mask, Integers]:
    """What each iteration executes, which begin an entry, their lane; of equal lanes one."""
    lanes = range(len(trips.begin) - 1)
    iterations = np.array([trips.values(lane).sum() for lane in lanes])
    depends = [runs.leaves_out(iterations) for runs in when]
    some = [runs for runs, is_some in zip(when, depends, strict=True) if is_some]
    different = {tuple(r.key_on(k) for r in (trips, *some)): k for k in lanes}
    own = list(different.values())
    total = int(iterations[own].sum())
    executed, begins = np.ones((len(when), total), np.bool_), np.zeros(total, np.bool_)
    executed[depends] = False
    before = np.cumsum(iterations[own]) - iterations[own]
    for place, lane in zip(before.tolist(), own, strict=True):
        for row in np.flatnonzero(depends).tolist():
            executed[row, place + when[row].values(lane)] = True
        each = trips.values(lane)
        begins[place + np.cumsum(each) - each] = True
    return executed, begins, np.repeat(np.arange(len(own)), iterations[own])


def _elements_in(part: Part) -> list[int]:
    """The elements of a part, in their order."""
    return [part] if isinstance(part, int) else [e for p in part for e in _elements_in(p)]
