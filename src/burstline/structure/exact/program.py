"""Program: a nest that was read becomes nodes, with the conditions that hold in it.

::

    Body + Reading  --elements executed together-->  Condition, Loop, Call

What a lane executes in all iterations, or in none, is no condition there. Neighbours that
are executed in the same iterations of a body, but not in all, are one condition.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

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

    def items(self, program: Body) -> tuple[Item, ...]:
        """The nodes of a program."""
        once = np.ones(len(self.ranks), np.int64)
        return self._body(program, once, None)

    def _body(self, body: Body, times: Integers, loop: int | None) -> tuple[Item, ...]:
        """The nodes of a body that each lane executes so many `times`."""
        nodes: list[Item] = []
        when: list[Runs] = []
        for element in body.elements:
            if isinstance(element, Body):
                number = next(self.ids)
                when.append(self.reading.of_element(len(self.calls) + number))
                nodes.append(self._loop(element, number, when[-1], (times, loop)))
            else:
                when.append(self.reading.of_element(element))
                nodes.append(self._call(element, when[-1], times))
        return self._conditional(nodes, when, times)

    def _call(self, site: int, when: Runs, times: Integers) -> Call:
        counts = when.counts()
        share = counts.sum() / times[counts > 0].sum()
        return replace(self.calls[site], when=when, probability=float(share))

    def _loop(
        self, body: Body, number: int, when: Runs, around: tuple[Integers, int | None]
    ) -> Loop:
        times, parent = around
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
            items=self._body(body, executions, number),
            when=when,
            trips=self.reading.trips_of(number),
        )

    def _conditional(
        self, items: Sequence[Item], when: Sequence[Runs], times: Integers
    ) -> tuple[Item, ...]:
        """The items of a body, with conditions around what only some iterations execute."""
        keys = [runs.key() if runs.leaves_out(times) else None for runs in when]
        nodes: list[Item] = []
        position = 0
        while position < len(items):
            until = position + 1
            if keys[position] is None:
                nodes.append(items[position])
            else:
                until = _end_of_condition(keys, when, position)
                part = slice(position, until)
                nodes.append(self._condition(items[part], when[part], times))
            position = until
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
