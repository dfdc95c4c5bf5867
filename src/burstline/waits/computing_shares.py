"""Values of computing between calls, given to the functions that samples saw there.

What a stretch took is divided by its own samples. Costs of delays are caused by what a thread
computes longer than others, so they are divided by what it is longer in each function; what is
longer in stretches without a sample stays with their calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from burstline.columns import Floats, Integers
from burstline.identity import CallTree
from burstline.model import Trace
from burstline.synchronisation import Sync
from burstline.waits.sampled import time_by_function
from burstline.waits.stops import computing

_CAUSES: Final = "delay"
_BETWEEN: Final = ("computing up to ", "between ")
"""What names of computing between calls begin with."""


@dataclass(frozen=True, slots=True, eq=False)
class ComputingShares:
    """By call path of computing: those of its functions, and their shares of it."""

    functions: dict[int, list[int]]
    # (functions, locations) of the time, and of what a location takes longer than others
    time: dict[int, Floats]
    longer: dict[int, Floats]

    def divided(
        self, metric: str, rows: Integers, values: Integers
    ) -> tuple[Integers, Integers]:
        """The values of a metric by call path, those of computing divided; sums stay."""
        shares = self.longer if metric.startswith(_CAUSES) else self.time
        more_rows, more_values = [rows], [values.copy()]
        for place, functions in self.functions.items():
            at = int(np.searchsorted(rows, place))
            if at == len(rows) or rows[at] != place:
                continue
            parts = np.floor(values[at] * shares[place]).astype(np.int64)
            more_values[0][at] -= parts.sum(axis=0)
            more_rows.append(np.array(functions, rows.dtype))
            more_values.append(parts)
        every = np.concatenate(more_rows)
        order = np.argsort(every, kind="stable")
        return every[order], np.concatenate(more_values)[order]


def computing_shares(
    trace: Trace, sync: Sync, tree: CallTree, time: Integers
) -> ComputingShares:
    """How computing is divided; `time` is that of each call path on each location."""
    functions = functions_of_places(tree)
    found = ComputingShares(functions, {}, {})
    if not functions:
        return found
    names = tree.nodes.select(["function", "file"]).to_pylist()
    of_place = time_by_function(trace, *computing(sync))
    for place, nodes in functions.items():
        spent = time[place].astype(np.float64)
        seen, none = of_place.get(place, {}), np.zeros(len(spent))
        keys = ((names[node]["function"], names[node]["file"]) for node in nodes)
        parts = np.stack([seen.get(key, none) for key in keys])
        # Parts of a run may hold less than the stretches of all of it.
        parts *= np.minimum(1.0, spent / np.maximum(parts.sum(axis=0), 1.0))
        found.time[place] = parts / np.maximum(spent, 1.0)
        found.longer[place] = _longer(parts, spent - parts.sum(axis=0))
    return found


def functions_of_places(tree: CallTree) -> dict[int, list[int]]:
    """The call paths of functions that samples saw, by that of the computing they are in."""
    nodes = tree.nodes.select(["parent", "function"]).to_pylist()
    found: dict[int, list[int]] = {}
    for number, node in enumerate(nodes):
        above = node["parent"]
        if above is not None and nodes[above]["function"].startswith(_BETWEEN):
            found.setdefault(above, []).append(number)
    return found


def _longer(parts: Floats, rest: Floats) -> Floats:
    """The share of each part in what a location takes longer than the others, on average."""
    every = np.vstack([parts, rest])
    others = max(every.shape[1] - 1, 1)
    mean = (every.sum(axis=1, keepdims=True) - every) / others
    more = np.maximum(every - mean, 0.0)
    whole = more.sum(axis=0)
    by_time = every / np.maximum(every.sum(axis=0), 1.0)
    shares: Floats = np.where(whole > 0, more / np.maximum(whole, 1.0), by_time)
    return shares[:-1]
