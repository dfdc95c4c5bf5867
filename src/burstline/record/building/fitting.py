"""The recorder without the functions that an MPI lacks.

::

    libburst-mpich.so ──less MPI_Send_c, …, which libmpi.so.12 lacks──► a copy in the cache

A program that looks whether its MPI has a function finds the recorder's, which can only fail.
mpi4py does so for all that came with MPI 4, and has other ways where there is no such function.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from burstline.record.building.cache import kept
from burstline.record.building.recorder import shared_object
from burstline.record.launching.checks import check_programs, choose_abi, libraries_of_mpi4py
from burstline.record.launching.command_line import Command

_OF_64_BITS: Final = b"\x7fELF\x02\x01"
_SECTION: Final = struct.Struct("<IIQQQQIIQQ")
_DYNAMIC_SYMBOLS: Final = 11
_SYMBOL: Final = struct.Struct("<IBBHQQ")
_DEFINITION: Final = slice(6, 16)
"""Where a symbol says in which section it is defined, and where there; 0: nowhere."""


def recorder_for(command: Command, mpi: str | None) -> Path:
    """The recorder for the programs of a command, which are checked, and for their MPI."""
    check_programs(command)
    return fitted(shared_object(choose_abi(command, mpi)), libraries_of_mpi4py(command))


def fitted(recorder: Path, libraries: Sequence[Path]) -> Path:
    """The recorder for a program with these libraries; as it is if none of them is MPI."""
    there = {name for path in libraries for name in _names_in(path)}
    if b"MPI_Init" not in there:
        return recorder
    content = bytearray(recorder.read_bytes())
    lacking = [
        place
        for name, place in _defined(content)
        if name.startswith((b"MPI_", b"PMPI_")) and there.isdisjoint(_both_names(name))
    ]
    if not lacking:
        return recorder
    for place in lacking:
        content[place + _DEFINITION.start : place + _DEFINITION.stop] = bytes(10)
    return kept("recorder", recorder.name, content)


def _names_in(library: Path) -> set[bytes]:
    """What a library defines; nothing if it is damaged, or of another kind of machine."""
    content = library.read_bytes()
    if not content.startswith(_OF_64_BITS):
        return set()
    try:
        return {name for name, _ in _defined(content)}
    except (struct.error, ValueError, IndexError, OverflowError):
        return set()


def _both_names(name: bytes) -> tuple[bytes, bytes]:
    bare = name.removeprefix(b"P")
    return bare, b"P" + bare


def _defined(content: bytes | bytearray) -> Iterator[tuple[bytes, int]]:
    """The symbols that a shared object of 64 bits defines, and where their entries are."""
    (first,) = struct.unpack_from("<Q", content, 40)
    size, count = struct.unpack_from("<HH", content, 58)
    sections = [_SECTION.unpack_from(content, first + size * k) for k in range(count)]
    for _, kind, _, _, begin, length, link, *_ in sections:
        if kind != _DYNAMIC_SYMBOLS:
            continue
        names = sections[link][4]
        for place in range(begin, begin + length, _SYMBOL.size):
            symbol = _SYMBOL.unpack_from(content, place)
            if symbol[3]:
                at = names + symbol[0]
                yield bytes(content[at : content.index(0, at)]), place
