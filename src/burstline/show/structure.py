"""What ``burstline structure`` shows: pseudo-code, or a loop over time and what stands out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from burstline.columns import Integers
from burstline.errors import plural
from burstline.identity import Site
from burstline.model import IPC, OF_IPC
from burstline.quantities import format_ns, format_share
from burstline.show.blocks import Block, Facts, Heading, Lines
from burstline.show.code_lines import (
    STYLES,
    Line,
    chosen_counter,
    counter_value,
    name_text,
    pseudocode,
)
from burstline.show.units import format_change, notes_on_sizes, text_of
from burstline.show.views import Rows, View, columns_of
from burstline.structure import (
    Call,
    CallCounts,
    Change,
    InCalls,
    Inside,
    LoopSummary,
    LoopTable,
    Segment,
    Slow,
    Structure,
    Trend,
    compact,
    description_length,
    share_of,
    tree,
    walk,
)
from burstline.timeline import LineTimes
from burstline.values import AMOUNT, BYTES, CHANGE, COUNT, SHARE, TIME, Column, Table, table_of

_SPARE: Final = ("total", "share")
_OF_LINES: Final = ("operation", "file", "line", "function", "total_ns", "burst_total_ns")
_METHODS: Final = {"seed": "published", "exact": "exact"}
_INDENT: Final = "  "
_NS: Final = "ns"
_TRUE_ENOUGH: Final = 0.9
_ROWS: Final = 20
_SHAPE: Final = 60
_BAR: Final = 20
_CHANCE: Final = 0.05
_LEVELS: Final = 5
_HEIGHTS: Final = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True, eq=False)
class StructureView(View):
    """A structure with the options of :func:`pseudocode`; instructions per cycle by default."""

    result: Structure
    counter: str | None = None
    ranks: Collection[int] | None = None
    bursts_ns: int | None = None
    depth: int | None = None
    inside: Inside | None = None
    stages: Mapping[str, int] = field(default_factory=dict)  # of the detection, ns
    in_calls: InCalls | None = None
    others: Sequence[Structure] | None = None  # readings to show below it
    lines: LineTimes | None = None  # of all ranks, with where computing is by site
    computing: Mapping[int, str] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The structure, with what was asked for: its other readings, stages, counters."""
        document = self.result.as_dict()
        if self.others is not None:
            document["length"] = _length(self.result)
            document["other"] = [
                {"length": _length(each), "method": each.method, "fidelity": each.fidelity}
                | {"program": tree(each.items)}
                for each in self.others
            ]
        if self.stages:
            document["stages"] = [
                {"stage": name, "time_ns": ns} for name, ns in self.stages.items()
            ]
        if self.in_calls is not None:
            document["in_calls"] = [
                row | {"ipc": counter_value(row["counters"], IPC)}
                for row in self.in_calls.rows()
            ]
        if self.lines is not None:
            document["lines"] = [*self._lines(self.lines)]
        return document

    def _lines(self, lines: LineTimes) -> Iterator[dict[str, Any]]:
        """For each call: the waits in it, and where the computing before it is."""
        for item, _ in walk(self.result.items):
            if not isinstance(item, Call):
                continue
            row, waiting = item.as_dict(), lines.waiting_ns(item.site)
            share = share_of(item.operation, item.total_ns, self.result.whole_ns)
            yield {name: row[name] for name in _OF_LINES} | {
                "share": share,
                "wait_ns": waiting,
                "wait_share": waiting / item.total_ns if waiting and item.total_ns else 0.0,
                "computing_in": self.computing.get(item.site),
            }

    def rows(self) -> Rows:
        """Its loops, conditions and calls."""
        return columns_of(self.result.rows())

    def blocks(self) -> Iterator[Block]:
        """How true it is, and its pseudo-code."""
        counter = chosen_counter(self.result, self.counter)
        lines = pseudocode(
            self.result,
            counter=counter,
            ranks=self.ranks,
            bursts_ns=self.bursts_ns,
            depth=self.depth,
            inside=self.inside,
            computing=self.computing,
        )
        doubtful = self.result.fidelity < _TRUE_ENOUGH
        facts = _facts(self.result)
        if self.ranks is not None and set(self.ranks) < set(self.result.ranks):
            facts.append(("shown", f"rank {compact(self.ranks)}, with its own means"))
        yield Facts(facts, ["", "yellow" if doubtful else ""])
        unit = "" if counter is None else self.result.unit(counter)
        columns = line_columns(counter, unit)
        rows = [line_cells(line, counter) for line in lines]
        if self.in_calls is not None and counter is not None:
            columns.append(Column("in the call", _counter_column("", unit).notation))
            for line, row in zip(lines, rows, strict=True):
                item = line.item
                counted = self.in_calls.of(item, self.ranks) if isinstance(item, Call) else {}
                row.append(counter_value(counted, counter))
        if self.lines is not None:
            columns.append(Column("waits", SHARE.or_nothing()))
            for line, row in zip(lines, rows, strict=True):
                row.append(self._waiting(line, self.lines))
        yield Table(
            columns,
            rows,
            "Structure",
            left=3,
            styles=[STYLES.get(line.kind, "") for line in lines],
            spare=_SPARE,
        )
        notes = notes_on_sizes(line.text for line in lines if line.size_bytes)
        if counter is not None:
            what = f"E({counter}): of the computation just before a call"
            notes = [*notes, f"  {what}, or of an iteration"]
        if notes:
            yield Lines(notes)
        if self.stages:
            yield _stages_table(self.stages)
        if self.others is not None:
            yield from self._others()

    def _others(self) -> Iterator[Block]:
        """The other readings with their lengths, without times."""
        length = _length(self.result)
        if not self.others:
            yield Heading(f"Other readings: none is as true as this one, of length {length}")
            return
        yield Heading(f"Other readings as true as this one, of length {length}")
        for other in self.others:
            lines = pseudocode(other, ranks=self.ranks, depth=self.depth)
            yield Table(
                line_columns(None)[:3],
                [line_cells(line, None)[:3] for line in lines],
                f"Length {_length(other)}, by the {_METHODS[other.method]} method",
                left=3,
                styles=[STYLES.get(line.kind, "") for line in lines],
            )

    def _waiting(self, line: Line, lines: LineTimes) -> float | None:
        """The share of the time in the calls of a line that ranks wait for others."""
        if not isinstance(line.item, Call) or not line.item.total_ns:
            return None
        waiting = lines.waiting_ns(line.item.site)
        return min(waiting / line.item.total_ns, 1.0) if waiting else None


