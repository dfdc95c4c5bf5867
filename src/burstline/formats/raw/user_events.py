"""Events that the program itself recorded, beside those that its calls make.

A program's event types are kept, unless they mean something else in a Paraver trace or do
not fit: those get a type of :data:`MOVED_TYPES`. If there are any, the trace has raw tables:
its calls as events, and these among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from burstline.formats.columns import arrow_table
from burstline.formats.paraver.derived import with_records
from burstline.formats.paraver.event_types import KNOWN_TYPES, EventClass, classify
from burstline.formats.raw.layout import Kind
from burstline.formats.raw.regions import EVENT_TYPE, LOOP, loop_name
from burstline.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from burstline.formats.raw.definitions import Definitions
    from burstline.formats.raw.oddities import Oddities
    from burstline.formats.raw.timeline import Timeline

    Integers = npt.NDArray[np.int64]

LOOP_OF_CALL: Final = 77_200_000
"""Event type of the label of a call: its value is the id of the innermost loop around it."""

ITERATION: Final = 77_200_001
"""Event type of an iteration that was seen: its value is the iteration."""

MOVED_TYPES: Final = range(77_210_000, 77_300_000)
"""Event types for those of the program that are taken, in the order of their numbers."""

_OWN: Final = range(77_200_000, 77_800_000)
_LARGEST_TYPE: Final = 2**31 - 1


class UserEvents:
    """The program's events of all locations.

    Parameters
    ----------
    odd : Oddities
        Told of event types that were moved.
    """

    def __init__(self, odd: Oddities) -> None:
        self._odd = odd
        self._rows: list[npt.NDArray[np.int64]] = []
        self._types: dict[int, str] = {}
        self._loops: dict[int, str] = {0: "no loop"}

    def add(self, line: Timeline, defined: Definitions) -> None:
        """Take in the events of a location."""
        at = line.of(Kind.EVENT, Kind.LABEL, Kind.LOOP_ITERATION)
        at = at[(line.kind[at] != Kind.LABEL) | (line.call[at] >= 0)]
        kind, number = line.kind[at], line.records["a"][at].astype(np.int64)
        label, plain = kind == Kind.LABEL, kind == Kind.EVENT
        moment = at.copy()
        moment[label] = line.enter[line.call[at[label]]]
        value = line.records["b"][at].view(np.int64)
        rows = [
            np.full(len(at), line.location),
            line.time_ns[moment],
            moment,
            np.where(plain, number, np.where(label, LOOP_OF_CALL, ITERATION)),
            np.where(label, number, value),
            plain,
        ]
        self._rows.append(np.stack([np.asarray(column, np.int64) for column in rows]))
        for (space, known), name in defined.names.items():
            if space == EVENT_TYPE:
                self._types.setdefault(known, name.text)
            elif space == LOOP:
                self._loops.setdefault(known, loop_name(known, name))

    def into(self, tables: Mapping[str, pa.Table], origin_ns: int) -> dict[str, pa.Table]:
        """Give raw tables to a trace that has user events; others are left as they are."""
        rows = np.concatenate([np.zeros((6, 0), np.int64), *self._rows], axis=1)
        if not rows.shape[1]:
            return dict(tables)
        location, time_ns, moment, kind, value, plain = rows
        time_ns = time_ns - origin_ns
        final = self._final_types(np.unique(kind[plain == 1]).tolist())
        known = np.array(sorted(final), np.int64)
        target = np.array([final[number] for number in known.tolist()], np.int64)
        chosen = plain == 1
        kind[chosen] = target[np.searchsorted(known, kind[chosen])]
        whole = with_records(Trace(tables))
        added = {name: whole.table(name) for name in ("events", "states", "links")}
        added["events"] = _merged(whole, location, time_ns, moment, kind=kind, value=value)
        added |= self._labels(whole, {final[number]: number for number in final}, kind)
        return dict(tables) | added

    def _final_types(self, numbers: list[int]) -> dict[int, int]:
        final, moved = {}, 0
        for number in numbers:
            final[number] = number
            if _is_taken(number):
                final[number] = MOVED_TYPES[moved % len(MOVED_TYPES)]
                moved += 1
                self._odd.note("event_type_moved", "info", f"{number} to {final[number]}")
        return final

    def _labels(
        self, whole: Trace, sources: Mapping[int, int], kind: Integers
    ) -> dict[str, pa.Table]:
        types, values = whole.table("event_types"), whole.table("event_values")
        group = max(types["group"].to_pylist(), default=-1) + 1
        rows, meanings = [], []
        for number in np.unique(kind).tolist():
            if number == LOOP_OF_CALL:
                text = "Loop of the call"
                meanings = [(group, loop, name) for loop, name in self._loops.items()]
            elif number == ITERATION:
                text = "Iteration of a loop"
            else:
                source = sources[number]
                text = self._types.get(source) or f"User event {source}"
            rows.append((number, " ".join(text.split()), 6, group))
            group += 1
        return {
            "event_types": _extended("event_types", types, rows),
            "event_values": _extended("event_values", values, meanings),
        }


def _is_taken(number: int) -> bool:
    fits = 0 < number <= _LARGEST_TYPE and number not in _OWN
    return not fits or number in KNOWN_TYPES or classify(number) is not EventClass.OTHER


def _merged(
    whole: Trace,
    location: Integers,
    time_ns: Integers,
    moment: Integers,
    *,
    kind: Integers,
    value: Integers,
) -> pa.Table:
    """Put events among those of the calls; of one moment, those of the calls come first."""
    there, when, types, values = whole.arrays("events", "location", "time_ns", "type", "value")
    mine = np.lexsort((moment, time_ns, location))
    where = np.concatenate([there, location[mine]]).astype(np.int64)
    time = np.concatenate([when, time_ns[mine]])
    order = np.lexsort((np.arange(len(where)), time, where))
    first = np.searchsorted(where[order], where[order])
    return arrow_table(
        "events",
        {
            "location": where[order],
            "seq": np.arange(len(where)) - first,
            "time_ns": time[order],
            "type": np.concatenate([types, kind[mine]])[order],
            "value": np.concatenate([values, value[mine]])[order],
        },
    )


def _extended(
    name: str,
    table: pa.Table,
    rows: list[tuple[int, str, int, int]] | list[tuple[int, int, str]],
) -> pa.Table:
    if not rows:
        return table
    columns = [list(column) for column in zip(*rows, strict=True)]
    fresh = arrow_table(name, dict(zip(table.column_names, columns, strict=True)))
    return pa.concat_tables([table, fresh]).combine_chunks()
