"""Everything this package raises on purpose.

::

    BurstlineError                   exit code 1
    ├── ParameterError (ValueError)         2  the caller asked for something impossible
    ├── FormatError                         3  the bytes are not what the format promises
    │   ├── TruncatedTraceError                the file ends inside a record
    │   └── UnsupportedRecordError             a legal record that is not read yet
    ├── InconsistentTraceError              4  well formed, but no program could do this
    ├── NotEnoughDataError                  5  no answer for this input
    │   └── MemoryBudgetError                  the answer does not fit in the memory allowed
    ├── WorkersError                        5  no workers are there, or not those that it takes
    └── MissingExtraError (ImportError)     6  an optional stack is not installed

A message ends with the way out wherever there is one.
What is merely odd in a trace is a row of its ``defects`` table, not an error.
"""

from __future__ import annotations

import re
from importlib import import_module
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_SHOWN = 120
_UNSEEN = (
    r"\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
_JOINERS, _SELECTORS = r"\u200c\u200d", r"\ufe00-\ufe0f\U000e0100-\U000e01ef"
_LETTERS = rf"[^\x00-\x7f{_UNSEEN}{_JOINERS}{_SELECTORS}]"
UNSEEN = re.compile(
    rf"[{_UNSEEN}]|[{_SELECTORS}](?<!{_LETTERS}.)"
    rf"|[{_JOINERS}](?<!{_LETTERS}.)(?<![{_SELECTORS}].)|[{_JOINERS}](?!{_LETTERS})"
)
"""What a terminal or a browser obeys instead of showing it, or shows as nothing.

Controls, those of direction among them, ends of lines, and what Unicode calls ignorable.
Joiners and selectors of variants stay where words of many scripts and emoji need them: behind
a character that is not ASCII, joiners before one, too.
"""
_BYTES = re.compile(r"[\udc80-\udcff]")


def readable(path: str | PathLike[str]) -> str:
    r"""The name of a file as text that can be stored: what is not UTF-8 in it as ``\xef``."""
    text = _BYTES.sub(lambda byte: f"\\x{ord(byte[0]) - 0xDC00:02x}", fspath(path))
    return text.encode("utf-8", "replace").decode()


def printable(text: str, *, limit: int = _SHOWN) -> str:
    r"""The text of a file, safe to print: nothing :data:`UNSEEN`, at most `limit` long.

    >>> printable("a\x1b[31mred"), printable("gpj\u202exe")
    ('a\ufffd[31mred', 'gpj\ufffdxe')
    """
    shown = readable(text[: limit + 1])
    if not shown.isascii() or not shown.isprintable():
        shown = UNSEEN.sub("\ufffd", shown)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def plural(count: int, noun: str, nouns: str = "") -> str:
    """A count and its noun.

    >>> plural(1, "rank"), plural(1_000, "rank"), plural(2, "process", "processes")
    ('1 rank', '1,000 ranks', '2 processes')
    """
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


class BurstlineError(Exception):
    """Base of every error raised on purpose; anything else is a bug of ours."""

    exit_code = 1

    def __reduce__(self) -> tuple[Any, ...]:
        """Cross from a worker whole: some have more than the arguments of an exception."""
        return _raised_elsewhere, (type(self), self.args), vars(self)


def _raised_elsewhere(kind: type[BurstlineError], arguments: tuple[Any, ...]) -> BurstlineError:
    """An error as a worker raised it."""
    error = kind.__new__(kind)
    error.args = arguments
    return error


class ParameterError(BurstlineError, ValueError):
    """An argument outside its domain."""

    exit_code = 2


class FormatError(BurstlineError):
    """A file breaks the rules of its format.

    Parameters
    ----------
    path : Path
        The file that was being read.
    line : int or None
        Line of the first offence, counted from 1; None where lines mean nothing.
    expected, found : str
        What the format promises there, and what the file holds.
    way_out : str
        What the user can do about it, as a sentence; may be empty.
    """

    exit_code = 3

    def __init__(
        self, path: Path, line: int | None, *, expected: str, found: str, way_out: str = ""
    ) -> None:
        super().__init__(path, line, expected, found)
        self.path, self.line, self.expected, self.found = path, line, expected, found
        self.way_out = way_out

    def __str__(self) -> str:
        where = f"{self.path}" if self.line is None else f"{self.path}:{self.line}"
        text = f"{where}: expected {self.expected}, found {printable(self.found)!r}"
        return f"{text}. {self.way_out}" if self.way_out else text


class TruncatedTraceError(FormatError):
    """The file ends inside a record, and nothing before it is usable."""


class UnsupportedRecordError(FormatError):
    """A legal record or layout that this version does not read."""


class InconsistentTraceError(BurstlineError):
    """A well-formed trace that no MPI program could have produced."""

    exit_code = 4


class NotEnoughDataError(BurstlineError):
    """The analysis has no answer for this input."""

    exit_code = 5


class MemoryBudgetError(NotEnoughDataError):
    """The answer does not fit in the memory allowed.

    Parameters
    ----------
    needed_bytes, allowed_bytes : int
        The estimate, and the budget it exceeds.
    way_out : str
        The command that would fit, as a sentence.
    """

    def __init__(self, needed_bytes: int, allowed_bytes: int, *, way_out: str) -> None:
        super().__init__(needed_bytes, allowed_bytes)
        self.needed_bytes, self.allowed_bytes = needed_bytes, allowed_bytes
        self.way_out = way_out

    def __str__(self) -> str:
        # Rounded up: the number shown is enough.
        needed, allowed = -(-self.needed_bytes // 10**7) / 100, self.allowed_bytes / 1e9
        return (
            f"this needs about {needed:.2f} GB of memory, {allowed:.2f} GB are allowed. "
            f"{self.way_out}"
        )


class WorkersError(BurstlineError):
    """No workers are there, or not those that are needed."""

    exit_code = 5


class MissingExtraError(BurstlineError, ImportError):
    """An optional stack is not installed.

    Parameters
    ----------
    extra : str
        Name of the extra, as in ``pip install burstline[extra]``.
    purpose : str
        What it is needed for.
    way_out : str
        How to get it, where that is more than to install the extra.
    """

    exit_code = 6

    def __init__(self, extra: str, purpose: str, *, way_out: str = "") -> None:
        super().__init__(extra, purpose)
        self.extra, self.purpose, self.way_out = extra, purpose, way_out

    def __str__(self) -> str:
        how = self.way_out or f"pip install 'burstline[{self.extra}]'"
        return f"{self.purpose} needs an extra: {how}"


def require_extra(library: str, extra: str, purpose: str) -> None:
    """Make sure that a library is there, which an extra of the package installs."""
    try:
        import_module(library)
    except ImportError:
        raise MissingExtraError(extra, purpose) from None
