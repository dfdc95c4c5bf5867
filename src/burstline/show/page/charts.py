"""Small pictures as SVG, made without a library: stacked bars, columns, matrices, points."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from burstline.show.page.html import Attributes, Html, tag
from burstline.show.page.kinds import LOOKS, look

_SHADES: Final = 10
"""Steps of ink in a matrix, from 2.5 to 33 %."""


def patterns() -> Html:
    """The hatches of kinds, once a page: pictures refer to them."""
    made = []
    for name, angle in (("a", 45), ("b", -45), ("c", 90), ("d", 0), ("n", 45)):
        line = tag("line", x1=0, y1=0, x2=0, y2=6, class_=f"hatch-{name}")
        turned = {"patternUnits": "userSpaceOnUse", "patternTransform": f"rotate({angle})"}
        made.append(tag("pattern", line, id=f"hatch-{name}", width=6, height=6, **turned))
    return tag("svg", tag("defs", *made), class_="defs", width=0, height=0, aria_hidden="true")


def swatch(kind: str) -> Html:
    """The colour of a kind, as in a legend."""
    return _small("swatch", filled(kind, 0, 0, 12, 12), 12, 12)


def _small(class_: str, shown: Iterable[Html | None], width: int, height: int) -> Html:
    """A picture in a line, of which a table or a text tells the same."""
    box: Attributes = {"width": width, "height": height, "viewBox": f"0 0 {width} {height}"}
    return tag("svg", *shown, class_=class_, **box, aria_hidden="true")


def filled(kind: str, x: float, y: float, width: float, height: float) -> list[Html]:
    """A box in the colour of a kind, and its hatch."""
    parts = [_rect(x, y, width, height, f"k-{kind}")]
    if hatch := look(kind).hatch:
        parts.append(_rect(x, y, width, height, f"h-{hatch}"))
    return parts


def _rect(x: float, y: float, width: float, height: float, class_: str) -> Html:
    return tag("rect", x=x, y=y, width=width, height=height, class_=class_)


def _label(said: str, x: float, y: float, anchor: str = "middle") -> Html:
    """A text of an axis; the anchor is where `x` is."""
    return tag("text", said, x=x, y=y, text_anchor=anchor, class_="axis")


def chart(shown: Iterable[Html], width: int, height: int) -> Html:
    """A picture of some pixels."""
    return tag("svg", *shown, class_="chart", viewBox=f"0 0 {width} {height}", role="img")


def stack(
    parts: Mapping[str, float], whole: float, width: int, height: int, label: str = ""
) -> Html:
    """A bar divided by kind, in the order of kinds; what is there is half a pixel at least."""
    shown, x = [], 0.0
    for kind in LOOKS:
        value = parts.get(kind.name, 0)
        if value <= 0 or whole <= 0:
            continue
        long = max(width * value / whole, 0.5)
        shown += filled(kind.name, x, 0, min(long, max(width - x, 0.5)), height)
        x += long
    return tag(
        "svg",
        tag("title", label) if label else None,
        *shown,
        class_="stack",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        preserveAspectRatio="none",
        role="img",
        aria_label=label or None,
    )


def bar(
    share: float | None,
    width: int = 128,
    height: int = 9,
    *,
    worst: bool = False,
    tick: float | None = None,
) -> Html:
    """A bar on its track, from 0 to 1; attention is drawn to the worst."""
    long = width * min(max(share or 0.0, 0.0), 1.0)
    shown = [
        _rect(0, 0, width, height, "track"),
        _rect(0, 0, max(long, 1.0) if share else 0.0, height, "worst" if worst else "ink"),
    ]
    if tick:
        x = width * tick
        shown.append(tag("line", x1=x, x2=x, y1=0, y2=height, class_="tick"))
    return _small("bar", shown, width, height)


class StepBox(NamedTuple):
    """A column of a chart: its number, the kinds it is made of, and its ranks."""

    number: int
    parts: Mapping[str, float]
    each: Sequence[float] = ()  # of the ranks, in the unit of the parts


def columns(
    steps: Sequence[StepBox],
    width: int,
    height: int,
    told: Callable[[float], str],
    *,
    axis: bool = True,
    target: str = "",
) -> Html:
    """Columns divided by kind, and circles for the ranks beside each if there is room."""
    sums = [sum(step.parts.values()) for step in steps]
    each = [max(step.each, default=0) for step in steps] if axis else []
    most = max([*sums, *each], default=0) or 1
    ticks = nice_ticks(most) if axis else []
    top = max([most, *ticks])
    left, bottom, above = (56, 20, 6) if axis else (0, 13, 14)
    room = height - bottom - above
    pitch = (width - left) / max(len(steps), 1)
    wide = min(pitch * (0.5 if axis and pitch > 30 else 0.8), 58.0)
    shown: list[Html] = []
    for tick in ticks:
        y = above + room * (1 - tick / top)
        shown += [
            tag("line", x1=left, x2=width, y1=y, y2=y, class_="grid"),
            _label(told(tick), left - 6, y + 4, "end"),
        ]
    every = -(-len(steps) // max(int((width - left) / (34 if axis else 26)), 1))
    for k, step in enumerate(steps):
        x, y = left + pitch * (k + 0.5) - wide / 2, above + room
        middle = x + wide / 2
        inside: list[Html] = []
        for kind in LOOKS:
            long = room * step.parts.get(kind.name, 0) / top
            if long > 0:
                y -= long
                inside += filled(kind.name, x, y, wide, long)
        if pitch > 30 and axis:
            inside += _ranks(step, x + wide + pitch / 8, above, room, top)
        if k % every == 0:
            inside.append(_label(str(step.number), middle, height - 4))
            if not axis and pitch > 22:
                inside.append(_label(told(sums[k]), middle, y - 4))
        title = tag("title", f"{step.number}: {told(sums[k])}")
        number = str(step.number) if target else None
        shown.append(tag("g", title, *inside, data_step=number))
    return chart(shown, width, height)


def _ranks(step: StepBox, x: float, above: float, room: float, top: float) -> Iterable[Html]:
    """Circles of the ranks on a line from the least to the most."""
    if not step.each:
        return
    places = [above + room * (1 - value / top) for value in step.each]
    yield tag("line", x1=x, x2=x, y1=min(places), y2=max(places), class_="thin")
    for y in places[:64]:
        yield tag("circle", cx=x, cy=y, r=2.5, class_="dot")


def boxes(
    rows: Sequence[tuple[str, Sequence[float]]], width: int, told: Callable[[float], str]
) -> Html:
    """Box plots: quartiles, middle and ends of each row of values."""
    most = max((value for _, values in rows for value in values), default=0) or 1
    left, right, pitch = 170, 24, 24
    shown, ticks = [], nice_ticks(most)
    most = ticks[-1]
    for tick in ticks:
        x = left + (width - left - right) * tick / most
        shown += [
            tag("line", x1=x, x2=x, y1=0, y2=pitch * len(rows), class_="grid"),
            _label(told(tick), x, pitch * len(rows) + 14),
        ]
    for k, (name, values) in enumerate(rows):
        ends = [left + (width - left - right) * q / most for q in quartiles(values)]
        y = pitch * k + pitch / 2
        shown.append(tag("text", name, x=left - 10, y=y + 4, text_anchor="end"))
        if ends:
            low, first, middle, third, high = ends
            shown += [
                tag("line", x1=low, x2=high, y1=y, y2=y, class_="thin"),
                _rect(first, y - 6, max(third - first, 1.0), 12, "ink"),
                tag("line", x1=middle, x2=middle, y1=y - 8, y2=y + 8, class_="tick"),
            ]
    return chart(shown, width, pitch * len(rows) + 20)


def quartiles(values: Sequence[float]) -> tuple[float, ...]:
    """Least, quartiles and most of some values; nothing of none.

    >>> quartiles([1, 2, 3, 4, 5])
    (1, 2, 3, 4, 5)
    """
    ordered = sorted(values)
    if not ordered:
        return ()
    last = len(ordered) - 1
    return tuple(ordered[round(last * part / 4)] for part in range(5))


def nice_ticks(most: float) -> list[float]:
    """Round numbers from 0 on, about four, the last of which is not below `most`.

    >>> nice_ticks(53)
    [0.0, 20.0, 40.0, 60.0]
    """
    raw = most / 4
    power = 10.0 ** math.floor(math.log10(raw)) if raw > 0 else 1.0
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= raw)
    return [step * k for k in range(math.ceil(most / step - 1e-9) + 1)]


def shade(value: float, most: float) -> str:
    """The class of ink of a cell: none for nothing."""
    if value <= 0 or most <= 0:
        return "q-none"
    return f"q{min(int(_SHADES * value / most), _SHADES - 1)}"


class Axis(NamedTuple):
    """An axis: logarithmic, from one power of ten to another, or linear."""

    low: float
    high: float
    told: Callable[[float], str]
    linear: bool = False

    def place(self, value: float) -> float:
        """Where a value is, from 0 to 1."""
        at = value if self.linear else math.log10(value)
        return (at - self.low) / max(self.high - self.low, 1)

    def ticks(self) -> list[float]:
        """The values that have a line.

        >>> Axis(0, 2, str).ticks(), Axis(0, 3, str, linear=True).ticks()
        ([1.0, 10.0, 100.0], [0.0, 1.0, 2.0, 3.0])
        """
        if self.linear:
            return nice_ticks(self.high)
        return [10.0**power for power in range(int(self.low), int(self.high) + 1)]


def decades(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten around some values above 0."""
    low = math.floor(math.log10(min(values)))
    return low, max(math.ceil(math.log10(max(values))), low + 1)


