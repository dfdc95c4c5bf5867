"""Severities as they are added up: whole numbers by metric, call path and location."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from burstline.columns import AnyIntegers, Integers
    from burstline.waits.parts import Parts


class Severities:
    """Values by metric; dense in (call path, location), and only for metrics that have any."""

    def __init__(self, nodes: int, locations: int, parts: Parts | None = None) -> None:
        self.shape = nodes, locations
        self.parts = parts
        self.by_part: dict[str, Integers] = {}  # (parts,) of metrics that can be divided
        # (parts, locations) how long each thread computed, and all that it did
        self.computed = self.spent = np.zeros((0, locations), np.int64)
        self._values: dict[str, Integers] = {}

    def add(
        self,
        metric: str,
        node: AnyIntegers,
        location: AnyIntegers,
        value: AnyIntegers,
        start_ns: Integers,
        *,
        is_count: bool = False,
    ) -> None:
        """Add values of a metric at call paths of locations: times from a start, or counts."""
        if not len(node):
            return
        if self.parts is not None:
            divide = self.parts.counted if is_count else self.parts.divided
            self.add_parts(metric, divide(location, start_ns, value))
        nodes, locations = self.shape
        cells = node.astype(np.int64) * locations + location
        # Doubles hold sums of whole numbers exactly up to 2**53 ns, which are 104 days.
        sums = np.bincount(cells, value, minlength=nodes * locations)
        self.add_dense(metric, np.rint(sums).astype(np.int64).reshape(self.shape))

    def add_dense(self, metric: str, values: npt.NDArray[Any]) -> None:
        """Add a value for every call path and location."""
        if metric in self._values:
            self._values[metric] = self._values[metric] + values
        elif values.any():
            self._values[metric] = values

    def add_parts(self, metric: str, values: Integers) -> None:
        """Add a value for every part of the run."""
        self.by_part[metric] = (
            self.by_part[metric] + values if metric in self.by_part else values
        )

    def add_rounded(self, metric: str, values: npt.NDArray[Any]) -> None:
        """Add costs, which are no whole numbers before they are rounded here, once."""
        if len(values):
            self.add_dense(metric, np.rint(values).astype(np.int64).reshape(self.shape))

    def __getitem__(self, metric: str) -> Integers:
        if metric in self._values:
            return self._values[metric]
        return np.zeros(self.shape, np.int64)

    def __contains__(self, metric: str) -> bool:
        return metric in self._values

    def names(self) -> list[str]:
        """The metrics that have values."""
        return list(self._values)
