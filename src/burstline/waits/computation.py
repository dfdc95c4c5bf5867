"""Computation without function events: what is computed before a call, since the one before.

Nobody was told of functions that make no call, so such a stretch is given to none of them::

    main@main.c:16 ─┬─ exchange_halo@halo.c:7 ─ MPI_Irecv
                    └─ computing up to MPI_Irecv@halo.c:7      from MPI_Waitall@halo.c:11

Its place is the call that ends it: one place, whatever the call before was. A loop is entered
from the code before it once and from its own end later, and which calls come before depends on
the run and, where a program polls, on chance. So they are no part of the name, by which runs
and ranks are compared: :mod:`burstline.waits.places` lists them. A team that is forked counts
as a call: what is computed before it and behind it are two places.

It hangs below `main`, at the line that the ending call is made from. Of all functions on the
stacks of both calls, that one alone is known to have run throughout: any other may have been
left and called again, from the same line, too, if that is in a loop, and what it was called
from as well. Without `main` on both stacks (they were cut, or the program is Python) the place
is the call alone, and without stacks the operations of both calls.

Below it is a node for each function that samples saw there: what a stretch with samples took
is divided by them, and one without stays with its calls.

Where time on a processor was counted, a stretch that is long but hardly computed is a place of
its own, ``off the processor up to MPI_Irecv``: the thread read files, slept, or waited for a
processor, and no function is to blame for that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import UNKNOWN, AnyIntegers, Integers, Mask, placed, take
from burstline.identity import MAINS
from burstline.model import CALL_PATHS, Trace
from burstline.synchronisation import Graph, Sync, sync_of
from burstline.waits.absence import OFF_PROCESSOR, off_stretches
from burstline.waits.sampled import Sampled, functions_by_place
from burstline.waits.stops import Stops, stops_of

_Row = dict[str, Any]
_NO_FRAMES: Final = frozenset({"measurement", "mpi"})
"""Paradigms above a call that has no stack, and no region around it."""


def with_computation(graph: Graph) -> Graph:
    """The same with a node, if it has none, for what is computed between calls in no region."""
    sync, tree = graph.sync, graph.tree
    if len(sync.computation_node):
        return graph
    stops = stops_of(sync)
    rows = stops.before_others()
    rows = rows[_is_bare(sync)[stops.location[rows]]]
    if not len(rows):
        return graph
    calls = sync.calls
    count = tree.nodes.num_rows
    pairs = stops.node[rows].astype(np.int64) * count + stops.node[rows + 1]
    is_off = _is_off(graph.trace, sync, stops, rows)
    keys, pair = np.unique(2 * pairs + is_off, return_inverse=True)
    table = tree.nodes.to_pylist()
    numbers: dict[tuple[int, str, int], int] = {}
    made = [
        _computation_node(table, numbers, *divmod(key // 2, count), is_off=bool(key % 2))
        for key in keys.tolist()
    ]
    of_row = np.array(made)[pair.reshape(-1)]
    for at, functions in functions_by_place(graph.trace, stops, rows, of_row).items():
        table += _functions_in(table[at], at, functions)
    order = _preorder(table)
    follows = np.full(len(calls.node) + len(sync.regions.node), UNKNOWN, np.int32)
    follows[stops.row[rows]] = order[of_row]
    between, resumed = follows[: len(calls.node)], follows[len(calls.node) :]
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
    sync = replace(
        sync,
        calls=replace(calls, node=_renumbered(calls.node, order)),
        regions=replace(sync.regions, node=_renumbered(sync.regions.node, order)),
        computation_node=between,
        resumed=resumed,
    )
    return replace(graph, tree=tree, sync=sync)


def at_times_of(graph: Graph, trace: Trace) -> Graph:
    """The same call paths, off the processor as recorded, at the times of another trace."""
    sync = graph.sync
    moved = replace(
        sync_of(trace, graph.tree), computation_node=sync.computation_node, resumed=sync.resumed
    )
    return replace(graph, trace=trace, sync=moved)


def _functions_in(site: _Row, place: int, seen: Sequence[Sampled]) -> Iterator[_Row]:
    """A node for each function that samples saw between two calls, where it computes."""
    if site["function"].startswith(OFF_PROCESSOR):
        return
    empty: _Row = dict.fromkeys(CALL_PATHS.names)
    kind = {"paradigm": "compiler", "role": "function", "parent": place}
    for name, file in dict.fromkeys((each.function, each.file) for each in seen):
        yield empty | kind | {"function": name, "file": file}


def _is_off(trace: Trace, sync: Sync, stops: Stops, rows: Integers) -> Integers:
    """1 for each stretch between two calls in which nobody computes, by its thread's clock."""
    location, before, _, _ = off_stretches(trace)
    calls = sync.calls
    off = placed(1, calls.begin[location] + before, len(calls.node))
    of_call, next_of = stops.row[rows], stops.row[rows + 1]
    is_whole = (of_call < len(calls.node)) & (next_of == of_call + 1)
    return take(off, np.where(is_whole, of_call, UNKNOWN), 0)


def _is_bare(sync: Sync) -> Mask:
    """Which locations have no region around all of their calls, shape (locations,)."""
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
    return bare


def _computation_node(
    table: list[_Row],
    numbers: dict[tuple[int, str, int], int],
    before: int,
    after: int,
    *,
    is_off: bool,
) -> int:
    """The node of what is computed between two calls, made if there is none."""
    start, end = (_nodes_above(table, call) for call in (before, after))
    operation, parent = table[after]["function"], end[0]
    if all(table[node]["paradigm"] in _NO_FRAMES for node in end):
        call = UNKNOWN
        what = f"{OFF_PROCESSOR} between" if is_off else "between"
        row: _Row = {"function": f"{what} {table[before]['function']} and {operation}"}
    else:
        call, row = (
            after,
            _computing_up_to(
                table[end[-1]], operation, OFF_PROCESSOR if is_off else "computing"
            ),
        )
        mains = [_outermost_mains(table, chain) for chain in (start, end)]
        if all(mains):
            parent = mains[1][min(map(len, mains)) - 1]
    key = (parent, row["function"], call)
    if key not in numbers:
        numbers[key] = len(table)
        empty: _Row = dict.fromkeys(CALL_PATHS.names)
        kind = {"paradigm": "compiler", "role": "function"}
        table.append(empty | kind | row | {"parent": parent})
    return numbers[key]


def _outermost_mains(table: list[_Row], chain: list[int]) -> list[int]:
    """The outermost nodes of a chain that are where the program begins: they are never left."""
    frames = (node for node in chain if table[node]["paradigm"] != "measurement")
    return [*takewhile(lambda node: table[node]["function"] in MAINS, frames)]


def _computing_up_to(frame: _Row, operation: str, what: str) -> _Row:
    is_line = frame["begin_line"] is not None and frame["end_line"] is None
    is_known = frame["file"] and is_line and " @" not in operation  # a construct has its own
    place = f"@{frame['file']}:{frame['begin_line']}" if is_known else ""
    return {
        "function": f"{what} up to {operation}{place}",
        "file": frame["file"],
        "begin_line": frame["begin_line"] if is_line else None,
    }


def _nodes_above(table: list[_Row], call: int) -> list[int]:
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
