"""Labels: which loop of the source is around each MPI call, where the trace says so.

::

    events of LOOP_OF_CALL  --of the call that is entered then-->  Labels: a loop per call
    regions of role loop  --the innermost when it is entered-->

A recorder that knows the source writes an event before every call, or the loops themselves.
Labels are the truth that detected loops are measured by; nothing is detected from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline.errors import NotEnoughDataError
from burstline.extrae import LOOP_OF_CALL

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from burstline.columns import Integers, Mask
    from burstline.structure.calls import Calls
    from burstline.trace import Trace

LABEL_NAME: Final = "Innermost loop around the MPI call"
"""What the type is called where types have names; its values are called ``file:line``."""

NO_LABEL: Final = -1
"""Loop of a call that has no label: nobody knows whether it is in one."""

OUTSIDE: Final = 0
"""Loop of a call that is in no loop."""

_ROLE, _PARADIGM = "loop", "user"


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The loop of the source around each MPI call.

    Attributes
    ----------
    loop : ndarray of int64, shape (calls,)
        Number of the innermost loop; 0 outside of loops, -1 where the trace does not say.
    names : mapping of int to str
        Where each loop is, as ``file:line``.
    source : {"events", "regions"}
        What the labels were recorded as.
    """

    loop: Integers
    names: Mapping[int, str]
    source: Literal["events", "regions"]

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
    """Find the label of each MPI call.

    Parameters
    ----------
    trace : Trace
        Its `events` are read, or its `regions` if there is no event of type 77200000, which
        labels a call by its loop.
    calls : Calls
        The calls of one application in it, such as `found_in` of a structure.
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
    O(calls + events). An event labels the call that is entered at its time, else the one
    that it is in, else the next one of its thread; of several, the last one counts. Loops of
    OpenMP are constructs of the runtime and no labels. Where loops were recorded in some
    iterations only and no label was, calls of the others seem to be in the loop around:
    record labels then.

    Examples
    --------
    >>> from burstline.structure import Calls
    >>> from burstline.testing import trace_of
    >>> loop = "region solve paradigm user role loop file a.c begin 7 end 9"
    >>> steps = "1 enter solve | 2 enter MPI_Barrier | 3 leave | 4 leave"
    >>> trace = trace_of(f"ranks 1 | {loop} | 0 | {steps} | 5 enter MPI_Barrier | 6 leave")
    >>> found = labels_of(trace, Calls(trace, None))
    >>> [found.name(loop) for loop in found.loop.tolist()]
    ['a.c:7', 'outside of loops']
    """
    if repeated:
        return _of_repeated(trace, calls)
    labels = _of_events(trace, calls)
    if labels is None:
        labels = _of_regions(trace, calls, _recorded(trace))
    if labels is None:
        raise NotEnoughDataError(
            "no call has a label that says which loop it is in. Record the program with "
            "labels of its loops, and read the trace with its events"
        )
    return labels


def has_labels(trace: Trace) -> bool:
    """Whether a trace says which loops its calls are in."""
    return bool(_label_events(trace).num_rows) or bool(_recorded(trace).any())


def _label_events(trace: Trace) -> pa.Table:
    columns = ["location", "time_ns", "value"]
    parts = [
        part.filter(pc.equal(part["type"], LOOP_OF_CALL)).select(columns)
        for part in trace.batches("events", [*columns, "type"])
    ]
    schema = trace.table("events").schema if not parts else None
    return pa.concat_tables(parts) if schema is None else schema.empty_table().select(columns)


def _of_events(trace: Trace, calls: Calls) -> Labels | None:
    events = _label_events(trace)
    if not events.num_rows:
        return None
    location, time_ns, value = (events[name].to_numpy() for name in events.column_names)
    loop = np.full(len(calls.lane), NO_LABEL, np.int64)
    begins = np.searchsorted(location, calls.locations)
    ends = np.searchsorted(location, calls.locations, side="right")
    for lane in np.flatnonzero(ends > begins).tolist():
        here = slice(begins[lane], ends[lane])
        own = slice(calls.lane_begin[lane], calls.lane_begin[lane + 1])
        at = _labelled(calls.enter_ns[own], calls.leave_ns[own], time_ns[here])
        known = at < own.stop - own.start
        loop[own.start + at[known]] = value[here][known]
    return Labels(loop, _value_names(trace), "events")


