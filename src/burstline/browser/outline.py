"""Outline: the lines of pseudo-code as a tree that can be folded, filtered and searched.

::

    Structure, View  --outline-->  Outline: rows with their node, parent and key
    Outline, folded, threshold  --shown-->  the rows that are left
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from burstline.show import pseudocode
from burstline.structure import Loop, walk

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterator

    from burstline.show import Line
    from burstline.structure import Item, Structure

    Key = Hashable


@dataclass(frozen=True, slots=True)
class View:
    """What of a structure is to be seen."""

    counter: str | None = None  # the counter to show
    ranks: tuple[int, ...] | None = None  # only what these execute
    # computation before a call from this mean on; none at all by default
    bursts_ns: int | None = None
    least_ns: int = 0  # only what takes this long, and what is around it


@dataclass(frozen=True, slots=True)
class Row:
    """A line of pseudo-code in the tree."""

    line: Line  # what it says
    # what it stands for; None for a frame, a block of ranks and for computation
    node: Item | None
    parent: int  # the row around it; -1 for none
    key: Key  # what stays the same when the view changes
    loop: Loop | None  # the innermost loop around it, or itself if it is one
    nesting: int  # loops around it


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """The rows of a view, in the order of the program."""

    rows: tuple[Row, ...]  # all of them, whatever is folded
    foldable: frozenset[Key]  # keys of the rows that have others in them

    def shown(self, folded: Collection[Key], least_ns: int = 0) -> list[int]:
        """The rows that are neither folded away nor below a threshold."""
        long_enough = [least_ns <= 0 or (r.line.time_ns or 0) >= least_ns for r in self.rows]
        for at in range(len(self.rows) - 1, -1, -1):
            parent = self.rows[at].parent
            if parent >= 0 and long_enough[at]:
                long_enough[parent] = True
        found: list[int] = []
        is_open: list[bool] = []
        for at, row in enumerate(self.rows):
            visible = row.parent < 0 or is_open[row.parent]
            is_open.append(visible and row.key not in folded)
            if visible and long_enough[at]:
                found.append(at)
        return found

    def around(self, at: int) -> Iterator[int]:
        """Go through the rows around a row, from the inside out."""
        while (at := self.rows[at].parent) >= 0:
            yield at

    def deeper_than(self, loops: int) -> frozenset[Key]:
        """The keys of the loops that are nested deeper than so many."""
        return frozenset(
            row.key
            for row in self.rows
            if isinstance(row.node, Loop) and row.nesting >= loops and row.key in self.foldable
        )

    def find(self, text: str, start: int, *, step: int = 1) -> int | None:
        """Search for a text from a row on, around the end."""
        wanted = text.casefold()
        count = len(self.rows)
        for distance in range(1, count + 1):
            at = (start + step * distance) % count
            line = self.rows[at].line
            if wanted in f"{line.file}:{line.line} {line.text}".casefold():
                return at
        return None


def outline(structure: Structure, view: View) -> Outline:
    """Lay a structure out as a tree."""
    ranks = view.ranks
    lines = pseudocode(structure, counter=view.counter, ranks=ranks, bursts_ns=view.bursts_ns)
    numbers = {id(item): number for number, (item, _) in enumerate(walk(structure.items))}
    rows: list[Row] = []
    around: list[int] = []
    siblings: dict[Key, int] = {}
    for line in lines:
        node = line.item
        del around[line.depth :]
        parent = around[-1] if around else -1
        above = rows[parent] if around else None
        key: Key = None if node is None else numbers[id(node)]
        if key is None:
            like = (above and above.key, line.kind, line.text, line.file, line.line)
            siblings[like] = siblings.get(like, 0) + 1
            key = (like, siblings[like])
        outer = None if above is None else above.loop
        loop = node if isinstance(node, Loop) else outer
        nesting = 0 if above is None else above.nesting + isinstance(above.node, Loop)
        around.append(len(rows))
        rows.append(Row(line, node, parent, key, loop, nesting))
    inside = {row.parent for row in rows} - {-1}
    return Outline(tuple(rows), frozenset(rows[at].key for at in inside))
