"""The labels of a trace with those of its loops.

::

    event_types, event_values, Marks  -->  event_types, event_values
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from burstline.annotation.event_types import INNERMOST, STRUCTURE, iteration_type, loop_type

if TYPE_CHECKING:
    from burstline.annotation.marks import Marks
    from burstline.trace import Trace

_OUTSIDE: Final = "Outside of loops"


def labelled(trace: Trace, marks: Marks) -> dict[str, pa.Table]:
    """The labels of a trace with those of its marks."""
    types = trace.table("event_types").to_pylist()
    values = trace.table("event_values").to_pylist()
    kept = [row for row in types if row["type"] not in STRUCTURE]
    gone = {row["group"] for row in types} - {row["group"] for row in kept}
    values = [row for row in values if row["group"] not in gone]
    group = 1 + max((row["group"] for row in (*kept, *values)), default=-1)
    if marks.loops:
        depths = range(1, marks.depth + 1)
        loops = [(INNERMOST, "Innermost loop")]
        loops += [(loop_type(d), f"Loop at nesting depth {d}") for d in depths]
        iterations = [(iteration_type(d), f"Iteration at nesting depth {d}") for d in depths]
        kept += [_type(*one, group) for one in loops]
        kept += [_type(*one, group + 1) for one in iterations]
        values += [_value(group, 0, _OUTSIDE)]
        values += [_value(group, loop.id, loop.name) for loop in marks.loops]
        values += [_value(group + 1, 0, _OUTSIDE)]
    return {
        name: pa.Table.from_pylist(rows, schema=trace.table(name).schema)
        for name, rows in (("event_types", kept), ("event_values", values))
    }


def _type(number: int, label: str, group: int) -> dict[str, Any]:
    return {"type": number, "label": label, "gradient": 0, "group": group}


def _value(group: int, value: int, label: str) -> dict[str, Any]:
    return {"group": group, "value": value, "label": label}
