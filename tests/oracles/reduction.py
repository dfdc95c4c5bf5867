"""Slow, obvious twin of the reduction: call after call, with exact means."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import sqrt


def reduce_calls(trace):
    """Give what is known of each unique call, by (location, operation, call path)."""
    ranks = dict(zip(*column(trace, "locations", "location", "rank"), strict=True))
    calls = trace.calls.to_pylist()
    peers = [call["peer"] for call in calls if call["peer"] is not None]
    groups = [len(members) for members in trace.communicators["members"].to_pylist()]
    world = max([1 + max([*ranks.values(), *peers]), *groups])
    bursts = {
        (burst["location"], burst["call_after"]): burst for burst in trace.bursts.to_pylist()
    }
    found = defaultdict(list)
    so_far = defaultdict(int)
    for call in calls:
        location = call["location"]
        burst = bursts.get((location, call["call"]), {})
        for name in trace.counter_names:
            so_far[location, name] += burst.get(name) or 0
        known = {name: so_far[location, name] for name in trace.counter_names}
        found[location, call["operation"], call["call_path"]].append((call, burst, known))
    return {
        key: unique(rows, trace.counter_names, ranks[key[0]], world)
        for key, rows in found.items()
    }


def unique(rows, counters, rank, world):
    """Give means, spreads and extremes of the executions of one unique call."""
    calls = [call for call, _, _ in rows]
    bursts = [burst for _, burst, _ in rows if burst]
    durations = [call["leave_ns"] - call["enter_ns"] for call in calls]
    sizes = [max(known) for call in calls if (known := sizes_of(call))]
    peers = [call["peer"] for call in calls if call["peer"] is not None]
    offsets = [(peer - rank) % world for peer in peers]
    first, last = rows[0][2], rows[-1][2]
    return {
        "enter_ns": [call["enter_ns"] for call in calls],
        "time_ns": mean(durations),
        "time_spread_ns": spread(durations),
        "size_bytes": mean(sizes),
        "size_spread_bytes": spread(sizes),
        "burst_ns": mean([burst["end_ns"] - burst["start_ns"] for burst in bursts]),
        "burst_counters": [
            mean([burst[name] for burst in bursts if burst[name] is not None])
            for name in counters
        ],
        "iteration_counters": [
            (last[name] - first[name]) / (len(rows) - 1) if len(rows) > 1 else None
            for name in counters
        ],
        "peer": [min(peers), max(peers)] if peers else [-1, -1],
        "offset": [min(offsets), max(offsets)] if offsets else [-1, -1],
        "communicator": -1 if (first := calls[0]["communicator"]) is None else first,
        "is_root": any(call["root"] is not None for call in calls),
    }


def column(trace, table, *names):
    return [trace.table(table)[name].to_pylist() for name in names]


def sizes_of(call):
    return [size for size in (call["sent_bytes"], call["received_bytes"]) if size is not None]


def mean(values):
    return float(Fraction(sum(values), len(values))) if values else None


def spread(values):
    if not values:
        return None
    middle = Fraction(sum(values), len(values))
    return sqrt(sum((value - middle) ** 2 for value in values) / len(values))
