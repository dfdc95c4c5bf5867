"""Bursts of a structure: which of its calls the computation at a moment leads to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline.columns import UNKNOWN, Integers, row_of, take
from burstline.model import RECORDED, Trace, innermost_entry
from burstline.structure.calls import Calls
from burstline.structure.program.model import Structure
from burstline.structure.program.nodes import Call, walk

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
        time_ns = np.zeros(len(self.nodes), np.int64)
        np.add.at(time_ns, self.node[self.node >= 0], length_ns[self.node >= 0])
        return time_ns

    def call_after(self, location: Integers, time_ns: Integers) -> Integers:
        """The call that ends the burst of each moment, shape (moments,)."""
        calls = self.calls
        call = np.full(len(time_ns), UNKNOWN, np.int64)
        begins = np.searchsorted(location, calls.locations)
        ends = np.searchsorted(location, calls.locations, side="right")
        for lane in np.flatnonzero(ends > begins).tolist():
            moments = slice(begins[lane], ends[lane])
            first, end = calls.lane_begin[lane : lane + 2]
            after = np.searchsorted(calls.enter_ns[first:end], time_ns[moments], side="right")
            between = (after > 0) & (after < end - first)
            after = first + np.where(between, after, 1)
            between &= calls.leave_ns[after - 1] <= time_ns[moments]
            call[moments] = np.where(between, after, UNKNOWN)
        return np.where((call >= 0) & (self.node[call] >= 0), call, UNKNOWN)


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """Recorded loops that lie in one burst each."""

    row: Integers  # (loops,) their rows in `loop_entries`
    # (loops,) node of the call after it; what loop it is, by its place in `names`
    node: Integers
    loop: Integers
    # (loops,) duration of this entry, and its iterations; negative if unknown
    time_ns: Integers
    iterations: Integers
    names: tuple[Named, ...]  # name, file, first and last line of every loop


def loops_in(trace: Trace, bursts: Bursts) -> Recorded:
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
    return Recorded(
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
    table: pa.Table | None, trace: Trace, bursts: Bursts, recorded: Recorded
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
    chosen = np.zeros(trace.rows("loop_entries"), bool)
    chosen[recorded.row] = True
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
