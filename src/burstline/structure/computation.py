"""Computation between two calls: which call it leads to, and its own loops.

Recorded loops have their iterations. Of samples, a thread seen on the same or an earlier line
of a function again has gone round: the lines between the two belong to a loop.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline.columns import (
    UNKNOWN,
    Integers,
    begins_run,
    distinct,
    mask_at,
    placed,
    row_of,
    sums_by,
    take,
)
from burstline.model import RECORDED, Trace, innermost_entry, last_until
from burstline.structure.calls import Calls
from burstline.structure.program.model import Structure
from burstline.structure.program.nodes import Call, Item, walk, with_innermost_loop

Named = tuple[str, str | None, int | None, int | None]
"""Name, file, first and last line of a recorded loop."""


@dataclass(frozen=True, slots=True, eq=False)
class Bursts:
    """The computation between the calls of a structure."""

    calls: Calls  # the calls it was found in
    nodes: tuple[Call, ...]  # those of the structure, and those its method left out
    # (calls,) the node of each call, by its place in `nodes`; -1 if it is in none
    node: Integers

    @classmethod
    def of(cls, structure: Structure) -> Bursts:
        """The bursts of a structure, with the node of every call."""
        calls = structure.found_in
        nodes = (
            *(item for item, _ in walk(structure.items) if isinstance(item, Call)),
            *structure.left_out,
        )
        lanes = [np.flatnonzero(node.executions) for node in nodes]
        count = len(calls.ranks)
        # of several nodes for calls of one site on a lane, all are taken for the first
        keys = [node.site * count + lane for node, lane in zip(nodes, lanes, strict=True)]
        number = np.repeat(np.arange(len(nodes)), [len(lane) for lane in lanes])
        wanted = structure.steps.sequence.astype(np.int64) * count + calls.lane
        return cls(calls, nodes, take(number, row_of(np.concatenate(keys), wanted)))

    def time_by_node(self) -> Integers:
        """The computation before the calls of each node, ns, shape (nodes,)."""
        calls = self.calls
        length_ns = np.zeros(len(calls.lane), np.int64)
        length_ns[1:] = np.maximum(calls.enter_ns[1:] - calls.leave_ns[:-1], 0)
        length_ns[calls.lane_begin[:-1]] = 0
        known = self.node >= 0
        return sums_by(self.node[known], length_ns[known], len(self.nodes))

    def call_after(self, location: Integers, time_ns: Integers) -> Integers:
        """The call that ends the burst of each moment, shape (moments,)."""
        calls, lane = self.calls, row_of(self.calls.locations, location)
        before = last_until((calls.lane, calls.enter_ns), (lane, time_ns))
        after = np.minimum(before + 1, len(calls.lane) - 1)
        between = (before >= 0) & (after > before) & (calls.lane[after] == lane)
        between &= (take(calls.leave_ns, before) <= time_ns) & (self.node[after] >= 0)
        return np.where(between, after, UNKNOWN)


def sites_before(structure: Structure) -> Integers:
    """For each site, that of the calls which most computing before it follows, -1 for none."""
    calls, site = structure.found_in, structure.steps.sequence.astype(np.int64)
    sites = int(site.max(initial=-1)) + 1
    later = np.flatnonzero(calls.lane[1:] == calls.lane[:-1]) + 1
    length_ns = np.maximum(calls.enter_ns[later] - calls.leave_ns[later - 1], 0)
    pair, row = np.unique(site[later] * sites + site[later - 1], return_inverse=True)
    time_ns = sums_by(row, length_ns, len(pair))
    pair = pair[np.argsort(time_ns, kind="stable")]  # the longest is written last
    return placed(pair % sites, pair // sites, sites, UNKNOWN)


def innermost_loops(structure: Structure) -> Integers:
    """The innermost detected loop around each call, 0 outside of loops, shape (calls,)."""
    loops = [loop for _, loop in with_innermost_loop(structure.items, 0)]
    left_out = [0] * len(structure.left_out)
    node = Bursts.of(structure).node
    return np.array([*loops, *left_out, 0], np.int64)[node]  # the last: of no node


@dataclass(frozen=True, slots=True, eq=False)
class RecordedLoops:
    """Recorded loops that lie in one burst each."""

    row: Integers  # (loops,) their rows in `loop_entries`
    # (loops,) node of the call after it; what loop it is, by its place in `names`
    node: Integers
    loop: Integers
    # (loops,) duration of this entry, and its iterations; negative if unknown
    time_ns: Integers
    iterations: Integers
    names: tuple[Named, ...]  # name, file, first and last line of every loop


def loops_in(trace: Trace, bursts: Bursts) -> RecordedLoops:
    """The recorded loops that begin and end in one burst."""
    columns = (
        trace.table("loops")[name].to_pylist()
        for name in ("name", "file", "begin_line", "end_line")
    )
    names = tuple(zip(*columns, strict=True))
    (origin,) = trace.arrays("loops", "origin")
    location, loop, enter_ns, leave_ns, iterations = trace.arrays(
        "loop_entries", "location", "loop", "enter_ns", "leave_ns", "iterations"
    )
    row = np.flatnonzero((origin == RECORDED)[loop])
    after = bursts.call_after(location[row], enter_ns[row])
    ends = (after >= 0) & (leave_ns[row] <= bursts.calls.enter_ns[after])
    row, after = row[ends], after[ends]
    return RecordedLoops(
        row=row,
        node=bursts.node[after],
        loop=loop[row].astype(np.int64),
        time_ns=leave_ns[row] - enter_ns[row],
        iterations=iterations[row],
        names=names,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Samples in the bursts of a structure."""

    # (samples,) node of the call that ends the burst, and that call; in the order of location
    # and time
    node: Integers
    call: Integers
    # (samples,) where: the function by its place in `functions`, the line, -1 if unknown
    function: Integers
    line: Integers
    # (samples,) the innermost recorded loop by its place in the recorded `names`; -1 if in none
    loop: Integers
    functions: tuple[tuple[str, str | None], ...]  # functions, and their source files
    elsewhere: int  # samples that are in no burst


