"""Places: what a text calls the location of its events."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from burstline.formats.text.statements import LARGEST_ID

if TYPE_CHECKING:
    from burstline.formats.text.statements import Statement

Place = tuple[int, int, int]
"""Application, rank and thread."""

MOST_LOCATIONS: Final = 1 << 16
"""So many are read, and applications have lower numbers or this one."""

_PLACE = re.compile(r"(?:([0-9]{1,10})/)?([0-9]{1,10})(?:\.([0-9]{1,10}))?")


def place_of(word: str, statement: Statement) -> Place | None:
    """The place a word names: ``rank``, ``rank.thread``, ``application/rank.thread``."""
    match = _PLACE.fullmatch(word)
    if match is None:
        return None
    application, *rest = (part or "0" for part in match.groups())
    rank, thread = (statement.integer(part, 0, LARGEST_ID) for part in rest)
    return statement.integer(application, 0, MOST_LOCATIONS), rank, thread


def place_word(place: Place) -> str:
    """The word that names a place, without what is zero.

    >>> place_word((0, 3, 0)), place_word((1, 3, 0)), place_word((0, 3, 2))
    ('3', '1/3', '3.2')
    """
    application, rank, thread = place
    return (f"{application}/" if application else "") + f"{rank}" + f".{thread}" * bool(thread)


def thread_name(place: Place) -> str:
    """The name of a location that was given none, as Extrae would.

    >>> thread_name((0, 3, 1))
    'THREAD 1.4.2'
    """
    application, rank, thread = place
    return f"THREAD {application + 1}.{rank + 1}.{thread + 1}"
