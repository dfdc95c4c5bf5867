"""Windows of iterations: where some iterations of a loop were, on each location."""

from __future__ import annotations

import numpy as np

from burstline.columns import Integers, row_of
from burstline.errors import ParameterError
from burstline.model import Trace
from burstline.structure.program.model import Structure


def iterations_window(
    trace: Trace, structure: Structure, loop: int, first: int = 1, last: int = -1
) -> tuple[Integers, Integers]:
    """When each location was in some iterations of a loop, each in a window of its own.

    Parameters
    ----------
    trace : Trace
        The trace the structure was found in.
    structure : Structure
        What was found.
    loop : int
        Number of the loop.
    first, last : int
        The iterations, both included, counted on each lane over all entries into the loop:
        from 1, or from the lane's own end if negative, -1 for the last.

    Returns
    -------
    tuple of (ndarray of int64, ndarray of int64), shape (locations,) each
        Begin and end, for ``select(trace, start_ns=begin, end_ns=end)``. A location without
        the loop has the window of the first one of its process that runs it; where none
        does, or not so many iterations, both are 0, and a selection leaves the location out.

    Raises
    ------
    ParameterError
        If there is no such loop, or no lane with such an iteration.

    Notes
    -----
    Linear in the calls. An iteration ends where the next one of its entry begins, the last one
    of an entry with its last call; what lies between two entries is in a window with iterations
    of both. A call without any length at the very end of a window is outside it.

    Examples
    --------
    >>> from burstline import structure
    >>> from burstline.testing import trace_of
    >>> steps = [f"{9 * k} enter MPI_Barrier path 0 | {9 * k + 2} leave" for k in range(4)]
    >>> trace = trace_of(f"ranks 1 | path 0 main file a.c line 3 | 0 | {' | '.join(steps)}")
    >>> begin, end = iterations_window(trace, structure.detect(trace), 1, first=2, last=3)
    >>> begin.tolist(), end.tolist()
    ([9], [27])
    """
    if not first or not last:
        raise ParameterError("iterations count from 1; there is no iteration 0")
    iterations = structure.iterations(loop)
    _, begin, count = np.unique(iterations.lane, return_index=True, return_counts=True)
    most = int(count.max(initial=0))
    for asked in (first, last):
        if abs(asked) > most:
            raise ParameterError(
                f"loop {loop} has no iteration {asked}; it has 1 to {most}, or -1 to {-most} "
                "from the end"
            )
    none = np.zeros_like(count)
    low = np.maximum(first + count if first < 0 else none + first - 1, 0)
    high = np.minimum(last + count if last < 0 else last - 1, count - 1)
    lanes = np.flatnonzero(low <= high)
    if not len(lanes):
        raise ParameterError(f"no rank has iterations {first}:{last} of loop {loop}")
    start_ns, end_ns = np.zeros((2, trace.locations.num_rows), np.int64)
    where = iterations.location[begin[lanes]]
    start_ns[where] = iterations.start_ns[(begin + low)[lanes]]
    end_ns[where] = iterations.end_ns[(begin + high)[lanes]]
    return _for_whole_processes(trace, start_ns, end_ns)


def _for_whole_processes(
    trace: Trace, start_ns: Integers, end_ns: Integers
) -> tuple[Integers, Integers]:
    """The windows; a thread without the loop has its process's first that runs it."""
    (process,) = trace.arrays("locations", "process")
    leaders = np.flatnonzero(start_ns < end_ns)
    leader = row_of(process[leaders], process)
    follows = (leader >= 0) & (start_ns >= end_ns)
    leads = leaders[leader[follows]]
    start_ns[follows], end_ns[follows] = start_ns[leads], end_ns[leads]
    return start_ns, end_ns
