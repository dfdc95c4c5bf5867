"""From a trace, or parts of one, to a store, and back.

Tables are Parquet with delta encodings; the names behind codes are the schema's, or the
manifest's for operations. A row group holds whole locations (or instances, teams, …), several
where they have few rows, so that footers stay small; a large one goes on in the next.
"""

from __future__ import annotations

import errno
import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from burstline.columns import Floats, Integers, Mask, begins_run, run_lengths, to_numpy
from burstline.errors import FormatError, MemoryBudgetError, readable
from burstline.formats import atomic
from burstline.formats.definitions import LITTLE, TABLES, Account, text_bytes
from burstline.formats.files import is_plain, require_plain
from burstline.formats.store.footer import Footer, read_footer
from burstline.formats.store.joining import join
from burstline.formats.store.manifest import (
    AGAIN,
    MANIFEST,
    OPERATIONS,
    Entry,
    Manifest,
    read_manifest,
    require_agreement,
)
from burstline.formats.store.pages import bytes_to_read, open_parquet
from burstline.formats.walk import parts_of
from burstline.model import NAMES, Batched, Trace, Wrong, schema
from burstline.progress import SILENCE, Progress

Group = dict[str, int]

_ROWS: Final = 64 << 10
_SMALL: Final = 256 << 10
"""Bytes of a table that is kept once it was loaded: to load it takes longer than to hold it."""
_COPIES_OF_TEXT: Final = 3  # made plain in parts, put together, and handed on
_WAY_OUT: Final = (
    "Take a part of it (`start_ns`, `end_ns`, `ranks`), a shorter one if you did, "
    "or allow more memory (`memory`)."
)
# Columns of few distinct values in long runs: a dictionary beats deltas there.
_REPETITIVE: Final = frozenset([
    "location", "operation", "type", "state", "communicator", "tag", "root", "kind", "severity",
    "sender_location", "receiver_location", "send_done_from", "origin", "gap_ns", "polls",
    "polling_ns", "waiting_ns", "complete", "lock", "team", "iterations", "barrier_ordinal",
    "role",
])  # fmt: skip


def stored_schema(name: str, counters: Sequence[str]) -> pa.Schema:
    """The schema of a table on disk, with codes for dictionaries."""
    fields = [
        field.with_type(field.type.index_type) if pa.types.is_dictionary(field.type) else field
        for field in schema.arrow_schema(name, counters)
    ]
    return pa.schema(fields)


def encode(table: pa.Table, target: pa.Schema) -> pa.Table:
    """A table with codes for dictionaries."""
    columns = []
    for wanted in target:
        column = table[wanted.name]
        if pa.types.is_dictionary(column.type):
            parts = [chunk.indices for chunk in column.chunks]
            column = pa.chunked_array(parts, type=column.type.index_type)
        columns.append(column)
    return pa.Table.from_arrays(columns, schema=target)


def decode(
    table: pa.Table, name: str, columns: Sequence[str], operations: Sequence[str]
) -> pa.Table:
    """A stored table with its dictionaries."""
    specs = {column.name: column for column in schema.TABLES[name].columns}
    target = schema.arrow_schema(name, [c for c in columns if c not in specs])
    fields, arrays = [target.field(column) for column in columns], []
    for column, wanted in zip(columns, fields, strict=True):
        values = table[column]
        if pa.types.is_dictionary(wanted.type):
            names = operations if specs[column].type == "operation" else specs[column].values
            values = dictionary(values, wanted.type, pa.array(names, pa.string()))
        elif values.type != wanted.type:
            values = values.cast(wanted.type)
        arrays.append(values)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def dictionary(codes: pa.ChunkedArray, kind: pa.DataType, names: pa.Array) -> pa.ChunkedArray:
    """Codes as a dictionary column of a type, with the names behind them."""
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.cast(kind.index_type), names)
        for chunk in codes.chunks
    ]
    return pa.chunked_array(chunks, type=kind)


def writer_options(target: pa.Schema, ranges: Collection[str] = ()) -> dict[str, Any]:
    """The options of a Parquet writer for a stored schema, with the ranges of some columns."""
    delta = {
        field.name: "DELTA_BINARY_PACKED"
        for field in target
        if field.name not in _REPETITIVE and field.type in (pa.int32(), pa.int64())
    }
    return {
        "compression": "zstd",
        "compression_level": 1,
        "use_dictionary": [field.name for field in target if field.name not in delta],
        "column_encoding": delta,
        "write_statistics": sorted(ranges),
        "write_page_checksum": True,
        "store_schema": True,
    }


