"""Time per rank, and the factors of the parallel efficiency."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from burstline.quantities import format_ns
from burstline.show.page import charts
from burstline.show.page.html import Html, heading, join, share_text, table
from burstline.show.page.report import NothingError, Report, Section, found
from burstline.values import SHARE, Column, Table

NAME: Final = "ranks"
LABEL: Final = "Ranks"
EMPTY: Final = "There is no time per rank"
_GOOD: Final = 0.8
"""POP regards efficiencies above this as acceptable."""
_SERIAL: Final = (
    ("parallel", "Parallel efficiency", 0),
    ("load_balance", "Load balance", 1),
    ("communication", "Communication efficiency", 1),
    ("serialisation", "Serialisation", 2),
    ("transfer", "Transfer", 2),
)
_HYBRID: Final = (
    ("hybrid", "Parallel efficiency", 0),
    ("mpi", "MPI", 1),
    ("mpi_load_balance", "Load balance", 2),
    ("communication", "Communication efficiency", 2),
    ("serialisation", "Serialisation", 3),
    ("transfer", "Transfer", 3),
    ("openmp", "OpenMP", 1),
    ("openmp_load_balance", "Load balance", 2),
    ("openmp_communication", "Communication efficiency", 2),
)


def section(report: Report) -> Section:
    """How long each rank computes, and why that is not all of the time."""
    efficiency = report.summary.efficiency
    if efficiency.parallel is None:
        raise NothingError(f"There is no efficiency: {efficiency.reason}.")
    return Section(
        title(efficiency.useful_ns, efficiency.ranks, efficiency.runtime_ns),
        join(_factors(report)),
        {"efficiency": efficiency.as_dict()},
    )


def title(
    useful_ns: tuple[int, ...], ranks: tuple[tuple[int, int], ...], runtime_ns: int
) -> str:
    """Who computes most, how long the others do, and that this is much or little."""
    if len(useful_ns) == 1:
        return f"The only rank computes {format_ns(useful_ns[0])} of {format_ns(runtime_ns)}"
    most = max(useful_ns)
    at = useful_ns.index(most)
    others = [*useful_ns[:at], *useful_ns[at + 1 :]]
    low, high = min(others), max(others)
    rest = f"the others {format_ns(low)} to {format_ns(high)}"
    if format_ns(low) == format_ns(high):
        rest = (
            f"the other {format_ns(low)}"
            if len(others) == 1
            else f"the others {format_ns(low)}"
        )
    return f"Rank {ranks[at][1]} computes {format_ns(most)}, {rest} of {format_ns(runtime_ns)}"


def _factors(report: Report) -> Html:
    """The tree of efficiencies."""
    waits = found(report.waits)
    factors: Mapping[str, float | None] = report.summary.efficiency.factors
    if waits is not None:
        factors = {**factors, **{k: v for k, v in waits.efficiency.items() if v is not None}}
    shown = _HYBRID if factors.get("hybrid") is not None else _SERIAL
    rows = [
        (name, label, depth) for name, label, depth in shown if factors.get(name) is not None
    ]
    leaves = [
        row for k, row in enumerate(rows) if k + 1 == len(rows) or rows[k + 1][2] <= row[2]
    ]
    worst = min(leaves, key=lambda row: factors[row[0]] or 0.0)
    value = factors[worst[0]]
    said = f"{worst[1]} is the worst factor: {share_text(value)}"
    if (value or 0) >= _GOOD:
        said = (
            f"No factor is below 80 %; the least is {worst[1].lower()} with {share_text(value)}"
        )
    block = Table(
        [
            Column("Factor"),
            Column("Value", SHARE),
            Column("0 to 100 %; the tick is 80 %"),
            Column("What it says"),
        ],
        [
            [
                label,
                factors[name],
                charts.bar(factors[name], 180, worst=(name, label, depth) == worst, tick=_GOOD),
                meaning(name, report),
            ]
            for name, label, depth in rows
        ],
        depths=[depth for _, _, depth in rows],
    )
    note = (
        "Factors multiply: parallel efficiency is load balance times communication efficiency, "
        "and that is serialisation times transfer, by a replay on a network that costs nothing."
    )
    marks: list[Mapping[str, str | bool | None]] = [
        {"class_": "worst" if row == worst else None} for row in rows
    ]
    return join(heading(said, note), table(block, kind="factors", rows=marks))


def meaning(name: str, report: Report) -> str:
    """What a factor says of this run, in its times."""
    efficiency = report.summary.efficiency
    useful, runtime = efficiency.useful_ns, efficiency.runtime_ns
    most = max(useful, default=0)
    rank = efficiency.ranks[useful.index(most)][1] if useful else 0
    mean = sum(useful) // max(len(useful), 1)
    texts = {
        "parallel": f"mean computing {format_ns(mean)} of {format_ns(runtime)}",
        "load_balance": f"mean {format_ns(mean)}, most {format_ns(most)} on rank {rank}",
        "communication": f"rank {rank} computes {format_ns(most)} of {format_ns(runtime)}",
    }
    waits = found(report.waits)
    transfer = None if waits is None else waits.efficiency.get("transfer")
    if transfer is not None:
        ideal = format_ns(round(transfer * runtime))
        texts["serialisation"] = (
            f"{format_ns(most)} of {ideal}: what ranks wait for in turn is missing to 100 %"
        )
        texts["transfer"] = (
            f"if MPI calls cost nothing, the run would take {ideal}, not {format_ns(runtime)}"
        )
    texts["hybrid"] = "mean computing of all threads"
    texts["openmp"] = "what threads do not compute while their process is outside MPI"
    return texts.get(name, "")