def _length(structure: Structure) -> int:
    return description_length(structure.items)


def _stages_table(stages: Mapping[str, int]) -> Table:
    """What each stage took, and its share of all."""
    total = max(sum(stages.values()), 1)
    columns = [Column("stage"), Column("time", TIME), Column("share", SHARE)]
    rows = [[name, ns, ns / total] for name, ns in stages.items()]
    return Table(columns, rows, "Stages of the detection")


def line_columns(counter: str | None, unit: str = "") -> list[Column]:
    """What is above pseudo-code: the first three columns are text."""
    columns = [Column("FILE"), Column("LINE"), Column("PSEUDOCODE")]
    columns += [Column("E(time)", TIME.or_nothing()), Column("total", TIME.or_nothing())]
    columns += [Column("share", SHARE.or_nothing()), Column("E(size)", BYTES.or_nothing())]
    if counter:
        columns.append(_counter_column(f"E({counter})", unit))
    return columns


def _counter_column(name: str, unit: str) -> Column:
    """The values of a counter, nothing where there is none; times have a unit beside them."""
    head = name if unit in {"", _NS} else f"{name} [{unit}]"
    return Column(head, (TIME if unit == _NS else AMOUNT).or_nothing())


def counter_text(value: float, unit: str) -> str:
    """The value of a counter: a time as such, anything else as a count."""
    return text_of(value, _counter_column("", unit).notation)


def line_cells(line: Line, counter: str | None, mark: str = "") -> list[Any]:
    """A line of pseudo-code, with a mark before its text."""
    text = _INDENT * line.depth + mark + line.text
    times = [line.time_ns, line.total_ns, line.share]
    cells = [line.file, line.line, text, *times, line.size_bytes]
    return [*cells, line.counter] if counter else cells


