"""Checks of an archive before it is unpacked: members, sizes, compressed streams."""

from __future__ import annotations

import re
import tarfile
import warnings
import zlib
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final

from burstline.errors import FormatError, MemoryBudgetError

if TYPE_CHECKING:
    from pathlib import Path

ANCHOR: Final = "anchor.xml"

_SHORTEST_INDEX: Final = 22
"""Bytes of an index that names no call path: no values follow."""

_PACKED: Final = b"ZCUBEX.DATA"
_GZIP: Final = b"\x1f\x8b"
_ENTRY: Final = 24
_DATA: Final = re.compile(r"\d+\.data")
_AT_ONCE: Final = 1 << 20
_MOST_MEMBERS: Final = 1_000_000
_BY_HEADER: Final = 47  # zlib's window bits for gzip and zlib wrappers


@dataclass(frozen=True, slots=True)
class Archive:
    """The members of a sound archive: bytes of each, and the metrics that have values."""

    unpacked: dict[str, int]
    indexed: frozenset[int]

    def values_bytes(self, metric: int) -> int:
        """The bytes of a metric's values; 0 if it has none."""
        return self.unpacked.get(f"{metric}.data", 0) if metric in self.indexed else 0


def check(path: Path, allowed: int) -> Archive:
    """The sizes of the members of an archive, each checked to have at most `allowed` bytes."""
    unpacked: dict[str, int] = {}
    indexed = set()
    try:
        with warnings.catch_warnings(action="ignore"), _opened(path) as tar:
            for member in tar:
                _check_member(path, member, len(unpacked))
                file = tar.extractfile(member)
                if file is None:
                    continue
                unpacked[member.name] = _unpacked_size(member, file, allowed)
                metric, _, kind = member.name.partition(".")
                if kind == "index" and metric.isdigit() and member.size > _SHORTEST_INDEX:
                    indexed.add(int(metric))
    except (tarfile.TarError, EOFError, zlib.error, ValueError) as error:
        raise broken(path, str(error)) from error
    if ANCHOR not in unpacked:
        raise broken(path, f"no member {ANCHOR}")
    return Archive(unpacked, frozenset(indexed))


def _opened(path: Path) -> tarfile.TarFile:
    try:
        return tarfile.open(path, "r:")
    except tarfile.ReadError:
        # Cube 4.8 writes check sums that are wrong, and only they are.
        from pycubexr.utils.custom_tarinfo import TarInfoWithoutCheck  # noqa: PLC0415 -- rare

        return tarfile.open(path, "r:", tarinfo=TarInfoWithoutCheck)


def broken(path: Path, actual: str) -> FormatError:
    """The error that an archive is no profile."""
    return FormatError(
        path,
        None,
        expected="a profile of Cube: a tar archive with anchor.xml",
        found=actual,
        way_out="Cube's own tools may repair it, or say more.",
    )


def _check_member(path: Path, member: tarfile.TarInfo, before: int) -> None:
    # Other tools would follow links, and names that lead out of the archive.
    parts = member.name.split("/")
    if member.name.startswith("/") or ".." in parts:
        raise broken(path, f"a member whose name leads out of the archive: {member.name}")
    if not (member.isreg() or member.isdir()):
        raise broken(path, f"a member that is no file: {member.name}")
    if before >= _MOST_MEMBERS:
        raise broken(path, f"more than {_MOST_MEMBERS:,} members")


def _unpacked_size(member: tarfile.TarInfo, file: IO[bytes], allowed: int) -> int:
    head = file.read(len(_PACKED))
    file.seek(0)
    size = member.size
    if member.name == ANCHOR and head.startswith(_GZIP):
        size = _inflated(file, size, allowed)
    elif _DATA.fullmatch(member.name) and head == _PACKED:
        file.seek(len(_PACKED))
        rows = int.from_bytes(file.read(8), "little")
        # The count is in the writer's byte order: it is the one that fits into the file.
        if rows * _ENTRY > size:
            rows = int.from_bytes(rows.to_bytes(8, "little"), "big")
        start = len(_PACKED) + 8 + rows * _ENTRY
        if start > size:
            raise ValueError(f"{member.name} ends within its header")
        file.seek(start)
        size = _inflated(file, size - start, allowed)
    if size > allowed:
        raise _too_large(size, allowed)
    return size


def _inflated(file: IO[bytes], packed: int, allowed: int) -> int:
    """The inflated bytes of the compressed streams in a file."""
    total, stream = 0, zlib.decompressobj(_BY_HEADER)
    waiting = b""
    while packed or waiting:
        if not waiting:
            waiting = file.read(min(_AT_ONCE, packed))
            if not waiting:
                raise EOFError("a compressed member is cut")
            packed -= len(waiting)
        total += len(stream.decompress(waiting, _AT_ONCE))
        waiting = stream.unconsumed_tail
        if total > allowed:
            raise _too_large(total, allowed)
        if stream.eof:
            waiting, stream = stream.unused_data, zlib.decompressobj(_BY_HEADER)
    return total


def _too_large(size: int, allowed: int) -> MemoryBudgetError:
    return MemoryBudgetError(
        size, allowed, way_out="Allow more memory if you trust where the file comes from."
    )
