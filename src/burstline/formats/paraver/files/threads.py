"""Facts about threads as comments of a ``.prv``: where each ran, and what recording it took.

::

    # placements of 1.2.1: allowed 0-3 used 2 sockets 0 numa 0 bound_to numa

A row of a table, by the application, task and thread of its location; what is null is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from burstline.model import TABLES, Trace, row_table, schema

_FACTS: Final = ("placements", "recordings")
_LINE: Final = re.compile(
    r"# (placements|recordings) of (\d{1,9})\.(\d{1,9})\.(\d{1,9}):((?: [a-z_]+ [\w,-]+)*)\s*",
    re.ASCII,
)
_LIST: Final = re.compile(r"\d{1,9}(?:-\d{1,9})?(?:,\d{1,9}(?:-\d{1,9})?)*")
_NUMBER: Final = re.compile(r"\d{1,19}")

Place = tuple[int, ...]
"""Application, task and thread, from 1."""


def is_fact(comment: str) -> bool:
    """Whether a comment is a fact about a thread."""
    return comment.startswith(tuple(f"# {name} of " for name in _FACTS))


def written_facts(trace: Trace, places: Sequence[Place]) -> Iterator[str]:
    """The comments of a trace; `places`: the ids of its locations in the file, from 1."""
    for name in _FACTS:
        for row in trace.table(name).to_pylist():
            place = ".".join(map(str, places[row.pop("location")]))
            said = {key: str(value) for key, value in row.items() if value is not None}
            words = [
                f" {key} {text}" for key, text in said.items() if _is_sound(name, key, text)
            ]
            if words:
                yield f"# {name} of {place}:{''.join(words)}"


def fact_tables(comments: Sequence[str], places: Sequence[Place]) -> dict[str, pa.Table]:
    """The tables of comments; `places`: those of all locations. The first of a place counts."""
    location = {place: number for number, place in enumerate(places)}
    rows: dict[str, dict[int, tuple[Any, ...]]] = {name: {} for name in _FACTS}
    for match in filter(None, map(_LINE.fullmatch, comments)):
        name, *ids, said = match.groups()
        where = location.get(tuple(map(int, ids)))
        if where is None or where in rows[name]:
            continue
        words = said.split()
        values = dict(zip(words[::2], words[1::2], strict=True))
        rows[name][where] = (where, *_values(name, values))
    return {
        name: row_table(name, [each[k] for k in sorted(each)]) for name, each in rows.items()
    }


def _values(name: str, values: Mapping[str, str]) -> Iterator[str | int | None]:
    for column in TABLES[name].columns[1:]:
        text = values.get(column.name)
        if text is None or not _is_sound(name, column.name, text):
            yield None
        else:
            yield text if column.type in {"string", "enum"} else int(text)


def _is_sound(name: str, key: str, text: str) -> bool:
    """Whether a text is a value of a column."""
    column = TABLES[name].column(key)
    if column.type == "enum":
        return text in column.values
    if column.type == "string":
        return _LIST.fullmatch(text) is not None
    least, most = column.bounds or (0, schema.LARGEST_ID)
    return _NUMBER.fullmatch(text) is not None and least <= int(text) <= most
