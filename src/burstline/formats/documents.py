"""Documents: files of TOML and JSON, measured before a parser sees them.

Parsers take what they are given: a key of 40,000 parts costs gigabytes, and a thousand open
brackets end in an error of Python's. So a file is opened as a trace is, its strings and words
are taken out, and what is left, brackets, dots and equals signs, tells what it will take.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from burstline.errors import FormatError, MemoryBudgetError
from burstline.formats.files import read_text

_MOST_DEPTH: Final = 16
_MOST_PARTS: Final = 8
_MOST_DIGITS: Final = 64
_MOST_MEMORY: Final = 1 << 30
_LITTLE: Final = 4 << 20
"""What any budget allows: documents that burstline writes of small traces."""
# Measured: of the shortest things that can stand in a list, and of tables and what leads there.
_BYTES_PER_CHARACTER: Final = 28
_BYTES_PER_NAME: Final = 1_000
_LARGEST: Final = 2**63 - 1

_ESCAPE: Final = re.compile(r"\\.", re.DOTALL)
_STEPS: Final = {"[": 1, "]": -1, "{": 1, "}": -1}
_JSON_NO_BRACKETS: Final = re.compile(r'"[^"]*"?|[^][{}"]+')
_OPENING: Final = re.compile(r"\"\"\"|'''|[\"'#]")
_CLOSING: Final = {
    '"': re.compile(r'\\.|["\n]', re.DOTALL),
    "'": re.compile(r"['\n]"),
    "#": re.compile(r"\n"),
    '"""': re.compile(r'\\.|"{3,5}', re.DOTALL),
    "'''": re.compile(r"'{3,5}"),
}
_NO_BRACKETS: Final = re.compile(r"[^][{}]+")
_NO_KEYS: Final = re.compile(r"[^][{}.,=\n]+")
_LONG_NUMBER: Final = re.compile(rf"(?<![\w.-])[+-]?[0-9][\w.+-]{{{_MOST_DIGITS}}}")


def read_toml(path: Path, most_bytes: int, *, memory: int | None = None) -> dict[str, Any]:
    """What a file of TOML holds; one that is no plain file, or larger, is refused."""
    return from_toml(read_text(path, most_bytes), path, memory=memory)


def read_json(path: Path, most_bytes: int, *, memory: int | None = None) -> Any:  # noqa: ANN401 -- what a file holds
    """What a file of JSON holds; one that is no plain file, or larger, is refused."""
    return from_json(read_text(path, most_bytes), path, memory=memory)


def from_toml(text: str, path: Path, *, memory: int | None = None) -> dict[str, Any]:
    """What a text in TOML holds; `path` is named where it is refused."""
    bare = "".join(_outside_strings(text))
    if _LONG_NUMBER.search(bare):
        raise _refused(path, f"numbers of at most {_MOST_DIGITS} digits", "a longer one")
    signs = _NO_KEYS.sub("", bare)
    if "." * _MOST_PARTS in signs:
        raise _refused(path, f"keys of at most {_MOST_PARTS} parts", "a key of more")
    _check_depth(_NO_BRACKETS.sub("", signs), path)
    names = sum(map(signs.count, ("=", ".", "\n["))) + 1
    _check_memory(_BYTES_PER_CHARACTER * len(text) + _BYTES_PER_NAME * names, memory, path)
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise _refused(path, "a TOML file", str(error)) from error


def from_json(text: str, path: Path, *, memory: int | None = None) -> Any:  # noqa: ANN401 -- what a text holds
    """What a text in JSON holds, its numbers finite and whole ones of at most 64 bits."""
    _check_depth(_JSON_NO_BRACKETS.sub("", _ESCAPE.sub("", text)), path)
    _check_memory(_BYTES_PER_CHARACTER * len(text), memory, path)
    try:
        return json.loads(text, parse_int=_whole, parse_float=_finite, parse_constant=_finite)
    except ValueError as error:
        raise _refused(path, "a JSON file", str(error)) from error


def _outside_strings(text: str) -> Iterator[str]:
    """Yield what TOML has outside of strings and comments, as far as it is TOML."""
    end = 0
    while opening := _OPENING.search(text, end):
        yield text[end : opening.start()]
        closing = _CLOSING[opening[0]]
        end = opening.end()
        while (found := closing.search(text, end)) and found[0][0] == "\\":
            end = found.end()
        if found is None:
            return
        end = found.end() - (found[0] == "\n")
    yield text[end:]


def _check_depth(brackets: str, path: Path) -> None:
    depth = max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)
    if depth > _MOST_DEPTH:
        raise _refused(path, f"brackets within at most {_MOST_DEPTH} others", f"{depth:,}")


def _check_memory(needed: int, memory: int | None, path: Path) -> None:
    allowed = _MOST_MEMORY if memory is None else min(max(memory, _LITTLE), _MOST_MEMORY)
    if needed > allowed:
        way_out = f"That is what {path} may take: make it anew if it is not from burstline."
        if allowed < _MOST_MEMORY:
            way_out = f"{way_out[:-1]}, or allow more memory (`memory`) if it is."
        raise MemoryBudgetError(needed, allowed, way_out=way_out)


def _whole(digits: str) -> int:
    value = int(digits) if len(digits) <= _MOST_DIGITS else _LARGEST + 1
    if not -_LARGEST - 1 <= value <= _LARGEST:
        raise ValueError(f"a number of more than 64 bits, {digits[:_MOST_DIGITS]}")
    return value


def _finite(digits: str) -> float:
    value = float(digits) if len(digits) <= _MOST_DIGITS else math.inf
    if not math.isfinite(value):
        raise ValueError(f"a number that is not finite, {digits[:_MOST_DIGITS]}")
    return value


def _refused(path: Path, expected: str, found: str) -> FormatError:
    return FormatError(path, None, expected=expected, found=found)
