"""Slow, obvious twins of how the calls of a loop are read as iterations of its elements."""

from __future__ import annotations

from collections import defaultdict


def loop_run(calls, elements):
    """Give the element, entry, lane and place of each that is executed, one after another."""
    of_symbol, is_loop, again = elements
    run, before = [], None
    for symbol, place, begins, lane in zip(*(column.tolist() for column in calls), strict=True):
        element = int(of_symbol[symbol])
        stays_inside = is_loop[element] and not begins and place not in again.tolist()
        if element != before or not stays_inside:
            run.append((element, begins, lane, place))
        before = element
    return run


def iteration_begins(run, elements, apart, cuts):
    """Whether an iteration begins with each that is executed."""
    found, before = [], None
    for element, begins, _, place in run:
        is_behind = before is not None and element > before
        pair = before is not None and before * elements + element
        found.append(
            begins or not is_behind or pair in apart.tolist() or place in cuts.tolist()
        )
        before = element
    return found


def iterations(run, is_new):
    """Give the elements of each iteration, and the entry, lane and place of the first."""
    found = []
    for (element, *where), begins in zip(run, is_new, strict=True):
        if begins:
            found.append((set(), *where))
        found[-1][0].add(element)
    return found


def irregular(found, elements):
    """Count the elements in some, not all, iterations of a place, from begin and from end."""
    entries = []
    for executed, begins, *_ in found:
        if begins:
            entries.append([])
        entries[-1].append(executed)
    return len(
        _now_and_then(entries, elements)
        & _now_and_then([entry[::-1] for entry in entries], elements)
    )


def _now_and_then(entries, elements):
    at = defaultdict(list)
    for entry in entries:
        for place, executed in enumerate(entry):
            at[place].append(executed)
    return {
        element
        for element in range(elements)
        if any(0 < sum(element in each for each in some) < len(some) for some in at.values())
    }
