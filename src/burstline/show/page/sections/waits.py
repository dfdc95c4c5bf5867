"""Where ranks wait, for whom, and what makes those come late."""

from __future__ import annotations

from typing import Final

import numpy as np

from burstline.answers import between, by_place
from burstline.columns import Integers, sums_by
from burstline.quantities import format_ns
from burstline.show.page import charts
from burstline.show.page.html import Html, heading, join, share_text, table, tag
from burstline.show.page.matrices import matrix
from burstline.show.page.panes import panes
from burstline.show.page.places import WaitPlaces
from burstline.show.page.report import NothingError, Report, Section, needed
from burstline.show.units import thread_text
from burstline.values import SHARE, TIME, Column, Table, table_of
from burstline.waits import METRICS, TITLES, WAITS, Waits, ends_of

NAME: Final = "waits"
LABEL: Final = "Waits"
EMPTY: Final = "Waits are not known"
_MOST: Final = 12
_MOST_RANKS: Final = 16
_ENDS: Final = ("location", "cause_location")  # of a wait: who waits, and for whom


def section(report: Report) -> Section:
    """Kinds of waits, pairs of ranks, places, and single waits."""
    waits = needed(report.waits)
    if not total_ns(waits):
        raise NothingError("Nothing waits: no wait state was found in what the trace tells.")
    places = WaitPlaces(waits)
    baseline = report.summary.baseline
    span = f"{format_ns(baseline.length_ns)} {between(report.summary)}"
    note = (
        f"Only waits that the trace proves. Shares are of the {span}, once for each thread; "
        "waits in MPI_Init and MPI_Finalize have none."
    )
    return Section(
        title(waits),
        join(
            tag("p", note, class_="sub"),
            _kinds(waits, baseline.whole_ns),
            tag("div", _pairs(waits), _ranks(waits), class_="beside"),
            _single(waits, places),
            _by_place(places, _waited_ns(waits, 1), "in", "Where ranks wait", "waiting"),
            _causes(waits, places),
            panes(waits),
        ),
        waits.as_dict(),
    )


def total_ns(waits: Waits) -> int:
    """How long threads wait in all."""
    return sum(int(waits.profile.total(name)) for name in WAITS if name in waits.profile.stored)


def title(waits: Waits) -> str:
    """Which kind of wait is largest, and which rank is waited for most."""
    profile = waits.profile
    present = [name for name in WAITS if name in profile.stored and profile.total(name)]
    largest = max(present, key=profile.total)
    share = share_text(profile.total(largest) / total_ns(waits))
    said = f"{share} of the waiting is {TITLES[largest]}"
    caused = caused_by_rank(waits)
    if len(caused) and caused.max() > 0:
        rank = int(caused.argmax())
        said += f"; rank {rank} is waited for most, {format_ns(int(caused[rank]))}"
    return said


def _waited_ns(waits: Waits, axis: int) -> Integers:
    """How long is waited, by call path (1) or by location (0)."""
    profile = waits.profile
    nothing = np.zeros((profile.locations, profile.call_paths)[axis].num_rows, np.int64)
    stored = [name for name in WAITS if name in profile.stored]
    return sum((profile.exclusive(name).sum(axis=axis) for name in stored), nothing)


def caused_by_rank(waits: Waits) -> Integers:
    """How long others waited in MPI for each rank, ns."""
    ranks, times = (waits.delays[name].to_numpy() for name in ("from", "wait_ns"))
    return sums_by(ranks, times, _ranks_of(waits))


def _ranks_of(waits: Waits) -> int:
    return max([*waits.profile.locations["rank"].to_pylist(), -1]) + 1


def _kinds(waits: Waits, whole_ns: int) -> Html:
    profile, every = waits.profile, total_ns(waits)
    totals = {name: int(profile.total(name)) for name in WAITS if name in profile.stored}
    meanings = {metric.name: metric.description for metric in METRICS}
    kept = ~ends_of(profile)
    rows: list[list[object]] = [
        [
            TITLES[name],
            total,
            int(profile.exclusive(name)[kept].sum()) / whole_ns if whole_ns else None,
            charts.bar(total / every, 160, 10),
            meanings[name],
        ]
        for name, total in sorted(totals.items(), key=lambda item: -item[1])
        if total
    ]
    unknown: list[list[object]] = [
        [TITLES[row["metric"]], None, None, "", f"not computable: {row['reason']}"]
        for row in waits.coverage["not_computable"]
        if row["metric"] in TITLES
    ]
    marks = [{"class_": None}] * len(rows) + [{"class_": "weak"}] * len(unknown)
    columns = [
        *(Column("Wait state"), Column("Time", TIME), Column("Share of time", SHARE)),
        *(Column("Of all waits"), Column("Meaning")),
    ]
    return tag("div", table(Table(columns, rows + unknown), rows=marks), id="kinds")


