"""The program as pseudo-code, with what each line costs, and its loop step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from burstline.answers import computing_places
from burstline.columns import Integers, Mask
from burstline.errors import plural
from burstline.quantities import format_ns
from burstline.show.page import charts
from burstline.show.page.code_rows import Row, rows_of
from burstline.show.page.html import (
    Attributes,
    Html,
    heading,
    join,
    share_text,
    table,
    tag,
)
from burstline.show.page.report import Report, Section, found, needed
from burstline.show.page.words import range_text
from burstline.structure import LoopTable, Structure
from burstline.timeline import KINDS, WAITING, Timeline, times_within
from burstline.values import COUNT, SHARE, TIME, Column, Table, Value

NAME: Final = "code"
LABEL: Final = "Code"
EMPTY: Final = "The program is not shown"
_LEAST: Final = 0.001
"""Of all rank time: lines below are folded away."""
_MOST_LINES: Final = 2_000
_COMPUTING: Final = "computing"
_MOST_STEPS: Final = 60
_IN_FUNCTION: Final = "computation in "  # a function that the trace tells of
_BAR: Final = 190  # pixels
_LONG: Final = 40  # characters of pseudo-code
_MOST_ANCHORS: Final = 64
"""Sites of one line that links may lead to."""
_WAITS: Final = tuple(KINDS[kind] for kind in WAITING)
Parts = Mapping[str, float]


def section(report: Report) -> Section:
    """The loops of the program, read off the trace."""
    structure, lines = needed(report.structure), found(report.lines)
    whole = whole_ns(report)
    times = computing = None
    if lines is not None and (waits := found(report.waits)) is not None:
        times = lines.within, lines.before
        computing = computing_places(waits, lines.computing_path.tolist())
    rows = rows_of(structure, times, computing)
    steps = found(report.steps)
    return Section(
        title(rows, structure, whole),
        join(
            _note(structure),
            _table(rows, whole),
            None if steps is None else _steps(steps, found(report.line)),
        ),
        structure.as_dict(),
    )


def whole_ns(report: Report) -> int:
    """The time of all ranks in the run, of which shares are."""
    lines, efficiency = found(report.lines), report.summary.efficiency
    if lines is None:
        return efficiency.runtime_ns * len(efficiency.useful_ns)
    return lines.whole_ns


def title(rows: Sequence[Row], structure: Structure, whole_ns: int) -> str:
    """Which line holds most of the time."""
    by_place: dict[tuple[str, str], float] = {}
    for row in rows:
        if row.kind in ("call", "burst") and row.spent_ns:
            place = row.operation or _COMPUTING, _place(row)
            by_place[place] = by_place.get(place, 0) + row.spent_ns
    if not by_place or not whole_ns:
        return f"The program has {plural(len(structure.loops), 'loop')}"
    (what, where), most = max(by_place.items(), key=lambda item: item[1])
    share = share_text(most / whole_ns)
    if what == _COMPUTING:
        return f"Computing {where} holds {share} of all rank time"
    return f"{what} {where}{' ' * bool(where)}holds {share} of all rank time"


def _place(row: Row) -> str:
    """Where a call or computing is, as far as lines are known, in words."""
    if row.operation:
        return f"at {row.where}" if row.first is not None else f"in {row.file}" * bool(row.file)
    if row.text.startswith(_IN_FUNCTION):
        return row.text.removeprefix("computation ")
    if row.first is not None:
        return f"before {row.where}"
    _, colon, line = row.next_where.rpartition(":")
    if colon and line[:1].isdigit():
        return f"before {row.next_where}"
    return f"before {row.next_operation or 'one call'}"


def _note(structure: Structure) -> Html:
    loops = plural(len(structure.loops), "loop")
    true = f"{100 * structure.fidelity:.1f} % of the calls come out in order"
    said = (
        f"{loops}, read off the trace without the source: {true}. Bars have one scale; calls "
        "that only some ranks make stand in one line."
    )
    if structure.callpath == "none":
        said += " The trace has no call paths, so no source line can be given."
    return tag("p", said, class_="sub")


def _table(rows: Sequence[Row], whole: int) -> Html:
    shown = rows[:_MOST_LINES]
    most = max((row.spent_ns or 0 for row in shown if row.is_leaf), default=0)
    cells: list[list[Any]] = []
    anchored: set[int] = set()
    marks: list[Attributes] = []
    hidden = 0
    for row in shown:
        share = row.spent_ns / whole if row.spent_ns is not None and whole else None
        is_small = row.is_leaf and (share or 0) < _LEAST
        hidden += is_small
        sites = [site for site in row.sites if row.kind == "call" and site not in anchored]
        anchored.update(sites)
        cells.append(_cells(row, share, most, sites))
        mark = {"class_": f"{row.kind}{' small' * is_small}"}
        if row.sites:
            mark["data_go"] = f"site:{','.join(map(str, row.sites[:64]))}"
        marks.append(mark)
    columns = [
        Column("Source"),
        Column("Pseudo-code"),
        Column("Calls", COUNT.or_nothing()),
        Column("Mean", TIME.or_nothing()),
        Column("Total", TIME.or_nothing()),
        Column("Share", SHARE.or_nothing()),
        Column("Total by kind"),
        Column("Waits", SHARE.or_nothing()),
    ]
    fold = tag(
        "button",
        f"Show {plural(hidden, 'line')} below {100 * _LEAST:g} %",
        type="button",
        data_fold="lines",
        data_less="Hide short lines",
        class_="needs-js",
    )
    block = Table(columns, cells, depths=[0] * len(cells))
    return join(
        tag("div", fold, class_="tools") if hidden else None,
        tag("div", table(block, kind="code", rows=marks, most=_MOST_LINES), id="lines"),
    )


def _cells(row: Row, share: float | None, most: float, sites: Sequence[int]) -> list[Any]:
    picture: Html | str = ""
    if row.is_leaf and row.spent_ns and most:
        parts = row.parts or {"computing" if row.kind == "burst" else "other_mpi": row.spent_ns}
        picture = (
            charts.stack(parts, most, _BAR, 12)
            if row.parts
            else charts.bar(row.spent_ns / most, _BAR, 10)
        )
    waits = None
    if row.parts and row.spent_ns and row.kind == "call":
        waits = sum(row.parts.get(name, 0) for name in _WAITS) / row.spent_ns or None
    indent = tag(
        "code",
        row.text,
        class_=f"d{min(row.depth, 9)}" if row.depth else None,
        title=row.text if len(row.text) > _LONG else None,  # which is cut where it stands
    )
    mean = None if row.mean_ns is None else Value(row.mean_ns, TIME)
    where = join(*(tag("span", id=f"site-{site}") for site in sites[:_MOST_ANCHORS]), row.where)
    return [where, indent, row.calls or None, mean, row.spent_ns, share, picture, waits]


def _steps(steps: LoopTable, line: Timeline | None) -> Html:
    """How long the steps of the costliest loop last, by kind where that is known."""
    note = "Bars: mean over ranks, by kind of time. Circles: each rank."
    shown = None
    if line is not None:
        columns = step_columns(steps, line)
        shown = charts.columns(columns, 1200, 240, _told, target="step")
    return tag("div", heading(steps_title(steps), note if shown else None), shown, id="steps")


def _told(ns: float) -> str:
    return format_ns(round(ns))


def steps_title(steps: LoopTable) -> str:
    """How long steps last, from the shortest to the longest."""
    by_iteration = steps.by_iteration(counted=True)
    mean = by_iteration["mean_ns"]
    low, high = float(mean.min()), float(mean.max())
    said = f"Steps of loop {steps.loop} take {range_text(low, high)}"
    if format_ns(round(low)) == format_ns(round(high)):
        return said
    return f"{said}; step {int(by_iteration['iteration'][mean.argmax()])} is the longest"


def step_columns(steps: LoopTable, line: Timeline) -> list[charts.Step]:
    """The steps of a loop as columns by kind; neighbours share one where there are many."""
    end = steps.start_ns + steps.duration_ns
    times = times_within(line, steps.location, steps.start_ns, end)
    number = steps.iteration
    by = -(-int(number.max()) // _MOST_STEPS)
    return [
        _step(first, (number >= first) & (number < first + by), times, steps)
        for first in range(1, int(number.max()) + 1, by)
    ]


def _step(first: int, rows: Mask, times: Integers, steps: LoopTable) -> charts.Step:
    """Some iterations as one column: the mean of each kind, and how long each rank takes."""
    mean = times[rows].mean(axis=0) if rows.any() else np.zeros(len(KINDS))
    parts = {name: float(value) for name, value in zip(KINDS, mean, strict=True) if value}
    return charts.Step(first, parts, sorted(steps.duration_ns[rows].tolist()))
