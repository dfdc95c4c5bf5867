"""Severities as they are added up: whole numbers by metric, call path and location."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline.columns import AnyIntegers, Integers, Mask, placed
from burstline.synchronisation import Intervals
from burstline.waits.parts import Parts


class Contributions(NamedTuple):
    """Rows of the one table that metrics are sums of: in which call path, who, since when."""

    node: AnyIntegers
    location: AnyIntegers
    start_ns: Integers

    @classmethod
    def entered(cls, intervals: Intervals, rows: AnyIntegers) -> Contributions:
        """Those of some calls or regions, since they were entered."""
        return cls(intervals.node[rows], intervals.location[rows], intervals.enter_ns[rows])

    def of(self, rows: Integers | Mask) -> Contributions:
        """Some of the rows."""
        return Contributions(self.node[rows], self.location[rows], self.start_ns[rows])


class Severities:
    """Values by metric; of the call paths that have any, dense in locations."""

    def __init__(self, nodes: int, locations: int, parts: Parts | None = None) -> None:
        self.shape = nodes, locations
        self.parts = parts
        self.by_part: dict[str, Integers] = {}  # (parts,) of metrics that can be divided
        # (parts, locations) how long each thread computed, and all that it did
        self.computed = self.spent = np.zeros((0, locations), np.int64)
        self._rows: dict[str, tuple[Integers, Integers]] = {}

    def add(self, metric: str, rows: Contributions, value: AnyIntegers) -> None:
        """Add times to a metric, each from its start on."""
        if self.parts is not None and len(rows.node):
            divided = self.parts.divided(rows.location, rows.start_ns, value)
            self.add_parts(metric, divided)
        self.add_cells(metric, rows.node, rows.location, value)

    def count(self, metric: str, rows: Contributions, value: AnyIntegers | Mask) -> None:
        """Add what there was at each start to a metric, or how often there was something."""
        if not value.any():
            return
        if self.parts is not None:
            counted = self.parts.counted(rows.location, rows.start_ns, value.astype(np.int64))
            self.add_parts(metric, counted)
        self.add_cells(metric, rows.node, rows.location, value)

    def add_cells(
        self, metric: str, node: AnyIntegers, location: AnyIntegers, value: npt.NDArray[Any]
    ) -> None:
        """Add values at call paths of locations; of fractions the sums are rounded."""
        if not len(node):
            return
        rows = np.flatnonzero(np.bincount(node))
        place = placed(np.arange(len(rows)) * self.shape[1], rows, int(rows[-1]) + 1)
        size = len(rows) * self.shape[1]
        # Doubles hold sums of whole numbers exactly up to 2**53 ns, which are 104 days.
        sums = np.bincount(place[node] + location, value, minlength=size)
        self.add_rows(metric, rows, sums.reshape(len(rows), -1))

    def add_rows(self, metric: str, rows: Integers, values: npt.NDArray[Any]) -> None:
        """Add a value for each location of some call paths, in rising order; rounded."""
        if values.dtype.kind == "f":
            values = np.rint(values)
        some = values.any(axis=1)
        if not some.all():
            rows, values = rows[some], values[some]
        if not len(rows):
            return
        values = values.astype(np.int64, copy=False)
        if metric in self._rows:
            before, added = self._rows[metric]
            union = np.union1d(before, rows)
            merged = np.zeros((len(union), self.shape[1]), np.int64)
            merged[np.searchsorted(union, before)] = added
            merged[np.searchsorted(union, rows)] += values
            rows, values = union, merged
        self._rows[metric] = rows, values

    def add_dense(self, metric: str, values: npt.NDArray[Any]) -> None:
        """Add a value for every call path and location; rounded."""
        self.add_rows(metric, np.arange(len(values)), values)

    def add_parts(self, metric: str, values: Integers) -> None:
        """Add a value for every part of the run."""
        self.by_part[metric] = (
            self.by_part[metric] + values if metric in self.by_part else values
        )

    def rows(self, metric: str) -> tuple[Integers, Integers]:
        """The call paths that have values of a metric, rising, and values for each location."""
        nothing = np.zeros(0, np.int64), np.zeros((0, self.shape[1]), np.int64)
        return self._rows.get(metric, nothing)

    def __getitem__(self, metric: str) -> Integers:
        rows, values = self.rows(metric)
        dense = np.zeros(self.shape, np.int64)
        dense[rows] = values
        return dense

    def __contains__(self, metric: str) -> bool:
        return metric in self._rows

    def names(self) -> list[str]:
        """The metrics that have values."""
        return list(self._rows)
