"""The layout of the clustering plot, whatever it is drawn on: axes, curves, names of loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from burstline.columns import Floats
from burstline.errors import NotEnoughDataError, plural
from burstline.identity import Frame, shared_frames
from burstline.quantities import format_count
from burstline.show.pictures.canvas import safe
from burstline.show.units import short_time
from burstline.structure import IN_NO_LOOP, LEFT_OUT, Call, Loop, Points, Structure, walk

_MARGIN: Final = 1.6
_NEAREST: Final = 1.4  # curves that are closer would run into each other
_LEAST_SHARE: Final = 0.1
# Steps within a decade, for axes up to so many decades.
_STEPS: Final = ((1.0, (1, 1.5, 2, 3, 4, 5, 6, 8)), (3.0, (1, 2, 5)), (math.inf, (1,)))
_FILE: Final = 28


class NamedLoop(NamedTuple):
    """One group of points, as a legend names it."""

    loop: int  # its number, or IN_NO_LOOP or LEFT_OUT
    name: str  # safe to print
    share: float  # of the run; 0 for what is no loop


@dataclass(frozen=True, slots=True)
class Layout:
    """A logarithmic plane that holds all points, what is drawn in it and written around it."""

    heading: str
    x: tuple[float, float]  # limits: repetitions
    y: tuple[float, float]  # limits: time between them in ns
    x_ticks: tuple[tuple[float, str], ...]  # where a value is written, and how
    y_ticks: tuple[tuple[float, str], ...]
    curves: tuple[tuple[float, str], ...]  # shares of the run, and how they are written
    least: float | None  # calls below this share were not looked at
    run_ns: int
    loops: tuple[NamedLoop, ...]  # all groups of points, in the order of the program
    legend: tuple[NamedLoop, ...]  # those with the largest shares, as many as have space
    unnamed: int  # loops that are not in the legend

    def fractions(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Where repetitions and times in ns lie between the limits, from 0 to 1."""
        across, up = (
            np.log(values / low) / math.log(high / low)
            for values, (low, high) in ((x, self.x), (y, self.y))
        )
        return across, up

    def height(self, share: float, x: Floats | float) -> Any:  # noqa: ANN401 -- as `x` is
        """Where the curve of a share is above some repetitions, in ns."""
        return share * self.run_ns / x


def layout(points: Points, structure: Structure, *, most: int) -> Layout:
    """A layout whose legend names up to `most` loops."""
    if not len(points):
        raise NotEnoughDataError("no call is executed twice, so that there is nothing to plot")
    least = structure.parameters.get("min_share")
    limit = float(least) if isinstance(least, float) and 0 < least < 1 else None
    smallest = limit or _LEAST_SHARE
    shares = [share for share in (1.0, 0.5, _LEAST_SHARE) if share > _NEAREST * smallest]
    x_low = float(points.repetitions_range.min()) / _MARGIN**0.5
    x_high = float(points.repetitions_range.max()) * _MARGIN
    y_low = min(float(points.interval_range_ns.min()), smallest * points.run_ns / x_high)
    y_high = max(float(points.interval_range_ns.max()), points.run_ns / x_high)
    x, y = (x_low, x_high), (y_low / _MARGIN, y_high * _MARGIN)
    names = _named_loops(points, structure)
    loops = sorted((each for each in names if each.loop > IN_NO_LOOP), key=lambda n: -n.share)
    return Layout(
        heading=_heading(points, structure),
        x=x,
        y=y,
        x_ticks=_ticks(
            x, lambda value: f"{value:,.0f}" if value < 1e4 else format_count(value)
        ),
        y_ticks=_ticks(y, short_time),
        curves=tuple((share, percent(share)) for share in (*shares, smallest)),
        least=limit,
        run_ns=points.run_ns,
        loops=names,
        legend=tuple(each for each in names if each not in loops[most:]),
        unnamed=len(loops[most:]),
    )


def _ticks(
    limits: tuple[float, float], text: Callable[[float], str]
) -> tuple[tuple[float, str], ...]:
    """Powers of ten within limits, and steps between them if there are few."""
    low, high = (math.log10(limit) for limit in limits)
    steps = next(steps for decades, steps in _STEPS if high - low < decades)
    values = [
        step * 10.0**power
        for power in range(max(math.floor(low), 0), math.ceil(high) + 1)
        for step in steps
    ]
    inside = [each for each in values if limits[0] <= each < limits[1] and each % 1 == 0]
    return tuple((value, text(value)) for value in inside)


def _named_loops(points: Points, structure: Structure) -> tuple[NamedLoop, ...]:
    """Name the groups of points, in the order of the program."""
    present = set(np.unique(points.loop).tolist())
    names = [
        NamedLoop(loop.id, _loop_name(loop), loop.share)
        for loop in structure.loops
        if loop.id in present
    ]
    if IN_NO_LOOP in present:
        names.append(NamedLoop(IN_NO_LOOP, "calls in no loop", 0.0))
    if LEFT_OUT in present:
        least = percent(float(str(structure.parameters.get("min_share", 0))))
        names.append(NamedLoop(LEFT_OUT, f"left out: less than {least}", 0.0))
    return tuple(names)


def percent(share: float) -> str:
    """A share in percent, without digits that say nothing.

    >>> percent(0.1), percent(0.125)
    ('10 %', '12.5 %')
    """
    return f"{100 * share:.3g} %"


def _loop_name(loop: Loop) -> str:
    frame, place = landmark(loop), ""
    if frame is not None:
        place = f", {safe(frame.file or frame.function, limit=_FILE)}"
        place += "" if frame.line is None else f":{frame.line}"
    return f"loop {loop.id}: {plural(loop.total_iterations, 'iteration')}{place}"


def landmark(loop: Loop) -> Frame | None:
    """A place in the body of a loop: where the first of its calls leaves its function."""
    paths = [item.path for item, _ in walk(loop.items) if isinstance(item, Call)]
    if not paths or not paths[0]:
        return None
    last = max(min(map(len, paths)) - 1, 0)
    return paths[0][min(shared_frames(paths), last)]


def _heading(points: Points, structure: Structure) -> str:
    """Say in one line what a plot shows, and what it cannot."""
    said = [
        plural(len(structure.loops), "loop"),
        plural(len(set(structure.ranks)), "rank"),
        f"fidelity {100 * structure.fidelity:.2f} %",
        plural(int(points.unique.sum()), "unique call"),
    ]
    if points.is_merged:
        said[-1] += f" as {plural(len(points), 'point')} with their ranges"
    if points.once:
        said.append(f"{points.once:,} more executed once")
    return " · ".join(said)
