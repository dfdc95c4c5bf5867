"""What ``burstline check-merge`` shows: figures and a verdict for each counter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from burstline.errors import plural
from burstline.merge import DO_NOT_USE, NO_INFORMATION, TRUST, WITH_CARE, Check, CounterQuality
from burstline.quantities import format_share
from burstline.show.blocks import Block, Facts, Lines
from burstline.show.pictures.quality import notation_of, quality_plot
from burstline.show.views import Figure, Rows, View
from burstline.values import COUNT, SHARE, Column, Notation, Table, Value, ratio, table_of

_STYLES: Final = {NO_INFORMATION: "dim", TRUST: "green", WITH_CARE: "yellow", DO_NOT_USE: "red"}
_FIGURES: Final = (
    *("correlation", "mae", "relative_difference", "below_30", "of_total"),
    *("bursts", "counted", "fenced_mae", "fenced_relative", "verdict"),
)
_ALIKE: Final = ("sizes", "partner")
_FEW: Final = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class CheckView(View):
    """How well the runs of `paths` agree, with the `top` places where each counter differs."""

    result: Check
    paths: Sequence[str] = ()
    top: int = 5

    def rows(self) -> Rows:
        """Figures and verdict of each counter and feature."""
        kinds = (("counter", self.result.counters), ("feature", self.result.features))
        rows = (
            [kind, each.name, *(getattr(each, figure) for figure in _FIGURES)]
            for kind, qualities in kinds
            for each in qualities
        )
        return ["kind", "name", *_FIGURES], rows

    def figures(self) -> Mapping[str, Figure]:
        """Boxes, correlations and scatter plots."""
        title = ", ".join(Path(path).name for path in self.paths)
        return {"quality": lambda form: quality_plot(self.result, form=form, title=title)}

    def blocks(self) -> Iterator[Block]:
        """What matched, the verdicts, the differences of each run, and where they are."""
        check = self.result
        yield Facts(_facts(check, self.paths))
        yield from _qualities(check.counters, "Counters", "COUNTER")
        yield from _qualities(check.features, "Bursts", "FEATURE")
        yield from _runs(check)
        if check.by:
            yield from _places(check, self.top)


def _qualities(qualities: Sequence[CounterQuality], title: str, head: str) -> Iterator[Block]:
    """The figures of counters or features, and what decided the verdicts."""
    yield table_of(
        qualities,
        {
            Column(head): lambda each: each.name,
            Column("VERDICT"): _verdict,
            Column("CORRELATION", ratio(3)): lambda each: each.correlation,
            Column("MAE"): lambda each: Value(each.mae, _notation(each.name)),
            Column("REL DIFF", ratio(3)): lambda each: each.relative_difference,
            Column("BELOW 30 %", SHARE): lambda each: each.below_30,
            Column("OF TOTAL", SHARE): lambda each: each.of_total,
            Column("COUNTED IN", COUNT): lambda each: each.counted,
            Column("FENCED: MAE", COUNT): lambda each: each.fenced_mae,
            Column("REL", COUNT): lambda each: each.fenced_relative,
        },
        title,
        left=2,
        styles=[_STYLES[each.verdict] for each in qualities],
    )
    decided = [
        f"  {each.name}: {each.verdict}, because {', '.join(_reasons(each))}"
        for each in qualities
        if each.decided_by
    ]
    if decided:
        yield Lines(["", *decided])


def _reasons(each: CounterQuality) -> Iterator[str]:
    """The figures that kept a verdict from being better, and their limits."""
    for figure, value, limit in each.decided_by:
        if figure == "counted":
            yield "the base counted nothing in any burst that others counted in"
        elif figure == "close":
            also = f", with {plural(each.appearing, 'burst')} counted by others alone,"
            share = f"{format_share(value)}{also if each.appearing else ''}"
            yield f"below 30 % {share} < {format_share(limit)}"
        elif figure == "correlation":
            yield f"correlation {value:.3f} < {limit:.2f}"
        elif figure == "of_total":
            yield f"of total {format_share(value)} > {format_share(limit)}"
        else:
            yield f"rel diff {value:.3f} > {limit:.2f}"


def _verdict(each: CounterQuality) -> str:
    is_zero = each.verdict == NO_INFORMATION and each.bursts
    return f"{each.verdict}: always 0" if is_zero else each.verdict


def doubts(check: Check) -> list[str]:
    """What speaks against the matching itself, rather than against a counter."""
    doubts = []
    if check.match_rate < _FEW:
        doubts.append(
            f"only {format_share(check.match_rate)} of the bursts were matched: the runs did "
            "different things, and figures speak of what they have in common alone"
        )
    cut = [str(run + 1) for run, is_cut in enumerate(check.matching.is_cut.tolist()) if is_cut]
    if cut:
        doubts.append(
            f"run {', '.join(cut)} was cut: ranks of it lack MPI_Init or MPI_Finalize that "
            "others have, and figures speak of the rest"
        )
    unlike = [
        each.name
        for each in check.features
        if each.name in _ALIKE and each.verdict in {WITH_CARE, DO_NOT_USE}
    ]
    if unlike:
        doubts.append(
            f"matched bursts differ in {' and '.join(unlike)}: some matches may be wrong, "
            "so that counters may repeat better than these figures say"
        )
    return doubts


def _facts(check: Check, paths: Sequence[str]) -> list[tuple[str, str]]:
    matching = check.matching
    facts = [("matched", f"{format_share(check.match_rate)} of the bursts ({matching.method})")]
    for run, path in enumerate(paths):
        share = format_share(float(matching.match_rate[run]))
        base = ", base" if run == matching.base else ""
        if matching.runs > 2:
            share += f" matched, {format_share(float(matching.base_rate[run]))} in the base"
        else:
            share += " matched"
        bursts = plural(int(matching.bursts[run]), "burst")
        facts.append((f"run {run + 1}", f"{Path(path).name}: {bursts}, {share}{base}"))
    if check.alone:
        facts.append(("in one run only", ", ".join(check.alone)))
    return facts


def _notation(name: str) -> Notation:
    """How a mean error of a counter or feature is told."""
    return ratio(3) if name in {"position", "partner"} else notation_of(name)


def _runs(check: Check) -> Iterator[Table]:
    every = (*check.counters, *check.features)
    runs = [(each.name, spread) for each in every for spread in each.per_run]
    cells: dict[Column, Any] = {
        Column("OF"): lambda run: run[0],
        Column("RUN"): lambda run: run[1].run + 1,
        Column("MEDIAN", ratio(3)): lambda run: run[1].median,
        Column("QUARTILES"): lambda run: f"{run[1].lower:.3f} .. {run[1].upper:.3f}",
        Column("WHISKERS"): lambda run: f"{run[1].low:.3f} .. {run[1].high:.3f}",
        Column("BEYOND", COUNT): lambda run: run[1].outliers,
        Column("BURSTS", COUNT): lambda run: run[1].bursts,
    }
    if runs:
        yield table_of(runs, cells, "Relative difference to the first run")


def _places(check: Check, top: int) -> Iterator[Table]:
    cells: dict[Column, Any] = {
        Column("OF ITS DIFFERENCE", SHARE): lambda one: one.share,
        Column("WHERE"): lambda one: _short(one.place),
        Column("OF TOTAL", SHARE): lambda one: one.difference,
        Column("BELOW 30 %", SHARE): lambda one: one.below_30,
        Column("BURSTS", COUNT): lambda one: one.bursts,
    }
    for each in check.counters:
        places = [one for one in check.variations if one.counter == each.name][:top]
        if places:
            yield table_of(places, cells, f"Where {each.name} differs", left=2)


def _short(place: str) -> str:
    """Leave the innermost frames of call paths."""
    sides = []
    for side in place.split(" → "):
        operation, _, path = side.partition(" ")
        innermost = path.rsplit(";", 1)[-1]
        sides.append(f"{operation} {innermost}".strip() if path else side)
    return " → ".join(sides)
