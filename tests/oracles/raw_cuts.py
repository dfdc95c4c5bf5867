"""Cuts of a thread's records, and requests across them, found record by record."""

from __future__ import annotations

from bisect import bisect_right

ENTER = 1
EVENTS = {1, 2, 50, 51, 52, 53, 54, 55, 57}
FOLLOWED = {10, 12, 13, 14, 15, 16, 17, 18}
ENDS = {12: (13, 16, 17), 14: (15, 16, 17), 10: (18, 16, 17)}


def cuts_of(records, most):
    """Return, of each slice, its first record, and the calls and the last event before it."""
    kinds = [int(kind) for kind in records["kind"]]
    places, first = [], 0
    while first < len(kinds):
        places.append(first)
        enters = [k for k in range(first + 1, len(kinds)) if kinds[k] == ENTER]
        near = [k for k in enters if k <= first + most]
        ends = near[-1:] or enters[:1] if first + most < len(kinds) else []
        first = ends[0] if ends else len(kinds)
    return [
        (place, kinds[:place].count(ENTER), sum(kind in EVENTS for kind in kinds[:place]) - 1)
        for place in places
    ]


def crossing(records, places):
    """Return, of each slice, the records elsewhere that start or end its requests."""
    last, met = {}, [set() for _ in places]
    for number, record in enumerate(records):
        kind, request = int(record["kind"]), int(record["time"])
        if (
            not any(kind == start or kind in ends for start, ends in ENDS.items())
            or not request
        ):
            continue
        start = last.get(request)
        if start is not None and kind in ENDS.get(int(records[start]["kind"]), ()):
            one, other = (bisect_right(places, at) - 1 for at in (start, number))
            if one != other:
                met[one].add(number)
                met[other].add(start)
        last[request] = number
    return [sorted(numbers) for numbers in met]
