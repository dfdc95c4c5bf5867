"""From a trace, or parts of one, to a store.

A row group holds whole locations (or instances, teams, …), several where they have few rows,
so that footers stay small. A large location goes on in the next row groups.
"""

from __future__ import annotations

import json
import shutil
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
import pyarrow.parquet as pq

from burstline import schema
from burstline.columns import to_numpy
from burstline.errors import ParameterError
from burstline.formats.store.encoding import encode, stored_schema, writer_options
from burstline.operations import NAMES
from burstline.progress import SILENCE, Progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import TracebackType

    import pyarrow as pa

    from burstline.trace import Trace

MANIFEST: Final = "burstline-store.json"
VERSION: Final = 1
_ROWS: Final = 64 << 10
_TIMES: Final = ("enter_ns", "start_ns", "time_ns", "begin_ns", "send_ns", "acquire_ns")


class StoreWriter:
    """A store that is written under a temporary name; a context manager, removed on errors."""

    def __init__(self, path: Path, counters: Sequence[str]) -> None:
        if path.exists():
            raise ParameterError(f"{path} exists already; remove it or choose another name")
        self.path = path
        self.folder = path.with_name(f".{path.name}.part")
        self.counters: Sequence[str] = list(counters)
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._groups: dict[str, list[dict[str, int]]] = {}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        return self

    def append(self, name: str, table: pa.Table) -> None:
        """Append rows to a table, in its order."""
        target = stored_schema(name, self.counters)
        if name not in self._writers:
            options = writer_options(target)
            writer = pq.ParquetWriter(self.folder / f"{name}.parquet", target, **options)
            self._writers[name] = self._open.enter_context(writer)
            self._groups[name] = []
        stored = encode(table, target)
        for first, last in _groups(name, table):
            part = stored.slice(first, last - first)
            self._writers[name].write_table(part, row_group_size=max(1, last - first))
            self._groups[name].append(_index_of(name, part))

    def finish(self, operations: Sequence[str]) -> None:
        """Write the manifest and rename the store."""
        self._open.close()
        manifest: dict[str, Any] = {
            "format": "burstline-store",
            "version": VERSION,
            "schema": schema.SCHEMA_VERSION,
            "operations": list(operations),
            "counters": list(self.counters),
            "tables": self._groups,
        }
        (self.folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
        self.folder.rename(self.path)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._open.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _groups(name: str, table: pa.Table) -> Iterator[tuple[int, int]]:
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


def _index_of(name: str, part: pa.Table) -> dict[str, int]:
    entry = {"rows": part.num_rows}
    order = schema.TABLES[name].order
    if order and order[0].endswith("location"):
        location = to_numpy(part[order[0]])
        entry |= {"first_location": int(location[0]), "last_location": int(location[-1])}
    time = next((column for column in _TIMES if column in part.column_names), None)
    if time is not None:
        stamps = to_numpy(part[time])
        entry |= {"min_ns": int(stamps.min()), "max_ns": int(stamps.max())}
    return entry


def operation_names(table: pa.Table) -> list[str]:
    """The names behind the operation codes of a table of calls or collectives."""
    column = table["operation"]
    if column.num_chunks == 0:
        return list(NAMES)
    return column.chunk(0).dictionary.to_pylist()


def write(trace: Trace, path: Path, *, progress: Progress = SILENCE) -> None:
    """Write a trace as a store, whole or not at all, a few locations at a time."""
    names = [name for name in schema.TABLES if name in trace]
    progress.step("Writing", len(names), "tables")
    with StoreWriter(path, trace.counter_names) as store:
        operations: list[str] = []
        for name in names:
            by_location = "".join(schema.TABLES[name].order[:1]).endswith("location")
            in_parts = trace.is_stored or by_location
            parts = trace.batches(name) if in_parts else iter([trace.table(name)])
            first = True
            for part in parts:
                store.append(name, part)
                first = False
                if name in ("calls", "collectives") and not operations:
                    operations = operation_names(part)
            if first:
                store.append(name, trace.table(name).slice(0, 0))
            progress.advance(1)
        store.finish(operations or operation_names(trace.calls))
