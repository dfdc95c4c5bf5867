"""The clustering plot in plain characters, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from rich.text import Text

from burstline.errors import plural
from burstline.show.pictures.cluster_layout import Layout, layout
from burstline.structure import IN_NO_LOOP, LEFT_OUT, Points, Structure

_SYMBOLS: Final = "123456789abcdefghijklmnopqrstuvwxyz"
_MORE, _SEVERAL, _NO_LOOP, _LEFT_OUT, _CURVE = "+", "*", "o", ".", "·"
_COLOURS: Final = ("bold cyan", "bold yellow", "bold green", "bold magenta", "bold blue")
_PALE: Final = "dim"
_LEFT, _RIGHT = 8, 7  # characters for the numbers beside the plane
_AROUND: Final = 5  # lines that are not its own
_LEAST: Final = (12, 6)
_GAP: Final = 3


def character_plot(
    points: Points, structure: Structure, *, width: int, height: int
) -> list[Text]:
    """Draw unique calls by repetitions and time between them in characters."""
    plane = layout(points, structure, most=len(_SYMBOLS))
    legend = list(_legend(plane, width))
    rows = max(_LEAST[1], height - _AROUND - min(len(legend), max(height // 3, 1)))
    columns = max(_LEAST[0], width - _LEFT - _RIGHT - 2)
    lines = [
        Text(plane.heading[:width], style="bold"),
        Text("mean time between two executions", style=_PALE),
        *_plane(points, plane, (columns, rows)),
        *_below(plane, columns),
        *legend,
    ]
    return lines[: max(height, rows + _AROUND)]


def symbol(loop: int) -> str:
    """The character that stands for a loop.

    >>> [symbol(loop) for loop in (1, 10, 99, 0, -1)]
    ['1', 'a', '+', 'o', '.']
    """
    if loop == IN_NO_LOOP:
        return _NO_LOOP
    if loop == LEFT_OUT:
        return _LEFT_OUT
    return _SYMBOLS[loop - 1] if loop <= len(_SYMBOLS) else _MORE


def _style(loop: int) -> str:
    return _COLOURS[(loop - 1) % len(_COLOURS)] if loop > IN_NO_LOOP else _PALE


def _plane(points: Points, plane: Layout, size: tuple[int, int]) -> Iterator[Text]:
    columns, rows = size
    cells: dict[tuple[int, int], tuple[str, str]] = {}
    x = np.geomspace(*plane.x, columns)
    for share, _ in plane.curves:
        row = _cells(plane.fractions(x, plane.height(share, x))[1], rows)
        cells |= {(at, k): (_CURVE, _PALE) for k, at in enumerate(row) if 0 <= at < rows}
    across, up = plane.fractions(points.repetitions, points.interval_ns)
    where = zip(_cells(up, rows), _cells(across, columns), points.loop.tolist(), strict=True)
    loops: dict[tuple[int, int], set[int]] = {}
    for row_at, column, loop in where:
        loops.setdefault((row_at, column), set()).add(loop)
    for cell, inside in loops.items():
        real = {loop for loop in inside if loop > IN_NO_LOOP}
        loop = max(inside)
        cells[cell] = (_SEVERAL, "bold") if len(real) > 1 else (symbol(loop), _style(loop))
    ticks = _at_rows(plane.y_ticks, plane, rows)
    ends = [(plane.height(share, plane.x[1]), text) for share, text in plane.curves]
    right = _at_rows(ends, plane, rows)
    for at in reversed(range(rows)):
        line = Text(f"{ticks.get(at, ''):>{_LEFT}}", style="")
        line.append("┤" if at in ticks else "│", style=_PALE)
        for column in range(columns):
            line.append(*cells.get((at, column), (" ", "")))
        line.append(f" {right.get(at, '')}", style=_PALE)
        yield line


def _cells(fractions: np.ndarray[tuple[int], np.dtype[np.float64]], count: int) -> list[int]:
    return np.floor(fractions * count).astype(int).tolist()


def _at_rows(values: Sequence[tuple[float, str]], plane: Layout, rows: int) -> dict[int, str]:
    """The row of each value, the first where several share one."""
    found: dict[int, str] = {}
    height = np.array([value for value, _ in values])
    for at, (_, text) in zip(
        _cells(plane.fractions(height, height)[1], rows), values, strict=True
    ):
        found.setdefault(at, text)
    return found


def _below(plane: Layout, columns: int) -> Iterator[Text]:
    """The axis of repetitions: its line, its numbers, its name."""
    values = np.array([value for value, _ in plane.x_ticks])
    places = _cells(plane.fractions(values, values)[0], columns) if len(values) else []
    line, numbers = ["─"] * columns, [" "] * (columns + _RIGHT)
    free = 0
    for place, (_, text) in zip(places, plane.x_ticks, strict=True):
        begin = max(place - len(text) // 2, 0)
        if begin < free:
            continue
        line[place] = "┴"
        numbers[begin : begin + len(text)] = text
        free = begin + len(text) + 1
    yield Text(" " * _LEFT + "└" + "".join(line), style=_PALE)
    yield Text(" " * (_LEFT + 1) + "".join(numbers).rstrip())
    name = "repetitions of a call on its rank; right: share of the run"
    yield Text(" " * (_LEFT + 1) + name, style=_PALE)


def _legend(plane: Layout, width: int) -> Iterator[Text]:
    """Name the loops, in as many columns as there is space for."""
    entries = [(symbol(each.loop), _style(each.loop), each.name) for each in plane.legend]
    if len([each for each in plane.legend if each.loop > IN_NO_LOOP]) > 1:
        entries.append((_SEVERAL, "bold", "several loops"))
    if plane.unnamed:
        entries.append((_MORE, "", plural(plane.unnamed, "shorter loop")))
    widest = max(len(name) for _, _, name in entries) + 2 + _GAP
    across = max(1, (width - _LEFT) // widest)
    for first in range(0, len(entries), across):
        line = Text(" " * (_LEFT + 1))
        for character, style, name in entries[first : first + across]:
            line.append(character, style=style)
            line.append(f" {name}".ljust(widest - 1))
        line.rstrip()
        yield line
