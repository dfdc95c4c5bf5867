"""Sections, symbols and code of a program or library, read from a file nobody vouches for.

Only what naming places needs: 64-bit little-endian ELF files, which is what MPI programs
are on x86-64, AArch64, RISC-V and POWER today. Everything that is read has a bound that
the file's size implies, and all that can go wrong is an `ElfError`.
"""

from __future__ import annotations

import os
import struct
import weakref
import zlib
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MALFORMED: Final = (
    EOFError,
    IndexError,
    KeyError,
    MemoryError,
    OverflowError,
    UnicodeError,
    ValueError,
    struct.error,
    zlib.error,
)
"""What reading numbers that make no sense raises; every border turns it into one error."""

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_COMPRESSION = struct.Struct("<IIQQ")
_NOTE = struct.Struct("<III")
_SYMBOL: Final = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"),
     ("value", "<u8"), ("size", "<u8")]
)  # fmt: skip
_MAGIC = b"\x7fELF\x02\x01"
_LOADED, _EXECUTABLE = 1, 1
_NO_BITS, _COMPRESSED = 8, 0x800
_ZLIB, _ZSTD = 1, 2
_FUNCTION_KINDS = (2, 10)
_BUILD_ID = 3
_ALIGNMENT = 4
_MOST_SECTIONS = 1 << 17
_MOST_SEGMENTS = 1 << 12
_MOST_BYTES = 1 << 31
_LONGEST_STRING = 1 << 14
_STRING_PIECE = 256
_X86_64, _AARCH64 = 62, 183
_BL, _BLR, _BLR_MASK = 0b100101, 0xD63F0000, 0xFFFFFC1F


class ElfError(Exception):
    """The file is no ELF file that can be read, or contradicts itself."""


class Section(NamedTuple):
    """Where a section lies in its file."""

    flags: int
    address: int
    offset: int
    size: int
    link: int
    in_file: bool


