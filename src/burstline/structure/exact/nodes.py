"""The nodes of a nest: what each element did, as loops, conditions and calls."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from burstline.columns import quotients
from burstline.structure.assembly import share_of_run
from burstline.structure.exact.loopnest import Body
from burstline.structure.program.nodes import Condition, Loop

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from burstline.columns import Integers
    from burstline.structure.exact.occurrences import Reading
    from burstline.structure.program.nodes import Call, Item
    from burstline.structure.program.runs import Runs


@dataclass(frozen=True, slots=True, eq=False)
class Programmer:
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
