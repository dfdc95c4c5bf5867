"""From a store to a trace whose tables are loaded when asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from burstline import schema
from burstline.errors import FormatError, UnsupportedRecordError
from burstline.formats.store.encoding import decode
from burstline.formats.store.writing import MANIFEST, VERSION
from burstline.trace import Trace

if TYPE_CHECKING:
    from pathlib import Path

    from burstline.columns import Mask

    Group = dict[str, int]
    Locations = Mask


@dataclass(frozen=True, slots=True)
class StoreTables(Mapping[str, pa.Table]):
    """The tables of a store, loaded when asked for, each time anew."""

    folder: Path
    operations: tuple[str, ...]
    counters: tuple[str, ...]
    groups: dict[str, list[Group]]  # rows, locations and times of each row group

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
        """The number of rows of a table, which is not loaded."""
        return sum(group["rows"] for group in self.groups.get(name, ()))

    def rows_near(
        self,
        name: str,
        *,
        locations: Locations | None = None,
        window: tuple[int, int] | None = None,
    ) -> int:
        """An estimate of the rows of some locations that begin in a window."""
        # as if the rows of a row group were spread evenly over its locations and times
        groups = self.groups.get(name, ())
        return sum(ceil(group["rows"] * _share(group, locations, window)) for group in groups)

    def batches(
        self,
        name: str,
        columns: Sequence[str] | None = None,
        *,
        locations: Locations | None = None,
        window: tuple[int, int] | None = None,
    ) -> Iterator[pa.Table]:
        """Yield a table in parts of whole locations.

        Row groups without any of the `locations`, a mask, or without any row that can begin in
        the closed `window` are not read.
        """
        names = list(columns) if columns is not None else self._names(name)
        groups = self.groups[name]
        with self._file(name) as file:
            if file.num_row_groups != len(groups):
                raise FormatError(
                    self.folder / f"{name}.parquet",
                    None,
                    expected=f"{len(groups)} row groups",
                    found=str(file.num_row_groups),
                    way_out="Convert the trace again.",
                )
            near = [k for k, index in enumerate(groups) if _share(index, locations, window)]
            for part in _of_whole_locations(near, groups):
                rows = file.read_row_groups(part, columns=names)
                yield decode(rows, name, names, self.operations)

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


def _share(group: Group, locations: Locations | None, window: tuple[int, int] | None) -> float:
    """The share of rows in a row group that are of some locations and begin in a window."""
    share = 1.0
    if locations is not None and "first_location" in group:
        inside = locations[group["first_location"] : group["last_location"] + 1]
        share = float(np.count_nonzero(inside)) / max(len(inside), 1)
    if window is not None and "min_ns" in group:
        first, last = group["min_ns"], group["max_ns"]
        length = min(last, window[1]) - max(first, window[0]) + 1
        share *= max(length, 0) / (last - first + 1)
    return share


def open_tables(folder: Path) -> StoreTables:
    """The tables of a store."""
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


def recognises(path: Path, _head: bytes = b"") -> bool:
    """Whether a folder is a store."""
    return (path / MANIFEST).exists()


def read(path: Path, **_: object) -> Trace:
    """A store as a trace whose tables are loaded when asked for."""
    return Trace(open_tables(path))
