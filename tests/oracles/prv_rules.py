"""The rules a writer of Paraver files must keep, each checked line by line.

Written from the rules alone; knows nothing of the package. `broken` gives one
sentence per breach, with the number of the rule. What the *source* of a derived trace
already broke (a call never closed, overlapping states) is not the writer's: compare the
breaches of both files then.
"""

from __future__ import annotations

import gzip
import re
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

HEADER = re.compile(r"#Paraver \(([^)]{1,29})\):(\d+)_ns:(0|\d+\([\d,]+\)):(\d+):(.+)")
APPLICATION = re.compile(r"(\d+)\((\d+:\d+(?:,\d+:\d+)*)\)")
STATE = re.compile(r"1(:\d+){6}:-?\d+|1(:\d+){5}:-1:\d+")
EVENT = re.compile(r"2(:\d+){5}(:\d+:-?\d+)+")
COMMUNICATION = re.compile(r"3(:\d+){12}:-?\d+:\d+")
CALLS = {50000001, 50000002, 50000003, 50000004, 50000005}
MOST_PAIRS = 1024
SECTIONS = {"DEFAULT_OPTIONS", "DEFAULT_SEMANTIC", "STATES", "STATES_COLOR"}
SECTIONS |= {"EVENT_TYPE", "VALUES", "GRADIENT_COLOR", "GRADIENT_NAMES"}


class Layout:
    """What the header declares."""

    def __init__(self, header: str) -> None:
        match = HEADER.fullmatch(header)
        if not match:
            raise ValueError(f"2: the header is {header[:100]!r}")
        self.end, applications = int(match[2]), match[5]
        resources = re.fullmatch(r"(\d+)\(([\d,]+)\)", match[3])
        cpus = [int(count) for count in resources[2].split(",")] if resources else []
        self.nodes = len(cpus) if resources and int(resources[1]) == len(cpus) else 0
        self.node_of_cpu = [node for node, count in enumerate(cpus, 1) for _ in range(count)]
        self.has_resources = resources is not None
        self.tasks, self.node_of_thread, self.faults = {}, {}, []
        for application, found in enumerate(APPLICATION.finditer(applications), 1):
            pairs = [tuple(map(int, pair.split(":"))) for pair in found[2].split(",")]
            self.tasks[application] = len(pairs)
            if len(pairs) != int(found[1]):
                self.faults.append(f"2: application {application} has {len(pairs)} pairs")
            for task, (threads, node) in enumerate(pairs, 1):
                if threads < 1 or (self.has_resources and not 1 <= node <= self.nodes):
                    self.faults.append(f"5: task {task} has {threads} threads on node {node}")
                for thread in range(1, threads + 1):
                    self.node_of_thread[application, task, thread] = node
        if len(self.tasks) != int(match[4]):
            self.faults.append(f"2: {match[4]} applications declared")
        tail = APPLICATION.sub("", applications).strip(",:")
        self.communicators = int(tail) if tail else 0


def broken(path: Path) -> list[str]:
    """Name every rule that a .prv and its companions break.

    Parameters
    ----------
    path : Path
        The .prv or .prv.gz; its .pcf and .row lie beside it.

    Returns
    -------
    list of str
        One sentence per breach, beginning with the number of the rule.
    """
    if not path.name.endswith((".prv", ".prv.gz")):
        return ["1: the name ends neither in .prv nor in .prv.gz"]
    packed = path.read_bytes()
    if packed.startswith(b"\x1f\x8b") != path.name.endswith(".gz"):
        return ["1: the name does not say whether the file is packed"]
    data = gzip.decompress(packed) if path.name.endswith(".gz") else packed
    stem = path.with_name(path.name.removesuffix(".gz").removesuffix(".prv"))
    faults = ["13: a carriage return"] if b"\r" in data else []
    if not data.endswith(b"\n"):
        faults.append("13: the last line does not end")
    header, *lines = data.decode().removesuffix("\n").split("\n")
    try:
        layout = Layout(header)
    except ValueError as error:
        return [*faults, str(error)]
    faults += layout.faults
    head, body = lines[: layout.communicators], lines[layout.communicators :]
    faults += _communicators(head, body, layout)
    faults += _body([line for line in body if not line.startswith("#")], layout)
    faults += _labels(stem.with_name(stem.name + ".pcf"))
    return faults + _names(stem.with_name(stem.name + ".row"))


def _communicators(head: list[str], body: list[str], layout: Layout) -> list[str]:
    faults = [f"6: {line[:60]!r} in the body" for line in body if line[:1] in tuple("cCiI")]
    for line in head:
        if line.startswith("i:"):
            continue
        match = re.fullmatch(r"c:(\d+):(\d+):(\d+)((?::\d+)*)", line)
        if not match:
            faults.append(f"6: {line[:60]!r} is no communicator")
            continue
        members = [int(member) for member in match[4].split(":")[1:]]
        if len(members) != int(match[3]):
            faults.append(f"6: {line[:60]!r} has {len(members)} members")
        if max(members, default=0) > layout.tasks.get(int(match[1]), 0):
            faults.append(f"6: {line[:60]!r} names a task that does not exist")
    return faults


