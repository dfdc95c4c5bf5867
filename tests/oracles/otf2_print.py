"""An archive as ``otf2-print`` tells it: plain Python over its text, no shared code.

What a region, a message or a lock is, is said here once more, slowly and in ticks.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter, defaultdict
from dataclasses import dataclass, field

_EVENT = re.compile(r"^([A-Z][A-Z_]+) +(\d+) +(\d+)  ?(.*)$")
_REGION = re.compile(r'^Region: "(.*)" <(\d+)>$')
_NUMBER = re.compile(r"([A-Z][A-Za-z ]*): (\d+)")
_COMMUNICATOR = re.compile(r'Communicator: "(?:.*?)" <(\d+)>')
_VALUES = re.compile(r'\("(.*?)" <\d+>; \w+; (-?\d+)\)')


@dataclass
class Printed:
    """What the tool printed, location after location."""

    kinds: Counter = field(default_factory=Counter)
    events: dict = field(default_factory=lambda: defaultdict(list))


def printed(anchor):
    """Run the tool; give the events of each location as (kind, ticks, text)."""
    done = subprocess.run(
        ["otf2-print", str(anchor)], capture_output=True, text=True, check=False
    )
    found = Printed()
    for line in done.stdout.splitlines():
        if match := _EVENT.match(line):
            kind, location, ticks, text = match.groups()
            found.kinds[kind] += 1
            found.events[int(location)].append((kind, int(ticks), text))
    return found


def spans(events):
    """Give (region, enter, leave) of one location, in the order of entering."""
    rows, stack = [], []
    for kind, ticks, text in events:
        if kind not in ("ENTER", "LEAVE"):
            continue
        name, ref = _REGION.match(text).groups()
        if kind == "ENTER":
            stack.append((ref, len(rows)))
            rows.append([name, ticks, ticks])
        elif any(ref == one for one, _ in stack):
            while stack[-1][0] != ref:
                rows[stack.pop()[1]][2] = ticks
            rows[stack.pop()[1]][2] = ticks
    last = events[-1][1]
    for _, row in stack:
        rows[row][2] = last
    return [tuple(row) for row in rows]


def messages(found, order):
    """Match sends and receives first in, first out; `order` are the locations by world rank.

    Receives count where they were posted; all communicators must be the world.
    """
    sent, posted, results = defaultdict(list), [], []
    for rank, location in enumerate(order):
        requests = {}
        for position, (kind, ticks, text) in enumerate(found.events[location]):
            number = {key.strip(): int(value) for key, value in _NUMBER.findall(text)}
            if kind in ("MPI_SEND", "MPI_ISEND"):
                sent[rank, number["Receiver"], number["Tag"]].append((ticks, number["Length"]))
            elif kind == "MPI_IRECV_REQUEST":
                requests[number["Request"]] = position
            elif kind in ("MPI_RECV", "MPI_IRECV"):
                post = requests.pop(number["Request"]) if kind == "MPI_IRECV" else position
                channel = number["Sender"], rank, number["Tag"]
                posted.append((rank, post, channel, ticks, number["Length"]))
    for rank, _, channel, ticks, length in sorted(posted):
        ticks_sent, length_sent = sent[channel].pop(0)
        assert length == length_sent
        results.append((channel[0], rank, channel[2], length, ticks_sent, ticks))
    return sorted(results)


def readings(events):
    """Give (ticks, {metric: value}) of every reading of one location."""
    return [
        (ticks, {name: int(value) for name, value in _VALUES.findall(text)})
        for kind, ticks, text in events
        if kind == "METRIC"
    ]


def collectives(events):
    """Give (operation, communicator, begin, end) of one location."""
    rows, begin = [], None
    for kind, ticks, text in events:
        if kind == "MPI_COLLECTIVE_BEGIN":
            begin = ticks
        elif kind == "MPI_COLLECTIVE_END":
            name = re.match(r"Operation: (\w+)", text).group(1)
            rows.append((name, int(_COMMUNICATOR.search(text).group(1)), begin, ticks))
    return rows


def locks(events):
    """Give (lock, order, acquired, released) of one location, by acquisition."""
    held, rows = {}, []
    for kind, ticks, text in events:
        if kind == "THREAD_ACQUIRE_LOCK":
            number = {key.strip(): int(value) for key, value in _NUMBER.findall(text)}
            lock, order = number["Lock"], number["Acquisition Order"]
            held[lock] = len(rows)
            rows.append([lock, order, ticks, None])
        elif kind == "THREAD_RELEASE_LOCK":
            number = {key.strip(): int(value) for key, value in _NUMBER.findall(text)}
            rows[held.pop(number["Lock"])][3] = ticks
    return [tuple(row) for row in rows]
