"""Blocks as HTML, for notebooks: every text of a trace is shown, and none is obeyed."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from burstline.errors import printable
from burstline.show.blocks import Facts, Heading, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from burstline.show.blocks import Block

_LONGEST: Final = 10_000


def html(blocks: Iterable[Block]) -> str:
    """Blocks one below the other: tables without script, links or images."""
    return "<div>" + "".join(part for block in blocks for part in _parts(block)) + "</div>"


def _parts(block: Block) -> Iterator[str]:
    if isinstance(block, Facts):
        yield _table(block.pairs, left=2)
    elif isinstance(block, Table):
        yield f"<h4>{_safe(block.title)}</h4>" * bool(block.title)
        yield _table(block.rows, left=block.left, head=block.columns)
    elif isinstance(block, Heading):
        yield f"<h4>{_safe(block.text)}</h4>"
    else:
        yield "<pre>" + "\n".join(map(_safe, block.lines)) + "</pre>"


def _table(rows: Iterable[Sequence[str]], *, left: int, head: Sequence[str] = ()) -> str:
    lines = [_row(head, "th", left)] if head else []
    return f"<table>{''.join([*lines, *(_row(row, 'td', left) for row in rows)])}</table>"


def _row(cells: Sequence[str], tag: str, left: int) -> str:
    sides = ["left"] * left + ["right"] * (len(cells) - left)
    return (
        "<tr>"
        + "".join(
            f'<{tag} style="text-align: {side}; white-space: pre">{_safe(cell)}</{tag}>'
            for side, cell in zip(sides, cells, strict=False)
        )
        + "</tr>"
    )


def _safe(text: str) -> str:
    return escape(printable(text, limit=_LONGEST))
