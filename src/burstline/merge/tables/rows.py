"""Rows of a burst table: the columns of a few locations, each made when it is wanted."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import (
    AnyIntegers,
    Floats,
    Integers,
    Ordinals,
    begins_run,
    encoded,
    fractions,
    from_numpy,
    numpy_columns,
    prefix_sums,
    quotients,
    run_lengths,
    take,
    to_numpy,
)
from burstline.identity import SIDES, Decoder
from burstline.merge.tables.columns import counter_columns
from burstline.model import NO_VALUE, UNKNOWN, Trace, waiting_in
from burstline.waits import by_times_seen, functions_on


class Begun:
    """How many spans each process has begun at any time, for threads without calls."""

    def __init__(self, trace: Trace, decoder: Decoder) -> None:
        (self._process,) = trace.arrays("locations", "process")
        names = ["location", "operation", "enter_ns"]
        processes, times = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
        for part in trace.batches("calls", names):
            ends = decoder.spanning(part)
            processes.append(self._process[to_numpy(part["location"])[ends]])
            times.append(to_numpy(part["enter_ns"])[ends])
        process, time_ns = np.concatenate(processes), np.concatenate(times)
        order = np.lexsort((time_ns, process))
        self._by_process, self._time = process[order], time_ns[order]

    def spans(self, location: AnyIntegers, start_ns: Integers) -> Integers:
        """The span of bursts of threads without calls, shape (bursts,)."""
        process = self._process[location]
        spans = np.zeros(len(process), np.int64)
        for number in np.unique(process).tolist():
            first, last = np.searchsorted(self._by_process, [number, number + 1])
            is_of_process = process == number
            times = self._time[first:last]
            spans[is_of_process] = np.searchsorted(times, start_ns[is_of_process], side="right")
        return spans


class Functions:
    """The functions that samples saw, for bursts of some locations."""

    def __init__(self, trace: Trace) -> None:
        frames = trace.call_paths.to_pylist() if trace.rows("samples") else []
        names = [each["function"] for each in frames]
        number = {name: code for code, name in enumerate(dict.fromkeys(names))}
        rows = functions_on(frames).tolist()
        self._trace, self.names = trace, pa.array([*number], pa.string())
        self._code = np.array([-1 if row < 0 else number[names[row]] for row in rows], np.int64)

    def seen(self, location: AnyIntegers, start_ns: Integers, end_ns: Integers) -> Integers:
        """The number of the function that each burst was mostly seen in, -1 in none."""
        found = np.full(len(location), UNKNOWN, np.int64)
        if not len(location) or not len(self._code):
            return found
        near = np.zeros(self._trace.locations.num_rows, bool)
        near[location] = True
        columns = ("location", "time_ns", "periods", "call_path")
        for part in self._trace.batches("samples", columns, locations=near):
            where, time_ns, periods, path = numpy_columns(part, *columns)
            if not len(where):
                continue
            # Both are in the order of locations and times, which one number has.
            first, last = min(start_ns.min(), time_ns.min()), max(end_ns.max(), time_ns.max())
            place, of_sample = (
                each.astype(np.int64) * (last - first + 1) + (time - first)
                for each, time in ((location, start_ns), (where, time_ns))
            )
            row = np.maximum(np.searchsorted(place, of_sample, side="right") - 1, 0)
            function = take(self._code, path)
            inside = (location[row] == where) & (start_ns[row] <= time_ns)
            inside &= (time_ns < end_ns[row]) & (function >= 0)
            keys = row[inside], function[inside]
            order = by_times_seen(*keys, periods[inside])
            found[keys[0][order]] = keys[1][order]
        return found


class ComputingThreads:
    """How many threads of one node compute, as a function of time: sums of whole nanoseconds.

    >>> import numpy as np
    >>> node = ComputingThreads(np.array([0, 5]), np.array([10, 10]))
    >>> node.average(np.array([0, 5]), np.array([10, 10]))
    array([1.5, 2. ])
    """

    def __init__(self, start_ns: Integers, end_ns: Integers) -> None:
        self._ends = [(times, prefix_sums(times)) for times in map(np.sort, (start_ns, end_ns))]

    def before(self, time_ns: Integers) -> Integers:
        """The time computed before some moments, over all threads, in ns, shape (n,)."""
        begun, ended = (self._since(time_ns, *ends) for ends in self._ends)
        return begun - ended

    @staticmethod
    def _since(time_ns: Integers, past: Integers, sums: Integers) -> Integers:
        # Sums of many times may run over; what is left of both of them is right all the same.
        number = np.searchsorted(past, time_ns, side="right")
        return number * time_ns - sums[number]

    def average(self, start_ns: Integers, end_ns: Integers) -> Floats:
        """How many compute on average in some intervals, shape (n,)."""
        return quotients(self.before(end_ns) - self.before(start_ns), end_ns - start_ns)


class Concurrency:
    """How many threads of `whole` compute on each node, for locations of `trace` in order.

    Nodes are read when they are first asked for, and go when no later location is on them.
    """

    def __init__(self, whole: Trace, trace: Trace) -> None:
        self._whole, (self._node_there, self._node_here) = whole, node_numbers(whole, trace)
        self._nodes: dict[int, ComputingThreads] = {}

    def average(self, location: AnyIntegers, start_ns: Integers, end_ns: Integers) -> Floats:
        """How many compute on each burst's node on average while it lasts, shape (bursts,)."""
        node = self._node_here[location]
        averages = np.full(len(node), np.nan)
        wanted = np.unique(node[node >= 0]).tolist()
        self._read([number for number in wanted if number not in self._nodes])
        for number in wanted:
            on_node = np.flatnonzero(node == number)
            averages[on_node] = self._nodes[number].average(start_ns[on_node], end_ns[on_node])
        if len(location):
            later = set(self._node_here[int(location[-1]) + 1 :].tolist())
            self._nodes = {k: held for k, held in self._nodes.items() if k in later}
        return averages

    def _read(self, numbers: list[int]) -> None:
        """Read the bursts of some nodes, all at once: they may lie beside each other."""
        if not numbers:
            return
        names = ("location", "start_ns", "end_ns")
        none = np.zeros(0, np.int64)
        pieces = {number: [(none, none)] for number in numbers}
        near = np.isin(self._node_there, numbers)
        has_any = bool(near.any() and self._whole.rows("bursts"))
        for part in self._whole.batches("bursts", names, locations=near) if has_any else ():
            location, start_ns, end_ns = numpy_columns(part, *names)
            node = self._node_there[location]
            for number in np.unique(node).tolist():
                if number in pieces:
                    on_node = node == number
                    pieces[number].append((start_ns[on_node], end_ns[on_node]))
        while pieces:
            number, parts = pieces.popitem()
            starts, ends = (np.concatenate(column) for column in zip(*parts, strict=True))
            self._nodes[number] = ComputingThreads(starts, ends)


