"""Blocks on a terminal, or wherever standard output goes, and as HTML in a notebook.

Every text is made printable: ``[red]`` or an escape sequence in a name is shown, not obeyed.
"""

from __future__ import annotations

import os
import sys
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import chain, repeat
from typing import Any, Final

from rich import box, table
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from burstline.errors import printable
from burstline.show.blocks import Block, Facts, Heading, Picture
from burstline.show.options import in_options
from burstline.show.units import text_of
from burstline.values import Column, Table, Value

_LONGEST: Final = 10_000
_GAP: Final = 3  # between columns, and about at the ends
_LONGEST_FACT: Final = 1_000  # room for sentences with places in the program
_PIPED_COLUMNS: Final = 200  # where no terminal sets them: wide enough to cut nothing short
_INDENT: Final = "  "
_PLAIN: Final = str.maketrans("▁▂▃▄▅▆▇█░", "_.-~=+*#.")  # where there is only ASCII


class _Console(Console):
    """A console that leaves it to the command line how to end where its reader has left."""

    def on_broken_pipe(self) -> None:
        """Refuse as any stream does; rich would end the process with 1."""
        raise BrokenPipeError


def console() -> Console:
    """A console on standard output, as wide as its reader; coloured on a terminal only."""
    wide = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else _PIPED_COLUMNS
    return _Console(highlight=False, markup=False, emoji=False, width=wide)


def print_blocks(blocks: Iterable[Block]) -> None:
    """Print blocks one below the other."""
    for block in blocks:
        if isinstance(block, Facts):
            _print_facts(block)
        elif isinstance(block, Table):
            _print_table(block)
        elif isinstance(block, Heading):
            _print_heading(block.text)
        elif isinstance(block, Picture):
            _print_heading(block.title)
        else:
            for line in block.lines:
                text = printable(in_options(line), limit=_LONGEST)
                console().print(Text(text), soft_wrap=True)


def _print_heading(text: str) -> None:
    """Print a heading, after an empty line."""
    console().print("\n" + _safe(text), style="bold", soft_wrap=True)


def _print_facts(facts: Facts) -> None:
    grid = table.Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for number, (name, value) in enumerate(facts.pairs):
        style = facts.styles[number] if number < len(facts.styles) else ""
        text = printable(in_options(value), limit=_LONGEST_FACT)
        grid.add_row(Text("  " + _safe(name)), Text(text, style=style))
    _show(grid)


def _print_table(block: Table) -> None:
    if block.title:
        _print_heading(block.title)
    block, texts = _that_fits(block)
    head, *body = ([_safe(f"  {row[0]}"), *map(_safe, row[1:])] for row in texts)
    grid = table.Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")
    for number, name in enumerate(head):
        wraps = number + 1 == block.left > 1
        grid.add_column(
            Text(name),
            justify="left" if number < block.left else "right",
            no_wrap=not wraps,
            overflow="fold",
            min_width=20 if wraps else max(cell_len(row[number]) for row in (head, *body)),
        )
    for number, row in enumerate(body):
        style = block.styles[number] if number < len(block.styles) else ""
        grid.add_row(*map(Text, row), style=style)
    _show(grid)


def _that_fits(block: Table) -> tuple[Table, list[list[str]]]:
    """A table and its texts, without spare columns where the screen is too narrow for them."""
    texts = [[column.name for column in block.columns], *_cells(block)]
    for spare in block.spare:
        widths = (
            max(cell_len(_safe(text)) for text in column) for column in zip(*texts, strict=True)
        )
        if sum(widths) + _GAP * len(texts[0]) <= console().width:
            break
        at = texts[0].index(spare)
        texts = [row[:at] + row[at + 1 :] for row in texts]
        columns = [*block.columns[:at], *block.columns[at + 1 :]]
        block = block._replace(columns=columns, left=block.left - (at < block.left))
    return block, texts


def _cells(block: Table) -> Iterator[list[str]]:
    """The texts of each row; those of a tree are indented."""
    for row, depth in zip(block.rows, chain(block.depths, repeat(0)), strict=False):
        texts = [
            _cell(value, column) for value, column in zip(row, block.columns, strict=False)
        ]
        yield [_INDENT * depth + texts[0], *texts[1:]]


def _cell(value: Any, column: Column) -> str:  # noqa: ANN401 -- any value
    if isinstance(value, Value):
        return text_of(*value).rjust(column.width)
    return text_of(value, column.notation).rjust(column.width)


def _show(grid: table.Table) -> None:
    """Print a table: no cell cut short, and no blanks at the ends of lines."""
    screen = console()
    unbounded = screen.options.update(width=_PIPED_COLUMNS)
    screen.width = max(screen.width, screen.measure(grid, options=unbounded).minimum)
    with screen.capture() as captured:
        screen.print(grid)
    shown = captured.get().translate(_PLAIN if screen.options.ascii_only else {})
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in shown.splitlines())


def _safe(text: str) -> str:
    return printable(text, limit=400)


def notebook_html(blocks: Iterable[Block]) -> str:
    """Blocks one below the other, without script or links; what is drawn is an image."""
    return "<div>" + "".join(part for block in blocks for part in _parts(block)) + "</div>"


def _parts(block: Block) -> Iterator[str]:
    if isinstance(block, Facts):
        yield _table(block.pairs, left=2)
    elif isinstance(block, Table):
        yield f"<h4>{_escaped(block.title)}</h4>" * bool(block.title)
        head = [column.name for column in block.columns]
        yield _table(_cells(block), left=block.left, head=head)
    elif isinstance(block, Heading):
        yield f"<h4>{_escaped(block.text)}</h4>"
    elif isinstance(block, Picture):
        drawing = b64encode(block.svg).decode()
        title = _escaped(block.title)
        yield f'<h4>{title}</h4><img alt="" src="data:image/svg+xml;base64,{drawing}">'
    else:
        yield "<pre>" + "\n".join(map(_escaped, block.lines)) + "</pre>"


def _table(rows: Iterable[Sequence[str]], *, left: int, head: Sequence[str] = ()) -> str:
    lines = [_row(head, "th", left)] if head else []
    return f"<table>{''.join([*lines, *(_row(row, 'td', left) for row in rows)])}</table>"


def _row(cells: Sequence[str], tag: str, left: int) -> str:
    sides = ["left"] * left + ["right"] * (len(cells) - left)
    row = "".join(
        f'<{tag} style="text-align: {side}; white-space: pre">{_escaped(cell)}</{tag}>'
        for side, cell in zip(sides, cells, strict=False)
    )
    return f"<tr>{row}</tr>"


def _escaped(text: str) -> str:
    return escape(printable(text, limit=_LONGEST))
