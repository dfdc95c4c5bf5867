"""Who sends how much to whom, and in which collectives ranks meet."""

from __future__ import annotations

from typing import Final

from burstline.errors import plural
from burstline.quantities import format_bytes, format_ns
from burstline.show.page.html import Html, heading, join, table
from burstline.show.page.report import NothingError, Report, Section
from burstline.summary import Summary
from burstline.values import BYTES, COUNT, SHARE, TIME, Column, Table

NAME: Final = "messages"
LABEL: Final = "Messages"
EMPTY: Final = "Nothing is sent"


def section(report: Report) -> Section:
    """Calls by operation, and what they carry."""
    summary = report.summary
    if not summary.calls:
        raise NothingError("No call of MPI lies in what was read.")
    return Section(title(summary), join(_operations(summary)), summary.as_dict()["calls"])


def title(summary: Summary) -> str:
    """How many messages and collectives there are, and how much they carry."""
    sent = sum(totals.bytes_sent for totals in summary.calls.values())
    collectives = plural(summary.collectives, "collective")
    if not summary.messages:
        return f"No messages, {collectives}, {format_bytes(sent)} sent in all"
    messages = plural(summary.messages, "message")
    return f"{messages} and {collectives} send {format_bytes(sent)} in all"


def _operations(summary: Summary) -> Html:
    whole = sum(totals.time_ns for totals in summary.calls.values()) or 1
    rows = [
        [
            name,
            totals.count,
            totals.time_ns,
            totals.time_ns / whole,
            totals.time_ns / totals.count,
            totals.bytes_sent or None,
            totals.bytes_received or None,
        ]
        for name, totals in summary.calls.items()
    ]
    name, totals = next(iter(summary.calls.items()))
    columns = [
        Column("Operation"),
        Column("Calls", COUNT),
        Column("Time", TIME),
        Column("Of MPI time", SHARE),
        Column("Mean", TIME),
        Column("Sent", BYTES.or_nothing()),
        Column("Received", BYTES.or_nothing()),
    ]
    said = f"{name} takes most of the time in MPI, {format_ns(totals.time_ns)}"
    return join(heading(said), table(Table(columns, rows)))