class StoreWriter:
    """The tables of a store, written into an empty folder; a context manager."""

    def __init__(self, folder: Path, counters: Sequence[str]) -> None:
        self.folder = folder
        self.counters: Sequence[str] = list(counters)
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._rows: dict[str, int] = {}
        self._parts: defaultdict[str, list[Path]] = defaultdict(list)
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def append(self, name: str, table: pa.Table) -> None:
        """Append rows to a table, in its order; InconsistentTraceError where that is wrong."""
        schema.require_sound(name, table, before=self._rows.get(name, 0))
        self._rows[name] = self._rows.get(name, 0) + table.num_rows
        target, path = stored_schema(name, self.counters), self.folder / f"{name}.parquet"
        if name not in self._writers:
            file = self._open.enter_context(atomic.new_file(path))
            self._writers[name] = self._open.enter_context(_writer(file, name, target))
        _write_groups(self._writers[name], name, table, target)

    def adopt(self, parts: Mapping[str, Path]) -> None:
        """Put files behind the rows of tables so far, each as `write_part` makes it."""
        for name, path in parts.items():
            self._parts[name].append(path)

    def finish(self, operations: Sequence[str]) -> None:
        """Write the manifest, with which the folder is a store."""
        for name, writer in self._writers.items():
            if any(column.type == "operation" for column in schema.TABLES[name].columns):
                writer.add_key_value_metadata({OPERATIONS: json.dumps(list(operations))})
        self._open.close()
        for name, parts in self._parts.items():
            with atomic.new_file(self.folder / f"{name}.parquet") as file:
                join(parts, file)
            for part in parts:
                part.unlink()
        tables = {}
        for name in (*self._writers, *self._parts):
            footer = read_footer(self.folder / f"{name}.parquet")
            tables[name] = Entry(footer.rows(), footer.crc)
        manifest = Manifest(tuple(operations), tuple(self.counters), tables)
        with atomic.new_file(self.folder / MANIFEST) as file:
            file.write(manifest.text().encode())

    def __exit__(self, *_: object) -> None:
        self._open.close()


def write_part(file: IO[bytes], name: str, table: pa.Table, counters: Sequence[str]) -> None:
    """Write some rows of a table that has no operations, for a store to adopt."""
    schema.require_sound(name, table)
    target = stored_schema(name, counters)
    with _writer(file, name, target) as writer:
        _write_groups(writer, name, table, target)


def _writer(file: IO[bytes], name: str, target: pa.Schema) -> pq.ParquetWriter:
    return pq.ParquetWriter(file, target, **writer_options(target, _range_columns(name)))


def _write_groups(
    writer: pq.ParquetWriter, name: str, table: pa.Table, target: pa.Schema
) -> None:
    stored = encode(table, target)
    for first, last in _group_ranges(name, table):
        part = stored.slice(first, last - first)
        writer.write_table(part, row_group_size=max(1, last - first))


def _group_ranges(name: str, table: pa.Table) -> Iterator[tuple[int, int]]:
    order = schema.TABLES[name].order
    if not table.num_rows:
        return
    if not order:
        yield 0, table.num_rows
        return
    key = to_numpy(table[order[0]])
    borders = np.append(np.flatnonzero(key[1:] != key[:-1]) + 1, len(key))
    first = 0
    for border in borders.tolist():
        if border - first >= _ROWS or border == len(key):
            yield first, border
            first = border


def _index_of(name: str, footer: Footer) -> list[Group]:
    """Rows of each row group of a file, and between which values they are, if it says so."""
    index = [{"rows": group.rows} for group in footer.groups]
    for column, keys in _range_columns(name).items():
        leaf = footer.leaves.index(column)
        chunks = [group.chunks[leaf] for group in footer.groups]
        if not all(chunk.least and chunk.most for chunk in chunks):
            continue  # all of them are read, whatever is asked for
        for entry, chunk in zip(index, chunks, strict=True):
            least, most = _signed_number(chunk.least), _signed_number(chunk.most)
            if least > most:
                raise ValueError(f"{column} from {least} to {most}")
            entry.update(zip(keys, (least, most), strict=True))
    return index


def _signed_number(stored: bytes | None) -> int:
    return int.from_bytes(stored or b"", "little", signed=True)


