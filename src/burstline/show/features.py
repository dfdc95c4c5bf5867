"""Features of loops on the terminal and for programs: factor map, importance, accuracy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from burstline.columns import Integers
from burstline.errors import plural
from burstline.quantities import format_share
from burstline.show.blocks import Block, Facts
from burstline.show.pictures.factors import factor_plot
from burstline.show.views import Figure, Rows, View, columns_of
from burstline.studies import Accuracy, FactorMap, Features, Importance, Labels
from burstline.values import AMOUNT, COUNT, SHARE, TIME, Column, Table, Value, ratio, table_of

_METHODS: Final = {"seed": "published", "exact": "exact"}
_MOST_LOOPS: Final = 20
_SOURCES: Final = {"events": "labels of the calls", "regions": "loops that were recorded"}
_COMPARED_AS_RATIOS: Final = ("iterations", "iteration time")
_PLAIN_NAMES: Final = {"iteration time": "iteration_time_ns"}


@dataclass(frozen=True, slots=True, eq=False)
class StudyView(View):
    """What is known about the features of the loops of one trace."""

    result: Features
    kind: str  # what its rows are: calls or loops
    ranks: Integers  # of each lane
    labels: Labels | None  # the loops of the source; None if the trace does not know them
    factors: FactorMap | None  # how the variables go together
    importance: Importance | None  # how much each of them tells about the loop of a call
    accuracies: tuple[Accuracy, ...]  # against the source, of the method asked for first
    missing: tuple[str, ...]  # why something is None, as sentences
    title: str = ""  # what the picture is of

    def document(self) -> dict[str, Any]:
        """All but the features of each call."""
        features, labels = self.result, self.labels
        return {
            "rows": self.kind,
            "scale": features.scale,
            "variables": {name: features.made_of.get(name) for name in features.names},
            "unknown": list(features.unknown),
            "unique_calls": {
                "compared": len(features),
                "once": features.once,
                "unread": features.unread,
            },
            "labels": None if labels is None else labels.source,
            "factors": None if self.factors is None else self.factors.as_dict(),
            "importance": None if self.importance is None else self.importance.as_dict(),
            "accuracy": [each.as_dict() for each in self.accuracies],
            "missing": list(self.missing),
        }

    def rows(self) -> Rows:
        """What was measured of each call or loop, not its logarithms."""
        ratios = _COMPARED_AS_RATIOS if self.result.scale == "log" else ()
        rows = []
        for row in self.result.rows(self.ranks):
            measured: dict[str, Any] = {}
            for name, value in row.items():
                plain = float(f"{10.0**value:.12g}") if name in ratios else value
                measured[_PLAIN_NAMES.get(name, name)] = plain
                if name == "loop":
                    measured["loop_name"] = self.result.loop_names.get(value)
            rows.append(measured)
        return columns_of(rows)

    def figures(self) -> Mapping[str, Figure]:
        """The map of the variables, where there is one."""
        factors = self.factors
        if factors is None:
            return {}
        return {"factors": lambda form: factor_plot(factors, form=form, title=self.title)}

    def blocks(self) -> Iterator[Block]:
        """What is known, each variable, and the loops that were detected."""
        yield Facts(_facts(self))
        yield _variables(self)
        if self.accuracies:
            yield table_of(
                self.accuracies,
                {
                    Column("METHOD"): lambda each: _METHODS.get(each.method, each.method),
                    Column("ADJUSTED RAND", ratio(4)): lambda each: each.adjusted_rand,
                    Column("BY UNIQUE CALL", ratio(4)): lambda each: each.adjusted_rand_unique,
                    Column("LOOPS FOUND", COUNT): lambda each: each.loops_found,
                    Column("IN THE SOURCE", COUNT): lambda each: each.loops_labelled,
                },
                "Detected loops against those of the source",
            )
            yield _overlaps(self.accuracies[0])


def _facts(study: StudyView) -> Iterator[tuple[str, str]]:
    features, labels = study.result, study.labels
    left_out = [(features.once, "executed once"), (features.unread, "without their counters")]
    apart = [f"{count:,} {why}" for count, why in left_out if count]
    noun = {"calls": "unique call", "loops": "loop"}[study.kind]
    beside = f", {' and '.join(apart)} left out" if apart else ""
    yield "features", f"{len(features.names)} of {plural(len(features), noun)}{beside}"
    if features.unknown:
        yield "unknown", f"no counter of the trace gives {', '.join(features.unknown)}"
    if labels is not None:
        calls = len(labels.loop)
        labelled = f"{calls - labels.unlabelled:,} of {plural(calls, 'call')}"
        yield "labels", f"{_SOURCES[labels.source]}, {labelled}"
    if study.factors is not None:
        first, second = [*study.factors.explained[:2].tolist(), 0.0][:2]
        shares = f"{format_share(first)} and {format_share(second)}"
        yield "components", f"the first two hold {shares} of the variance"
        if study.factors.constant:
            yield "constant", ", ".join(study.factors.constant)
    if study.importance is not None:
        yield "forest", _forest(study.importance)
    for reason in study.missing:
        yield "missing", reason


def _forest(importance: Importance) -> str:
    grown = (
        f"{plural(importance.rows, 'call')} in {plural(importance.loops, 'loop')} or outside"
    )
    if not importance.tested:
        return f"{grown}; nothing to test on, as no loop has two call sites"
    right = f"{format_share(importance.accuracy)} of {plural(importance.tested, 'call')}"
    chance = format_share(importance.by_chance)
    return f"{grown}; {right} of unseen sites put right, {chance} by chance"


def _variables(study: StudyView) -> Table:
    features, factors, forest = study.result, study.factors, study.importance
    columns = [Column("VARIABLE"), Column("MADE OF"), Column("MEAN", AMOUNT)]
    if factors:
        signed = ratio(2, signed=True)
        columns += [Column("1ST", signed), Column("2ND", signed), Column("ON MAP", SHARE)]
    if forest:
        columns += [Column("IMPURITY", ratio(3)), Column("PERMUTATION", ratio(3, signed=True))]
    rows: list[list[object]] = []
    for number, name in enumerate(features.names):
        row: list[object] = [name, features.made_of.get(name, ""), _mean(features, number)]
        if factors:
            row += _on_map(factors, name)
        if forest:
            loss = float(forest.permutation[number])
            row += [forest.impurity[number], None if np.isnan(loss) else loss]
        rows.append(row)
    return Table(columns, rows, "Features", left=2)


def _mean(features: Features, number: int) -> Value:
    mean = float(features.values[:, number].mean()) if len(features) else 0.0
    if number < 2 and features.scale == "log":
        mean = 10**mean
    return Value(mean, TIME if features.names[number] == "iteration time" else AMOUNT)


def _on_map(factors: FactorMap, name: str) -> list[float | None]:
    if name not in factors.names:
        return [None] * 3
    number = factors.names.index(name)
    pair = factors.correlation[number, :2].tolist()
    return [*pair, *[None] * (2 - len(pair)), float(factors.on_map[number])]


def _overlaps(accuracy: Accuracy) -> Table:
    shown = accuracy.overlaps[:_MOST_LOOPS]
    more = len(accuracy.overlaps) - len(shown)
    table = table_of(
        shown,
        {
            Column("LOOP OF THE SOURCE"): lambda each: each.name,
            Column("CALLS", COUNT.or_nothing()): lambda each: each.calls,
            Column("DETECTED"): lambda each: each.loop or "none",
            Column("OF ITS CALLS", SHARE.or_nothing()): lambda each: each.share,
            Column("OF DETECTED", SHARE.or_nothing()): lambda each: each.purity,
        },
        f"Loops of the source, by the {_METHODS.get(accuracy.method, accuracy.method)} method",
    )
    rest = [[f"and {plural(more, 'loop')} more", None, "", None, None]] if more else []
    return table._replace(rows=[*table.rows, *rest])
