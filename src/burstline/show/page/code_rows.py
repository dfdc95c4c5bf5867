"""Lines of pseudo-code with their totals: calls that only some ranks make are one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from burstline.columns import Integers
from burstline.errors import plural
from burstline.show.code_lines import Line, pseudocode
from burstline.structure import Call, Loop, Structure
from burstline.timeline import KINDS

BySite = tuple[Integers, Integers]
"""Times by kind in the calls of each site, and before them, (sites, kinds)."""
_LEAVES: Final = ("call", "burst")


@dataclass(frozen=True, slots=True)
class Row:
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
    times: BySite | None = None,
    computing: Mapping[int, str] | None = None,
) -> list[Row]:
    """The lines of a structure with their totals, those of some ranks put together.

    Where computing is may be given by the site of the call behind it.
    """
    lines = pseudocode(structure, bursts_ns=1, computing=computing)
    rows: list[Row] = []
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
        line, end = lines[k], k + 1
        while end < len(lines) and lines[end].depth > line.depth:
            end += 1
        inside = lines[k + 1 : end]
        is_block = line.kind == "condition" and line.item is None and bool(inside)
        if is_block and all(each.kind in _LEAVES for each in inside):
            yield from ((replace(each, depth=each.depth - 1), True) for each in inside)
            k = end
        else:
            yield line, False
            k += 1


def _row(line: Line, times: BySite | None, *, of_ranks: bool) -> Row:
    number = int(line.line) if line.line.isdigit() else None
    row = Row(
        line.kind,
        line.depth,
        line.text,
        line.file,
        number,
        number,
        mean_ns=line.time_ns,
        spent_ns=line.total_ns,
        of_ranks=of_ranks,
    )
    if isinstance(line.item, Loop):
        return replace(row, calls=line.item.total_iterations)
    if not isinstance(line.item, Call):
        return row
    count, site = int(line.item.executions.sum()), line.item.site
    row = replace(row, calls=count, operation=line.item.operation, sites=(site,))
    if times is None:
        return row
    return _with_times(row, times[0], site)


def _before(row: Row, call: Row, item: Call, times: BySite | None) -> Row:
    """Computing, with what is known of the call behind it."""
    row = replace(
        row,
        calls=call.calls,
        next_where=call.where,
        next_operation=item.operation,
        sites=(item.site,),
    )
    if times is None:
        return row
    return _with_times(row, times[1], item.site)


def _with_times(row: Row, times: Integers, site: int) -> Row:
    if site >= len(times):
        return row
    spent = times[site].tolist()
    parts = {name: value for name, value in zip(KINDS, spent, strict=True) if value}
    return replace(row, spent_ns=sum(spent), parts=parts)


def _with_sums(rows: Sequence[Row]) -> list[Row]:
    """The same, with the sums of what is inside of loops, functions and conditions."""
    shown = []
    for k, row in enumerate(rows):
        if not row.is_leaf:
            end = k + 1
            while end < len(rows) and rows[end].depth > row.depth:
                end += 1
            inside = [each for each in rows[k + 1 : end] if each.is_leaf]
            shown.append(replace(row, spent_ns=sum(each.spent_ns or 0 for each in inside)))
        else:
            shown.append(row)
    return shown


def _merged(rows: Sequence[Row]) -> list[Row]:
    """Rows in which calls of one operation, each made by some ranks alone, are one."""
    shown: list[Row] = []
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


def _group_at(rows: Sequence[Row], k: int) -> list[Row]:
    """Calls of one operation from a row on, with the computing between them."""
    first = next((row for row in rows[k : k + 2] if row.kind == "call"), None)
    if first is None or not first.of_ranks or not rows[k].is_leaf:
        return []
    group: list[Row] = []
    for row in rows[k:]:
        same = row.of_ranks and row.depth == first.depth and row.is_leaf
        alike = (row.operation, row.file) == (first.operation, first.file)
        if not same or not (row.kind == "burst" or alike):
            break
        group.append(row)
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
    )
    bursts = [row for row in group if row.kind == "burst"]
    if bursts:
        yield replace(bursts[0], text="computation before these calls", **_sums(bursts))


def _sums(rows: Sequence[Row]) -> dict[str, Any]:
    """What rows have together."""
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
