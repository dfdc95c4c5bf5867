"""What the trees of an archive take, counted in its XML before anything is made of them."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import IO, Any, Final
from xml.parsers import expat

from burstline.errors import FormatError, MemoryBudgetError, UnsupportedRecordError

CALL_PATH: Final = "cnode"
"""The element of a call path, which holds those of the calls within it."""
GZIP: Final = b"\x1f\x8b"
_AT_ONCE: Final = 1 << 16
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
    count = _Count(path, allowed)
    packed = file.read(len(GZIP)) == GZIP
    file.seek(0)
    source: Any = gzip.GzipFile(fileobj=file) if packed else file
    try:
        while chunk := source.read(_AT_ONCE):
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


class _Count:
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
