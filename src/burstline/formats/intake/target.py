"""Where what was read is kept until all of it is there: in memory, or in files."""

from __future__ import annotations

import ctypes
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import Integers, with_column
from burstline.formats import atomic
from burstline.formats.intake.budget import require_bytes
from burstline.model import TABLES, text_array

Columns = dict[str, Integers]


class Spool:
    """Keeps byte strings by key, in the order in which they came."""

    def __init__(self, folder: Path, name: str, memory: int) -> None:
        self._folder, self._name, self._memory = folder, name, memory
        self._held: defaultdict[int, list[npt.NDArray[np.uint8]]] = defaultdict(list)
        self._bytes = 0

    def append(self, key: int, data: npt.NDArray[Any]) -> None:
        """Keep a copy of an array's bytes under a key."""
        if not data.size:
            return
        packed = np.frombuffer(data.tobytes(), np.uint8)
        self._held[key].append(packed)
        self._bytes += packed.nbytes
        if self._bytes > self._memory:
            self._spill()

    def _spill(self) -> None:
        for key, parts in self._held.items():
            path = self._path(key)
            with atomic.writing(path), path.open("ab") as file:
                for part in parts:
                    file.write(part.data)
        self._held.clear()
        self._bytes = 0

    def take(self, key: int) -> npt.NDArray[np.uint8]:
        """What was stored under a key, which is forgotten."""
        parts = list(self.pieces(key, -1))
        return np.concatenate(parts) if parts else np.empty(0, np.uint8)

    def pieces(self, key: int, size: int) -> Iterator[npt.NDArray[np.uint8]]:
        """What was kept under a key, a file in pieces of so many bytes; it is forgotten."""
        parts = self._held.pop(key, [])
        self._bytes -= sum(part.nbytes for part in parts)
        path = self._path(key)
        if path.exists():
            with path.open("rb") as file:
                while len(piece := np.fromfile(file, np.uint8, size)):
                    yield piece
            path.unlink()
        yield from parts

    def _path(self, key: int) -> Path:
        return self._folder / f"{self._name}-{key:06d}"


_WITH_OPERATIONS: Final = ("calls", "collectives")
_ROWS_AT_ONCE: Final = 1 << 18
_CODES: Final = {"enum": "int8", "operation": "int16"}


class HeldRows:
    """Rows in memory, column by column: what is kept and taken whole is not copied."""

    def __init__(self, types: Mapping[str, np.dtype[Any]]) -> None:
        self._types = types
        self._parts: defaultdict[int, list[Columns]] = defaultdict(list)

    def append(self, key: int, columns: Mapping[str, Integers]) -> None:
        """Keep rows under a key, after those that are there."""
        self._parts[key].append(self._narrowed(columns))

    def scatter(self, keys: Integers, columns: Mapping[str, Integers]) -> None:
        """Keep each row under its key, in order."""
        narrow = self._narrowed(columns)
        for key, rows in _by_key(keys):
            whole = len(rows) == len(keys)
            part = narrow if whole else {name: narrow[name][rows] for name in narrow}
            self._parts[key].append(part)

    def take(self, key: int) -> Columns:
        """The rows of a key, which are forgotten."""
        parts = self._parts.pop(key, [])
        if len(parts) == 1:
            return parts[0]
        none = {name: np.zeros(0, kind) for name, kind in self._types.items()}
        parts = parts or [none]
        return {name: np.concatenate([part[name] for part in parts]) for name in self._types}

    def pieces(self, key: int) -> Iterator[Columns]:
        """The rows of a key, as they came; they are forgotten."""
        yield from self._parts.pop(key, [])

    def _narrowed(self, columns: Mapping[str, Integers]) -> Columns:
        return {name: columns[name].astype(to, copy=False) for name, to in self._types.items()}


class PackedRows:
    """Rows packed into a spool, column beside column."""

    def __init__(self, spool: Spool, types: Mapping[str, np.dtype[Any]]) -> None:
        self._spool = spool
        self._row, self._names = np.dtype(list(types.items())), list(types)

    def append(self, key: int, columns: Mapping[str, Integers]) -> None:
        """Keep rows under a key, after those that are there."""
        self._spool.append(key, self._packed(columns))

    def scatter(self, keys: Integers, columns: Mapping[str, Integers]) -> None:
        """Keep each row under its key, in order."""
        packed = self._packed(columns)
        for key, rows in _by_key(keys):
            self._spool.append(key, packed[rows])

    def take(self, key: int) -> Columns:
        """The rows of a key, which are forgotten."""
        return self._unpacked(self._spool.take(key))

    def pieces(self, key: int) -> Iterator[Columns]:
        """The rows of a key, some at a time; they are forgotten."""
        for piece in self._spool.pieces(key, _ROWS_AT_ONCE * self._row.itemsize):
            yield self._unpacked(piece)

    def _unpacked(self, data: npt.NDArray[np.uint8]) -> Columns:
        rows = data.view(self._row)
        return {name: np.ascontiguousarray(rows[name]) for name in self._names}

    def _packed(self, columns: Mapping[str, Integers]) -> npt.NDArray[Any]:
        rows = np.empty(len(columns[self._names[0]]), self._row)
        for name in self._names:
            rows[name] = columns[name]
        return rows


