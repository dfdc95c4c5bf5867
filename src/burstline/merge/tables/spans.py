"""Which span between two collectives each burst of a rank is in.

The spans of a thread that calls MPI are counted by its calls; those of a thread that does not,
by the time at which a thread of its process began them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from burstline.columns import prefix_sums, to_numpy
from burstline.schema import UNKNOWN

if TYPE_CHECKING:
    from burstline.columns import AnyIntegers, Integers, Mask
    from burstline.identity import Decoder
    from burstline.trace import Trace


def span_of_rows(
    before: Integers, after: Integers, ends_span: Mask, first: Integers
) -> Integers:
    """The span of bursts between calls, shape (bursts,)."""
    sums = prefix_sums(ends_span)
    until = np.where(before >= 0, before + 1, after)
    has_call = until >= 0
    return np.where(has_call, sums[until * has_call] - sums[first * has_call], UNKNOWN)


class Begun:
    """How many spans each process has begun at any time, for threads without calls."""

    def __init__(self, trace: Trace, decoder: Decoder) -> None:
        (self._process,) = trace.arrays("locations", "process")
        names = ["location", "operation", "enter_ns"]
        whole = trace.is_stored and "calls" in trace
        parts = trace.batches("calls", names) if whole else [trace.calls.select(names)]
        processes, times = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
        for part in parts:
            ends = decoder.spanning(part)
            processes.append(self._process[to_numpy(part["location"])[ends]])
            times.append(to_numpy(part["enter_ns"])[ends])
        process, time_ns = np.concatenate(processes), np.concatenate(times)
        order = np.lexsort((time_ns, process))
        self._by_process, self._time = process[order], time_ns[order]

    def spans(self, location: AnyIntegers, start_ns: Integers) -> Integers:
        """The span of bursts of threads without calls, shape (bursts,)."""
        process = self._process[location]
        spans = np.zeros(len(process), np.int64)
        for number in np.unique(process).tolist():
            first, last = np.searchsorted(self._by_process, [number, number + 1])
            is_of_process = process == number
            times = self._time[first:last]
            spans[is_of_process] = np.searchsorted(times, start_ns[is_of_process], side="right")
        return spans
