"""Fidelity: how much of the calls of a trace a structure reproduces when it is expanded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline.columns import Integers
from burstline.structure.program.nodes import Call, Item, Loop, walk
from burstline.structure.program.runs import Runs

Sequences = npt.NDArray[np.int32]

WINDOW: Final = 1 << 14
"""Longest stretch of calls that is compared exactly."""


@dataclass(frozen=True, slots=True, eq=False)
class Expander:
    """A program, ready to be expanded into the calls of its lanes."""

    # (nodes,) site of each call, -1 for other nodes; the node behind the last one inside
    symbol: npt.NDArray[np.int32]
    end: npt.NDArray[np.int32]
    executions: Integers  # (nodes, lanes) how often each was executed
    # (nodes,) whether `when` and `trips` say anything about it
    knows_when: npt.NDArray[np.uint8]
    knows_trips: npt.NDArray[np.uint8]
    # as the nodes have them, for each (node, lane)
    when: Runs
    trips: Runs

    @classmethod
    def of(cls, items: Sequence[Item], lanes: int) -> Expander:
        """A program of so many lanes, ready to be expanded."""
        nodes = [item for item, _ in walk(items)]
        ends = np.zeros(len(nodes), np.int32)
        open_nodes: list[tuple[int, int]] = []
        for number, (_, depth) in enumerate(walk(items)):
            while open_nodes and open_nodes[-1][1] >= depth:
                ends[open_nodes.pop()[0]] = number
            open_nodes.append((number, depth))
        ends[[number for number, _ in open_nodes]] = len(nodes)
        when = [node.when for node in nodes]
        trips = [node.trips if isinstance(node, Loop) else None for node in nodes]
        symbols = [node.site if isinstance(node, Call) else -1 for node in nodes]
        executions = np.array([node.executions for node in nodes], np.int64)
        return cls(
            symbol=np.array(symbols, np.int32),
            end=ends,
            executions=executions.reshape(-1, lanes),
            knows_when=np.array([runs is not None for runs in when], np.uint8),
            knows_trips=np.array([runs is not None for runs in trips], np.uint8),
            when=Runs.joined(when, lanes),
            trips=Runs.joined(trips, lanes),
        )

    def lane(self, number: int) -> Sequences:
        """The calls that the program makes on one lane, in order, shape (executed calls,)."""
        # Unknown executions are spread evenly: a loop of 2.5 iterations has 2 and 3 in turns.
        return _core.expand(
            self.symbol,
            self.end,
            self.executions.ravel(),
            self.knows_when,
            self.knows_trips,
            self.when.columns(),
            self.trips.columns(),
            self.executions.shape[1],
            number,
        )

    def kinds(self) -> Integers:
        """A number per lane, equal where lanes have the same calls in the same order."""
        numbers: dict[bytes, int] = {}
        lanes = self.executions.shape[1]
        keys = (
            self.executions[:, lane].tobytes()
            + self.when.every(lanes, lane)
            + self.trips.every(lanes, lane)
            for lane in range(lanes)
        )
        return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def similarity(a: Sequences, b: Sequences, *, window: int = WINDOW) -> float:
    """How alike two sequences are: 1 - (insertions + deletions) / (both lengths)."""
    if not len(a) and not len(b):
        return 1.0
    common = _core.common_in_order(np.ascontiguousarray(a), np.ascontiguousarray(b), window)
    return 2 * common / (len(a) + len(b))
