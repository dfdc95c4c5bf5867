"""Who sends how much to whom, and in which collectives ranks meet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from burstline.collectives import Collectives
from burstline.columns import Integers
from burstline.errors import plural
from burstline.matrix import Matrix
from burstline.quantities import format_bytes, format_ns
from burstline.show.code_lines import partner_text
from burstline.show.page.html import Html, code, heading, join, share_text, table, tabs, tag
from burstline.show.page.matrices import matrix
from burstline.show.page.report import Missing, NothingError, Report, Section, found
from burstline.structure import Call, Structure, compact
from burstline.structure import walk as nodes_of
from burstline.summary import Summary
from burstline.values import BYTES, COUNT, SHARE, TIME, Column, Notation, Table, document

NAME: Final = "messages"
LABEL: Final = "Messages"
EMPTY: Final = "Nothing is sent"
_NO_LAW: Final = "no law is seen"
_MOST_LAWS: Final = 16
_MOST_OPERATIONS: Final = 24


def section(report: Report) -> Section:
    """Messages by pair of ranks, their laws, collectives, and calls by operation."""
    summary = report.summary
    if not summary.calls:
        raise NothingError("No call of MPI lies in what was read.")
    sent, met = found(report.matrix), found(report.collectives)
    structure = found(report.structure)
    laws = [] if structure is None else _laws(structure)
    return Section(
        title(summary),
        join(
            tag(
                "div", _pairs(report.matrix), _collectives(report.collectives), class_="beside"
            ),
            _partners(structure, laws) if structure is not None and laws else None,
            _operations(summary),
        ),
        {
            "calls": summary.as_dict()["calls"],
            "matrix": None if sent is None else document(sent),
            "collectives": None if met is None else document(met.operations),
            "partners": laws,
        },
    )


def title(summary: Summary) -> str:
    """How many messages and collectives there are, and how much they carry."""
    sent = sum(totals.bytes_sent for totals in summary.calls.values())
    collectives = plural(summary.collectives, "collective")
    if not summary.messages:
        return f"No messages, {collectives}, {format_bytes(sent)} sent in all"
    messages = plural(summary.messages, "message")
    return f"{messages} and {collectives} send {format_bytes(sent)} in all"


def _pairs(made: Matrix | Missing) -> Html:
    """The matrix of messages, by bytes, by number and by time."""
    if isinstance(made, Missing):
        return tag("div", heading("No messages by pair of ranks", _sentence(made)))
    shown = [
        ("Bytes", _cells(made.sent_bytes, made.names(), BYTES)),
        ("Messages", _cells(made.messages, made.names(), COUNT)),
        ("Time", _cells(made.time_ns, made.names(), TIME)),
    ]
    note = (
        "A row sends, a column receives; time is from when both sides were there. "
        "What collectives send is not in it."
    )
    if made.others:
        note += f" {plural(made.others, 'message')} of another application are left out."
    return tag("div", heading(pairs_title(made), note), tabs("pairs", shown))


def pairs_title(made: Matrix) -> str:
    """Which pair of ranks sends most, and to how many a rank sends."""
    sent, names = made.sent_bytes, made.names()
    row, column = (int(k) for k in np.unravel_index(int(sent.argmax()), sent.shape))
    many = (made.messages > 0).sum(axis=1)
    many = many[many > 0]
    low, high = int(many.min()), int(many.max())
    to = plural(high, "rank") if low == high else f"{low} to {high} ranks"
    most = format_bytes(int(sent.max()))
    if any("-" in name for name in names):
        return f"Ranks {names[row]} send {most} to ranks {names[column]}, the most of all"
    pair = f"Rank {names[row]} sends {most} to rank {names[column]}"
    return f"{pair}, the most of all pairs; a sender reaches {to}"


def _cells(values: Integers, names: list[str], notation: Notation) -> Html:
    places = np.argwhere(values).tolist()
    cells = {(row, column): int(values[row, column]) for row, column in places}
    axes, sums = ("from ↓", "to rank →"), ("sent", "received")
    return matrix(cells, len(names), notation, axes, sums, names=names)


def _collectives(made: Collectives | Missing) -> Html:
    """Operations on communicators, and who comes last."""
    if isinstance(made, Missing):
        return tag("div", heading("No collectives", _sentence(made)))
    first = made.operations[0]
    most = f"{first.operation} takes {format_ns(first.inside_ns)}"
    said = f"{most}, of that {format_ns(first.early_ns)} until its last member came"
    note = "Times are sums over members; a member that comes last waits for nobody."
    columns = [
        Column("Collective"), Column("Communicator"), Column("Times", COUNT),
        Column("Per rank", BYTES), Column("Before the last", TIME), Column("In the call", TIME),
        Column("Last to come"),
    ]  # fmt: skip
    rows = [
        [each.operation, each.communicator, each.count, each.rank_bytes or None, each.early_ns,
         each.inside_ns, each.last_text]
        for each in made.operations
    ]  # fmt: skip
    return tag(
        "div",
        heading(said, note),
        table(Table(columns, rows), most=_MOST_OPERATIONS, alike=True),
    )


def _laws(structure: Structure) -> list[dict[str, Any]]:
    """The calls that send or receive, each with what is known of its partners."""
    return [
        {
            "operation": item.operation,
            "place": str(item.caller) if item.caller else "",
            "ranks": list(item.ranks),
            "calls": int(item.executions.sum()),
            "mean_bytes": item.size_bytes,
            "law": item.partners.law and item.partners.law.text,
            "share": item.partners.law and item.partners.law.share,
            "partners": partner_text(item),
            "count": item.partners.count,
        }
        for item, _ in nodes_of(structure.items)
        if isinstance(item, Call) and item.partners.count
    ]


def _partners(structure: Structure, laws: Sequence[Mapping[str, Any]]) -> Html:
    """Whom calls exchange messages with: one row for each operation and law."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for law in laws:
        told = law["partners"] if law["law"] else _NO_LAW
        groups.setdefault((law["operation"], told), []).append(law)
    has_places = any(law["place"] for law in laws)
    cells: list[list[Any]] = [
        [
            name,
            told,
            compact(sorted({rank for law in each for rank in law["ranks"]})),
            *([_places([law["place"] for law in each])] if has_places else []),
            _mean_size(each),
            sum(law["calls"] for law in each),
        ]
        for (name, told), each in groups.items()
    ]
    cells.sort(key=lambda row: (row[1] == _NO_LAW, -row[-1]))
    obeying = sum(row[-1] for row in cells if row[1] != _NO_LAW)
    share = share_text(obeying / sum(row[-1] for row in cells))
    said = f"{share} of the calls that send or receive follow a law of ranks"
    if not obeying:
        said = "No law of ranks is seen in whom calls send to or receive from"
    if (grid := structure.grid) is not None:
        to_neighbours = f"{share_text(grid.share)} of the messages go to neighbours"
        said = f"Ranks are {grid.text}: {to_neighbours}"
    columns = [
        Column("Operation"), Column("Partner of a rank"), Column("Ranks"),
        *([Column("Called from")] if has_places else []),
        Column("Mean size", BYTES.or_nothing()), Column("Calls", COUNT),
    ]  # fmt: skip
    note = (
        "A law holds for 99 % of the messages of a call, or more. "
        "Of a call that one rank makes no law is seen."
    )
    return join(heading(said, note), table(Table(columns, cells), most=_MOST_LAWS))


