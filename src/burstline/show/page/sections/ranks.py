"""Time per rank by kind, and the factors of the parallel efficiency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from burstline.columns import Integers
from burstline.quantities import format_ns
from burstline.show.page import charts
from burstline.show.page.html import Attributes, Html, heading, join, share_text, table, tag
from burstline.show.page.kinds import LOOKS, parts_of
from burstline.show.page.report import NothingError, Report, Section, found
from burstline.show.units import range_text
from burstline.show.waits import tree_of
from burstline.timeline import KINDS, Timeline, times_by_rank
from burstline.values import SHARE, TIME, Column, Table, Value, ratio

NAME: Final = "ranks"
LABEL: Final = "Ranks"
EMPTY: Final = "There is no time per rank"
_GOOD: Final = 0.8
"""POP regards efficiencies above this as acceptable."""
_MOST: Final = 64


class RankBar(NamedTuple):
    """A row of the table: a rank or neighbours of it, with the mean time of each kind."""

    name: str
    node: str
    times: Integers


def section(report: Report) -> Section:
    """How long each rank computes, and why that is not all of the time."""
    efficiency, line = report.summary.efficiency, found(report.line)
    if efficiency.parallel is None and line is None:
        raise NothingError(f"There is no time per rank: {efficiency.reason}.")
    rows = [] if line is None else bars(line)
    said = EMPTY
    if rows:
        computing = [int(row.times[KINDS.index("computing")]) for row in rows]
        said = title(computing, [row.name for row in rows])
    return Section(
        said,
        join(
            None if line is None else _times(rows, line),
            _factors(report) if efficiency.parallel is not None else None,
        ),
        {
            "efficiency": efficiency.as_dict(),
            "kinds": [
                {"rank": row.name} | dict(zip(KINDS, row.times.tolist(), strict=True))
                for row in rows
            ],
        },
    )


def title(useful_ns: Sequence[int], names: Sequence[str]) -> str:
    """Who computes most, and how long the others do."""
    most = max(useful_ns)
    if len(useful_ns) == 1:
        return f"The only rank computes {format_ns(most)}"
    if not most:
        return "No rank computes between MPI_Init and MPI_Finalize"
    at = useful_ns.index(most)
    others = [*useful_ns[:at], *useful_ns[at + 1 :]]
    if format_ns(min(others)) == format_ns(most):
        return f"All {len(useful_ns):,} ranks compute {format_ns(most)}"
    who = "the other" if len(others) == 1 else "the others"
    rest = range_text(min(others), max(others))
    if "-" in names[at]:
        return f"Ranks {names[at]} compute {format_ns(most)} in the mean, {who} {rest}"
    return f"Rank {names[at]} computes {format_ns(most)}, {who} {rest}"


def bars(line: Timeline) -> list[RankBar]:
    """The time of each rank by kind, of neighbours together where there are many."""
    times = times_by_rank(line)
    names = "application", "rank", "node"
    places = zip(*(line.locations[name].to_pylist() for name in names), strict=True)
    nodes = {(application, rank): node or "" for application, rank, node in places}
    several = len({application for application, _ in times}) > 1
    shown = [
        RankBar(f"{place[0]}/" * several + str(place[1]), nodes[place], each)
        for place, each in sorted(times.items())
    ]
    by = -(-len(shown) // _MOST)
    if by <= 1:
        return shown
    made = []
    for group in (shown[k : k + by] for k in range(0, len(shown), by)):
        mean = np.rint(np.mean([row.times for row in group], axis=0)).astype(np.int64)
        made.append(RankBar(f"{group[0].name}-{group[-1].name}", "", mean))
    return made


def _times(rows: Sequence[RankBar], line: Timeline) -> Html:
    begin, end = line.baseline_ns
    is_whole = begin > line.first_ns or end < line.last_ns
    between = "from MPI_Init to MPI_Finalize" if is_whole else "that were looked at"
    whole = max((int(row.times.sum()) for row in rows), default=0)
    every = np.array([row.times for row in rows])
    shown = [look for look in LOOKS if every[:, KINDS.index(look.name)].any()]
    has_nodes = len({row.node for row in rows} - {""}) > 1
    columns = [
        Column("Ranks" if "-" in rows[0].name else "Rank"),
        *([Column("Node")] if has_nodes else []),
        Column(f"{format_ns(end - begin)} {between}"),
        *(Column(join(charts.swatch(look.name), " ", look.label), TIME) for look in shown),
    ]

    def cells(name: str, node: str | None, times: Integers) -> list[Any]:
        told = [int(times[KINDS.index(look.name)]) for look in shown]
        picture = charts.stack(parts_of(times), whole, 300, 18, f"rank {name}")
        return [name, *([node] if has_nodes else []), picture, *told]

    means = np.rint(every.mean(axis=0)).astype(np.int64)
    unevenness = [
        Value(every[:, kind].max() / means[kind], ratio(2)) if means[kind] else None
        for kind in (KINDS.index(look.name) for look in shown)
    ]
    sums = [cells("mean", "", means)]
    if len(rows) > 1:
        sums.append(["max / mean", *([""] if has_nodes else []), "", *unevenness])
    note = (
        "All of the time of each rank, its threads together. The largest value of a column is "
        "bold; what was not recorded stands at the end of a bar, hatched."
    )
    block = Table(columns, [cells(*row) for row in rows])
    return tag(
        "div",
        tag("p", note, class_="sub"),
        table(block, kind="ranks", sums=sums if len(rows) > 1 else [], bold=True, alike=True),
        id="times",
    )


def _factors(report: Report) -> Html:
    """The tree of efficiencies."""
    factors = factors_of(report)
    rows = [
        (name, title + " efficiency" * (title == "Communication"), depth)
        for name, title, depth in tree_of(factors)
        if factors.get(name) is not None
    ]
    worst = worst_of(rows, factors)
    value = factors[worst[0]] or 0.0
    said = f"{worst[1]} is the worst factor: {share_text(value)}"
    if value >= _GOOD:
        said = f"No factor is below 80 %; {worst[1].lower()} is least, {share_text(value)}"
    note = (
        "Factors multiply: parallel efficiency is load balance times communication efficiency, "
        "and that is serialisation times transfer, by a replay without costs of the network. "
        "A rank counts from its own MPI_Init to its own MPI_Finalize."
    )
    others = _factors_of_others(report)
    columns = [
        Column("Factor"),
        Column("Run 1" if others else "Value", SHARE),
        *(Column(f"Run {number}", SHARE) for number in range(2, len(others) + 2)),
        Column("0 to 100 %; the tick is 80 %" + " (run 1)" * bool(others)),
        Column("What it says" + " of run 1" * bool(others)),
    ]
    cells = [
        [
            label,
            factors[name],
            *(each.get(name) for each in others),
            charts.bar(
                factors[name], 180, worst=name == worst[0] and value < _GOOD, tick=_GOOD
            ),
            meaning(name, report),
        ]
        for name, label, _ in rows
    ]
    marks: list[Attributes] = [{"class_": "worst" if row == worst else None} for row in rows]
    block = Table(columns, cells, depths=[depth for _, _, depth in rows])
    return tag(
        "div", heading(said, note), table(block, kind="factors", rows=marks), id="factors"
    )


def factors_of(report: Report) -> dict[str, float | None]:
    """Efficiencies by name, as far as they are known."""
    waits = found(report.waits)
    of_waits = {} if waits is None else waits.efficiency
    known = {name: value for name, value in of_waits.items() if value is not None}
    return report.summary.efficiency.factors | known


def _factors_of_others(report: Report) -> list[dict[str, float | None]]:
    """Efficiencies by name of each run behind the first; nothing if there is none."""
    runs = found(report.runs)
    if runs is None:
        return []
    known = [found(waits) for waits in report.others]
    return [
        {**run.factors, **({} if waits is None else waits.efficiency)}
        for run, waits in zip(runs.runs[1:], known, strict=True)
    ]


def worst_of(
    rows: Sequence[tuple[str, str, int]], factors: Mapping[str, float | None]
) -> tuple[str, str, int]:
    """The least of the factors that are no products of others."""
    last = len(rows) - 1
    leaves = [row for k, row in enumerate(rows) if k == last or rows[k + 1][2] <= row[2]]
    return min(leaves, key=lambda row: factors[row[0]] or 0.0)


def meaning(name: str, report: Report) -> str:
    """What a factor says of this run, in its times."""
    efficiency = report.summary.efficiency
    useful, runtime = efficiency.useful_ns, efficiency.runtime_ns
    (_, rank), most = efficiency.busiest
    mean = sum(useful) // max(len(useful), 1)
    texts = {
        "parallel": f"mean computing {format_ns(mean)} of {format_ns(runtime)}",
        "load_balance": f"mean {format_ns(mean)}, most {format_ns(most)} on rank {rank}",
        "communication": f"rank {rank} computes {format_ns(most)} of {format_ns(runtime)}",
        "hybrid": "of all threads: MPI times OpenMP",
        "mpi": "what ranks compute outside MPI, their first threads alone",
        "openmp": "what further threads compute while their rank is outside MPI",
    }
    waits = found(report.waits)
    transfer = None if waits is None else waits.efficiency.get("transfer")
    if transfer is not None:
        ideal = format_ns(round(transfer * runtime))
        texts["serialisation"] = f"{format_ns(most)} of {ideal}: the rest is waiting in turn"
        texts["transfer"] = (
            f"if MPI calls cost nothing, the run would take {ideal}, not {format_ns(runtime)}"
        )
    return texts.get(name, "")
