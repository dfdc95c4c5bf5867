"""Events that the program itself recorded, beside those that its calls make.

If there are any, the trace has raw tables: its calls as events, and these among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from burstline import extrae
from burstline._core import EventClass
from burstline.columns import Integers, lookup
from burstline.formats.intake import Defects
from burstline.formats.raw.events.regions import loop_name
from burstline.formats.raw.events.timeline import ThreadTimeline
from burstline.formats.raw.files.layout import Kind, Named
from burstline.formats.raw.processes.processes import RecordedProcess
from burstline.model import LoopEvents, Trace, event_table, row_table

_LARGEST_TYPE: Final = 2**31 - 1


class UserEvents:
    """What the program's events mean, and whether there are any."""

    def __init__(self, processes: Sequence[RecordedProcess], defects: Defects) -> None:
        self._types: dict[int, str] = {}
        self._loops: dict[int, str] = {0: "no loop"}
        outlines = [file.outline for process in processes for file in process.files]
        self.any = any(outline.has_own for outline in outlines)
        numbers = [outline.event_types for outline in outlines]
        known = np.unique(np.concatenate([np.zeros(0, np.int64), *numbers]))
        self._final = _final_types(known.tolist(), defects)
        for process in processes:
            for number, name in process.defined.names[Named.EVENT_TYPE].items():
                self._types.setdefault(number, name.text)
            for number, name in process.defined.names[Named.LOOP].items():
                self._loops.setdefault(number, loop_name(number, name))

    def rows(self, line: ThreadTimeline) -> Integers:
        """The events of a location: location, time, record, type, value as rows."""
        at = line.of(Kind.EVENT, Kind.LABEL, Kind.LOOP_ITERATION)
        at = at[(line.kind[at] != Kind.LABEL) | (line.call[at] >= 0)]
        kind, number = line.kind[at], line.records["a"][at].astype(np.int64)
        label, plain = kind == Kind.LABEL, kind == Kind.EVENT
        moment = at.copy()
        moment[label] = line.enter[line.call[at[label]]]
        types = np.where(label, extrae.LOOP_OF_CALL, extrae.ITERATION)
        types[plain] = lookup(number[plain], self._final)
        rows = [
            np.full(len(at), line.location),
            line.time_ns[moment],
            line.number[moment],
            types,
            np.where(label, number, line.records["b"][at].view(np.int64)),
        ]
        return np.stack([np.asarray(column, np.int64) for column in rows])

    def loop_events(self, rows: Integers) -> LoopEvents | None:
        """Those of what :meth:`rows` gave that tell of loops."""
        location, time_ns, moment, kind, value = rows
        chosen = np.flatnonzero((kind == extrae.LOOP_OF_CALL) | (kind == extrae.ITERATION))
        if not len(chosen):
            return None
        chosen = chosen[np.argsort(moment[chosen], kind="stable")]
        events = LoopEvents(
            location, time_ns, kind, value, lambda _, loop: self._loops.get(loop)
        )
        return events.picked(chosen)

    def labels(self, types: pa.Table, values: pa.Table, used: Integers) -> dict[str, pa.Table]:
        """Tables of labels with those of the program's events that occur."""
        sources = {final: number for number, final in self._final.items()}
        group = max(types["group"].to_pylist(), default=-1) + 1
        rows, meanings = [], []
        for number in used.tolist():
            if number == extrae.LOOP_OF_CALL:
                meanings = [(group, loop, name) for loop, name in self._loops.items()]
            if number in (extrae.LOOP_OF_CALL, extrae.ITERATION):
                text = extrae.TABLE[number].label
            else:
                source = sources[number]
                text = self._types.get(source) or f"User event {source}"
            rows.append((number, " ".join(text.split()), 6, group))
            group += 1
        return {
            "event_types": _with_rows("event_types", types, rows),
            "event_values": _with_rows("event_values", values, meanings),
        }


def _final_types(numbers: list[int], defects: Defects) -> dict[int, int]:
    """The type of each: another where it means something else in Paraver or does not fit."""
    final, moved = {}, 0
    for number in numbers:
        final[number] = number
        if _is_taken(number):
            final[number] = extrae.MOVED_TYPES[moved % len(extrae.MOVED_TYPES)]
            moved += 1
            defects.note("event_type_moved", "info", f"{number} to {final[number]}")
    return final


def _is_taken(number: int) -> bool:
    fits = 0 < number <= _LARGEST_TYPE and number not in extrae.OWN_TYPES
    is_known = number in extrae.KNOWN_TYPES
    return not fits or is_known or extrae.classify(number) is not EventClass.OTHER


def merged(calls: Trace, rows: Integers) -> pa.Table:
    """The program's events among those of its calls."""
    events = calls.arrays("events", "location", "time_ns", "type", "value")
    location, time_ns, moment, kind, value = rows
    in_turn = np.lexsort((moment, time_ns, location))
    location, time_ns, kind, value = (
        np.concatenate([of_calls, own[in_turn]])
        for of_calls, own in zip(events, (location, time_ns, kind, value), strict=True)
    )
    order = np.lexsort((np.arange(len(location)), time_ns, location))
    return event_table(
        location.astype(np.int64)[order], time_ns[order], kind[order], value[order]
    )


def _with_rows(name: str, table: pa.Table, rows: Sequence[Sequence[object]]) -> pa.Table:
    return pa.concat_tables([table, row_table(name, rows)]).combine_chunks() if rows else table