def _places(places: Iterable[str]) -> Html:
    """The first of some places, and how many more there are."""
    first, *others = dict.fromkeys(places)
    more = f" and {plural(len(others), 'more line')}" if others else ""
    return join(code(first), tag("span", more, class_="dim"))


def _mean_size(calls: Sequence[Mapping[str, Any]]) -> float | None:
    sized = [call for call in calls if call["mean_bytes"] is not None]
    whole = sum(call["calls"] for call in sized)
    return sum(call["mean_bytes"] * call["calls"] for call in sized) / whole if whole else None


def _sentence(made: Missing) -> str:
    return f"{made.reason[:1].upper()}{made.reason[1:].rstrip('.')}."


def _operations(summary: Summary) -> Html:
    whole = sum(totals.time_ns for totals in summary.calls.values()) or 1
    rows = [
        [name, made.count, made.time_ns, made.time_ns / whole, made.time_ns / made.count,
         made.bytes_sent or None, made.bytes_received or None]
        for name, made in summary.calls.items()
    ]  # fmt: skip
    name, totals = next(iter(summary.calls.items()))
    columns = [
        Column("Operation"), Column("Calls", COUNT), Column("Time", TIME),
        Column("Of MPI time", SHARE), Column("Mean", TIME), Column("Sent", BYTES.or_nothing()),
        Column("Received", BYTES.or_nothing()),
    ]  # fmt: skip
    said = f"{name} takes most of the time in MPI, {format_ns(totals.time_ns)}"
    return join(heading(said), table(Table(columns, rows)))
