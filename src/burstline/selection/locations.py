"""A trace as if only some neighbouring locations had recorded anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from burstline.columns import Integers, to_numpy
from burstline.model import StoredOverlay, Trace, schema


def of_locations(trace: Trace, chosen: range) -> Trace:
    """What a trace in a store has of some locations, of which each is as in the whole.

    Tables by location, and messages by sender, have their rows of these alone; all others are
    the whole tables.
    """
    return Trace(_OfLocations(trace, chosen), sources=trace.sources)


class _OfLocations(StoredOverlay):
    def __init__(self, trace: Trace, chosen: range) -> None:
        super().__init__(trace, {})
        self._chosen = chosen
        self._mask = np.zeros(trace.rows("locations"), bool)
        self._mask[chosen.start : chosen.stop] = True

    def __getitem__(self, name: str) -> pa.Table:
        if not self._is_parted(name):
            return super().__getitem__(name)
        parts = list(self.batches(name, None))
        return pa.concat_tables(parts) if parts else self._trace.table(name).slice(0, 0)

    def batches(
        self,
        name: str,
        columns: Sequence[str] | None,
        **near: Any,  # noqa: ANN401 -- as of a trace
    ) -> Iterator[pa.Table]:
        """Go through a table in parts of whole locations."""
        where, _ = schema.place_columns(name)
        if where is None or not self._is_parted(name):
            yield from super().batches(name, columns, **near)
            return
        wanted = None if columns is None else [*dict.fromkeys((where, *columns))]
        ends = [self._chosen.start, self._chosen.stop]
        for part in self._trace.batches(name, wanted, **self._own(near)):
            first, last = np.searchsorted(to_numpy(part[where]), ends).tolist()
            own = part.slice(first, last - first)
            if own.num_rows:
                yield own if columns is None else own.select(list(columns))

    def rows(self, name: str) -> int:
        """The number of rows of a table."""
        where, _ = schema.place_columns(name)
        if where is None or not self._is_parted(name):
            return super().rows(name)
        return sum(part.num_rows for part in self.batches(name, [where]))

    def rows_near(self, name: str, **near: Any) -> int | Integers:  # noqa: ANN401 -- likewise
        """An estimate of the rows of some of these locations in a window."""
        return super().rows_near(name, **self._own(near) if self._is_parted(name) else near)

    def _own(self, near: dict[str, Any]) -> dict[str, Any]:
        """What is near, of these locations alone."""
        locations = near.get("locations")
        return near | {"locations": self._mask if locations is None else self._mask & locations}

    def _is_parted(self, name: str) -> bool:
        return name != "locations" and schema.place_columns(name)[0] is not None
