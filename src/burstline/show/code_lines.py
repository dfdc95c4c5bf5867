"""Pseudo-code: a structure as a person would write the program down, counting from 1.

Call paths in common stand once, above; items of some ranks are in a conditional block.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Final, Literal

import numpy as np

from burstline.errors import ParameterError, plural, printable
from burstline.identity import Frame, shared_frames
from burstline.model import IPC, OF_IPC
from burstline.quantities import format_share
from burstline.structure import (
    Around,
    Call,
    Condition,
    Inside,
    InsideLoop,
    Item,
    Loop,
    Seen,
    Structure,
    chains,
    compact,
    rule,
    share_of,
    sites_before,
    size,
    walk,
)

_MOST_LINES: Final = 3
_LEAST_SHARE: Final = 0.05
_TELLING: Final = (
    IPC,
    *(name for names in OF_IPC for name in names),
    *("cpu", "perf::TASK-CLOCK", "TASK-CLOCK", "perf:task-clock"),
)
STYLES: Final = {"loop": "bold cyan", "condition": "magenta", "frame": "dim", "burst": "green"}
_NAME: Final = 60
_FEW: Final = 4
_PARTNERS: Final = 24  # characters of a set of partners; of a longer one stands how many

Kind = Literal["frame", "loop", "condition", "call", "burst"]
Step = tuple["Frame", str]  # a frame, and the function called from it


@dataclass(frozen=True, slots=True)
class Line:
    """One line of pseudo-code, with means of what it shows."""

    kind: Kind
    depth: int
    text: str  # safe to print
    file: str = ""  # from where the function in `text` is called; empty if that says nothing
    line: str = ""
    time_ns: float | None = None
    # over all of the ranks shown, and of the time of the run on them
    total_ns: int | None = None
    share: float | None = None
    size_bytes: float | None = None
    counter: float | None = None
    item: Item | None = None  # the node; None for frames, blocks of ranks and computation


def chosen_counter(structure: Structure, name: str | None) -> str | None:
    """The counter to show: the one asked for, else the one that says most."""
    counters = set(structure.counters)
    if any(counters.issuperset(names) for names in OF_IPC):
        counters.add(IPC)
    if name is None:
        return next((each for each in _TELLING if each in counters), None)
    if name not in counters:
        there_are = ", ".join(printable(each) for each in sorted(counters)) or "none at all"
        raise ParameterError(f"no counter {name!r} in this trace; there are {there_are}")
    return name


def pseudocode(
    structure: Structure,
    *,
    counter: str | None = None,
    ranks: Collection[int] | None = None,
    bursts_ns: int | None = None,
    depth: int | None = None,
    inside: Inside | None = None,
    computing: Mapping[int, str] | None = None,
) -> list[Line]:
    """Write a structure down as lines of pseudo-code, with means over the ranks shown.

    Where computing is, by the site of the call behind it, may be given; else it is told by
    the call that it follows.
    """
    everybody = frozenset(structure.ranks)
    shown = everybody if ranks is None else everybody & frozenset(ranks)
    if not shown:
        raise ParameterError(
            f"none of the ranks to show calls MPI; there are {compact(everybody)}"
        )
    if depth is not None and depth < 0:
        raise ParameterError(f"a depth of loops to show is 0 or more, got {depth}")
    seen = Seen.by(structure, shown)
    places = {} if bursts_ns is None else computing_texts(structure) | dict(computing or {})
    writer = _Writer(shown, seen, counter, bursts_ns, depth, inside, places)
    writer.body(structure.items, shown, _Place())
    return writer.lines


def computing_texts(structure: Structure) -> dict[int, str]:
    """From which call on computing is that leads to the calls of each site."""
    calls = {item.site: item for item, _ in walk(structure.items) if isinstance(item, Call)}
    before = sites_before(structure).tolist()
    texts = {}
    for site in calls:
        first = calls.get(before[site])
        if first is not None:
            frame = first.caller
            where = "" if frame is None or frame.file is None else f", {name_text(frame.file)}"
            where += f":{frame.line}" if where and frame and frame.line is not None else ""
            texts[site] = f"from {name_text(first.operation)}{where}"
    return texts


@dataclass(slots=True)
class _Place:
    """Where the next line goes: in which loop, below which frames, and how deep."""

    depth: int = 0
    shown: int = 0  # frames that the enclosing block shows already
    opened: tuple[Step, ...] = ()
    body: Around = field(default_factory=Around)
    nesting: int = 0

    def inner(self, path: tuple[Step, ...], depth: int) -> _Place:
        """The place inside of what was just written."""
        return _Place(depth + 1, len(path), path, self.body, self.nesting)


@dataclass(slots=True)
class _Writer:
    shown: frozenset[int]
    seen: Seen  # the nodes as the ranks shown execute them
    counter: str | None
    bursts_ns: int | None
    deepest: int | None
    inside: Inside | None
    computing: Mapping[int, str]  # where that before the calls of a site is, if that is known
    lines: list[Line] = field(default_factory=list)

    def body(self, items: Iterable[Item], around: frozenset[int], place: _Place) -> None:
        """Write items that the ranks `around` come across."""
        visible = [item for item in items if self.shown.intersection(item.ranks)]
        for ranks, members in groupby(visible, key=lambda item: self.shown & set(item.ranks)):
            block = list(members)
            if ranks == around:
                self._block(block, place)
                continue
            path = _common([_steps(item) for item in block])
            depth = self._open(path, place)
            self._add("condition", depth, f"if {_ranks_text(ranks, around)}:")
            self._block(block, place.inner(path, depth))

    def _block(self, items: Sequence[Item], place: _Place) -> None:
        """Write items that the same ranks execute."""
        for chain in chains(items, place.body):  # its branches stand at one depth
            steps = _common([_steps(item) for item in chain])
            depth = self._open(steps, place)
            for number, item in enumerate(chain, start=1):
                if isinstance(item, Call):
                    self._call(item, depth)
                elif isinstance(item, Condition):
                    seen = self.seen.condition(item)
                    text = _branch_text(seen, place.body, number, len(chain))
                    self._add("condition", depth, text, item=item)
                    inner = place.inner(steps, depth)
                    inner.body = place.body.inner(item)
                    self.body(item.items, self.shown & frozenset(item.ranks), inner)
                else:
                    self._loop(item, place.inner(steps, depth), depth)

    def _loop(self, loop: Loop, inner: _Place, depth: int) -> None:
        seen = self.seen.loop(loop)
        inside = () if loop.parent else loop.calls
        counter, calls = None, [call for call in inside if self.shown & {*call.ranks}]
        if calls:  # over a whole iteration, as the most frequent call of the body saw it
            regular = self.seen.call(max(calls, key=lambda call: call.probability))
            counter = counter_value(regular.iteration_counters, self.counter)
        inner.body, inner.nesting = inner.body.inner(loop), inner.nesting + 1
        folded = self.deepest is not None and inner.nesting > self.deepest
        text = _loop_text(seen)
        if folded:
            text += f", {plural(size(loop.items, inner.body), 'node')} folded"
        times = self._times(seen.mean_ns, seen.total_ns)
        self._add("loop", depth, text, counter=counter, item=loop, **times)
        if not folded:
            self.body(loop.items, self.shown & frozenset(loop.ranks), inner)

    def _open(self, path: tuple[Step, ...], place: _Place) -> int:
        """Write the frames of `path` that are not shown yet; give the depth below them."""
        same = len(_common([path, place.opened]))
        depth = place.depth + same - place.shown
        for frame, callee in path[same:]:
            self._add("frame", depth, f"{name_text(callee)}()", frame)
            depth += 1
        place.opened = path
        return depth

    def _call(self, call: Call, depth: int) -> None:
        seen = self.seen.call(call)
        value = counter_value(seen.counters, self.counter)
        if self.bursts_ns is not None and (seen.burst_ns or 0) >= max(self.bursts_ns, 1):
            times = self._times(seen.burst_ns, seen.computing_ns)
            place = f"computation {self.computing.get(call.site, '')}".rstrip()
            self._add("burst", depth, place, counter=value, **times)
            value = None  # it is said where it was counted
            for text in inside_text(self.inside, call) if self.inside else ():
                self._add("burst", depth + 1, text)
        means = {"size_bytes": seen.size_bytes, "counter": value}
        means |= self._times(seen.time_ns, seen.total_ns, seen.operation)
        text = _call_text(replace(call, probability=seen.probability))
        self._add("call", depth, text, call.caller, **means, item=call)

    def _times(
        self, mean_ns: float | None, total_ns: int, operation: str = ""
    ) -> dict[str, Any]:
        """The mean, the total and its share of the run, as fields of a line."""
        share = share_of(operation, total_ns, self.seen.whole_ns)
        return {"time_ns": mean_ns, "total_ns": total_ns, "share": share}

    def _add(
        self,
        kind: Kind,
        depth: int,
        text: str,
        frame: Frame | None = None,
        **more: Any,  # noqa: ANN401 -- further fields of the line
    ) -> None:
        file = "" if frame is None else name_text(frame.file or frame.function)
        line = "" if frame is None or frame.line is None else str(frame.line)
        self.lines.append(Line(kind, depth, text, file, line, **more))


def _steps(item: Item) -> tuple[Step, ...]:
    """The frames above an item, those that all calls of a loop have in common."""
    if not isinstance(item, Call):
        return _common([_steps(inner) for inner in item.items])
    callees = (frame.function for frame in item.path[1:])
    return tuple(zip(item.path, callees, strict=False))


def _common(paths: Sequence[tuple[Step, ...]]) -> tuple[Step, ...]:
    return paths[0][: shared_frames(paths)]


def counter_value(counters: Mapping[str, float], name: str | None) -> float | None:
    """The value of a counter; instructions per cycle are computed where they are not read."""
    if name != IPC or IPC in counters:
        return None if name is None else counters.get(name)
    for instructions, cycles in OF_IPC:
        if counters.get(cycles, 0) > 0:
            return counters.get(instructions, 0) / counters[cycles]
    return None


def inside_text(inside: Inside, node: Item) -> list[str]:
    """Write down the loops in the computation of a node, one line each."""
    samples = inside.samples_in(node)
    if loops := [loop for loop in inside.loops(node) if loop.share >= _LEAST_SHARE]:
        return [_inside_text(loop, samples) for loop in loops[:_MOST_LINES]]
    return [
        f"{_where(place.function, place.file, place.line, place.line)}, "
        f"{format_share(place.samples / samples)} of {plural(samples, 'sample')}"
        for place in inside.places(node)[:1]
    ]


def _inside_text(loop: InsideLoop, samples: int) -> str:
    where = _where(loop.function, loop.file, loop.first_line, loop.last_line)
    if loop.entries is None:
        return f"loop: {where}, {format_share(loop.share)} of {plural(samples, 'sample')}"
    trips = "loop"
    if loop.iterations is not None:
        trips += f" of {loop.iterations:.10g} iteration{'s' * (loop.iterations != 1)}"
        trips += " (mean)" * (loop.iterations != round(loop.iterations))
    return f"{trips}: {where}, {format_share(loop.share)} of the time"


def _where(function: str, file: str | None, first: int | None, last: int | None) -> str:
    if file is None:
        return name_text(function)
    lines = "" if first is None else f":{first}"
    if last not in {None, first}:
        lines += f"..{last}"
    return f"{name_text(function)} ({name_text(file)}{lines})"


def name_text(text: str) -> str:
    """Make a name from a trace safe and short enough to print."""
    return printable(text.strip(), limit=_NAME)


def _loop_text(loop: Loop) -> str:
    """Write the head of a loop: its trip count, number and share of the run."""
    remarks = [f"loop {loop.id}", f"{format_share(loop.share)} of the run"]
    if loop.when is None and loop.probability < 1:
        remarks.append(f"entered in {format_share(loop.probability)} of the iterations around")
    if loop.hidden:
        remarks.append("no call of its own")
    return f"for 1 to {_trips_text(loop)}:  # {', '.join(remarks)}"


def _trips_text(loop: Loop) -> str:
    if loop.trips is None:
        whole = abs(loop.iterations - round(loop.iterations)) < 0.005
        return f"{loop.iterations:.0f}" if whole else f"{loop.iterations:.2f} (mean)"
    lanes = np.flatnonzero(loop.executions).tolist()
    trips = [loop.trips.values(lane) for lane in lanes]
    together = np.concatenate(trips)
    low, high = int(together.min()), int(together.max())
    if low == high:
        return f"{low}"
    if all(each.min() == each.max() for each in trips):
        return f"{low}..{high} (by rank)"
    alike = all(np.array_equal(each, trips[0]) for each in trips)
    if alike and len(trips[0]) <= _FEW:
        return f"n, n = {', '.join(map(str, trips[0].tolist()))}"
    steps = np.unique(np.diff(trips[0]))
    if alike and len(steps) == 1:
        return f"n, n = {trips[0][0]}, {trips[0][1]}, .., {trips[0][-1]}"
    return f"{low}..{high} (mean {together.mean():.2f})"


def _branch_text(condition: Condition, around: Around, number: int, branches: int) -> str:
    """Write when the branch of a chain is executed: by its rule, how often, or otherwise."""
    if number == branches > 1:
        return "else:"
    share = f"in {format_share(condition.probability)} of the iterations"
    return f"{'if' if number == 1 else 'elif'} {rule(condition, around) or share}:"


def _ranks_text(ranks: Collection[int], around: Collection[int]) -> str:
    """Write the condition that holds on some of the ranks `around`."""
    if len(ranks) == 1:
        return f"rank == {min(ranks)}"
    return f"rank in {{{compact(ranks, around)}}}"


def _call_text(call: Call) -> str:
    """Write a call, with its partners, communicator and root."""
    said = [text for text in (partner_text(call), communicator_text(call)) if text]
    if call.roots:
        said.append(f"root {call.communicators.root_law or compact(call.roots)}")
    unexplained = call.when is None and call.probability < 1
    condition = f"  # in {format_share(call.probability)}" if unexplained else ""
    return f"{name_text(call.operation)}({', '.join(said)}){condition}"


def communicator_text(call: Call) -> str | None:
    """Write the communicator of a call, or how many and large they are, and their law."""
    several = call.communicators
    if call.communicator != "several" or not several.count:
        return call.communicator
    low, high = several.sizes
    ranks = plural(high, "rank") if low == high else f"{low}..{high} ranks"
    law = f": {several.law}" if several.law else ""
    return f"{several.count} communicators of {ranks}{law}"


def partner_text(call: Call) -> str:
    """Write partners as one rank, by their law, or which they are, or how many."""
    partners = call.partners
    if not partners.count:
        return ""
    if partners.ranks is not None and len(partners.ranks) == 1:
        return f"{partners.ranks[0]}"
    if partners.law is not None:
        return partners.law.text
    which = f"{partners.count} ranks"
    if partners.ranks is not None and len(listed := compact(partners.ranks)) <= _PARTNERS:
        which = listed
    return f"any of {which}" if partners.vary else f"{which} by rank"
