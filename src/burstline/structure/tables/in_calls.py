"""Counters in calls: what processors did in MPI, where both ends of a call were read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from burstline.columns import Floats, Integers
from burstline.model import NO_VALUE, Trace, inside_calls
from burstline.structure.program.model import Structure
from burstline.structure.program.nodes import Call, walk


@dataclass(frozen=True, slots=True, eq=False)
class InCalls:
    """Sums of counters in the calls of a structure, and in how many they were read."""

    structure: Structure
    # by counter, (lanes, sites) calls with both ends read, and what was counted in them
    read: Mapping[str, Integers]
    sums: Mapping[str, Floats]

    def of(self, call: Call, ranks: Collection[int] | None = None) -> dict[str, float]:
        """The mean of each counter in a call on some ranks; without those never read."""
        lanes = call.executions > 0
        if ranks is not None:
            lanes &= np.isin(self.structure.ranks, list(ranks))
        means = {}
        for name, read in self.read.items():
            times = int(read[lanes, call.site].sum())
            if times:
                means[name] = float(self.sums[name][lanes, call.site].sum() / times)
        return means

    def rows(self) -> Iterator[dict[str, Any]]:
        """Each call of the program in which a counter was read, with the means."""
        for item, _ in walk(self.structure.items):
            if isinstance(item, Call) and (means := self.of(item)):
                yield item.place | {"counters": means}


def in_calls(trace: Trace, structure: Structure) -> InCalls:
    """What counters counted in the calls of a structure, where both ends were read.

    Parameters
    ----------
    trace : Trace
        Its calls and readings are read.
    structure : Structure
        What was found in it.

    Returns
    -------
    InCalls
        By call and rank.

    Examples
    --------
    >>> from burstline.structure import detect
    >>> from burstline.testing import trace_of
    >>> steps = [
    ...     f"{9 * k} enter MPI_Barrier path 0 ins=5 | {9 * k + 2} leave ins=3"
    ...     for k in range(4)
    ... ]
    >>> source = "counter ins | path 0 main file a.c line 3"
    >>> trace = trace_of(f"ranks 1 | {source} | 0 | {' | '.join(steps)}")
    >>> list(in_calls(trace, detect(trace)).rows())[0]["counters"]
    {'ins': 3.0}
    """
    calls, sites = structure.found_in, len(structure.reduced.sites)
    tables = {
        name: trace.table(name) for name in ("locations", "calls", "readings", "counters")
    }
    shape = len(calls.ranks), sites
    size = shape[0] * shape[1]
    of_call = calls.lane * sites + structure.steps.sequence
    read, sums = {}, {}
    for name, values in inside_calls(tables).items():
        own = values[calls.row]
        known = np.flatnonzero(own != NO_VALUE)
        times = np.bincount(of_call[known], minlength=size)
        counted = np.bincount(of_call[known], own[known], size).astype(np.float64)
        read[name], sums[name] = times.reshape(shape), counted.reshape(shape)
    return InCalls(structure, read, sums)
