"""Phases as loops: what a process repeats by its program, and the stretches in between.

::

    Init · a a · b b b b b b b b · c · b b b b b b b b · d · Finalize
           └─┘   └ └ └ └ └ └ └ └   └   └ └ └ └ └ └ └ └   └
         stretch iterations of a   a   of the same loop  a third
                 loop: one phase   second stretch

Loops are read off the calls of that process alone, from the outside. One whose body occurs
often enough is a phase; one that has few iterations is opened, and what is in it looked at.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import methodcaller
from typing import Final, NamedTuple

import numpy as np

from burstline.columns import Integers, descending, placed, prefix_sums, ranges
from burstline.identity import Path
from burstline.model import FINALIZES, INITS, Trace
from burstline.signature.events import Events, Hashes, Occurrences, mix
from burstline.structure import ProcessNest, process_nest

_FEWEST_OF_KIND: Final = 4  # iterations with the same operations that are a phase of their own
_OPENED: Final = 0.5
"""Share of a loop of few iterations that the phases in it last, for these to be taken."""
_NONE: Final = np.zeros(0, np.int64)


class _Body(NamedTuple):
    """The iterations of a loop that are an occurrence each, in the order of time."""

    loop: int
    begin: Integers  # (iterations,) boundary at which it begins, and ends
    end: Integers


def loops(
    trace: Trace,
    events: Events,
    process: int,
    *,
    min_share: float = 0.01,
    min_iterations: int = 8,
) -> Occurrences:
    """The phases of a process: the bodies of its loops, and the stretches between them.

    Each reaches a share of the time from MPI_Init to MPI_Finalize. A loop with fewer iterations
    than `min_iterations` is a phase only where loops in it are not, for most of its time.
    """
    if not events.count(process):
        return Occurrences(_NONE, _NONE, _NONE, names=())
    program = _Program.of(trace, events, process)
    least_ns = min_share * float(events.spans()[process])
    chosen = program.bodies_in(0, least_ns, min_iterations)
    bodies = [program.kinds(body) for body in chosen]
    iterations = _in_order_of_time(bodies)
    loop = np.repeat([body.loop for body in chosen], [len(part.names) for part in bodies])
    stretches = program.stretches(iterations, loop[iterations.phase], least_ns)
    found = _in_order_of_time([iterations, stretches])
    return replace(found, names=_numbered_names(found.names))


@dataclass(frozen=True, slots=True, eq=False)
class _Program:
    """The loops of a process, in boundaries of its events."""

    nest: ProcessNest
    before: int  # calls of the nest before the first event: MPI_Init, or none
    operation: Hashes  # (events,) code of each
    boundaries: Integers  # (events + 1,) when each event begins, and the last one ends

    @classmethod
    def of(cls, trace: Trace, events: Events, process: int) -> _Program:
        part = events.of(process)
        rows = events.row[part]
        calls = trace.table("calls")
        # Where the program begins and ends helps to tell where its loops do.
        locations, operations = calls["location"], calls["operation"]
        location = locations[int(rows[0])].as_py()
        first = bisect_left(locations, location, key=methodcaller("as_py"))
        last = bisect_right(locations, location, key=methodcaller("as_py")) - 1
        head = [first] if operations[first].as_py() in INITS else []
        tail = [last] if operations[last].as_py() in FINALIZES else []
        rows = np.concatenate([head, rows, tail]).astype(np.int64)
        low, high = int(rows.min()), int(rows.max())
        # Nothing is as long as the calls of all processes.
        tables = {name: trace.table(name) for name in ("locations", "call_paths")}
        own = Trace({"calls": calls.slice(low, high + 1 - low), **tables})
        nest = process_nest(own, rows - low)
        codes = events.operation[part].astype(np.uint64)
        return cls(nest, len(head), codes, events.boundaries(process))

    def bodies_in(self, around: int, least_ns: float, fewest: int) -> list[_Body]:
        """The loops in a loop that are phases, in the order of the program."""
        chosen: list[_Body] = []
        for loop in (loop for loop, parent in enumerate(self.nest.parent) if parent == around):
            body = self._body(loop)
            if (inside_ns := self._time_ns(body)) < max(least_ns, 1):
                continue
            times = len(body.begin)
            inner = [] if times >= fewest else self.bodies_in(loop, least_ns, fewest)
            covered_ns = sum(map(self._time_ns, inner))
            if times >= min(fewest, 2) and covered_ns < _OPENED * inside_ns:
                inner = [body]
            chosen += inner
        return chosen

    def kinds(self, body: _Body) -> Occurrences:
        """The iterations of a loop: those with the same operations are one phase."""
        loop, begin, end = body
        length = end - begin
        first = prefix_sums(length)[:-1]
        mixed = mix(self.operation[ranges(begin, length)], ranges(1, length).astype(np.uint64))
        _, kind, count = np.unique(
            np.add.reduceat(mixed, first), return_inverse=True, return_counts=True
        )
        order = descending(count)
        several = max(int(np.count_nonzero(count >= _FEWEST_OF_KIND)), 1)
        number = placed(np.arange(several), order[:several], len(count))
        name = self._name(loop)
        names = name, *(f"{name}, kind {k}" for k in range(2, several + 1))
        return Occurrences(number[kind], begin, end, names)

    def stretches(self, between: Occurrences, loop: Integers, least_ns: float) -> Occurrences:
        """What is left between iterations, by the loops these are of, where it lasts long."""
        begin = np.append(0, between.end)
        end = np.append(between.begin, len(self.operation))
        left = np.flatnonzero(end > begin)
        before, after = np.append(0, loop + 1), np.append(loop + 1, 0)
        key = (before * (int(before.max()) + 1) + after)[left]
        begin, end = begin[left], end[left]
        _, first, phase = np.unique(key, return_index=True, return_inverse=True)
        time_ns = np.bincount(phase, self.boundaries[end] - self.boundaries[begin])
        is_long = time_ns >= least_ns
        names = (self._stretch(int(begin[k]), int(end[k])) for k in first[is_long].tolist())
        chosen = is_long[phase]
        number = np.cumsum(is_long) - 1
        return Occurrences(number[phase[chosen]], begin[chosen], end[chosen], tuple(names))

    def _body(self, loop: int) -> _Body:
        most = len(self.operation)
        begin, end = (np.clip(call - self.before, 0, most) for call in self.nest.spans(loop))
        return _Body(loop, begin[end > begin], end[end > begin])

    def _time_ns(self, body: _Body) -> int:
        return int((self.boundaries[body.end] - self.boundaries[body.begin]).sum())

    def _name(self, loop: int) -> str:
        path = self.nest.paths[loop]
        if not path:
            return f"loop {self.nest.position(loop)}"
        return f"loop {_caller_line(path)}" + f" ({path[-1].function})" * (
            path[-1].file is not None
        )

    def _stretch(self, begin: int, end: int) -> str:
        """From the call after which a stretch begins to the last one in it."""
        last = end + self.before - 1
        if end == len(self.operation):
            last = len(self.nest.sites.of_call) - 1
        return f"from {self._call(max(begin + self.before - 1, 0))} to {self._call(last)}"

    def _call(self, call: int) -> str:
        site = self.nest.site(call)
        is_end = site.operation in (*INITS, *FINALIZES)
        return site.operation if is_end or not site.path else _caller_line(site.path)


def _caller_line(path: Path) -> str:
    """File and line from which MPI is called, or what the trace has of these."""
    caller = path[-1]
    if caller.file is None:
        return caller.function
    return caller.file if caller.line is None else f"{caller.file}:{caller.line}"


def _in_order_of_time(parts: Sequence[Occurrences]) -> Occurrences:
    """The occurrences of all phases of some parts, in the order of time."""
    before = prefix_sums(np.array([len(part.names) for part in parts], np.int64)).tolist()
    phase = np.concatenate([_NONE, *(p.phase + k for p, k in zip(parts, before, strict=False))])
    begin = np.concatenate([_NONE, *(part.begin for part in parts)])
    end = np.concatenate([_NONE, *(part.end for part in parts)])
    order = np.argsort(begin, kind="stable")
    names = tuple(name for part in parts for name in part.names)
    return Occurrences(phase[order], begin[order], end[order], names)


def _numbered_names(names: Sequence[str]) -> tuple[str, ...]:
    times: Counter[str] = Counter()
    numbered = []
    for name in names:
        times[name] += 1
        numbered.append(name if times[name] == 1 else f"{name} #{times[name]}")
    return tuple(numbered)
