"""The child that reads programs: from return addresses to frames, and from names to names.

::

    module ─► ELF ─┬─ code before an address: does a call end there?
                   └─ debug information, its own or apart, and symbols ─► frames, inlined first

Requests and answers are lines of JSON. Limits end what a file may make of this process.
"""

from __future__ import annotations

import ctypes
import json
import re
import resource
import sys
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from struct import Struct
from typing import Any, Protocol

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from symbolic.debuginfo import Archive
from symbolic.exceptions import SymbolicError

from burstline.record.symbols.resolution import C_LIBRARY, EXECUTED, Frame, is_executed

_NUMBERED = re.compile(r"(\w+|_Z.*E)\.\d+")
_EXECUTABLE, _ADDRESSES, _LARGEST = 1, 1 << 32, (1 << 63) - 1
_PIECE, _SHORTEST_ID = 1 << 20, 4
_MOST_FRAMES, _LONGEST = 1 << 10, 1 << 14
_BYTES_PER_SECOND, _BYTES_PER_BYTE, _NAMES_PART = 1 << 20, 8, 10
_LEFT_OUT, _DEAD = b"\0\x09\x02" + bytes(8), b"\0\x09\x02" + b"\xff" * 8
"""What sets the address of a line program."""

BEFORE = 7
"""Bytes of the longest call instruction."""
_BL, _BLR, _BLR_MASK = 0b100101, 0xD63F0000, 0xFFFFFC1F
_FILLING = re.compile(
    rb"(?:[\x90\xc3\xcc]|\x0f\x1f(?:\0|\x40\0|\x44\0\0|\x80\0{4})|\x1f\x84\0{5})\Z"
)
"""Instructions of x86 between functions: ``ret``, ``int3``, and ``nop`` of each length."""
_FILLING_WORDS = (b"\x1f\x20\x03\xd5", b"\xc0\x03\x5f\xd6")
_CPP_LIBRARIES = ("libstdc++.so.6", "libc++abi.so.1", "libc++.so.1")

_PARTLY = "part of its debug information cannot be read"


class NoProgramError(Exception):
    """The file is none that this process reads."""


class _Location(Protocol):
    symbol: str
    full_path: str | None
    line: int


_COLD = b".cold"
_FUNCTION = 2
_SYMBOL = Struct("<IBBHQQ")


class _Cache(Protocol):
    """Functions and lines by address, as `symbolic` keeps them."""

    def lookup(self, addr: int) -> list[_Location]: ...


