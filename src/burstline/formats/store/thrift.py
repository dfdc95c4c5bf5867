"""Thrift's compact protocol, in which Parquet writes its footers and the headers of its pages.

Of what others wrote, only what is asked for is kept, and only as what it should be: ValueError
where bytes are no such struct, IndexError where they end too early. What was written here can
be read and written whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

Form: TypeAlias = "type[int | bytes] | Shape | list[Form]"
"""What a value should be; a list has one entry, what all of its values should be."""

Struct: TypeAlias = "dict[int, tuple[int, Any]]"
"""A whole struct: kind and value of each field; of a list, the kind of its values and these."""

_BOOLEANS, _INTEGERS, _BINARY, _LISTS, _STRUCT = (1, 2), (4, 5, 6), 8, (9, 10), 12
_BYTE: Final = 3  # as which a boolean of a list stands there
_LARGEST_STEP: Final = 15
_BYTES: Final = {1: 0, 2: 0, 3: 1, 7: 8}  # of booleans, which stand in the head, byte, double
_LONG_LIST: Final = 15
_MOST_NESTED: Final = 8


class Shape(NamedTuple):
    """What is kept of a struct: some fields by their numbers, and what is made of them."""

    fields: Mapping[int, Form]
    make: Callable[[dict[int, Any]], Any]


def read_struct(data: bytes, place: int, shape: Shape) -> tuple[Any, int]:
    """What is kept of the struct at a place, and where it ends."""
    wanted, fields, number = shape.fields, {}, 0
    while head := data[place]:
        number, place = _next_field(data, place, number)
        form = wanted.get(number)
        if form is None:
            place = _skip_value(data, place, head & 15, _MOST_NESTED)
        elif number in fields:
            raise ValueError("a part of it stands there twice")
        else:
            fields[number], place = _read_value(data, place, head & 15, form)
    try:
        return shape.make(fields), place + 1
    except KeyError as error:
        raise ValueError("a part of it is missing") from error


def _next_field(data: bytes, place: int, number: int) -> tuple[int, int]:
    step = data[place] >> 4
    return (number + step, place + 1) if step else _zigzag_integer(data, place + 1)


def _read_value(data: bytes, place: int, kind: int, form: Form) -> tuple[Any, int]:
    if form is int and kind in _INTEGERS:
        return _zigzag_integer(data, place)
    if form is bytes and kind == _BINARY:
        length, place = _variable_integer(data, place)
        end = _require_end(data, place + length)
        return data[place:end], end
    if isinstance(form, Shape) and kind == _STRUCT:
        return read_struct(data, place, form)
    if not isinstance(form, list):
        raise ValueError("a value in it is of another type")  # noqa: TRY004 -- not of ours
    size, kind, place = _list_head(data, place, kind)
    values = []
    for _ in range(size):
        value, place = _read_value(data, place, kind, form[0])
        values.append(value)
    return values, place


def _skip_value(data: bytes, place: int, kind: int, nested: int) -> int:
    """Where a value ends that nobody asked for."""
    if kind in _INTEGERS:
        while data[place] > 127:
            place += 1
        return place + 1
    if kind == _BINARY:
        length, place = _variable_integer(data, place)
        return _require_end(data, place + length)
    if kind in _BYTES:
        return place + _BYTES[kind]
    if not nested:
        raise ValueError("it is nested too deep")
    if kind == _STRUCT:
        while head := data[place]:
            _, place = _next_field(data, place, 0)
            place = _skip_value(data, place, head & 15, nested - 1)
        return place + 1
    size, kind, place = _list_head(data, place, kind)
    if kind in _BOOLEANS:
        return place + size
    for _ in range(size):
        place = _skip_value(data, place, kind, nested - 1)
    return place


def _list_head(data: bytes, place: int, kind: int) -> tuple[int, int, int]:
    if kind not in _LISTS:
        raise ValueError("a value in it is of another type")
    size, kind = data[place] >> 4, data[place] & 15
    place += 1
    if size == _LONG_LIST:
        size, place = _variable_integer(data, place)
    _require_end(data, place + size)  # each has a byte at least
    return size, kind, place


def _require_end(data: bytes, end: int) -> int:
    if end > len(data):
        raise IndexError("it ends too early")
    return end


def _zigzag_integer(data: bytes, place: int) -> tuple[int, int]:
    value = data[place]
    if value < 128:
        return value >> 1 ^ -(value & 1), place + 1
    value, place = _variable_integer(data, place)
    return value >> 1 ^ -(value & 1), place


def _variable_integer(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
    raise ValueError("a number in it does not end")


def read_whole(data: bytes, place: int) -> tuple[Struct, int]:
    """All fields of the struct at a place, and where it ends."""
    struct: Struct = {}
    number = 0
    while head := data[place]:
        number, place = _next_field(data, place, number)
        kind = head & 15
        value, place = _read_any(data, place, kind)
        struct[number] = kind, value
    return struct, place + 1


def _read_any(data: bytes, place: int, kind: int) -> tuple[Any, int]:
    if kind in _BOOLEANS:
        return None, place  # the kind says which
    if kind in _INTEGERS:
        return _zigzag_integer(data, place)
    if kind in _BYTES:
        return data[place : place + _BYTES[kind]], place + _BYTES[kind]
    if kind == _BINARY:
        size, place = _variable_integer(data, place)
        return data[place : place + size], _require_end(data, place + size)
    if kind == _STRUCT:
        return read_whole(data, place)
    size, inner, place = _list_head(data, place, kind)
    values = []
    for _ in range(size):
        value, place = _read_any(data, place, _BYTE if inner in _BOOLEANS else inner)
        values.append(value)
    return (inner, values), place


def write_struct(out: bytearray, struct: Struct) -> None:
    """Append a struct, its fields in ascending order."""
    last = 0
    for number, (kind, value) in struct.items():
        step = number - last
        if 0 < step <= _LARGEST_STEP:
            out.append(step << 4 | kind)
        else:
            out.append(kind)
            _write_zigzag(out, number)
        last = number
        _write_value(out, kind, value)
    out.append(0)


def _write_value(out: bytearray, kind: int, value: Any) -> None:  # noqa: ANN401 -- of any kind
    if kind in _INTEGERS:
        _write_zigzag(out, value)
    elif kind == _BINARY:
        _write_variable(out, len(value))
        out += value
    elif kind == _STRUCT:
        write_struct(out, value)
    elif kind in _LISTS:
        inner, values = value
        out.append(min(len(values), _LONG_LIST) << 4 | inner)
        if len(values) >= _LONG_LIST:
            _write_variable(out, len(values))
        for each in values:
            _write_value(out, _BYTE if inner in _BOOLEANS else inner, each)
    elif value is not None:
        out += value


def _write_zigzag(out: bytearray, value: int) -> None:
    _write_variable(out, value << 1 ^ value >> 63)


def _write_variable(out: bytearray, value: int) -> None:
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
