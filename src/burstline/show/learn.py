"""What ``burstline learn`` shows: errors of each set of features, and what they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from burstline.errors import plural
from burstline.merge import TRUST
from burstline.quantities import format_share
from burstline.show.blocks import Block, Facts
from burstline.show.pictures.learning import learn_plot
from burstline.show.views import Figure, Rows, View
from burstline.studies import Gain, Learned, Score
from burstline.values import Column, Table, ratio

_GROUPS: Final = {
    "rank": ("rank", "ranks"),
    "application": ("dataset or application", "datasets or applications"),
    "code": ("place in the program", "places in the program"),
}
_MODELS: Final = {"forest": "random forest", "boosting": "boosted trees"}
_SETS: Final = {
    "base": "base: calls around bursts, the base's counters",
    "merged": "merged: other runs' counters, too",
    "reliable": "reliable: merged, without counters that do not repeat",
    "shuffled": "shuffled: merged, other runs' counters dealt out at random",
    "mean": "mean: always the mean of what was learnt from",
    "nothing": "nothing: always the median",
}
_ERRORS: Final = {
    "mean": Column("ERROR", ratio(4)),
    "spread": Column("SPREAD", ratio(4)),
    "median": Column("MEDIAN", ratio(4)),
    "relative": Column("RELATIVE", ratio(4)),
    "weighted": Column("BY TIME", ratio(4)),
    "r2": Column("R²", ratio(3)),
    "unseen": Column("UNSEEN", ratio(3)),
}
_GAINS: Final = {
    "better": "predicts better than base",
    "worse": "predicts worse than base, so that more features harm",
    "no difference": "predicts as well as base, as far as folds can tell",
}
_WORTHS: Final = {
    "better": "predicts better than no feature would",
    "worse": "predicts worse than no feature would: do not use it",
    "no difference": "predicts no better than no feature would, as far as folds can tell",
}
"""What features are worth beside always saying the median or mean."""
_MOST: Final = 20
_TWINS: Final = (
    "of bursts are like one learnt from, but for position and concurrency; UNSEEN is about the "
    "others"
)


@dataclass(frozen=True, slots=True, eq=False)
class LearnedView(View):
    """What learning gave."""

    result: Learned

    def rows(self) -> Rows:
        """The importance of each feature."""
        return ("feature", "importance"), self.result.importance.items()

    def figures(self) -> Mapping[str, Figure]:
        """Predictions, errors and importance."""
        return {"predictions": lambda form: learn_plot(self.result, form=form)}

    def blocks(self) -> Iterator[Block]:
        """What was learnt from what, the errors of each set, and what matters."""
        learned = self.result
        yield Facts(_facts(learned))
        yield Table(
            [Column("PREDICTED FROM"), Column("FEATURES"), *_ERRORS.values()],
            [_row(score) for score in learned.scores],
            "Error of bursts never seen: |predicted - measured| over the larger of both",
        )
        largest = "merged" if learned.score("merged") else "base"
        rows: list[tuple[str, float | None]] = list(learned.importance.items())
        rise = ratio(4, signed=True, absent="")
        yield Table(
            [Column(f"FEATURE ({largest})"), Column("ERROR RISES BY", rise)],
            rows[:_MOST] + ([("…", None)] if len(rows) > _MOST else []),
            "Importance: what it costs to shuffle a feature",
        )


def _facts(learned: Learned) -> Iterator[tuple[str, str]]:
    left = ", ".join(f"{count:,} {why}" for why, count in learned.left.items())
    used = plural(len(learned.measured), "burst")
    logarithm = ", its logarithm learnt" if learned.is_log else ""
    yield "target", f"{learned.target}{logarithm}"
    yield "bursts", f"{used}{f'; left out: {left}' if left else ''}"
    groups = plural(learned.groups, *_GROUPS[learned.by])
    yield "learnt by", f"{_MODELS[learned.model]}; {groups} left out in {learned.folds} folds"
    merged = learned.score("merged") or learned.score("base")
    if merged is not None and merged.seen:
        yield "twins", f"{format_share(merged.seen)} {_TWINS}"
    for name, over_nothing in learned.over_nothing.items():
        gain = learned.gains.get(name)
        if gain is not None:
            yield f"{name}?", f"{_GAINS[gain.verdict]}: {_change(gain)}"
        if gain is None or over_nothing.verdict != "better":
            yield f"{name}?", f"{_WORTHS[over_nothing.verdict]}: {_change(over_nothing)}"
    reasons: dict[str, list[str]] = {}
    for name, why in learned.left_out.items():
        reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        yield "no feature", f"{', '.join(names)}: {why}"
    for counter, verdict in learned.reliability.items():
        if verdict != TRUST:
            yield "verdict", f"{counter}: {verdict}"
    for warning in learned.warnings:
        yield "warning", warning


def _change(gain: Gain) -> str:
    """By how much the error changes, over the folds."""
    change = f"error {'falls' if gain.mean >= 0 else 'rises'} by {abs(gain.mean):.4f}"
    return f"{change} ± {gain.error:.4f}, lower in {gain.better} of {gain.folds}"


def _row(score: Score) -> list[object]:
    figures = score.as_dict()
    name = _SETS.get(score.name, score.name)
    return [name, len(score.features), *(figures[error] for error in _ERRORS)]