class Plane(NamedTuple):
    """Two axes, with their names."""

    across: Axis
    up: Axis
    names: tuple[str, str]
    diagonal: str = ""  # what it says where both are equal


class Mark(NamedTuple):
    """A point that stands out: its values, what is said of it, and where it leads."""

    x: float
    y: float
    said: str = ""
    go: str = ""


_LEFT, _BOTTOM, _ABOVE, _RIGHT = 64, 34, 18, 8


def room(size: tuple[int, int]) -> tuple[int, int]:
    """The pixels across and up that a plane has in a picture of that size."""
    return size[0] - _LEFT - _RIGHT, size[1] - _BOTTOM - _ABOVE


def density(
    levels: Sequence[Sequence[tuple[int, int]]],
    plane: Plane,
    size: tuple[int, int],
    marks: Sequence[Mark] = (),
) -> Html:
    """Pixels of a plane, from rare to frequent, and some points that are named."""
    wide, high = room(size)
    across, up = plane.across, plane.up

    def at(x: float, y: float) -> tuple[float, float]:
        return _LEFT + wide * across.place(x), _ABOVE + high * (1 - up.place(y))

    shown = [*_grid(plane, wide, high)]
    ends = 10.0 ** max(across.low, up.low), 10.0 ** min(across.high, up.high)
    if plane.diagonal and ends[1] > ends[0]:
        (x1, y1), (x2, y2) = at(ends[0], ends[0]), at(ends[1], ends[1])
        x, y = (x1 + 2 * x2) / 3, (y1 + 2 * y2) / 3
        shown.append(tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="dashed"))
        shown.append(_label(plane.diagonal, x - 6, y - 4, "end"))
    for level, points in enumerate(levels):
        if points:
            place = f"translate({_LEFT} {_ABOVE})"
            shown.append(
                tag("path", d=dots(points), class_=f"points p{level}", transform=place)
            )
    for mark in marks:
        cx, cy = at(mark.x, mark.y)
        is_right = cx > _LEFT + wide / 2
        circle = tag("circle", cx=cx, cy=cy, r=4.0, class_="dot")
        side = {"x": cx - 8, "text_anchor": "end"} if is_right else {"x": cx + 8}
        said = tag("text", mark.said, y=cy - 8, class_="axis strong", **side)
        shown.append(tag("g", circle, said if mark.said else None, data_go=mark.go or None))
    return chart(shown, *size)


