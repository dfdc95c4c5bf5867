"""What the page rests on: what was used, what cannot be computed, what was odd, who made it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from burstline.answers import verdict_on_waits
from burstline.errors import plural
from burstline.quantities import format_ns
from burstline.show.page.html import Child, Html, code, facts, heading, join, table
from burstline.show.page.report import Missing, Report, Section, found
from burstline.show.summary import unseen_rows
from burstline.summary import Summary
from burstline.values import COUNT, Column, table_of
from burstline.waits import TITLES

NAME: Final = "coverage"
LABEL: Final = "Coverage"
EMPTY: Final = "Nothing is known about what this page rests on"


def section(report: Report) -> Section:
    """What a reader needs to trust the page, or not, and to cite it."""
    pairs = [*_span(report), *_unknown(report), *_methods(report), *_made(report)]
    return Section(
        "What this page rests on, and what it cannot say",
        join(facts(pairs), _defects(report.summary)),
        {
            "coverage": None if (waits := found(report.waits)) is None else waits.coverage,
            "defects": report.summary.as_dict()["defects"],
            "gaps": report.summary.as_dict()["gaps"],
            "source": {
                "paths": list(report.source.paths),
                "sha256": dict(report.source.digests),
                "command": report.source.command,
                "version": report.source.version,
                "made": report.source.made,
                "region": report.source.region,
                "recording": list(report.source.recording),
            },
        },
    )


def _span(report: Report) -> Iterator[tuple[str, Child]]:
    summary = report.summary
    efficiency = summary.efficiency
    for text in report.source.recording:
        yield "Recording", f"{text[:1].upper()}{text[1:]}."
    if report.source.region:
        yield "Part of the run", report.source.region
    whole = "MPI_Finalize" in summary.calls
    between = "From MPI_Init to MPI_Finalize" if whole else "As long as ranks were observed"
    if efficiency.runtime_ns:
        said = (
            f"{between}: {format_ns(efficiency.runtime_ns)} on "
            f"{plural(len(efficiency.useful_ns), 'rank')}. Efficiencies are of this; the "
            f"trace covers {format_ns(summary.duration_ns)}."
        )
        yield "Span", said
    calls = sum(totals.count for totals in summary.calls.values())
    on = f" on {plural(summary.nodes, 'node')}" if summary.nodes else ", nodes unknown"
    said = (
        f"{plural(calls, 'MPI call')}, {plural(summary.messages, 'message')}, "
        f"{plural(summary.collectives, 'collective')}, {summary.bursts:,} bursts, "
        f"{plural(summary.locations, 'thread')}{on}."
    )
    yield "Trace", said
    if calls:
        known = summary.calls_with_path
        which = "all" if known == calls else f"{known:,} of"
        yield "Source lines", f"Known for {which} {calls:,} calls."
    names = ", ".join(summary.counters[:12]) or "None were recorded."
    yield "Counters", names


def _unknown(report: Report) -> Iterator[tuple[str, Child]]:
    for name, result in (("Waits", report.waits), ("Loops", report.structure)):
        if isinstance(result, Missing):
            yield f"{name}: not computed", result.reason
    waits = found(report.waits)
    if waits is None:
        return
    for row in waits.coverage["not_computable"]:
        title = TITLES.get(row["metric"], row["metric"].removeprefix("mpi_"))
        yield f"Not computable: {title}", f"{row['reason']}."
    for what, count in waits.coverage["left_out"].items():
        yield "Left out", f"{plural(count, 'row')}: {what}."
    if halves := waits.coverage["half_messages"]:
        yield "Left out", f"{halves:,} messages of which one side is missing."
    if waits.corrected["violations"]:
        events = plural(waits.corrected["violations"], "event")
        worst = format_ns(waits.corrected["worst_ns"])
        yield ("Clocks", f"{events} stamped before the cause, by up to {worst}.")
    for each in verdict_on_waits(waits, report.verdict.checks):
        if each.question == "but":
            yield "Doubt", each.sentence


def _methods(report: Report) -> Iterator[tuple[str, Child]]:
    structure, waits = found(report.structure), found(report.waits)
    if structure is not None:
        said = (
            f"Method {structure.method}: {100 * structure.fidelity:.2f} % of "
            f"{plural(structure.calls, 'call')} come out in order, "
            f"{100 * structure.coverage.calls:.1f} % of them are in the program shown."
        )
        yield "Loops", said
    if waits is not None:
        yield "Waits", "By the definitions of Scalasca, from time stamps as recorded."


def _made(report: Report) -> Iterator[tuple[str, Child]]:
    source = report.source
    by = f", burstline {source.version}, on {source.made}"
    yield "Made by", join(code(source.command), by)
    for path, digest in source.digests.items():
        yield "Trace file", join(code(path), " with SHA-256 ", code(digest))
    for path in source.paths:
        if path not in source.digests:
            yield "Trace", code(path)


def _defects(summary: Summary) -> Html:
    if not (rows := unseen_rows(summary)):
        return heading("Nothing odd was met in the trace, and nothing is missing")
    kinds = plural(len(rows), "kind of thing", "kinds of things")
    shown = table_of(
        rows,
        {
            Column("Severity"): lambda row: row[0],
            Column("What"): lambda row: row[1].replace("_", " "),
            Column("Times", COUNT): lambda row: row[2],
            Column("First, or how long"): lambda row: row[3],
        },
    )
    return join(heading(f"{kinds} in the trace were odd, or could not be seen"), table(shown))
