"""Open a store: nothing is loaded until it is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from burstline import schema
from burstline.errors import FormatError, UnsupportedRecordError
from burstline.formats.store.encoding import decode
from burstline.formats.store.writing import MANIFEST, VERSION

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class StoreTables(Mapping[str, pa.Table]):
    """The tables of a store, loaded when asked for, each time anew.

    Attributes
    ----------
    folder : Path
        The store.
    operations : tuple of str
        Names behind operation codes.
    counters : tuple of str
        Counters of the trace.
    groups : dict
        Row groups of each table: rows, locations, times.
    """

    folder: Path
    operations: tuple[str, ...]
    counters: tuple[str, ...]
    groups: dict[str, list[dict[str, int]]]

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self.groups:
            raise KeyError(name)
        names = self._names(name)
        with self._file(name) as file:
            return decode(file.read(), name, names, self.operations)

    def __iter__(self) -> Iterator[str]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    def rows(self, name: str) -> int:
        """Count the rows of a table without loading it."""
        return sum(group["rows"] for group in self.groups.get(name, ()))

    def batches(self, name: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Go through a table row group by row group, each of whole locations."""
        names = list(columns) if columns is not None else self._names(name)
        with self._file(name) as file:
            for group in range(file.num_row_groups):
                part = file.read_row_group(group, columns=names)
                yield decode(part, name, names, self.operations)

    def _names(self, name: str) -> list[str]:
        counters = self.counters if schema.TABLES[name].counters else ()
        return [column.name for column in schema.TABLES[name].columns] + list(counters)

    def _file(self, name: str) -> pq.ParquetFile:
        path = self.folder / f"{name}.parquet"
        try:
            return pq.ParquetFile(path, memory_map=False)
        except (OSError, pa.ArrowInvalid) as error:
            raise FormatError(
                path,
                None,
                expected="a table of the store",
                found=str(error),
                way_out="Convert the trace again.",
            ) from error


def open_tables(folder: Path) -> StoreTables:
    """Open the tables of a store.

    Raises
    ------
    FormatError
        If the folder holds no store, or a broken one.
    UnsupportedRecordError
        If a newer version wrote it.
    """
    path = folder / MANIFEST
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        version = int(manifest["version"])
        groups = {
            str(name): [
                {str(key): int(value) for key, value in group.items()} for group in parts
            ]
            for name, parts in manifest["tables"].items()
        }
        operations = tuple(map(str, manifest["operations"]))
        counters = tuple(map(str, manifest["counters"]))
        layout = int(manifest["schema"])
    except FileNotFoundError as error:
        raise FormatError(
            folder, None, expected=f"a store with its {MANIFEST}", found="another folder"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(
            path, None, expected="the manifest of a store", found=repr(error)
        ) from error
    if version != VERSION or layout != schema.SCHEMA_VERSION:
        raise UnsupportedRecordError(
            path,
            None,
            expected=f"version {VERSION} of stores and {schema.SCHEMA_VERSION} of the schema",
            found=f"versions {version} and {layout}",
            way_out="Convert the trace again.",
        )
    unknown = sorted(set(groups) - set(schema.TABLES))
    if unknown:
        raise FormatError(path, None, expected="tables of the schema", found=", ".join(unknown))
    return StoreTables(folder, operations, counters, groups)
