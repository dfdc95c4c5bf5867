"""Labels: which loop of the source is around each MPI call, where the trace says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from burstline.columns import Integers, Mask, Ordinals, take
from burstline.errors import NotEnoughDataError
from burstline.model import Trace, innermost_entry, most_iterations, recorded_loops
from burstline.structure.calls import Calls

NO_LABEL: Final = -1
"""Loop of a call that has no label: nobody knows whether it is in one."""

OUTSIDE: Final = 0
"""Loop of a call that is in no loop."""


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The loop of the source around each MPI call."""

    # (calls,) number of the innermost loop; 0 outside of loops, -1 where the trace does not say
    loop: Integers
    names: Mapping[int, str]  # where each loop is, as ``file:line``
    source: Literal["events", "regions"]  # what the labels were recorded as

    @property
    def unlabelled(self) -> int:
        """Calls without a label."""
        return int(np.count_nonzero(self.loop == NO_LABEL))

    def name(self, loop: int) -> str:
        """What a loop is called."""
        if loop == OUTSIDE:
            return "outside of loops"
        return self.names.get(loop) or f"loop {loop}"


def labels_of(trace: Trace, calls: Calls, *, repeated: bool = False) -> Labels:
    """The label of each MPI call.

    Parameters
    ----------
    trace : Trace
        Its `call_loops` are read, or its `loop_entries` if no call was labelled.
    calls : Calls
        The calls of one application in it: `found_in` of a structure.
    repeated : bool
        Whether only loops count that some entry went round at least twice; calls in others
        are in the loop around. No trace of a run shows more loops than these. Recorded loops
        say so, with their iterations; labels of calls do not.

    Returns
    -------
    Labels
        One per call.

    Raises
    ------
    NotEnoughDataError
        If the trace has neither labels nor recorded loops; if loops that repeat are wanted and
        no recorded loop has its iterations.

    Notes
    -----
    O(calls + entries). Neither loops of OpenMP, constructs of the runtime, nor detected loops
    are labels. Where loops were recorded in some iterations only, and no label, calls of the
    other iterations seem to be in the loop around: record labels then.

    Examples
    --------
    >>> from burstline.structure import detect
    >>> from burstline.testing import trace_of
    >>> loop = "region solve paradigm user role loop file a.c begin 7 end 9"
    >>> steps = "1 enter solve | 2 enter MPI_Barrier | 3 leave | 4 leave"
    >>> trace = trace_of(f"ranks 1 | {loop} | 0 | {steps} | 5 enter MPI_Barrier | 6 leave")
    >>> found = labels_of(trace, detect(trace).found_in)
    >>> [found.name(loop) for loop in found.loop.tolist()]
    ['a.c:7', 'outside of loops']
    """
    if repeated:
        is_loop = recorded_loops(trace) & (most_iterations(trace) > 1)
        why = (
            "no recorded loop says how often it went round. Record the program with its loops "
            "into a store, which keeps their iterations"
        )
    elif trace.rows("call_loops"):
        return _of_calls(trace, calls)
    else:
        is_loop = recorded_loops(trace)
        why = (
            "no call has a label that says which loop it is in. Record the program with "
            "labels of its loops, and read the trace with its events"
        )
    if not is_loop.any():
        raise NotEnoughDataError(why)
    return _of_entries(trace, calls, is_loop)


def _of_calls(trace: Trace, calls: Calls) -> Labels:
    location, call, loop = trace.arrays("call_loops", "location", "call", "loop")
    row = Ordinals(*trace.arrays("calls", "location", "call")).rows(location, call)
    of_row = np.full(trace.rows("calls"), NO_LABEL, np.int64)
    of_row[row] = loop + 1
    return Labels(of_row[calls.row], _names(trace), "events")


def _of_entries(trace: Trace, calls: Calls, is_loop: Mask) -> Labels:
    (loop,) = trace.arrays("loop_entries", "loop")
    location = calls.locations[calls.lane]
    row = innermost_entry(trace, location, calls.enter_ns, is_loop[loop])
    return Labels(take(loop, row).astype(np.int64) + 1, _names(trace), "regions")


def _names(trace: Trace) -> Mapping[int, str]:
    columns = (
        trace.table("loops")[name].to_pylist() for name in ("name", "file", "begin_line")
    )
    return {
        number: name if file is None or line is None else f"{file.rpartition('/')[2]}:{line}"
        for number, (name, file, line) in enumerate(zip(*columns, strict=True), start=1)
    }
