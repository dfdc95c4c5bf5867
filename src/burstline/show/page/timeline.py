"""The timeline of a page: its title, what stands around the picture, and its data."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from burstline.columns import Integers, sums_by, to_numpy
from burstline.errors import printable
from burstline.quantities import format_ns
from burstline.show.page import timeline_words as words
from burstline.show.page.charts import swatch
from burstline.show.page.html import Html, data_block, join, share_text, tag
from burstline.show.page.kinds import LOOKS
from burstline.show.page.places import WaitPlaces
from burstline.show.page.timeline_data import lanes_of, metrics_of, picture_data
from burstline.structure import Structure
from burstline.timeline import KINDS, Timeline, summed_columns
from burstline.waits import TITLES

_MARGIN: Final = 0.02
_AROUND_WAIT: Final = 0.5
_MOST_MARKS: Final = 5000
_BUDGET: Final = 3_000_000
"""Bytes of the data of a timeline, about."""
_LONGEST: Final = 200
"""Characters of a label."""
_MOST_CALLERS: Final = 4
_STATIC_COLUMNS: Final = 3000
_STATIC_LANE, _STATIC_GAP, _STATIC_LEFT, _STATIC_WIDTH = 22, 4, 84, 1100
_KEYS: Final = (
    (("a", "d", "←", "→"), "or drag: pan"),
    (("w", "s"), "or ctrl + wheel (wheel alone after a click): zoom"),
    (("shift",), "+ drag: zoom to a span"),
    (("click",), "pick"),
    ((",", "."), "call before, after"),
    (("↑", "↓"), "rank"),
    (("f",), "fit"),
    (("c",), "cause"),
    (("n",), "next longest wait"),
    (("0",), "whole run"),
    (("esc",), "clear"),
)


def timeline_picture(line: Timeline, structure: Structure | None = None) -> tuple[str, Html]:
    """The title and the timeline, opened at the median step of the costliest loop, or whole."""
    steps = _steps_of(structure, line)
    views = _views(line, steps)
    opened = next((view for view in views if view["name"] == "median"), views[0])
    first = line.baseline_ns[0]
    span = opened["from"] + first, opened["to"] + first
    data = picture_data(line, span, _BUDGET)
    title = _title(line, opened)
    document = {
        "first": first,
        "length": line.baseline_ns[1] - first,
        "exact": data.is_exact,
        "lanes": _lanes(line, data.head["counts"]),
        "head": data.head,
        "places": _places(line, data.call_paths),
        "metrics": [TITLES[name] for name in metrics_of(line)],
        "steps": _steps(steps, first),
        "views": views,
        "opened": opened["name"],
        "words": words.TEMPLATES
        | {name: words.by_kind(name) for name in ("do", "does", "tails", "meanwhile")},
        "labels": [look.label for look in LOOKS],
        "hatches": [look.hatch for look in LOOKS],
        "names": KINDS,
    }
    return title, join(
        tag("p", _note(line, steps), class_="sub", id="tl-note"),
        _toolbar(views),
        tag("canvas", id="tl-all", class_="needs-js", width=1, height=1, aria_hidden="true"),
        _canvas(title),
        tag("div", _static(line, span), id="tl-static"),
        _legend(line, span),
        _panel(),
        _keys(),
        data_block("tl-data", document),
        _letters("tl-pieces", data.pieces),
        _letters("tl-waits", data.waits),
        _letters("tl-messages", data.messages),
    )


def _note(line: Timeline, steps: IterationSpans | None) -> str:
    is_part = line.baseline_ns[0] == line.first_ns
    begin = "begin of what is shown" if is_part else "first end of MPI_Init"
    said = (
        f"Each row is a rank or thread; time counts from the {begin}. Where a "
        "pixel holds more than one call, it is divided by time: the shares of all kinds, none "
        "left out, computing at the bottom. Hatched: waits whose cause is known."
    )
    if steps:
        begins = "where the first rank begins each iteration"
        said += f" Above the lanes: {begins} of loop {steps.loop}."
    if line.pieces["function"].null_count < line.pieces.num_rows:
        said += " Computing has the name of the function that samples saw most in it."
    return said


def _views(line: Timeline, steps: IterationSpans | None) -> list[dict[str, Any]]:
    """Where the buttons go: name, text, and the span from the begin of the baseline."""
    first, last = line.baseline_ns
    views = [_view("whole", "Whole run", (first, last), first)]
    if steps is not None:
        order = np.argsort(steps.mean_ns, kind="stable")
        middle, slowest = order[(len(order) - 1) // 2], steps.mean_ns.argmax()
        for name, row in (("median", int(middle)), ("slowest", int(slowest))):
            text = f"{name.capitalize()} iteration, {steps.number[row]}"
            views.append(_view(name, text, steps.window(row, line), first))
            views[-1] |= {
                "step": int(steps.number[row]),
                "mean": format_ns(int(steps.mean_ns[row])),
            }
    if (window := _worst_wait(line)) is not None:
        views.append(_view("worst", "Worst wait", window, first))
    return views


def _view(name: str, text: str, span: tuple[int, int], first: int) -> dict[str, Any]:
    return {"name": name, "text": text, "from": span[0] - first, "to": span[1] - first}


def _title(line: Timeline, view: dict[str, Any]) -> str:
    """What most time of a part is spent on, as the script says it of other parts."""
    first = line.baseline_ns[0]
    times = _times(line, (view["from"] + first, view["to"] + first))
    kind = int(times.argmax())
    begin, end = format_ns(view["from"]), format_ns(view["to"])
    where = words.filled("span", begin=begin, end=end)
    if view["name"] == "whole":
        where = words.filled("whole")
    elif "step" in view:
        where = words.filled("step", number=str(view["step"]))
    time = format_ns(view["to"] - view["from"])
    if "mean" in view:
        time = words.filled("mean", time=view["mean"])
    return words.filled(
        "view",
        where=where,
        time=time,
        who="ranks",
        does=words.by_kind("do")[kind],
        share=share_text(float(times[kind] / max(times.sum(), 1))),
        tail=words.by_kind("tails")[kind],
    )


def _times(line: Timeline, span: tuple[int, int]) -> Integers:
    """The time of each kind in a span, of all locations."""
    every = np.zeros(line.locations.num_rows, np.int64)
    whole: Integers = summed_columns(line, every, 1, span)[1].sum(axis=(0, 1))
    return whole


def _lanes(line: Timeline, counts: list[int]) -> dict[str, Any]:
    """Names of the streams of pieces, and the lane that each is drawn in."""
    names = _names(line)
    lane = lanes_of(line)
    grouped = [
        _group_name([names[place] for place in np.flatnonzero(lane == each).tolist()])
        for each in range(int(lane.max(initial=-1)) + 1)
    ]
    if len(counts) == len(names):
        ranks = to_numpy(line.locations["rank"]).tolist()
        return {"streams": names, "lane": lane.tolist(), "names": grouped, "ranks": ranks}
    return {"streams": grouped, "lane": list(range(len(grouped))), "names": grouped}


def _names(line: Timeline) -> list[str]:
    rank, thread = (to_numpy(line.locations[name]).tolist() for name in ("rank", "thread"))
    application = to_numpy(line.locations["application"]).tolist()
    has_threads, several = any(thread), len(set(application)) > 1
    return [
        f"{f'{each + 1}: ' if several else ''}rank {r}{f'.{t}' if has_threads else ''}"
        for each, r, t in zip(application, rank, thread, strict=True)
    ]


def _group_name(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    return f"{names[0]} to {names[-1].rpartition(' ')[2]}"


def _places(line: Timeline, call_paths: list[int]) -> list[list[str]]:
    """For people: each place's name, source line, callers, and how a sentence says it."""
    places = WaitPlaces(line.waits)
    made = []
    for path in call_paths:
        name, where, callers = places.parts(path)
        around = " ← ".join((callers or [])[:_MOST_CALLERS])
        said = f" at {where}" if where else f" in {name}"
        if path in line.waits.places.placed:
            said = f" in {name}"
        elif callers is None:
            said = f" {name.removeprefix('computing ')}"
        made.append([printable(each, limit=_LONGEST) for each in (name, where, around, said)])
    return made


