"""Rows of a burst table: the columns of a few locations, each made when it is wanted."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from burstline.columns import (
    Ordinals,
    begins_run,
    encoded,
    fractions,
    nullable,
    prefix_sums,
    quotients,
    run_lengths,
    to_numpy,
)
from burstline.identity import SIDES
from burstline.merge.tables.columns import counter_columns
from burstline.schema import NO_VALUE, UNKNOWN

if TYPE_CHECKING:
    import numpy.typing as npt

    from burstline.columns import AnyIntegers, Floats, Integers, Mask
    from burstline.identity import Decoder
    from burstline.merge.tables.concurrency import Concurrency
    from burstline.trace import Trace


def span_of_rows(
    before: Integers, after: Integers, ends_span: Mask, first: Integers
) -> Integers:
    """The span of bursts between calls, shape (bursts,)."""
    sums = prefix_sums(ends_span)
    until = np.where(before >= 0, before + 1, after)
    has_call = until >= 0
    return np.where(has_call, sums[until * has_call] - sums[first * has_call], UNKNOWN)


class Begun:
    """How many spans each process has begun at any time, for threads without calls."""

    def __init__(self, trace: Trace, decoder: Decoder) -> None:
        (self._process,) = trace.arrays("locations", "process")
        names = ["location", "operation", "enter_ns"]
        whole = trace.is_stored and "calls" in trace
        parts = trace.batches("calls", names) if whole else [trace.calls.select(names)]
        processes, times = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
        for part in parts:
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


INSTRUCTIONS: Final = "PAPI_TOT_INS"
CYCLES: Final = "PAPI_TOT_CYC"

_PLACES: Final = ("rank", "thread", "application")
_AS_IT_IS: Final = ("location", "burst", "start_ns", "end_ns", "polling_ns", "gap_ns")


class Rows:
    """The bursts of a few locations, and what is known of them."""

    def __init__(
        self,
        trace: Trace,
        bursts: pa.Table,
        calls: pa.Table,
        decoder: Decoder,
        *,
        concurrency: Concurrency | None = None,
        begun: Begun | None = None,
    ) -> None:
        self._locations = trace.locations
        self._counters = counter_columns(trace.counter_names)
        self._bursts, self._calls = bursts, calls
        self._decoder, self._computing, self._begun = decoder, concurrency, begun

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
            return pa.array(of_location[self._burst("location")], pa.int32())
        if name in _AS_IT_IS:
            return nullable(self._burst(name), None, self._bursts.schema.field(name).type)
        if name in self._counters:
            values = self._burst(self._counters[name])
            return nullable(values, values != NO_VALUE, pa.int64())
        return getattr(self, f"_{name}")()

    def _burst(self, name: str) -> npt.NDArray[Any]:
        return to_numpy(self._bursts[name])

    @cached_property
    def _length(self) -> Integers:
        return self._burst("end_ns") - self._burst("start_ns")

    def _duration_ns(self) -> pa.Array:
        return nullable(self._length, None, pa.int64())

    @cached_property
    def _ordinals(self) -> Ordinals:
        return Ordinals(*(to_numpy(self._calls[name]) for name in ("location", "call")))

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
        ends = self._decoder.spanning(self._calls)
        where = self._burst("location")
        first = self._ordinals.begin(where)
        spans = span_of_rows(self._row["before"], self._row["after"], ends, first)
        silent = np.flatnonzero(spans == UNKNOWN)
        if self._begun is not None and len(silent):
            start_ns = self._burst("start_ns")[silent]
            spans[silent] = self._begun.spans(where[silent], start_ns)
        return nullable(spans, spans != UNKNOWN, pa.int32())

    def _concurrency(self) -> pa.Array:
        if self._computing is None:
            return fractions(np.full(len(self._length), np.nan))
        names = ("location", "start_ns", "end_ns")
        return fractions(self._computing.average(*(self._burst(name) for name in names)))

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
