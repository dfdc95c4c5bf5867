"""Pairs put into the records of a .prv, line by line: if you doubt the kernels, read this."""

from __future__ import annotations

import re

ENTERS, LEAVES, COUNTER = 1, 2, 4
RECORD = re.compile(rb"2:(-?\d+):(-?\d+):(-?\d+):(-?\d+):(-?\d+)((?::-?\d+:-?\d+)*)[ \r]*\n")


def records(text, locations, moments, counters):
    """Find records of moments: (location, time), where they end in the text, what they hold.

    `locations` has the location of (application, task, thread).
    """
    found, at = [], 0
    for line in text.splitlines(keepends=True):
        match = RECORD.fullmatch(line)
        if match:
            place = locations.get(tuple(int(match[k]) for k in (2, 3, 4)))
            moment = place, int(match[5])
            if moment in moments:
                numbers = [int(number) for number in match[6].split(b":")[1:]]
                pairs = zip(numbers[::2], numbers[1::2], strict=True)
                held = {holds(kind, value, counters) for kind, value in pairs}
                found.append((moment, at + match.end(6), sum(held)))
        at += len(line)
    return found


def holds(kind, value, counters):
    if 50000001 <= kind <= 50000005:
        return ENTERS if value else LEAVES
    return COUNTER if kind in counters else 0


def with_pairs(text, places, types, values):
    """Put pairs in at places, the last first; None is left out."""
    for place, row in reversed(list(zip(places, values, strict=True))):
        pairs = zip(types, row, strict=True)
        added = "".join(f":{kind}:{value}" for kind, value in pairs if value is not None)
        text = text[:place] + added.encode() + text[place:]
    return text
