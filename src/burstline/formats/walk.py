"""A table in parts, or sorted by location, location after location: one part is in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from burstline.model import Trace, schema


class Walk:
    """The rows of one location after the other, which are asked for in order."""

    def __init__(self, trace: Trace, name: str, columns: Sequence[str] | None = None) -> None:
        self._parts = trace.batches(name, columns)
        self._part = schema.arrow_schema(name).empty_table()
        self._locations = np.empty(0, np.int32)
        self._next_row = 0
        self._load()

    def _load(self) -> None:
        self._next_row = 0
        part = next(self._parts, None)
        self._part = self._part.slice(0, 0) if part is None else part
        self._locations = self._part["location"].to_numpy()

    def names(self, column: str) -> list[str]:
        """The values behind the codes of a column, none before there are rows."""
        if not self._part.num_columns or not self._part[column].num_chunks:
            return []
        values: list[str] = self._part[column].chunk(0).dictionary.to_pylist()
        return values

    def of(self, location: int) -> pa.Table:
        """The rows of a location."""
        while self._next_row == len(self._locations) and self._next_row:
            self._load()
        end = int(np.searchsorted(self._locations, location, side="right"))
        rows = self._part.slice(self._next_row, max(end - self._next_row, 0))
        self._next_row = max(end, self._next_row)
        return rows


def parts_of(trace: Trace, name: str) -> Iterator[pa.Table]:
    """A table in parts, if it is stored or by location; one at least, maybe without rows."""
    where, _ = schema.place_columns(name)
    parts = iter(()) if where is None and not trace.is_stored else trace.batches(name)
    first = next(parts, None)
    yield trace.table(name) if first is None else first
    yield from parts
