"""The program as pseudo-code, with what each line costs, and its loop step by step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import numpy as np

from burstline.answers import computing_places
from burstline.columns import Integers, Mask
from burstline.errors import plural
from burstline.quantities import format_ns
from burstline.show.code_lines import Line, pseudocode
from burstline.show.page import charts
from burstline.show.page.html import Attributes, Html, heading, join, share_text, table, tag
from burstline.show.page.kinds import parts_of
from burstline.show.page.report import Report, Section, found, needed
from burstline.show.units import range_text
from burstline.structure import Call, Loop, LoopTable, Structure
from burstline.timeline import KINDS, WAITING, Timeline, times_within
from burstline.values import COUNT, SHARE, TIME, Column, Table, Value

T = TypeVar("T", Line, "CodeRow")
_BySite = tuple[Integers, Integers]
"""Times by kind in the calls of each site, and before them, (sites, kinds)."""
_LEAVES: Final = ("call", "burst")

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


def title(rows: Sequence[CodeRow], structure: Structure, whole_ns: int) -> str:
    """Which line holds most of the time."""
    by_place: dict[tuple[str, str], float] = {}
    for row in rows:
        if row.is_leaf and row.spent_ns:
            place = row.operation or _COMPUTING, _place(row)
            by_place[place] = by_place.get(place, 0) + row.spent_ns
    if not by_place or not whole_ns:
        return f"The program has {plural(len(structure.loops), 'loop')}"
    (what, where), most = max(by_place.items(), key=lambda item: item[1])
    share = share_text(most / whole_ns)
    if what == _COMPUTING:
        return f"Computing {where} holds {share} of all rank time"
    return f"{what} {where}{' ' * bool(where)}holds {share} of all rank time"


def _place(row: CodeRow) -> str:
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


def _table(rows: Sequence[CodeRow], whole: int) -> Html:
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
    time, part = TIME.or_nothing(), SHARE.or_nothing()
    columns = [
        *(Column("Source"), Column("Pseudo-code"), Column("Calls", COUNT.or_nothing())),
        *(Column("Mean", time), Column("Total", time), Column("Share", part)),
        *(Column("Total by kind"), Column("Waits", part)),
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


def _cells(row: CodeRow, share: float | None, most: float, sites: Sequence[int]) -> list[Any]:
    picture: Html | str = ""
    if row.is_leaf and row.spent_ns and most:
        picture = charts.bar(row.spent_ns / most, _BAR, 10)
        if row.parts:
            picture = charts.stack(row.parts, most, _BAR, 12)
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
        shown = charts.columns(
            columns, 1200, 240, lambda ns: format_ns(round(ns)), target="step"
        )
    return tag("div", heading(steps_title(steps), note if shown else None), shown, id="steps")


def steps_title(steps: LoopTable) -> str:
    """How long steps last, from the shortest to the longest."""
    by_iteration = steps.by_iteration(counted=True)
    mean = by_iteration["mean_ns"]
    low, high = float(mean.min()), float(mean.max())
    said = f"Steps of loop {steps.loop} take {range_text(low, high)}"
    if format_ns(round(low)) == format_ns(round(high)):
        return said
    return f"{said}; step {int(by_iteration['iteration'][mean.argmax()])} is the longest"


def step_columns(steps: LoopTable, line: Timeline) -> list[charts.StepBox]:
    """The steps of a loop as columns by kind; neighbours share one where there are many."""
    end = steps.start_ns + steps.duration_ns
    times = times_within(line, steps.location, steps.start_ns, end)
    number = steps.iteration
    by = -(-int(number.max()) // _MOST_STEPS)
    return [
        _step(first, (number >= first) & (number < first + by), times, steps)
        for first in range(1, int(number.max()) + 1, by)
    ]


def _step(first: int, rows: Mask, times: Integers, steps: LoopTable) -> charts.StepBox:
    """Some iterations as one column: the mean of each kind, and how long each rank takes."""
    mean = times[rows].mean(axis=0) if rows.any() else np.zeros(len(KINDS))
    return charts.StepBox(first, parts_of(mean), sorted(steps.duration_ns[rows].tolist()))


@dataclass(frozen=True, slots=True)
class CodeRow:
    """A line of pseudo-code as a page shows it."""

    kind: str
    depth: int
    text: str
    file: str = ""
    first: int | None = None  # lines of the file
    last: int | None = None
    calls: int = 0
    mean_ns: float | None = None
    spent_ns: float | None = None  # by all ranks, in the run where its timeline is known
    parts: Mapping[str, float] | None = None  # of that, by kind
    operation: str = ""
    sites: tuple[int, ...] = ()
    of_ranks: bool = False  # made by some of the ranks alone
    next_where: str = ""  # of computing: the call behind it
    next_operation: str = ""

    @property
    def is_leaf(self) -> bool:
        """Whether time is spent in the line itself."""
        return self.kind in _LEAVES

    @property
    def where(self) -> str:
        """The lines of the source that it is at."""
        if self.first is None or self.last is None:
            return self.file
        return f"{self.file}:{self.first}" + f"-{self.last}" * (self.last != self.first)


def rows_of(
    structure: Structure,
    times: _BySite | None = None,
    computing: Mapping[int, str] | None = None,
) -> list[CodeRow]:
    """The lines of a structure with their totals, those of some ranks put together."""
    lines = pseudocode(structure, bursts_ns=1, computing=computing)
    rows: list[CodeRow] = []
    for line, of_ranks in _without_rank_blocks(lines):
        row = _row(line, times, of_ranks=of_ranks)
        if isinstance(line.item, Call) and rows and rows[-1].kind == "burst":
            rows[-1] = _before(rows[-1], row, line.item, times)
        rows.append(row)
    return _merged(_with_sums(rows))


def _without_rank_blocks(lines: Sequence[Line]) -> Iterator[tuple[Line, bool]]:
    """Lines without heads of blocks of some ranks that hold nothing but calls.

    With each is told whether it was in such a block; its depth is less by one then.
    """
    k = 0
    while k < len(lines):
        line, inside = lines[k], _inside(lines, k)
        is_block = line.kind == "condition" and line.item is None and bool(inside)
        if is_block and all(each.kind in _LEAVES for each in inside):
            yield from ((replace(each, depth=each.depth - 1), True) for each in inside)
            k += 1 + len(inside)
        else:
            yield line, False
            k += 1


def _row(line: Line, times: _BySite | None, *, of_ranks: bool) -> CodeRow:
    number = int(line.line) if line.line.isdigit() else None
    where = line.kind, line.depth, line.text, line.file, number, number
    row = CodeRow(*where, mean_ns=line.time_ns, spent_ns=line.total_ns, of_ranks=of_ranks)
    if isinstance(line.item, Loop):
        return replace(row, calls=line.item.total_iterations)
    if not isinstance(line.item, Call):
        return row
    count, site = int(line.item.executions.sum()), line.item.site
    row = replace(row, calls=count, operation=line.item.operation, sites=(site,))
    return row if times is None else _with_times(row, times[0], site)


def _before(row: CodeRow, call: CodeRow, item: Call, times: _BySite | None) -> CodeRow:
    """Computing, with what is known of the call behind it."""
    row = replace(
        row,
        calls=call.calls,
        next_where=call.where,
        next_operation=item.operation,
        sites=(item.site,),
    )
    return row if times is None else _with_times(row, times[1], item.site)


def _with_times(row: CodeRow, times: Integers, site: int) -> CodeRow:
    if site >= len(times):
        return row
    return replace(row, spent_ns=int(times[site].sum()), parts=parts_of(times[site]))


def _with_sums(rows: Sequence[CodeRow]) -> list[CodeRow]:
    """The same, with the sums of what is inside of loops, functions and conditions."""
    return [
        row
        if row.is_leaf
        else replace(
            row, spent_ns=sum(each.spent_ns or 0 for each in _inside(rows, k) if each.is_leaf)
        )
        for k, row in enumerate(rows)
    ]


def _inside(lines: Sequence[T], k: int) -> Sequence[T]:
    """The lines below one that are deeper than it."""
    below = range(k + 1, len(lines))
    end = next((at for at in below if lines[at].depth <= lines[k].depth), len(lines))
    return lines[k + 1 : end]


def _merged(rows: Sequence[CodeRow]) -> list[CodeRow]:
    """Rows in which calls of one operation, each made by some ranks alone, are one."""
    shown: list[CodeRow] = []
    k = 0
    while k < len(rows):
        group = _group_at(rows, k)
        calls = [row for row in group if row.kind == "call"]
        if len(calls) > 1:
            shown += _as_one(group, calls)
            k += len(group)
        else:
            shown.append(rows[k])
            k += 1
    return shown


def _group_at(rows: Sequence[CodeRow], k: int) -> list[CodeRow]:
    """Calls of one operation from a row on, with the computing between them."""
    first = next((row for row in rows[k : k + 2] if row.kind == "call"), None)
    if first is None or not first.of_ranks or not rows[k].is_leaf:
        return []
    group: list[CodeRow] = []
    for row in rows[k:]:
        same = row.of_ranks and row.depth == first.depth and row.is_leaf
        alike = (row.operation, row.file) == (first.operation, first.file)
        if not same or not (row.kind == "burst" or alike):
            break
        group.append(row)
    while group and group[-1].kind == "burst":
        group.pop()
    return group


def _as_one(group: Sequence[CodeRow], calls: Sequence[CodeRow]) -> Iterator[CodeRow]:
    numbers = [row.first for row in calls if row.first is not None]
    lines = plural(len(calls), "line")
    yield replace(
        calls[0],
        text=f"{calls[0].operation}(each partner)  # {lines}, each for some ranks",
        first=min(numbers, default=None),
        last=max(numbers, default=None),
        **_sums(calls),
    )
    bursts = [row for row in group if row.kind == "burst"]
    if bursts:
        yield replace(bursts[0], text="computation before these calls", **_sums(bursts))


def _sums(rows: Sequence[CodeRow]) -> dict[str, Any]:
    calls = sum(row.calls for row in rows)
    whole = sum((row.mean_ns or 0) * row.calls for row in rows)
    parts: dict[str, float] = {}
    for row in rows:
        for name, value in (row.parts or {}).items():
            parts[name] = parts.get(name, 0) + value
    return {
        "calls": calls,
        "mean_ns": whole / max(calls, 1),
        "spent_ns": sum(row.spent_ns or 0 for row in rows),
        "parts": parts if any(row.parts is not None for row in rows) else None,
        "sites": tuple(site for row in rows for site in row.sites),
    }
