"""The trace: an immutable bundle of tables that every analysis reads.

A table may be in memory or still in a store: `tables` is any mapping, asked only for what is
needed, and `batches` goes through a table a few locations at a time.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import Integers, Mask, numpy_columns, to_frame
from burstline.errors import ParameterError, plural, printable
from burstline.model import schema

if TYPE_CHECKING:
    import polars as pl

_TARGET_ROWS = 1 << 20
_VALUE_BYTES = {"int16": 2, "int32": 4, "bool": 1, "operation": 2, "enum": 1}
_LONGEST_VALUE_BYTES = 8


class Batched(Mapping[str, pa.Table]):
    """A mapping of tables that can hand out a table in parts, and count without loading."""

    __slots__ = ()

    @abstractmethod
    def batches(
        self,
        name: str,
        columns: Sequence[str] | None,
        *,
        locations: Mask | None = None,
        window: tuple[int, int] | None = None,
    ) -> Iterator[pa.Table]:
        """The table `name` in parts of whole locations, in order."""

    @abstractmethod
    def rows(self, name: str) -> int:
        """The number of rows of a table."""

    @abstractmethod
    def rows_near(
        self, name: str, *, locations: Mask | None, window: schema.Window | None
    ) -> int | Integers:
        """The estimated number of rows of some locations in a window."""


class Trace:
    """One run of a parallel program.

    The tables are described in :data:`burstline.model.TABLES`; each is an attribute, as a
    :class:`pyarrow.Table`: ``trace.calls``, ``trace.messages``, …

    Parameters
    ----------
    tables : mapping of str to pyarrow.Table
        Tables by name. What is missing is an empty table; raw tables that are missing
        make :attr:`has_raw` false.
    check : bool
        Whether every table is checked against the schema, O(rows).
    sources : iterable of Path
        The files that the trace was read from; :func:`burstline.write` never replaces them.

    Raises
    ------
    ParameterError
        If a table has a name the schema does not know.
    InconsistentTraceError
        If `check` is true and a table breaks its schema.

    Examples
    --------
    >>> Trace({}).calls.num_rows
    0
    """

    __slots__ = ("_names", "_sources", "_tables")

    def __init__(
        self,
        tables: Mapping[str, pa.Table],
        *,
        check: bool = False,
        sources: Iterable[Path] = (),
    ) -> None:
        unknown = set(tables) - set(schema.TABLES)
        if unknown:
            raise ParameterError(f"no table called {', '.join(sorted(unknown))} in a trace")
        self._tables = tables
        self._sources = tuple(sources)
        self._names = frozenset(tables)
        if check:
            for name in tables:
                schema.check(name, tables[name])

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.__slots__ and not hasattr(self, name):
            object.__setattr__(self, name, value)
            return
        raise AttributeError(f"a trace does not change: {name} cannot be set")

    def __getattr__(self, name: str) -> pa.Table:
        if name in schema.TABLES:
            return self.table(name)
        raise AttributeError(f"a trace has no {name!r}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *schema.TABLES]

    def __repr__(self) -> str:
        return (
            f"<Trace: {plural(self.locations.num_rows, 'location')}, "
            f"{self.duration_ns / 1e9:.6g} s, from {printable(self.metadata.get('path', '?'))}>"
        )

    def __contains__(self, name: object) -> bool:
        return name in self._names

    @property
    def has_raw(self) -> bool:
        """Whether the records themselves are kept: events and states."""
        return "events" in self._names

    @property
    def sources(self) -> tuple[Path, ...]:
        """The files that the trace, or the trace that it is made of, was read from."""
        return self._sources

    def with_sources(self, sources: Iterable[Path]) -> Trace:
        """The same trace, which says that it was read from these files."""
        return Trace(self._tables, sources=sources)

    @property
    def is_stored(self) -> bool:
        """Whether tables are in a store, and large ones loaded each time they are asked for."""
        return isinstance(self._tables, Batched)

    @property
    def counter_names(self) -> tuple[str, ...]:
        """Names of the counters, in the order of their columns."""
        return tuple(self.table("counters")["name"].to_pylist())

    @property
    def metadata(self) -> dict[str, str]:
        """Facts about the trace by key, such as path, format and resolution_ns."""
        table = self.table("metadata")
        return dict(zip(table["key"].to_pylist(), table["value"].to_pylist(), strict=True))

    @property
    def duration_ns(self) -> int:
        """Span from the first to the last moment any location was observed, in ns."""
        locations = self.locations
        if not locations.num_rows:
            return 0
        born, died = locations["born_ns"].to_numpy(), locations["died_ns"].to_numpy()
        return int(died.max() - born.min())

    def table(self, name: str) -> pa.Table:
        """A table whole; an empty one if the source had nothing of the kind.

        Parameters
        ----------
        name : str
            A key of :data:`burstline.model.TABLES`.

        Returns
        -------
        pyarrow.Table
            The table; if the trace is a store, loaded each time unless it is small.
        """
        if name in self._names:
            return self._tables[name]
        return schema.arrow_schema(name).empty_table()

    def rows(self, name: str) -> int:
        """Count the rows of a table, without loading it from a store."""
        if isinstance(self._tables, Batched):
            return self._tables.rows(name) if name in self._names else 0
        return self.table(name).num_rows

    def rows_near(
        self, name: str, *, locations: Mask | None = None, window: schema.Window | None = None
    ) -> int | Integers:
        """Count about the rows of some locations in a window: those that begin there."""
        if isinstance(self._tables, Batched) and name in self._names:
            return self._tables.rows_near(name, locations=locations, window=window)
        return schema.count_near(name, self.table(name), locations, window)

    def estimate_bytes(
        self, name: str, *, locations: Mask | None = None, window: tuple[int, int] | None = None
    ) -> int:
        """Estimate the bytes of a part of a table."""
        rows = self.rows_near(name, locations=locations, window=window)
        return int(rows) * self._row_bytes(name)

    def bytes_until(
        self, name: str, ends_ns: Integers, *, start_ns: int, locations: Mask | None = None
    ) -> Integers:
        """Estimate the bytes of parts of a table that begin at once, for the cost of one."""
        rows = self.rows_near(name, locations=locations, window=(start_ns, ends_ns))
        return np.full(len(ends_ns), self._row_bytes(name), np.int64) * rows

    def _row_bytes(self, name: str) -> int:
        table = schema.TABLES[name]
        counters = len(self.counter_names) if table.counters else 0
        sizes = (
            _VALUE_BYTES.get(column.type, _LONGEST_VALUE_BYTES) for column in table.columns
        )
        return sum(sizes) + _LONGEST_VALUE_BYTES * counters

    def batches(
        self,
        name: str,
        columns: Sequence[str] | None = None,
        *,
        locations: Mask | None = None,
        window: tuple[int, int] | None = None,
    ) -> Iterator[pa.Table]:
        """Go through a table in parts, in order; each holds whole locations, if rows have any.

        Parameters
        ----------
        name : str
            A table.
        columns : sequence of str, optional
            Only these columns.
        locations : ndarray of bool, shape (locations,), optional
            The locations that matter: a store leaves out parts that hold none of them.
        window : (int, int), optional
            First and last moment that matter: a store leaves out parts whose rows all begin
            before the first or after the last.

        Yields
        ------
        pyarrow.Table
            About a million rows each, more where one location has more.
        """
        if isinstance(self._tables, Batched) and name in self._names:
            yield from self._tables.batches(name, columns, locations=locations, window=window)
            return
        table = self.table(name)
        if schema.place_columns(name)[0] is None:
            offsets = np.append(np.arange(0, table.num_rows, _TARGET_ROWS), table.num_rows)
        else:
            offsets = self.offsets(name)
        if columns is not None:
            table = table.select(list(columns))
        first = 0
        for last in range(1, len(offsets)):
            full = offsets[last] - offsets[first] >= _TARGET_ROWS
            if (full or last == len(offsets) - 1) and offsets[last] > offsets[first]:
                yield table.slice(int(offsets[first]), int(offsets[last] - offsets[first]))
                first = last

    def offsets(self, name: str) -> Integers:
        """Where each location's rows begin in a table sorted by location.

        Returns
        -------
        ndarray of int64, shape (locations + 1,)
            Rows of location k are ``offsets[k]:offsets[k + 1]``.
        """
        key = schema.TABLES[name].order[0]
        column = self.table(name)[key].to_numpy()
        return np.searchsorted(column, np.arange(self.locations.num_rows + 1)).astype(np.int64)

    def arrays(self, name: str, *columns: str) -> tuple[npt.NDArray[Any], ...]:
        """Columns of a table as NumPy arrays, without a copy where they are contiguous.

        Parameters
        ----------
        name : str
            The table.
        *columns : str
            Its columns. Nulls become -1 in id columns (int32, dictionaries) and
            :data:`burstline.model.NO_VALUE` in int64 ones; dictionaries become codes.

        Returns
        -------
        tuple of ndarray
            One array per column, shape (rows,); read-only.
        """
        return numpy_columns(self.table(name), *columns)

    def to_frame(self, name: str) -> pl.DataFrame:
        """A table as a Polars data frame, without a copy where Polars can."""
        return to_frame(self.table(name))

    def _repr_html_(self) -> str:
        from html import escape  # noqa: PLC0415 -- notebooks only

        rows = "".join(
            f"<tr><td>{name}</td><td style='text-align:right'>{self.rows(name):,}"
            f"</td><td>{escape(schema.TABLES[name].doc)}</td></tr>"
            for name in schema.TABLES
            if name in self._names
        )
        return (
            f"<p>{escape(repr(self))}</p><table><thead><tr><th>table</th><th>rows</th>"
            f"<th>a row is</th></tr></thead><tbody>{rows}</tbody></table>"
        )
