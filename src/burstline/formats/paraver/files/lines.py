"""Stretches of whole lines out of a ``.prv`` or ``.prv.gz``, in recycled buffers.

Whichever thread scans a stretch of a plain file reads it; one thread inflates for all others.
Memory is that of the buffers, whatever the file claims to be.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from burstline.errors import FormatError
from burstline.formats.files import require_plain

BLOCK_BYTES: Final = 4 << 20
LONGEST_LINE: Final = 64 << 20
_SLACK = 64 << 10
_INFLATE_BYTES = 256 << 10
_GZIP = b"\x1f\x8b"
_BY_HEADER = 31  # zlib's window bits for a gzip wrapper


def decode(line: bytes) -> tuple[str, bool]:
    """A line as UTF-8, or as Latin-1 where it is not, and whether it was UTF-8."""
    try:
        return line.decode(), True
    except UnicodeDecodeError:
        return line.decode("latin-1"), False


@dataclass(frozen=True, slots=True)
class _Range:
    """Lines that begin in [begin, end) of a plain file."""

    descriptor: int
    path: Path
    begin: int
    end: int
    is_first: bool
    size: int  # in the file, for progress

    def fetch(self, buffer: bytearray) -> npt.NDArray[np.uint8]:
        """The whole lines, in the buffer where they fit."""
        # One byte before tells whether a line begins exactly at the border.
        start = self.begin if self.is_first else self.begin - 1
        got = _read_into(self.descriptor, buffer, 0, self.end - start + _SLACK, start)
        first = 0
        if not self.is_first:
            first = buffer.find(b"\n", 0, got) + 1
        border = self.end - 1 - start
        if got == 0 or (not self.is_first and first == 0) or first > border:
            return np.empty(0, np.uint8)
        searched = border
        while (last := buffer.find(b"\n", searched, got)) < 0:
            searched = max(got, border)
            more = _read_into(self.descriptor, buffer, got, max(got, _SLACK), start + got)
            if more == 0:
                last = got - 1
                break
            got += more
            if got > LONGEST_LINE:
                raise _too_long(self.path)
        return np.frombuffer(buffer, np.uint8, last + 1 - first, first)


def _read_into(descriptor: int, buffer: bytearray, start: int, size: int, offset: int) -> int:
    if len(buffer) < start + size:
        buffer.extend(bytes(start + size - len(buffer)))
    done = 0
    with memoryview(buffer) as view:
        while done < size:
            got = os.preadv(descriptor, [view[start + done : start + size]], offset + done)
            if got == 0:
                break
            done += got
    return done


def _too_long(path: Path) -> FormatError:
    return FormatError(
        path,
        None,
        expected=f"lines of at most {LONGEST_LINE >> 20} MiB",
        found="a longer one",
        way_out="This is no text of records; check how the file was copied.",
    )


@dataclass(frozen=True, slots=True)
class _Inflated:
    """Lines already inflated."""

    text: bytes
    size: int

    def fetch(self, buffer: bytearray) -> npt.NDArray[np.uint8]:  # noqa: ARG002 -- as of a range
        return np.frombuffer(self.text, np.uint8)


Stretch: TypeAlias = _Range | _Inflated
"""Whole lines of a file that are still to be fetched."""


class LineSource:
    """The bytes of a trace file: its first line, then stretches of the rest."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damage = ""  # why a compressed file ends early
        require_plain(path)
        self._file: BinaryIO = path.open("rb")
        self.size = os.fstat(self._file.fileno()).st_size
        self.is_gzip = self._file.read(2) == _GZIP
        self._file.seek(0)
        self._inflated = self._inflate() if self.is_gzip else iter(())
        self._carry = b""

    def close(self) -> None:
        """Close the file; only fetched stretches stay valid."""
        self._file.close()

    def first_line(self) -> bytes:
        """The first line with its end, of at most LONGEST_LINE bytes."""
        if not self.is_gzip:
            line = self._file.readline(LONGEST_LINE)
            if len(line) == LONGEST_LINE:
                raise _too_long(self.path)
            return line
        text = b""
        for chunk, _ in self._inflated:
            text += chunk
            if b"\n" in chunk or (text and text[:1] not in b"#\xef"):
                break
            if len(text) > LONGEST_LINE:
                raise _too_long(self.path)
        end = text.find(b"\n") + 1 or len(text)
        self._carry = text[end:]
        return text[:end]

    def stretches(self) -> Iterator[Stretch]:
        """Yield the rest, after first_line, in stretches of about BLOCK_BYTES."""
        if self.is_gzip:
            return self._inflated_stretches()
        return self.stretches_of(self._file.tell(), self.size, is_first=True)

    def ranges(self, size: int) -> list[tuple[int, int]]:
        """The rest of a plain file, after first_line, in ranges of so many bytes."""
        begin = self._file.tell()
        borders = [*range(begin, self.size, size), self.size]
        return list(pairwise(borders))

    def stretches_of(self, begin: int, end: int, *, is_first: bool) -> Iterator[Stretch]:
        """Yield the lines that begin in a range of a plain file, in stretches.

        `is_first`: its first byte begins a line, whatever is before it.
        """
        for start in range(begin, end, BLOCK_BYTES):
            stop = min(start + BLOCK_BYTES, end)
            yield _Range(
                self._file.fileno(),
                self.path,
                start,
                stop,
                is_first and start == begin,
                stop - start,
            )

    def _inflated_stretches(self) -> Iterator[Stretch]:
        parts, held, read = [self._carry], len(self._carry), 0
        for chunk, consumed in self._inflated:
            parts.append(chunk)
            held += len(chunk)
            read += consumed
            if held < BLOCK_BYTES:
                continue
            text = b"".join(parts)
            end = text.rfind(b"\n") + 1
            if end == 0 and held > LONGEST_LINE:
                raise _too_long(self.path)
            parts, held = [text[end:]], len(text) - end
            if end:
                yield _Inflated(text[:end], read)
                read = 0
        if held:
            yield _Inflated(b"".join(parts), read)

    def _inflate(self) -> Iterator[tuple[bytes, int]]:
        """Yield inflated chunks of bounded size, each with the compressed bytes it took."""
        inflater = zlib.decompressobj(_BY_HEADER)
        rest = b""
        while True:
            packed = rest or self._file.read(_INFLATE_BYTES)
            if not packed:
                if not inflater.eof:
                    self.damage = "the compressed stream ends early"
                return
            if inflater.eof:
                if not packed.startswith(_GZIP):
                    self.damage = "bytes that are no gzip follow the compressed stream"
                    return
                inflater = zlib.decompressobj(_BY_HEADER)
            before = inflater.copy()
            try:
                text = inflater.decompress(packed, BLOCK_BYTES)
            except zlib.error as error:
                self.damage = f"the compressed stream is damaged: {error}"
                yield _text_before_damage(before, packed), len(packed)
                return
            rest = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
            yield text, len(packed) - len(rest)


def _text_before_damage(inflater: zlib._Decompress, packed: bytes) -> bytes:
    # byte by byte, because an error loses what its call inflated
    text = bytearray()
    for position in range(len(packed)):
        try:
            text += inflater.decompress(packed[position : position + 1], BLOCK_BYTES)
        except zlib.error:
            break
    return bytes(text)