def _facts(structure: Structure) -> list[tuple[str, str]]:
    loops, classes = len(structure.loops), len(structure.classes)
    coverage = structure.coverage
    doubt = "; the rest is misread" if structure.fidelity < _TRUE_ENOUGH else ""
    size = f"{plural(loops, 'loop')}, {plural(structure.nodes, 'node')}"
    calls = f"{plural(structure.calls, 'call')} ({structure.unique_calls:,} unique)"
    in_loops = f"{format_share(coverage.time)} of {format_ns(structure.run_ns)} in loops"
    ranks = plural(len(set(structure.ranks)), "rank")
    facts = [
        ("structure", f"{size} for {calls}, by the {_METHODS[structure.method]} method"),
        ("fidelity", f"{100 * structure.fidelity:.2f} % of the calls come out in order{doubt}"),
        ("conditions", _conditions_text(structure)),
        ("coverage", f"{format_share(coverage.calls)} of the calls, {in_loops}"),
        ("ranks", f"{ranks} of {plural(classes, 'kind')}"),
    ]
    if (grid := structure.grid) is not None:
        facts.append(("partners", f"{grid.text}: {format_share(grid.share)} of the messages"))
    if structure.left_out:
        executed = sum(int(call.executions.sum()) for call in structure.left_out)
        least = format_share(float(str(structure.parameters.get("min_share", 0))))
        span = f"{plural(executed, 'call')} that repeat within less than {least} of the run"
        facts.append(("left out", f"{span} (`min_share=0` shows them)"))
    if structure.callpath == "none":
        facts.append(("call paths", "none in this trace, so that no source line can be given"))
    return facts


def _conditions_text(structure: Structure) -> str:
    explained, unexplained = structure.conditions
    if not unexplained:
        return f"{explained}, and each follows a rule" if explained else "none"
    text = f"{explained + unexplained}, of which {unexplained} follow no rule"
    if structure.callpath == "none":
        text += ": this is no reading of the program, which the order of calls does not tell"
    return text


@dataclass(frozen=True, slots=True, eq=False)
class CallCountsView(View):
    """Which MPI calls an iteration makes, in all and by phase."""

    result: CallCounts

    def rows(self) -> Rows:
        """Each phase and operation."""
        return columns_of(list(self.result.rows()))

    def blocks(self) -> Iterator[Block]:
        """The calls of an iteration, and where its phases begin."""
        counts = self.result
        phases = plural(len(counts.phases), "phase")
        long = format_ns(round(counts.bursts_ns))
        ranks = f"rank {compact(counts.ranks)}"
        yield Facts(
            [
                (f"loop {counts.loop}", f"{plural(counts.iterations, 'iteration')} on {ranks}"),
                ("phases", f"{phases}, each begins with a call after computation of {long}"),
            ]
        )
        numbers = [str(k + 1) for k in range(len(counts.phases))]
        rows = []
        for name, calls in zip(counts.operations, counts.calls.tolist(), strict=True):
            each = (f"{count / counts.iterations:.4g}" if count else "" for count in calls)
            mean = f"{sum(calls) / counts.iterations:.4g}"
            rows.append([name_text(name), sum(calls), mean, *each])
        heads = [Column("operation"), Column("calls", COUNT), Column("an iteration")]
        heads += [Column(f"phase {k}") for k in numbers]
        yield Table(heads, rows, "MPI calls, in all, in an iteration and in each phase of it")
        yield table_of(
            enumerate(counts.phases, start=1),
            {
                Column("phase"): lambda row: str(row[0]),
                Column("begins with"): lambda row: (
                    _place_text(row[1].first) if row[1].first else "the iteration"
                ),
                Column("computing", TIME.or_nothing()): lambda row: row[1].burst_ns,
            },
            "Phases",
            left=2,
        )


@dataclass(frozen=True, slots=True, eq=False)
class LoopTableView(View):
    """What iterations cost, with a counter, `most` slow ones, and the command to `cut` them."""

    result: LoopTable
    counter: str | None = None
    most: int = 5
    cut: str = ""
    unit: str = ""  # of the counter
    segments: Sequence[Segment] = ()  # if it changes in steps

    def document(self) -> dict[str, Any]:
        """The loop by iteration, by rank and in segments."""
        segments = [segment.as_dict() for segment in self.segments]
        return self.result.as_dict(most=self.most) | {"segments": segments}

    def rows(self) -> Rows:
        """Each iteration on each location."""
        return tuple(self.result.columns()), self.result.rows()

    def blocks(self) -> Iterator[Block]:
        """How long iterations last, how that went on, and which are slow."""
        summary, by_iteration = self.result.summary(), self.result.by_iteration()
        shape = sparkline(by_iteration["max_ns"])
        facts = _loop_facts(self.result, summary, self.segments)
        yield Facts([*facts, ("longest", shape)])
        if self.segments:
            yield _steps_table(self.segments)
        yield _neighbours(by_iteration, self.counter, self.unit)
        yield from _slowest(self.result.slowest(self.most), summary, self.cut)