def _grid(plane: Plane, wide: float, high: float) -> Iterable[Html]:
    """A line for each value that has one, and the names of the axes."""
    for tick in plane.across.ticks():
        x = _LEFT + wide * plane.across.place(tick)
        yield tag("line", x1=x, x2=x, y1=_ABOVE, y2=_ABOVE + high, class_="grid")
        anchor = "end" if x > _LEFT + wide - _RIGHT else "middle"
        yield _label(plane.across.told(tick), x, _ABOVE + high + 15, anchor)
    for tick in plane.up.ticks():
        y = _ABOVE + high * (1 - plane.up.place(tick))
        yield tag("line", x1=_LEFT, x2=_LEFT + wide, y1=y, y2=y, class_="grid")
        yield _label(plane.up.told(tick), _LEFT - 6, y + 4, "end")
    yield tag("text", f"↑ {plane.names[1]}", x=0, y=10, class_="axis")
    yield _label(f"{plane.names[0]} →", _LEFT + wide, _ABOVE + high + 30, "end")


def dots(points: Sequence[tuple[int, int]]) -> str:
    """Pixels as one path of lines without length; each move is from the pixel before.

    >>> dots([(3, 4), (5, 4)])
    'M3 4h0m2 0h0'
    """
    moves = [f"M{points[0][0]} {points[0][1]}h0"]
    moves += [f"m{b[0] - a[0]} {b[1] - a[1]}h0" for a, b in pairwise(points)]
    return "".join(moves)


def legend(shares: Mapping[str, str]) -> Html:
    """The kinds that are there, each with its colour and share."""
    shown = []
    for kind in LOOKS:
        if kind.name in shares:
            said = tag("b", shares[kind.name]), " ", tag("span", kind.label)
            shown.append(tag("li", swatch(kind.name), *said, data_kind=kind.name))
    return tag("ul", *shown, class_="legend")
