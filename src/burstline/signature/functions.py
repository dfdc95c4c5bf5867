"""Which function computes most in each phase of a process, as samples of its threads saw it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from burstline.columns import AnyIntegers, Integers, Mask, take
from burstline.model import Trace
from burstline.signature.events import Occurrences
from burstline.waits import by_times_seen, functions_on


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Samples of call stacks that were taken in no call, and the functions they were in."""

    names: list[str]  # (call paths,)
    location: AnyIntegers  # (samples,)
    time_ns: AnyIntegers  # (samples,)
    periods: AnyIntegers  # (samples,)
    function: AnyIntegers  # (samples,) the call path of the function

    @classmethod
    def of(cls, trace: Trace) -> Seen:
        """Those of a trace, or of some locations of it."""
        location, time_ns, periods, path = trace.arrays(
            "samples", "location", "time_ns", "periods", "call_path"
        )
        frames = trace.call_paths.to_pylist() if len(location) else []
        function = take(functions_on(frames), path) if frames else path
        told = np.flatnonzero((function >= 0) & ~_in_calls(trace, location, time_ns))
        names = [frame["function"] for frame in frames]
        return cls(names, *(each[told] for each in (location, time_ns, periods, function)))

    def most(
        self, locations: Integers, found: Occurrences, boundaries: Integers
    ) -> tuple[str | None, ...]:
        """The function that most samples in each phase of a process were in, None in none.

        `locations` are the threads of the process, between whose calls `boundaries` lie.
        """
        names: list[str | None] = [None] * len(found.names)
        own = np.flatnonzero(np.isin(self.location, locations))
        if not len(own) or not len(found.phase):
            return tuple(names)
        time_ns = self.time_ns[own]
        place = np.searchsorted(boundaries[found.begin], time_ns, side="right") - 1
        inside = (place >= 0) & (time_ns < boundaries[found.end[place]])
        phase, function = found.phase[place[inside]], self.function[own[inside]]
        for row in by_times_seen(phase, function, self.periods[own[inside]]).tolist():
            names[int(phase[row])] = self.names[int(function[row])]
        return tuple(names)


def _in_calls(trace: Trace, where: AnyIntegers, time_ns: AnyIntegers) -> Mask:
    """Whether moments are in a call of their thread."""
    inside = np.zeros(len(where), bool)
    if not len(where):
        return inside
    enter_ns, leave_ns = trace.arrays("calls", "enter_ns", "leave_ns")
    offsets = trace.offsets("calls")
    for location in np.unique(where).tolist():
        here = np.flatnonzero(where == location)
        first, last = offsets[location : location + 2].tolist()
        if first < last:
            row = first + np.searchsorted(enter_ns[first:last], time_ns[here], "right") - 1
            inside[here] = (row >= first) & (time_ns[here] < leave_ns[np.maximum(row, first)])
    return inside
