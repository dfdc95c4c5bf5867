"""One trace with everything that synchronises in it: what waits, clocks and replays share."""

from __future__ import annotations

from dataclasses import dataclass

from burstline.identity import CallTree, rooted_tree
from burstline.model import Trace
from burstline.selection import loaded
from burstline.synchronisation.columns import Sync, sync_of


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Graph:
    """A trace, the call paths in it, and what synchronises its processes and threads."""

    trace: Trace  # each table loaded once
    tree: CallTree  # below one root
    sync: Sync


def graph_of(trace: Trace) -> Graph:
    """The graph of a trace, in O(rows log rows) and memory of the columns that synchronise."""
    trace = loaded(trace)
    tree = rooted_tree(trace)
    return Graph(trace, tree, sync_of(trace, tree))
