"""Matrices of ranks by ranks: numbers in ink where there is room, ink alone where not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from burstline.columns import Integers
from burstline.show.page.charts import shade
from burstline.show.page.html import Html, join, number_text, scale, tag
from burstline.show.units import text_of
from burstline.values import Notation

Cells = Mapping[tuple[int, int], int]
_MOST_NUMBERS: Final = 16
_MOST_CELLS: Final = 128
_MOST_FULL: Final = 5_000
"""Cells that hold anything: each has its words on the page."""
_MOST_HEAT: Final = 64
_LABELS: Final = 16
_SIZES: Final = ((32, "large"), (64, "middle"))
"""Ranks up to which cells of ink are that large."""


def matrix(
    cells: Cells,
    size: int,
    notation: Notation,
    axes: tuple[str, str],
    sums: tuple[str, str],
    *,
    go: str = "",
    names: Sequence[str] | None = None,
) -> Html:
    """A matrix whose cells are by row and column; with sums of both, where numbers have room.

    Of more than 128 ranks, or 5000 cells, neighbours share a row and a column. `axes` name
    rows and columns, `names` the ranks, or classes of them, where they do not count from 0.
    """
    by = max(-(-size // _MOST_CELLS), 1)
    names = [str(k) for k in range(size)] if names is None else names
    while by < size and len(_together(cells, by)) > _MOST_FULL:
        by += 1
    if by > 1:
        cells, go = _together(cells, by), ""
        names = [_ends(names[k : k + by]) for k in range(0, size, by)]
    if len(names) > _MOST_NUMBERS:
        return _dense(cells, names, notation, axes, by=by, go=go)
    return _numbers(cells, names, notation, axes, sums=sums, go=go)


def _ends(names: Sequence[str]) -> str:
    """Neighbours by the first and the last of them.

    >>> _ends(["0-2", "3-5"]), _ends(["7"])
    ('0-5', '7')
    """
    first, last = names[0].partition("-")[0], names[-1].rpartition("-")[2]
    return first if first == last else f"{first}-{last}"


def _together(cells: Cells, by: int) -> dict[tuple[int, int], int]:
    sums: dict[tuple[int, int], int] = {}
    for (row, column), value in cells.items():
        place = row // by, column // by
        sums[place] = sums.get(place, 0) + value
    return sums


def _numbers(
    cells: Cells,
    names: Sequence[str],
    notation: Notation,
    axes: tuple[str, str],
    *,
    sums: tuple[str, str],
    go: str,
) -> Html:
    unit, most = scale(notation, cells.values()), max(cells.values(), default=0)
    size = len(names)

    def told(value: int) -> str:
        return number_text(value, notation, unit) if value else ""

    corner = tag("th", axes[1], tag("br"), axes[0], class_="corner", scope="col")
    heads = [tag("th", name, scope="col") for name in names]
    body = []
    for row in range(size):
        line = [cells.get((row, column), 0) for column in range(size)]
        shown = [
            tag(
                "td",
                told(value),
                class_=_ink(row, column, value, most),
                data_go=f"{go}:{row}:{column}" if go and value else None,
            )
            for column, value in enumerate(line)
        ]
        total = tag("td", told(sum(line)), class_="sum")
        body.append(tag("tr", tag("th", names[row], scope="row"), *shown, total))
    down = [sum(cells.get((row, column), 0) for row in range(size)) for column in range(size)]
    foot = [tag("td", told(value), class_="sum") for value in (*down, sum(down))]
    return _framed(
        tag("tr", corner, *heads, tag("th", sums[0], class_="sum", scope="col")),
        body,
        tag("tr", tag("th", sums[1], scope="row"), *foot),
        "m",
        f"Values in {unit[1]}." if unit[1] else "",
    )


def _dense(
    cells: Cells,
    names: Sequence[str],
    notation: Notation,
    axes: tuple[str, str],
    *,
    by: int,
    go: str,
) -> Html:
    """A matrix of ink: what a cell holds is told where it is pointed at."""
    size = len(names)
    most, every = max(cells.values(), default=0), max(size // _LABELS, 1)
    heads = [name.partition("-")[0] if k % every == 0 else "" for k, name in enumerate(names)]
    body = []
    for row in range(size):
        shown = []
        for column in range(size):
            value = cells.get((row, column), 0)
            said = f"{names[row]} → {names[column]}: {text_of(value, notation)}"
            place = f"{go}:{row}:{column}" if go and value else None
            ink = _ink(row, column, value, most) if value else None
            shown.append(tag("td", class_=ink, title=said if value else None, data_go=place))
        body.append(tag("tr", tag("th", heads[row], scope="row"), *shown))
    head = tag("tr", tag("th"), *(tag("th", name, scope="col") for name in heads))
    width = max(by, *(_width(name) for name in names))
    grouped = f" Each row and column is {width} ranks." if width > 1 else ""
    largest = text_of(most, notation)
    note = f"{axes[0]} {axes[1]}; the darkest cell is {largest}.{grouped}"
    large = next((name for most, name in _SIZES if size <= most), "")
    return _framed(head, body, None, f"m dense {large}".rstrip(), note)


def heat(
    values: Integers, rows: Sequence[str], columns: Sequence[str], notation: Notation
) -> Html:
    """A table of ink, ranks by columns: what a cell holds is told where it is pointed at."""
    by = max(-(-len(rows) // _MOST_HEAT), 1)
    names = [_ends(rows[k : k + by]) for k in range(0, len(rows), by)]
    sums = [values[k : k + by].sum(axis=0).tolist() for k in range(0, len(rows), by)]
    most, body = max((value for row in sums for value in row), default=0), []
    every = max(len(names) // _LABELS, 1)
    for k, (name, row) in enumerate(zip(names, sums, strict=True)):
        shown = []
        for value, head in zip(row, columns, strict=True):
            said = f"rank {name}, from {head}: {text_of(value, notation)}"
            look = {"class_": shade(value, most), "title": said} if value else {}
            shown.append(tag("td", **look))
        begin = name.partition("-")[0] if k % every == 0 else ""
        body.append(tag("tr", tag("th", begin, scope="row"), *shown))
    line = tag("tr", tag("th", "rank"), *(tag("th", name, scope="col") for name in columns))
    note = f"The darkest cell is {text_of(most, notation)}."
    large = " large" * (len(names) <= _SIZES[0][0])
    return _framed(line, body, None, f"m dense wide{large}", note)


def _width(name: str) -> int:
    first, _, last = name.partition("-")
    is_class = first.isdigit() and last.isdigit()
    return int(last) - int(first) + 1 if is_class else 1


def _ink(row: int, column: int, value: int, most: int) -> str:
    if row == column and not value:
        return "self"
    return shade(value, most) + " max" * (0 < value == most)


def _framed(head: Html, body: list[Html], foot: Html | None, kind: str, note: str) -> Html:
    shown = tag(
        "table",
        tag("thead", head),
        tag("tbody", *body),
        None if foot is None else tag("tfoot", foot),
        class_=kind,
    )
    said = tag("p", note, class_="sub") if note else None
    return join(tag("div", shown, class_="scroll"), said)