def _range_columns(name: str) -> dict[str, tuple[str, str]]:
    """Columns of a table by which row groups are chosen, and what their ranges are called."""
    where, when = schema.place_columns(name)
    ranges = {}
    if where is not None:
        ranges[where] = ("first_location", "last_location")
    if when is not None:
        ranges[when] = ("min_ns", "max_ns")
    return ranges


def operation_names(table: pa.Table) -> list[str]:
    """The names behind the operation codes of a table of calls or collectives."""
    column = table["operation"]
    if column.num_chunks == 0:
        return list(NAMES)
    return column.chunk(0).dictionary.to_pylist()


def write(trace: Trace, path: Path, *, progress: Progress = SILENCE, **_: object) -> None:
    """Write a trace as a store, whole or not at all, a few locations at a time."""
    names = [name for name in schema.TABLES if name in trace]
    progress.step("Writing", len(names), "tables")
    with atomic.folder(path) as folder, StoreWriter(folder, trace.counter_names) as store:
        operations: list[str] = []
        for name in names:
            for part in parts_of(trace, name):
                store.append(name, part)
                if name in ("calls", "collectives") and not operations:
                    operations = operation_names(part)
            progress.advance(1)
        store.finish(operations or operation_names(trace.calls))


@dataclass(frozen=True, slots=True)
class StoreTables(Batched):
    """The tables of a store, loaded when asked for, large ones each time anew."""

    folder: Path
    manifest: Manifest
    memory: int | None = None  # bytes that may be loaded at once
    _defined: Account = field(default_factory=Account)
    _footers: dict[str, Footer] = field(default_factory=dict)
    _indices: dict[str, list[Group]] = field(default_factory=dict)
    _counts: dict[str, Integers] = field(default_factory=dict)  # rows on each location
    _small: dict[str, pa.Table] = field(default_factory=dict)

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self.manifest.tables:
            raise KeyError(name)
        if name in self._small:
            return self._small[name]
        names = self._names(name)
        with self._file(name) as file, self._told(name):
            table = self._read(name, file, range(len(self.groups(name))), names)
        if table.nbytes <= _SMALL:
            self._small[name] = table
        return table

    def __iter__(self) -> Iterator[str]:
        return iter(self.manifest.tables)

    def __len__(self) -> int:
        return len(self.manifest.tables)

    def rows(self, name: str) -> int:
        """The number of rows of a table, which is not loaded."""
        return self._footer(name).rows() if name in self.manifest.tables else 0

    def rows_near(
        self, name: str, *, locations: Mask | None = None, window: schema.Window | None = None
    ) -> int | Integers:
        """An estimate of the rows of some locations in a window; those that begin there count.

        O(rows) of the times, read where a part of a row group is near; no row group is spread
        over time evenly: a state may last as long as the rest of the run.
        """
        if name not in self.manifest.tables:
            return 0
        near: int | Integers = 0
        for number, group in enumerate(self.groups(name)):
            share = _share_near(group, locations, window)
            is_part = np.any((share > 0) & (share < 1))
            if window is not None and "min_ns" in group and is_part:
                rows = self._count(name, number, locations, window)
                near = near + np.where(share > 0, rows, 0)
            else:
                of_group = self._footer(name).rows([number])
                near = near + np.ceil(of_group * share).astype(np.int64)
        return near

    def _count(
        self, name: str, number: int, locations: Mask | None, window: schema.Window
    ) -> Integers:
        columns = [c for c in schema.place_columns(name) if c is not None]
        with self._file(name) as file, self._told(name):
            rows = self._read(name, file, [number], columns)
        group = self.groups(name)[number]
        before = group.get("last_location", 0) - group.get("first_location", 0) + 1
        near = schema.count_near(name, rows, locations, window)
        return np.minimum(near + before, rows.num_rows)

    def batches(
        self,
        name: str,
        columns: Sequence[str] | None = None,
        *,
        locations: Mask | None = None,
        window: tuple[int, int] | None = None,
    ) -> Iterator[pa.Table]:
        """Yield a table in parts of whole locations, of some or that begin in a window."""
        names = list(columns) if columns is not None else self._names(name)
        with self._file(name) as file:
            groups = self.groups(name)
            near = [
                k for k, index in enumerate(groups) if _share_near(index, locations, window)
            ]
            for part in _of_whole_locations(near, groups):
                with self._told(name):
                    table = self._read(name, file, part, names, whole=window is None)
                yield table

    def _names(self, name: str) -> list[str]:
        counters = self.manifest.counters if schema.TABLES[name].counters else ()
        return [column.name for column in schema.TABLES[name].columns] + list(counters)

    def _footer(self, name: str) -> Footer:
        """The footer of a table's file, read once, and as the manifest says."""
        if name not in self._footers:
            path = self.folder / f"{name}.parquet"
            crc = self.manifest.tables[name].footer
            with self._told(name):
                footer = read_footer(path, crc=crc, require=partial(self._require, name))
                kept = stored_schema(name, self.manifest.counters)
                found = footer.arrow.schema.to_arrow_schema()
                if list(zip(found.names, found.types, strict=True)) != list(
                    zip(kept.names, kept.types, strict=True)
                ):
                    raise ValueError("other columns than the table has")
            require_agreement(path, name, footer, self.manifest)
            self._footers[name] = footer
        return self._footers[name]

    def groups(self, name: str) -> list[Group]:
        """Rows, locations and times of each row group of a table."""
        if name not in self._indices:
            footer = self._footer(name)
            with self._told(name):
                self._indices[name] = _index_of(name, footer)
        return self._indices[name]

    def _read(
        self,
        name: str,
        file: pq.ParquetFile,
        groups: Sequence[int],
        names: Sequence[str],
        *,
        whole: bool = True,
    ) -> pa.Table:
        """Some columns of row groups, refused where they would not fit or name no row."""
        needed = 0
        if self.memory is not None:
            path = self.folder / f"{name}.parquet"
            size = bytes_to_read(path, self._footer(name), groups, names)
            needed = size.numbers + size.texts
            self._require(name, needed + size.texts)
        threaded = self._footer(name).rows(groups) > _ROWS  # each column of fewer is soon read
        rows = file.read_row_groups(groups, columns=names, use_threads=threaded)
        if self.memory is not None:
            self._require(name, needed + _COPIES_OF_TEXT * text_bytes(rows, coded=True))
        if name in TABLES:
            self._defined.charge_table(name, rows)
        table = decode(rows, name, names, self.manifest.operations)
        wrong = schema.first_wrong(
            name, table, self.rows, self._rows_by_location, self._parts, whole=whole
        )
        if wrong is not None:
            before = self._footer(name).rows(range(groups[0]))
            wrong = wrong._replace(row=before + wrong.row)
            raise wrong_row(self.folder / f"{name}.parquet", wrong, AGAIN)
        self._check_ranges(name, table, groups)
        return table

    def _check_ranges(self, name: str, table: pa.Table, groups: Sequence[int]) -> None:
        """Raise unless row groups have the rows they say, and those the ranges they say."""
        index = [group for k in groups if (group := self.groups(name)[k])["rows"]]
        starts = np.cumsum([0, *(group["rows"] for group in index)])
        if table.num_rows != starts[-1]:
            raise ValueError(f"{table.num_rows} rows where its footer says {starts[-1]}")
        for column, keys in _range_columns(name).items():
            if column in table.column_names and index and keys[0] in index[0]:
                values = to_numpy(table[column])
                for key, verb in zip(keys, (np.minimum, np.maximum), strict=True):
                    found = verb.reduceat(values, starts[:-1])
                    wrong = np.flatnonzero(found != [group[key] for group in index])
                    if len(wrong):
                        said = index[wrong[0]][key]
                        raise ValueError(
                            f"{column} {found[wrong[0]]} where its footer says {said}"
                        )
        named = table["name"] if name == "counters" and "name" in table.column_names else None
        if named is not None and tuple(named.to_pylist()) != self.manifest.counters:
            raise ValueError("other counters than the manifest names")

    def _rows_by_location(self, name: str) -> Integers:
        """The number of rows of a table on each location, counted once."""
        if name not in self._counts:
            count = np.zeros(self.rows("locations"), np.int64)
            for part in self._parts(name, ["location"]):
                location = to_numpy(part["location"])
                first = np.flatnonzero(begins_run(location))
                np.add.at(count, location[first], run_lengths(first, len(location)))
            self._counts[name] = count
        return self._counts[name]

    def _parts(self, name: str, columns: Sequence[str]) -> Iterator[pa.Table]:
        return self.batches(name, columns) if name in self.manifest.tables else iter(())

    def _require(self, name: str, needed: int) -> None:
        """Refuse what does not fit beside the definitions that were read from other tables."""
        needed += self._defined.taken(without=name)
        if self.memory is not None and needed > self.memory + LITTLE:
            raise MemoryBudgetError(needed, self.memory, way_out=_WAY_OUT)

    @contextmanager
    def _file(self, name: str) -> Iterator[pq.ParquetFile]:
        with ExitStack() as stack:
            with self._told(name):
                source = stack.enter_context(arrow_source(self.folder / f"{name}.parquet"))
                file = open_parquet(source, self._footer(name))
            yield stack.enter_context(file)

    def _told(self, name: str) -> AbstractContextManager[None]:
        """A block in which damage is told of a table's file."""
        return damage_told(self.folder / f"{name}.parquet", "a table of the store", AGAIN)


