"""Parts of a run: windows of time, loops or iterations of one, and what lies in each of them.

What lasts is divided at the borders of parts, what is counted is counted where its call was
entered. Nothing is lost by that, and nothing counted twice: sums over parts are the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from burstline.columns import UNKNOWN, AnyIntegers, Integers, begins_run, ranges, sums_by, take
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.model import last_until
from burstline.structure import Structure
from burstline.synchronisation import Sync

_Spans = tuple[Integers, Integers, Integers]  # location, begin and end

OUTSIDE: Final = "outside"
"""The key of what is in no iteration or loop."""

EVER: Final = np.iinfo(np.int64).min
"""A time before all others."""

_MOST: Final = 10_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Borders of parts, by location and time; the first of each location lies before all."""

    # (parts,) start of a window in ns, number of an iteration or a loop, or OUTSIDE
    keys: list[int | str]
    location: Integers  # (borders,)
    time_ns: Integers
    part: Integers  # which one begins there
    loop: int | None = None  # whose iterations they are
    around: Sequence[int] = ()  # (parts,) of loops: the one around, before it, or UNKNOWN

    def split_at_borders(
        self, location: AnyIntegers, start_ns: Integers, length_ns: AnyIntegers
    ) -> tuple[Integers, Integers, Integers]:
        """Interval, part and length of each piece of some intervals."""
        end_ns = start_ns + length_ns
        first = self._borders(location, start_ns)
        last = np.maximum(self._borders(location, end_ns), first)
        count = last - first + 1
        row = np.repeat(np.arange(len(first)), count)
        border = ranges(first, count)
        following = self.time_ns[np.minimum(border + 1, len(self.time_ns) - 1)]
        until = np.where(border < last[row], following, end_ns[row])
        return row, self.part[border], until - np.maximum(start_ns[row], self.time_ns[border])

    def sums(self, part: Integers, value: AnyIntegers) -> Integers:
        """Exact sums of values by part."""
        return sums_by(part, value, len(self.keys))

    def divided(
        self, location: AnyIntegers, start_ns: Integers, length_ns: AnyIntegers
    ) -> Integers:
        """How much of some intervals lies in each part."""
        _, part, length = self.split_at_borders(location, start_ns, length_ns)
        return self.sums(part, length)

    def counted(
        self, location: AnyIntegers, time_ns: Integers, value: AnyIntegers | int = 1
    ) -> Integers:
        """Sums of values of moments by part."""
        part = self.part_of(location, time_ns)
        return self.sums(part, np.broadcast_to(value, len(part)))

    def part_of(self, location: AnyIntegers, time_ns: Integers) -> Integers:
        """The part in which some moments lie."""
        return self.part[self._borders(location, time_ns)]

    def _borders(self, location: AnyIntegers, time_ns: Integers) -> Integers:
        return last_until((self.location, self.time_ns), (location, time_ns))


def whole_of(sync: Sync) -> Parts:
    """All of the run as one part."""
    every = np.arange(sync.locations)
    return Parts([OUTSIDE], every, np.full_like(every, EVER), np.zeros_like(every))


def windows_of(sync: Sync, width_ns: int) -> Parts:
    """Windows of time of one width, which begin at its multiples."""
    if width_ns < 1:
        raise ParameterError("a window of time is 1 ns long or longer")
    enter, leave, node = sync.programs
    spans = [(rows.enter_ns, rows.leave_ns) for rows in (sync.calls, sync.regions)]
    spans.append((enter[node >= 0], leave[node >= 0]))
    first = min((int(begin.min()) for begin, _ in spans if len(begin)), default=0) // width_ns
    last = max((int(end.max()) for _, end in spans if len(end)), default=0) // width_ns
    count = last - first + 1
    _require_few(count, "windows", sync)
    keys = [(first + k) * width_ns for k in range(count)]
    begins = np.array([EVER, *keys[1:]], np.int64)
    location = np.repeat(np.arange(sync.locations), count)
    part = np.tile(np.arange(count), sync.locations)
    return Parts([*keys], location, begins[part], part)


def _require_few(count: int, what: str, sync: Sync) -> None:
    if count * sync.locations > _MOST:
        raise ParameterError(
            f"{count:,} {what} on {sync.locations:,} threads are too many: at most {_MOST:,} "
            "of all threads are told. Take longer ones, or a part of the run (`start_ns`, "
            "`end_ns`)"
        )


