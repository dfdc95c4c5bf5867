"""Metrics, call paths and threads beside each other: what is picked in one divides the next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from burstline.columns import Integers, placed, sums_by
from burstline.errors import printable
from burstline.quantities import format_ns
from burstline.show.page.html import Html, data_block, heading, join, share_text, table, tag
from burstline.values import SHARE, TIME, Column, Table
from burstline.waits import PARENTS, WAITS, Waits

_ROOTS: Final = ("time", "delay", "critical_path")
_SIZES: Final = ((400, 128), (400, 64), (400, 32), (200, 32), (100, 16))
"""Call paths and threads that have rows, the first that are not too many values together."""
_MOST_VALUES: Final = 60_000
_MOST_TOLD: Final = 32
"""Rows of a pane that are told without a script."""
_LONGEST: Final = 200
_LEAST_TOLD: Final = 0.01


class Node(NamedTuple):
    """A row of a tree: what it is called, the row above it or -1, and a sentence on it."""

    name: str
    parent: int
    said: str = ""


class Panes(NamedTuple):
    """Three trees, and of each metric what its call paths and threads have, without zeros."""

    metrics: list[Node]
    paths: list[Node]
    threads: list[Node]  # of several of one rank, the rank is above them
    leaves: list[int]  # rows of threads that values are of
    values: list[tuple[Integers, Integers, Integers]]  # paths, leaves, values; by metric
    picked: int  # the metric that is largest of all waits
    left_out: int  # call paths whose values are with their callers

    def totals(self) -> list[int]:
        """The total of each metric."""
        return [int(values.sum()) for _, _, values in self.values]

    def of_paths(self, metric: int) -> Integers:
        """What each call path has of a metric, with those below it."""
        path, _, value = self.values[metric]
        return _with_children(self.paths, path, value)

    def of_threads(self, metric: int) -> Integers:
        """What each thread, or all of a rank, has of a metric."""
        _, leaf, value = self.values[metric]
        return _with_children(self.threads, np.array(self.leaves, np.int64)[leaf], value)


def _with_children(nodes: Sequence[Node], rows: Integers, values: Integers) -> Integers:
    sums = sums_by(rows, values, len(nodes))
    for row in range(len(nodes) - 1, -1, -1):
        if nodes[row].parent >= 0:
            sums[nodes[row].parent] += sums[row]
    return sums


def panes_of(waits: Waits) -> Panes:
    """The trees of an analysis of waits: metrics with any value, call paths and threads.

    Of very many call paths those with least time are in their callers; of very many threads
    neighbours share a row.
    """
    sizes = iter(_SIZES)
    made = _sized(waits, *next(sizes))
    while sum(len(value) for *_, value in made.values) > _MOST_VALUES:
        if (size := next(sizes, None)) is None:
            break
        made = _sized(waits, *size)
    return made


def _sized(waits: Waits, most_paths: int, most_threads: int) -> Panes:
    """The trees with at most so many call paths and threads."""
    names, metrics = _metrics(waits)
    paths, place, left_out = _paths(waits, names, most_paths)
    threads, leaves, leaf_of = _threads(waits, most_threads)
    values = [_values(waits, name, place, leaf_of, leaves) for name in names]
    waiting = [name in WAITS for name in names]
    totals = [int(value.sum()) for *_, value in values]
    picked = max(range(len(names)), key=lambda k: (waiting[k], totals[k]), default=0)
    return Panes(metrics, paths, threads, leaves, values, picked, left_out)


def _values(
    waits: Waits, name: str, place: Integers, leaf_of: Integers, leaves: Sequence[int]
) -> tuple[Integers, Integers, Integers]:
    """What call paths and threads have of a metric, without zeros."""
    stored = waits.profile.stored[name]
    columns = sums_by(leaf_of, stored.values.T, (len(leaves), len(stored.call_paths)))
    shape = int(place.max(initial=-1)) + 1, len(leaves)
    summed = sums_by(place[stored.call_paths], columns.T, shape)
    path, leaf = np.nonzero(summed)
    return path, leaf, summed[path, leaf]


def _metrics(waits: Waits) -> tuple[list[str], list[Node]]:
    """The metrics with any value, in the order of their tree, and their rows."""
    profile = waits.profile
    row_of: dict[int, int] = {}
    names: list[str] = []
    nodes = []
    for row in profile.metrics.to_pylist():
        parent = row["parent"]
        if (row["name"] not in _ROOTS) if parent is None else (parent not in row_of):
            continue
        row_of[row["metric"]] = row_of.get(parent, -1)
        if row["name"] not in profile.stored or row["unit"] != waits.unit:
            continue
        if PARENTS[row["name"]].endswith("_aggregate") or not profile.total(row["name"]):
            continue
        nodes.append(Node(row["title"], row_of.get(parent, -1), row["description"]))
        row_of[row["metric"]] = len(names)
        names.append(row["name"])
    return names, nodes


def _paths(waits: Waits, names: Sequence[str], most: int) -> tuple[list[Node], Integers, int]:
    """The rows of call paths, the one that each is told in, and how many are left out."""
    profile = waits.profile
    used = np.zeros(profile.call_paths.num_rows, bool)
    for name in names:
        used[profile.stored[name].call_paths] = True
    parents = profile.call_paths["parent"].fill_null(-1).to_numpy().tolist()
    weight = np.zeros(len(used), np.int64)
    for name in _ROOTS:
        if name in profile.stored:
            stored = profile.stored[name]
            np.add.at(weight, stored.call_paths, np.abs(stored.values).sum(axis=1))
    order = np.argsort(-weight, kind="stable")
    keep: set[int] = set()
    for row in order[used[order]].tolist():
        above, node = [], row
        while node >= 0 and node not in keep:
            above.append(node)
            node = parents[node]
        if len(keep) + len(above) <= most:
            keep.update(above)
    kept, labels = sorted(keep), profile.names()
    numbers = {row: number for number, row in enumerate(kept)}
    paths = [Node(labels[row], numbers.get(parents[row], -1)) for row in kept]
    place = placed(np.arange(len(kept)), kept, len(used), -1)
    for row in range(len(used)):  # parents come before their children
        if place[row] < 0 <= parents[row]:
            place[row] = place[parents[row]]
    if (place[used] < 0).any():
        place[place < 0] = len(paths)
        paths.append(Node("other call paths", -1))
    return paths, place, int(used.sum()) - int(used[kept].sum())


def _threads(waits: Waits, most: int) -> tuple[list[Node], list[int], Integers]:
    """The rows of threads, those that values are of, and the one of each location."""
    ranks, threads = (waits.profile.locations[k].to_pylist() for k in ("rank", "thread"))
    by = -(-len(ranks) // most)
    if by > 1:
        groups = [range(k, min(k + by, len(ranks))) for k in range(0, len(ranks), by)]
        nodes = [Node(f"{ranks[each[0]]}-{ranks[each[-1]]}", -1) for each in groups]
        leaf_of = np.arange(len(ranks)) // by
        return nodes, [*range(len(groups))], leaf_of
    nodes, leaves = [], []
    rank_rows: dict[int, int] = {}
    for rank, thread in zip(ranks, threads, strict=True):
        is_alone = ranks.count(rank) == 1
        if rank not in rank_rows:
            rank_rows[rank] = len(nodes)
            nodes.append(Node(f"rank {rank}", -1))
        if not is_alone:
            nodes.append(Node(f"{rank}.{thread}", rank_rows[rank]))
        leaves.append(len(nodes) - 1)
    return nodes, leaves, np.arange(len(ranks))


def panes(waits: Waits) -> Html:
    """The panes as tables, which a script makes trees that fold and divide each other."""
    made = panes_of(waits)
    if not made.metrics:
        return Html("")
    whole = int(waits.profile.total("time")) if "time" in waits.profile.stored else 0
    totals = made.totals()
    name = made.metrics[made.picked].name
    share = share_text(totals[made.picked] / whole) if whole else "-"
    time = format_ns(totals[made.picked])
    said = f"{name} is {time}, {share} of the time of all threads"
    note = (
        "What is picked on the left is divided in the middle, and what is picked there on the "
        "right. Each row includes those below it."
    )
    if made.left_out:
        note += f" {made.left_out:,} short call paths are told with their callers."
    tables = [
        _pane("Metric", _told(made.metrics, totals, order=False), has_share=False),
        _pane(f"{name} by call path", _told(made.paths, made.of_paths(made.picked))),
        _pane(
            f"{name} by thread", _told(made.threads, made.of_threads(made.picked), order=False)
        ),
    ]
    data = {
        "metrics": _nodes(made.metrics),
        "paths": _nodes(made.paths),
        "threads": _nodes(made.threads),
        "leaves": made.leaves,
        "values": [[each.tolist() for each in of_metric] for of_metric in made.values],
        "picked": made.picked,
        "whole": whole,
    }
    return join(
        tag("div", heading(said, note), id="panes-head"),
        tag("div", *tables, id="panes", class_="panes"),
        data_block("panes-data", data),
    )


def _pane(head: str, rows: Sequence[tuple[str, int, int]], *, has_share: bool = True) -> Html:
    whole = sum(value for _, value, depth in rows if not depth) or 1
    cells = [[name, value, *[value / whole] * has_share] for name, value, _ in rows]
    columns = [Column(head), Column("Time", TIME), *[Column("Share", SHARE)] * has_share]
    depths = [depth for *_, depth in rows]
    most = _MOST_TOLD if has_share else len(rows)
    return tag("div", table(Table(columns, cells, depths=depths), most=most))


def _nodes(nodes: Sequence[Node]) -> Mapping[str, Any]:
    return {
        "name": [printable(node.name, limit=_LONGEST) for node in nodes],
        "parent": [node.parent for node in nodes],
        "said": [node.said for node in nodes],
    }


def _told(
    nodes: Sequence[Node], values: Sequence[int] | Integers, *, order: bool = True
) -> list[tuple[str, int, int]]:
    """Names, values and depths of the rows that matter, in the order of the tree."""
    children: dict[int, list[int]] = {}
    for row, node in enumerate(nodes):
        children.setdefault(node.parent, []).append(row)
    least = max((int(values[row]) for row in children.get(-1, [])), default=0) * _LEAST_TOLD

    def below(row: int, depth: int) -> Iterator[tuple[str, int, int]]:
        rows = [each for each in children.get(row, []) if values[each] > least * order]
        if order:
            rows.sort(key=lambda each: -values[each])
        for each in rows:
            yield nodes[each].name, int(values[each]), depth
            yield from below(each, depth + 1)

    return [*below(-1, 0)]
