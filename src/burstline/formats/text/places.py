"""Places: what a text calls the location of its events."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from burstline.formats.text.statements import LARGEST_ID

if TYPE_CHECKING:
    from burstline.formats.text.statements import Statement

Row = dict[str, Any]
"""A row of a table, by column."""

Place = tuple[int, int, int]
"""Application, rank and thread."""

_PLACE = re.compile(r"(?:([0-9]{1,10})/)?([0-9]{1,10})(?:\.([0-9]{1,10}))?")


def place_of(word: str, statement: Statement) -> Place | None:
    """The place a word names: ``rank``, ``rank.thread``, ``application/rank.thread``."""
    match = _PLACE.fullmatch(word)
    if match is None:
        return None
    application, rank, thread = (
        statement.integer(part or "0", 0, LARGEST_ID) for part in match.groups()
    )
    return application, rank, thread


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
