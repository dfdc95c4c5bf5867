"""What row groups of Parquet become in memory, by the headers of their pages.

A footer may say anything of sizes; pages are decoded by what their own headers say. A text
that stands once in a dictionary and in many rows takes its bytes in each of them, once it is
plain: texts are read as codes, and counted before they become plain.
"""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_HEADER_BYTES: Final = (1 << 8, 1 << 14, 1 << 24)  # Arrow takes no longer ones
_PAGE: Final = 2 << 20  # no page is larger that Arrow writes unasked
_PREFIXED: Final = 7  # DELTA_BYTE_ARRAY: each text begins as the one before
_CODE_BYTES: Final = 4
_BYTES: Final = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "FLOAT": 4, "DOUBLE": 8}
_NUMBERS: Final = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
_DATA: Final = {0: (5, 2), 3: (8, 4)}  # by a page's type: its own header, its encoding there
_MOST_NESTED: Final = 4
_BOOLEANS, _BYTE, _INTEGERS, _DOUBLE, _BINARY, _STRUCT = (1, 2), 3, (4, 5, 6), 7, 8, 12


class Page(NamedTuple):
    """What the header of a page says."""

    bytes: int  # once it is decompressed
    values: int
    encoding: int


def open_parquet(source: Path | IO[bytes]) -> pq.ParquetFile:
    """A Parquet file whose texts are read as codes."""
    footer = pq.read_metadata(source)
    texts = set()
    for k in range(footer.num_columns):
        groups = (footer.row_group(number) for number in range(footer.num_row_groups))
        encodings = {encoding for group in groups for encoding in group.column(k).encodings}
        if not any(encoding.startswith("DELTA") for encoding in encodings):
            texts.add(footer.schema.column(k).path)
    return pq.ParquetFile(
        source, read_dictionary=texts, memory_map=False, page_checksum_verification=True
    )


def bytes_to_read(
    path: Path, footer: pq.FileMetaData, groups: Sequence[int], columns: Sequence[str]
) -> int:
    """Bytes that some columns of row groups take as they are read, texts as codes."""
    needed, wanted = 0, set(columns)
    kinds = {field.name: field.type for field in footer.schema.to_arrow_schema()}
    with path.open("rb") as file:
        for k in range(footer.num_columns):
            words = footer.schema.column(k).path.split(".")
            names = {".".join(words[:last]) for last in range(1, len(words) + 1)} & wanted
            for number in groups if names else ():
                group = footer.row_group(number)
                if not group.num_rows:
                    continue  # none of its pages is read
                pages = list(_pages(file.fileno(), group.column(k)))
                width = _width(footer.schema.column(k), kinds.get(names.copy().pop()))
                needed += _bytes_of(pages, group.num_rows, width)
    return needed


def _width(column: Any, kind: pa.DataType | None) -> int:  # noqa: ANN401 -- pyarrow has no types
    """Bytes of a value of a leaf, 0 of a text."""
    if kind is not None and any(is_kind(kind) for is_kind in _NUMBERS):
        return int(kind.bit_width) // 8
    if column.physical_type == "BYTE_ARRAY":
        return 0
    return _BYTES.get(column.physical_type, max(column.length, 32))


def _bytes_of(pages: Sequence[Page], rows: int, width: int) -> int:
    """Bytes of a column of a row group; the pages of texts are held, others but for a while."""
    values = max(rows, sum(page.values for page in pages))
    if width:
        return values * width + max([0, *(page.bytes - _PAGE for page in pages)])
    texts = (page.bytes * (page.values if page.encoding == _PREFIXED else 1) for page in pages)
    return values * _CODE_BYTES + sum(texts)


def text_bytes(table: pa.Table) -> int:
    """Bytes of all texts of a table that was read, once they are plain."""
    total = 0
    for column in table.columns:
        for chunk in column.chunks:
            leaf = chunk
            while pa.types.is_list(leaf.type):
                leaf = leaf.flatten()
            if pa.types.is_dictionary(leaf.type):
                lengths = pc.binary_length(leaf.dictionary)
                total += pc.sum(lengths.take(leaf.indices)).as_py() or 0
    return total


def _pages(file: int, column: pq.ColumnChunkMetaData) -> Iterator[Page]:
    """Yield what the headers of a column's pages say; ValueError where they are none."""
    place = int(column.data_page_offset)
    first = column.dictionary_page_offset
    if column.has_dictionary_page and first and first < place:
        place = int(first)
    end = place + column.total_compressed_size
    while place < end:
        header, length = _header(file, place)
        size, compressed = header.get(2, 0), header.get(3, 0)
        own, encoding = _DATA.get(header.get(1, 0), (0, 0))
        data = header.get(own, {})
        if not 0 <= compressed < 1 << 31 or not 0 <= size < 1 << 31:
            raise ValueError("sizes in the header of a page are none")
        yield Page(size, max(data.get(1, 0), 0), data.get(encoding, 0))
        place += length + compressed


def _header(file: int, place: int) -> tuple[dict[int, Any], int]:
    for size in _HEADER_BYTES:
        data = os.pread(file, size, place)
        try:
            return _struct(data, 0, _MOST_NESTED)
        except IndexError:
            if len(data) < size:
                break
    raise ValueError("the header of a page does not end")


def _struct(data: bytes, place: int, nested: int) -> tuple[dict[int, Any], int]:
    """Values of a struct of Thrift's compact protocol, by their numbers, and where it ends."""
    fields: dict[int, Any] = {}
    number = 0
    while head := data[place]:
        place += 1
        if head >> 4:
            number += head >> 4
        else:
            number, place = _integer(data, place)
        if number in fields or not nested:
            raise ValueError("the header of a page is none")
        fields[number], place = _value(data, place, head & 15, nested - 1)
    return fields, place + 1


def _value(data: bytes, place: int, kind: int, nested: int) -> tuple[Any, int]:
    if kind in _BOOLEANS:
        return None, place
    if kind == _BYTE:
        return None, place + 1
    if kind in _INTEGERS:
        return _integer(data, place)
    if kind == _DOUBLE:
        return None, place + 8
    if kind == _BINARY:
        length, place = _number(data, place)
        return None, place + length
    if kind == _STRUCT:
        return _struct(data, place, nested)
    raise ValueError("the header of a page is none")


def _integer(data: bytes, place: int) -> tuple[int, int]:
    value, place = _number(data, place)
    return value >> 1 ^ -(value & 1), place


def _number(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
    raise ValueError("a number in the header of a page does not end")