def _steps(steps: IterationSpans | None, first: int) -> dict[str, Any] | None:
    if steps is None:
        return None
    every = max(1, -(-len(steps.number) // _MOST_MARKS))
    return {
        "loop": steps.loop,
        "number": steps.number[::every].tolist(),
        "begin": (steps.begin_ns[::every] - first).tolist(),
        "end": (steps.end_ns[::every] - first).tolist(),
    }


def _toolbar(views: list[dict[str, Any]]) -> Html:
    buttons = [
        tag("button", view["text"], type="button", data_view=view["name"]) for view in views
    ]
    zoom = [
        tag("button", sign, type="button", data_zoom=name, aria_label=f"Zoom {name}")
        for sign, name in (("+", "in"), ("\u2212", "out"))
    ]
    shown = tag("span", id="tl-span", class_="dim")
    return tag("div", *buttons, shown, *zoom, class_="tools tl-tools needs-js")


def _canvas(title: str) -> Html:
    canvas = tag(
        "canvas",
        id="tl-lanes",
        width=1,
        height=1,
        tabindex=0,
        role="application",
        aria_label=title,
        aria_describedby="tl-keys",
    )
    return tag("div", canvas, tag("div", id="tl-tip", role="tooltip"), class_="tl needs-js")


def _legend(line: Timeline, span: tuple[int, int]) -> Html:
    """The kinds of time with their shares of the part that is shown; each lights its kind."""
    times = _times(line, span)
    total = max(int(times.sum()), 1)
    present = _times(line, line.baseline_ns) > 0
    items = [
        tag(
            "li",
            tag(
                "button",
                swatch(look.name),
                tag("b", share_text(float(times[kind] / total))),
                tag("span", look.label),
                type="button",
                data_kind=kind,
                aria_pressed="false",
            ),
        )
        for kind, look in enumerate(LOOKS)
        if present[kind]
    ]
    return tag("ul", *items, class_="legend", id="tl-legend")


def _panel() -> Html:
    parts = [
        tag("div", tag("h4", id=f"tl-{name}-head"), tag("div", id=f"tl-{name}"))
        for name in ("what", "from", "why")
    ]
    return tag("div", *parts, class_="tl-panel needs-js", id="tl-panel", aria_live="polite")


def _keys() -> Html:
    shown: list[Html | str] = []
    for names, meaning in _KEYS:
        shown += [" · "] if shown else []
        shown += [join(*(join(tag("kbd", name), " ") for name in names)), meaning]
    return tag("p", *shown, class_="tl-keys needs-js", id="tl-keys")


def _static(line: Timeline, span: tuple[int, int]) -> Html:
    """The opening view as a drawing, for print and without scripts."""
    lane = lanes_of(line)
    lanes = int(lane.max(initial=-1)) + 1
    columns = max(40, min(400, _STATIC_COLUMNS // max(lanes, 1)))
    _, times = summed_columns(line, lane, columns, span)
    names = _lanes(line, [])["names"]
    height = _STATIC_LANE + _STATIC_GAP
    parts: list[Html] = []
    for row in range(lanes):
        top = row * height + 18
        parts.append(tag("text", names[row], x=0, y=top + 15, class_="axis"))
        parts += _stacks(times[row], top)
    begin, end = (format_ns(moment - line.baseline_ns[0]) for moment in span)
    parts.append(tag("text", begin, x=_STATIC_LEFT, y=12, class_="axis"))
    parts.append(
        tag("text", end, x=_STATIC_LEFT + _STATIC_WIDTH, y=12, class_="axis", text_anchor="end")
    )
    return tag(
        "svg",
        *parts,
        class_="chart",
        viewBox=f"0 0 {_STATIC_LEFT + _STATIC_WIDTH} {lanes * height + 22}",
        role="img",
        aria_label="The part of the run that is shown first, a row for each rank",
    )


def _stacks(times: Integers, top: int) -> list[Html]:
    """One path for each kind: boxes from left to right, computing at the bottom."""
    width = _STATIC_WIDTH / len(times)
    whole = np.maximum(times.sum(axis=1, keepdims=True), 1)
    upper = np.cumsum(times / whole * _STATIC_LANE, axis=1)
    lower = upper - times / whole * _STATIC_LANE
    paths = []
    for kind, look in enumerate(LOOKS):
        drawn = []
        column = 0
        while column < len(times):
            begin = column
            column += 1
            if not times[begin, kind]:
                continue
            box = lower[begin, kind], upper[begin, kind]
            while column < len(times) and (lower[column, kind], upper[column, kind]) == box:
                column += 1
            x, w = _STATIC_LEFT + begin * width, (column - begin) * width
            y, h = top + _STATIC_LANE - box[1], max(box[1] - box[0], 0.5)
            drawn.append(f"M{x:.1f} {y:.1f}h{w:.1f}v{h:.1f}h-{w:.1f}z")
        if drawn:
            shape = "".join(drawn)
            paths.append(Html(f'<path class="k-{look.name}" d="{shape}"/>'))
            if look.hatch:
                paths.append(Html(f'<path class="h-{look.hatch}" d="{shape}"/>'))
    return paths


def _letters(name: str, content: str) -> Html:
    """Columns of numbers as letters, which mean nothing in markup."""
    return Html(f'<script type="text/plain" id="{name}">{content}</script>')


class IterationSpans(NamedTuple):
    """The iterations of a loop, each from the first rank that begins to the last that ends."""

    loop: int
    number: Integers  # from 1
    begin_ns: Integers
    end_ns: Integers
    mean_ns: Integers  # over the ranks

    def window(self, row: int, line: Timeline) -> tuple[int, int]:
        """A little more than an iteration."""
        begin, end = int(self.begin_ns[row]), int(self.end_ns[row])
        return within(line, begin, end, (end - begin) * _MARGIN)


def _steps_of(structure: Structure | None, line: Timeline) -> IterationSpans | None:
    """The iterations of the loop that spans most of the run, as far as they are shown."""
    if structure is None or not structure.loops:
        return None
    loop = max(structure.loops, key=lambda each: each.share).id
    table = structure.iterations(loop)
    count = int(table.iteration.max(initial=-1)) + 1
    begin = np.full(count, np.iinfo(np.int64).max)
    end = np.full(count, np.iinfo(np.int64).min)
    np.minimum.at(begin, table.iteration, table.start_ns)
    np.maximum.at(end, table.iteration, table.end_ns)
    ranks = np.bincount(table.iteration, minlength=count)
    spent = sums_by(table.iteration, table.end_ns - table.start_ns, count)
    first, last = line.baseline_ns
    rows = np.flatnonzero((ranks > 0) & (end > first) & (begin < last))
    if not len(rows):
        return None
    mean = spent[rows] // ranks[rows]
    return IterationSpans(loop, rows + 1, begin[rows], end[rows], mean)


def _worst_wait(line: Timeline) -> tuple[int, int] | None:
    """The longest single wait in the baseline, with what comes before and after it."""
    table = line.waits.instances
    start, wait = (to_numpy(table[name]) for name in ("start_ns", "wait_ns"))
    first, last = line.baseline_ns
    rows = np.flatnonzero((start >= first) & (start + wait <= last))
    if not len(rows):
        return None
    begin, length = int(start[rows[0]]), int(wait[rows[0]])  # they are sorted
    return within(line, begin, begin + length, length * _AROUND_WAIT)


def within(line: Timeline, begin: int, end: int, margin: float) -> tuple[int, int]:
    """A window with a margin, in the baseline, never empty."""
    first, last = line.baseline_ns
    begin, end = max(first, begin - round(margin)), min(last, end + round(margin))
    return (begin, end) if begin < end else (first, last)
