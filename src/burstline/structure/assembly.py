"""Assembly: unique calls of all ranks and drafts of loops become the nodes of one program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from operator import itemgetter
from typing import Any, Final, NamedTuple

import numpy as np

from burstline import _core
from burstline.columns import Floats, Integers, Mask, begins_run, placed
from burstline.identity import communicator_names
from burstline.model import UNKNOWN, Trace
from burstline.structure.partner_laws import Law
from burstline.structure.program.iterations import Steps
from burstline.structure.program.nodes import Call, Item, Loop
from burstline.structure.program_order import paths_to_compare, program_places
from burstline.structure.reduction import Reduced
from burstline.structure.stretches import Times


def _or_none(value: float) -> float | None:
    return None if isnan(value) else value


def _without_nan(names: Sequence[str], values: Sequence[float]) -> dict[str, float]:
    return {name: value for name, value in zip(names, values, strict=True) if not isnan(value)}


def pooled(
    means: Floats, spreads: Floats, weights: Integers, begin: Integers
) -> tuple[Floats, Floats]:
    """The mean and standard deviation of groups as if their members were one."""
    is_known = ~np.isnan(means)
    share = np.where(is_known, weights[:, None], 0)
    total = np.add.reduceat(share, begin).astype(np.float64)
    total[total == 0] = np.nan
    mean = np.add.reduceat(np.where(is_known, means, 0.0) * share, begin) / total
    group = np.repeat(np.arange(len(begin)), np.diff(begin, append=len(means)))
    spread = slice(spreads.shape[1])
    distance = np.nan_to_num(means[:, spread] - mean[group][:, spread])
    squares = (np.nan_to_num(spreads) ** 2 + distance**2) * share[:, spread]
    return mean, np.sqrt(np.add.reduceat(squares, begin) / total[:, spread])


def share_of_run(inside_ns: Floats, lanes: Mask | Integers, run_ns: int) -> float:
    """The share of the run inside of a loop, as the mean of the lanes that execute it."""
    return float(np.clip(inside_ns[lanes] / run_ns, 0, 1).mean())


def means_of(
    reduced: Reduced, members: Integers, weights: Integers, begin: Integers
) -> Iterator[dict[str, Any]]:
    """What calls say of their times, sizes and counters, for each group of unique calls."""
    names = reduced.counters
    single = (reduced.time_ns, reduced.size_bytes, reduced.burst_ns)
    columns = (*single, reduced.burst_counters, reduced.iteration_counters)
    spreads = np.column_stack([reduced.time_spread_ns, reduced.size_spread_bytes])[members]
    values = np.column_stack([column[members] for column in columns])
    means, joined = pooled(values, spreads, weights, begin)
    for row, (time_spread_ns, size_spread) in zip(means.tolist(), joined.tolist(), strict=True):
        time_ns, size_bytes, burst_ns, *counted = row
        yield {
            "time_ns": time_ns,
            "time_spread_ns": time_spread_ns,
            "size_bytes": _or_none(size_bytes),
            "size_spread_bytes": _or_none(size_spread),
            "burst_ns": _or_none(burst_ns),
            "counters": _without_nan(names, counted[: len(names)]),
            "iteration_counters": _without_nan(names, counted[len(names) :]),
        }


# Each member sends each other one as much. Of a program with messages, these tell the pattern.
_TO_ALL: Final = {"MPI_Alltoall", "MPI_Ialltoall", "MPI_Alltoall_init"}
_NOWHERE: Final = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class FoundProgram:
    """The program that one method found, without its fidelity."""

    method: str  # how it was found
    parameters: Mapping[str, object]  # the arguments of the method
    reduced: Reduced  # the unique calls
    items: tuple[Item, ...]  # the program, in its order
    left_out: tuple[Call, ...]  # calls that the method did not look at
    steps: Steps  # when the iterations of its loops were
    times: Mapping[int, Times]  # of the entries of each loop, by its number
    unique_calls: int  # different calls, by rank, operation and call path


@dataclass(frozen=True, slots=True, eq=False)
class _Around:
    """The loop around a body: its number; on each lane its iterations and their mean time."""

    loop: int
    draft: Draft
    executions: Integers
    mean_ns: Floats


class DraftTimes(NamedTuple):
    """How long a draft takes on each lane."""

    iterating: Times  # from the first begin of an iteration to the last, in each entry
    inside: Times  # from the first call to the last, in each entry


@dataclass(slots=True, eq=False)
class Draft:
    """A loop before it becomes a node of the program."""

    calls: list[int]  # unique calls of its body, subloops apart
    children: list[Draft] = field(default_factory=list)  # loops of its body
    begins: dict[int, Integers] = field(default_factory=dict)  # moments of iterations, by lane
    # the moments at which the last call of each iteration's body was entered, by lane; on lanes
    # where each iteration has one
    ends: dict[int, Integers] = field(default_factory=dict)
    firsts_ns: dict[int, int] = field(default_factory=dict)  # when the first began, by lane
    hidden: bool = False  # whether it has no call of its own

    def first_ns(self) -> int:
        """When its first iteration began, on the rank where it did so first."""
        return min(self.firsts_ns.values())

    def repetitions(self) -> int:
        """The iterations on the rank with most of them."""
        return max(map(len, self.begins.values()))


@dataclass(frozen=True, slots=True, eq=False)
class NodeAssembly:
    """Turns unique calls and drafts into nodes."""

    reduced: Reduced  # the unique calls
    place: Sequence[int]  # place of each site in the program
    communicators: Sequence[str]  # the name of each communicator
    times: Mapping[int, DraftTimes] = field(default_factory=dict)  # by a draft's identity
    # the loops made so far by their number, with the number of the loop around
    numbered: dict[int, tuple[Draft, int | None]] = field(default_factory=dict)

    def items(self, drafts: Iterable[Draft], outside: Iterable[int]) -> tuple[Item, ...]:
        """The nodes of a program, of its outermost loops and the calls outside loops."""
        return self._body(drafts, outside, None)

    def calls(self, uniques: Iterable[int]) -> tuple[Call, ...]:
        """A node for each site among unique calls, in the order of the program."""
        return tuple(sorted(self._calls(uniques, None), key=lambda call: self.place[call.site]))

    def _body(
        self, drafts: Iterable[Draft], uniques: Iterable[int], around: _Around | None
    ) -> tuple[Item, ...]:
        placed: list[tuple[int, Draft | Call]] = [
            (self._place(draft), draft) for draft in drafts
        ]
        placed += [(self.place[call.site], call) for call in self._calls(uniques, around)]
        placed.sort(key=itemgetter(0))
        return tuple(
            node if isinstance(node, Call) else self._loop(node, around) for _, node in placed
        )

    def _calls(self, uniques: Iterable[int], around: _Around | None) -> Iterator[Call]:
        """A call for each site, of the unique calls of all ranks."""
        reduced = self.reduced
        members = np.fromiter(uniques, np.int64)
        if not len(members):
            return
        members = members[np.argsort(reduced.site[members], kind="stable")]
        lane, site = reduced.lane[members], reduced.site[members]
        begin = np.flatnonzero(begins_run(site))
        repetitions = reduced.repetitions_of(members)
        rounds = repetitions if around is None else around.executions[lane]
        share = np.add.reduceat(repetitions, begin) / np.add.reduceat(rounds, begin)
        parts = np.split(np.arange(len(members)), begin[1:])
        means = means_of(reduced, members, repetitions, begin)
        for number, part, probability, values in zip(
            site[begin].tolist(), parts, share.tolist(), means, strict=True
        ):
            executions = placed(repetitions[part], lane[part], len(reduced.ranks))
            yield Call(
                site=number,
                operation=reduced.sites[number].operation,
                path=reduced.sites[number].path,
                ranks=self._ranks(lane[part]),
                executions=executions,
                probability=probability,
                **values,
                **self._partners(members[part], reduced.sites[number].operation),
                communicator=self._communicator(members[part]),
                communicators=reduced.memberships.communicators(members[part]),
                roots=self._ranks(lane[part][reduced.is_root[members[part]]]),
            )

    def _ranks(self, lanes: Integers | Mask) -> tuple[int, ...]:
        return tuple(np.unique(self.reduced.ranks[lanes]).tolist())

    def _partners(self, members: Integers, operation: str) -> dict[str, Any]:
        exchanges = self.reduced.exchanges
        partners = exchanges.partners(members)
        if operation in _TO_ALL and exchanges.are_none:
            partners = replace(partners, law=Law("all others", 1.0))
        offsets = set(self.reduced.offset[members].ravel().tolist()) - {UNKNOWN}
        return {"partners": partners, "offset": offsets.pop() if len(offsets) == 1 else None}

    def _communicator(self, members: Integers) -> str | None:
        numbers = set(self.reduced.communicator[members].tolist()) - {UNKNOWN}
        names = {self.communicators[number] for number in numbers}
        return "several" if len(names) > 1 else next(iter(names), None)

    def _place(self, draft: Draft) -> int:
        places = [self.place[number] for number in self.reduced.site[draft.calls].tolist()]
        return min(places + [self._place(child) for child in draft.children])

    def _loop(self, draft: Draft, outer: _Around | None) -> Loop:
        number = len(self.numbered) + 1
        self.numbered[number] = draft, None if outer is None else outer.loop
        executions = np.zeros(len(self.reduced.ranks), np.int64)
        entries, filled = np.zeros_like(executions), np.zeros_like(executions)
        mean_ns = np.zeros(len(executions))
        iterating, inside = self.times[id(draft)]
        known: dict[tuple[int, int], tuple[int, int, int]] = {}  # alike on lanes of a kind
        for lane, begins in draft.begins.items():
            outside = _NOWHERE if outer is None else outer.draft.begins.get(lane, _NOWHERE)
            times, around_times = len(begins), max(len(outside), 1)
            key = id(begins), id(outside)
            if key not in known:
                known[key] = _core.steps_within(begins, outside)
            entered, steps, _ = known[key]
            total_ns = int(iterating.total_ns[lane])
            if not steps:  # each entry has one iteration: the time between all of them
                steps = times - 1
                total_ns = int(iterating.end_ns[lane] - iterating.start_ns[lane])
            mean = total_ns / max(steps, 1)
            if outer is not None and len(outside):
                mean = min(mean, outer.mean_ns[lane] * around_times / times)
            executions[lane], entries[lane] = times, around_times
            filled[lane], mean_ns[lane] = min(entered, around_times), mean
        lanes = executions > 0
        inside_ns = inside.total_ns.astype(np.float64)
        around = _Around(number, draft, executions, mean_ns)
        return Loop(
            id=number,
            parent=None if outer is None else outer.loop,
            ranks=self._ranks(lanes),
            executions=executions,
            iterations=float(executions[lanes].sum() / entries[lanes].sum()),
            entered=filled,
            probability=float(filled[lanes].sum() / entries[lanes].sum()),
            lane_mean_ns=mean_ns,
            mean_ns=float(np.average(mean_ns[lanes], weights=executions[lanes])),
            inside_ns=inside_ns,
            share=share_of_run(inside_ns, lanes, self.reduced.run_ns),
            items=self._body(draft.children, draft.calls, around),
            hidden=draft.hidden,
        )


def assembly(
    trace: Trace, reduced: Reduced, times: Mapping[int, DraftTimes] | None = None
) -> NodeAssembly:
    """What turns the drafts of a trace into nodes; of drafts, that takes their times."""
    order = np.lexsort((reduced.first_ns, reduced.lane))
    bounds = np.searchsorted(reduced.lane, np.arange(1, len(reduced.ranks)))
    lanes = [lane.tolist() for lane in np.split(reduced.site[order], bounds)]
    return NodeAssembly(
        reduced,
        program_places(paths_to_compare(reduced.sites), lanes),
        communicator_names(trace),
        times or {},
    )
