"""Samples: the function and line of a thread each time the tracer interrupted it.

The callers, events of 30000001, 30000101 and so on, are not read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from burstline.columns import ordinal_within
from burstline.errors import NotEnoughDataError
from burstline.extrae import (
    SAMPLED_FUNCTION,
    SAMPLED_LINE,
    UNRESOLVED,
    read_function,
    read_line,
)
from burstline.model import Trace

_COLUMNS: Final = ("location", "time_ns", "type", "value")
_KEYS: Final = ("location", "time_ns", "nth")


def sampled(trace: Trace) -> pa.Table:
    """The samples of a trace.

    Parameters
    ----------
    trace : Trace
        With its raw tables.

    Returns
    -------
    pyarrow.Table
        One row per sample, in the order of location and time: `location` (int32),
        `time_ns` (int64), `function` (string; ``??`` if the trace does not say), `file`
        (string) and `line` (int32), null if unknown. Empty if nobody took samples.

    Raises
    ------
    NotEnoughDataError
        If the trace was read without its raw tables.

    Notes
    -----
    Linear in the events, a few locations at a time; memory in the samples.
    """
    if not trace.has_raw:
        raise NotEnoughDataError(
            "samples are raw events, and this trace has none. Read it with raw=True, or "
            "convert it with its raw tables"
        )
    sides = _of_type(trace, SAMPLED_FUNCTION), _of_type(trace, SAMPLED_LINE)
    joined = sides[0].join(sides[1], list(_KEYS), right_suffix="_line", join_type="left outer")
    joined = joined.sort_by([(key, "ascending") for key in _KEYS])
    functions = {
        value: read_function(label) or UNRESOLVED
        for value, label in _value_labels(trace, SAMPLED_FUNCTION).items()
    }
    places = {
        value: read_line(label) for value, label in _value_labels(trace, SAMPLED_LINE).items()
    }
    names = [functions.get(v, f"function {v}") for v in joined["value"].to_pylist()]
    files, numbers = (
        [place and place[part] for place in map(places.get, joined["value_line"].to_pylist())]
        for part in range(2)
    )
    return pa.table(
        {
            "location": joined["location"],
            "time_ns": joined["time_ns"],
            "function": pa.array(names, pa.string()),
            "file": pa.array(files, pa.string()),
            "line": pa.array(numbers, pa.int32()),
        }
    )


def _of_type(trace: Trace, kind: int) -> pa.Table:
    """The events of one type, numbered among those at one time of one location."""
    parts: Iterable[pa.Table] = trace.batches("events", _COLUMNS)
    chosen = [
        part.filter(pc.equal(part["type"], kind)).drop_columns(["type"]) for part in parts
    ]
    none = trace.table("events").select(_COLUMNS).drop_columns(["type"]).slice(0, 0)
    table = pa.concat_tables([none, *chosen])
    nth = ordinal_within(table["location"].to_numpy(), table["time_ns"].to_numpy())
    return table.append_column("nth", pa.array(nth))


def _value_labels(trace: Trace, kind: int) -> dict[int, str]:
    types = trace.table("event_types").select(["type", "group"]).to_pylist()
    groups = [row["group"] for row in types if row["type"] == kind]
    table = trace.table("event_values")
    table = table.filter(pc.is_in(table["group"], value_set=pa.array(groups, pa.int32())))
    return dict(zip(table["value"].to_pylist(), table["label"].to_pylist(), strict=True))
