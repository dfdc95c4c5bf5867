"""Several runs beside each other: efficiencies and how they scale, and where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, Final

from burstline.comparison import Comparison, verdict
from burstline.efficiency import Scalability, ScaledRun
from burstline.errors import plural
from burstline.merge import Check
from burstline.quantities import format_ns
from burstline.show.options import in_options
from burstline.show.page import charts
from burstline.show.page.html import Html, code, heading, join, share_text, table, tag
from burstline.show.page.report import Missing, NothingError, Report, Section, found
from burstline.show.scaling import PROBLEM, ScalabilityView
from burstline.values import COUNT, SHARE, TIME, Column, Table, Value, ratio, table_of

NAME: Final = "runs"
LABEL: Final = "Runs"
EMPTY: Final = "Runs could not be compared"
_ALIKE: Final = 0.02
"""Efficiencies that differ by less are told as alike."""
_LEAST: Final = 0.0005
_MOST_DIFFERENCES: Final = 12
_INDENT: Final = 2
_POINTS: Final = SHARE._replace(digits=1, signed=True)


def section(report: Report) -> Section:
    """How the runs compare; what would do that, if there is but one."""
    if len(report.source.paths) < 2:
        how = join(
            "With several, this place compares them: ",
            code("burstline report run1.prv run2.prv -o report.html"),
        )
        return Section("One run was given", tag("p", how, class_="sub"), {"runs": 1})
    runs, comparison = found(report.runs), found(report.comparison)
    if runs is None:
        raise NothingError(getattr(report.runs, "reason", ""))
    return Section(
        title(runs.runs),
        join(
            _warnings(runs),
            _names(runs.runs),
            _factors(runs),
            _doubts(runs),
            None if comparison is None else _differences(comparison),
            _bursts(report.bursts),
        ),
        ScalabilityView(runs).document()
        | {
            "comparison": None if comparison is None else comparison.as_dict(),
            "bursts": None if (same := found(report.bursts)) is None else same.as_dict(),
        },
    )


def title(runs: Sequence[ScaledRun]) -> str:
    """Which run differs most from the first, from MPI_Init to MPI_Finalize, and how."""
    first, others = runs[0], runs[1:]
    number, other = max(
        enumerate(others, start=2),
        key=lambda item: abs(item[1].efficiency.runtime_ns - first.efficiency.runtime_ns),
    )
    before, after = (format_ns(run.efficiency.runtime_ns) for run in (first, other))
    name = "the other" if len(others) == 1 else f"run {number}"
    said = f"Run 1 takes {before} on {plural(first.ranks, 'rank')}, {name} {after}"
    if other.ranks != first.ranks:
        said += f" on {other.ranks:,}"
    ours, theirs = (run.factors["global"] for run in (first, other))
    if ours is None or theirs is None:
        return said
    if abs(theirs - ours) < _ALIKE:
        return f"{said}; both are {share_text(ours)} efficient"
    verb = "falls" if theirs < ours else "rises"
    return f"{said}; global efficiency {verb} from {share_text(ours)} to {share_text(theirs)}"


def _warnings(runs: Scalability) -> Html | None:
    """Why the runs may not be comparable, before anything is compared."""
    if not runs.warnings:
        return None
    said = [f"{each[:1].upper()}{each[1:]}." for each in map(in_options, runs.warnings)]
    alarms = (tag("p", each, class_="alarm") for each in said)
    return join(heading("These runs may not be comparable"), *alarms)


def _names(runs: Sequence[ScaledRun]) -> Html:
    most = max(run.efficiency.runtime_ns for run in runs) or 1
    rows = [
        [
            f"Run {number}",
            run.path,
            run.ranks,
            Value(run.efficiency.runtime_ns, TIME),
            charts.bar(run.efficiency.runtime_ns / most, 240, 10),
        ]
        for number, run in enumerate(runs, start=1)
    ]
    columns = [
        Column(""), Column("Trace"), Column("Ranks", COUNT),
        Column("MPI_Init to MPI_Finalize", TIME), Column(""),
    ]  # fmt: skip
    return table(Table(columns, rows, left=2))


def _factors(runs: Scalability) -> Html:
    """The factors of each run; a run is better than the first where a ratio is above 100 %."""
    view = ScalabilityView(runs)
    names = [f"Run {number}" for number in range(1, len(runs.runs) + 1)]
    cells: list[list[Any]] = []
    depths: list[int] = []
    falls: list[float] = []
    for name, notation, figure in [*view.amounts(), *view.shares()]:
        values = [figure(run) for run in runs.runs]
        shown = name.strip()
        cells.append([f"{shown[:1].upper()}{shown[1:]}", *(Value(v, notation) for v in values)])
        depths.append((len(name) - len(name.lstrip())) // _INDENT)
        is_factor = notation is SHARE and depths[-1] and values[0] and values[-1] is not None
        falls.append(values[-1] / values[0] if is_factor else 1.0)  # type: ignore[operator]
    said = f"{runs.scaling.capitalize()} scaling: {in_options(PROBLEM[runs.scaling])}"
    marks: list[dict[str, str]] = [{} for _ in cells]
    # what is a product of others falls because of them
    leaves = [k for k, depth in enumerate(depths) if depth >= (depths[k + 1 :] or [0])[0]]
    worst = min(leaves, key=lambda k: falls[k])
    if falls[worst] < 1 - _ALIKE:
        marks[worst] = {"class_": "worst"}
        was, now = (cells[worst][column].value for column in (1, -1))
        what = str(cells[worst][0])
        said = f"{what} falls most, from {share_text(was)} to {share_text(now)}"
    columns = [Column("Factor"), *(Column(name, SHARE) for name in names)]
    note = " ".join(line.strip() for line in view.legend())
    block = Table(columns, cells, depths=depths)
    return join(heading(said, note), table(block, kind="factors", rows=marks))


def _doubts(runs: Scalability) -> Html | None:
    """What could not be computed, and why."""
    if not runs.not_computable:
        return None
    said = []
    for names, reason in runs.not_computable:
        told = ", ".join(name.replace("_", " ") for name in names)
        text = f"Not computed: {told}: {in_options(reason).rstrip('.')}."
        said.append(tag("p", text, class_="sub"))
    return join(*said)


def _differences(comparison: Comparison) -> Html:
    """How alike the runs divide their time, and where they differ most."""
    least, names = comparison.least, comparison.names
    columns = [
        Column("Metric"), Column("In"),
        Column(names[least.first], SHARE), Column(names[least.second], SHARE),
        Column("Difference", _POINTS),
    ]  # fmt: skip
    differ = islice(comparison.differences(), _MOST_DIFFERENCES)
    rows = [
        [comparison.titles[metric], " > ".join(call_path[-3:]), a, b, b - a]
        for metric, call_path, (a, b) in differ
        if abs(a - b) >= _LEAST
    ]
    score = f"{names[least.first]} and {names[least.second]}"
    alike = share_text(comparison.j_mc)
    said = f"{score[:1].upper()}{score[1:]} divide their time alike to {alike}"
    if len(comparison.pairs) > 1:
        said = f"{said}, the least of all pairs"
    pairs = [
        [f"{names[pair.first]} and {names[pair.second]}", pair.j_mc]
        for pair in sorted(comparison.pairs, key=lambda pair: pair.j_mc)
    ]
    scored = Table([Column("Pair"), Column("J", SHARE)], pairs, "How alike each two are")
    return join(
        heading(said, verdict(comparison)),
        table(Table(columns, rows, left=2)) if rows else None,
        table(scored, most=_MOST_DIFFERENCES) if len(pairs) > 1 else None,
    )


def _bursts(made: Check | Missing) -> Html:
    """Which bursts the runs have in common, and how much these differ."""
    if isinstance(made, Missing):
        why = in_options(made.reason)
        return heading("Bursts of the runs are not compared", f"{why[:1].upper()}{why[1:]}.")
    said = f"{share_text(made.match_rate)} of the bursts are in all runs"
    every = [*made.counters, *made.features]
    for quality in every:
        if quality.name == "duration" and quality.per_run:
            most = max(spread.median for spread in quality.per_run)
            said += f"; half of them last {share_text(most)} longer or shorter, or more"
    shown = table_of(
        every,
        {
            Column("Of a burst"): lambda quality: quality.name,
            Column("Bursts", COUNT): lambda quality: quality.bursts,
            Column("Correlation", ratio(2)): lambda quality: quality.correlation,
            Column("Mean difference", SHARE): lambda quality: quality.relative_difference,
            Column("Within 30 %", SHARE): lambda quality: quality.below_30,
            Column("To merge it"): lambda quality: quality.verdict,
        },
    )
    boxes = [
        (
            f"{quality.name} of run {spread.run + 1}",
            [spread.low, spread.lower, spread.median, spread.upper, spread.high],
        )
        for quality in every
        for spread in quality.per_run
        if spread.high > 0
    ]
    note = (
        "Bursts are matched by the order and the places of the calls around them; "
        "burstline check-merge says more."
    )
    parts = [heading(said, note), table(shown)]
    if boxes:
        parts += [
            heading("How far bursts are from those of run 1, by what they have there"),
            charts.boxes(boxes[:_MOST_DIFFERENCES], 1200, lambda share: f"{100 * share:g} %"),
        ]
    return join(*parts)
