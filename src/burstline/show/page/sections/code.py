"""The program as pseudo-code, with what each line costs, and its loops step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from burstline.errors import plural
from burstline.model import FINALIZES, INITS
from burstline.quantities import format_ns
from burstline.show.code_lines import Line, pseudocode
from burstline.show.page import charts
from burstline.show.page.html import Html, heading, join, share_text, table, tag
from burstline.show.page.report import Report, Section, found, needed
from burstline.structure import Call, Loop, LoopTable, Structure
from burstline.values import COUNT, SHARE, TIME, Column, Table, Value

NAME: Final = "code"
LABEL: Final = "Code"
EMPTY: Final = "The program is not shown"
_LEAST: Final = 0.001
"""Of all rank time: lines below are folded away."""
_ENDS: Final = (*INITS, *FINALIZES)
_MOST_LINES: Final = 2_000


@dataclass(frozen=True, slots=True)
class Row:
    """A line of pseudo-code as a page shows it: calls that only some ranks make are one."""

    kind: str
    depth: int
    text: str
    file: str = ""
    first: int | None = None  # lines of the file
    last: int | None = None
    calls: int = 0
    mean_ns: float | None = None
    total_ns: float | None = None
    operation: str = ""
    of_ranks: bool = False  # made by some of the ranks alone
    merged: int = 1  # how many lines it stands for

    @property
    def where(self) -> str:
        """The lines of the source that it is at."""
        if not self.file:
            return ""
        if self.first is None or self.last is None:
            return self.file
        return f"{self.file}:{self.first}" + f"-{self.last}" * (self.last != self.first)

    @property
    def is_end(self) -> bool:
        """Whether it is MPI_Init or MPI_Finalize, which lie outside of the span."""
        return self.operation in _ENDS


def section(report: Report) -> Section:
    """The loops of the program, read off the trace."""
    structure = needed(report.structure)
    efficiency = report.summary.efficiency
    whole = efficiency.runtime_ns * max(len(efficiency.useful_ns), 1)
    rows = rows_of(structure)
    return Section(
        title(rows, structure, whole),
        join(_note(structure), _table(rows, whole), _steps(report)),
        structure.as_dict(),
    )


def rows_of(structure: Structure) -> list[Row]:
    """The lines of a structure with their totals, those of some ranks put together."""
    lines = pseudocode(structure, bursts_ns=1)
    rows: list[Row] = []
    for line, of_ranks in _without_rank_blocks(lines):
        row = _row(line, of_ranks=of_ranks)
        if (
            row.kind == "call"
            and rows
            and rows[-1].kind == "burst"
            and rows[-1].mean_ns is not None
        ):
            rows[-1] = replace(rows[-1], calls=row.calls, total_ns=rows[-1].mean_ns * row.calls)
        rows.append(row)
    return _merged(rows)


def _without_rank_blocks(lines: Sequence[Line]) -> Iterator[tuple[Line, bool]]:
    """Lines without heads of blocks of some ranks that hold nothing but calls.

    With each is told whether it was in such a block; its depth is less by one then.
    """
    k = 0
    while k < len(lines):
        line = lines[k]
        end = k + 1
        while end < len(lines) and lines[end].depth > line.depth:
            end += 1
        inside = lines[k + 1 : end]
        if (
            line.kind == "condition"
            and line.item is None
            and inside
            and all(each.kind in ("call", "burst") for each in inside)
        ):
            yield from ((replace(each, depth=each.depth - 1), True) for each in inside)
            k = end
        else:
            yield line, False
            k += 1


def _row(line: Line, *, of_ranks: bool) -> Row:
    number = int(line.line) if line.line.isdigit() else None
    row = Row(
        line.kind,
        line.depth,
        line.text,
        line.file,
        number,
        number,
        mean_ns=line.time_ns,
        of_ranks=of_ranks,
    )
    if isinstance(line.item, Call):
        count = int(line.item.executions.sum())
        total = None if line.time_ns is None else line.time_ns * count
        return replace(row, calls=count, total_ns=total, operation=line.item.operation)
    if isinstance(line.item, Loop):
        total = float(line.item.inside_ns.sum())
        return replace(row, calls=line.item.total_iterations, total_ns=total)
    return row


def _merged(rows: Sequence[Row]) -> list[Row]:
    """Rows in which calls of one operation, each made by some ranks alone, are one."""
    shown: list[Row] = []
    k = 0
    while k < len(rows):
        group = _group_at(rows, k)
        calls = [row for row in group if row.kind == "call"]
        if len(calls) < 2:
            shown.append(rows[k])
            k += 1
            continue
        shown += _as_one(group, calls)
        k += len(group)
    return shown


def _group_at(rows: Sequence[Row], k: int) -> list[Row]:
    """Calls of one operation from a row on, with the computing between them."""
    group: list[Row] = []
    first = next((row for row in rows[k : k + 2] if row.kind == "call"), None)
    if first is None or not first.of_ranks or rows[k].kind not in ("call", "burst"):
        return group
    for row in rows[k:]:
        same = row.of_ranks and row.depth == first.depth
        if (
            row.kind == "call"
            and same
            and (row.operation, row.file) == (first.operation, first.file)
        ) or (row.kind == "burst" and same):
            group.append(row)
        else:
            break
    while group and group[-1].kind == "burst":
        group.pop()
    return group


def _as_one(group: Sequence[Row], calls: Sequence[Row]) -> Iterator[Row]:
    numbers = [row.first for row in calls if row.first is not None]
    lines = plural(len(calls), "line")
    yield replace(
        calls[0],
        text=f"{calls[0].operation}(each partner)  # {lines}, each for some ranks",
        first=min(numbers, default=None),
        last=max(numbers, default=None),
        **_sums(calls),
        merged=len(calls),
    )
    bursts = [row for row in group if row.kind == "burst"]
    if bursts:
        yield replace(bursts[0], text="computation before these calls", **_sums(bursts))


def _sums(rows: Sequence[Row]) -> dict[str, Any]:
    """What rows have together."""
    calls = sum(row.calls for row in rows)
    total = sum(row.total_ns or 0 for row in rows)
    return {"calls": calls, "total_ns": total, "mean_ns": total / max(calls, 1)}


def title(rows: Sequence[Row], structure: Structure, whole_ns: int) -> str:
    """Which lines hold most of the time."""
    calls = [row for row in rows if row.kind == "call" and not row.is_end and row.total_ns]
    if not calls or not whole_ns:
        return f"The program has {plural(len(structure.loops), 'loop')}"
    by_place: dict[tuple[str, str], float] = {}
    for row in calls:
        key = row.operation, row.where
        by_place[key] = by_place.get(key, 0) + (row.total_ns or 0)
    (operation, where), most = max(by_place.items(), key=lambda item: item[1])
    place = f" at {where}" if where else ""
    return f"{operation}{place} holds {share_text(most / whole_ns)} of all rank time"


def _note(structure: Structure) -> Html:
    loops = plural(len(structure.loops), "loop")
    true = f"{100 * structure.fidelity:.1f} % of the calls come out in order"
    return tag(
        "p",
        f"{loops}, read off the trace without the source: {true}. Calls that only some ranks "
        "make stand in one line.",
        class_="sub",
    )


def _table(rows: Sequence[Row], whole_ns: int) -> Html:
    shown = rows[:_MOST_LINES]
    most = max((row.total_ns or 0 for row in shown if row.kind == "call"), default=0)
    cells, marks = [], []
    hidden = 0
    for row in shown:
        total = row.total_ns
        share = None if total is None or row.is_end or not whole_ns else total / whole_ns
        is_small = row.kind in ("call", "burst", "condition") and (share or 0) < _LEAST
        is_small = is_small and not row.is_end
        hidden += is_small
        picture: Html | str = ""
        if total and share and row.kind in ("call", "burst"):
            picture = charts.bar(total / most, 200, 10)
        cells.append(
            [
                row.where,
                tag("code", row.text, class_=f"d{min(row.depth, 9)}"),
                row.calls or None,
                None if row.mean_ns is None else Value(row.mean_ns, TIME),
                total,
                share,
                picture,
            ]
        )
        marks.append({"class_": f"{row.kind}{' small' * is_small}"})
    columns = [
        Column("Source"),
        Column("Pseudo-code"),
        Column("Calls", COUNT.or_nothing()),
        Column("Mean", TIME.or_nothing()),
        Column("Total", TIME.or_nothing()),
        Column("Share", SHARE.or_nothing()),
        Column("Total, one scale"),
    ]
    fold = tag(
        "button",
        f"Show {plural(hidden, 'line')} below {100 * _LEAST:g} %",
        type="button",
        data_fold="lines",
        data_less="Hide short lines",
        class_="needs-js",
    )
    return join(
        tag("div", fold, class_="tools") if hidden else None,
        tag(
            "div",
            table(
                Table(columns, cells, depths=[0] * len(cells)),
                kind="code",
                rows=marks,
                most=_MOST_LINES,
            ),
            id="lines",
        ),
    )


def _steps(report: Report) -> Html | None:
    """How long the iterations of the loop with most time last."""
    steps = found(report.steps)
    if steps is None:
        return None
    return heading(steps_title(steps))


def steps_title(steps: LoopTable) -> str:
    """How long steps last, from the shortest to the longest."""
    by_iteration = steps.by_iteration(counted=True)
    mean = by_iteration["mean_ns"]
    low, high = format_ns(round(float(mean.min()))), format_ns(round(float(mean.max())))
    at = int(by_iteration["iteration"][mean.argmax()])
    if low == high:
        return f"All steps of loop {steps.loop} take {low}"
    return f"Steps of loop {steps.loop} take {low} to {high}, step {at} longest"
