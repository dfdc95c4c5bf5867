"""The tables of an annotated trace: those of the trace, with the marks among its events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from burstline.annotation.event_types import INNERMOST, STRUCTURE, iteration_type, loop_type
from burstline.annotation.insertion import ORDINALS, Insertion
from burstline.errors import NotEnoughDataError
from burstline.loops import LoopEvents, with_detected
from burstline.schema import TABLES
from burstline.selection import Lazy
from burstline.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstline.annotation.marks import Marks
    from burstline.columns import Mask

_OUTSIDE: Final = "Outside of loops"


def annotated(trace: Trace, marks: Marks) -> Trace:
    """A trace with loops and iterations as events.

    Parameters
    ----------
    trace : Trace
        With raw tables, in memory or in a store; it does not change.
    marks : Marks
        What to add, from :func:`marks_of`. Their locations are those of `trace`.

    Returns
    -------
    Trace
        The same trace with more events and their labels. All that counts events (the
        ``*_seq`` columns) counts the new ones, too. Nothing else is different. Of a trace
        in a store, tables are loaded and changed a part at a time.

    Raises
    ------
    NotEnoughDataError
        If `trace` has no raw tables.

    Notes
    -----
    O(rows) of the tables asked for. Annotating twice is annotating once: events and labels
    of an earlier annotation are replaced.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import burstline
    >>> from burstline.annotation import marks_of
    >>> trace = burstline.read(files("burstline") / "data" / "lulesh_8r.prv.gz")
    >>> marks = marks_of(burstline.detect(trace))
    >>> [loop.name for loop in marks.loops]
    ['loop 1: lulesh.cc:1109-1133, 5 iterations']
    >>> annotated(trace, marks).rows("events") - trace.rows("events") == len(marks.time_ns)
    True
    """
    if not trace.has_raw:
        raise NotEnoughDataError(
            "this trace was read without its records, and events cannot be added to them"
        )
    if trace.is_stored:
        return Trace(_StoredTables(trace, marks))
    tables = _Tables(trace, marks)
    return Trace(Lazy(tables, tables.__getitem__))


class _Tables(Mapping[str, "pa.Table"]):
    """The tables of an annotated trace."""

    def __init__(self, trace: Trace, marks: Marks) -> None:
        self._trace = trace
        self._whole = _label_tables(trace, marks) | _loops(trace, marks)
        self._insertion = Insertion(trace, marks)
        self._names = [name for name in TABLES if name in trace or name in self._whole]

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._names:
            raise KeyError(name)
        if name in self._whole:
            return self._whole[name]
        return self._changed(name, self._trace.table(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def _changed(self, name: str, table: pa.Table) -> pa.Table:
        if name == "events":
            return self._insertion.merged(table)
        return self._insertion.renumbered(name, table) if name in ORDINALS else table


class _StoredTables(_Tables):
    """The same, of a trace in a store, which can be had in parts."""

    def batches(
        self,
        name: str,
        columns: Sequence[str] | None,
        *,
        locations: Mask | None = None,
        window: tuple[int, int] | None = None,
    ) -> Iterator[pa.Table]:
        """The table `name` in parts of whole locations, in order."""
        chosen = None if columns is None else list(columns)
        if name in self._whole:
            table = self._whole[name]
            yield table if chosen is None else table.select(chosen)
            return
        for part in self._trace.batches(
            name, _needed(name, chosen), locations=locations, window=window
        ):
            changed = self._changed(name, part)
            yield changed if chosen is None else changed.select(chosen)

    def rows(self, name: str) -> int:
        """The number of rows of a table."""
        if name in self._whole:
            return self._whole[name].num_rows
        return self._insertion.rows if name == "events" else self._trace.rows(name)

    def rows_near(
        self,
        name: str,
        *,
        locations: Mask | None,
        window: tuple[int, int] | None,
    ) -> int:
        """The estimated number of rows of some locations in a window."""
        if name in self._whole or name == "events":
            return self.rows(name)
        return self._trace.rows_near(name, locations=locations, window=window)


def _label_tables(trace: Trace, marks: Marks) -> dict[str, pa.Table]:
    """The tables of labels of a trace, with those of its marks."""
    types = trace.table("event_types").to_pylist()
    values = trace.table("event_values").to_pylist()
    others = [row for row in types if row["type"] not in STRUCTURE]
    replaced = {row["group"] for row in types} - {row["group"] for row in others}
    values = [row for row in values if row["group"] not in replaced]
    group = 1 + max((row["group"] for row in (*others, *values)), default=-1)
    types = others
    if marks.loops:
        depths = range(1, marks.depth + 1)
        types += [
            _type(INNERMOST, "Innermost loop", group),
            *(_type(loop_type(d), f"Loop at nesting depth {d}", group) for d in depths),
        ]
        types += [
            _type(iteration_type(d), f"Iteration at nesting depth {d}", group + 1)
            for d in depths
        ]
        values += [_value(group, 0, _OUTSIDE)]
        values += [_value(group, loop.id, loop.name) for loop in marks.loops]
        values += [_value(group + 1, 0, _OUTSIDE)]
    return {
        name: pa.Table.from_pylist(rows, schema=trace.table(name).schema)
        for name, rows in (("event_types", types), ("event_values", values))
    }


def _type(number: int, label: str, group: int) -> dict[str, Any]:
    return {"type": number, "label": label, "gradient": 0, "group": group}


def _value(group: int, value: int, label: str) -> dict[str, Any]:
    return {"group": group, "value": value, "label": label}


def _loops(trace: Trace, marks: Marks) -> dict[str, pa.Table]:
    """The tables of loops with those of marks, where there are any or were."""
    if not marks.loops and "loops" not in trace:
        return {}
    names = {loop.id: loop.name for loop in marks.loops}
    columns = (marks.location, marks.time_ns, marks.type, marks.value)
    return with_detected(trace, LoopEvents(*columns, lambda _, value: names.get(value)))


def _needed(name: str, columns: list[str] | None) -> list[str] | None:
    """The columns to load so that those asked for can be changed."""
    if columns is None or name == "events":
        return None
    owners = [
        owner
        for owner, counting in ORDINALS.get(name, ())
        if owner not in columns and not set(counting).isdisjoint(columns)
    ]
    return [*columns, *owners]