class Elf:
    """An ELF file, open for as long as this object lives.

    Parameters
    ----------
    path : Path
        The program, library, or file of separate debug information.

    Attributes
    ----------
    path : Path
        The file.
    machine : int
        What it runs on, as `e_machine`.
    sections : dict of str to Section
        Its sections by name; the first of those with one name.

    Raises
    ------
    ElfError
        If it is no 64-bit little-endian ELF file.
    OSError
        If it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        # a descriptor of our own: a mapping would kill the process if the file shrinks
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        weakref.finalize(self, os.close, self._file)
        self._size = os.fstat(self._file).st_size
        self._inflated: dict[str, bytes] = {}
        try:
            self._read_headers()
        except MALFORMED as error:
            raise ElfError(f"its headers make no sense ({type(error).__name__})") from error

    def _read_headers(self) -> None:
        head = self._piece(0, _HEADER.size)
        if len(head) < _HEADER.size or not head.startswith(_MAGIC):
            raise ElfError("it is no 64-bit little-endian ELF file")
        fields = _HEADER.unpack(head)
        self.machine: int = fields[2]
        segments_at, sections_at = fields[5], fields[6]
        segments, sections, names = fields[10], fields[12], fields[13]
        if min(segments, _MOST_SEGMENTS) != segments:
            raise ElfError("it has too many segments")
        table = self._piece(segments_at, segments * _SEGMENT.size)
        self._segments = [
            (address, offset, size, bool(flags & _EXECUTABLE))
            for kind, flags, offset, address, _, size, _, _ in _SEGMENT.iter_unpack(
                table[: len(table) // _SEGMENT.size * _SEGMENT.size]
            )
            if kind == _LOADED
        ]
        self.sections = self._read_sections(sections_at, sections, names) if sections_at else {}

    def _read_sections(self, at: int, count: int, names: int) -> dict[str, Section]:
        first = _SECTION.unpack(self._piece(at, _SECTION.size))
        count, names = count or first[5], first[6] if names == 0xFFFF else names
        if count > _MOST_SECTIONS:
            raise ElfError("it has too many sections")
        rows = list(_SECTION.iter_unpack(self._piece(at, count * _SECTION.size)))
        self._in_order = [
            Section(flags, address, offset, size, link, kind != _NO_BITS)
            for _, kind, flags, address, offset, size, link, *_ in rows
        ]
        strings = self._in_order[names]
        found: dict[str, Section] = {}
        for row, section in zip(rows, self._in_order, strict=True):
            name = self._string_at(strings, row[0])
            found.setdefault(name, section)
        return found

    def _piece(self, offset: int, size: int) -> bytes:
        """Read at most `size` bytes; fewer where the file ends."""
        size = min(size, max(self._size - offset, 0))
        if size > _MOST_BYTES:
            raise ElfError("one of its sections is too large")
        pieces: list[bytes] = []
        while size > 0 and (piece := os.pread(self._file, size, offset)):
            pieces.append(piece)
            offset, size = offset + len(piece), size - len(piece)
        return b"".join(pieces)

    def _string_at(self, section: Section, at: int) -> str:
        text = b""
        while len(text) < _LONGEST_STRING and at + len(text) < section.size:
            start = at + len(text)
            piece = self._piece(
                section.offset + start, min(_STRING_PIECE, section.size - start)
            )
            whole, end, _ = piece.partition(b"\0")
            text += whole
            if end or not piece:
                break
        return text.decode(errors="replace")

    def size_of(self, name: str) -> int:
        """Give the bytes a section takes in the file; 0 without the section."""
        section = self.sections.get(name)
        return min(section.size, self._size) if section and section.in_file else 0

    def is_compressed(self, name: str) -> bool:
        """Tell whether a section of the file has to be inflated."""
        return name.startswith(".z") or bool(self.sections[name].flags & _COMPRESSED)

    def has(self, name: str) -> bool:
        """Tell whether the file holds a section, in any style of compression."""
        return any(
            (section := self.sections.get(each)) is not None and section.in_file
            for each in (name, f".z{name[1:]}")
        )

    def data(self, name: str) -> bytes:
        """Give all bytes of a section, inflated; none without the section.

        Raises
        ------
        ElfError
            If it cannot be inflated or is larger than anything sensible.
        """
        if name in self._inflated:
            return self._inflated[name]
        section, old = self.sections.get(name), self.sections.get(f".z{name[1:]}")
        if section and section.in_file and not section.flags & _COMPRESSED:
            return self._piece(section.offset, section.size)
        try:
            if section and section.in_file:
                self._inflated[name] = _inflated(self._piece(section.offset, section.size))
            elif old and old.in_file:
                self._inflated[name] = _inflated_old(self._piece(old.offset, old.size))
        except MALFORMED as error:
            raise ElfError(f"section {name} cannot be inflated") from error
        return self._inflated.get(name, b"")

    def piece(self, name: str, start: int, size: int) -> bytes:
        """Give part of a section; shorter where the section ends."""
        section = self.sections.get(name)
        if section is None or section.flags & _COMPRESSED:
            return self.data(name)[start : start + size]
        if start < 0 or not section.in_file:
            return b""
        return self._piece(section.offset + start, min(size, max(section.size - start, 0)))

    def text(self, name: str, at: int) -> str:
        """Give the string at a place of a section."""
        section = self.sections.get(name)
        if section is None or section.flags & _COMPRESSED:
            data = self.data(name)
            end = data.find(b"\0", at, at + _LONGEST_STRING)
            return data[at : end if end >= 0 else at + _LONGEST_STRING].decode(errors="replace")
        return self._string_at(section, at)

    def code(self, end: int, size: int) -> bytes | None:
        """Give the bytes before an address, zeros where they begin; None outside of code."""
        for start, offset, length, executable in self._segments:
            if executable and start < end <= start + length:
                kept = min(size, end - start)
                return self._piece(offset + end - start - kept, kept).rjust(size, b"\0")
        return None

    def follows_call(self, address: int) -> bool | None:
        """Tell whether a call instruction ends at an address; None where that is unknown.

        Every return address follows one. If most of a run's do not in this file, it is
        not the file that was run.
        """
        if self.machine == _X86_64:
            before = self.code(address, 7)
            return before is not None and _ends_with_x86_call(before)
        if self.machine == _AARCH64:
            word = self.code(address, 4)
            if word is None:
                return False
            number = int.from_bytes(word, "little")
            return number >> 26 == _BL or number & _BLR_MASK == _BLR
        return None if self.code(address, 1) is not None else False

    def notes(self) -> Iterator[tuple[int, bytes]]:
        """Give the kind and content of each GNU note on how the file was built."""
        data = self.data(".note.gnu.build-id")
        at = 0
        while at + _NOTE.size <= len(data):
            name, size, kind = _NOTE.unpack_from(data, at)
            at += _NOTE.size + -(-name // _ALIGNMENT) * _ALIGNMENT
            yield kind, data[at : at + size]
            at += -(-size // _ALIGNMENT) * _ALIGNMENT

    @property
    def build_id(self) -> str:
        """The build id in hexadecimal digits; empty if there is none."""
        return next((text.hex() for kind, text in self.notes() if kind == _BUILD_ID), "")

    def functions(self, table: str) -> FunctionSymbols:
        """Give the functions in a symbol table: ``.symtab`` or ``.dynsym``."""
        section = self.sections.get(table)
        data = self.data(table)
        rows = np.frombuffer(data, _SYMBOL, len(data) // _SYMBOL.itemsize)
        rows = rows[np.isin(rows["info"] & 15, _FUNCTION_KINDS) & (rows["section"] != 0)]
        # of aliases, the global one that is met first
        order = np.lexsort((rows["info"] >> 4 == 0, rows["value"]))
        strings = self._in_order[section.link] if section else None
        return FunctionSymbols(self, rows[order], strings)

    def string_in(self, section: Section, at: int) -> str:
        """Give the string at a place of a section that is known by its place."""
        return self._string_at(section, at)


class FunctionSymbols:
    """The functions of a symbol table, by address."""

    def __init__(self, elf: Elf, rows: npt.NDArray[np.void], strings: Section | None) -> None:
        self._elf, self._rows, self._strings = elf, rows, strings
        self._starts = np.unique(rows["value"])

    def __len__(self) -> int:
        return len(self._rows)

    def name(self, address: int) -> str | None:
        """Give the name of the function that an address lies in; None if in none."""
        values = self._rows["value"]
        wanted = np.uint64(address)
        start = int(np.searchsorted(self._starts, wanted, side="right")) - 1
        if start < 0 or self._strings is None:
            return None
        row = self._rows[int(np.searchsorted(values, self._starts[start]))]
        begin, size = int(row["value"]), int(row["size"])
        if size == 0 and start + 1 < len(self._starts):
            size = int(self._starts[start + 1]) - begin
        if not begin <= address < begin + max(size, 1):
            return None
        name = self._elf.string_in(self._strings, int(row["name"]))
        return name.partition("@")[0] or None


def _ends_with_x86_call(before: bytes) -> bool:
    """Tell whether seven bytes end with a direct or an indirect near call."""
    if before[2] == 0xE8:
        return True
    for length in range(2, 8):
        opcode, operand = before[7 - length], before[8 - length] if length > 1 else 0
        if opcode == 0xFF and operand >> 3 & 7 == 2 and length == _x86_length(before, length):
            return True
    return False


def _x86_length(before: bytes, length: int) -> int:
    """Give the bytes of ``call r/m`` that starts `length` bytes before the end."""
    operand = before[8 - length]
    mode, register = operand >> 6, operand & 7
    if mode == 3:
        return 2
    scaled = register == 4
    wide = mode == 2 or (mode == 0 and register == 5)
    if scaled and mode == 0 and length > 2 and before[9 - length] & 7 == 5:
        wide = True
    return 2 + scaled + (4 if wide else 0) + (mode == 1)


def _inflated(data: bytes) -> bytes:
    kind, _, size, _ = _COMPRESSION.unpack_from(data)
    body = data[_COMPRESSION.size :]
    if kind == _ZLIB:
        return _inflated_zlib(body, size)
    if kind != _ZSTD or size > _MOST_BYTES:
        raise ElfError("a section is compressed in a way that is not known")
    import pyarrow as pa  # noqa: PLC0415 -- takes a moment, and few files need it

    return bytes(pa.Codec("zstd").decompress(body, decompressed_size=size, asbytes=True))


def _inflated_old(data: bytes) -> bytes:
    """Inflate a section ``.zdebug_*``, as they were written before there was a standard."""
    if data[:4] != b"ZLIB":
        raise ElfError("a compressed section has no header")
    return _inflated_zlib(data[12:], int.from_bytes(data[4:12], "big"))


def _inflated_zlib(body: bytes, size: int) -> bytes:
    if size > _MOST_BYTES:
        raise ElfError("a compressed section is too large")
    return zlib.decompressobj().decompress(body, max(size, 1))
