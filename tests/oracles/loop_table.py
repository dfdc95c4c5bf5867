"""Slow twins of the loop table: if you doubt the sums or the statistics, read these."""

from __future__ import annotations

import math
from itertools import combinations
from statistics import median

from oracles.efficiency import waiting


def table(trace, iterations):
    """Give what each iteration cost, by walking over its calls and bursts."""
    calls, bursts = trace.calls.to_pylist(), trace.bursts.to_pylist()
    rows = []
    for k in range(len(iterations)):
        same = k + 1 < len(iterations) and (
            (iterations.lane[k], iterations.entry[k])
            == (iterations.lane[k + 1], iterations.entry[k + 1])
        )
        first = int(iterations.first[k])
        end = int(iterations.first[k + 1]) if same else int(iterations.last[k]) + 1
        mine = calls[first:end]
        behind = mine if same else mine[:-1]
        names = {(call["location"], call["call"]) for call in behind}
        own = [burst for burst in bursts if (burst["location"], burst["call_before"]) in names]
        mpi_ns = sum(call["leave_ns"] - call["enter_ns"] for call in mine)
        gap_ns = sum(burst["gap_ns"] for burst in own)
        waiting_ns = sum(
            waiting(
                burst["end_ns"] - burst["start_ns"],
                *(burst[name] for name in ("gap_ns", "polls", "polling_ns", "waiting_ns")),
                bound=5_000,
            )
            for burst in own
        )
        read = {
            name: [burst[name] for burst in own] + [None] * (len(behind) - len(own))
            for name in trace.counter_names
        }
        rows.append(
            {
                "rank": int(iterations.rank[k]),
                "iteration": int(iterations.iteration[k]) + 1,
                "whole": bool(same),
                "calls": len(mine),
                "duration_ns": int(iterations.end_ns[k] - iterations.start_ns[k]),
                "mpi_ns": mpi_ns,
                "unwatched_ns": gap_ns,
                "useful_ns": int(iterations.end_ns[k] - iterations.start_ns[k])
                - mpi_ns
                - gap_ns
                - waiting_ns,
                "waiting_ns": waiting_ns,
                **{
                    name: None if None in values else sum(values)
                    for name, values in read.items()
                },
            }
        )
    return rows


def scores(values):
    """Give the modified z-score of each value of one group."""
    middle = median(values)
    distances = [abs(value - middle) for value in values]
    usual = median(distances) / 0.6745 or sum(distances) / len(values) / 0.7979
    return [(value - middle) / usual if usual else 0.0 for value in values]


def slope(values):
    """Give the median slope of all pairs, and how probable so many rise or fall by chance."""
    slopes = [(y - x) / (j - i) for (i, x), (j, y) in combinations(enumerate(values), 2)]
    rising = sum((rise > 0) - (rise < 0) for rise in slopes)
    ties = [values.count(value) for value in set(values)]
    variance = (orders(len(values)) - sum(map(orders, ties))) / 18
    score = (abs(rising) - 1) / math.sqrt(variance) if rising and variance else 0.0
    return median(slopes), math.erfc(score / math.sqrt(2))


def orders(count):
    return count * (count - 1) * (2 * count + 5)