def _labelled(
    enter_ns: Integers, leave_ns: Integers, time_ns: Integers
) -> npt.NDArray[np.intp]:
    """The call that each event is of; as many as there are calls for none."""
    entered = np.searchsorted(enter_ns, time_ns)
    until = np.searchsorted(enter_ns, time_ns, side="right")
    # Calls that are entered at one moment take the events of that moment in turn.
    turn = np.arange(len(time_ns)) - np.searchsorted(time_ns, time_ns)
    inside = (entered > 0) & (leave_ns[entered - 1] > time_ns)
    return np.where(until > entered, np.minimum(entered + turn, until - 1), entered - inside)


def _value_names(trace: Trace) -> Mapping[int, str]:
    types = trace.table("event_types")
    groups = types.filter(pc.equal(types["type"], LOOP_OF_CALL))["group"].to_pylist()
    values = trace.table("event_values")
    named = zip(
        *(values[name].to_pylist() for name in ("group", "value", "label")), strict=True
    )
    return {value: label for group, value, label in named if group in groups}


def _recorded(trace: Trace) -> Mask:
    """Which kinds of regions are loops of the source."""
    definitions = trace.table("region_defs")
    kinds = (definitions[name].to_pylist() for name in ("role", "paradigm"))
    return np.array([kind == (_ROLE, _PARADIGM) for kind in zip(*kinds, strict=True)], bool)


def _of_repeated(trace: Trace, calls: Calls) -> Labels:
    is_loop = _recorded(trace)
    most = np.zeros(len(is_loop), np.int64)
    region, iterations = trace.arrays("regions", "region", "iterations")
    np.maximum.at(most, region, iterations)
    labels = _of_regions(trace, calls, is_loop & (most > 1)) if most.any() else None
    if labels is None:
        raise NotEnoughDataError(
            "no recorded loop says how often it went round. Record the program with its loops "
            "into a store, which keeps their iterations"
        )
    return labels


def _of_regions(trace: Trace, calls: Calls, is_loop: Mask) -> Labels | None:
    if not is_loop.any():
        return None
    location, row, region, parent, enter_ns, leave_ns = trace.arrays(
        "regions", "location", "row", "region", "parent", "enter_ns", "leave_ns"
    )
    offsets = trace.offsets("regions")
    first = offsets[location]
    above = np.where(parent >= 0, first + parent - row[first], NO_LABEL)
    around = np.full(len(calls.lane), NO_LABEL, np.int64)
    for lane, where in enumerate(calls.locations.tolist()):
        begin, end = offsets[where], offsets[where + 1]
        own = slice(calls.lane_begin[lane], calls.lane_begin[lane + 1])
        entered = np.searchsorted(enter_ns[begin:end], calls.enter_ns[own], side="right")
        around[own] = np.where(entered > 0, begin + entered - 1, NO_LABEL)
    while True:
        out = np.flatnonzero(around >= 0)
        inside = (leave_ns[around[out]] > calls.enter_ns[out]) & is_loop[region[around[out]]]
        out = out[~inside]
        if not len(out):
            break
        around[out] = above[around[out]]
    loop = np.where(around >= 0, region[np.maximum(around, 0)].astype(np.int64) + 1, OUTSIDE)
    return Labels(loop, _region_names(trace), "regions")


def _region_names(trace: Trace) -> Mapping[int, str]:
    definitions = trace.table("region_defs")
    columns = (definitions[name].to_pylist() for name in ("name", "file", "begin_line"))
    return {
        number: name if file is None or line is None else f"{file.rpartition('/')[2]}:{line}"
        for number, (name, file, line) in enumerate(zip(*columns, strict=True), start=1)
    }
