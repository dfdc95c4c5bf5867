"""Assembly: unique calls of ranks and drafts of loops become one program.

::

    Draft trees + Reduced  --merge calls of all ranks, sort by line-->  items of an Outcome
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import _core
from burstline.identity import communicator_names
from burstline.structure.pooling import Pool
from burstline.structure.program.nodes import Call, Loop
from burstline.structure.program_order import program_places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from burstline.columns import Floats, Integers
    from burstline.structure.program.iterations import Steps
    from burstline.structure.program.nodes import Item
    from burstline.structure.reduction import Reduced
    from burstline.trace import Trace

_NOWHERE: Final = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The program that one method found, without its fidelity."""

    method: str  # how it was found
    parameters: Mapping[str, object]  # the arguments of the method
    reduced: Reduced  # the unique calls
    items: tuple[Item, ...]  # the program, in its order
    left_out: tuple[Call, ...]  # calls that the method did not look at
    steps: Steps  # when the iterations of its loops were
    unique_calls: int  # different calls, by rank, operation and call path


@dataclass(frozen=True, slots=True, eq=False)
class _Around:
    """The loop around a body: its number; on each lane its iterations and their mean time."""

    loop: int
    begins_ns: Mapping[int, Integers]
    executions: Integers
    mean_ns: Floats


@dataclass(slots=True, eq=False)
class Draft:
    """A loop before it becomes a node of the program."""

    calls: list[int]  # unique calls of its body, subloops apart
    children: list[Draft] = field(default_factory=list)  # loops of its body
    # when its iterations began, by lane
    iterations_ns: dict[int, Integers] = field(default_factory=dict)
    # when the last call of each iteration's body was entered, by lane; on lanes where each
    # iteration has one
    body_end_ns: dict[int, Integers] = field(default_factory=dict)
    phase: int = 0  # the phase it belongs to
    hidden: bool = False  # whether it has no call of its own

    def first_ns(self) -> int:
        """When its first iteration began, on the rank where it did so first."""
        return min(int(times[0]) for times in self.iterations_ns.values())

    def repetitions(self) -> int:
        """The iterations on the rank with most of them."""
        return max(len(times) for times in self.iterations_ns.values())


@dataclass(frozen=True, slots=True, eq=False)
class Assembly:
    """Turns drafts into nodes."""

    reduced: Reduced  # the unique calls
    place: Sequence[int]  # place of each site in the program
    pool: Pool  # makes the calls
    # the loops made so far by their number, with the number of the loop around
    numbered: dict[int, tuple[Draft, int | None]] = field(default_factory=dict)

    def items(self, drafts: Iterable[Draft], outside: Iterable[int]) -> tuple[Item, ...]:
        """The nodes of a program, of its outermost loops and the calls outside loops."""
        return self._body(drafts, outside, None, count(1))

    def calls(self, uniques: Iterable[int]) -> tuple[Call, ...]:
        """A node for each site among unique calls, in the order of the program."""
        return tuple(sorted(self._calls(uniques, None), key=lambda call: self.place[call.site]))

    def _body(
        self,
        drafts: Iterable[Draft],
        uniques: Iterable[int],
        around: _Around | None,
        ids: Iterator[int],
    ) -> tuple[Item, ...]:
        placed: list[tuple[int, Draft | Call]] = [
            (self._place(draft), draft) for draft in drafts
        ]
        placed += [(self.place[call.site], call) for call in self._calls(uniques, around)]
        placed.sort(key=itemgetter(0))
        return tuple(
            node if isinstance(node, Call) else self._loop(node, around, ids)
            for _, node in placed
        )

    def _calls(self, uniques: Iterable[int], around: _Around | None) -> list[Call]:
        """A call for each call path, of the unique calls of all ranks."""
        members = np.fromiter(uniques, np.int64)
        rounds = self.reduced.repetitions_of(members)
        if around is not None:
            rounds = around.executions[self.reduced.lane[members]]
        groups: dict[int, list[int]] = {}
        iterations: dict[int, int] = {}
        for unique, site, times in zip(
            members.tolist(),
            self.reduced.site[members].tolist(),
            rounds.tolist(),
            strict=True,
        ):
            groups.setdefault(site, []).append(unique)
            iterations[site] = iterations.get(site, 0) + times
        return self.pool.calls(list(groups.values()), list(iterations.values()))

    def _place(self, draft: Draft) -> int:
        places = [self.place[number] for number in self.reduced.site[draft.calls].tolist()]
        return min(places + [self._place(child) for child in draft.children])

    def _loop(self, draft: Draft, outer: _Around | None, ids: Iterator[int]) -> Loop:
        number = next(ids)
        self.numbered[number] = draft, None if outer is None else outer.loop
        executions = np.zeros(len(self.reduced.ranks), np.int64)
        entries, filled = np.zeros_like(executions), np.zeros_like(executions)
        mean_ns = np.zeros(len(executions))
        for lane, begins in draft.iterations_ns.items():
            outside = _NOWHERE if outer is None else outer.begins_ns.get(lane, _NOWHERE)
            times, around_times = len(begins), max(len(outside), 1)
            entered, mean = _entered(begins, outside)
            if outer is not None and len(outside):
                mean = min(mean, outer.mean_ns[lane] * around_times / times)
            executions[lane], entries[lane] = times, around_times
            filled[lane], mean_ns[lane] = min(entered, around_times), mean
        lanes = executions > 0
        spent = np.clip(mean_ns[lanes] * executions[lanes] / self.reduced.run_ns, 0, 1)
        around = _Around(number, draft.iterations_ns, executions, mean_ns)
        return Loop(
            id=number,
            parent=None if outer is None else outer.loop,
            ranks=tuple(np.unique(self.reduced.ranks[lanes]).tolist()),
            executions=executions,
            iterations=float(executions[lanes].sum() / entries[lanes].sum()),
            probability=float(filled[lanes].sum() / entries[lanes].sum()),
            mean_ns=float(np.average(mean_ns[lanes], weights=executions[lanes])),
            share=float(spent.mean()),
            items=self._body(draft.children, draft.calls, around, ids),
            hidden=draft.hidden,
        )


def assembly(trace: Trace, reduced: Reduced) -> Assembly:
    """What turns the drafts of a trace into nodes."""
    paths = [site.path for site in reduced.sites]
    pool = Pool(reduced, communicator_names(trace))
    return Assembly(reduced, program_places(paths, _lanes(reduced)), pool)


def _lanes(reduced: Reduced) -> Iterator[list[int]]:
    """The sites of each lane in the order of their first execution."""
    bounds = np.searchsorted(reduced.lane, np.arange(len(reduced.ranks) + 1))
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        order = begin + np.argsort(reduced.first_ns[begin:end], kind="stable")
        yield reduced.site[order].tolist()


def _entered(begins_ns: Integers, around_ns: Integers) -> tuple[int, float]:
    """Entries into a loop, and the mean time between iterations of one entry in ns."""
    entries, steps, total_ns = _core.steps_within(begins_ns, around_ns)
    if not steps:  # each entry has one iteration: the time between all of them
        steps, total_ns = len(begins_ns) - 1, int(begins_ns[-1] - begins_ns[0])
    return entries, total_ns / max(steps, 1)
