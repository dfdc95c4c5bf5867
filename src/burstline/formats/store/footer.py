"""The footer of a Parquet file, read by ourselves.

Arrow reads one without harm, and reads tables by it without harm; but what Arrow tells of a
column of a row group is not caught where it throws, and ends the process. So where the pages of
a column are, and what their encodings and statistics are, is read here.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from burstline.formats.files import require_plain
from burstline.formats.store.thrift import Shape, read_struct

_MAGIC: Final = b"PAR1"
_LENGTH: Final = 4
_TAIL: Final = _LENGTH + len(_MAGIC)
_BY_DELTAS: Final = frozenset([5, 6, 7])  # of integers, lengths of texts, and texts
_MOST_COLUMNS: Final = 1 << 16
_SMALL: Final = 1 << 15  # bytes of a footer that is read as it is: columns take 170 for each
_BYTES_OF_ONE: Final = 48
"""Bytes that a byte of a footer can become in memory: a column of a row group takes 20."""


class Chunk(NamedTuple):
    """A column of a row group: where its pages are, and what they say of themselves."""

    encodings: list[int]
    size: int  # bytes of all, compressed
    data_page: int  # where the first one begins
    dictionary_page: int | None
    least: bytes | None  # of its values, as they are stored
    most: bytes | None


class RowGroup(NamedTuple):
    """A row group: its columns in the order of the schema's leaves."""

    chunks: list[Chunk]
    rows: int


@dataclass(frozen=True)
class Footer:
    """What the footer of a file says; of what its row groups say, only once it is asked for."""

    arrow: pq.FileMetaData  # of which no row group is ever asked
    crc: int
    _data: bytes
    _file_bytes: int
    _read: list[RowGroup] | None  # row groups that were read already

    @cached_property
    def leaves(self) -> list[str]:
        """The dotted paths of the columns that have pages."""
        return [self.arrow.schema.column(k).path for k in range(self.arrow.num_columns)]

    @cached_property
    def groups(self) -> list[RowGroup]:
        """The row groups; ValueError or IndexError where they are none, or not of this file."""
        groups = _row_groups(self._data) if self._read is None else self._read
        for group in groups:
            if len(group.chunks) != self.arrow.num_columns or group.rows < 0:
                raise ValueError("a row group that is not of the columns of its file")
            for chunk in group.chunks:
                first = min(chunk.data_page, chunk.dictionary_page or chunk.data_page)
                if not 0 <= first <= self._file_bytes or not (
                    0 <= chunk.size <= self._file_bytes - first
                ):
                    raise ValueError("pages that are outside of the file")
        rows = sum(group.rows for group in groups)
        if rows != self.arrow.num_rows:
            raise ValueError(f"{self.arrow.num_rows} rows, of which its row groups have {rows}")
        return groups

    def rows(self, groups: Sequence[int] | None = None) -> int:
        """Rows of some row groups, or of all."""
        if groups is None:
            return int(self.arrow.num_rows)
        return sum(self.groups[number].rows for number in groups)

    @cached_property
    def coded_texts(self) -> list[str]:
        """Leaves that can be read as codes: those without an encoding by deltas."""
        by_delta = {
            k
            for group in self.groups
            for k, chunk in enumerate(group.chunks)
            if not _BY_DELTAS.isdisjoint(chunk.encodings)
        }
        return [leaf for k, leaf in enumerate(self.leaves) if k not in by_delta]


_STATISTICS: Final = Shape({5: bytes, 6: bytes}, lambda fields: (fields.get(6), fields.get(5)))
_CHUNK: Final = Shape(
    {2: [int], 7: int, 9: int, 11: int, 12: _STATISTICS},
    lambda f: Chunk(f[2], f[7], f[9], f.get(11), *f.get(12, (None, None))),
)
_COLUMN: Final = Shape({3: _CHUNK}, lambda fields: fields[3])
_GROUP: Final = Shape({1: [_COLUMN], 3: int}, lambda fields: RowGroup(fields[1], fields[3]))
_ELEMENT: Final = Shape({4: bytes}, lambda fields: fields[4])
_FOOTER: Final = Shape({2: [_ELEMENT], 4: [_GROUP]}, lambda fields: (fields[2], fields[4]))


def read_footer(
    path: Path, *, crc: int | None = None, require: Callable[[int], None] | None = None
) -> Footer:
    """The footer of a file; ValueError or IndexError where it is none, or not that of `crc`.

    `require` is told how many bytes it may take in memory, and raises where those are too many.
    """
    require_plain(path)
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        data = _footer_bytes(file.fileno(), size)
    found = zlib.crc32(data)
    if crc is not None and found != crc:
        raise ValueError("a footer that was changed since it was written")
    if require is not None:
        require(_BYTES_OF_ONE * len(data))
    # Where Arrow would make much of many columns, they are counted before.
    groups = _row_groups(data) if len(data) > _SMALL else None
    # What was checked is what Arrow reads, even if the file is replaced meanwhile.
    arrow = pq.read_metadata(pa.BufferReader(_MAGIC + data))
    if arrow.num_rows < 0:
        raise ValueError(f"{arrow.num_rows} rows")
    return Footer(arrow, found, data, size, groups)


def _row_groups(data: bytes) -> list[RowGroup]:
    (elements, groups), end = read_struct(data, 0, _FOOTER)
    if end > len(data) - _TAIL:
        raise IndexError("the footer ends too early")
    if len(elements) > _MOST_COLUMNS:
        raise ValueError(f"a table of {len(elements):,} columns")
    row_groups: list[RowGroup] = groups
    return row_groups


def _footer_bytes(file: int, size: int) -> bytes:
    tail = os.pread(file, _TAIL, max(size - _TAIL, 0))
    length = int.from_bytes(tail[:_LENGTH], "little")
    if tail[_LENGTH:] != _MAGIC or not 0 < length <= size - _TAIL - len(_MAGIC):
        raise ValueError("a file that does not end as Parquet does")
    return os.pread(file, length + _TAIL, size - _TAIL - length)
