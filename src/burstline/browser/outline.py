"""Pseudo-code as a tree that is folded, filtered and searched, and questions on its view."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from burstline.errors import ParameterError, printable
from burstline.model import IPC
from burstline.quantities import format_ns
from burstline.selection import parse_ranks, parse_time
from burstline.show import Line, chosen_counter, pseudocode
from burstline.structure import Loop, Structure, compact, walk

Key = Hashable

QUESTIONS: Final = {
    "least": "Only what takes this long: 1ms. Empty: everything",
    "bursts": "Computation before calls, from this mean on: 1ms. Empty: none",
    "ranks": "What these ranks execute: 0-7,12. Empty: all",
    "search": "Part of a line or of a file's name",
}


@dataclass(frozen=True, slots=True)
class OutlineView:
    """What of a structure is to be seen."""

    counter: str | None = None  # the counter to show
    ranks: tuple[int, ...] | None = None  # only what these execute
    bursts_ns: int | None = None  # computation before a call from this mean on, else none
    least_ns: int = 0  # only what takes this long, and what is around it


@dataclass(frozen=True, slots=True)
class Row:
    """A line of pseudo-code in the tree."""

    line: Line  # what it says
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
        visible: list[bool] = []
        for row in self.rows:
            above = row.parent
            is_open = above < 0 or (visible[above] and self.rows[above].key not in folded)
            visible.append(is_open)
        return [at for at in range(len(self.rows)) if visible[at] and long_enough[at]]

    def around(self, at: int) -> Iterator[int]:
        """Go through the rows around a row, from the inside out."""
        while (at := self.rows[at].parent) >= 0:
            yield at

    def deeper_than(self, loops: int) -> frozenset[Key]:
        """The keys of the loops that are nested deeper than so many."""
        return frozenset(
            row.key
            for row in self.rows
            if isinstance(row.line.item, Loop)
            and row.nesting >= loops
            and row.key in self.foldable
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


def outline(structure: Structure, view: OutlineView) -> Outline:
    """Lay a structure out as a tree."""
    ranks = view.ranks
    lines = pseudocode(structure, counter=view.counter, ranks=ranks, bursts_ns=view.bursts_ns)
    numbers = {id(item): number for number, (item, _) in enumerate(walk(structure.items))}
    rows: list[Row] = []
    around: list[int] = []
    siblings: dict[Key, int] = {}
    for line in lines:
        del around[line.depth :]
        parent = around[-1] if around else -1
        above = rows[parent] if around else None
        key: Key = None if line.item is None else numbers[id(line.item)]
        if key is None:
            like = (above and above.key, line.kind, line.text, line.file, line.line)
            siblings[like] = siblings.get(like, 0) + 1
            key = (like, siblings[like])
        outer = None if above is None else above.loop
        loop = line.item if isinstance(line.item, Loop) else outer
        nesting = 0 if above is None else above.nesting + isinstance(above.line.item, Loop)
        around.append(len(rows))
        rows.append(Row(line, parent, key, loop, nesting))
    inside = {row.parent for row in rows} - {-1}
    return Outline(tuple(rows), frozenset(rows[at].key for at in inside))


def answered(about: str, text: str, view: OutlineView, structure: Structure) -> OutlineView:
    """The view that an answer asks for.

    >>> answered("least", "1.5ms", OutlineView(), None).least_ns
    1500000
    """
    wanted = text.strip()
    if about == "least":
        return replace(view, least_ns=parse_time(wanted) if wanted else 0)
    if about == "bursts":
        return replace(view, bursts_ns=parse_time(wanted) if wanted else None)
    return replace(view, ranks=chosen_ranks(wanted, structure) if wanted else None)


def chosen_ranks(text: str, structure: Structure) -> tuple[int, ...]:
    """The ranks of a structure that a list of numbers and ranges names."""
    named = parse_ranks(text)
    everybody = sorted(set(structure.ranks))
    ranks = tuple(rank for rank in everybody if any(rank in some for some in named))
    if not ranks:
        raise ParameterError(
            f"none of the ranks {printable(text)} calls MPI; there are {compact(everybody)}"
        )
    return ranks


def current(about: str, view: OutlineView) -> str:
    """The answer that would lead to the present view."""
    if about == "ranks":
        # a list of numbers can be read again; ranges with strides cannot
        return "" if view.ranks is None else ",".join(map(str, view.ranks))
    value_ns = view.least_ns if about == "least" else view.bursts_ns
    return f"{value_ns}ns" if value_ns else ""


def restrictions(view: OutlineView) -> list[str]:
    """What of a structure a view shows."""
    said = ["all ranks" if view.ranks is None else f"ranks {compact(view.ranks)}"]
    if view.least_ns:
        said.append(f"time ≥ {format_ns(view.least_ns)}")
    if view.bursts_ns is not None:
        said.append(f"computation ≥ {format_ns(view.bursts_ns)}")
    return said


def counters(structure: Structure) -> list[str]:
    """The counters that can be shown, instructions per cycle included."""
    names = list(structure.counters)
    try:
        chosen_counter(structure, IPC)
    except ParameterError:
        return names
    return [IPC, *(name for name in names if name != IPC)]
