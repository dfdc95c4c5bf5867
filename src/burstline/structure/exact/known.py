"""The program whose loops a trace tells: a part of a run shows too little to find them anew.

Three iterations of a loop that ends with an inner one of two read as six iterations as well.
"""

from __future__ import annotations

from graphlib import CycleError

import numpy as np

from burstline.columns import Integers, Mask, begins_run, distinct, take
from burstline.identity import Sites
from burstline.model import (
    DETECTED,
    UNKNOWN,
    Trace,
    entries_above,
    innermost_entry,
    iterations_of,
    last_until,
)
from burstline.structure.calls import Calls
from burstline.structure.exact.body import Body
from burstline.structure.exact.loopnest import in_order


def tells_loops(trace: Trace) -> bool:
    """Whether a trace has loops that were detected in it, or in what it is a part of."""
    if "loop_iterations" not in trace or "loops" not in trace:
        return False
    (origin,) = trace.arrays("loops", "origin")
    return bool((origin == DETECTED).any())


def known_program(trace: Trace, calls: Calls, sites: Sites) -> Body | None:
    """The calls in the detected loops that the trace tells, each body in its order.

    None if it tells of none, or of loops that are no program: a site in several of them, or
    calls that one iteration makes in one order, and another one in another.
    """
    if not tells_loops(trace):
        return None
    (origin,) = trace.arrays("loops", "origin")
    (loop,) = trace.arrays("loop_entries", "loop")
    detected = origin[loop] == DETECTED
    around = innermost_entry(trace, calls.locations[calls.lane], calls.enter_ns, detected)
    if (around < 0).all():
        return None
    above = _detected_above(entries_above(trace), detected)
    first = _first_calls(around, above)
    entries = np.flatnonzero(first < len(around))
    number = np.concatenate([sites.of_call, len(sites) + loop[entries]]).astype(np.int64)
    # Of each element that is executed: its entry, its iteration there, and when, as a call.
    entry = np.concatenate([around, above[entries]])
    when = np.concatenate([np.arange(len(around)), first[entries]])
    body = np.where(entry >= 0, len(sites) + take(loop, entry), UNKNOWN)
    if len(distinct(number, body)[0]) > len(np.unique(number)):
        return None  # an element is in several bodies
    row, began_ns, _ = iterations_of(trace)
    began = np.lexsort((began_ns, row))
    iteration = last_until((row[began], began_ns[began]), (entry, calls.enter_ns[when]))
    lane = calls.lane[when]
    order = np.lexsort((when, iteration, entry, lane))
    number, body, when = number[order], body[order], when[order]
    goes_on = ~begins_run(lane[order], entry[order], iteration[order])
    pairs = np.column_stack([number[:-1], number[1:]])[goes_on[1:]]
    steps = list(map(tuple, np.unique(pairs, axis=0).tolist()))
    if (pairs[:, 0] == pairs[:, 1]).any():
        return None  # what repeats is in a loop that is not told
    elements, index = np.unique(number, return_index=True)
    earliest = np.full(len(elements), len(around))
    np.minimum.at(earliest, np.searchsorted(elements, number), when)
    rows = zip(elements.tolist(), body[index].tolist(), earliest.tolist(), strict=True)
    members: dict[int, list[tuple[int, int]]] = {}
    for element, inside, place in rows:
        members.setdefault(inside, []).append((place, element))

    def body_of(number: int) -> Body:
        """The body of a loop; its elements by when they are first executed, as steps allow."""
        mine = sorted(members[number])
        position = {element: place for place, (_, element) in enumerate(mine)}
        between = [(position[a], position[b]) for a, b in steps if a in position]
        ordered = [mine[k][1] for k in in_order([place for place, _ in mine], between)]
        return Body(tuple(each if each < len(sites) else body_of(each) for each in ordered))

    try:
        return body_of(UNKNOWN)
    except CycleError:
        return None


def _detected_above(above: Integers, detected: Mask) -> Integers:
    """The entry around each that a detection told of."""
    while (out := np.flatnonzero((above >= 0) & ~take(detected, above))).size:
        above[out] = above[above[out]]
    return above


def _first_calls(around: Integers, above: Integers) -> Integers:
    """The first call in each entry; as many as there are calls for none."""
    first = np.full(len(above), len(around))
    row, call = around, np.arange(len(around))
    while (inside := row >= 0).any():
        row, call = row[inside], call[inside]
        np.minimum.at(first, row, call)
        row = above[row]
    return first
