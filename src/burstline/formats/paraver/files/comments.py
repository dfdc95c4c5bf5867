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
    """The local time."""
    return datetime.now().astimezone()


def comment(action: str, trace: Trace, *fields: object) -> str:
    """The line that says how a trace was derived from `trace`: ``#YYYYMMDDhhmmss:ACTION:…``."""
    origin = trace.metadata.get("path", "?").replace('"', "'")
    stamp = now().strftime(_STAMP)
    return ":".join([f"#{stamp}", action, "burstline", f'"{origin}"', *map(str, fields)])


def compiler_in(comments: Sequence[str]) -> str | None:
    """The compiler of the code that counts its work, as comments say it."""
    lines = (line for line in comments if line.startswith(COMPILER))
    return next((line.removeprefix(COMPILER).strip() for line in lines), None)
