"""Which loop each call is in, and in which turn of it, where a trace says so.

A recorded loop has the same name in every run. Loops that were detected may be others in each
run: of them only the turns are taken. Turns are counted, and a run may do one more.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from burstline.columns import Integers, Mask, take
from burstline.identity import LoopTurns
from burstline.model import (
    DETECTED,
    Trace,
    entries_above,
    innermost_entry,
    iterations_of,
    last_until,
    most_iterations,
    recorded_loops,
)

Turns = npt.NDArray[np.int32]

OUTSIDE: Final = -1
_MOST: Final = 2**30


def loops_of(trace: Trace) -> LoopTurns | None:
    """The loop around each call, and its turn; nothing if the trace does not say.

    >>> from burstline.testing import trace_of
    >>> loops_of(trace_of("ranks 1 | 0 | 1 enter MPI_Barrier | 2 leave")) is None
    True
    """
    if not trace.rows("loops"):
        return None
    (origin,) = trace.arrays("loops", "origin")
    (loop,) = trace.arrays("loop_entries", "loop")
    recorded = recorded_loops(trace)[loop]
    detected = (origin == DETECTED)[loop]
    number = np.full(trace.rows("calls"), OUTSIDE, np.int64)
    if trace.rows("call_loops"):  # without entries, all turns are -1
        names, number = _loop_names(trace, _labelled_loops(trace))
    elif detected.any():
        return LoopTurns(number, _outermost_turns(trace, detected), [])
    elif recorded.any():
        location, enter_ns = trace.arrays("calls", "location", "enter_ns")
        row = innermost_entry(trace, location, enter_ns, recorded)
        names, number = _loop_names(trace, take(loop, row).astype(np.int64))
    else:
        return None
    iterates = recorded & (most_iterations(trace) > 1)[loop]
    return LoopTurns(number, _outermost_turns(trace, iterates), names)


def _labelled_loops(trace: Trace) -> Integers:
    """The loop that each call is labelled with; one without a label has that of the last."""
    location, call, loop = trace.arrays("call_loops", "location", "call", "loop")
    where, ordinal = trace.arrays("calls", "location", "call")
    return take(loop, last_until((location, call), (where, ordinal))).astype(np.int64)


def _loop_names(trace: Trace, loop: Integers) -> tuple[list[str], Integers]:
    """Loops by names that other runs give them, too; only those that calls are in."""
    texts = trace.table("loops")["name"].to_pylist()
    names: dict[str, int] = {}
    codes = np.full(len(texts) + 1, OUTSIDE, np.int64)
    for row in np.unique(loop[loop >= 0]).tolist():
        codes[row] = names.setdefault(texts[row], len(names))
    return list(names), codes[loop]


def _outermost_turns(trace: Trace, chosen: Mask) -> Turns:
    """The iteration, at each call, of the outermost chosen entry."""
    location, enter_ns = trace.arrays("calls", "location", "enter_ns")
    row = innermost_entry(trace, location, enter_ns, chosen)
    outermost = np.where(chosen, np.arange(len(chosen)), OUTSIDE)
    around = entries_above(trace).copy()
    while (out := np.flatnonzero(around >= 0)).size:
        outer = outermost[around[out]]
        outermost[out] = np.where(outer >= 0, outer, outermost[out])
        around[out] = around[around[out]]  # each turn doubles how far it looks
    entry, time_ns, iteration = iterations_of(trace)
    order = np.lexsort((time_ns, entry))
    entry, time_ns, iteration = entry[order], time_ns[order], iteration[order]
    last = last_until((entry, time_ns), (take(outermost, row), enter_ns))
    turn = take(iteration, last, OUTSIDE)
    return np.clip(turn, OUTSIDE, _MOST).astype(np.int32)