def node_numbers(whole: Trace, trace: Trace) -> tuple[Integers, Integers]:
    """The node of each location of two traces, -1 if unknown; equal names are one node."""
    nodes: dict[str, int] = {}
    whole_of, trace_of = (
        np.array(
            [
                -1 if name is None else nodes.setdefault(name, len(nodes))
                for name in part.locations["node"].to_pylist()
            ],
            np.int64,
        )
        for part in (whole, trace)
    )
    return whole_of, trace_of


def locations_held(node: Integers) -> int:
    """How many locations' bursts are held at once while concurrency is worked out, at most.

    >>> locations_held(np.array([0, 0, 1, 1, 1])), locations_held(np.array([0, 1, 0, 1]))
    (3, 4)
    """
    known = np.flatnonzero(node >= 0)
    if not len(known):
        return 0
    numbers, first, count = np.unique(node[known], return_index=True, return_counts=True)
    last = len(known) - 1 - np.unique(node[known][::-1], return_index=True)[1]
    change = np.zeros(len(known) + 1, np.int64)
    np.add.at(change, first, count)
    np.add.at(change, last + 1, -count)
    return int(np.cumsum(change).max()) if len(numbers) else 0


INSTRUCTIONS: Final = "PAPI_TOT_INS"
CYCLES: Final = "PAPI_TOT_CYC"

_PLACES: Final = ("rank", "thread", "application")
_AS_IT_IS: Final = ("location", "burst", "start_ns", "end_ns", "polling_ns", "gap_ns")


