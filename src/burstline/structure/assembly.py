"""Assembly: unique calls of ranks and loops in the making become one program.

::

    Draft trees + Reduced  --merge calls of all ranks, sort by line-->  items of a Structure
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.schema import UNKNOWN
from burstline.structure.callpaths import program_order
from burstline.structure.nodes import Call, Loop

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from burstline.structure.callpaths import Place
    from burstline.structure.grouping import Floats, Integers
    from burstline.structure.nesting import Draft
    from burstline.structure.nodes import Item
    from burstline.structure.reduction import Reduced
    from burstline.trace import Trace

_LAST: Final = -2
_NOWHERE: Final = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Around:
    """The loop around a body: its number, when its iterations begin, how long they last."""

    loop: int
    begins_ns: Mapping[int, Integers]
    mean_ns: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Assembly:
    """What it takes to turn drafts into nodes.

    Attributes
    ----------
    reduced : Reduced
        The unique calls.
    order : sequence of tuple
        For each signature, a key that sorts it into the program.
    communicators : sequence of str
        How each communicator is called.
    numbered : dict of int to tuple of (Draft, int or None)
        The loops made so far by their number, with the number of the loop around.
    """

    reduced: Reduced
    order: Sequence[tuple[Place, ...]]
    communicators: Sequence[str]
    numbered: dict[int, tuple[Draft, int | None]] = field(default_factory=dict)

    def items(self, drafts: Iterable[Draft], outside: Iterable[int]) -> tuple[Item, ...]:
        """Make the nodes of a program from its outermost loops and the calls outside loops."""
        return self._body(drafts, outside, None, count(1))

    def calls(self, uniques: Iterable[int]) -> tuple[Call, ...]:
        """Make a node of each signature among unique calls, in the order of the program."""
        made = [self._call(members, None) for members in self._by_signature(uniques)]
        return tuple(sorted(made, key=lambda call: self.order[call.signature]))

    def _body(
        self,
        drafts: Iterable[Draft],
        uniques: Iterable[int],
        around: _Around | None,
        ids: Iterator[int],
    ) -> tuple[Item, ...]:
        found: list[tuple[tuple[Place, ...], Draft | list[int]]] = [
            (self._place(draft), draft) for draft in drafts
        ]
        signature = self.reduced.signature
        found += [
            (self.order[int(signature[members[0]])], members)
            for members in self._by_signature(uniques)
        ]
        found.sort(key=lambda placed: placed[0])
        return tuple(
            self._call(entry, around)
            if isinstance(entry, list)
            else self._loop(entry, around, ids)
            for _, entry in found
        )

    def _by_signature(self, uniques: Iterable[int]) -> list[list[int]]:
        groups: dict[int, list[int]] = {}
        for unique in uniques:
            groups.setdefault(int(self.reduced.signature[unique]), []).append(unique)
        return list(groups.values())

    def _place(self, draft: Draft) -> tuple[Place, ...]:
        own = [self.order[int(self.reduced.signature[unique])] for unique in draft.calls]
        return min(own + [self._place(child) for child in draft.children])

    def _loop(self, draft: Draft, outer: _Around | None, ids: Iterator[int]) -> Loop:
        number = next(ids)
        self.numbered[number] = draft, None if outer is None else outer.loop
        executions = np.zeros(len(self.reduced.ranks), np.int64)
        entries, filled = np.zeros_like(executions), np.zeros_like(executions)
        mean_ns = np.zeros(len(executions))
        for lane, begins in draft.iterations_ns.items():
            outside = _NOWHERE if outer is None else outer.begins_ns.get(lane, _NOWHERE)
            inside = np.searchsorted(outside, begins, side="right")
            executions[lane] = len(begins)
            entries[lane] = max(len(outside), 1)
            filled[lane] = min(1 + np.count_nonzero(np.diff(inside)), entries[lane])
            mean_ns[lane] = _iteration_ns(begins, inside)
            if outer is not None and len(outside):
                fits_ns = outer.mean_ns[lane] * entries[lane] / executions[lane]
                mean_ns[lane] = min(mean_ns[lane], fits_ns)
        lanes = executions > 0
        spent = np.clip(mean_ns[lanes] * executions[lanes] / self.reduced.run_ns, 0, 1)
        around = _Around(number, draft.iterations_ns, mean_ns)
        return Loop(
            id=number,
            parent=None if outer is None else outer.loop,
            ranks=self._ranks(lanes),
            executions=executions,
            iterations=float(executions[lanes].sum() / entries[lanes].sum()),
            probability=float(filled[lanes].sum() / entries[lanes].sum()),
            mean_ns=float(np.average(mean_ns[lanes], weights=executions[lanes])),
            share=float(spent.mean()),
            items=self._body(draft.children, draft.calls, around, ids),
            hidden=draft.hidden,
        )

    def _call(self, members: list[int], around: _Around | None) -> Call:
        reduced = self.reduced
        repetitions = reduced.repetitions[members]
        lanes = reduced.lane[members]
        executions = np.zeros(len(reduced.ranks), np.int64)
        executions[lanes] = repetitions
        signature = int(reduced.signature[members[0]])
        time_ns, time_spread = _pooled(
            reduced.time_ns[members], reduced.time_spread_ns[members], repetitions
        )
        size, size_spread = _pooled(
            reduced.size_bytes[members], reduced.size_spread_bytes[members], repetitions
        )
        burst_ns, _ = _pooled(reduced.burst_ns[members], None, repetitions)
        peers, peers_vary, offset = self._partners(members)
        probability = 1.0
        if around is not None:
            iterations = sum(len(around.begins_ns[lane]) for lane in lanes.tolist())
            probability = repetitions.sum() / iterations
        return Call(
            signature=signature,
            operation=reduced.signatures[signature].operation,
            path=reduced.signatures[signature].path,
            ranks=self._ranks(executions > 0),
            executions=executions,
            probability=float(probability),
            time_ns=time_ns or 0.0,
            time_spread_ns=time_spread or 0.0,
            size_bytes=size,
            size_spread_bytes=size_spread,
            burst_ns=burst_ns,
            counters=self._counters(reduced.burst_counters[members], repetitions),
            iteration_counters=self._counters(reduced.iteration_counters[members], repetitions),
            peers=peers,
            peers_vary=peers_vary,
            offset=offset,
            communicator=self._communicator(members),
            roots=self._ranks(
                np.isin(np.arange(len(executions)), lanes[reduced.is_root[members]])
            ),
        )

    def _ranks(
        self, lanes: Integers | np.ndarray[tuple[int], np.dtype[np.bool_]]
    ) -> tuple[int, ...]:
        return tuple(np.unique(self.reduced.ranks[lanes]).tolist())

    def _counters(self, values: Floats, repetitions: Integers) -> dict[str, float]:
        found = {
            name: _pooled(values[:, k], None, repetitions)[0]
            for k, name in enumerate(self.reduced.counters)
        }
        return {name: value for name, value in found.items() if value is not None}

    def _partners(self, members: list[int]) -> tuple[tuple[int, ...], bool, int | None]:
        with_partner = self.reduced.peer[members, 0] != UNKNOWN
        offsets = np.unique(self.reduced.offset[members][with_partner])
        peers = self.reduced.peer[members][with_partner]
        vary = bool(np.any(peers[:, 0] != peers[:, 1]))
        return (
            tuple(np.unique(peers).tolist()),
            vary,
            int(offsets[0]) if len(offsets) == 1 else None,
        )

    def _communicator(self, members: list[int]) -> str | None:
        found = np.unique(self.reduced.communicator[members]).tolist()
        if found == [UNKNOWN]:
            return None
        names = {self.communicators[number] for number in found if number != UNKNOWN}
        return names.pop() if len(names) == 1 else "several"


def assembly(trace: Trace, reduced: Reduced) -> Assembly:
    """Prepare to turn the drafts of a trace into nodes."""
    table = trace.communicators
    names = [
        kind if kind in {"world", "self"} else str(source)
        for kind, source in zip(
            table["kind"].to_pylist(), table["source_id"].to_pylist(), strict=True
        )
    ]
    paths = [signature.path for signature in reduced.signatures]
    return Assembly(reduced, program_order(paths, first_executed(reduced)), names)


def first_executed(reduced: Reduced) -> Integers:
    """Rank the signatures by when they are first executed, whatever the clocks of the ranks.

    Parameters
    ----------
    reduced : Reduced
        The unique calls.

    Returns
    -------
    ndarray of int64, shape (signatures,)
        Places from 0. A signature that the ranks before it do not have comes right behind
        the one its first rank executes before it.
    """
    behind: dict[int, int] = {}
    first_ns = reduced.first_ns
    bounds = np.searchsorted(reduced.lane, np.arange(len(reduced.ranks) + 1))
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        order = begin + np.argsort(first_ns[begin:end], kind="stable")
        before = UNKNOWN
        for signature in reduced.signature[order].tolist():
            if signature not in behind:
                behind[signature] = behind.get(before, _LAST)
                behind[before] = signature
            before = signature
    places = np.zeros(len(reduced.signatures), np.int64)
    signature = behind[UNKNOWN]
    for place in range(len(places)):
        places[signature] = place
        signature = behind[signature]
    return places


def _iteration_ns(begins_ns: Integers, inside: Integers) -> float:
    """Mean time between iterations of one entry; between all if each entry has only one."""
    steps = np.diff(begins_ns)
    same_entry = np.diff(inside) == 0
    chosen = steps[same_entry] if same_entry.any() else steps
    return float(chosen.mean()) if len(chosen) else 0.0


def _pooled(
    means: Floats, spreads: Floats | None, weights: Integers
) -> tuple[float | None, float | None]:
    """Mean and standard deviation of groups together; None if no group has a value."""
    known = ~np.isnan(means)
    if not known.any():
        return None, None
    mean = np.average(means[known], weights=weights[known])
    if spreads is None:
        return float(mean), None
    square = np.average(
        spreads[known] ** 2 + (means[known] - mean) ** 2, weights=weights[known]
    )
    return float(mean), float(np.sqrt(square))
