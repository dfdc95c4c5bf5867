"""What is shown of a result: blocks that people read, a document, rows and figures.

A view knows a result and no renderer; a renderer knows blocks and no result. So an analysis
is shown everywhere by one class, and a new way to show is one function for all of them.
"""

from __future__ import annotations

import csv
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from typing import Any

from burstline.cells import cell
from burstline.errors import ParameterError, printable, readable
from burstline.show.blocks import Block
from burstline.show.options import in_options
from burstline.show.pictures.canvas import Form
from burstline.values import Kind, Table, document

_UNITS = {Kind.TIME: "_ns", Kind.BYTES: "_bytes"}
"""What follows the names of columns where a value has no unit of its own."""
Figure = Callable[[Form], bytes]  # a picture, drawn when its form is said
Rows = tuple[Sequence[str], Iterable[Sequence[object]]]  # columns; None where nothing is known


class View(ABC):
    """A result with what of it is to be shown, for every way to show it.

    A notebook shows it as tables.

    Examples
    --------
    >>> from burstline import Trace, show, summarise
    >>> view = show.view(summarise(Trace({})), top=3)
    >>> view.document()["duration_ns"]
    0
    """

    __slots__ = ()
    result: Any
    notes: Sequence[str] = ()
    """What people are told on standard error, behind all else."""

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """What people read, from the top to the bottom.

        Yields
        ------
        Facts, Table, Heading or Lines
            Texts that are not yet safe to print: the renderer makes them so.
        """

    def document(self) -> dict[str, Any]:
        """All of it for programs.

        Returns
        -------
        dict
            Of strings, finite numbers, lists and dictionaries only.
        """
        made: dict[str, Any] = document(self.result)
        return made

    @abstractmethod
    def rows(self) -> Rows:
        """Its main table for programs.

        Returns
        -------
        tuple of (sequence of str, iterable of sequences)
            Names of the columns, and the rows; None where nothing is known.
        """

    def figures(self) -> Mapping[str, Figure]:
        """Its pictures by name, each drawn when it is called with ``svg`` or ``png``.

        Returns
        -------
        mapping of str to callable
            Empty where there is nothing to draw.
        """
        return {}

    def _repr_html_(self) -> str:
        from burstline.show import terminal  # noqa: PLC0415 -- loads Rich

        return terminal.notebook_html(self.blocks())


@dataclass(frozen=True, slots=True, eq=False)
class Outcome(View):
    """What a command did, for programs, and in blocks and notes for people."""

    result: dict[str, Any]
    columns: Sequence[str] = ()
    cells: Iterable[Sequence[object]] = ()
    shown: Sequence[Block] = ()
    notes: Sequence[str] = ()

    def document(self) -> dict[str, Any]:
        """What was done, as it is: a number that is none is refused."""
        return self.result

    def rows(self) -> Rows:
        """What was done, by name or number."""
        return self.columns, self.cells

    def blocks(self) -> Iterator[Block]:
        """What people read of it, if there is anything."""
        yield from self.shown


@dataclass(frozen=True, slots=True, eq=False)
class TablesView(View):
    """A result that is tables of values: the first is its main one."""

    result: Any

    def rows(self) -> Rows:
        """Its main table."""
        main: Table = self.result.tables()[0]
        names = [each.name + _UNITS.get(each.notation.kind, "") for each in main.columns]
        return names, main.rows

    def blocks(self) -> Iterator[Block]:
        """All of its tables."""
        yield from self.result.tables()


def view(result: object, **options: Any) -> View:  # noqa: ANN401 -- each view has its own
    """A view of a result, which a notebook shows as tables.

    Parameters
    ----------
    result : Summary, Scalability, Structure, LoopTable, Check, Comparison, Learned or Profile
        What an analysis returned.
    **options
        What of it is shown: `top` operations of a summary; `counter`, `ranks`, `bursts_ns`,
        `depth` of a structure; `counter` and `most` slow iterations of a loop table;
        `top` places of a check, or differences of a comparison.

    Returns
    -------
    View
        All of it for people, and for programs.

    Raises
    ------
    ParameterError
        If nothing is known about showing such a result.

    Examples
    --------
    >>> from burstline import Trace, show, summarise
    >>> columns, rows = show.view(summarise(Trace({}))).rows()
    >>> columns
    ('operation', 'count', 'time_ns', 'bytes_sent', 'bytes_received')
    """
    name = f"{type(result).__name__}View"
    kind = getattr(import_module(__package__), name, None)
    if kind is None and hasattr(result, "tables"):
        kind = TablesView
    if kind is None:
        raise ParameterError(
            f"a {type(result).__name__} is not shown: give what an analysis returned"
        )
    made: View = kind(result, **options)
    return made


def output(shown: View, form: str, defects: Sequence[object] | None = None) -> None:
    """Print a view as a ``table`` for people, ``csv``, or ``json`` with defects of inputs."""
    if form == "json":
        read = {} if defects is None else {"defects": list(defects)}
        document = shown.document()
        document |= {name: read[name] for name in read if name not in document}
        sys.stdout.write(json.dumps(document, indent=2, allow_nan=False) + "\n")
    elif form == "csv":
        columns, rows = shown.rows()
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerows(
            [cell(readable(value)) if isinstance(value, str) else value for value in row]
            for row in chain([columns], rows)
        )
    else:
        if blocks := list(shown.blocks()):
            from burstline.show import terminal  # noqa: PLC0415 -- loads Rich

            terminal.print_blocks(blocks)
        for text in shown.notes:
            note(text)


def note(text: str) -> None:
    """Say something in one line on standard error."""
    sys.stderr.write(printable(in_options(" ".join(text.split())), limit=1_000) + "\n")


def columns_of(rows: Sequence[Mapping[str, object]]) -> Rows:
    """Columns and rows of records with equal keys, at least one."""
    return tuple(rows[0]), (tuple(row.values()) for row in rows)
