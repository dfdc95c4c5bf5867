"""How many compute at the same time: on each node, averaged over each burst.

::

    starts, ends of all bursts of a node  --sort-->  steps of "how many compute now"
    its integral from the beginning, I(t)  -->  (I(end) - I(start)) / (end - start)

Sums of nanoseconds are integers, so no burst depends on how many came before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from burstline.columns import prefix_sums, quotients

if TYPE_CHECKING:
    from collections.abc import Iterable

    from burstline.columns import AnyIntegers, Floats, Integers


class Computing:
    """How many threads of one node compute, as a function of time.

    >>> import numpy as np
    >>> node = Computing(np.array([0, 5]), np.array([10, 10]))
    >>> node.average(np.array([0, 5]), np.array([10, 10]))
    array([1.5, 2. ])
    """

    def __init__(self, start_ns: Integers, end_ns: Integers) -> None:
        times = np.concatenate([start_ns, end_ns])
        # stable: it merges the sorted stretches that the threads are
        order = np.argsort(times, kind="stable")
        times = times[order]
        running = np.cumsum(np.where(order < len(start_ns), 1, -1), dtype=np.int32)
        last = np.append(times[1:] != times[:-1], True)[: len(times)]
        self._time, self._running = times[last], running[last]
        self._spent = prefix_sums(self._running[:-1] * np.diff(self._time))

    @property
    def total_ns(self) -> int:
        """The time that all threads of the node computed."""
        return int(self._spent[-1])

    def before(self, time_ns: Integers) -> Integers:
        """The time computed before some moments, over all threads, in ns, shape (n,)."""
        if not len(self._time):
            return np.zeros(len(time_ns), np.int64)
        step = np.maximum(np.searchsorted(self._time, time_ns, side="right") - 1, 0)
        since = np.maximum(time_ns - self._time[step], 0)
        return self._spent[step] + self._running[step] * since

    def average(self, start_ns: Integers, end_ns: Integers) -> Floats:
        """How many compute on average in some intervals, shape (n,)."""
        return quotients(self.before(end_ns) - self.before(start_ns), end_ns - start_ns)


class Concurrency:
    """How many threads compute on each node."""

    def __init__(
        self,
        node_of: AnyIntegers,
        bursts: Iterable[tuple[AnyIntegers, Integers, Integers]],
    ) -> None:
        self._node_of = node_of
        parts: dict[int, list[tuple[Integers, Integers]]] = {}
        for location, start_ns, end_ns in bursts:
            node = node_of[location]
            for number in np.unique(node[node >= 0]).tolist():
                on_node = node == number
                parts.setdefault(number, []).append((start_ns[on_node], end_ns[on_node]))
        self._nodes = {}
        while parts:
            number, pieces = parts.popitem()
            starts, ends = (np.concatenate(column) for column in zip(*pieces, strict=True))
            self._nodes[number] = Computing(starts, ends)

    def seen_from(self, node_of: AnyIntegers) -> Concurrency:
        """The same for other locations on the same nodes."""
        other = Concurrency(node_of, ())
        other._nodes = self._nodes
        return other

    def average(self, location: AnyIntegers, start_ns: Integers, end_ns: Integers) -> Floats:
        """How many compute on each burst's node on average while it lasts, shape (bursts,)."""
        node = self._node_of[location]
        averages = np.full(len(node), np.nan)
        for number in np.unique(node[node >= 0]).tolist():
            on_node = np.flatnonzero(node == number)
            if number in self._nodes:
                averages[on_node] = self._nodes[number].average(
                    start_ns[on_node], end_ns[on_node]
                )
        return averages
