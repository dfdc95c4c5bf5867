"""The nodes of a nest: what each element did, as loops, conditions and calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import NamedTuple

import numpy as np

from burstline.columns import Integers, quotients
from burstline.structure.assembly import share_of_run
from burstline.structure.exact.loopnest import Body
from burstline.structure.exact.occurrences import Executions
from burstline.structure.program.length import length_of
from burstline.structure.program.nodes import Call, Condition, Item, Loop
from burstline.structure.program.rules import Around, set_rules
from burstline.structure.program.runs import Runs


class _BodyPart(NamedTuple):
    """A node of a body; the elements in it, and when each was executed."""

    node: Item
    items: Sequence[Item]
    when: Sequence[Runs]


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
                counts = when[-1].counts()
                share = float(counts.sum() / times[counts > 0].sum())
                nodes.append(replace(self.calls[element], when=when[-1], probability=share))
        return self._conditional(nodes, when, around)

    def _loop(self, body: Body, number: int, around: Around, when: Runs) -> Loop:
        times = self._times(around)
        executions = self.executions.iterations[number]
        inside_ns = self.executions.inside_ns[number]
        entered = when.counts()
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
        # What a lane executes in all iterations, or in none, is no condition there. Neighbours
        # executed in the same iterations of a body, but not in all, are one condition.
        times = self._times(around)
        keys = [runs.key() if runs.leaves_out(times) else None for runs in when]
        parts: list[_BodyPart] = []
        begin = 0
        while begin < len(items):
            end = begin + 1
            if keys[begin] is None:
                parts.append(_BodyPart(items[begin], items[begin:end], when[begin:end]))
            else:
                end = _end_of_condition(keys, when, begin)
                inside = slice(begin, end)
                parts.append(self._condition(items[inside], when[inside], when[begin], around))
            begin = end
        return self._with_conditions_in_others(parts, around)

    def _with_conditions_in_others(
        self, parts: list[_BodyPart], around: Around
    ) -> tuple[Item, ...]:
        """The nodes of a body, a condition in the one beside it where that is shorter."""
        nodes = [part.node for part in parts]
        at = 0
        while at + 1 < len(parts):
            first, second = parts[at : at + 2]
            holds = _wider_condition(first.node, second.node)
            if holds is not None:
                items, when = [*first.items, *second.items], [*first.when, *second.when]
                both = self._condition(items, when, holds, around)
                other = [*nodes[:at], both.node, *nodes[at + 2 :]]
                if _is_shorter(other, nodes, around):
                    nodes = other
                    parts[at : at + 2] = [both]
                    at = max(at - 1, 0)
                    continue
            at += 1
        return tuple(nodes)

    def _condition(
        self, items: Sequence[Item], when: Sequence[Runs], holds: Runs, around: Around
    ) -> _BodyPart:
        """The condition on some items that are executed only if it holds."""
        held = holds.counts()
        within = [runs.within(holds) for runs in when]
        inner = [replace(item, when=runs) for item, runs in zip(items, within, strict=True)]
        lanes = held > 0
        condition = Condition(
            ranks=tuple(np.unique(self.ranks[lanes]).tolist()),
            executions=held,
            probability=float(held.sum() / self._times(around)[lanes].sum()),
            items=(),
            when=holds,
        )
        inside = self._conditional(inner, within, around.inner(condition))
        return _BodyPart(replace(condition, items=inside), items, when)

    def _times(self, around: Around) -> Integers:
        """How often a body was executed, on each lane; the program once."""
        once = np.ones(self.executions.lanes, np.int64)
        return once if around.executions is None else around.executions


def _is_shorter(items: Sequence[Item], others: Sequence[Item], around: Around) -> bool:
    """Whether a body is shorter than another, or as long with plainer rules."""
    lengths = length_of(items, around), length_of(others, around)
    if lengths[0] != lengths[1]:
        return lengths[0] < lengths[1]
    return set_rules(items, around) < set_rules(others, around)


def _wider_condition(first: Item, second: Item) -> Runs | None:
    """When one of two conditions holds without which the other does not; None if none does."""
    if not isinstance(first, Condition) or not isinstance(second, Condition):
        return None
    if second.when.is_within(first.when):
        return first.when
    return second.when if first.when.is_within(second.when) else None


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
