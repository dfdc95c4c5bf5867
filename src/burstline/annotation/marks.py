"""Marks: the events where iterations and waits begin and end, and what they are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final, NamedTuple

import numpy as np

from burstline.columns import AnyIntegers, Integers, begins_run, placed, to_numpy
from burstline.errors import ParameterError, printable
from burstline.extrae import (
    FOUND_ITERATION,
    RESERVED,
    STRUCTURE,
    WAIT_CAUSE,
    WAIT_LENGTH,
    WAIT_STATE,
)
from burstline.identity import Frame, Path, shared_frames
from burstline.model import UNKNOWN
from burstline.structure import Call, Loop, Structure, walk
from burstline.values import Contract, Documented
from burstline.waits import TITLES, WAITS, Waits

__all__ = ["INNERMOST", "RESERVED", "STRUCTURE", "iteration_type", "loop_type"]

INNERMOST: Final = STRUCTURE.start
"""Its value is the number of the innermost loop; 0 outside of loops."""

_DEEPEST: Final = 99
_NAME: Final = 60
_NEARLY: Final = 0.005

_Events = tuple[Integers, Integers, Integers, Integers]
"""Location, time, type and value of events."""


def loop_type(depth: int) -> int:
    """The type whose value is the number of the loop at a nesting depth.

    Parameters
    ----------
    depth : int
        1 for loops that are in no other loop.

    Returns
    -------
    int
        The event type.

    Examples
    --------
    >>> loop_type(1), iteration_type(1)
    (77700001, 77700101)
    """
    return INNERMOST + depth


def iteration_type(depth: int) -> int:
    """The type whose value is the iteration of the loop at a nesting depth.

    Parameters
    ----------
    depth : int
        1 for loops that are in no other loop.

    Returns
    -------
    int
        The event type.
    """
    return FOUND_ITERATION + depth - 1


def loop_name(loop: Loop) -> str:
    """The number, the place and the iterations of a loop in one line."""
    calls = [item for item, _ in walk(loop.items) if isinstance(item, Call)]
    paths = [call.path for call in calls if call.path]
    where = _place_of_loop(paths) if paths else printable(calls[0].operation, limit=_NAME)
    whole = abs(loop.iterations - round(loop.iterations)) < _NEARLY
    often = f"{loop.iterations:.0f}" if whole else f"{loop.iterations:.2f}"
    plural = "" if often == "1" else "s"
    return f"loop {loop.id}: {where}, {often} iteration{plural}"


def _place_of_loop(paths: Sequence[Path]) -> str:
    """File and lines where the paths part, or where the first one ends."""
    first = paths[0]
    depth = min(shared_frames(paths), len(first) - 1)
    while depth + 1 < len(first) and first[depth].file is None:
        depth += 1  # of a function that another is inlined in the place may be unknown
    place = first[depth]
    lines = [
        path[depth].line
        for path in paths
        if len(path) > depth
        and (path[depth].function, path[depth].file) == (place.function, place.file)
    ]
    return _file_and_lines(place, sorted({line for line in lines if line is not None}))


def _file_and_lines(place: Frame, lines: Sequence[int]) -> str:
    file = printable((place.file or place.function).strip(), limit=_NAME)
    if not lines:
        return file
    first, last = lines[0], lines[-1]
    return f"{file}:{first}" if first == last else f"{file}:{first}-{last}"


@dataclass(frozen=True, slots=True)
class MarkedLoop(Documented):
    """A loop that is marked in a trace.

    Attributes
    ----------
    id : int
        Its number in the structure.
    parent : int or None
        The loop it is in.
    depth : int
        How deep it is nested, 1 if it is in no other loop.
    name : str
        The label of the value of its event.
    """

    id: int
    parent: int | None
    depth: int
    name: str

    CONTRACT: ClassVar[Contract] = (
        *("id", "parent", "depth", "name"),
        ("type", lambda self: loop_type(self.depth)),
        ("iteration_type", lambda self: iteration_type(self.depth)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """Loops and iterations as events.

    Attributes
    ----------
    location, time_ns, type, value : ndarray of int64, shape (marks,)
        Where, when, and which event with which value; by location, time and type.
    loops : tuple of MarkedLoop
        The loops, each before those in it.
    waits : tuple of str
        What threads wait for, the meanings of values from 1; empty without marks of waits.
    """

    location: Integers
    time_ns: Integers
    type: Integers
    value: Integers
    loops: tuple[MarkedLoop, ...]
    waits: tuple[str, ...] = ()

    @property
    def depth(self) -> int:
        """How deep its loops are nested; 0 if there are none."""
        return max((loop.depth for loop in self.loops), default=0)

    @property
    def types(self) -> dict[int, int]:
        """How many events there are of each type."""
        types, counts = np.unique(self.type, return_counts=True)
        return dict(zip(types.tolist(), counts.tolist(), strict=True))

    def iterations(self, depth: int) -> int:
        """Count the iterations that begin at a nesting depth."""
        return int(((self.type == iteration_type(depth)) & (self.value > 0)).sum())

    def within(self, former: AnyIntegers, start_ns: Integers, end_ns: Integers) -> Marks:
        """The marks of a selection: what holds where a window begins, and changes inside.

        `former` is where each location of the selection was before; windows are of these.
        """
        place = placed(np.arange(len(former)), former, len(start_ns), UNKNOWN)
        stays = place[self.location] >= 0
        where, kind = self.location[stays], self.type[stays]
        time_ns = np.clip(self.time_ns[stays], start_ns[where], end_ns[where])
        value = np.where(time_ns < end_ns[where], self.value[stays], 0)
        order = np.lexsort((time_ns, kind, where))
        is_last = np.roll(begins_run(where[order], kind[order], time_ns[order]), -1)
        kept = order[is_last]
        kept = kept[np.lexsort((kind[kept], time_ns[kept], place[where[kept]]))]
        return replace(
            self,
            location=place[where[kept]],
            time_ns=time_ns[kept],
            type=kind[kept],
            value=value[kept],
        )


class _Changes(NamedTuple):
    """When loop and iteration at one nesting depth change; both are 0 outside."""

    location: Integers
    time_ns: Integers
    loop: Integers
    iteration: Integers


def marks_of(
    structure: Structure,
    *,
    max_depth: int | None = None,
    locations: AnyIntegers | None = None,
) -> Marks:
    """The loops and iterations of a structure as events.

    At each nesting depth an iteration begins with an event that says which loop it is of
    and an event that says which iteration it is, counted from 1 on its location over all
    entries of the loop. When an entry ends, both become 0. A third type says which loop is
    the innermost, whenever that changes.

    Parameters
    ----------
    structure : Structure
        Its loops and their iterations.
    max_depth : int, optional
        Leave out loops that are nested deeper; all are marked by default.
    locations : ndarray of int, shape (locations of the structure's trace,), optional
        Where each location of the trace in which the structure was found is in the trace
        to be annotated; the same by default.

    Returns
    -------
    Marks
        Events of the threads that call MPI; there is at most one of a type at a moment.

    Raises
    ------
    ParameterError
        If `max_depth` is not positive.

    Notes
    -----
    O(iterations log iterations) time. Where iterations of two loops at one depth overlap,
    because a loop was misread, the one that began last is what the events say. Iterations
    that take no time leave no event, nor do loops nested deeper than 99.

    Examples
    --------
    >>> from burstline import detect
    >>> from burstline.testing import trace_of
    >>> calls = " | ".join(f"{10 * k} enter MPI_Barrier | {10 * k + 1} leave" for k in range(4))
    >>> marks = marks_of(detect(trace_of(f"ranks 1 | 0 | {calls}")))
    >>> list(zip(marks.time_ns.tolist(), marks.type.tolist(), marks.value.tolist()))[:3]
    [(0, 77700000, 1), (0, 77700001, 1), (0, 77700101, 1)]
    """
    if max_depth is not None and max_depth < 1:
        raise ParameterError(f"loops are nested 1 deep or deeper, got a depth of {max_depth}")
    deepest = _DEEPEST if max_depth is None else min(max_depth, _DEEPEST)
    depths = _nesting_depths(structure.loops)
    loops = [loop for loop in structure.loops if depths[loop.id] <= deepest]
    levels = [
        _iteration_changes(structure, [loop for loop in loops if depths[loop.id] == depth])
        for depth in range(1, max((depths[loop.id] for loop in loops), default=0) + 1)
    ]
    if locations is not None:
        levels = [
            level._replace(location=locations[level.location].astype(np.int64))
            for level in levels
        ]
    none = np.empty(0, np.int64)
    parts = [_innermost_events(levels) if levels else (none, none, none, none)]
    for depth, level in enumerate(levels, 1):
        moments = level.location, level.time_ns
        parts.append(_of_type(loop_type(depth), *moments, level.loop))
        parts.append(_of_type(iteration_type(depth), *moments, level.iteration))
    marked = [
        MarkedLoop(loop.id, loop.parent, depths[loop.id], loop_name(loop)) for loop in loops
    ]
    return Marks(*_in_order(parts), tuple(marked))


def _nesting_depths(loops: Sequence[Loop]) -> dict[int, int]:
    depths: dict[int, int] = {}
    for loop in loops:
        depths[loop.id] = 1 if loop.parent is None else depths[loop.parent] + 1
    return depths


def _iteration_changes(structure: Structure, loops: Sequence[Loop]) -> _Changes:
    """Where iterations at one depth begin, and where they end without a next one."""
    tables = [structure.iterations(loop.id) for loop in loops]
    location, start, end, iteration = (
        np.concatenate([getattr(table, name) for table in tables]).astype(np.int64)
        for name in ("location", "start_ns", "end_ns", "iteration")
    )
    loop = np.repeat([table.loop for table in tables], [len(table) for table in tables])
    location, time_ns, loop, iteration = _changes_of_intervals(
        location, start, end, loop, iteration + 1
    )
    order = np.lexsort((time_ns, location))
    return _Changes(location[order], time_ns[order], loop[order], iteration[order])


def _changes_of_intervals(
    location: Integers, start_ns: Integers, end_ns: Integers, *values: Integers
) -> list[Integers]:
    """Where and when values of intervals begin to hold, and become 0 if none follows at once.

    Of intervals of a location that overlap, the one that began last holds.
    """
    order = np.lexsort((start_ns, location))
    location, start_ns, end_ns = location[order], start_ns[order], end_ns[order]
    followed = location[1:] == location[:-1]
    end_ns[:-1][followed] = np.minimum(end_ns[:-1], start_ns[1:])[followed]
    lasting = end_ns > start_ns
    location, start_ns, end_ns = location[lasting], start_ns[lasting], end_ns[lasting]
    left = np.ones(len(location), np.bool_)
    left[:-1] = (location[1:] != location[:-1]) | (end_ns[:-1] != start_ns[1:])
    nothing = np.zeros(int(left.sum()), np.int64)
    return [
        np.concatenate([location, location[left]]),
        np.concatenate([start_ns, end_ns[left]]),
        *(np.concatenate([value[order][lasting], nothing]) for value in values),
    ]


def _in_order(parts: Iterable[_Events]) -> _Events:
    """Location, time, type and value of all events, by location, time and type."""
    location, time_ns, kind, value = map(np.concatenate, zip(*parts, strict=True))
    order = np.lexsort((kind, time_ns, location))
    return location[order], time_ns[order], kind[order], value[order]


def _of_type(number: int, location: Integers, time_ns: Integers, value: Integers) -> _Events:
    return location, time_ns, np.full(len(value), number, np.int64), value


def _innermost_events(levels: Sequence[_Changes]) -> _Events:
    location = np.concatenate([level.location for level in levels])
    time_ns = np.concatenate([level.time_ns for level in levels])
    order = np.lexsort((time_ns, location))
    location, time_ns = location[order], time_ns[order]
    is_first = begins_run(location, time_ns)
    moment = placed(np.cumsum(is_first) - 1, order, len(location))
    innermost = np.zeros(int(is_first.sum()), np.int64)
    begin = 0
    for level in levels:
        running = _held_values(
            moment[begin : begin + len(level.loop)], level.loop, len(innermost)
        )
        innermost = np.where(running > 0, running, innermost)
        begin += len(level.loop)
    # every location ends outside of loops, so that none hands its last loop to the next
    changed = np.flatnonzero(np.diff(innermost, prepend=0))
    first = np.flatnonzero(is_first)[changed]
    return _of_type(INNERMOST, location[first], time_ns[first], innermost[changed])


def _held_values(moment: Integers, value: Integers, moments: int) -> Integers:
    """A value at every moment, given where it changes; 0 before its first change."""
    set_at = placed(moment, moment, moments)
    values = placed(value, moment, moments)
    return values[np.maximum.accumulate(set_at)]


def with_waits(marks: Marks, waits: Waits, *, locations: AnyIntegers | None = None) -> Marks:
    """Marks of loops with those of waits among them.

    A wait begins with three events: what is waited for, how many ns, and the rank that causes
    it, counted from 1. When it ends, all of them become 0.

    Parameters
    ----------
    marks : Marks
        Those of loops; they do not change.
    waits : Waits
        Single waits of the trace, from :func:`burstline.wait_states`.
    locations : ndarray of int, shape (locations of the trace of `waits`,), optional
        Where each of its locations is in the trace to be annotated; the same by default.

    Returns
    -------
    Marks
        Events in order; there is at most one of a type at a moment.

    Notes
    -----
    O(waits log waits) time. Where waits of a thread overlap, the one that began last is what
    the events say.

    Examples
    --------
    >>> import burstline
    >>> from burstline.annotation import marks_of
    >>> from burstline.testing import trace_of
    >>> trace = trace_of(
    ...     "ranks 2 | 0 | 10 enter MPI_Send | 10 send to 1 bytes 8 | 11 leave "
    ...     "| 1 | 6 enter MPI_Recv | 12 receive from 0 bytes 8 | 12 leave"
    ... )
    >>> marks = with_waits(marks_of(burstline.detect(trace)), burstline.wait_states(trace))
    >>> list(zip(marks.time_ns.tolist(), marks.value.tolist()))
    [(6, 1), (6, 4), (6, 1), (10, 0), (10, 0), (10, 0)]
    """
    table = waits.instances
    location, start, wait, cause = (
        to_numpy(table[name]).astype(np.int64)
        for name in ("location", "start_ns", "wait_ns", "cause_location")
    )
    number = {name: k for k, name in enumerate(WAITS, 1)}
    metric = np.array([number[name] for name in table["metric"].to_pylist()], np.int64)
    rank = to_numpy(waits.profile.locations["rank"]).astype(np.int64)
    where, moment, *held = _changes_of_intervals(
        location, start, start + wait, metric, wait, rank[cause] + 1
    )
    if locations is not None:
        where = locations[where].astype(np.int64)
    parts: list[_Events] = [(marks.location, marks.time_ns, marks.type, marks.value)]
    parts += [
        _of_type(kind, where, moment, value)
        for kind, value in zip((WAIT_STATE, WAIT_LENGTH, WAIT_CAUSE), held, strict=True)
    ]
    names = tuple(TITLES[name] for name in WAITS)
    return Marks(*_in_order(parts), marks.loops, names)