def _loop_facts(
    table: LoopTable, summary: LoopSummary, segments: Sequence[Segment]
) -> Iterator[tuple[str, str]]:
    entries = (
        f" in {plural(summary.entries, 'entry', 'entries')}" if summary.entries > 1 else ""
    )
    ranks = plural(summary.ranks, "rank")
    threads = f" ({plural(summary.lanes, 'thread')})" if summary.lanes > summary.ranks else ""
    times = f"{plural(summary.iterations, 'iteration')}{entries} on {ranks}{threads}"
    yield f"loop {table.loop}", f"{times}, method {table.method}"
    spread = f"{format_ns(round(summary.std_ns))} ({format_share(summary.variation)})"
    middle = f"{format_ns(round(summary.mean_ns))} mean, {format_ns(round(summary.median_ns))}"
    ends = f"{format_ns(summary.min_ns)} to {format_ns(summary.max_ns)}"
    yield "duration", f"{middle} median, standard deviation {spread}, {ends}"
    unwatched = f", unwatched {format_share(summary.unwatched)}" if summary.unwatched else ""
    unwatched += f", failed polls {format_share(summary.waiting)}" if summary.waiting else ""
    spent = f"computing {format_share(summary.useful)}, MPI {format_share(summary.mpi)}"
    yield "spent", spent + unwatched
    if summary.balance is not None:
        within = format_share(summary.balance_within)
        whole = format_share(summary.balance)
        yield "balance", f"load balance {whole} over the loop, {within} within an iteration"
    yield "trend", _steps_text(segments) or _trend_text(summary.trend, summary)
    left_out = summary.iterations - summary.counted
    if left_out > 0:
        last = plural(left_out, "iteration")
        yield "not counted", f"{last}, the last of an entry, which ends with its last call"


def _steps_text(segments: Sequence[Segment]) -> str:
    """How the iterations change in steps; empty if they do not."""
    if not segments:
        return ""
    levels = " to ".join(format_ns(round(segment.median_ns)) for segment in segments[:_LEVELS])
    more = len(segments) - _LEVELS
    rest = f" and {plural(more, 'more')}" if more > 0 else ""
    at = compact([segment.first for segment in segments[1:]])
    number = len(segments) - 1
    return (
        f"{plural(number, 'step')}, from {levels}{rest}, at iteration{'s' * (number > 1)} {at}"
    )


def _steps_table(segments: Sequence[Segment]) -> Table:
    """The segments, and what explains how each differs from the one before."""
    time, count = TIME.or_nothing(), COUNT.or_nothing()
    return table_of(
        zip([None, *segments], segments, strict=False),
        {
            Column("iterations"): lambda row: f"{row[1].first}:{row[1].last}",
            Column("where it changes"): lambda row: _change_text(row[1].change, row[0]),
            Column("median", TIME): lambda row: row[1].median_ns,
            Column("change", CHANGE.or_nothing()): lambda row: (
                row[0] and row[1].median_ns - row[0].median_ns
            ),
            Column("on rank", count): lambda row: row[1].change and row[1].change.rank,
            Column("from", time): lambda row: row[1].change and row[1].change.before_ns,
            Column("to", time): lambda row: row[1].change and row[1].change.now_ns,
            Column("ranks", count): lambda row: row[1].change and row[1].change.ranks,
        },
        "Steps, and what explains them",
        left=2,
    )


def _change_text(change: Change | None, before: Segment | None) -> str:
    """Where a segment differs from the one before, if there is one."""
    if change is None:
        return "in no call of one rank" if before else ""
    place = _place_text(change.site)
    return f"computing before {place}" if change.kind == "computing" else place


def _place_text(call: Call | Site) -> str:
    """A call with its place in the source, if that is known."""
    if (caller := call.caller) is None:
        return name_text(call.operation)
    line = "" if caller.line is None else f":{caller.line}"
    return f"{name_text(call.operation)}, {name_text(caller.file or caller.function)}{line}"


