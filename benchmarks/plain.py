"""Readers in plain Python, line by line: what the native one is compared with.

Each does a part of the work more; the last gives what ``burstline.read`` gives without
raw tables: calls with their attributes, readings, bursts, and messages with their calls.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

Task = Callable[[], dict[str, Any]]

MPI_TYPES = frozenset(range(50000001, 50000006))
ATTRIBUTES = frozenset(range(50100001, 50100005))


def line_loop(path: str, lines: int) -> Task:
    """Split the first lines of a trace and convert every field."""

    def run() -> dict[str, Any]:
        fields = length = 0
        with Path(path).open() as file:
            for line in islice(file, lines):
                length += len(line)
                if line[0] in "123":
                    fields += len([int(field) for field in line.split(":")])
        return {"bytes": length, "fields": fields}

    return run


def column_loop(path: str, lines: int) -> Task:
    """Read the first lines of a trace into one list per column."""

    def run() -> dict[str, Any]:
        length = 0
        states, events, links = _columns(7), _columns(6), _columns(14)
        with Path(path).open() as file:
            for line in islice(file, lines):
                length += len(line)
                if line[0] not in "123":
                    continue
                kind, *fields = map(int, line.split(":"))
                if kind == 2:
                    _, application, task, thread, time, *pairs = fields
                    for pair in range(0, len(pairs), 2):
                        row = (application, task, thread, time, pairs[pair], pairs[pair + 1])
                        for column, value in zip(events, row, strict=True):
                            column.append(value)
                    continue
                for column, value in zip(states if kind == 1 else links, fields, strict=True):
                    column.append(value)
        return {"bytes": length, "rows": len(states[0]) + len(events[0]) + len(links[0])}

    return run


def _columns(count: int) -> list[list[int]]:
    return [[] for _ in range(count)]


def trace_loop(path: str, lines: int) -> Task:
    """Read the first lines of a trace into calls, readings, bursts and matched messages."""

    def run() -> dict[str, Any]:
        reader = _PlainReader()
        length = 0
        with Path(path).open() as file:
            for line in islice(file, lines):
                length += len(line)
                if line[0] == "2":
                    reader.events(line)
                elif line[0] == "3":
                    reader.links.append([int(field) for field in line.split(":")])
        matched, bursts = reader.messages(), reader.bursts()
        calls = sum(map(len, reader.calls.values()))
        return {
            "bytes": length,
            "calls": calls,
            "bursts": len(bursts),
            "messages": len(matched),
        }

    return run


def is_attribute(kind: int) -> bool:
    """Tell whether a type says something about a call: sizes, communicator, callers."""
    return kind in ATTRIBUTES or 70000000 <= kind < 90000000


class _PlainReader:
    """Calls by thread: [value, enter, leave, attributes]; readings likewise."""

    def __init__(self) -> None:
        self.calls: dict[tuple[int, ...], list[list[Any]]] = defaultdict(list)
        self.readings: dict[tuple[int, ...], list[tuple[int, int, int]]] = defaultdict(list)
        self.links: list[list[int]] = []

    def events(self, line: str) -> None:
        _, _, application, task, thread, time, *pairs = map(int, line.split(":"))
        place = (application, task, thread)
        calls, readings = self.calls[place], self.readings[place]
        for kind, value in zip(pairs[::2], pairs[1::2], strict=True):
            if kind in MPI_TYPES:
                if value:
                    calls.append([value, time, None, {}])
                elif calls:
                    calls[-1][2] = time
            elif 42000000 <= kind < 50000000:
                readings.append((time, kind, value))
            elif calls and calls[-1][1] == time and is_attribute(kind):
                calls[-1][3][kind] = value

    def messages(self) -> list[tuple[Any, ...]]:
        """Find the calls that start, post and complete each message, by their stamps."""
        entered = {(p, c[1]): k for p, made in self.calls.items() for k, c in enumerate(made)}
        left = {(p, c[2]): k for p, made in self.calls.items() for k, c in enumerate(made)}
        found = []
        for link in self.links:
            sender, receiver = tuple(link[2:5]), tuple(link[8:11])
            post = entered.get((receiver, link[11]), left.get((receiver, link[11])))
            send, done = entered.get((sender, link[5])), left.get((receiver, link[12]))
            found.append((sender, send, receiver, post, done, *link[13:]))
        return found

    def bursts(self) -> list[tuple[Any, ...]]:
        """Sum the counters between each two calls of a thread."""
        found = []
        for place, calls in self.calls.items():
            readings, at = self.readings[place], 0
            for before, after in pairwise(calls):
                sums: dict[int, int] = defaultdict(int)
                while at < len(readings) and readings[at][0] <= after[1]:
                    time, kind, value = readings[at]
                    if before[2] is not None and time > before[2]:
                        sums[kind] += value
                    at += 1
                found.append((place, before[2], after[1], dict(sums)))
        return found
