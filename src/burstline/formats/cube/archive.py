"""Checks of an archive before it is unpacked: members, sizes, compressed streams."""

from __future__ import annotations

import gzip
import re
import tarfile
import warnings
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final
from xml.parsers import expat

from burstline.errors import FormatError, MemoryBudgetError, UnsupportedRecordError

CALL_PATH: Final = "cnode"
"""The element of a call path, which holds those of the calls within it."""
GZIP: Final = b"\x1f\x8b"
_XML_AT_ONCE: Final = 1 << 16
_MOST_DEPTH: Final = 800
"""The parser calls itself for what is within an element, except for call paths, and Python
allows 1,000 calls, of which the program that reads a profile may be in some."""
_LONGEST_TAG: Final = 1 << 20
"""Bytes: a parser begins anew with a tag whenever it gets more of it."""
# Measured: what stands in the XML, with all that is made of it until there is a profile.
_BYTES_PER_ELEMENT: Final = 320
_BYTES_PER_ATTRIBUTE: Final = 270
_BYTES_PER_CALL_PATH: Final = 300
_BYTES_PER_BYTE: Final = 5  # of text, where one character is wide


def trees_bytes(path: Path, file: IO[bytes], allowed: int) -> int:
    """The memory that the trees in a file of XML take, packed or not, at most `allowed`."""
    count = _SizeGuard(path, allowed)
    packed = file.read(len(GZIP)) == GZIP
    file.seek(0)
    source: Any = gzip.GzipFile(fileobj=file) if packed else file
    try:
        while chunk := source.read(_XML_AT_ONCE):
            count.feed(chunk)
        count.feed(b"")
    except (expat.ExpatError, LookupError, ValueError) as error:  # of encodings, the latter
        raise count.refused("XML", str(error)) from error
    return count.needed


def too_deep(path: Path) -> UnsupportedRecordError:
    """The error that a profile may well be sound, but nests too much to be read."""
    return UnsupportedRecordError(
        path,
        None,
        expected=f"a profile of Cube with elements within at most {_MOST_DEPTH:,} others "
        "beside call paths",
        found="deeper ones, of metrics, of the system or of another tree",
        way_out="Compare without this profile.",
    )


class _SizeGuard:
    """What was met of a file so far; beyond a limit it is refused."""

    def __init__(self, path: Path, allowed: int) -> None:
        self._path, self._allowed = path, allowed
        self.needed, self._depth, self._fed = 0, 0, 0
        parser = self._parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.EntityDeclHandler = self._entity
        parser.ordered_attributes = True

    def feed(self, chunk: bytes) -> None:
        self.needed += _BYTES_PER_BYTE * len(chunk)
        self._fed += len(chunk)
        self._parser.Parse(chunk, not chunk)
        if self._fed - self._parser.CurrentByteIndex > _LONGEST_TAG:
            raise self.refused(f"tags of at most {_LONGEST_TAG:,} bytes", "a longer one")
        if self.needed > self._allowed:
            way_out = f"That is for the trees of {self._path}. Allow more if you trust it."
            raise MemoryBudgetError(self.needed, self._allowed, way_out=way_out)

    def refused(self, expected: str, found: str) -> FormatError:
        expected = f"a profile of Cube, whose anchor.xml has {expected}"
        return FormatError(self._path, None, expected=expected, found=found)

    def _start(self, name: str, attributes: list[str]) -> None:
        self._depth += name != CALL_PATH
        if self._depth > _MOST_DEPTH:
            raise too_deep(self._path)
        self.needed += _BYTES_PER_ELEMENT + _BYTES_PER_ATTRIBUTE * (len(attributes) // 2)
        if name == CALL_PATH:
            self.needed += _BYTES_PER_CALL_PATH

    def _end(self, name: str) -> None:
        self._depth -= name != CALL_PATH

    def _entity(self, *_: object) -> None:
        raise self.refused("no entities of its own", "one")


ANCHOR: Final = "anchor.xml"

_COPIES: Final = 2
"""Of the values of a metric, while they are ordered by call path and location."""
_PER_INDEX_BYTE: Final = 12
"""Four bytes are a number, which is an object while the index is read."""
_SHORTEST_INDEX: Final = 22
"""Bytes of an index that names no call path: no values follow."""

_PACKED: Final = b"ZCUBEX.DATA"
_ENTRY: Final = 24
_DATA: Final = re.compile(r"\d+\.data")
_AT_ONCE: Final = 1 << 20
_MOST_MEMBERS: Final = 1_000_000
_BY_HEADER: Final = 47  # zlib's window bits for gzip and zlib wrappers


@dataclass(frozen=True, slots=True)
class CheckedArchive:
    """Bytes of the members and trees of a sound archive, and the metrics with values."""

    trees: int
    unpacked: dict[str, int]
    indexed: frozenset[int]

    def needed(self, metrics: Iterable[int]) -> int:
        """The bytes that the values of some metrics take, read one metric after the other."""
        known = [metric for metric in metrics if metric in self.indexed]
        values = [self.unpacked.get(f"{metric}.data", 0) for metric in known]
        rows = [self.unpacked[f"{metric}.index"] for metric in known]
        beside = (_COPIES * v + _PER_INDEX_BYTE * r for v, r in zip(values, rows, strict=True))
        return self.trees + sum(values) + max(beside, default=0)


def check(path: Path, allowed: int) -> CheckedArchive:
    """The sizes of the members of an archive, each checked to have at most `allowed` bytes."""
    trees, unpacked = 0, dict[str, int]()
    indexed = set()
    try:
        with warnings.catch_warnings(action="ignore"), opened(path) as tar:
            for member in tar:
                _check_member(path, member, len(unpacked))
                file = tar.extractfile(member)
                if file is None:
                    continue
                unpacked[member.name] = _unpacked_size(member, file, allowed)
                if member.name == ANCHOR:
                    file.seek(0)
                    trees = max(trees, trees_bytes(path, file, allowed))
                metric, _, kind = member.name.partition(".")
                if kind == "index" and metric.isdigit() and member.size > _SHORTEST_INDEX:
                    indexed.add(int(metric))
    except (tarfile.TarError, EOFError, zlib.error, ValueError) as error:
        raise broken(path, str(error)) from error
    if ANCHOR not in unpacked:
        raise broken(path, f"no member {ANCHOR}")
    return CheckedArchive(trees, unpacked, frozenset(indexed))


def opened(path: Path) -> tarfile.TarFile:
    """The open archive, whose checksums may be wrong."""
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
    if member.name == ANCHOR and head.startswith(GZIP):
        size = _inflated_size(file, size, allowed)
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
        size = _inflated_size(file, size - start, allowed)
    if size > allowed:
        raise _too_large(size, allowed)
    return size


def _inflated_size(file: IO[bytes], packed: int, allowed: int) -> int:
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