class BurstRows:
    """The bursts of a few locations, and what is known of them."""

    def __init__(
        self,
        trace: Trace,
        bursts: pa.Table,
        calls: pa.Table,
        decoder: Decoder,
        *,
        poll_gap_ns: int,
        concurrency: Concurrency | None = None,
        begun: Begun | None = None,
        functions: Functions | None = None,
    ) -> None:
        self._locations, self._poll_gap_ns = trace.locations, poll_gap_ns
        self._counters = counter_columns(trace.counter_names)
        self._bursts, self._calls = bursts, calls
        self._decoder, self._computing, self._begun = decoder, concurrency, begun
        self._functions = functions

    def table(self, target: pa.Schema, min_duration_ns: int) -> pa.Table:
        """The rows with the columns of a schema."""
        around = {
            name: column
            for side in SIDES
            if any(name.endswith(f"_{side}") for name in target.names)
            for name, column in self._decoder.gathered(self._decoded, self._row[side], side)
        }
        columns = [
            around[name] if name in around else self._column(name) for name in target.names
        ]
        table = pa.Table.from_arrays(columns, schema=target)
        long = self._length >= min_duration_ns
        return table if long.all() else table.filter(pa.array(long))

    def _column(self, name: str) -> pa.Array:
        if name in _PLACES:
            of_location = to_numpy(self._locations[name])
            return from_numpy(of_location[self._burst("location")], pa.int32(), marked=False)
        if name in _AS_IT_IS:
            kind = self._bursts.schema.field(name).type
            return from_numpy(self._burst(name), kind, marked=False)
        if name in self._counters:
            return from_numpy(self._burst(self._counters[name]), pa.int64())
        return getattr(self, f"_{name}")()

    def _burst(self, name: str) -> npt.NDArray[Any]:
        return to_numpy(self._bursts[name])

    @cached_property
    def _length(self) -> Integers:
        return self._burst("end_ns") - self._burst("start_ns")

    def _duration_ns(self) -> pa.Array:
        return from_numpy(self._length, pa.int64(), marked=False)

    def _waiting_ns(self) -> pa.Array:
        waiting = waiting_in(self._bursts, self._poll_gap_ns)
        return from_numpy(waiting, pa.int64(), marked=False)

    @cached_property
    def _ordinals(self) -> Ordinals:
        return Ordinals(*numpy_columns(self._calls, "location", "call"))

    @cached_property
    def _row(self) -> dict[str, Integers]:
        """The rows of the calls around each burst, -1 without."""
        where = self._burst("location")
        rows = {}
        for side in SIDES:
            ordinal = self._burst(f"call_{side}")
            row = self._ordinals.rows(where, ordinal)
            rows[side] = np.where(ordinal == UNKNOWN, UNKNOWN, row)
        return rows

    @cached_property
    def _decoded(self) -> dict[str, npt.NDArray[Any]]:
        return self._decoder.decoded(self._calls)

    def _node(self) -> pa.Array:
        names = self._locations["node"].combine_chunks().dictionary_encode()
        codes = to_numpy(pa.chunked_array([names.indices]))
        return encoded(codes[self._burst("location")], names.dictionary)

    def _region(self) -> pa.Array:
        ended = prefix_sums(self._decoder.spanning(self._calls))
        where, before = self._burst("location"), self._row["before"]
        until = np.where(before >= 0, before + 1, self._row["after"])
        has_call = until >= 0
        first = self._ordinals.begin(where) * has_call
        spans = np.where(has_call, ended[until * has_call] - ended[first], UNKNOWN)
        silent = np.flatnonzero(spans == UNKNOWN)
        if self._begun is not None and len(silent):
            start_ns = self._burst("start_ns")[silent]
            spans[silent] = self._begun.spans(where[silent], start_ns)
        return from_numpy(spans, pa.int32())

    def _concurrency(self) -> pa.Array:
        if self._computing is None:
            return fractions(np.full(len(self._length), np.nan))
        names = ("location", "start_ns", "end_ns")
        return fractions(self._computing.average(*(self._burst(name) for name in names)))

    def _function(self) -> pa.Array:
        names = ("location", "start_ns", "end_ns")
        if self._functions is None:
            return encoded(np.full(len(self._length), UNKNOWN), pa.array([], pa.string()))
        codes = self._functions.seen(*(self._burst(name) for name in names))
        return encoded(codes, self._functions.names)

    def _read(self, counter: str) -> Floats:
        if counter not in self._bursts.column_names:
            return np.full(len(self._length), np.nan)
        values = self._burst(counter)
        return np.where(values == NO_VALUE, np.nan, values)

    def _ipc(self) -> pa.Array:
        return fractions(quotients(self._read(INSTRUCTIONS), self._read(CYCLES)))

    def _frequency(self) -> pa.Array:
        return fractions(quotients(self._read(CYCLES), self._length))

    def _position(self) -> pa.Array:
        where = self._burst("location")
        begins = np.flatnonzero(begins_run(where))
        counts = run_lengths(begins, len(where))
        ordinal = np.arange(len(where)) - np.repeat(begins, counts)
        return fractions(ordinal / np.repeat(counts, counts))