def samples_in(
    table: pa.Table | None, trace: Trace, bursts: Bursts, recorded: RecordedLoops
) -> Samples:
    """The burst, place and recorded loop of each sample."""
    if table is None:
        none = np.zeros(0, np.int64)
        return Samples(none, none, none, none, none, (), 0)
    location, time_ns = (table[name].to_numpy() for name in ("location", "time_ns"))
    after = bursts.call_after(location, time_ns)
    rows = np.flatnonzero(after >= 0)
    elsewhere = len(after) - len(rows)
    after, location, time_ns = after[rows], location[rows], time_ns[rows]
    table = table.take(pa.array(rows))
    chosen = mask_at(recorded.row, trace.rows("loop_entries"))
    (loop,) = trace.arrays("loop_entries", "loop")
    entry = innermost_entry(trace, location, time_ns, chosen)
    numbers: dict[tuple[str, str | None], int] = {}
    pairs = zip(table["function"].to_pylist(), table["file"].to_pylist(), strict=True)
    function = [numbers.setdefault(pair, len(numbers)) for pair in pairs]
    return Samples(
        node=bursts.node[after],
        call=after,
        function=np.array(function, np.int64),
        line=np.asarray(pc.fill_null(table["line"], UNKNOWN), np.int64),
        loop=take(loop, entry).astype(np.int64),
        functions=tuple(numbers),
        elsewhere=elsewhere,
    )


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A place in the source where samples were taken."""

    function: str  # the function, ``??`` if the trace does not say
    file: str | None  # its source file
    line: int | None  # the line
    samples: int  # how many were taken there


@dataclass(frozen=True, slots=True)
class InsideLoop:
    """A loop without MPI."""

    function: str  # the function it is in; of a recorded loop, its name
    file: str | None  # its source file
    # the lines it spans; of a sampled loop, those that were seen
    first_line: int | None
    last_line: int | None
    samples: int  # samples in it, but not in another recorded loop inside of it
    share: float  # share of the samples of the computation; of a recorded loop, of its time
    iterations: float | None = None  # mean iterations per entry; None if it was not recorded
    # how often it was entered, over all ranks; None if it was not recorded
    entries: int | None = None


_Function = tuple[str, str | None]
_Where = tuple[_Function, int | None]


@dataclass(slots=True)
class _Computation:
    """What is known of the computation before one call, or before several."""

    time_ns: int = 0
    places: Counter[_Where] = field(default_factory=Counter)
    loose: Counter[_Where] = field(default_factory=Counter)  # samples in no recorded loop
    # first and last line of each going round
    turns: dict[_Function, set[tuple[int, int]]] = field(
        default_factory=lambda: defaultdict(set)
    )
    # of each recorded loop: its entries, time_ns and samples, and the iterations of the entries
    # `counted`, whose iterations are known
    runs: dict[Named, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, other: _Computation) -> None:
        """Take in the computation before another call."""
        self.time_ns += other.time_ns
        self.places += other.places
        self.loose += other.loose
        for function, turns in other.turns.items():
            self.turns[function] |= turns
        for name, run in other.runs.items():
            self.runs[name].update(run)

    def loops(self) -> Iterable[InsideLoop]:
        """The loops that were recorded, then those that samples show."""
        for name, run in self.runs.items():
            mean = run["iterations"] / run["counted"] if run["counted"] else None
            share = run["time_ns"] / max(self.time_ns, 1)
            yield InsideLoop(*name, run["samples"], share, mean, run["entries"])
        total = max(self.places.total(), 1)
        for function, turns in self.turns.items():
            for first, last in _joined_spans(turns):
                samples = sum(
                    count
                    for (where, line), count in self.loose.items()
                    if where == function and line is not None and first <= line <= last
                )
                yield InsideLoop(*function, first, last, samples, samples / total)


@dataclass(frozen=True, slots=True, eq=False)
class Inside:
    """What happens in the computation before the calls of a structure."""

    samples: int  # samples taken in the computation between its calls
    # samples taken in an MPI call, before the first or after the last call of a thread, or on a
    # thread that does not call MPI
    elsewhere: int
    recorded: int  # entries of recorded loops that lie between two calls
    _before: Mapping[Item, _Computation]

    def __bool__(self) -> bool:
        return self.samples > 0 or self.recorded > 0

    def loops(self, node: Item) -> tuple[InsideLoop, ...]:
        """The loops in the computation of a node."""
        loops = self._computation(node).loops()
        return tuple(sorted(loops, key=lambda loop: (-loop.share, loop.first_line or 0)))

    def places(self, node: Item) -> tuple[SourcePlace, ...]:
        """Where the samples in the computation of a node were taken."""
        counts = self._computation(node).places.most_common()
        return tuple(SourcePlace(*function, line, count) for (function, line), count in counts)

    def samples_in(self, node: Item) -> int:
        """The number of samples in the computation of a node, as :meth:`loops` means it."""
        return self._computation(node).places.total()

    def as_dict(self, node: Item) -> dict[str, Any]:
        """What JSON output says of the computation of a node."""
        samples = self.samples_in(node)
        return {
            "samples": samples,
            "share": samples / max(self.samples, 1),
            "places": [asdict(place) for place in self.places(node)],
            "loops": [asdict(loop) for loop in self.loops(node)],
        }

    def _computation(self, node: Item) -> _Computation:
        whole = _Computation()
        for item, _ in walk([node]):
            if item in self._before:
                whole.add(self._before[item])
        return whole


def inside(trace: Trace, structure: Structure, samples: pa.Table | None = None) -> Inside:
    """The loops in the computation between the calls of a structure.

    A sample is in the computation before a call if its thread made the call, was in no call
    when it was taken, and had been in one before.

    Parameters
    ----------
    trace : Trace
        Its recorded loops are read, not those that were detected in it.
    structure : Structure
        What was found in it, by any method.
    samples : pyarrow.Table, optional
        Columns `location`, `time_ns`, `function`, `file` and `line`, sorted by location
        and time. Without them, only recorded loops are seen.

    Returns
    -------
    Inside
        Loops and places by node; false if nothing is known.

    Notes
    -----
    About linear in samples and recorded loops. A loop of samples is as wide as the lines
    that were seen: short loops and rare lines are missed, and of nested loops only the
    outermost that was gone round is told. A function without a loop that is called again
    and again looks like one. Inlined code is counted where it was written. Recorded loops that
    go on during a call are left out: they are loops with MPI.

    Examples
    --------
    >>> from burstline.structure import detect
    >>> from burstline.testing import trace_of
    >>> loop = "region stencil paradigm user role loop file a.c begin 5 end 9"
    >>> trace = trace_of(
    ...     f"ranks 1 | {loop} | 0 | 0 enter MPI_Init | 5 leave | 10 enter stencil iterations 7"
    ...     " | 30 leave stencil | 45 enter MPI_Barrier | 50 leave"
    ... )
    >>> found = detect(trace, method="exact")
    >>> inside(trace, found).loops(found.items[1])[0].iterations
    7.0
    """
    bursts = Bursts.of(structure)
    computations = [_Computation() for _ in bursts.nodes]
    for node, time_ns in enumerate(bursts.time_by_node().tolist()):
        computations[node].time_ns = time_ns
    recorded = loops_in(trace, bursts)
    _add_runs(computations, recorded)
    taken = samples_in(samples, trace, bursts, recorded)
    _add_samples(computations, taken, recorded.names)
    return Inside(
        samples=len(taken.node),
        elsewhere=taken.elsewhere,
        recorded=len(recorded.row),
        _before=dict(zip(bursts.nodes, computations, strict=True)),
    )


def _add_runs(computations: list[_Computation], recorded: RecordedLoops) -> None:
    first, group = distinct(recorded.node, recorded.loop)
    is_known = recorded.iterations >= 0
    each = {
        "entries": np.ones_like(group),
        "time_ns": recorded.time_ns,
        "counted": is_known,
        "iterations": np.where(is_known, recorded.iterations, 0),
    }
    sums = [sums_by(group, values, len(first)).tolist() for values in each.values()]
    keys = recorded.node[first].tolist(), recorded.loop[first].tolist()
    for node, loop, *totals in zip(*keys, *sums, strict=True):
        run = dict(zip(each, totals, strict=True))
        computations[node].runs[recorded.names[loop]].update(run)


def _add_samples(
    computations: list[_Computation], taken: Samples, names: Sequence[Named]
) -> None:
    columns = (taken.node, taken.function, taken.line, taken.loop)
    first, group = distinct(*columns)
    counts = np.bincount(group, minlength=len(first)).tolist()
    keys = (column[first].tolist() for column in columns)
    for node, function, line, loop, count in zip(*keys, counts, strict=True):
        computation = computations[node]
        place = (taken.functions[function], line if line >= 0 else None)
        computation.places[place] += count
        if loop >= 0:
            computation.runs[names[loop]]["samples"] += count
        else:
            computation.loose[place] += count
    for node, function, *lines in zip(
        *(each.tolist() for each in _goings_round(taken)), strict=True
    ):
        computations[node].turns[taken.functions[function]].add(tuple(lines))


def _goings_round(taken: Samples) -> list[Integers]:
    """Each going round: its node, function, first and last line."""
    loose = np.flatnonzero((taken.loop < 0) & (taken.line >= 0))
    order = loose[np.lexsort((taken.function[loose], taken.call[loose]))]
    before, after = order[:-1], order[1:]
    same = ~begins_run(taken.call[order], taken.function[order])[1:]
    back = same & (taken.line[after] <= taken.line[before])
    before, after = before[back], after[back]
    return [taken.node[after], taken.function[after], taken.line[after], taken.line[before]]


def _joined_spans(turns: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans of lines, those joined that have a line in common."""
    spans: list[tuple[int, int]] = []
    for first, last in sorted(turns):
        if spans and first <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], last))
        else:
            spans.append((first, last))
    return spans
