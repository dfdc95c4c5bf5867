r"""Texts in cells of CSV: exact, and nothing that a spreadsheet computes or a terminal obeys.

What would be is written as in JSON, and so is a backslash that could be read as one of these::

    =1+1   ->   \u003d1+1          -5   ->   -5: a number stays one
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from burstline.errors import UNSEEN

_SIGNS: Final = "=@+-\uff1d\uff20\uff0b\uff0d"
_NUMBER: Final = r"\d*\.?\d*(?:[eE][+-]?\d+)?(?:;|\Z)"
_OBEYED: Final = re.compile(
    # Where lists are separated by semicolons, a cell begins behind one, too.
    rf"{UNSEEN.pattern}|(?<![^;])(?![+-]{_NUMBER})[{re.escape(_SIGNS)}]"
    r"|\\(?=u[0-9a-f]{4}|U[0-9a-f]{8})"
)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-f]{4})|U(000[0-9a-f]{5}|0010[0-9a-f]{4}))")
_PERHAPS_OBEYED: Final = r"[^ -~]|(^|;)[=@+-]|\\[uU]"


def cell(text: str) -> str:
    r"""A text as a cell.

    >>> print(cell("=cmd|' /C calc'!A0"), cell("-1.5e3"), cell("a\tb"), cell(r"C:\u202e"))
    \u003dcmd|' /C calc'!A0 -1.5e3 a\u0009b C:\u005cu202e
    """
    return _OBEYED.sub(_escaped, text)


def text_of(cell: str) -> str:
    r"""The text that a cell was written for; other escapes are texts.

    >>> text_of(r"\u003d1+1"), text_of(r"\u0041")
    ('=1+1', '\\u0041')
    """
    return _ESCAPE.sub(_unescaped, cell)


def cells(texts: pa.Array) -> pa.Array:
    """Texts as cells."""
    return _each(texts, cell, pc.match_substring_regex(texts, _PERHAPS_OBEYED))


def texts_of(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The texts that cells were written for."""
    chunks = [_each(c, text_of, pc.match_substring(c, "\\")) for c in column.chunks]
    return pa.chunked_array(chunks, column.type)


def _each(texts: pa.Array, change: Callable[[str], str], perhaps: pa.Array) -> pa.Array:
    """Texts changed one by one, unless none of them is one that perhaps changes."""
    if not pc.any(perhaps).as_py():
        return texts
    changed = [None if text is None else change(text) for text in texts.to_pylist()]
    return pa.array(changed, texts.type)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"


def _unescaped(match: re.Match[str]) -> str:
    letter = chr(int(match[1] or match[2], 16))
    written = letter in _SIGNS or letter == "\\" or UNSEEN.fullmatch(letter)
    return letter if written and not "\ud800" <= letter <= "\udfff" else match[0]
