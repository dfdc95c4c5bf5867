"""The manifest of a store: what its tables are, and checksums of itself and of their footers.

A checksum tells damage, not a liar, who writes one that fits. So the manifest says little that
files say themselves, and what it says is compared with them when they are opened.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from burstline.errors import FormatError, UnsupportedRecordError
from burstline.formats.documents import from_json
from burstline.formats.files import read_text
from burstline.formats.store.footer import Footer
from burstline.model import schema

MANIFEST: Final = "burstline-store.json"
VERSION: Final = 2
OPERATIONS: Final = b"operations"
"""What a file with codes of operations calls the names behind them."""
AGAIN: Final = "Convert the trace again."
_MOST_BYTES: Final = 1 << 25
_CHECKSUM: Final = ', "checksum": '


class Entry(NamedTuple):
    """A table of a store."""

    rows: int
    footer: int  # checksum of the footer of its file


class Manifest(NamedTuple):
    """What is in a store."""

    operations: tuple[str, ...]  # the names behind codes
    counters: tuple[str, ...]  # in the order of their columns
    tables: dict[str, Entry]

    def text(self) -> str:
        """The manifest as it stands in a store."""
        # in an order of their own, so that stores of equal traces are equal
        tables = {name: self.tables[name]._asdict() for name in sorted(self.tables)}
        document = {
            "format": "burstline-store",
            "version": VERSION,
            "schema": schema.SCHEMA_VERSION,
            "operations": self.operations,
            "counters": self.counters,
            "tables": tables,
        }
        head = json.dumps(document)[:-1]
        return f"{head}{_CHECKSUM}{zlib.crc32(head.encode())}}}"


def read_manifest(folder: Path, memory: int | None = None) -> Manifest:
    """The manifest of a store; one that is damaged, or of other files, is refused."""
    path = folder / MANIFEST
    try:
        text = read_text(path, _MOST_BYTES)
        document: Any = from_json(text, path, memory=memory)
        _require_versions(path, int(document["version"]), int(document["schema"]))
        _require_checksum(text)
        manifest = _from_document(document)
    except FileNotFoundError as error:
        raise FormatError(
            folder, None, expected=f"a store with its {MANIFEST}", found="another folder"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        found = str(error) if type(error) is ValueError else repr(error)
        raise FormatError(
            path, None, expected="the manifest of a store", found=found, way_out=AGAIN
        ) from error
    _require_its_tables(path, manifest.tables)
    return manifest


def _require_versions(path: Path, version: int, layout: int) -> None:
    if (version, layout) != (VERSION, schema.SCHEMA_VERSION):
        raise UnsupportedRecordError(
            path,
            None,
            expected=f"version {VERSION} of stores and {schema.SCHEMA_VERSION} of the schema",
            found=f"versions {version} and {layout}",
            way_out=AGAIN,
        )


def _require_checksum(text: str) -> None:
    head, _, checksum = text.rpartition(_CHECKSUM)
    if checksum != f"{zlib.crc32(head.encode())}}}":
        raise ValueError("one that was changed since it was written")


def _from_document(document: Mapping[str, Any]) -> Manifest:
    names = document["operations"], document["counters"]
    for words in names:
        if len({str(word) for word in words}) != len(words):
            raise ValueError("a name that stands there twice")
    tables = {
        str(name): Entry(int(entry["rows"]), int(entry["footer"]))
        for name, entry in document["tables"].items()
    }
    return Manifest(tuple(map(str, names[0])), tuple(map(str, names[1])), tables)


def _require_its_tables(path: Path, tables: Mapping[str, Entry]) -> None:
    """Raise unless the tables are those of the schema that have a file in the folder."""
    unknown = sorted(set(tables) - set(schema.TABLES))
    if unknown:
        raise FormatError(path, None, expected="tables of the schema", found=", ".join(unknown))
    files = {file.stem for file in path.parent.glob("*.parquet")} & set(schema.TABLES)
    if files != set(tables):
        one = min(files ^ set(tables))
        said, found = ("a file of", "none") if one in tables else ("no file of", "one")
        raise FormatError(path, None, expected=f"{said} {one}", found=found, way_out=AGAIN)


def require_agreement(path: Path, name: str, footer: Footer, manifest: Manifest) -> None:
    """Raise unless the footer of a table's file says what the manifest says of it."""
    said = footer.arrow.metadata or {}
    codes = any(column.type == "operation" for column in schema.TABLES[name].columns)
    names = json.dumps(manifest.operations).encode() if codes else None
    expected, found = f"{manifest.tables[name].rows} rows", str(footer.rows())
    if found == str(manifest.tables[name].rows):
        expected, found = f"the operations that {MANIFEST} names", "others"
        if said.get(OPERATIONS) == names:
            return
    raise FormatError(path, None, expected=expected, found=found, way_out=AGAIN)


def stamp_of(path: Path) -> tuple[int, int]:
    """Size and time of a file, or of a store's manifest: another one has others."""
    found = (path / MANIFEST if path.is_dir() else path).stat()
    return found.st_size, found.st_mtime_ns