def _body(body: list[str], layout: Layout) -> list[str]:
    faults = [] if body else ["7: no record"]
    states, events = defaultdict(list), defaultdict(list)
    clock, lines = 0, []
    for line in body:
        pattern = {"1": STATE, "2": EVENT, "3": COMMUNICATION}.get(line[:1])
        if pattern is None or not pattern.fullmatch(line):
            faults.append(f"7: {line[:60]!r} is no record")
            continue
        fields = [int(field) for field in line.split(":")]
        faults += _object(fields[1:5], layout)
        if line[0] == "3":
            faults += _object(fields[7:11], layout)
            lines.append((None, fields))
            late = max(fields[5], fields[6], fields[11], fields[12])
        else:
            if fields[5] < clock:
                faults.append(f"12: {line[:60]!r} after {clock}")
            clock = late = fields[5]
            lines.append((clock, fields))
        if line[0] == "1":
            states[tuple(fields[2:5])].append((fields[5], fields[6]))
            late = max(late, fields[6])
        if line[0] == "2":
            faults += _pairs(fields)
            events[tuple(fields[2:5])] += [
                (fields[5], kind, value)
                for kind, value in zip(fields[6::2], fields[7::2], strict=True)
            ]
        if late > layout.end:
            faults.append(f"3: {late} is after the end, {layout.end}")
    return faults + _places(lines) + _states(states) + _closed(events)


def _object(fields: list[int], layout: Layout) -> list[str]:
    cpu, *thread = fields
    node = layout.node_of_thread.get(tuple(thread))
    if node is None:
        return [f"5: no thread {thread} is declared"]
    if cpu and not layout.has_resources:
        return [f"4: cpu {cpu} without resources"]
    if cpu and (cpu > len(layout.node_of_cpu) or layout.node_of_cpu[cpu - 1] != node):
        return [f"4: cpu {cpu} is not on node {node}"]
    return []


def _pairs(fields: list[int]) -> list[str]:
    kinds = fields[6::2]
    faults = [f"9: type {kind}" for kind in kinds if not 1 <= kind < 2**31]
    if len(kinds) > MOST_PAIRS:
        faults.append(f"9: {len(kinds)} pairs in a line")
    first_size = next((k for k, kind in enumerate(kinds) if 50100001 <= kind <= 50100004), None)
    if first_size is not None and not CALLS & set(kinds[:first_size]):
        faults.append(f"9: a size before its call at {fields[5]}")
    return faults


def _places(lines: list[tuple[int | None, list[int]]]) -> list[str]:
    """Each communication lies where its logical or physical send is due."""
    faults, before = [], 0
    following, after = [0] * len(lines), 2**63
    for k in range(len(lines) - 1, -1, -1):
        following[k] = after
        after = lines[k][0] if lines[k][0] is not None else after
    for k, (time, fields) in enumerate(lines):
        before = before if time is None else time
        if time is None and not any(before <= t <= following[k] for t in fields[5:7]):
            faults.append(f"11: communication sent at {fields[6]} between {before} and …")
    return faults


def _states(states: dict[tuple[int, ...], list[tuple[int, int]]]) -> list[str]:
    faults = []
    for thread, spans in states.items():
        faults += [f"8: {thread}: {b} to {e}" for b, e in spans if e <= b and e != -1]
        faults += [
            f"8: {thread}: states overlap at {later[0]}"
            for earlier, later in pairwise(spans)
            if earlier[1] > later[0]
        ]
    return faults


def _closed(events: dict[tuple[int, ...], list[tuple[int, int, int]]]) -> list[str]:
    faults = []
    for thread, found in events.items():
        if any(later[0] < earlier[0] for earlier, later in pairwise(found)):
            faults.append(f"9: events of {thread} run backwards")
        depth: dict[int, int] = defaultdict(int)
        for time, kind, value in found:
            if kind in CALLS:
                depth[kind] += 1 if value else -1
                if depth[kind] not in {0, 1}:
                    faults.append(f"10: {thread}: {kind}:{value} at {time}")
        faults += [f"10: {thread}: {kind} is never closed" for kind in depth if depth[kind]]
    return faults


def _labels(path: Path) -> list[str]:
    text = path.read_bytes()
    faults = ["13: a carriage return in the .pcf"] if b"\r" in text else []
    lines = text.decode().split("\n")
    faults += [
        "13: a line of blanks in the .pcf" for line in lines if line and not line.strip()
    ]
    faults += [f"14: no {name}" for name in ("STATES", "STATES_COLOR") if name not in lines]
    section, kinds, values = "", set(), set()
    for line in [*lines, "EVENT_TYPE"]:
        words = line.split(None, 2)
        if line in SECTIONS:
            if line != "VALUES" and section == "VALUES" and kinds & CALLS and 0 not in values:
                faults.append(f"14: no value 0 for {kinds & CALLS}")
            kinds = kinds if line == "VALUES" else set()
            section, values = line, set()
        elif section == "EVENT_TYPE" and words:
            if len(words) < 3 or not 1 <= int(words[1]) < 2**31:
                faults.append(f"14: the type {line!r}")
            kinds.add(int(words[1]))
        elif section == "VALUES" and words:
            if len(words) < 2 or not -(2**31) <= int(words[0]) < 2**31:
                faults.append(f"14: the value {line!r}")
            values.add(int(words[0]))
    return faults


def _names(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    faults, at, levels = [], 0, []
    while at < len(lines):
        if not lines[at]:
            at += 1
            continue
        match = re.fullmatch(r"LEVEL (\w+) SIZE (\d+)", lines[at])
        if not match:
            faults.append(f"15: {lines[at][:60]!r} is in no block")
            break
        size = int(match[2])
        names = lines[at + 1 : at + 1 + size]
        if len(names) != size or not all(name.strip() for name in names):
            faults.append(f"15: LEVEL {match[1]} has not {size} names")
        levels.append(match[1])
        at += 1 + size
    return faults if levels[:3] == ["CPU", "NODE", "THREAD"] else [*faults, f"15: {levels}"]
