"""The comment lines of a ``.prv`` that say where a trace comes from."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstline.trace import Trace

COMPILER: Final = "# counted code is of "
_STAMP: Final = "%Y%m%d%H%M%S"


def now() -> datetime:
    """The time of day where we are."""
    return datetime.now().astimezone()


def comment(action: str, trace: Trace, *fields: object) -> str:
    """The line that says how a trace was derived: ``#YYYYMMDDhhmmss:ACTION:…``.

    `action` is in capitals; the fields after ``CUTTER`` are the offset of the times, begin and
    end of the cut. `trace` is the one that it was derived from.
    """
    origin = trace.metadata.get("path", "?").replace('"', "'")
    stamp = now().strftime(_STAMP)
    return ":".join([f"#{stamp}", action, "burstline", f'"{origin}"', *map(str, fields)])


def compiler_in(comments: Sequence[str]) -> str | None:
    """The compiler of the code that counts its work, as comments say it.

    >>> compiler_in(["# counted code is of clang version 16.0.6"])
    'clang version 16.0.6'
    """
    found = (line for line in comments if line.startswith(COMPILER))
    return next((line.removeprefix(COMPILER).strip() for line in found), None)