class Module:
    """A program or library and what has been read of it."""

    def __init__(
        self, path: Path, folders: list[Path], limits: ChildLimits, *, lines: bool
    ) -> None:
        self.reasons: dict[str, None] = {}
        self._caches: list[tuple[_Cache, int]] = []
        limits.allow(path)
        self._elf = _elf(path)
        self._segments = list(self._elf.iter_segments("PT_LOAD"))
        paths = [path]
        self._described = self._elf if self._elf.has_dwarf_info(strict=True) else None
        if self._described is None and (apart := _separate_debug(self._elf, path, folders)):
            limits.allow(path, apart)
            self._described = _elf(apart)
            paths.insert(0, apart)
        if self._described is None and not C_LIBRARY.match(path.name):
            self._note("it has no debug information: lines are unknown (compile it with -g)")
        for each in paths:
            self._read(each, lines=lines)

    def _note(self, reason: str) -> None:
        self.reasons[reason] = None

    def _read(self, path: Path, *, lines: bool) -> None:
        content = _content(path, lines=lines)  # the archive keeps no copy
        try:
            base = next((part["p_vaddr"] for part in _elf(path).iter_segments("PT_LOAD")), 0)
            archive = Archive.from_bytes(content) if content else Archive.open(str(path))
            self._caches.extend((each.make_symcache(), base) for each in archive.iter_objects())
        except SymbolicError:
            self._note(_PARTLY if lines else "its symbols cannot be read")
            if lines:
                self._read(path, lines=False)

    def functions(self, offsets: list[int]) -> list[list[Frame]]:
        """The function that begins at each offset, alone; none where nothing is known."""
        return [self._frames(offset)[-1:] for offset in offsets]

    def frames(self, offsets: list[int]) -> list[list[Frame]]:
        """The frames of each return address, innermost first; none where nothing is known.

        With `EXECUTED`, those of what was executed itself.
        """
        executed = {each: each - EXECUTED for each in offsets if is_executed(each)}
        # every return address follows a call, but for a few frames of signal handlers: if most
        # do not, this is not the file that was run
        returns = [offset for offset in offsets if offset not in executed]
        strangers = {offset for offset in returns if not self._is_return(offset)}
        changed = {offset for offset in strangers if not self._is_begin(offset)}
        if changed:
            self._note("the file was changed since it was recorded, or is another one")
        if 2 * len(changed) > len(returns) > 0:
            return [[] for _ in offsets]
        return [
            [] if offset in strangers else self._frames(executed.get(offset, offset - 1))
            for offset in offsets
        ]

    def _is_return(self, offset: int) -> bool:
        if not 0 < offset <= _LARGEST:
            return False
        code = self._code_before(offset)
        return code is not None and follows_call(self._elf["e_machine"], code) is not False

    def _is_begin(self, offset: int) -> bool:
        """Whether a function may begin there: coroutines and handlers return to such."""
        code = self._code_before(offset) if 0 < offset <= _LARGEST else None
        return code is not None and follows_function(self._elf["e_machine"], code)

    def _code_before(self, end: int) -> bytes | None:
        """The bytes before an address, zeros before they begin; None outside of code."""
        for segment in self._segments:
            inside = end - segment["p_vaddr"]
            if segment["p_flags"] & _EXECUTABLE and 0 < inside <= segment["p_filesz"]:
                size = min(BEFORE, inside)
                self._elf.stream.seek(segment["p_offset"] + inside - size)
                return self._elf.stream.read(size).rjust(BEFORE, b"\0")
        return None

    def _frames(self, address: int) -> list[Frame]:
        frames = next(filter(None, (_cached(*each, address) for each in self._caches)), [])
        if frames and (frames[-1][0] or "").partition(".cold")[0] in self._cold.mistaken:
            frames[-1] = (self._cold.function_at(address) or frames[-1][0], *frames[-1][1:])
        if len(frames) == 1 and frames[0][2] is None and self._described is not None:
            return [(frames[0][0], *self._line(address))]
        return frames

    @cached_property
    def _cold(self) -> ColdParts:
        return ColdParts(self._elf if self._described is None else self._described)

    def _line(self, address: int) -> tuple[str | None, int | None]:
        """The line of code that belongs to a unit of this file, and to a function elsewhere."""
        if self._lines is None:
            return None, None
        self._note("part of its debug information is in .dwo files, which are not read")
        try:
            return self._lines.at(address)
        except Exception:  # noqa: BLE001 -- the library asserts what not every file fulfils
            return None, None

    @cached_property
    def _lines(self) -> LineTable | None:
        if self._described is None:
            return None
        strings = self._described.get_section_by_name(".debug_str")
        is_split = strings is not None and b".dwo\0" in strings.data()
        return LineTable(self._described) if is_split else None


