"""What each run measured in the bursts that several runs have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline.columns import Floats, Integers, Mask, Ordinals, numpy_columns
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.merge.model import THREAD, Matching, paired_rows
from burstline.merge.tables.bursts import burst_table
from burstline.merge.tables.columns import counter_columns
from burstline.model import NO_VALUE, UNKNOWN, Trace

FEATURES: Final = ("duration", "position", "sizes", "partner")
_SIZES: Final = tuple(
    f"bytes_{way}_{side}" for side in ("before", "after") for way in ("sent", "received")
)
_PARTNERS: Final = ("partner_before", "partner_after")


class Quantity(NamedTuple):
    """One counter, or another quantity, of matched bursts."""

    name: str
    # the run that others are compared with: the base of the matching, or the first run that has
    # the quantity
    base: int
    values: Floats  # (rows, runs) what each run measured; 0 where it did not
    present: Mask  # (rows, runs) where it did
    categories: bool = False  # whether values are names rather than amounts


class MatchedBursts:
    """Matched bursts, and what their runs measured in them."""

    # (bursts in at least two runs, runs) row in the table `bursts` of each run, -1 without
    rows: Integers
    base: int  # of the matching

    def __init__(self, traces: Sequence[Trace], matching: Matching) -> None:
        if len(traces) != matching.runs:
            raise ParameterError(f"{matching.runs} runs were matched, {len(traces)} are given")
        self._traces, self.base = tuple(traces), matching.base
        each = [_paired_rows_of(trace, matching, run) for run, trace in enumerate(traces)]
        rows = np.stack(each, axis=1)
        self.rows = rows[(rows >= 0).sum(axis=1) >= 2]
        if not len(self.rows):
            raise NotEnoughDataError(
                "no burst of one run was found in another: are these runs of one program?"
            )

    def counters(self) -> tuple[str, ...]:
        """The counters that at least two runs have, in the order of the first ones."""
        names = [name for trace in self._traces for name in trace.counter_names]
        return tuple(name for name in dict.fromkeys(names) if names.count(name) >= 2)

    def counter(self, name: str) -> Quantity:
        """A counter of the bursts."""
        (column,) = counter_columns([name])
        having = [k for k, trace in enumerate(self._traces) if name in trace.counter_names]
        return self._gathered(column, partial(_counter_readings, name=name), having)

    def feature(self, name: str) -> Quantity:
        """A quantity that every run has."""
        if name == "partner":
            return self._partners()
        if name not in _AMOUNTS:
            raise ParameterError(f"{name} is no feature of bursts; features are {FEATURES}")
        return self._gathered(name, _AMOUNTS[name], range(len(self._traces)))

    def _gathered(
        self,
        name: str,
        column_of: Callable[[Trace], npt.NDArray[np.generic]],
        having: Sequence[int],
    ) -> Quantity:
        values = np.zeros(self.rows.shape)
        present = np.zeros(self.rows.shape, bool)
        for run in having:
            column = column_of(self._traces[run])
            is_measured = self.rows[:, run] >= 0
            taken = column[self.rows[is_measured, run]]
            if taken.dtype == np.int64:
                has_value = taken != NO_VALUE
                is_measured[is_measured], taken = has_value, taken[has_value]
            values[is_measured, run], present[:, run] = taken, is_measured
        base = self.base if self.base in having else having[0]
        return Quantity(name, base, values, present)

    def _partners(self) -> Quantity:
        """Partners before and, below them, after."""
        runs = range(len(self._traces))
        sides = [
            self._gathered(name, partial(_table_column, name=name), runs) for name in _PARTNERS
        ]
        values = np.concatenate([side.values for side in sides])
        present = np.concatenate([side.present for side in sides])
        has_partner = (present & (values != UNKNOWN)).any(axis=1)
        return Quantity(
            "partner", self.base, values[has_partner], present[has_partner], categories=True
        )


def _paired_rows_of(trace: Trace, matching: Matching, run: int) -> Integers:
    """The row of each burst of the pairs in one run, -1 where it has none."""
    threads = trace.arrays("locations", *THREAD)
    rows = Ordinals(*trace.arrays("bursts", "location", "burst"))
    return paired_rows(matching.pairs, run, (*threads, np.arange(len(threads[0]))), rows)


def _counter_readings(trace: Trace, name: str) -> npt.NDArray[np.generic]:
    # of a store, a table is read with all its counters, for each of them
    parts = [numpy_columns(part, name)[0] for part in trace.batches("bursts", [name])]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _durations(trace: Trace) -> Integers:
    start, end = trace.arrays("bursts", "start_ns", "end_ns")
    return np.asarray(end - start)


def _sizes(trace: Trace) -> Floats:
    table = burst_table(trace, columns=_SIZES)
    return np.asarray(sum(np.maximum(size, 0) for size in table.arrays(*_SIZES)), np.float64)


def _table_column(trace: Trace, name: str) -> Floats:
    (values,) = burst_table(trace, columns=[name]).arrays(name)
    return values.astype(np.float64)


_AMOUNTS: Final[dict[str, Callable[[Trace], npt.NDArray[Any]]]] = {
    "duration": _durations,
    "position": partial(_table_column, name="position"),
    "sizes": _sizes,
}
