"""Call paths: which functions compute, wait and transfer, as a flame graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from burstline.columns import Integers
from burstline.quantities import format_ns
from burstline.show.page.alone import PictureView, pictures_of
from burstline.show.page.charts import chart, filled
from burstline.show.page.html import Html, heading, join, share_text, table, tag
from burstline.show.page.kinds import look
from burstline.show.page.report import NothingError, Report, Section, needed
from burstline.timeline import KINDS, Flame, Kind

_WIDTH: Final = 1200
_HIGH: Final = 17  # pixels of a box, with the line below it
_STRIP: Final = 7
_DEEPEST: Final = 60
_LEAST: Final = 0.5
"""Pixels of a box: smaller ones are not drawn."""
_LETTER: Final = 6.6
_SHORTEST: Final = 3
"""Letters of a name that is worth being written."""

NAME: Final = "flame"
LABEL: Final = "Call paths"
EMPTY: Final = "Time by call path is not shown"


def section(report: Report) -> Section:
    """The time of all threads by call path and kind."""
    flame = needed(report.flame)
    if not flame.times_ns.any():
        raise NothingError("No time of the run is known.")
    return Section(
        title(flame),
        join(
            tag("p", _note(flame), class_="sub"),
            _flame_graph(flame),
            *(table(each) for each in flame.tables()),
        ),
        flame.as_dict(),
    )


def title(flame: Flame) -> str:
    """On what most time is spent, and in which function."""
    row, kind = divmod(int(flame.times_ns.argmax()), len(KINDS))
    share = share_text(flame.times_ns[row, kind] / flame.times_ns.sum())
    label = look(KINDS[kind]).label.lower()
    *above, name = flame.path(row) or ["the program"]
    called = f", called by {above[-1]}" if above and kind != Kind.COMPUTING else ""
    where = name.removeprefix(f"{label} ")  # up to a call: no function is known
    return (
        f"{share} of all thread time is {label}{':' if where == name else ''} {where}{called}"
    )


def _note(flame: Flame) -> str:
    said = (
        "Each box is a function, as wide as its time with what it calls; below it, in colour, "
        "is what it spends itself. "
    )
    if flame.rate_hz is None:
        return said + (
            "No call stacks were sampled, so computing between two calls has no function. To "
            "know it: burstline record does it unless told otherwise."
        )
    computing = flame.times_ns[:, Kind.COMPUTING].sum()
    share = flame.sampled_ns / computing if computing else 0.0
    return said + (
        f"{share_text(share)} of computing was given to functions by samples of call stacks, "
        f"{flame.rate_hz:,.0f} for each second of it."
    )


class _Box(NamedTuple):
    """A frame, or what it spends itself on a kind of time."""

    row: int
    kind: int | None
    depth: int
    x: float
    wide: float


def _flame_graph(flame: Flame) -> Html:
    """The boxes of a flame graph; those of less than half a pixel are left out."""
    sums = flame.with_callees_ns()
    boxes = [*_boxes(flame, sums)]
    rows = max((box.depth + 1 for box in boxes), default=1)
    return chart((_drawn(box, flame, sums) for box in boxes), _WIDTH, _HIGH * rows)


def flame_picture(flame: Flame) -> PictureView:
    """The same as a picture by itself."""
    title = "Time of all threads by call path"
    return pictures_of({"flame": (title, join(heading(title), _flame_graph(flame)))})["flame"]


def _boxes(flame: Flame, sums: Integers) -> Iterator[_Box]:
    """Boxes from the outermost frames on; of those side by side the widest is left."""
    total = sums.sum(axis=1)
    scale = _WIDTH / max(int(total[0]), 1)
    below: dict[int, list[int]] = {}
    for row in np.argsort(-total, kind="stable").tolist():
        if total[row] * scale >= _LEAST:
            below.setdefault(flame.frames[row].parent, []).append(row)
    waiting = [(0, 0, 0.0)] if total[0] else []
    while waiting:
        row, depth, x = waiting.pop()
        inside = depth
        if row:  # the program is no function
            yield _Box(row, None, depth, x, float(total[row]) * scale)
            inside += 1
        if inside > _DEEPEST:
            continue
        for each in below.get(row, []):
            waiting.append((each, inside, x))
            x += float(total[each]) * scale
        for kind, time in enumerate(flame.times_ns[row].tolist()):
            if time * scale >= _LEAST:
                yield _Box(row, kind, inside, x, time * scale)
                x += time * scale


def _drawn(box: _Box, flame: Flame, sums: Integers) -> Html:
    frame = flame.frames[box.row]
    y = _HIGH * box.depth
    if box.kind is not None:
        kind = look(KINDS[box.kind])
        time = int(flame.times_ns[box.row, box.kind])
        title = tag("title", f"{frame.function}: {kind.label}, {_told(time, sums)}")
        return tag("g", title, *filled(kind.name, box.x, y, box.wide, _STRIP))
    letters = int(box.wide / _LETTER) - 1
    name = frame.function
    if len(name) > letters:
        name = name[: letters - 1] + "…" if letters > _SHORTEST else ""
    at = "" if frame.file is None else f" ({frame.file})"
    return tag(
        "g",
        tag("title", f"{frame.function}{at}: {_told(int(sums[box.row].sum()), sums)}"),
        tag("rect", x=box.x, y=y, width=box.wide, height=_HIGH - 1, class_="frame"),
        tag("text", name, x=box.x + 4, y=y + 12, class_="axis") if name else None,
    )


def _told(time_ns: int, sums: Integers) -> str:
    return f"{format_ns(time_ns)}, {share_text(time_ns / max(int(sums[0].sum()), 1))}"