def _pairs(waits: Waits) -> Html | None:
    delays = waits.delays.to_pylist()
    if not delays:
        return None
    first = delays[0]
    long = format_ns(first["wait_ns"])
    said = f"Rank {first['to']} waits {long} for rank {first['from']}, the most of all pairs"
    cells = {(row["to"], row["from"]): row["wait_ns"] for row in delays}
    axes, sums = ("waits ↓", "for rank →"), ("suffers", "causes")
    shown = matrix(cells, _ranks_of(waits), TIME, axes, sums, go="wait")
    note = "A row waits, a column is waited for."
    return tag("div", heading(said, note), shown, id="pairs")


def _ranks(waits: Waits) -> Html:
    profile = waits.profile
    ranks, threads = (profile.locations[name].to_pylist() for name in ("rank", "thread"))
    waited = _waited_ns(waits, 0)
    cost = np.zeros_like(waited)
    if "delay" in profile.stored:
        cost = profile.exclusive("delay").sum(axis=0)
    order = np.argsort(-(waited + cost), kind="stable").tolist()
    rows = [[thread_text(ranks[k], threads[k]), int(waited[k]), int(cost[k])] for k in order]
    most = int(np.argmax(waited))
    said = f"Rank {ranks[most]} waits longest, {format_ns(int(waited[most]))}"
    note = "What a rank costs others counts chains of waits to their first cause."
    columns = [Column("Rank"), Column("Waits", TIME), Column("Makes others wait", TIME)]
    shown = table(Table(columns, rows), bold=True, most=_MOST_RANKS)
    return tag("div", heading(said, note), shown)


def _single(waits: Waits, places: WaitPlaces) -> Html | None:
    ranks = waits.profile.locations["rank"].to_pylist()
    longest = waits.instances.slice(0, _MOST).to_pylist()
    if not longest:
        return None
    block = table_of(
        longest,
        {
            Column("Wait", TIME): lambda row: row["wait_ns"],
            Column("Rank"): lambda row: " for ".join(str(ranks[row[end]]) for end in _ENDS),
            Column("Kind"): lambda row: TITLES.get(row["metric"], row["metric"]),
            Column("In"): lambda row: places.shown(row["call_path"]),
            Column("The late rank was mostly in"): lambda row: (
                "nothing explains it"
                if row["cause_call_path"] is None
                else places.shown(row["cause_call_path"])
            ),
        },
    )
    marks = [
        {"data_go": f"call:{row['location']}:{row['call']}:{row['start_ns']}"}
        for row in longest
    ]
    long, (waiting, late) = longest[0]["wait_ns"], (ranks[longest[0][end]] for end in _ENDS)
    said = f"The longest single wait is {format_ns(long)}, of rank {waiting} for rank {late}"
    return join(heading(said), table(block, rows=marks))


def _causes(waits: Waits, places: WaitPlaces) -> Html | None:
    """What those do that others wait for: costs of delays."""
    if "delay" not in waits.profile.stored or not waits.profile.total("delay"):
        return None
    caused = waits.profile.exclusive("delay").sum(axis=1)
    return _by_place(places, caused, "caused in", "What late ranks did", "causes")


def _by_place(places: WaitPlaces, values: Integers, verb: str, head: str, anchor: str) -> Html:
    """Call paths with most of something; the sentence is about a line, whoever calls it."""
    order = [row for row in np.argsort(-values, kind="stable").tolist() if values[row] > 0]
    whole = int(values.sum())
    rows = [
        [
            places.shown(row),
            int(values[row]),
            values[row] / whole,
            charts.bar(values[row] / values[order[0]], 120, 10),
        ]
        for row in order[:_MOST]
    ]
    [(place, most), *_] = by_place(places.waits, values.tolist())
    said = f"{share_text(most / whole)} of the waiting is {verb} {places.text(place)}"
    columns = [Column(head), Column("Time", TIME), Column("Share", SHARE), Column("")]
    return tag("div", heading(said), table(Table(columns, rows)), id=anchor)
