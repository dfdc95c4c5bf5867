"""A trace with some tables replaced or left out; the others are not even loaded.

::

    Trace, with {"events": table}, without ["states"]  ->  Trace
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from burstline.schema import TABLES
from burstline.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import pyarrow as pa

    from burstline.columns import Mask


def overlaid(
    trace: Trace, tables: Mapping[str, pa.Table], *, without: Collection[str] = ()
) -> Trace:
    """A trace with other tables in place of some, and without others."""
    kind = _StoredOverlay if trace.is_stored else _Overlay
    return Trace(kind(trace, tables, without))


class _Overlay(Mapping[str, "pa.Table"]):
    def __init__(
        self, trace: Trace, tables: Mapping[str, pa.Table], without: Collection[str]
    ) -> None:
        self._trace, self._tables = trace, tables
        self._names = [
            name for name in TABLES if (name in trace or name in tables) and name not in without
        ]

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._names:
            raise KeyError(name)
        return self._tables[name] if name in self._tables else self._trace.table(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class _StoredOverlay(_Overlay):
    def batches(
        self,
        name: str,
        columns: Sequence[str] | None,
        *,
        locations: Mask | None = None,
        window: tuple[int, int] | None = None,
    ) -> Iterator[pa.Table]:
        """Go through a table in parts of whole locations."""
        if name not in self._tables:
            yield from self._trace.batches(name, columns, locations=locations, window=window)
            return
        table = self._tables[name]
        yield table if columns is None else table.select(list(columns))

    def rows(self, name: str) -> int:
        """The number of rows of a table."""
        if name in self._tables:
            return self._tables[name].num_rows
        return self._trace.rows(name)

    def rows_near(
        self,
        name: str,
        *,
        locations: Mask | None,
        window: tuple[int, int] | None,
    ) -> int:
        """An estimate of the rows of some locations in a window."""
        if name in self._tables:
            return self._tables[name].num_rows
        return self._trace.rows_near(name, locations=locations, window=window)
