"""Parquet files of one schema put behind each other as if one writer had written all of them.

Row groups are copied as they are; of the footers, which are Thrift's compact protocol, only
what counts bytes and rows from the begin of the file changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Final, TypeAlias

_MAGIC: Final = b"PAR1"
_LENGTH: Final = 4
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_INTEGERS: Final = (4, 5, 6)
_LONG_LIST: Final = 15
_LARGEST_STEP: Final = 15
_AT_ONCE: Final = 1 << 20

# Fields of the footer, of a row group, of a column of it, and of what that says of itself.
_ROWS, _GROUPS = 3, 4
_COLUMNS, _GROUP_OFFSET, _ORDINAL = 1, 5, 7
_CHUNK_OFFSET, _CHUNK = 2, 3
_PAGES: Final = (9, 10, 11)

Struct: TypeAlias = "dict[int, tuple[int, Any]]"
"""Kind and value of each field; of a list, the kind of its values and these."""


def join(parts: Sequence[Path], target: IO[bytes]) -> None:
    """Write files that one writer's schema and options have made, one behind the other."""
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
    _write_struct(written, footer)
    target.write(bytes(written) + len(written).to_bytes(_LENGTH, "little") + _MAGIC)


def _footer_of(file: IO[bytes]) -> tuple[Struct, int]:
    """The footer of a file, and where it begins."""
    tail = len(_MAGIC) + _LENGTH
    end = file.seek(-tail, 2)
    size = int.from_bytes(file.read(_LENGTH), "little")
    file.seek(end - size)
    footer, _ = _read_struct(file.read(size), 0)
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


def _read_struct(data: bytes, place: int) -> tuple[Struct, int]:
    struct: Struct = {}
    number = 0
    while head := data[place]:
        step, kind = head >> 4, head & 15
        place += 1
        if step:
            number += step
        else:
            number, place = _signed(data, place)
        value, place = _read_value(data, place, kind)
        struct[number] = kind, value
    return struct, place + 1


def _read_value(data: bytes, place: int, kind: int) -> tuple[Any, int]:
    if kind in (_TRUE, _FALSE):
        return None, place  # the kind says which
    if kind in _INTEGERS:
        return _signed(data, place)
    if kind in (_BYTE, _DOUBLE):
        end = place + (1 if kind == _BYTE else 8)
        return data[place:end], end
    if kind == _BINARY:
        size, place = _unsigned(data, place)
        return data[place : place + size], place + size
    if kind == _STRUCT:
        return _read_struct(data, place)
    size, inner = data[place] >> 4, data[place] & 15
    place += 1
    if size == _LONG_LIST:
        size, place = _unsigned(data, place)
    values = []
    for _ in range(size):
        # A boolean of a list is a byte.
        value, place = _read_value(data, place, _BYTE if inner in (_TRUE, _FALSE) else inner)
        values.append(value)
    return (inner, values), place


def _write_struct(out: bytearray, struct: Struct) -> None:
    last = 0
    for number, (kind, value) in struct.items():
        step = number - last
        if 0 < step <= _LARGEST_STEP:
            out.append(step << 4 | kind)
        else:
            out.append(kind)
            _write_signed(out, number)
        last = number
        _write_value(out, kind, value)
    out.append(0)


def _write_value(out: bytearray, kind: int, value: Any) -> None:  # noqa: ANN401 -- of any kind
    if kind in _INTEGERS:
        _write_signed(out, value)
    elif kind in (_BYTE, _DOUBLE):
        out += value
    elif kind == _BINARY:
        _write_unsigned(out, len(value))
        out += value
    elif kind == _STRUCT:
        _write_struct(out, value)
    elif kind in (_LIST, _SET):
        inner, values = value
        out.append(min(len(values), _LONG_LIST) << 4 | inner)
        if len(values) >= _LONG_LIST:
            _write_unsigned(out, len(values))
        for each in values:
            _write_value(out, _BYTE if inner in (_TRUE, _FALSE) else inner, each)


def _signed(data: bytes, place: int) -> tuple[int, int]:
    value, place = _unsigned(data, place)
    return value >> 1 ^ -(value & 1), place


def _unsigned(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
        shift += 7


def _write_signed(out: bytearray, value: int) -> None:
    _write_unsigned(out, value << 1 ^ value >> 63)


def _write_unsigned(out: bytearray, value: int) -> None:
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