class ColdParts:
    """Functions that share an address, as a part of one that is never reached has no bytes.

    Where a function begins with such a part, it may be taken for the other one as a whole.
    """

    def __init__(self, elf: ELFFile) -> None:
        self._starts: list[int] = []
        self._functions: list[tuple[int, str]] = []  # end and name
        self.mistaken: set[str] = set()
        table, names = (elf.get_section_by_name(name) for name in (".symtab", ".strtab"))
        if table is None or names is None or _COLD not in (text := names.data()):
            return
        found = sorted(
            (value, size, name)
            for name, kind, _, _, value, size in _SYMBOL.iter_unpack(
                table.data()[: table.data_size // _SYMBOL.size * _SYMBOL.size]
            )
            if kind & 15 == _FUNCTION
        )
        empty: dict[int, set[str]] = {}
        for value, size, name in found:
            if not size and _COLD in (called := text[name : text.find(b"\0", name)]):
                empty.setdefault(value, set()).add(_text(called.partition(_COLD)[0]))
        self.mistaken = set().union(*empty.values())
        for value, size, name in found if self.mistaken else ():
            if size:
                called = text[name : text.find(b"\0", name)].partition(_COLD)[0]
                self._starts.append(value)
                self._functions.append((value + size, _text(called)))

    def function_at(self, address: int) -> str | None:
        """The name of the function that has an address, as the linker says it."""
        place = bisect_right(self._starts, address) - 1
        if place < 0 or address >= self._functions[place][0]:
            return None
        return self._functions[place][1]


def _text(name: bytes) -> str:
    return name[:_LONGEST].decode(errors="replace")


def _cached(cache: _Cache, base: int, address: int) -> list[Frame]:
    if not 0 <= address - base < _ADDRESSES:
        return []
    return [
        (_name(each), _file(each.full_path), each.line or None)
        for each in cache.lookup(address - base)[:_MOST_FRAMES]
    ]


def _name(location: _Location) -> str | None:
    """A function's name; a Fortran procedure inside another one has a number as well."""
    numbered = _NUMBERED.fullmatch(location.symbol) if location.line else None
    return (numbered[1] if numbered else location.symbol[:_LONGEST]) or None


def _file(path: str | None) -> str | None:
    return (path or "").rpartition("/")[2][:_LONGEST] or None


def _elf(path: Path) -> ELFFile:
    try:
        elf = ELFFile(path.open("rb"))
    except ELFError:
        elf = None
    if elf is None or elf.elfclass != 64 or not elf.little_endian:
        raise NoProgramError("it is no 64-bit little-endian ELF file")
    return elf


def _content(path: Path, *, lines: bool) -> bytes | None:
    """A file without lines of code that the linker left out, or without any; None as it is."""
    if not lines:
        return path.read_bytes().replace(b"debug_", b"hidden")
    section = _elf(path).get_section_by_name(".debug_line")
    if section is None or section.compressed or _LEFT_OUT not in section.data():
        return None
    # the linker moves such code to 0, over what is there; marked as dead, it hides nothing
    content, start = path.read_bytes(), section["sh_offset"]
    end = start + section["sh_size"]
    return content[:start] + content[start:end].replace(_LEFT_OUT, _DEAD) + content[end:]


def _separate_debug(elf: ELFFile, path: Path, folders: list[Path]) -> Path | None:
    """The file of debug information whose build id or checksum is the one asked for."""
    build_id = _build_id(path)
    if len(build_id) >= _SHORTEST_ID:
        for folder in folders:
            apart = folder / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug"
            if apart.is_file() and _build_id(apart) == build_id:
                return apart
    for apart, checksum in _linked(elf, path.absolute().parent, folders):
        if apart.is_file() and _checksum(apart) == checksum:
            return apart
    return None


def _build_id(path: Path) -> str:
    try:
        return next(Archive.open(str(path)).iter_objects()).code_id or ""
    except (SymbolicError, StopIteration):
        return ""


def _linked(elf: ELFFile, here: Path, folders: list[Path]) -> Iterator[tuple[Path, int]]:
    section = elf.get_section_by_name(".gnu_debuglink")
    data = section.data() if section is not None else b""
    name = data.partition(b"\0")[0].decode(errors="replace")
    if name and PurePosixPath(name).name == name and len(data) >= len(name) + 5:
        checksum = int.from_bytes(data[-4:], "little")
        yield here / name, checksum
        yield here / ".debug" / name, checksum
        for folder in folders:
            yield folder / here.relative_to("/") / name, checksum


def _checksum(path: Path) -> int | None:
    checksum = 0
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                checksum = zlib.crc32(piece, checksum)
    except OSError:
        return None
    return checksum


class LineTable:
    """Lines of a file's units, for code whose functions are described elsewhere."""

    def __init__(self, elf: ELFFile) -> None:
        self._dwarf = elf.get_dwarf_info(relocate_dwarf_sections=False)
        self._units = self._dwarf.get_aranges()
        self._rows: dict[int, list[tuple[int, str | None, int | None]]] = {}

    def at(self, address: int) -> tuple[str | None, int | None]:
        """The file and line of an address, as far as the file lists what its units cover."""
        unit = self._units.cu_offset_at_addr(address) if self._units else None
        if unit is None:
            return None, None
        if unit not in self._rows:
            self._rows[unit] = sorted(self._read(unit), key=lambda row: row[0])
        rows = self._rows[unit]
        row = bisect_right(rows, address, key=lambda row: row[0]) - 1
        return rows[row][1:] if row >= 0 else (None, None)

    def _read(self, unit: int) -> Iterator[tuple[int, str | None, int | None]]:
        """The rows of a unit's line program; where code ends, one that names nothing."""
        program = self._dwarf.line_program_for_CU(self._dwarf.get_CU_at(unit))
        if program is None:
            return
        files, first = program["file_entry"], int(program["version"] < 5)
        for entry in program.get_entries():
            if (state := entry.state) is None:
                continue
            if state.end_sequence:
                yield state.address, None, None
            elif state.file >= first:
                path = files[state.file - first].name.decode(errors="replace")
                yield state.address, _file(path), state.line or None


def follows_call(machine: str, before: bytes) -> bool | None:
    """Whether `BEFORE` bytes of code end with a call; None on a machine that is not known."""
    if machine == "EM_X86_64":
        return before[2] == 0xE8 or any(
            _is_indirect_call(before[-length:]) for length in range(2, BEFORE + 1)
        )
    if machine == "EM_AARCH64":
        word = int.from_bytes(before[-4:], "little")
        return word >> 26 == _BL or word & _BLR_MASK == _BLR
    return None


def follows_function(machine: str, before: bytes) -> bool:
    """Whether `BEFORE` bytes of code end with a return, or with what fills up behind one."""
    if machine == "EM_X86_64":
        return _FILLING.search(before) is not None
    return machine == "EM_AARCH64" and before[-4:] in _FILLING_WORDS


def _is_indirect_call(code: bytes) -> bool:
    """Whether all of some x86 code is one ``call r/m``."""
    operand = code[1]
    mode, register = operand >> 6, operand & 7
    if code[0] != 0xFF or operand >> 3 & 7 != 2:
        return False
    if mode == 3:
        return len(code) == 2
    scaled = register == 4
    wide = mode == 2 or (mode == 0 and register == 5)
    if scaled and mode == 0 and len(code) > 2 and code[2] & 7 == 5:
        wide = True
    return len(code) == 2 + scaled + (4 if wide else mode == 1)


@cache
def _demangle() -> Callable[..., int | None] | None:
    """The function of the C++ library, which everyone has who runs this package."""
    for name in _CPP_LIBRARIES:
        try:
            function = getattr(ctypes.CDLL(name), "__cxa_demangle")
        except (OSError, AttributeError):
            continue
        function.restype = ctypes.c_void_p
        return function
    return None


def demangled(name: str) -> str | None:
    """What a C++ name stands for, perhaps 2**36 letters; None if it stands for nothing."""
    demangle = _demangle()
    if demangle is None:
        return None
    address = demangle(name.encode(), None, None, ctypes.byref(ctypes.c_int()))
    if not address:
        return None
    text = ctypes.string_at(address).decode(errors="replace")
    ctypes.CDLL(None).free(ctypes.c_void_p(address))
    return text


class ChildLimits:
    """What this process may use: more with every file that it is given."""

    def __init__(self, seconds: int, size: int) -> None:
        self._seconds, self._bytes = seconds, size
        _limit(resource.RLIMIT_CORE, 0)

    def allow(self, *paths: Path, part: int = 1) -> None:
        """From now on, the time and memory that the sizes of files explain, or a part of it."""
        size = sum(path.stat().st_size for path in paths)
        used = resource.getrusage(resource.RUSAGE_SELF)
        seconds = (
            used.ru_utime + used.ru_stime + self._seconds / part + size / _BYTES_PER_SECOND
        )
        _limit(resource.RLIMIT_CPU, int(seconds) + 1)
        if sys.platform == "linux":
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            held = pages * resource.getpagesize()
            _limit(resource.RLIMIT_AS, held + self._bytes // part + size * _BYTES_PER_BYTE)


def _limit(what: int, amount: int) -> None:
    hard = resource.getrlimit(what)[1]
    resource.setrlimit(what, (amount if hard < 0 else min(amount, hard), hard))


def _answer(request: dict[str, Any], modules: dict[str, Module], limits: ChildLimits) -> object:
    if "name" in request:
        limits.allow(part=_NAMES_PART)
        return {"text": demangled(request["name"])}
    key, folders = request["module"], [Path(folder) for folder in request["folders"]]
    try:
        if key not in modules:
            modules[key] = Module(Path(key), folders, limits, lines=request["lines"])
        limits.allow()
        module, offsets = modules[key], request["offsets"]
        frames = module.functions(offsets) if request["begins"] else module.frames(offsets)
        return {"frames": frames, "reasons": list(modules[key].reasons)}
    except OSError as error:
        return {"frames": [], "reasons": [f"the file cannot be read: {error.strerror}"]}
    except NoProgramError as error:
        return {"frames": [], "reasons": [f"the file cannot be understood: {error}"]}
    except Exception as error:  # noqa: BLE001 -- a hostile file may raise anything here
        said = f"its headers make no sense ({type(error).__name__})"
        return {"frames": [], "reasons": [f"the file cannot be understood: {said}"]}


def main() -> None:
    """Answer requests until there are none."""
    limits = ChildLimits(*map(int, sys.argv[1:3]))
    modules: dict[str, Module] = {}
    for line in sys.stdin.buffer:
        print(json.dumps(_answer(json.loads(line), modules, limits)), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
