"""Call paths: the trees of all groups of locations become one.

What a thread does in a team hangs below the path on which the team was forked, so that all
threads of a team share their paths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from burstline.schema import UNKNOWN, row_table

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    from burstline.columns import Columns, Integers
    from burstline.formats.otf2.reading.regions import Regions


class CallPaths:
    """The calling-context tree of a trace; it grows."""

    def __init__(self, regions: Regions) -> None:
        self._regions = regions
        self._rows: dict[tuple[int, int, int], int] = {}

    def child(self, parent: int, called: int) -> int:
        """The row of a region, or of a calling context, that a path calls."""
        for region, place in self._regions.chain(called):
            parent = self._rows.setdefault((parent, region, place), len(self._rows))
        return parent

    def table(self) -> pa.Table:
        """The table `call_paths`."""
        rows = []
        for number, (parent, called, place) in enumerate(self._rows):
            name, file = self._regions.function(called)
            source, line = self._regions.place(place)
            rows.append((number, None if parent < 0 else parent, name, source or file, line))
        return row_table("call_paths", rows)


class _Tree:
    """The tree of a group of locations, on its way into that of the trace."""

    def __init__(self, paths: CallPaths, parent: Integers, region: Integers) -> None:
        self._paths = paths
        self._parent, self._region = parent.tolist(), region.tolist()
        self._rows: dict[tuple[int, int], int] = {}

    def rows(self, base: Integers, node: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """The row of each node below a row of the trace, or below none; adds rows in order."""
        width = len(self._parent) + 1
        if len(base) and (base == base[0]).all():
            bases, key = base[:1], node.astype(np.int64) + 1
        else:
            bases, place = np.unique(base, return_inverse=True)
            key = place.reshape(-1) * width + node + 1
        first = np.full(len(bases) * width, -1, np.int64)
        first[key[::-1]] = np.arange(len(key))[::-1]
        occurring = np.flatnonzero(first >= 0)
        result = np.full(len(first), UNKNOWN, np.int32)
        for number in occurring[np.argsort(first[occurring])].tolist():
            result[number] = self._row(int(bases[number // width]), number % width - 1)
        return result[key]

    def _row(self, base: int, node: int) -> int:
        chain = []
        while node >= 0 and (base, node) not in self._rows:
            chain.append(node)
            node = self._parent[node]
        row = self._rows[base, node] if node >= 0 else base
        for step in reversed(chain):
            row = self._rows[base, step] = self._paths.child(row, self._region[step])
        return row


def rehang(
    paths: CallPaths, tables: dict[str, Columns], fork: Integers, process: Integers
) -> None:
    """Replace the paths in `tables` by rows of `paths`; teams hang where they were forked."""
    tree = _Tree(paths, tables["paths"]["parent"], tables["paths"]["region"])
    base = np.full(len(fork), UNKNOWN, np.int64)
    calls, regions = tables["calls"], tables["regions"]
    held = [tables[name]["location"] for name in ("calls", "regions", "teams")]
    present = [process[of[0] : of[-1] + 1] for of in held if len(of)]
    paths_of = {
        name: np.empty(len(tables[name]["path"]), np.int32) for name in ("calls", "regions")
    }
    for number in np.unique(np.concatenate([process[:0], *present])).tolist():
        borders = np.searchsorted(process, [number, number + 1]).astype(np.int32)
        spans = [slice(*np.searchsorted(of, borders).tolist()) for of in held]
        _fill_bases(tree, tables, fork, base, spans[2])
        around = np.append(base, UNKNOWN)[regions["team"][spans[1]]]
        paths_of["regions"][spans[1]] = tree.rows(around, regions["path"][spans[1]])
        around = _bases_of_calls(calls, spans[0], tables["teams"], spans[2], base)
        paths_of["calls"][spans[0]] = tree.rows(around, calls["path"][spans[0]])
    for name, rows in paths_of.items():
        tables[name]["path"] = rows


def _fill_bases(
    tree: _Tree, tables: dict[str, Columns], fork: Integers, base: Integers, span: slice
) -> None:
    """Fill `base` with the row below which the paths in each team of a process hang."""
    # On the thread that forked, only a team around this one has such a row. Teams may be in
    # teams: the outer ones come first.
    forks, begins = tables["forks"], tables["teams"]
    open_begins = np.arange(span.start, span.stop)
    is_known = np.zeros(len(fork) + 1, bool)
    is_known[-1] = True
    open_begins = open_begins[fork[open_begins] >= 0]
    while len(open_begins):
        outer = forks["of"][fork[open_begins]]
        ready = open_begins[is_known[outer]]
        if not len(ready):
            return
        outer = forks["of"][fork[ready]]
        below = np.append(base, UNKNOWN)[outer]
        hung = tree.rows(below, forks["path"][fork[ready]])
        foreign = (begins["of"][ready] < 0) & (begins["path"][ready] < 0)
        base[ready] = np.where(foreign, hung, below)
        is_known[ready] = True
        open_begins = open_begins[~is_known[open_begins]]


def _bases_of_calls(
    calls: Columns, rows: slice, begins: Columns, span: slice, base: Integers
) -> Integers:
    """The row that the path of each call hangs below, -1 outside of teams."""
    location, enter = calls["location"][rows], calls["enter_seq"][rows]
    row = np.full(len(location), UNKNOWN, np.int64)
    if not (base[span] >= 0).any() or not len(location):
        return row
    for begin in np.arange(span.start, span.stop)[base[span] >= 0].tolist():
        first, last = np.searchsorted(
            location, [begins["location"][begin], begins["location"][begin] + 1]
        )
        end = begins["end_seq"][begin]
        borders = [begins["begin_seq"][begin], end if end >= 0 else np.iinfo(np.int64).max]
        rows_in = first + np.searchsorted(enter[first:last], borders)
        row[rows_in[0] : rows_in[1]] = base[begin]
    return row
