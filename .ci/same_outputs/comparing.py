"""Stored outputs of two trees, compared byte for byte."""

from __future__ import annotations

import difflib
import fnmatch
import gzip
import io
import json
import tomllib
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import cases
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pathlib import Path

LINES = 12
"""Lines of a difference that are printed."""


@dataclass(frozen=True)
class Difference:
    """One field of one command on one trace, as it was and as it is: hashes or words."""

    command: str
    trace: str
    field: str
    old: str
    new: str


@dataclass
class Row:
    """A difference that is allowed: patterns, and the sentence that asks for it."""

    command: str
    trace: str
    field: str
    sentence: str
    spellings: dict[str, str] = field(default_factory=dict)
    used: int = 0

    def covers(self, difference: Difference, contents: Contents) -> bool:
        """Return whether a difference is the one that the row is for."""
        return all(
            fnmatch.fnmatchcase(getattr(difference, name), getattr(self, name))
            for name in ("command", "trace", "field")
        ) and (not self.spellings or self._respelled(difference, contents))

    def _respelled(self, difference: Difference, contents: Contents) -> bool:
        """Return whether both contents are equal once the old spellings are the new ones."""
        old, new = (text(contents[name]) for name in (difference.old, difference.new))
        for spelling, instead in self.spellings.items():
            old, new = (words.replace(spelling, instead) for words in (old, new))
        return old.split() == new.split()


def allowed(path: Path) -> list[Row]:
    """Return the rows of the table of allowed differences."""
    if not path.exists():
        return []
    return [Row(**row) for row in tomllib.loads(path.read_text()).get("allowed", [])]


def results(out: Path, listed: list[list[str]]) -> list[dict[str, Any]]:
    """Return the stored results of cases; a case that is not stored has no commands."""
    paths = [cases.stored(out, name, key) for name, key in listed]
    missing: dict[str, Any] = {"trace": "", "steps": []}
    return [json.loads(path.read_text()) if path.exists() else missing for path in paths]


def fields(step: dict[str, Any]) -> dict[str, str]:
    """Return all that a command did, by field."""
    streams = {name: step[name] for name in ("exit", "stdout", "stderr")}
    return streams | {f"file {name}": hashed for name, hashed in step["files"].items()}


def differences(name: str, old: dict[str, Any], new: dict[str, Any]) -> list[Difference]:
    """Return where two results of the case `name` differ."""
    found = []
    trace = old.get("trace") or "no_trace"
    before, after = old.get("steps", []), new.get("steps", [])
    if len(before) != len(after):
        counts = str(len(before)), str(len(after))
        return [Difference(name, trace, "number of commands", *counts)]
    for one, other in zip(before, after, strict=True):
        was, is_ = fields(one), fields(other)
        found += [
            Difference(one["command"], trace, what, was.get(what, "-"), is_.get(what, "-"))
            for what in sorted(was | is_)
            if was.get(what) != is_.get(what)
        ]
    return found


class Contents:
    """What was stored under a hash, in either of two folders."""

    def __init__(self, *outs: Path) -> None:
        self._folders = [out / "blobs" for out in outs]

    def __getitem__(self, name: str) -> bytes:
        for folder in self._folders:
            path = folder / name[:2] / name
            if path.exists():
                return zlib.decompress(path.read_bytes())
        return name.encode()


def text(data: bytes) -> str:
    """Return what a stored file says: the rows of Parquet, the text of what was packed."""
    if data[:4] == b"PAR1":
        return "\n".join(map(str, pq.read_table(io.BytesIO(data)).to_pylist()))
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode(errors="replace")


def explanation(difference: Difference, contents: Contents) -> list[str]:
    """Return the first lines that differ, or how long both are and where they part."""
    old, new = contents[difference.old], contents[difference.new]
    if difference.field.endswith(".gz") and b"-" not in (old, new):
        old, new = gzip.decompress(old), gzip.decompress(new)
    try:
        texts = [data.decode().splitlines() for data in (old, new)]
    except UnicodeDecodeError:
        pairs = enumerate(zip(old, new, strict=False))
        where = next((i for i, (a, b) in pairs if a != b), min(len(old), len(new)))
        return [f"{len(old)} bytes, now {len(new)}: they part at {where}"]
    lines = list(difflib.unified_diff(*texts, "old", "new", lineterm="", n=1))[2:]
    more = [f"… {len(lines) - LINES} lines more"] if len(lines) > LINES else []
    return [line[:300] for line in lines[:LINES]] + more


def report(old_out: Path, new_out: Path, table: Path, shown: int, *, whole: bool) -> int:
    """Print where two trees differ, and return 1 where no row allows it.

    Rows that nothing needs are named where the `whole` was compared.
    """
    listed = sorted(json.loads((new_out / "cases.json").read_text()))
    old, new = results(old_out, listed), results(new_out, listed)
    rows = allowed(table)
    found = [
        difference
        for (name, _), before, after in zip(listed, old, new, strict=True)
        for difference in differences(name, before, after)
    ]
    refused = []
    contents = Contents(old_out, new_out)
    for difference in found:
        covering = [row for row in rows if row.covers(difference, contents)]
        for row in covering:
            row.used += 1
        if not covering:
            refused.append(difference)
    for difference in refused[:shown]:
        print(f"\nburstline {difference.command}\n  on {difference.trace}: {difference.field}")
        print("\n".join(f"    {line}" for line in explanation(difference, contents)))
    if len(refused) > shown:
        print(f"\n… and {len(refused) - shown} differences more")
    for row in rows:
        if whole and not row.used:
            print(f"\nno difference any more: {row.command!r} on {row.trace!r}, {row.field!r}")
    commands = sum(len(result["steps"]) for result in new)
    print(
        f"\n{commands} commands compared: {len(refused)} differences that nothing allows, "
        f"{len(found) - len(refused)} that {sum(row.used > 0 for row in rows)} rows allow"
    )
    return 1 if refused else 0
