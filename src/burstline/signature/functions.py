"""Which function computes most in each phase of a process, as samples of its threads saw it."""

from __future__ import annotations

import numpy as np

from burstline.columns import Integers, Mask, distinct, take
from burstline.model import Trace
from burstline.signature.events import Occurrences
from burstline.waits import functions_on


def functions_of_phases(
    trace: Trace, locations: Integers, found: Occurrences, boundaries: Integers
) -> tuple[str | None, ...]:
    """The function that most samples between the calls of each phase were in, None without one.

    `locations` are the threads of the process.
    """
    names: list[str | None] = [None] * len(found.names)
    where, time_ns, periods, path = trace.arrays(
        "samples", "location", "time_ns", "periods", "call_path"
    )
    own = np.flatnonzero(np.isin(where, locations) & ~_in_calls(trace, where, time_ns))
    if not len(own) or not len(found.phase):
        return tuple(names)
    place = np.searchsorted(boundaries[found.begin], time_ns[own], side="right") - 1
    function = take(functions_on(trace.call_paths.to_pylist()), path[own])
    inside = (place >= 0) & (function >= 0) & (time_ns[own] < boundaries[found.end[place]])
    phase = found.phase[place[inside]]
    chosen, group = distinct(phase, function[inside])
    seen = np.bincount(group, periods[own][inside], len(chosen))
    for row in chosen[np.argsort(seen, kind="stable")].tolist():  # that seen most comes last
        names[int(phase[row])] = trace.call_paths["function"][
            int(function[inside][row])
        ].as_py()
    return tuple(names)


def _in_calls(trace: Trace, where: Integers, time_ns: Integers) -> Mask:
    """Whether moments are in a call of their thread."""
    enter_ns, leave_ns = trace.arrays("calls", "enter_ns", "leave_ns")
    offsets = trace.offsets("calls")
    inside = np.zeros(len(where), bool)
    for location in np.unique(where).tolist():
        here = np.flatnonzero(where == location)
        first, last = offsets[location : location + 2].tolist()
        if first == last:
            continue
        row = first + np.searchsorted(enter_ns[first:last], time_ns[here], side="right") - 1
        inside[here] = (row >= first) & (time_ns[here] < leave_ns[np.maximum(row, first)])
    return inside
