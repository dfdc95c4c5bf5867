"""Labels for traces whose loops are known by line: as a recorder of the source writes them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import by_hand
from burstline import Trace
from burstline.extrae.event_types import LOOP_OF_CALL
from burstline.model import LoopEvents, Loops, schema
from loop_programs import For

GROUP = 7


def loop_of_line(program, around=0, numbers=None):
    """Give the innermost loop of each line of a program, numbered from 1 as it stands there."""
    numbers = {} if numbers is None else numbers
    found = {}
    for step in program:
        if isinstance(step, For):
            number = numbers.setdefault(id(step), len(numbers) + 1)
            found |= loop_of_line(step.body, number, numbers)
        else:
            found[step.line] = around
    return found


def labelled(trace, loops, *, late=False, without=()):
    """Add events that label each call: `loops` is the loop of each line, 0 where it is none.

    A label is written when its call is entered, or `late`, while it lasts.
    """
    (lines,) = trace.arrays("call_paths", "line")
    columns = trace.arrays("calls", "location", "enter_ns", "leave_ns", "call_path")
    rows, seq = [], {}
    for location, enter_ns, leave_ns, path in zip(*(c.tolist() for c in columns), strict=True):
        line = int(lines[path])
        seq[location] = seq.get(location, -1) + 1
        if line in without:
            continue
        rows.append(
            {
                "location": location,
                "seq": seq[location],
                "time_ns": (enter_ns + leave_ns) // 2 if late else enter_ns,
                "type": LOOP_OF_CALL,
                "value": loops.get(line, 0),
            }
        )
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}
    tables["events"] = by_hand.rows_of("events", rows)
    tables["event_types"] = by_hand.rows_of(
        "event_types", [{"type": LOOP_OF_CALL, "label": "loop", "group": GROUP}]
    )
    named = sorted(set(loops.values()) - {0})
    tables["event_values"] = by_hand.rows_of(
        "event_values", [{"group": GROUP, "value": n, "label": f"a.c:{100 * n}"} for n in named]
    )
    return with_loops(Trace(tables, check=True))


def with_loops(trace):
    """Give a trace the tables of loops that its regions and events make, as readers do."""
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}
    types, values = trace.event_types.to_pylist(), trace.event_values.to_pylist()
    groups = {row["type"]: row["group"] for row in types}
    labels = {(row["group"], row["value"]): row["label"] for row in values}
    location, *columns = trace.arrays("events", "location", "time_ns", "type", "value")
    events = LoopEvents(
        location.astype(np.int64),
        *columns,
        lambda kind, value: labels.get((groups.get(kind), value)),
    )
    loops = Loops()
    tables |= loops.tables(
        {name: trace.table(name) for name in ("calls", "regions")}, trace.region_defs, events
    )
    return Trace(tables | loops.definitions(), check=True)


def counting(trace, counters, work):
    """Add counters: `work(line, rank)` gives what the computation before a call of a line does.

    It gives a number per counter, or None where it is not read.
    """
    (lines,) = trace.arrays("call_paths", "line")
    location, paths = trace.arrays("calls", "location", "call_path")
    (ranks,) = trace.arrays("locations", "rank")
    of_call = {}
    offsets = trace.offsets("calls")
    for row, (where, path) in enumerate(zip(location.tolist(), paths.tolist(), strict=True)):
        of_call[where, row - int(offsets[where])] = work(int(lines[path]), int(ranks[where]))
    rows = [
        row | of_call[row["location"], row["call_after"]] for row in trace.bursts.to_pylist()
    ]
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}
    tables["bursts"] = pa.Table.from_pylist(rows, schema.arrow_schema("bursts", counters))
    tables["counters"] = by_hand.rows_of("counters", [{"name": name} for name in counters])
    return Trace(tables, check=True)


def without(trace, *names):
    """Give a trace without some of its tables."""
    kept = {name: trace.table(name) for name in schema.TABLES if name in trace}
    return Trace({name: table for name, table in kept.items() if name not in names})
