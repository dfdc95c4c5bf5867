"""What ``burstline info`` shows: one screen about a trace, or the totals of a profile."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from burstline.answers import Verdict, table_of_checks
from burstline.efficiency import Efficiency
from burstline.errors import plural
from burstline.model import Profile
from burstline.quantities import format_ns, format_share
from burstline.show.blocks import Block, Facts, Heading, Lines
from burstline.show.units import notes_on_sizes, text_of, thread_text
from burstline.show.views import Rows, View
from burstline.summary import Polling, Summary
from burstline.values import BYTES, COUNT, SHARE, TIME, Column, Table, Value, table_of

_GOOD: Final = 0.8  # POP regards efficiencies above this as acceptable
_SEVERITY_STYLES: Final = {"info": "", "loss": "yellow", "error": "red"}
_COUNTERS_SHOWN: Final = 8
_CSV_COLUMNS: Final = ("operation", "count", "time_ns", "bytes_sent", "bytes_received")
_COMMUNICATION: Final = {
    "serialisation": "missing to 100 %: ranks wait for each other in turn",
    "transfer": "missing to 100 %: messages and collectives take time",
}
_LEFT_OUT: Final = {"structure": "time step", "waits": "waits"}
_METRIC: Final = ("metric", "parent", "title", "unit", "total")


@dataclass(frozen=True, slots=True, eq=False)
class SummaryView(View):
    """What is in a trace, or a `part` of it, with the `top` operations, below the verdict."""

    result: Summary
    top: int = 12
    part: bool = False
    verdict: Verdict | None = None

    def document(self) -> dict[str, Any]:
        """The summary, with the verdict, its checks, and the time of each rank."""
        verdict = {} if self.verdict is None else self.verdict.as_dict()
        return verdict | self.result.as_dict()

    def rows(self) -> Rows:
        """Calls by operation."""
        calls: dict[str, dict[str, object]] = self.document()["calls"]
        return _CSV_COLUMNS, ((name, *totals.values()) for name, totals in calls.items())

    def blocks(self) -> Iterator[Block]:
        """The verdict, what there is, the efficiency, the operations, and what was odd."""
        is_empty = self.part and not self.result.calls
        if self.verdict is not None and not is_empty:
            yield Facts([(each.question, each.sentence) for each in self.verdict.sentences])
            yield table_of_checks(self.verdict.checks)
            yield Heading("What is in the trace")
        yield Facts(_facts(self.result, part=self.part))
        if is_empty:
            yield Heading("Parallel efficiency: none, no MPI call lies in what was chosen")
        else:
            yield from _efficiency(self.result)
        yield from _calls(self.result, self.top)
        yield from _open_calls(self.result, self.top)
        yield _unseen(self.result)
        if self.verdict is not None and self.verdict.left_out:
            yield Lines(["", _way_out(self.verdict, self.result.path)])


def _way_out(verdict: Verdict, path: str) -> str:
    """The command that finds what was left out."""
    left_out = verdict.left_out
    command = left_out[0] if len(left_out) == 1 else "report"
    what = " and ".join(_LEFT_OUT[name] for name in left_out)
    return f"{what.capitalize()}: burstline {command} {shlex.quote(path or 'TRACE')}"


def _facts(summary: Summary, *, part: bool) -> Iterator[tuple[str, str]]:
    if summary.path:
        yield "trace", summary.path
    yield "program", _program(summary)
    for other in summary.applications:
        if not other.calls_mpi and any(each.calls_mpi for each in summary.applications):
            yield "", f"application {other.application}: {other.ranks:,} more, without MPI"
    yield "duration", format_ns(summary.duration_ns)
    records = (plural(count, name.removesuffix("s")) for name, count in summary.records.items())
    whose = " in the whole trace" if part and summary.counts_source else ""
    yield "records", ", ".join(records) + whose
    calls = sum(totals.count for totals in summary.calls.values())
    collectives = plural(summary.collectives, "collective")
    yield "MPI", f"{plural(calls, 'call')}, {_messages(summary)}, {collectives}"
    yield "bursts", f"{summary.bursts:,} between MPI calls"
    if summary.polling.polls:
        yield "failed polls", _polls(summary.polling)
    if summary.regions:
        yield "regions", f"{summary.regions:,}"
    if summary.call_paths:
        share = format_share(summary.calls_with_path / max(calls, 1))
        paths = plural(summary.call_paths, "call path")
        depth = plural(summary.call_path_depth, "level")
        yield "callers", f"known for {share} of the calls, {paths}, up to {depth} deep"
    if (taken := summary.sampling) is not None:
        rate = ""
        if taken.reached_hz is not None:
            rate = f", {taken.reached_hz:.0f} a second of computing; asked for {taken.asked_hz}"
        yield "samples", f"{taken.samples:,} of call stacks{rate}"
    names = ", ".join(summary.counters[:_COUNTERS_SHOWN]) or "none"
    more = len(summary.counters) - _COUNTERS_SHOWN
    yield "counters", names + f" and {more} more" * (more > 0)
    if summary.compiler:
        yield "counted by", summary.compiler


def _polls(polling: Polling) -> str:
    gap = format_ns(polling.poll_gap_ns)
    ways = {
        "as the recorder measured it": polling.bursts_measured,
        f"where they are less than {gap} apart on average": polling.bursts_by_mean,
    }
    how = " and ".join(way for way, bursts in ways.items() if bursts)
    return (
        f"{polling.polls:,} in {format_ns(polling.time_ns)} of them; "
        f"{format_ns(polling.waiting_ns)} are waiting, {how}"
    )


def _program(summary: Summary) -> str:
    parts = [plural(summary.ranks, "rank"), plural(summary.locations, "thread")]
    if len(summary.applications) != 1:
        parts.insert(0, plural(len(summary.applications), "application"))
    return ", ".join(parts) + (
        f" on {plural(summary.nodes, 'node')}" if summary.nodes else ", nodes unknown"
    )


def _messages(summary: Summary) -> str:
    text = plural(summary.messages, "message")
    unmatched = summary.messages - summary.matched_messages
    if not summary.messages:
        return text
    return f"{text} ({f'{unmatched:,} without their calls' if unmatched else 'all matched'})"


def _efficiency(summary: Summary) -> Iterator[Block]:
    efficiency = summary.efficiency
    if efficiency.parallel is None:
        yield Heading(f"Parallel efficiency: none, {efficiency.reason}")
        return
    whole = "MPI_Finalize" in summary.calls
    between = "from MPI_Init to MPI_Finalize" if whole else "as long as each was observed"
    share, computing = SHARE, "time outside MPI"
    if efficiency.span == "trace":
        between, share = "over the whole trace", SHARE._replace(digits=2)
        computing = "time Running, or outside MPI where there are no states,"
    span = f"{between}: {format_ns(efficiency.runtime_ns)}"
    yield Heading(f"Efficiency of {plural(len(efficiency.useful_ns), 'rank')}, {span}")
    rows = [
        ("parallel efficiency", efficiency.parallel, "load balance x communication"),
        ("load balance", efficiency.load_balance, _busiest(efficiency)),
        ("communication", efficiency.communication, f"{computing} on that rank"),
    ]
    for name, value in (efficiency.of_communication or {}).items():
        rows.append((f"  {name}", value, _COMMUNICATION[name]))
    yield Facts(
        [(name, f"{text_of(value, share):>7}   {meaning}") for name, value, meaning in rows],
        styles=["" if value is None or value >= _GOOD else "yellow" for _, value, _ in rows],
    )


def _busiest(efficiency: Efficiency) -> str:
    (_, rank), most = efficiency.busiest
    mean = sum(efficiency.useful_ns) // len(efficiency.useful_ns)
    return f"{format_ns(mean)} a rank; most is rank {rank} with {format_ns(most)}"


def _calls(summary: Summary, top: int) -> Iterator[Block]:
    if not summary.calls:
        return
    counted = {name: (calls.count, calls.time_ns) for name, calls in summary.calls.items()}
    table = calls_table(counted)
    rows = [
        (*row, calls.bytes_sent, calls.bytes_received)
        for row, calls in zip(table.rows, summary.calls.values(), strict=True)
    ]
    sizes = Column("sent", BYTES), Column("received", BYTES)
    yield table._replace(columns=(*table.columns, *sizes), rows=rows[:top])
    if notes := notes_on_sizes(row[0] for row in rows[:top]):
        yield Lines(notes)
    if len(summary.calls) > top:
        more = plural(len(summary.calls) - top, "other operation")
        yield Lines([f"  … and {more}: `top={len(summary.calls)}` shows all"])


def _open_calls(summary: Summary, top: int) -> Iterator[Block]:
    calls = summary.open_calls
    if not calls:
        return
    yield table_of(
        calls[:top],
        {
            Column("rank"): lambda call: thread_text(call.rank, call.thread),
            Column("operation"): lambda call: call.operation,
            Column("partner"): lambda call: call.peer,
            Column("entered at", TIME): lambda call: call.enter_ns,
            Column("where"): lambda call: (call.call_path or "unknown").rpartition(";")[2],
        },
        "Calls open at the end of the trace",
        left=2,
    )
    if len(calls) > top:
        more = plural(len(calls) - top, "other thread")
        yield Lines([f"  … and {more}: `top={len(calls)}` shows all"])


def calls_table(calls: Mapping[str, tuple[int, int]]) -> Table:
    """Operations with how often each was called and how long that took, in ns."""
    total_ns = sum(time_ns for _, time_ns in calls.values())
    rows = [
        (name, count, time_ns, time_ns / total_ns if total_ns else None, time_ns // count)
        for name, (count, time_ns) in calls.items()
    ]
    times = Column("time", TIME), Column("of MPI time", SHARE), Column("mean", TIME)
    columns = (Column("operation"), Column("calls", COUNT), *times)
    return Table(columns, rows, "MPI calls, the most time first")


def _unseen(summary: Summary) -> Block:
    if not (rows := unseen_rows(summary)):
        return Heading("Nothing odd was met, and nothing is missing")
    return Table(
        (
            *(Column("severity"), Column("what"), Column("times", COUNT)),
            Column("first, or how long"),
        ),
        rows,
        title="What was odd, or could not be seen",
        left=4,
        styles=[_SEVERITY_STYLES[defect.severity] for defect in summary.defects],
    )


def unseen_rows(summary: Summary) -> list[tuple[str, str, int, str]]:
    """What was odd, or not watched: how bad, what, how often, and the first or how long."""
    odd = [(each.severity, each.kind, each.count, each.first) for each in summary.defects]
    return odd + [
        ("gap", gap.kind, gap.count, f"{format_ns(gap.time_ns)} unwatched")
        for gap in summary.gaps
    ]


def _totals(profile: Profile) -> list[dict[str, Any]]:
    """The total of each metric, parents first; None where there is no value."""
    names = profile.metrics["name"].to_pylist()
    rows = []
    for row in profile.metrics.to_pylist():
        name, parent = row["name"], row["parent"]
        total = profile.total(name) if name in profile.stored else None
        if total is not None and not math.isfinite(total):
            total = None
        above = None if parent is None else names[parent]
        cells = name, above, row["title"], row["unit"], total
        rows.append(dict(zip(_METRIC, cells, strict=True)))
    return rows


@dataclass(frozen=True, slots=True, eq=False)
class ProfileView(View):
    """How large a profile, read with all its values from `path`, is, and its totals."""

    result: Profile
    path: str = ""

    def document(self) -> dict[str, Any]:
        """The total of each metric."""
        return {"path": self.path, "metrics": _totals(self.result)}

    def rows(self) -> Rows:
        """The total of each metric."""
        return _METRIC, (tuple(row.values()) for row in _totals(self.result))

    def blocks(self) -> Iterator[Block]:
        """Its size, and the totals that are not 0."""
        profile = self.result
        ranks = plural(len(set(profile.locations["rank"].to_pylist())), "rank")
        yield Facts(
            [
                ("profile", self.path),
                ("by", profile.attributes.get("Creator", "unknown")),
                ("program", f"{ranks}, {plural(profile.locations.num_rows, 'thread')}"),
                ("call paths", f"{profile.call_paths.num_rows:,}"),
                ("metrics", f"{profile.metrics.num_rows:,}"),
            ]
        )
        totals = _totals(profile)
        depths: dict[str | None, int] = {None: -1}
        for row in totals:
            depths[row["metric"]] = depths[row["parent"]] + 1
        shown = [row for row in totals if row["total"]]
        is_all = not any(row["total"] == 0 for row in totals)
        yield Table(
            [Column("METRIC"), Column("NAME"), Column("TOTAL")],
            [[row["title"], row["metric"], _total(row)] for row in shown],
            "Totals" if is_all else "Totals that are not 0",
            left=2,
            depths=[depths[row["metric"]] for row in shown],
        )


def _total(row: dict[str, Any]) -> Value | str:
    total = row["total"]
    if row["unit"] == "sec":
        return Value(total * 1e9, TIME)
    number = f"{total:,}" if isinstance(total, int) else f"{total:,.6g}"
    return f"{number} {row['unit']}".rstrip()
