"""Matrices of ranks by ranks: numbers in ink where there is room, ink alone where not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from burstline.show.page.charts import shade
from burstline.show.page.html import Html, number_text, scale, tag
from burstline.show.units import text_of
from burstline.values import Notation

Cells = Mapping[tuple[int, int], int]
_MOST_NUMBERS: Final = 16
_MOST_CELLS: Final = 128
_LABELS: Final = 16


def matrix(
    cells: Cells,
    size: int,
    notation: Notation,
    axes: tuple[str, str],
    sums: tuple[str, str],
    *,
    go: str = "",
) -> Html:
    """A matrix whose cells are by row and column; with sums of both, where numbers have room.

    Of more than 128 ranks, neighbours share a row and a column. `axes` name rows and columns.
    """
    by = max(-(-size // _MOST_CELLS), 1)
    if by > 1:
        cells, size = _together(cells, by), -(-size // by)
        go = ""
    if size > _MOST_NUMBERS:
        return _dense(cells, size, notation, axes, by=by, go=go)
    return _numbers(cells, size, notation, axes, sums=sums, go=go)


def _together(cells: Cells, by: int) -> dict[tuple[int, int], int]:
    """Cells of which neighbours are one."""
    sums: dict[tuple[int, int], int] = {}
    for (row, column), value in cells.items():
        place = row // by, column // by
        sums[place] = sums.get(place, 0) + value
    return sums


def _numbers(
    cells: Cells,
    size: int,
    notation: Notation,
    axes: tuple[str, str],
    *,
    sums: tuple[str, str],
    go: str,
) -> Html:
    unit, most = scale(notation, cells.values()), max(cells.values(), default=0)

    def told(value: int) -> str:
        return number_text(value, notation, unit) if value else ""

    corner = tag("th", axes[1], tag("br"), axes[0], class_="corner", scope="col")
    names = [tag("th", str(k), scope="col") for k in range(size)]
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
        body.append(tag("tr", tag("th", str(row), scope="row"), *shown, total))
    down = [sum(cells.get((row, column), 0) for row in range(size)) for column in range(size)]
    foot = [tag("td", told(value), class_="sum") for value in (*down, sum(down))]
    return _framed(
        tag("tr", corner, *names, tag("th", sums[0], class_="sum", scope="col")),
        body,
        tag("tr", tag("th", sums[1], scope="row"), *foot),
        "m",
        f"Values in {unit[1]}." if unit[1] else "",
    )


def _dense(
    cells: Cells, size: int, notation: Notation, axes: tuple[str, str], *, by: int, go: str
) -> Html:
    """A matrix of ink: what a cell holds is told where it is pointed at."""
    most, every = max(cells.values(), default=0), max(size // _LABELS, 1)
    names = [str(k * by) if k % every == 0 else "" for k in range(size)]
    body = []
    for row in range(size):
        shown = []
        for column in range(size):
            value = cells.get((row, column), 0)
            said = f"{row * by}, {column * by}: {text_of(value, notation)}" if value else None
            place = f"{go}:{row}:{column}" if go and value else None
            ink = _ink(row, column, value, most) if value else None
            shown.append(tag("td", class_=ink, title=said, data_go=place))
        body.append(tag("tr", tag("th", names[row], scope="row"), *shown))
    head = tag("tr", tag("th"), *(tag("th", name, scope="col") for name in names))
    grouped = f" Each row and column is {by} ranks." if by > 1 else ""
    largest = text_of(most, notation)
    note = f"{axes[0]} {axes[1]}; the darkest cell is {largest}.{grouped}"
    return _framed(head, body, None, "m dense", note)


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
    return tag("div", shown, said, class_="scroll")
