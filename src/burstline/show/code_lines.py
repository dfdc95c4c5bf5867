"""Pseudo-code: a structure as a person would write the program down.

::

    Structure  --pseudocode-->  lines: FILE, LINE, PSEUDOCODE, E(time), E(size), E(counter)

Call paths that a loop or a block has in common stand once, above it; what a line repeats of
the line before it is not said again. Items that only some ranks execute are put into a
conditional block.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Final, Literal

from burstline.errors import ParameterError, printable
from burstline.show.units import format_share, plural
from burstline.show.wording import (
    call_text,
    condition_text,
    is_otherwise,
    loop_text,
    name_text,
    ranks_text,
)
from burstline.structure import Call, Condition, Loop, compact, walk

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from burstline.identity import Frame
    from burstline.structure import Inside, InsideLoop, Item, Place, Structure

IPC: Final = "IPC"
_MOST_LINES: Final = 3
_LEAST_SHARE: Final = 0.05
_INSTRUCTIONS: Final = "PAPI_TOT_INS"
_CYCLES: Final = "PAPI_TOT_CYC"
_TELLING: Final = (IPC, _INSTRUCTIONS, _CYCLES, "perf::TASK-CLOCK", "TASK-CLOCK")
STYLES: Final = {"loop": "bold cyan", "condition": "magenta", "frame": "dim", "burst": "green"}
"""How each kind of line looks on a terminal."""

Kind = Literal["frame", "loop", "condition", "call", "burst"]
Step = tuple["Frame", str]
"""A frame, and the function called from it."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of pseudo-code."""

    kind: Kind
    """What it shows."""
    depth: int
    """How deep it is indented."""
    text: str
    """The pseudo-code; safe to print."""
    file: str = ""
    line: str = ""
    """From where the function in `text` is called; empty if that says nothing."""
    time_ns: float | None = None
    size_bytes: float | None = None
    counter: float | None = None
    """Mean duration, size and counter of what it shows."""
    item: Item | None = None
    """The node it stands for; None for a frame, a block of ranks and for computation."""


def chosen_counter(structure: Structure, name: str | None) -> str | None:
    """The counter to show: the one asked for, else the one that says most."""
    known = set(structure.counters)
    if {_INSTRUCTIONS, _CYCLES} <= known:
        known.add(IPC)
    if name is None:
        return next((each for each in _TELLING if each in known), None)
    if name not in known:
        there_are = ", ".join(printable(each) for each in sorted(known)) or "none at all"
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
) -> list[Line]:
    """Write a structure down as lines of pseudo-code."""
    everybody = frozenset(structure.ranks)
    shown = everybody if ranks is None else everybody & frozenset(ranks)
    if not shown:
        raise ParameterError(
            f"none of the ranks to show calls MPI; there are {compact(everybody)}"
        )
    if depth is not None and depth < 0:
        raise ParameterError(f"a depth of loops to show is 0 or more, got {depth}")
    writer = _Writer(shown, structure.world_size, counter, bursts_ns)
    writer.deepest, writer.inside = depth, inside
    writer.body(structure.items, shown, _Place())
    return writer.lines


@dataclass(slots=True)
class _Place:
    """Where the next line goes: in which loop, below which frames, and how deep."""

    path: tuple[Step, ...] = ()
    depth: int = 0
    kept: int = 0
    """Frames that the enclosing block shows already."""

    opened: tuple[Step, ...] = field(default=())
    loop: Loop | None = None
    """The loop whose body this is; None in a condition, which has iterations of its own."""

    nesting: int = 0

    def inner(self, path: tuple[Step, ...], depth: int) -> _Place:
        """The place inside of what was just written."""
        return _Place(path, depth + 1, len(path), path, self.loop, self.nesting)


