"""Slow, obvious twins of how a structure is found and checked."""

from __future__ import annotations

from collections import defaultdict

import numpy as np


def components(points, eps):
    """Cluster by scikit-learn's DBSCAN in which a single point is a cluster."""
    from sklearn.cluster import DBSCAN

    if not len(points):
        return []
    return DBSCAN(eps=eps, min_samples=1).fit(np.asarray(points)).labels_.tolist()


def longest_common(a, b):
    """Length of a longest common subsequence, from the textbook."""
    above = [0] * (len(b) + 1)
    for x in a:
        row = [0]
        for k, y in enumerate(b):
            row.append(above[k] + 1 if x == y else max(above[k + 1], row[k]))
        above = row
    return above[-1]


def expand(items, lane):
    """Give the calls of a program on one lane, loop by loop, iteration by iteration."""
    from burstline.structure import Loop

    def due(executed, entries, k):
        return (k + 1) * executed // entries - k * executed // entries

    def body(nodes, entries, k, seen):
        for node in nodes:
            executed = int(node.executions[lane])
            for _ in range(due(executed, entries, k)):
                if isinstance(node, Loop):
                    turn = seen[node.id]
                    seen[node.id] += 1
                    yield from body(node.items, executed, turn, seen)
                else:
                    yield node.signature

    return list(body(items, 1, 0, defaultdict(int)))


def unique_calls(trace):
    """Give (location, operation, line, enter times, mean time, mean size) of unique calls."""
    lines = trace.call_paths["line"].to_pylist()
    found = defaultdict(list)
    names = ["location", "operation", "call_path", "enter_ns", "leave_ns", "sent_bytes"]
    for row in trace.calls.select(names).to_pylist():
        found[row["location"], row["operation"], lines[row["call_path"]]].append(row)
    return [
        (
            *key,
            [row["enter_ns"] for row in rows],
            mean(row["leave_ns"] - row["enter_ns"] for row in rows),
            mean(row["sent_bytes"] for row in rows) if rows[0]["sent_bytes"] else None,
        )
        for key, rows in found.items()
    ]


def mean(values):
    values = list(values)
    return sum(values) / len(values)
