"""Results for people: tables on standard output.

Nothing here interprets markup, and every text that came from a trace is made printable:
a function called ``[red]`` or an escape sequence in a label is shown, not obeyed.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from burstline.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_PIPED_COLUMNS: Final = 200
"""Width where nobody's terminal sets it: wide enough to cut nothing short."""


def console() -> Console:
    """A console on standard output, as wide as its reader.

    Colours are used on a terminal only, and not where ``NO_COLOR`` is set.
    """
    wide = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else _PIPED_COLUMNS
    return Console(highlight=False, markup=False, emoji=False, width=wide)


def print_heading(text: str) -> None:
    """Print a heading, after an empty line."""
    console().print("\n" + _safe(text), style="bold", soft_wrap=True)


def print_facts(facts: Iterable[tuple[str, str]], *, styles: Sequence[str] = ()) -> None:
    """Print names and their values, one pair a line."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for number, (name, value) in enumerate(facts):
        style = styles[number] if number < len(styles) else ""
        grid.add_row(Text("  " + _safe(name)), Text(_safe(value), style=style))
    _show(grid)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str = "",
    left: int = 1,
    styles: Sequence[str] = (),
) -> None:
    """Print a table."""
    if title:
        print_heading(title)
    head, *body = ([_safe(f"  {row[0]}"), *map(_safe, row[1:])] for row in (columns, *rows))
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")
    for number, name in enumerate(head):
        wraps = number + 1 == left > 1
        table.add_column(
            Text(name),
            justify="left" if number < left else "right",
            no_wrap=not wraps,
            overflow="fold",
            min_width=20 if wraps else max(cell_len(row[number]) for row in (head, *body)),
        )
    for number, row in enumerate(body):
        style = styles[number] if number < len(styles) else ""
        table.add_row(*map(Text, row), style=style)
    _show(table)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines as they are, whatever the width."""
    screen = console()
    for line in lines:
        screen.print(Text(printable(line, limit=10_000)), soft_wrap=True)


def _show(grid: Table) -> None:
    """Print a table: no cell cut short, and no blanks at the ends of lines."""
    screen = console()
    unbounded = screen.options.update(width=_PIPED_COLUMNS)
    screen.width = max(screen.width, screen.measure(grid, options=unbounded).minimum)
    with screen.capture() as captured:
        screen.print(grid)
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def _safe(text: str) -> str:
    return printable(text, limit=400)
