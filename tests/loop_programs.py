"""Programs made of loops, run by hand: what they call is known, and so is their structure."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import by_hand
from burstline import Trace

WORK_NS, CALL_NS = 100, 10


@dataclass(frozen=True)
class Do:
    """An MPI call on a line; in some iterations of its loop, or on some ranks, only."""

    operation: str
    line: int
    when: object = None
    ranks: object = None
    work_ns: int = WORK_NS


@dataclass(frozen=True)
class For:
    """A loop; `times` is a number, or a list of how often at each entry."""

    times: object
    body: tuple


def loop(times, *body):
    return For(times, body)


def executed(program, rank, entries=None, iteration=0):
    """Give the steps of a rank, in order, by walking through the program."""
    entries = {} if entries is None else entries
    for step in program:
        if isinstance(step, For):
            visit = entries[id(step)] = entries.get(id(step), -1) + 1
            times = step.times if isinstance(step.times, int) else step.times[visit]
            for k in range(times):
                yield from executed(step.body, rank, entries, k)
        elif (step.ranks is None or rank in step.ranks) and (
            step.when is None or step.when(iteration)
        ):
            yield step


def lines(program, rank=0):
    """Give the source lines of the calls of a rank, in order."""
    return [step.line for step in executed(program, rank)]


def run(*program, ranks=2, counters=False, paths=True, peer_step=1, application=0):
    """Give the trace of a program; call path k is line k of main in a.c."""
    begin, end = Do("Init", 1), Do("Finalize", 999)
    calls, bursts, spans = [], [], []
    numbers = {}
    for rank in range(ranks):
        now = 0
        for call, step in enumerate(itertools.chain([begin], executed(program, rank), [end])):
            if call:
                bursts.append(
                    {
                        "location": rank,
                        "burst": call - 1,
                        "start_ns": now,
                        "end_ns": now + step.work_ns,
                        "call_before": call - 1,
                        "call_after": call,
                        **({"ins": step.work_ns} if counters else {}),
                    }
                )
                now += step.work_ns
            path = numbers.setdefault(step.line, len(numbers))
            calls.append(
                {
                    "location": rank,
                    "call": call,
                    "operation": f"MPI_{step.operation}",
                    "enter_ns": now,
                    "leave_ns": now + CALL_NS,
                    "peer": (rank + peer_step) % ranks if step.operation == "Send" else None,
                    "sent_bytes": 8 * step.line if step.operation == "Send" else None,
                    "call_path": path if paths else None,
                }
            )
            now += CALL_NS
        spans.append((0, now))
    tables = {
        "locations": by_hand.rows_of(
            "locations", by_hand.threads(*spans, application=application)
        ),
        "calls": by_hand.rows_of("calls", calls),
        "bursts": bursts_table(bursts, counters=counters),
        "call_paths": by_hand.rows_of(
            "call_paths",
            [
                {"call_path": k, "function": "main", "file": "a.c", "line": line}
                for line, k in numbers.items()
            ],
        ),
    }
    if counters:
        tables["counters"] = by_hand.rows_of("counters", [{"name": "ins"}])
    return Trace(tables, check=True)


def bursts_table(rows, *, counters):
    import pyarrow as pa

    from burstline import schema

    names = ("ins",) if counters else ()
    blank = {"polling_ns": 0, "polls": 0, "gap_ns": 0}
    return pa.Table.from_pylist(
        [blank | row for row in rows], schema=schema.arrow_schema("bursts", names)
    )


def shape(items):
    """Give the nesting of a structure: (iterations, body) per loop, a line per call."""
    from burstline.structure import Loop

    return [
        (round(item.iterations, 3), shape(item.items))
        if isinstance(item, Loop)
        else item.caller.line
        for item in items
    ]
