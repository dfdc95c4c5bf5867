"""What people read, from the top to the bottom; renderers make its texts safe to print."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Facts(NamedTuple):
    """Names and their values, a pair a line; missing styles of values are plain."""

    pairs: Iterable[tuple[str, str]]
    styles: Sequence[str] = ()


class Table(NamedTuple):
    """Texts of cells under their columns, with a title above, and styles of rows, as of Rich.

    The first `left` columns are text, of which the last is wrapped where it is too narrow;
    the others are numbers.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    left: int = 1
    styles: Sequence[str] = ()


def table_of(
    items: Iterable[T],
    cells: Mapping[str, Callable[[T], str]],
    title: str = "",
    *,
    left: int = 1,
    styles: Sequence[str] = (),
) -> Table:
    """A table with a row for each item, its cells made by functions below their heads."""
    rows = [[cell(item) for cell in cells.values()] for item in items]
    return Table(list(cells), rows, title, left, styles)


class Heading(NamedTuple):
    """A heading."""

    text: str


class Lines(NamedTuple):
    """Lines as they are, whatever the width."""

    lines: Sequence[str]


Block = Facts | Table | Heading | Lines
