"""A trace with some tables replaced or left out; the others are not even loaded.

::

    Trace, with {"events": table}, without ["states"]  ->  Trace
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from burstline.columns import Integers
from burstline.model.schema import TABLES
from burstline.model.trace import Batched, Trace


def overlaid(
    trace: Trace, tables: Mapping[str, pa.Table], *, without: Collection[str] = ()
) -> Trace:
    """A trace with other tables in place of some, and without others."""
    kind = StoredOverlay if trace.is_stored else Overlay
    return Trace(kind(trace, tables, without), sources=trace.sources)


class Overlay(Mapping[str, "pa.Table"]):
    """The tables of a trace, some of them replaced; who inherits may change the others."""

    def __init__(
        self, trace: Trace, tables: Mapping[str, pa.Table], without: Collection[str] = ()
    ) -> None:
        self._trace, self._tables = trace, tables
        self._names = [
            name for name in TABLES if (name in trace or name in tables) and name not in without
        ]

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._names:
            raise KeyError(name)
        if name in self._tables:
            return self._tables[name]
        return self._changed(name, self._trace.table(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def _changed(self, name: str, table: pa.Table) -> pa.Table:  # noqa: ARG002 -- for heirs
        return table

    def _needed(self, name: str, columns: list[str] | None) -> list[str] | None:  # noqa: ARG002 -- for heirs
        """The columns to load so that those asked for can be changed."""
        return columns


class StoredOverlay(Overlay, Batched):
    """The same, of a trace in a store, which can be had in parts."""

    def batches(
        self,
        name: str,
        columns: Sequence[str] | None,
        **near: Any,  # noqa: ANN401 -- as of a trace
    ) -> Iterator[pa.Table]:
        """Go through a table in parts of whole locations."""
        chosen = None if columns is None else list(columns)
        if name in self._tables:
            table = self._tables[name]
            yield table if chosen is None else table.select(chosen)
            return
        needed = self._needed(name, chosen)
        for part in self._trace.batches(name, needed, **near):
            table = self._changed(name, part)
            yield table if chosen is None else table.select(chosen)

    def rows(self, name: str) -> int:
        """The number of rows of a table."""
        if name in self._tables:
            return self._tables[name].num_rows
        return self._trace.rows(name)

    def rows_near(self, name: str, **near: Any) -> int | Integers:  # noqa: ANN401 -- likewise
        """An estimate of the rows of some locations in a window."""
        if name in self._tables:
            return self._tables[name].num_rows
        return self._trace.rows_near(name, **near)
