"""Parquet files of one schema put behind each other as if one writer had written all of them.

Row groups are copied as they are; of the footers, which are Thrift's compact protocol, only
what counts bytes and rows from the begin of the file changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Final

from burstline.formats.store.thrift import Struct, read_whole, write_struct

_MAGIC: Final = b"PAR1"
_LENGTH: Final = 4
_AT_ONCE: Final = 1 << 20

# Fields of the footer, of a row group, of a column of it, and of what that says of itself.
_ROWS, _GROUPS = 3, 4
_COLUMNS, _GROUP_OFFSET, _ORDINAL = 1, 5, 7
_CHUNK_OFFSET, _CHUNK = 2, 3
_PAGES: Final = (9, 10, 11)


def join(parts: Iterable[Path], target: IO[bytes]) -> None:
    """Write files that one writer's schema and options have made, one behind the other.

    Each has been read when the next one is asked for.
    """
    footer: Struct = {}
    for part in parts:
        with part.open("rb") as file:
            own, body_bytes = _footer_of(file)
            shift = target.tell() - len(_MAGIC) if footer else 0
            place = file.seek(len(_MAGIC) if footer else 0)
            while place < body_bytes:
                piece = file.read(min(_AT_ONCE, body_bytes - place))
                target.write(piece)
                place += len(piece)
        if footer:
            _append(footer, own, shift)
        else:
            footer = own
    written = bytearray()
    write_struct(written, footer)
    target.write(bytes(written) + len(written).to_bytes(_LENGTH, "little") + _MAGIC)


def _footer_of(file: IO[bytes]) -> tuple[Struct, int]:
    """The footer of a file, and where it begins."""
    tail = len(_MAGIC) + _LENGTH
    end = file.seek(-tail, 2)
    size = int.from_bytes(file.read(_LENGTH), "little")
    file.seek(end - size)
    footer, _ = read_whole(file.read(size), 0)
    return footer, end - size


def _append(footer: Struct, other: Struct, shift: int) -> None:
    """Add the row groups of a file that begin so many bytes later than they say."""
    kind, rows = footer[_ROWS]
    footer[_ROWS] = kind, rows + other[_ROWS][1]
    groups = footer[_GROUPS][1][1]
    for group in other[_GROUPS][1][1]:
        _shift(group, (_GROUP_OFFSET,), shift)
        if _ORDINAL in group:
            group[_ORDINAL] = group[_ORDINAL][0], len(groups)
        for column in group[_COLUMNS][1][1]:
            _shift(column, (_CHUNK_OFFSET,), shift)
            _shift(column[_CHUNK][1], _PAGES, shift)
        groups.append(group)


def _shift(struct: Struct, fields: Sequence[int], shift: int) -> None:
    for field in fields:
        if field in struct and struct[field][1]:  # 0 is where nothing is
            struct[field] = struct[field][0], struct[field][1] + shift
