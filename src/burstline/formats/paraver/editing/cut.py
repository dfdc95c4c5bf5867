"""A part of a trace with raw tables that end where its calls do.

::

    Trace, its selection  ->  the selection with events opened and closed at its borders
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline.columns import Ordinals
from burstline.formats.overlay import overlaid
from burstline.formats.paraver.editing.borders import cut_events
from burstline.formats.paraver.files.comments import comment

if TYPE_CHECKING:
    import numpy.typing as npt

    from burstline.columns import Integers
    from burstline.trace import Trace


def completed(
    before: Trace,
    after: Trace,
    *,
    start_ns: int | Integers | None,
    end_ns: int | Integers | None,
    near: Trace | None = None,
) -> Trace:
    """The selection `after` of `before` with raw tables that read back as its calls.

    It is `after` itself if `before` has no raw tables. `near` is what
    :func:`burstline.selection.narrowed` gives of a store for `after`; without it, calls and
    members of collectives are loaded whole.
    """
    if not before.has_raw:
        return after
    limits = np.iinfo(np.int64)
    location = _new_locations(before, after)
    start = np.broadcast_to(limits.min + 1 if start_ns is None else start_ns, len(location))
    end = np.broadcast_to(limits.max if end_ns is None else end_ns, len(location))
    events = cut_events(
        before,
        location,
        start_ns=start,
        end_ns=end,
        torn=frozenset() if start_ns is None else _torn_calls(near or before, location, start),
    )
    source = before.table("source")
    died = before.locations["died_ns"].to_numpy()
    selected = location >= 0
    first = 0 if start_ns is None else int(start[selected].min(initial=limits.max))
    borders = (first, first, min(int(end[selected].max(initial=0)), int(died.max(initial=0))))
    note = pa.table(
        [
            pa.array(["comment"]).dictionary_encode().cast(source.schema.field("kind").type),
            pa.array([comment("CUTTER", before, *borders)]),
        ],
        schema=source.schema,
    )
    lines = pa.concat_tables([source, note]).unify_dictionaries()
    tables = {"events": events, "source": lines}
    if start_ns is not None or end_ns is not None:
        # What the source's header claims to last is not what its part lasts.
        facts = after.table("metadata")
        tables["metadata"] = facts.filter(pc.not_equal(facts["key"], "claimed_duration_ns"))
    return overlaid(after, tables)


def _new_locations(before: Trace, after: Trace) -> npt.NDArray[np.int32]:
    places = ("application", "rank", "thread")
    new = {
        tuple(place): number
        for number, place in enumerate(np.stack(after.arrays("locations", *places), 1).tolist())
    }
    old = np.stack(before.arrays("locations", *places), 1).tolist()
    return np.array([new.get(tuple(place), -1) for place in old], np.int32)


def _torn_calls(
    before: Trace, location: npt.NDArray[np.int32], start: Integers
) -> frozenset[tuple[int, int]]:
    """Location and entry of calls whose collective a selected member had left by `start`."""
    # Readers count collectives per communicator; these would shift the count of one member.
    where, call, instance, begin = before.arrays(
        "collective_members", "location", "call", "collective", "begin_ns"
    )
    member = (location[where] >= 0) & (call >= 0)
    where, call, instance, begin = (c[member] for c in (where, call, instance, begin))
    enter, leave = before.arrays("calls", "enter_ns", "leave_ns")
    row = Ordinals(*before.arrays("calls", "location", "call")).rows(where, call)
    loaded = row >= 0
    # a call that is not near the window lies on one side of it, and its begin with it
    first = start[where]
    gone = begin < first
    gone[loaded] = (leave[row[loaded]] <= first[loaded]) & (enter[row[loaded]] < first[loaded])
    partly = np.intersect1d(instance[gone], instance[~gone])
    torn = ~gone & loaded & np.isin(instance, partly)
    return frozenset(zip(where[torn].tolist(), enter[row[torn]].tolist(), strict=True))
