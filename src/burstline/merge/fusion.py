"""One table with the counters of all runs, for the bursts of the base run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from burstline.columns import (
    Floats,
    Integers,
    Ordinals,
    begins_run,
    coded,
    encoded,
    fractions,
    from_numpy,
    nullable,
)
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.merge.model import STAGES, THREAD, Matching, paired_rows
from burstline.merge.tables.bursts import BurstTable
from burstline.model import NO_VALUE, UNKNOWN

PLACE: Final = (*THREAD, "location", "burst")
"""Columns of a burst table by which its rows are found."""


@dataclass(frozen=True, slots=True)
class FusedCounter:
    """A counter of the fused table."""

    column: str  # the counter's name, after ``run2.`` where an earlier run has other values
    counter: str  # its name in the runs
    runs: tuple[int, ...]  # from 0; a value is of the first of them that counted the burst


@dataclass(frozen=True, slots=True, eq=False)
class Fusion:
    """The bursts of the base run with the counters of all runs; made by :func:`burstline.fuse`.

    Attributes
    ----------
    table : pyarrow.Table
        The base's rows and columns; further counters; and where each burst is from:
        ``stage``, ``similarity``, and ``burst_0``, ``burst_1`` …, its ordinal on its thread
        in each run, null where the run has no such burst. Fields carry unit, meaning and,
        for counters, the runs that they are from (``runs``, counted from 1) as metadata;
        ``burst_0`` … the share of the run's bursts that the base has (``match_rate``).
    base : int
        The base run, from 0.
    counters : tuple of FusedCounter
        All counters, first the base's: ``column`` of the table, ``counter``, its name in the
        runs, and ``runs``, those whose values it holds.
    partners : tuple of ndarray of int64, shape (rows,)
        For each run, the row of its table that is the same burst, or -1.
    """

    table: pa.Table
    base: int
    counters: tuple[FusedCounter, ...]
    partners: tuple[Integers, ...]

    @property
    def added(self) -> tuple[FusedCounter, ...]:
        """The counters that the base's own trace has not."""
        return tuple(counter for counter in self.counters if self.base not in counter.runs)

    def runs_with(self, counter: str) -> list[int]:
        """The runs that have a counter, ascending."""
        return sorted(
            run for column in self.counters if column.counter == counter for run in column.runs
        )

    def is_divergent(self, counter: str) -> bool:
        """Whether runs have different values of a counter in the same bursts."""
        return sum(column.counter == counter for column in self.counters) > 1

    def matched_only(self) -> pa.Table:
        """The table with the bursts that any other run has."""
        return self.table.filter(pc.not_equal(self.table["stage"].cast(pa.string()), STAGES[0]))


def fuse(tables: Sequence[BurstTable], matching: Matching) -> Fusion:
    """The bursts of the base run with the counters of all runs.

    Parameters
    ----------
    tables : sequence of BurstTable
        Of each run, with the columns that say which burst a row is: ``application``,
        ``rank``, ``thread``, ``location``, ``burst``.
    matching : Matching
        Of the same runs in the same order.

    Returns
    -------
    Fusion
        A row for each burst of the base. A counter that runs count alike, in every burst
        that two of them have in common, is one column; where they differ, the first of
        the runs, the base before all others, keeps the plain name, and those that differ
        from it have columns of their own: ``run2.PAPI_L1_DCM``, runs counted from 1.

    Raises
    ------
    ParameterError
        If there are not as many tables as runs, or one lacks a column.
    NotEnoughDataError
        If nothing of the base was matched.

    Notes
    -----
    O(rows · counters). Bursts that the base lacks are in no row. What a column of another
    run says is as good as the match of its row: see ``stage`` and ``similarity``.

    Examples
    --------
    >>> from burstline import burst_table, match
    >>> from burstline.testing import trace_of
    >>> def run(name, value):
    ...     counter = f'counter {name} unit "" mode delta type 42000050'
    ...     calls = f"0 enter MPI_Init | 5 leave {name}=0 | 9 enter MPI_Barrier {name}={value}"
    ...     return trace_of(f"ranks 1 | {counter} | 0 | {calls} | 12 leave")
    >>> runs = [run("A", 7), run("B", 8)]
    >>> fused = fuse([burst_table(trace) for trace in runs], match(runs))
    >>> [fused.table[name].to_pylist() for name in ("A", "B", "stage")]
    [[7], [8], ['direct']]
    """
    _require_tables(tables, matching)
    base = matching.base
    if not matching.matched[base]:
        raise NotEnoughDataError(
            "no burst of the base run is in any other run: they are not runs of one program, "
            "or their traces are cut at different places"
        )
    partners = _Partners(tables, matching)
    columns = _counter_columns(tables, partners, base)
    table = tables[base].table
    for counter, values in columns:
        if base in counter.runs:
            position = table.schema.get_field_index(counter.column)
            field = _counter_field(table.schema.field(position), counter)
            table = table.set_column(position, field, table.column(position))
        else:
            source = tables[counter.runs[0]].table.schema.field(counter.counter)
            array = from_numpy(values, pa.int64())
            table = table.append_column(_counter_field(source, counter), array)
    counters = tuple(counter for counter, _ in columns)
    table = _with_origin(table, partners, matching.base_rate)
    table = table.replace_schema_metadata({"base": str(base + 1)})
    return Fusion(table, base, counters, tuple(partners.rows))


def values_of(tables: Sequence[BurstTable], fused: Fusion, counter: str) -> Integers:
    """A counter in the bursts of the base, of the runs that have it, shape (rows, runs)."""
    runs = fused.runs_with(counter)
    columns = [_counter_values(tables[run], counter, fused.partners[run]) for run in runs]
    return np.stack(columns, axis=1)