class _Writer:
    def __init__(
        self, shown: frozenset[int], world: int, counter: str | None, bursts_ns: int | None
    ) -> None:
        self.lines: list[Line] = []
        self.deepest: int | None = None
        self.inside: Inside | None = None
        self._shown, self._world = shown, world
        self._counter, self._bursts_ns = counter, bursts_ns

    def body(self, items: Iterable[Item], around: frozenset[int], place: _Place) -> None:
        """Write items that the ranks `around` come across."""
        visible = [item for item in items if self._shown.intersection(item.ranks)]
        for ranks, members in groupby(visible, key=lambda item: self._shown & set(item.ranks)):
            block = list(members)
            if ranks == around:
                self._block(block, place)
                continue
            path = _common([_steps(item) for item in block])
            depth = self._open(path, place)
            self._add("condition", depth, f"if {ranks_text(ranks, around)}:")
            self._block(block, place.inner(path, depth))

    def _block(self, items: Sequence[Item], place: _Place) -> None:
        """Write items that the same ranks execute."""
        before: Item | None = None
        for item in items:
            steps = _steps(item)
            depth = self._open(steps, place)
            if isinstance(item, Call):
                self._call(item, depth)
            elif isinstance(item, Condition):
                self._condition(item, before, place.loop, depth)
                inner = place.inner(steps, depth)
                inner.loop = None
                self.body(item.items, self._shown & frozenset(item.ranks), inner)
            else:
                self._loop(item, place.inner(steps, depth), depth)
            before = item

    def _condition(
        self, item: Condition, before: Item | None, loop: Loop | None, depth: int
    ) -> None:
        text = f"if {condition_text(item, loop)}:"
        if isinstance(before, Condition) and is_otherwise(item, before, loop):
            text = "else:"
        self._add("condition", depth, text, item=item)

    def _loop(self, loop: Loop, inner: _Place, depth: int) -> None:
        counter = None if loop.parent else _iteration_counter(loop, self._counter)
        inner.loop, inner.nesting = loop, inner.nesting + 1
        folded = self.deepest is not None and inner.nesting > self.deepest
        text = loop_text(loop)
        if folded:
            text += f", {plural(sum(1 for _ in walk(loop.items)), 'node')} folded"
        self._add("loop", depth, text, time_ns=loop.mean_ns, counter=counter, item=loop)
        if not folded:
            self.body(loop.items, self._shown & frozenset(loop.ranks), inner)

    def _open(self, path: tuple[Step, ...], place: _Place) -> int:
        """Write the frames of `path` that are not shown yet; give the depth below them."""
        same = len(_common([path, place.opened]))
        depth = place.depth + same - place.kept
        for frame, callee in path[same:]:
            self._add("frame", depth, f"{name_text(callee)}()", frame)
            depth += 1
        place.opened = path
        return depth

    def _call(self, call: Call, depth: int) -> None:
        value = _value(call.counters, self._counter)
        if self._bursts_ns is not None and (call.burst_ns or 0) >= max(self._bursts_ns, 1):
            self._add("burst", depth, "computation", time_ns=call.burst_ns, counter=value)
            for text in inside_text(self.inside, call) if self.inside else ():
                self._add("burst", depth + 1, text)
        self._add(
            "call",
            depth,
            call_text(call, self._world),
            call.caller,
            time_ns=call.time_ns,
            size_bytes=call.size_bytes,
            counter=value,
            item=call,
        )

    def _add(
        self,
        kind: Kind,
        depth: int,
        text: str,
        frame: Frame | None = None,
        *,
        time_ns: float | None = None,
        size_bytes: float | None = None,
        counter: float | None = None,
        item: Item | None = None,
    ) -> None:
        file = "" if frame is None else name_text(frame.file or frame.function)
        line = "" if frame is None or frame.line is None else str(frame.line)
        numbers = time_ns, size_bytes, counter
        self.lines.append(Line(kind, depth, text, file, line, *numbers, item))


def _steps(item: Item) -> tuple[Step, ...]:
    """The frames above an item, those that all calls of a loop have in common."""
    if not isinstance(item, Call):
        return _common([_steps(inner) for inner in item.items])
    callees = (frame.function for frame in item.path[1:])
    return tuple(zip(item.path, callees, strict=False))


def _common(paths: Sequence[tuple[Step, ...]]) -> tuple[Step, ...]:
    length = 0
    for steps in zip(*paths, strict=False):
        if any(step != steps[0] for step in steps):
            break
        length += 1
    return paths[0][:length]


def _value(counters: Mapping[str, float], name: str | None) -> float | None:
    if name != IPC or IPC in counters:
        return None if name is None else counters.get(name)
    cycles = counters.get(_CYCLES, 0)
    return counters.get(_INSTRUCTIONS, 0) / cycles if cycles > 0 else None


def _iteration_counter(loop: Loop, name: str | None) -> float | None:
    """A counter over a whole iteration, as the most frequent call of the body saw it."""
    if not loop.calls:
        return None
    regular = max(loop.calls, key=lambda call: call.probability)
    return _value(regular.iteration_counters, name)


def inside_text(
    inside: Inside, node: Item, *, most: int = _MOST_LINES, least_share: float = _LEAST_SHARE
) -> list[str]:
    """Write down the loops in the computation of a node, one line each."""
    samples = inside.samples_in(node)
    told = [loop for loop in inside.loops(node) if loop.share >= least_share]
    if told:
        return [_loop_text(loop, samples) for loop in told[:most]]
    return [_place_text(place, samples) for place in inside.places(node)[:1]]


def _loop_text(loop: InsideLoop, samples: int) -> str:
    where = _where(loop.function, loop.file, loop.first_line, loop.last_line)
    if loop.entries is None:
        return f"loop: {where}, {format_share(loop.share)} of {plural(samples, 'sample')}"
    trips = "loop"
    if loop.iterations is not None:
        trips += f" of {loop.iterations:.10g} iterations"
        trips += " (mean)" * (loop.iterations != round(loop.iterations))
    return f"{trips}: {where}, {format_share(loop.share)} of the time"


def _place_text(place: Place, samples: int) -> str:
    where = _where(place.function, place.file, place.line, place.line)
    share = format_share(place.samples / samples)
    return f"{where}, {share} of {plural(samples, 'sample')}"


def _where(function: str, file: str | None, first: int | None, last: int | None) -> str:
    if file is None:
        return name_text(function)
    lines = "" if first is None else f":{first}"
    if last not in {None, first}:
        lines += f"..{last}"
    return f"{name_text(function)} ({name_text(file)}{lines})"
