"""What row groups of Parquet become in memory, by the headers of their pages.

A footer may say anything of sizes; pages are decoded by what their own headers say. A text
that stands once in a dictionary and in many rows takes its bytes in each of them, once it is
plain: texts are read as codes, and counted before they become plain.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from burstline.formats.store.footer import Chunk, Footer
from burstline.formats.store.thrift import Shape, read_struct

_HEADER_BYTES: Final = (1 << 8, 1 << 14, 1 << 24)  # Arrow takes no longer ones
_PAGE: Final = 2 << 20  # no page is larger that Arrow writes unasked
_PREFIXED: Final = 7  # DELTA_BYTE_ARRAY: each text begins as the one before
_CODE_BYTES: Final = 4
_NESTED_BYTES: Final = 8  # of a value in a list: its levels, and while the room for it grows
_COPIES_OF_LARGE: Final = 3  # as it is decompressed, and while the room for texts grows
_BYTES: Final = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "FLOAT": 4, "DOUBLE": 8}
_NUMBERS: Final = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
_DATA: Final = {0: 5, 3: 8}  # by the type of a page of data, its own header


class Size(NamedTuple):
    """Bytes that columns take as they are read."""

    numbers: int
    texts: int  # as codes, with the texts behind them once


class DataPage(NamedTuple):
    """What the header of a page says."""

    bytes: int  # once it is decompressed
    values: int
    encoding: int


def open_parquet(source: Path | IO[bytes], footer: Footer) -> pq.ParquetFile:
    """A Parquet file whose texts are read as codes, by its footer, which was checked."""
    return pq.ParquetFile(
        source,
        metadata=footer.arrow,
        read_dictionary=footer.coded_texts,
        memory_map=False,
        page_checksum_verification=True,
    )


def bytes_to_read(
    path: Path, footer: Footer, groups: Sequence[int], columns: Sequence[str]
) -> Size:
    """What some columns of row groups take as they are read."""
    sizes, wanted = [0, 0], set(columns)
    kinds = {field.name: field.type for field in footer.arrow.schema.to_arrow_schema()}
    with path.open("rb") as file:
        for k, leaf in enumerate(footer.leaves):
            words = leaf.split(".")
            names = {".".join(words[:last]) for last in range(1, len(words) + 1)} & wanted
            if not names:
                continue
            column = footer.arrow.schema.column(k)
            width = _value_width(column, kinds.get(names.pop()))
            for group in (footer.groups[number] for number in groups):
                if group.rows:  # or else none of its pages is read
                    pages = list(_page_headers(file.fileno(), group.chunks[k]))
                    sizes[not width] += _bytes_of(pages, group.rows, width)
                    if column.max_repetition_level:
                        sizes[0] += _NESTED_BYTES * sum(page.values for page in pages)
    return Size(*sizes)


def _value_width(column: Any, kind: pa.DataType | None) -> int:  # noqa: ANN401 -- pyarrow has no types
    """Bytes of a value of a leaf, 0 of a text."""
    if kind is not None and any(is_kind(kind) for is_kind in _NUMBERS):
        return int(kind.bit_width) // 8
    if column.physical_type == "BYTE_ARRAY":
        return 0
    return _BYTES.get(column.physical_type, max(column.length, 32))


def _bytes_of(pages: Sequence[DataPage], rows: int, width: int) -> int:
    """Bytes of a column of a row group; the pages of texts are held, others but for a while."""
    values = max(rows, sum(page.values for page in pages))
    if width:
        return values * width + max([0, *(page.bytes - _PAGE for page in pages)])
    texts = (page.bytes * (page.values if page.encoding == _PREFIXED else 1) for page in pages)
    large = (_COPIES_OF_LARGE * max(page.bytes - _PAGE, 0) for page in pages)
    return values * _CODE_BYTES + sum(texts) + sum(large)


def _page_headers(file: int, chunk: Chunk) -> Iterator[DataPage]:
    """Yield what the headers of a column's pages say; ValueError where they are none."""
    place = chunk.data_page
    if chunk.dictionary_page and chunk.dictionary_page < place:
        place = chunk.dictionary_page
    end = place + chunk.size
    while place < end:
        (page, compressed), length = _header_at(file, place)
        yield page
        place += length + compressed


def _page_and_size(fields: dict[int, Any]) -> tuple[DataPage, int]:
    """What the header of a page says, and the bytes of the page as it is stored."""
    size, compressed = fields[2], fields[3]
    values, encoding = fields.get(_DATA.get(fields[1], 0), (0, 0))
    if not 0 <= compressed < 1 << 31 or not 0 <= size < 1 << 31:
        raise ValueError("sizes in the header of a page are none")
    return DataPage(size, max(values, 0), encoding), compressed


def _own_header(encoding: int) -> Shape:
    """The header of its own that a page of data has, by the number of its encoding in it."""
    return Shape({1: int, encoding: int}, lambda fields: (fields[1], fields[encoding]))


_HEADER: Final = Shape(
    {1: int, 2: int, 3: int, 5: _own_header(2), 8: _own_header(4)}, _page_and_size
)


def _header_at(file: int, place: int) -> tuple[tuple[DataPage, int], int]:
    for size in _HEADER_BYTES:
        data = os.pread(file, size, place)
        try:
            return read_struct(data, 0, _HEADER)
        except IndexError:
            if len(data) < size:
                break
    raise ValueError("the header of a page does not end")