def iterations_of(program: Structure, sync: Sync, loop: int | None) -> Parts:
    """The iterations of a loop, from 1 on each rank; by default of the one that spans most."""
    if not program.loops:
        raise NotEnoughDataError("no loop was found, so there are no iterations to tell apart")
    if loop is None:
        loop = max(program.loops, key=lambda each: each.share).id
    number, _, spans = _iteration_spans(program, loop)
    keys = [*range(1, int(number.max(initial=-1)) + 2), OUTSIDE]
    _require_few(len(keys), "iterations", sync)
    next_part, level = np.full_like(number, len(keys) - 1), np.ones_like(number)
    return Parts(keys, *_borders(sync, spans, number, next_part, level), loop)


def loops_of(program: Structure, sync: Sync) -> Parts:
    """The loops of the program, where each is innermost."""
    if not program.loops:
        raise NotEnoughDataError("no loop was found, so there are none to tell apart")
    keys: list[int | str] = [*(loop.id for loop in program.loops), OUTSIDE]
    around: list[int] = []
    level: list[int] = []
    columns = []
    for k, loop in enumerate(program.loops):
        outer = UNKNOWN if loop.parent is None else keys.index(loop.parent)
        around.append(outer)
        level.append(1 if outer < 0 else level[outer] + 1)
        _, entry, (where, start, end) = _iteration_spans(program, loop.id)
        begins = begins_run(where, entry)
        ends = np.append(begins[1:], True)[: len(begins)]
        # Without a loop around, outside of all follows: the last part.
        numbers = np.tile([[k], [outer % len(keys)], [level[k]]], int(begins.sum()))
        columns.append((where[begins], start[begins], end[ends], *numbers))
    where, start, end, *last = (np.concatenate(each) for each in zip(*columns, strict=True))
    return Parts(keys, *_borders(sync, (where, start, end), *last), around=(*around, UNKNOWN))


def _iteration_spans(program: Structure, loop: int) -> tuple[Integers, Integers, _Spans]:
    """Number, entry and span of each iteration of a loop; none goes on when the next begins."""
    table = program.iterations(loop)
    order = np.lexsort((table.start_ns, table.location))
    where = table.location[order].astype(np.int64)
    start, end = table.start_ns[order], table.end_ns[order].copy()
    same = where[1:] == where[:-1]
    end[:-1][same] = np.minimum(end[:-1], start[1:])[same]
    return table.iteration[order], table.entry[order], (where, start, end)


def _borders(
    sync: Sync, spans: _Spans, part: Integers, next_part: Integers, level: Integers
) -> _Spans:
    """Location, time and part of each border of spans: `part`, and behind it `next_part`.

    The last part is outside of all spans; those of higher level lie in those of lower ones.
    Threads without calls of MPI are in the spans of their process.
    """
    some = spans[1] < spans[2]
    outside = next_part.max(initial=0)
    where, moment, part, level = (
        np.concatenate([begin[some], end[some]])
        for begin, end in ((spans[0], spans[0]), spans[1:], (part, next_part), (level, -level))
    )
    # Of borders at one time the last one counts: inner spans end first, and begin last.
    order = np.lexsort((level, moment, where))
    where, moment, part = (column[order] for column in (where, moment, part))
    begin = np.searchsorted(where, np.arange(sync.locations + 1))
    leader = _leading_locations(sync, begin)
    count = np.diff(begin)[leader]
    rows = ranges(begin[leader], count)
    location = np.concatenate(
        [np.arange(sync.locations), np.repeat(np.arange(sync.locations), count)]
    )
    moment = np.concatenate([np.full(sync.locations, EVER), moment[rows]])
    part = np.concatenate([np.full(sync.locations, outside), part[rows]])
    order = np.argsort(location, kind="stable")
    return location[order], moment[order], part[order]


def _leading_locations(sync: Sync, begin: Integers) -> Integers:
    """Whose iterations hold on each location: its own, or those of its first thread."""
    leader = np.arange(sync.locations)
    firsts = np.flatnonzero(sync.thread == 0)
    place = np.searchsorted(sync.process[firsts], sync.process)
    has_none = np.diff(begin) == 0
    leader[has_none] = take(firsts, np.minimum(place, len(firsts) - 1))[has_none]
    return leader