def _require_tables(tables: Sequence[BurstTable], matching: Matching) -> None:
    if len(tables) != matching.runs:
        raise ParameterError(f"{len(tables)} tables for a matching of {matching.runs} runs")
    for run, table in enumerate(tables):
        missing = [name for name in PLACE if name not in table.table.column_names]
        if missing:
            raise ParameterError(f"the burst table of run {run} lacks {', '.join(missing)}")


class _Partners:
    """For each row of the base's table, the rows of other runs that are the same burst."""

    def __init__(self, tables: Sequence[BurstTable], matching: Matching) -> None:
        pairs, base = matching.pairs, matching.base
        chosen = pc.is_valid(pairs[f"burst_{base}"])
        pairs = pairs.filter(chosen)
        row = _rows_of_pairs(tables[base], pairs, base)
        has_row = row >= 0
        size = len(tables[base])
        self.rows: list[Integers] = []
        for run, table in enumerate(tables):
            rows = np.full(size, UNKNOWN, np.int64)
            rows[row[has_row]] = _rows_of_pairs(table, pairs, run)[has_row]
            self.rows.append(rows)
        self.ordinals = [
            np.where(rows >= 0, _taken_from(table, "burst", rows), UNKNOWN)
            for table, rows in zip(tables, self.rows, strict=True)
        ]
        # Bursts on threads that not all runs have are in no pair.
        self.ordinals[base] = _taken_from(tables[base], "burst", np.arange(size))
        self.rows[base] = np.arange(size)
        self.stage = np.zeros(size, np.int8)
        code, names = coded(pairs["stage"])
        numbers = np.array([STAGES.index(name) for name in names], np.int8)
        self.stage[row[has_row]] = numbers[code][has_row]
        self.similarity = np.full(size, np.nan)
        self.similarity[row[has_row]] = pairs["similarity"].to_numpy()[has_row]


def _rows_of_pairs(table: BurstTable, pairs: pa.Table, run: int) -> Integers:
    """The row of the table that each pair names, -1 where it names none."""
    *threads, location, burst = table.arrays(*PLACE)
    first = np.flatnonzero(begins_run(*threads))
    threads = [column[first] for column in (*threads, location)]
    return paired_rows(pairs, run, threads, Ordinals(location, burst))


def _counter_columns(
    tables: Sequence[BurstTable], partners: _Partners, base: int
) -> list[tuple[FusedCounter, Integers]]:
    """The columns of counters with their values in the base's rows; the base's first."""
    columns: list[tuple[FusedCounter, Integers]] = []
    order = [base, *(run for run in range(len(tables)) if run != base)]
    counters = dict.fromkeys(name for run in order for name in tables[run].counters)
    taken = set(counters)
    for counter in counters:
        alternatives: list[tuple[FusedCounter, Integers]] = []
        for run in (run for run in order if counter in tables[run].counters):
            values = _counter_values(tables[run], counter, partners.rows[run])
            alike = (
                k
                for k, (_, held) in enumerate(alternatives)
                if _agree_where_known(held, values)
            )
            if (same := next(alike, None)) is None:
                column = counter if not alternatives else _free_name(counter, run, taken)
                taken.add(column)
                alternatives.append((FusedCounter(column, counter, (run,)), values))
            elif run != base:
                fused, held = alternatives[same]
                if base not in fused.runs:
                    held = np.where(held == NO_VALUE, values, held)
                more = FusedCounter(fused.column, counter, (*fused.runs, run))
                alternatives[same] = (more, held)
        columns += alternatives
    return columns


def _free_name(counter: str, run: int, taken: set[str]) -> str:
    """A name for the column of a run that differs, not among those `taken`."""
    name = f"run{run + 1}.{counter}"
    while name in taken:  # counters of merged traces have such names, too
        name = f"run{run + 1}.{name}"
    return name


def _counter_values(table: BurstTable, counter: str, rows: Integers) -> Integers:
    return np.where(rows >= 0, _taken_from(table, counter, rows), NO_VALUE)


def _taken_from(table: BurstTable, column: str, rows: Integers) -> npt.NDArray[Any]:
    """Values of a column by row; undefined where the row is -1."""
    (values,) = table.arrays(column)
    return values[rows].astype(np.int64) if len(values) else np.full(len(rows), NO_VALUE)


def _agree_where_known(first: Integers, other: Integers) -> bool:
    """Whether two columns hold the same wherever both are known."""
    both = (first != NO_VALUE) & (other != NO_VALUE)
    return bool((first[both] == other[both]).all())


def _counter_field(source: pa.Field, counter: FusedCounter) -> pa.Field:
    metadata = dict(source.metadata or {})
    metadata[b"runs"] = ",".join(str(run + 1) for run in counter.runs).encode()
    return pa.field(counter.column, source.type, nullable=True, metadata=metadata)


def _with_origin(table: pa.Table, partners: _Partners, rates: Floats) -> pa.Table:
    stage = encoded(partners.stage, pa.array(STAGES))
    alike = "largest S to the same burst of another run; 0: alike in all but time"
    columns: list[tuple[str, pa.Array, dict[str, str]]] = [
        ("stage", stage, {"doc": "how it was matched"}),
        ("similarity", fractions(partners.similarity), {"doc": alike}),
    ]
    for run, (ordinal, rate) in enumerate(zip(partners.ordinals, rates.tolist(), strict=True)):
        told = {"doc": f"ordinal on its thread in run {run + 1}", "match_rate": str(rate)}
        columns.append((f"burst_{run}", nullable(ordinal, ordinal >= 0, pa.int64()), told))
    for name, column, told in columns:
        field = pa.field(name, column.type, metadata={"unit": ""} | told)
        table = table.append_column(field, column)
    return table
