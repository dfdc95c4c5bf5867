"""Computing: how long its stretches last, and what counters say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from burstline.columns import distinct, sums_by
from burstline.computing import Burst, Computing
from burstline.errors import plural
from burstline.histogram import Histogram
from burstline.model import INSTRUCTIONS, IPC
from burstline.quantities import format_count, format_ns
from burstline.show.page import charts
from burstline.show.page.html import Html, heading, join, share_text, table, tag
from burstline.show.page.matrices import heat
from burstline.show.page.report import NothingError, Report, Section, found, needed
from burstline.show.units import short_time, thread_text
from burstline.structure import LoopTable
from burstline.values import AMOUNT, COUNT, SHARE, TIME, Column, Value, ratio, table_of

NAME: Final = "computing"
LABEL: Final = "Computing"
EMPTY: Final = "Computing is not shown"
_HALF: Final = 0.5
_MUCH: Final = 0.1
"""What few bursts change the share of time on a processor by, so that the title names them."""
_FEW: Final = 0.1
"""Of all bursts: more are not few."""
_SHOWN: Final = 10
_MOST_COUNTERS: Final = 6
_SIZE: Final = (1200, 380)
_LEVELS: Final = (1, 4, 20)
"""Bursts of one point up to which it is of that ink."""


def section(report: Report) -> Section:
    """How long stretches of computing last, what was counted, and which last longest."""
    made, steps = needed(report.computing), found(report.steps)
    cells = found(report.histogram)
    if not made.computing_ns:
        raise NothingError("Nothing is computed between two calls.")
    return Section(
        title(made),
        join(
            None if cells is None else _picture(cells, made),
            _largest(made, steps),
            _ranks(made),
            tag("p", without_counters(made), class_="sub"),
        ),
        made.as_dict() | {"bursts": made.bursts, "computing_ns": made.computing_ns},
    )


def title(made: Computing) -> str:
    """How much of its time computing is on a processor, or runs how many instructions."""
    if made.processor is not None and (on := made.per_ns(made.processor)) is not None:
        said = f"Computing is on a processor for {share_text(min(on, 1))} of its time"
        off = off_processor(made)
        others = made.per_ns(made.processor, without=off)
        are_few = 0 < len(off) < len(made.largest) or made.bursts == len(made.largest)
        if off and are_few and others is not None and others - on > _MUCH:
            because = f"because of {plural(len(off), 'burst')}"
            return f"{said} {because}; in all others for {share_text(min(others, 1))}"
        return said
    if made.cycles is not None:
        instructions, cycles = (made.per_ns(name) for name in made.cycles)
        if instructions and cycles:
            return f"Computing runs {instructions / cycles:.2f} instructions a cycle"
    few, share = few_bursts(made)
    if few:
        who = f"{plural(few, 'burst')} of {made.bursts:,} hold{'s' * (few == 1)}"
        return f"{who} {share_text(share)} of computing"
    long = format_ns(made.largest[0].computing_ns)
    return f"Computing is {plural(made.bursts, 'burst')}; the longest lasts {long}"


def off_processor(made: Computing) -> list[Burst]:
    """Those of the longest bursts that were off a processor for most of their time."""
    name = made.processor or ""
    return [
        burst
        for burst in made.largest
        if name in burst.counters and burst.counters[name] < _HALF * burst.computing_ns
    ]


def few_bursts(made: Computing) -> tuple[int, float]:
    """How many of the longest bursts hold half of all computing, and how much they hold."""
    held = 0
    for count, burst in enumerate(made.largest, start=1):
        held += burst.computing_ns
        if count > max(made.bursts * _FEW, 1):
            break
        if held >= _HALF * made.computing_ns and count < made.bursts:
            return count, held / made.computing_ns
    return 0, 0.0


def without_counters(made: Computing) -> str:
    """Why there are no instructions or cycles; nothing where there are."""
    if made.cycles is not None:
        return ""
    cycles = "To have them: burstline record --counters PAPI_TOT_INS,PAPI_TOT_CYC."
    record = (
        "To have them: burstline record --counters PAPI_TOT_INS,PAPI_TOT_CYC; where the "
        "processor has none, burstline cc and record --counters work count statements."
    )
    if not made.counters:
        return (
            "Nothing was counted in this run, so neither instructions are known nor whether "
            f"ranks were on a processor. {record} --counters cpu counts time on a processor."
        )
    if any(name in made.counters for name in INSTRUCTIONS):
        return f"Cycles were not counted, so instructions a cycle are not known. {cycles}"
    names = ", ".join(made.counters)
    return f"Instructions and cycles were not counted, only {names}. {record}"


def _picture(cells: Histogram, made: Computing) -> Html:
    """Every burst by duration and counter; by rank where nothing was counted."""
    bursts = plural(int(cells.bursts.sum()), "burst")
    if cells.ranks:
        heads = [format_ns(each) for each in cells.duration_ns[:-1].tolist()]
        note = (
            f"Each row is a rank, each column the duration of {bursts} between two calls of "
            "MPI, from the time above it on. The darker, the more computing."
        )
        return join(
            heading("Computing by duration of its bursts", note),
            heat(cells.time_ns, cells.ranks, heads, TIME),
        )
    return join(tag("p", _note(cells, bursts), class_="sub"), _points(cells, made))


def _note(cells: Histogram, bursts: str) -> str:
    said = f"Each point is some of {bursts} between two calls of MPI; none is left out. "
    if cells.counter == IPC:
        said += "The higher, the more instructions a cycle."
    elif cells.unit == "ns":
        said += (
            f"On the diagonal all time is on a processor, by {cells.counter}; the farther "
            "right of it, the longer the rank was off it. Above it are bursts that are short "
            "for what reading the counter takes."
        )
    else:
        said += f"The higher, the more {cells.counter} counts."
    if cells.unread:
        said += f" It was not read in {cells.unread:,} more."
    return said


def _points(cells: Histogram, made: Computing) -> Html:
    across = charts.Axis(*charts.decades(_ends(cells.duration_ns)), short_time)
    if cells.counter == IPC:
        up = charts.Axis(0, float(np.ceil(cells.values[-1])), lambda v: f"{v:g}", linear=True)
    else:
        told = short_time if cells.unit == "ns" else format_count
        up = charts.Axis(*charts.decades(_ends(cells.values)), told)
    name = "time on a processor" if cells.counter == made.processor else cells.counter
    is_time = cells.unit == "ns" and cells.counter != IPC
    plane = charts.Plane(
        across, up, ("duration of the burst", name), "always on a processor" * is_time
    )
    wide, high = charts.room(_SIZE)
    rows, columns = np.nonzero(cells.bursts)
    x = [across.place(value) for value in _middles(cells.duration_ns)]
    y = [up.place(value) for value in _middles(cells.values, is_linear=cells.counter == IPC)]
    at_x = np.rint(wide * np.array(x)).astype(np.int64)[columns]
    at_y = np.rint(high * (1 - np.array(y))).astype(np.int64)[rows]
    first, which = distinct(at_x, at_y)
    counts = sums_by(which, cells.bursts[rows, columns], len(first))
    level = np.searchsorted(_LEVELS, counts)
    levels = [
        [*zip(at_x[points].tolist(), at_y[points].tolist(), strict=True)]
        for points in (first[level == each] for each in range(len(_LEVELS) + 1))
    ]
    return charts.density(levels, plane, _SIZE, _marks(cells, made))


def _marks(cells: Histogram, made: Computing) -> list[charts.Mark]:
    """The longest bursts, the first with its name."""
    marks: list[charts.Mark] = []
    for burst in made.largest[:_SHOWN]:
        value = _value(cells.counter, burst, made)
        if value is None or (value <= 0 and cells.counter != IPC):
            continue
        said = f"rank {burst.rank}: {format_ns(burst.computing_ns)}" if not marks else ""
        if said and cells.unit == "ns":
            said += f", {format_ns(round(value))} on a processor"
        marks.append(charts.Mark(burst.computing_ns, value, said, _go(burst)))
    return marks


def _value(counter: str, burst: Burst, made: Computing) -> float | None:
    if counter in burst.counters:
        return burst.counters[counter]
    return _ipc(burst.counters, made) if counter == IPC else None


def _ipc(counters: Mapping[str, int], made: Computing) -> float | None:
    """Instructions a cycle; None where either was not counted."""
    instructions, cycles = (counters.get(name) for name in made.cycles or ("", ""))
    return instructions / cycles if instructions is not None and cycles else None


def _ends(edges: Any) -> list[float]:  # noqa: ANN401 -- an array of any numbers
    return [max(float(edges[0]), 1.0), max(float(edges[-1]), 2.0)]


def _middles(edges: Any, *, is_linear: bool = False) -> list[float]:  # noqa: ANN401
    low, high = edges[:-1].astype(float), edges[1:].astype(float)
    middle = (low + high) / 2 if is_linear else np.sqrt(np.maximum(low, 1) * high)
    return [float(each) for each in middle]


def _go(burst: Burst) -> str:
    return f"call:{burst.location}:{burst.burst}:{burst.start_ns}"


def _largest(made: Computing, steps: LoopTable | None) -> Html:
    """The bursts that last longest, with their places."""
    shown = made.largest[:_SHOWN]
    if steps and all(_step(burst, steps) is None for burst in shown):
        steps = None
    few, share = few_bursts(made)
    long = format_ns(made.largest[0].computing_ns)
    said = (
        f"The longest of {plural(made.bursts, 'burst')} computes for {long}, "
        f"{share_text(made.largest[0].computing_ns / made.computing_ns)} of all computing"
    )
    if 1 < few <= _SHOWN:
        least = format_ns(made.largest[few - 1].computing_ns)
        said = (
            f"{plural(few, 'burst')} of {least} or more hold {share_text(share)} of computing"
        )
    cells: dict[Column, Any] = {
        Column("Rank"): lambda burst: thread_text(burst.rank, burst.thread)
    }
    if steps is not None:
        step = Column(f"Step of loop {steps.loop}", COUNT.or_nothing())
        cells[step] = lambda burst: _step(burst, steps)
    cells |= {
        Column("Between"): _between,
        Column("Computing", TIME): lambda burst: Value(burst.computing_ns, TIME),
        Column("Of all", SHARE): lambda burst: burst.computing_ns / made.computing_ns,
    }
    marks = [{"data_go": _go(burst)} for burst in shown]
    block = table_of(shown, cells | _told_counters(made, shown))
    return join(heading(said), table(block, rows=marks))


def _between(burst: Burst) -> str:
    """The calls around a burst."""
    if burst.before is None and burst.after is None:
        return "inside a parallel construct" if burst.thread else "outside of MPI"
    return f"{burst.before or 'the begin'} … {burst.after or 'the end'}"


def _told_counters(made: Computing, shown: Sequence[Burst]) -> dict[Column, Any]:
    """Columns of what was counted in bursts, the most telling first."""
    told: dict[Column, Any] = {}
    if (clock := made.processor) is not None:
        told = {
            Column("On a processor", TIME): lambda b: Value(b.counters.get(clock), TIME),
            Column("Share", SHARE): lambda b: _share(b.counters.get(clock), b.computing_ns),
        }
    if made.cycles is not None:
        told[Column(IPC, ratio(2))] = lambda b: _value(IPC, b, made)
    others = [name for name in made.counters if name != clock]
    there = [name for name in others if any(burst.counters.get(name) for burst in shown)]
    return told | {
        Column(name, AMOUNT): lambda b, name=name: b.counters.get(name)
        for name in there[: _MOST_COUNTERS - len(told)]
    }


def _share(value: int | None, whole: int) -> float | None:
    return None if value is None or not whole else value / whole


def _step(burst: Burst, steps: LoopTable) -> int | None:
    """The iteration of the costliest loop in which a burst begins."""
    begin = steps.start_ns
    inside = (begin <= burst.start_ns) & (burst.start_ns < begin + steps.duration_ns)
    rows = np.flatnonzero(inside & (steps.location == burst.location))
    return int(steps.iteration[rows[0]]) if len(rows) else None


def _ranks(made: Computing) -> Html | None:
    if not made.counters or not made.ranks:
        return None
    ordered = sorted(made.counters, key=lambda name: name != made.processor)
    names = [name for name in ordered if any(rank.counters.get(name) for rank in made.ranks)]
    names = names[:_MOST_COUNTERS]
    if not names:
        return None
    several = len({rank.application for rank in made.ranks}) > 1
    cells: dict[Column, Any] = {
        Column("Rank"): lambda rank: f"{rank.application}/" * several + str(rank.rank),
        Column("Bursts", COUNT): lambda rank: rank.bursts,
        Column("Computing", TIME): lambda rank: rank.computing_ns,
    }
    for name in names:
        column = Column(name, TIME if made.units.get(name) == "ns" else AMOUNT)
        cells[column] = lambda rank, name=name: rank.counters.get(name)
        if name == made.processor:
            cells[Column("On a processor", SHARE)] = lambda rank, name=name: _share(
                rank.counters.get(name), rank.counted_ns.get(name, 0)
            )
    if made.cycles is not None:
        cells[Column(IPC, ratio(2))] = lambda rank: _ipc(rank.counters, made)
    note = "Of the bursts at whose ends a counter was read."
    shown = table(table_of(made.ranks, cells), bold=True, most=64, alike=True)
    return join(heading(f"What was counted on {plural(len(made.ranks), 'rank')}", note), shown)
