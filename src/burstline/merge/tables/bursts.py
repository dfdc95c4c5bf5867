"""The burst table: a row per burst, with its counters, the calls around it, and more.

Row k is row k of `bursts` of the trace, unless short bursts are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import Integers, numpy_columns, to_frame, to_numpy
from burstline.errors import ParameterError, plural
from burstline.identity import CONTEXT, SIDES, Decoder, used_call_paths
from burstline.merge.tables.columns import counter_columns, table_schema
from burstline.merge.tables.rows import Begun, BurstRows, Concurrency, Functions
from burstline.model import POLL_COLUMNS, POLL_GAP_NS, Trace

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, eq=False)
class BurstTable:
    """A row per burst of a trace; made by :func:`burstline.burst_table`.

    Attributes
    ----------
    table : pyarrow.Table
        The rows, sorted by location and burst; nulls where something is not known. Fields
        carry their unit and meaning as metadata.
    counters : tuple of str
        Columns of counters among those of the table.
    """

    table: pa.Table
    counters: tuple[str, ...]

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        columns = plural(self.table.num_columns, "column")
        return f"<BurstTable: {plural(len(self), 'burst')}, {columns}>"

    def to_arrow(self) -> pa.Table:
        """The table itself."""
        return self.table

    def to_frame(self) -> pl.DataFrame:
        """The table as a Polars data frame, texts as categories; no copy where Polars can."""
        return to_frame(self.table)

    def arrays(self, *columns: str) -> tuple[npt.NDArray[Any], ...]:
        """Columns as NumPy arrays, without a copy where they hold no null.

        Nulls are -1 in 32-bit columns, the schema's ``NO_VALUE`` in 64-bit ones and NaN in
        fractions; texts are numbers, see :meth:`names`.
        """
        arrays = []
        for name in columns:
            column = self.table[name]
            plain = pa.types.is_floating(column.type)
            arrays.append(column.to_numpy() if plain else to_numpy(column))
        return tuple(arrays)

    def names(self, column: str) -> list[str]:
        """The texts behind the numbers of a column of texts, by number; some may not occur."""
        chunks = self.table[column].chunks
        return list(chunks[0].dictionary.to_pylist()) if chunks else []


def burst_table(
    trace: Trace,
    *,
    columns: Sequence[str] | None = None,
    min_duration_ns: int = 0,
    whole: Trace | None = None,
    poll_gap_ns: int = POLL_GAP_NS,
) -> BurstTable:
    """The bursts of a trace with their counters, the calls around them, and what follows.

    Parameters
    ----------
    trace : Trace
        The trace; its bursts, calls, collectives and messages are read.
    columns : sequence of str, optional
        Only these columns, in this order; only what they need is read and worked out.
    min_duration_ns : int
        Leave out shorter bursts, ns. They count in `concurrency` and `position` all the same.
    whole : Trace, optional
        What `trace` is a selection of: all that compute in it count in `concurrency`.
    poll_gap_ns : int
        Failed polls that a source only sums up are waiting where they are less than this apart.

    Returns
    -------
    BurstTable
        A row per burst: where and when it was (ns), one column per counter, the calls before
        and after it written out, ``concurrency`` (threads computing on its node),
        ``ipc``, ``frequency`` (GHz), ``position`` (0..1), ``region``, and ``function``, as
        samples saw it.

    Raises
    ------
    ParameterError
        If there is no such column, or the duration is negative.

    Notes
    -----
    O(n log n) for the concurrency, else linear; about 220 bytes a row and 8 for each
    counter, see `columns`. ``ipc`` and ``frequency`` need PAPI_TOT_INS and PAPI_TOT_CYC and
    are null without; they take the counters for those of the whole burst. Bursts of a
    trace that was cut lack who was cut away, so give `whole`. Failed polls that a source
    sums up count in ``concurrency``; ``waiting_ns`` has what of a burst was waiting.

    Examples
    --------
    >>> from burstline.testing import trace_of
    >>> trace = trace_of(
    ...     "ranks 1 | path 0 main file a.c line 3 | 0 | 0 enter MPI_Init | 5 leave"
    ...     " | 9 enter MPI_Barrier path 0 | 12 leave"
    ... )
    >>> names = ["duration_ns", "operation_before", "operation_after", "call_path_after"]
    >>> burst_table(trace, columns=names).table.to_pylist()[0]["call_path_after"]
    'main@a.c:3'
    """
    parts = [
        *burst_parts(
            trace,
            columns=columns,
            min_duration_ns=min_duration_ns,
            whole=whole,
            poll_gap_ns=poll_gap_ns,
        )
    ]
    target = table_schema(trace.counter_names, columns)
    counters = counter_columns(trace.counter_names)
    return BurstTable(
        pa.concat_tables(parts) if parts else target.empty_table(),
        tuple(name for name in counters if name in target.names),
    )


def burst_parts(
    trace: Trace,
    *,
    columns: Sequence[str] | None = None,
    min_duration_ns: int = 0,
    whole: Trace | None = None,
    poll_gap_ns: int = POLL_GAP_NS,
    shared: Shared | None = None,
    locations: range | None = None,
) -> Iterator[pa.Table]:
    """The burst table in parts of whole locations; texts have the same numbers in all.

    Of some `locations` of a trace, their bursts and calls are enough in `trace`: the rest is
    `shared` by all.
    """
    if min_duration_ns < 0:
        raise ParameterError(f"no burst lasts less than 0 ns, got {min_duration_ns}")
    target = table_schema(trace.counter_names, columns)
    wanted = {f"{name}_{side}": name for name in CONTEXT for side in SIDES}
    of_calls = [wanted[name] for name in target.names if name in wanted]
    begun = None
    if shared is None:
        around, paths = trace, None
    else:
        around, paths = shared.whole, shared.used_paths if "call_path" in of_calls else None
    decoder = Decoder(around, of_calls, locations=locations, used_paths=paths)
    concurrency = None
    if "concurrency" in target.names:
        everyone = trace if whole is None else whole
        concurrency = Concurrency(everyone, trace) if shared is None else shared.concurrency
    functions = Functions(around) if "function" in target.names else None
    for bursts, calls in _bursts_with_calls(
        trace, _burst_columns(trace, target), decoder.columns
    ):
        if begun is None and "region" in target.names:
            before, after = numpy_columns(bursts, "call_before", "call_after")
            if ((before < 0) & (after < 0)).any():
                begun = Begun(around, decoder)
        rows = BurstRows(
            trace, bursts, calls, decoder,
            poll_gap_ns=poll_gap_ns, concurrency=concurrency, begun=begun, functions=functions,
        )  # fmt: skip
        yield rows.table(target, min_duration_ns)


class Shared:
    """What the bursts of all locations know of each other, for those who look at a few."""

    def __init__(self, whole: Trace) -> None:
        self.whole, self.concurrency = whole, Concurrency(whole, whole)

    @cached_property
    def used_paths(self) -> Integers:
        """The call paths that calls have."""
        return used_call_paths(self.whole)


def _burst_columns(trace: Trace, target: pa.Schema) -> list[str]:
    """The columns of `bursts` that some columns of the table need."""
    counters = counter_columns(trace.counter_names)
    needed = {counters[name] for name in target.names if name in counters}
    needed |= {name for name in ("polling_ns", "gap_ns") if name in target.names}
    if "waiting_ns" in target.names:
        needed |= set(POLL_COLUMNS)
    if "ipc" in target.names:
        needed |= {"PAPI_TOT_INS", "PAPI_TOT_CYC"}
    if "frequency" in target.names:
        needed.add("PAPI_TOT_CYC")
    fixed = ["location", "burst", "start_ns", "end_ns", "call_before", "call_after"]
    there = (*POLL_COLUMNS[2:], *trace.counter_names)
    return fixed + [name for name in there if name in needed]


def _bursts_with_calls(
    trace: Trace, of_bursts: list[str], of_calls: list[str]
) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Bursts with the calls of their locations, a few locations at a time."""
    if not trace.rows("bursts"):
        return
    stored = trace.is_stored and "calls" in trace
    calls = pa.table({}) if stored else trace.calls.select(of_calls)
    offsets = None if stored else trace.offsets("calls")
    for bursts in trace.batches("bursts", of_bursts):
        if not bursts.num_rows:
            continue
        first, last = (bursts["location"][row].as_py() for row in (0, -1))
        if offsets is not None:
            yield bursts, calls.slice(offsets[first], offsets[last + 1] - offsets[first])
        else:
            yield bursts, _stored_calls(trace, of_calls, first, last)


def _stored_calls(trace: Trace, columns: list[str], first: int, last: int) -> pa.Table:
    """The calls of some neighbouring locations of a trace in a store."""
    chosen = np.zeros(trace.locations.num_rows, bool)
    chosen[first : last + 1] = True
    parts = []
    for part in trace.batches("calls", columns, locations=chosen):
        begin, end = np.searchsorted(to_numpy(part["location"]), [first, last + 1])
        parts.append(part.select(columns).slice(begin, end - begin))
    if parts:
        return pa.concat_tables(parts)
    return trace.calls.select(columns).slice(0, 0)
