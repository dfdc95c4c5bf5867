"""What every drawing of the clustering plot has in common: axes, curves, names of loops.

::

    Points, Structure  --axes-->  Axes: limits, ticks, curves of equal share
                       --named_loops-->  NamedLoop: what a legend says of each loop
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.errors import NotEnoughDataError, printable
from burstline.show.units import format_count, plural
from burstline.structure import IN_NO_LOOP, LEFT_OUT, Call, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from burstline.columns import Floats
    from burstline.identity import Frame
    from burstline.structure import Loop, Points, Structure

_MARGIN: Final = 1.6
_NEAREST: Final = 1.4
"""Curves closer than this would run into each other."""

_LEAST_SHARE: Final = 0.1
_STEPS: Final = ((1.0, (1, 1.5, 2, 3, 4, 5, 6, 8)), (3.0, (1, 2, 5)), (math.inf, (1,)))
"""Steps within a decade, for axes up to so many decades."""

_FILE: Final = 28
_NO_CHARACTERS: Final = re.compile("[\ufffe\uffff]")
_UNITS: Final = ((10**9, "s"), (10**6, "ms"), (10**3, "µs"), (1, "ns"))


@dataclass(frozen=True, slots=True)
class Axes:
    """A logarithmic plane that holds all points, and the curves in it.

    Attributes
    ----------
    x, y : tuple of float
        Limits: repetitions, and time between them in ns.
    x_ticks, y_ticks : tuple of (float, str)
        Where a value is written, and how.
    shares : tuple of float
        Curves to draw: calls on one of them span that share of the run.
    least : float or None
        Calls below this share were not looked at.
    run_ns : int
        Length of the run; the curves are ``share * run_ns / x``.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    shares: tuple[float, ...]
    least: float | None
    run_ns: int

    def fractions(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Where repetitions and times in ns lie between the limits, from 0 to 1."""
        across, up = (
            np.log(values / low) / math.log(high / low)
            for values, (low, high) in ((x, self.x), (y, self.y))
        )
        return across, up


@dataclass(frozen=True, slots=True)
class NamedLoop:
    """One group of points, as a legend names it.

    Attributes
    ----------
    loop : int
        Number of the loop, or what stands in its place, see
        :mod:`burstline.structure.study.plane`.
    name : str
        Its name; safe to print.
    share : float
        Share of the run; 0 for what is no loop.
    """

    loop: int
    name: str
    share: float


def axes(points: Points, structure: Structure) -> Axes:
    """Choose axes for points."""
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
    return Axes(
        x=x,
        y=y,
        x_ticks=_ticks(
            x, lambda value: f"{value:,.0f}" if value < 1e4 else format_count(value)
        ),
        y_ticks=_ticks(y, _short_time),
        shares=(*shares, smallest),
        least=limit,
        run_ns=points.run_ns,
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


def _short_time(time_ns: float) -> str:
    size, unit = next(each for each in _UNITS if time_ns >= each[0])
    return f"{time_ns / size:g} {unit}"


def named_loops(points: Points, structure: Structure) -> tuple[NamedLoop, ...]:
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
    frame = landmark(loop)
    place = "" if frame is None else f", {place_of(frame)}"
    return f"loop {loop.id}: {plural(loop.total_iterations, 'iteration')}{place}"


def landmark(loop: Loop) -> Frame | None:
    """A place in the body of a loop: where the first of its calls leaves its function."""
    paths = [item.path for item, _ in walk(loop.items) if isinstance(item, Call)]
    if not paths or not paths[0]:
        return None
    common = 0
    while all(common < len(path) - 1 and path[common] == paths[0][common] for path in paths):
        common += 1
    return paths[0][common]


def place_of(frame: Frame) -> str:
    """File and line of a frame as one word, safe to print anywhere, XML included.

    >>> from burstline.identity import Frame
    >>> place_of(Frame("main", "a.c", 7)), place_of(Frame("main", None, None))
    ('a.c:7', 'main')
    """
    name = safe(frame.file or frame.function, limit=_FILE)
    return name if frame.line is None else f"{name}:{frame.line}"


def safe(text: str, *, limit: int) -> str:
    """Make text from a trace safe to print, also in XML."""
    return _NO_CHARACTERS.sub("\ufffd", printable(text.strip(), limit=limit))


def heading(points: Points, structure: Structure) -> str:
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


def largest(names: Sequence[NamedLoop], most: int) -> tuple[Sequence[NamedLoop], int]:
    """Keep the loops with the largest shares; say how many were left out."""
    loops = [each for each in names if each.loop > IN_NO_LOOP]
    others = [each for each in names if each.loop <= IN_NO_LOOP]
    kept = sorted(loops, key=lambda each: -each.share)[:most]
    in_order = [each for each in loops if each in kept]
    return [*in_order, *others], len(loops) - len(kept)
