"""Reads back what a page has of a timeline, byte by byte."""

from __future__ import annotations

import base64
import zlib

MIXED, CONTINUES = 127, 128


def numbers(data):
    """Whole numbers, seven bits in a byte."""
    found, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(value)
            value = shift = 0
    return found


def parts(letters, sizes):
    """The columns that are in some letters."""
    data = zlib.decompress(base64.b64decode(letters))
    assert len(data) == sum(sizes)
    begin, made = 0, []
    for size in sizes:
        made.append(data[begin : begin + size])
        begin += size
    return made


def pieces_of(data):
    """By stream: (length, kind, call path or times of kinds, whether it continues)."""
    head = data.head
    lengths, kinds, places, mixes = parts(data.pieces, head["sizes"])
    lengths, places, mixes = numbers(lengths), numbers(places), numbers(mixes)
    paths = [None, *data.call_paths]
    streams, row, place, mix = [], 0, 0, 0
    for count in head["counts"]:
        stream, current = [], None
        for _ in range(count):
            kind = kinds[row]
            if kind == MIXED:
                current = mixes[mix : mix + head["kinds"]]
                mix += head["kinds"]
            elif kind < CONTINUES:
                current = paths[places[place]]
                place += 1
            stream.append((lengths[row], kind & 127, current, kind >= CONTINUES))
            row += 1
        streams.append(stream)
    assert (row, place, mix) == (len(lengths), len(places), len(mixes))
    return streams


def waits_of(data):
    """Rows (stream, start, length, cause, metric, call path of the cause)."""
    head = data.head["waits"]
    start, length, cause, metric, place = map(numbers, parts(data.waits, head["sizes"]))
    paths = [None, *data.call_paths]
    rows, row = [], 0
    for stream, count in enumerate(head["counts"]):
        now = 0
        for _ in range(count):
            now += start[row]
            rows.append((stream, now, length[row], cause[row], metric[row], paths[place[row]]))
            row += 1
    return rows