Rows: TypeAlias = HeldRows | PackedRows
"""Keeps rows of columns of integers by key."""

MakeRows: TypeAlias = "Callable[[str, Mapping[str, np.dtype[Any]]], Rows]"
"""Makes a keeper of rows of a name, whose columns are as narrow as their values allow."""


def _by_key(keys: Integers) -> Iterator[tuple[int, Integers]]:
    if not len(keys):
        return
    order = np.argsort(keys, kind="stable")
    borders = np.flatnonzero(np.diff(keys[order])) + 1
    for rows in np.split(order, borders):
        yield int(keys[rows[0]]), rows


def types_of(names: Sequence[str], *tables: str) -> dict[str, np.dtype[Any]]:
    """The type that each column has in tables; int64 for those in none."""
    columns = [column for table in tables for column in TABLES[table].columns]
    types = {column.name: _CODES.get(column.type, column.type) for column in columns}
    return {name: np.dtype(types.get(name, "int64")) for name in names}


class HeldTables:
    """Collects rows of tables in memory, up to `memory` bytes of which `base` are taken."""

    def __init__(
        self, memory: int | None = None, *, base: int = 0, way_out: str = "", locations: int = 0
    ) -> None:
        self._parts: dict[str, list[pa.Table]] = {}
        self._memory, self._base, self._way_out = memory, base, way_out
        self._used, self._begun, self._locations = 0, 0, locations

    def append(self, name: str, table: pa.Table) -> None:
        """Append rows to a table, unless they are more than fit."""
        if self._memory is not None:
            self._check_memory(self._memory, table)
        self._parts.setdefault(name, []).append(table)

    def _check_memory(self, memory: int, table: pa.Table) -> None:
        self._used += table.nbytes
        if "location" in table.column_names and table.num_rows:
            self._begun = max(self._begun, table["location"][-1].as_py() + 1)
        if self._base + self._used > memory:
            # if the locations to come have as much as those so far
            to_come = max(self._locations / max(self._begun, 1), 1)
            needed = self._base + int(self._used * to_come)
            require_bytes(needed, memory, way_out=self._way_out)

    def finish(self, operations: Sequence[str]) -> dict[str, pa.Table]:
        """The tables; codes of operations are places in `operations`."""
        tables = {}
        for name in list(self._parts):
            parts = self._parts.pop(name)
            if name in _WITH_OPERATIONS:
                parts = [with_operations(part, operations) for part in parts]
            tables[name] = _joined_tables(parts)
        return tables


def _joined_tables(parts: list[pa.Table]) -> pa.Table:
    """Put tables behind each other; what is joined of `parts` is forgotten column by column."""
    if len(parts) == 1 and all(column.num_chunks == 1 for column in parts[0].columns):
        return parts[0]
    target = parts[0].schema
    columns = []
    for kind in target.types:
        pieces = [chunk for part in parts for chunk in part.column(0).chunks if len(chunk)]
        parts[:] = [part.remove_column(0) for part in parts]
        columns.append(_joined_arrays(pieces, kind))
        is_joined = len(pieces) > 1
        del pieces
        if is_joined:
            give_back()
    return pa.Table.from_arrays(columns, schema=target)


def _joined_arrays(pieces: list[pa.Array], kind: pa.DataType) -> pa.Array:
    """Join arrays; of integers in memory of numpy, which takes large pages: half the time."""
    if len(pieces) < 2 or not pa.types.is_integer(kind):
        return (
            pieces[0] if len(pieces) == 1 else pa.chunked_array(pieces, kind).combine_chunks()
        )
    width = kind.to_pandas_dtype()
    values = np.concatenate(
        [
            np.frombuffer(piece.buffers()[1], width)[piece.offset : piece.offset + len(piece)]
            for piece in pieces
        ]
    )
    missing = sum(piece.null_count for piece in pieces)
    valid = pa.concat_arrays([piece.is_valid() for piece in pieces]) if missing else None
    bitmap = None if valid is None else valid.buffers()[1]
    return pa.Array.from_buffers(kind, len(values), [bitmap, pa.py_buffer(values)], missing)


def with_operations(
    table: pa.Table,
    operations: Sequence[str],
    change: Callable[[npt.NDArray[np.int16]], npt.NDArray[np.int16]] | None = None,
) -> pa.Table:
    """A table whose codes of operations, maybe changed, are places in `operations`."""
    names = text_array(tuple(operations))
    chunks = []
    for chunk in table["operation"].chunks:
        codes = chunk.indices
        if change is not None:
            codes = pa.array(change(codes.to_numpy()), codes.type)
        chunks.append(pa.DictionaryArray.from_arrays(codes, names))
    return with_column(table, "operation", pa.chunked_array(chunks, table["operation"].type))


def give_back() -> None:
    """Return free memory to the system, where the C library can."""
    # Allocators keep what was freed between arrays that stay: a reader that makes many tables,
    # one part after the other, would hold half as much again as its tables.
    pa.default_memory_pool().release_unused()
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@cache
def _malloc_trim() -> Callable[[int], int] | None:
    """The function of the GNU C library, None elsewhere."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
    trim.argtypes, trim.restype = [ctypes.c_size_t], ctypes.c_int
    return trim