def _trend_text(trend: Trend | None, summary: LoopSummary) -> str:
    if trend is None:
        return "too few iterations to tell"
    slope, chance = f"{format_change(trend.slope)} an iteration", f"p = {trend.p_value:.2g}"
    if trend.p_value > _CHANCE:
        return f"none beyond chance ({slope}, {chance})"
    by_line = f"a line explains {format_share(trend.explained)} of the spread"
    between = f"{format_change(trend.low)} to {format_change(trend.high)} with 95 %"
    if not trend.is_line:
        return f"{slope} in the median, but {by_line} only ({between}, {chance})"
    drift = trend.slope * (summary.counted - 1) / max(summary.median_ns, 1)
    return f"{slope}, {100 * drift:+.1f} % over the loop ({between}, {chance}, {by_line})"


def sparkline(values: npt.NDArray[Any]) -> str:
    """Draw a series in one line.

    >>> sparkline(np.array([1, 2, 8, 4]))
    '▁▂█▄'
    """
    blocks = min(len(values), _SHAPE)
    block = np.arange(len(values)) * blocks // max(len(values), 1)
    largest = np.zeros(blocks)
    np.maximum.at(largest, block, values)
    most = max(float(largest.max(initial=0)), 1.0)
    levels = np.clip(np.ceil(largest / most * len(_HEIGHTS)) - 1, 0, len(_HEIGHTS) - 1)
    return "".join(_HEIGHTS[level] for level in levels.astype(int).tolist())


def block_begins(count: int, most: int) -> Integers:
    """Where blocks of neighbours begin, up to `most` of them."""
    blocks = min(count, most)
    return np.arange(blocks) * count // max(blocks, 1)


def _neighbours(
    by_iteration: dict[str, npt.NDArray[Any]], counter: str | None, unit: str
) -> Table:
    """Iterations, neighbours together where there are many: mean and longest of each row."""
    iteration, longest = by_iteration["iteration"], by_iteration["max_ns"]
    most = max(longest.max(initial=0), 1)
    rows = []
    for begin, end in pairwise([*block_begins(len(iteration), _ROWS).tolist(), len(iteration)]):
        names = {"mean_ns", "useful_ns", "mpi_ns"}
        if counter is not None:
            names |= {each for pair in OF_IPC for each in pair} if counter == IPC else {counter}
        mean = {
            name: float(np.nan_to_num(by_iteration[name][begin:end].astype(float)).mean())
            for name in names & by_iteration.keys()
        }
        slowest = end - 1 - int(longest[begin:end][::-1].argmax())
        span = dict.fromkeys(map(str, iteration[[begin, end - 1]]))
        solid = round(mean["mean_ns"] / most * _BAR)
        bar = "█" * solid + "░" * max(round(longest[slowest] / most * _BAR) - solid, 0)
        most_on = int(longest[slowest]), int(by_iteration["slowest_rank"][slowest])
        row: list[object] = [":".join(span), bar, mean["mean_ns"], *most_on]
        row += [mean["useful_ns"], mean["mpi_ns"]]
        if counter is not None:
            row.append(counter_value(mean, counter) or 0)
        rows.append(row)
    columns = [
        *(Column("iterations"), Column("mean, longest"), Column("mean", TIME)),
        *(Column("longest", TIME), Column("on rank"), Column("computing", TIME)),
        Column("MPI", TIME),
    ]
    if counter:
        columns.append(_counter_column(counter, unit))
    return Table(columns, rows, "Iterations", left=2)


def _slowest(slow: Sequence[Slow], summary: LoopSummary, cut: str) -> Iterator[Block]:
    if not slow:
        yield Heading(f"Slow iterations: {summary.outliers or 'none stands out'}")
        return
    yield table_of(
        slow,
        {
            Column("iteration"): lambda each: each.iteration,
            Column("rank"): lambda each: each.rank,
            Column("begins at", TIME): lambda each: each.start_ns,
            Column("lasts", TIME): lambda each: each.duration_ns,
            Column("usually", TIME): lambda each: each.duration_ns / each.ratio,
            Column("computing", CHANGE): lambda each: each.more_useful_ns,
            Column("MPI", CHANGE): lambda each: each.more_mpi_ns,
            Column("slow on"): lambda each: each.lanes,
            Column("most computing"): lambda each: (
                f"{each.cause_rank}: {format_change(each.cause_more_useful_ns)}"
            ),
        },
        "Slow iterations, and how they differ from the median of that rank",
    )
    if summary.outliers > len(slow):
        more = plural(summary.outliers - len(slow), "shorter one")
        yield Lines([f"  … and {more}: `slowest={summary.outliers}` shows all"])
    if cut:
        number = slow[0].iteration
        yield Lines(["", f"  {cut} {number} -o iteration-{number}.prv"])