def stretches_of(folder: Path, names: Sequence[str]) -> tuple[int, list[tuple[int, int]]]:
    """The number of locations, and the parts of whole locations of the first table with rows.

    Of each part its first location, and its rows; none of a table that does not say where its
    row groups begin.
    """
    tables = open_tables(folder)
    for name in names:
        groups = tables.groups(name) if tables.rows(name) else []
        if groups and all("first_location" in group for group in groups):
            parts = _of_whole_locations(list(range(len(groups))), groups)
            return tables.rows("locations"), [
                (groups[part[0]]["first_location"], sum(groups[k]["rows"] for k in part))
                for part in parts
            ]
    return tables.rows("locations"), []


def wrong_row(path: Path, wrong: Wrong, way_out: str = "") -> FormatError:
    """The error that says of a file which of its values no trace has."""
    return FormatError(
        path,
        None,
        expected=f"{wrong.expected}, in column {wrong.column}",
        found=f"{wrong.value} in row {wrong.row}",
        way_out=way_out,
    )


@contextmanager
def damage_told(path: Path, expected: str, way_out: str = "") -> Iterator[None]:
    """A block in which what Arrow says of damaged bytes is told of a file."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, KeyError, IndexError, TypeError) as error:
        if isinstance(error, OSError) and error.errno not in {None, errno.ENOENT}:
            raise  # of the system, not of what the file holds
        if isinstance(error, MemoryError) or "bad_alloc" in str(error):
            raise MemoryError from error
        raise FormatError(
            path, None, expected=expected, found=str(error), way_out=way_out
        ) from error


@contextmanager
def arrow_source(path: Path) -> Iterator[Path | IO[bytes]]:
    """A plain file as Arrow takes it, for which names are UTF-8."""
    require_plain(path)
    if readable(path) == str(path):
        yield path
        return
    with path.open("rb") as file:
        yield file


def _of_whole_locations(chosen: list[int], groups: list[Group]) -> Iterator[list[int]]:
    """Yield the chosen row groups, together where a location goes on in the next."""
    part: list[int] = []
    for number in chosen:
        first = groups[number].get("first_location")
        if part and (first is None or first != groups[part[-1]]["last_location"]):
            yield part
            part = []
        part.append(number)
    if part:
        yield part


def _share_near(
    group: Group, locations: Mask | None, window: schema.Window | None
) -> np.float64 | Floats:
    """The share of rows in a row group that are of some locations and begin in a window."""
    share: np.float64 | Floats = np.float64(1)
    if locations is not None and "first_location" in group:
        inside = locations[group["first_location"] : group["last_location"] + 1]
        share *= np.count_nonzero(inside) / max(len(inside), 1)
    if window is not None and "min_ns" in group:
        first, last = group["min_ns"], group["max_ns"]
        length = np.minimum(last, window[1]) - max(first, window[0]) + 1
        share = share * np.maximum(length, 0) / (last - first + 1)
    return share


def open_tables(folder: Path, memory: int | None = None) -> StoreTables:
    """The tables of a store, of which `memory` bytes may be loaded at once."""
    manifest = read_manifest(folder, memory)
    return StoreTables(folder, manifest, memory, Account(memory, way_out=_WAY_OUT))


def recognises(path: Path, _head: bytes = b"") -> bool:
    """Whether a folder is a store."""
    return is_plain(path / MANIFEST)


def read(path: Path, *, memory: int | None = None, **_: object) -> Trace:
    """A store as a trace whose tables are loaded when asked for, within `memory` bytes each."""
    return Trace(open_tables(path, memory))
