"""What ``burstline learn`` shows: errors of each set of features, and what they rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from burstline.show import terminal
from burstline.show.units import format_share, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from burstline.learning import Gain, Learned, Score

_NOTHING: Final = "-"
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
    "nothing": "nothing: always the median",
}
_HEAD: Final = ["PREDICTED FROM", "FEATURES", "ERROR", "SPREAD", "MEDIAN", "RELATIVE"]
_LAST: Final = ["BY TIME", "R²", "UNSEEN"]
_MOST: Final = 20
_TWINS: Final = (
    "of bursts are like one learnt from, but for position and concurrency; UNSEEN is about the "
    "others"
)


def print_learned(found: Learned) -> None:
    """Print what learning found."""
    terminal.print_facts(_facts(found))
    terminal.print_table(
        [
            "PREDICTED FROM",
            "FEATURES",
            "ERROR",
            "SPREAD",
            "MEDIAN",
            "RELATIVE",
            "BY TIME",
            "R²",
            "UNSEEN",
        ],
        [_row(one) for one in found.scores],
        title="Error of bursts never seen: |predicted - measured| over the larger of both",
    )
    largest = "merged" if found.score("merged") else "base"
    rows = [[name, f"{value:+.4f}"] for name, value in found.importance.items()]
    terminal.print_table(
        [f"FEATURE ({largest})", "ERROR RISES BY"],
        rows[:_MOST] + ([["…", ""]] if len(rows) > _MOST else []),
        title="Importance: what it costs to shuffle a feature",
    )


def _facts(found: Learned) -> Iterator[tuple[str, str]]:
    left = ", ".join(f"{count:,} {why}" for why, count in found.left.items())
    used = plural(len(found.measured), "burst")
    logarithm = ", its logarithm learnt" if found.is_log else ""
    yield "target", f"{found.target}{logarithm}"
    yield "bursts", f"{used}{f'; left out: {left}' if left else ''}"
    groups = plural(found.groups, *_GROUPS[found.by])
    yield "learnt by", f"{_MODELS[found.model]}; {groups} left out in {found.folds} folds"
    merged = found.score("merged") or found.score("base")
    if merged is not None and merged.seen:
        yield "twins", f"{format_share(merged.seen)} {_TWINS}"
    for name, one in found.gains.items():
        yield f"{name}?", _verdict(one)
    reasons: dict[str, list[str]] = {}
    for name, why in found.left_out.items():
        reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        yield "no feature", f"{', '.join(names)}: {why}"
    for counter, told in found.reliability.items():
        if told != "trust":
            yield "varies", f"{counter}: {told}"
    for warning in found.warnings:
        yield "warning", warning


def _verdict(one: Gain) -> str:
    difference = {
        "better": "predicts better than base",
        "worse": "predicts worse than base",
        "no difference": "predicts as well as base, as far as folds can tell",
    }[one.verdict]
    change = f"error {'falls' if one.mean >= 0 else 'rises'} by {abs(one.mean):.4f}"
    return f"{difference}: {change} ± {one.error:.4f}, lower in {one.better} of {one.folds}"


def _row(one: Score) -> list[str]:
    told = one.as_dict()
    numbers = [told[name] for name in ("mean", "spread", "median", "relative", "weighted")]
    last = [told["r2"], told["unseen"]]
    return [
        _SETS.get(one.name, one.name),
        str(len(one.features)),
        *(f"{value:.4f}" for value in numbers),
        *(_NOTHING if value is None else f"{value:.3f}" for value in last),
    ]
