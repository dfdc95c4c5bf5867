"""Computation without function events: it belongs to the code between two calls.

Its node is ``FUNCTION (FILE:12-40)``, below the deepest frame that both calls were made
from: the function that both are in, or were called from, and the two lines there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from burstline.columns import UNKNOWN, take
from burstline.profile import CALL_PATHS

if TYPE_CHECKING:
    import numpy.typing as npt

    from burstline.columns import AnyIntegers
    from burstline.identity import CallTree
    from burstline.sync import Sync

_Row = dict[str, Any]


def with_computation(sync: Sync, tree: CallTree) -> tuple[Sync, CallTree]:
    """The same with a node for each pair of neighbouring calls that has no region around it."""
    rows = _followed(sync)
    if not len(rows):
        return sync, tree
    calls = sync.calls
    count = tree.nodes.num_rows
    pairs, pair = np.unique(
        calls.node[rows].astype(np.int64) * count + calls.node[rows + 1], return_inverse=True
    )
    table = tree.nodes.to_pylist()
    numbers: dict[tuple[int, str], int] = {}
    made = [_computation(table, numbers, *divmod(key, count)) for key in pairs.tolist()]
    order = _preorder(table)
    between = np.full(len(calls.node), UNKNOWN, np.int32)
    between[rows] = order[np.array(made)[pair.reshape(-1)]]
    ordered: list[_Row] = [{}] * len(table)
    for number, row in enumerate(table):
        parent = row["parent"]
        place = {"call_path": int(order[number])}
        above = {"parent": None if parent is None else int(order[parent])}
        ordered[order[number]] = row | place | above
    tree = replace(
        tree,
        nodes=pa.Table.from_pylist(ordered, CALL_PATHS),
        call_node=_renumbered(tree.call_node, order),
        region_node=_renumbered(tree.region_node, order),
    )
    return replace(
        sync,
        calls=replace(calls, node=_renumbered(calls.node, order)),
        regions=replace(sync.regions, node=_renumbered(sync.regions.node, order)),
        between=between,
    ), tree


def _followed(sync: Sync) -> AnyIntegers:
    """Rows of calls that another follows, on locations without a region around all of them."""
    calls, regions = sync.calls, sync.regions
    first = np.minimum(calls.begin[:-1], max(len(calls.node) - 1, 0))
    bare = sync.programs[2] < 0
    # Threads of a team that are in none do not compute: they wait for the next one.
    in_team = np.bincount(regions.location[sync.teams.region], minlength=sync.locations) > 0
    bare &= ~in_team | (sync.thread == 0)
    if len(calls.node) and len(regions.node):
        last = np.maximum(calls.begin[1:] - 1, 0)
        around = (regions.enter_seq < calls.enter_seq[first][regions.location]) & (
            regions.leave_seq > calls.leave_seq[last][regions.location]
        )
        bare = bare & (np.bincount(regions.location[around], minlength=sync.locations) == 0)
    rows = np.flatnonzero(bare[calls.location])
    return rows[
        (rows + 1 < len(calls.node))
        & (calls.location[np.minimum(rows + 1, len(calls.node) - 1)] == calls.location[rows])
    ]


def _computation(
    table: list[_Row], numbers: dict[tuple[int, str], int], before: int, after: int
) -> int:
    """The node of the code between two calls, made if there is none."""
    chain, other = _chain(table, before), _chain(table, after)
    common = 0
    while common < min(len(chain), len(other)) and chain[common] == other[common]:
        common += 1
    frames = [table[path[common]] if common < len(path) else None for path in (chain, other)]
    a, b = frames
    if a is None or b is None or a["function"] != b["function"] or a["file"] != b["file"]:
        # Both go on from one line, or are at the same place again.
        common -= 1
        a = b = table[chain[common]] if common > 0 else None
    parent = chain[max(common, 1) - 1]
    if a is None or b is None:
        names = (table[call]["function"] for call in (before, after))
        row = {"function": f"between {' and '.join(names)}"}
    else:
        row = _code(a, b)
    key = (parent, row["function"])
    if key not in numbers:
        numbers[key] = len(table)
        empty: _Row = dict.fromkeys(CALL_PATHS.names)
        kind = {"paradigm": "compiler", "role": "function"}
        table.append(empty | kind | row | {"parent": parent})
    return numbers[key]


def _code(a: _Row, b: _Row) -> _Row:
    """What a node says of the code between two lines of a function."""
    lines = "" if a["begin_line"] is None else f":{a['begin_line']}-{b['begin_line']}"
    place = f" ({a['file']}{lines})" if a["file"] else ""
    return {
        "function": f"{a['function']}{place}",
        "file": a["file"],
        "begin_line": a["begin_line"],
        "end_line": b["begin_line"],
    }


def _chain(table: list[_Row], call: int) -> list[int]:
    """The nodes above a call, outermost first."""
    chain = []
    node = table[call]["parent"]
    while node is not None:
        chain.append(node)
        node = table[node]["parent"]
    return chain[::-1] or [call]


def _preorder(table: list[_Row]) -> AnyIntegers:
    below: dict[int | None, list[int]] = {}
    for number, row in enumerate(table):
        below.setdefault(row["parent"], []).append(number)
    order = np.zeros(len(table), np.int32)
    waiting, place = below[None][::-1], 0
    while waiting:
        node = waiting.pop()
        order[node] = place
        place += 1
        waiting += below.get(node, [])[::-1]
    return order


def _renumbered(node: AnyIntegers, order: AnyIntegers) -> npt.NDArray[np.int32]:
    return take(order, node).astype(np.int32)
