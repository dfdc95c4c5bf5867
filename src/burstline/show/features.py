"""Features of loops on the terminal and for programs: factor map, importance, accuracy.

::

    Study  --print_study-->  tables      --study_document-->  what JSON output says
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline.show import terminal
from burstline.show.units import format_count, format_ns, format_share, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from burstline.columns import Integers
    from burstline.structure import Accuracy, FactorMap, Features, Importance, Labels

_METHODS: Final = {"seed": "published", "exact": "exact"}
_MOST_LOOPS: Final = 20
_SOURCES: Final = {"events": "labels of the calls", "regions": "loops that were recorded"}
_COMPARED_AS_RATIOS: Final = ("iterations", "iteration time")
_PLAIN_NAMES: Final = {"iteration time": "iteration_time_ns"}


@dataclass(frozen=True, slots=True)
class Study:
    """What is known about the features of the loops of one trace.

    Attributes
    ----------
    rows : str
        What the rows of `features` are: ``calls`` or ``loops``.
    features : Features
        The variables.
    labels : Labels or None
        The loops of the source; None if the trace does not know them.
    factors : FactorMap or None
        How the variables go together.
    importance : Importance or None
        How much each of them tells about the loop of a call.
    accuracies : tuple of Accuracy
        How well the loops of each method agree with those of the source, that of the
        structure asked for first.
    missing : tuple of str
        Why something is None, as sentences.
    """

    rows: str
    features: Features
    labels: Labels | None
    factors: FactorMap | None
    importance: Importance | None
    accuracies: tuple[Accuracy, ...]
    missing: tuple[str, ...]


def study_document(study: Study) -> dict[str, Any]:
    """What JSON output says about features."""
    found, labels = study.features, study.labels
    return {
        "rows": study.rows,
        "scale": found.scale,
        "variables": {name: found.made_of.get(name) for name in found.names},
        "unknown": list(found.unknown),
        "unique_calls": {"compared": len(found), "once": found.once, "unread": found.unread},
        "labels": None if labels is None else labels.source,
        "factors": None if study.factors is None else study.factors.as_dict(),
        "importance": None if study.importance is None else study.importance.as_dict(),
        "accuracy": [each.as_dict() for each in study.accuracies],
        "missing": list(study.missing),
    }


def feature_rows(found: Features, ranks: Integers) -> list[dict[str, Any]]:
    """What CSV output says about features: what was measured, not its logarithms."""
    rows = []
    for row in found.rows(ranks):
        plain: dict[str, Any] = {}
        for name, value in row.items():
            ratio = found.scale == "log" and name in _COMPARED_AS_RATIOS
            measured = float(f"{10.0**value:.12g}") if ratio else value
            plain[_PLAIN_NAMES.get(name, name)] = measured
            if name == "loop":
                plain["loop_name"] = found.loop_names.get(value)
        rows.append(plain)
    return rows


def print_study(study: Study) -> None:
    """Print what is known about the features of loops."""
    terminal.print_facts(_facts(study))
    columns, rows = _variables(study)
    terminal.print_table(columns, rows, title="Features", left=2)
    if study.accuracies:
        terminal.print_table(
            ["METHOD", "ADJUSTED RAND", "BY UNIQUE CALL", "LOOPS FOUND", "IN THE SOURCE"],
            [_accuracy(each) for each in study.accuracies],
            title="Detected loops against those of the source",
        )
        _print_overlaps(study.accuracies[0])


def _facts(study: Study) -> Iterator[tuple[str, str]]:
    found, labels = study.features, study.labels
    left_out = [(found.once, "executed once"), (found.unread, "without their counters")]
    apart = [f"{count:,} {why}" for count, why in left_out if count]
    noun = {"calls": "unique call", "loops": "loop"}[study.rows]
    beside = f", {' and '.join(apart)} left out" if apart else ""
    yield "features", f"{len(found.names)} of {plural(len(found), noun)}{beside}"
    if found.unknown:
        yield "unknown", f"no counter of the trace gives {', '.join(found.unknown)}"
    if labels is not None:
        known = (
            f"{len(labels.loop) - labels.unlabelled:,} of {plural(len(labels.loop), 'call')}"
        )
        yield "labels", f"{_SOURCES[labels.source]}, {known}"
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


def _forest(found: Importance) -> str:
    grown = f"{plural(found.rows, 'call')} in {found.loops:,} loops or outside"
    if not found.tested:
        return f"{grown}; nothing to test on, as no loop has two call sites"
    right = f"{format_share(found.accuracy)} of {plural(found.tested, 'call')}"
    return (
        f"{grown}; {right} of unseen sites put right, {format_share(found.by_chance)} by chance"
    )


def _variables(study: Study) -> tuple[list[str], list[list[str]]]:
    """The columns and rows of the table of variables."""
    found, factors, forest = study.features, study.factors, study.importance
    columns = ["VARIABLE", "MADE OF", "MEAN"]
    columns += ["1ST", "2ND", "ON MAP"] if factors else []
    columns += ["IMPURITY", "PERMUTATION"] if forest else []
    rows = []
    for number, name in enumerate(found.names):
        row = [name, found.made_of.get(name, ""), _mean(found, number)]
        if factors:
            row += _on_map(factors, name)
        if forest:
            loss = float(forest.permutation[number])
            row += [f"{forest.impurity[number]:.3f}", "-" if np.isnan(loss) else f"{loss:+.3f}"]
        rows.append(row)
    return columns, rows


def _mean(found: Features, number: int) -> str:
    mean = float(found.values[:, number].mean()) if len(found) else 0.0
    if number < 2 and found.scale == "log":
        mean = 10**mean
    if found.names[number] == "iteration time":
        return format_ns(round(mean))
    return format_count(mean)


def _on_map(factors: FactorMap, name: str) -> list[str]:
    if name not in factors.names:
        return ["-"] * 3
    number = factors.names.index(name)
    pair = [f"{value:+.2f}" for value in factors.correlation[number, :2].tolist()]
    return [*pair, *["-"] * (2 - len(pair)), format_share(float(factors.on_map[number]))]


def _accuracy(found: Accuracy) -> list[str]:
    return [
        _METHODS.get(found.method, found.method),
        f"{found.adjusted_rand:.4f}",
        f"{found.adjusted_rand_unique:.4f}",
        f"{found.loops_found:,}",
        f"{found.loops_labelled:,}",
    ]


def _print_overlaps(found: Accuracy) -> None:
    shown = found.overlaps[:_MOST_LOOPS]
    rows = [
        [
            each.name,
            f"{each.calls:,}",
            str(each.loop) if each.loop else "none",
            format_share(each.share),
            format_share(each.purity),
        ]
        for each in shown
    ]
    more = len(found.overlaps) - len(shown)
    terminal.print_table(
        ["LOOP OF THE SOURCE", "CALLS", "DETECTED", "OF ITS CALLS", "OF DETECTED"],
        rows + ([[f"and {plural(more, 'loop')} more", "", "", "", ""]] if more else []),
        title=f"Loops of the source, by the {_METHODS.get(found.method, found.method)} method",
    )
