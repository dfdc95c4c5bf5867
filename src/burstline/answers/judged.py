"""Whether a run may be judged, in words: what holds, what does not, and what that spoils."""

from __future__ import annotations

from typing import Final

from burstline.answers import fitness
from burstline.answers.values import Check, Fact, Sentence
from burstline.answers.words import (
    NOTHING,
    Phrase,
    capital,
    counted,
    enumerated,
    joined,
    phrase,
    sentence,
    share,
    time,
)

_HOLDS: Final = {
    fitness.LONG_ENOUGH: "it lasts {figure}",
    fitness.REPEATED: "it repeats itself {figure} times",
    fitness.PROCESSORS_ALONE: "ranks were on a processor for {figure} of their computing",
    fitness.CALLERS_KNOWN: "callers are known for {figure} of the calls",
    fitness.CHEAP: "recording took {figure} of the time",
    fitness.NOTHING_DROPPED: "nothing was dropped",
    fitness.CLOCKS_IN_ORDER: "clocks agree",
}
"""What is said where a check holds; that of OpenMP is told only where it does not."""
_UNKNOWN: Final = {
    fitness.PROCESSORS_ALONE: "whether ranks shared processors",
    fitness.OPENMP_SEEN: "whether threads of OpenMP ran",
}
"""What is said not to be known; the table of checks has the others."""
_DOUBTS: Final = {
    fitness.PROCESSORS_ALONE: (
        "As processors were probably shared, a part of it may be the machine's."
    ),
    fitness.NOTHING_DROPPED: "As the trace lacks something, this may be wrong.",
    fitness.CLOCKS_IN_ORDER: "As clocks disagree, this may be wrong.",
    fitness.OPENMP_SEEN: "As threads of OpenMP ran unseen, they may cause it.",
    fitness.CHEAP: "As recording took much of the time, it may cause it.",
    fitness.LONG_ENOUGH: "In so short a run this may be chance.",
    fitness.REPEATED: "As so little repeats, this may be chance.",
}
"""What each check that does not hold makes of a cause that is told."""

UNTOLD: Final = (
    "who causes it cannot be told, as whoever waited for a processor came late and made others "
    "wait"
)
"""What is said in place of a cause where ranks shared processors."""


def judged(checked: tuple[Check, ...]) -> Sentence:
    """Whether the run may be judged, and if not, what is wrong and what helps."""
    if (care := with_care(checked)) is not None:
        return care
    holds = [_holds(check) for check in checked if check.passed and check.name in _HOLDS]
    return sentence(
        "judged",
        "This run may be judged by its trace{holds}.{unknown}",
        holds=phrase(": {all}", all=enumerated(*holds)) if holds else NOTHING,
        unknown=_unknown(checked),
    )


def with_care(checked: tuple[Check, ...]) -> Sentence | None:
    """What is wrong with a run, and what helps, before anything else is said of it."""
    failed = fitness.failed_of(checked)
    if not failed:
        return None
    return sentence(
        "judged",
        "Judge this run with care: {fails}. {remedies}{unknown}",
        fails=joined("; ", *map(fails, failed)),
        remedies=" ".join(dict.fromkeys(f"{capital(check.remedy)}." for check in failed)),
        unknown=_unknown(checked),
    )


def of_clock(checked: tuple[Check, ...], unit: str) -> tuple[Check, ...]:
    """The checks that say something of times in a unit: ticks do not depend on the machine."""
    return tuple(each for each in checked if unit == "ns" or each.name in fitness.OF_TICKS)


def is_shared(checked: tuple[Check, ...]) -> bool:
    """Whether ranks shared processors by their own clocks: whoever waited for one came late.

    Where it is inferred from what they may use, they may as well have slept meanwhile.
    """
    return any(
        each.name == fitness.PROCESSORS_ALONE and each.passed is False and not each.inferred
        for each in checked
    )


def doubt(checked: tuple[Check, ...]) -> str:
    """What makes a cause doubtful, as a sentence; nothing where nothing does."""
    spoilt = [each.name for each in fitness.failed_of(checked) if each.name in _DOUBTS]
    return _DOUBTS[spoilt[0]] if spoilt else ""


def _unknown(checked: tuple[Check, ...]) -> Phrase:
    """What the trace does not tell, and why, as sentences."""
    unknown = [each for each in checked if each.passed is None and each.name in _UNKNOWN]
    said = (f" {capital(_UNKNOWN[each.name])} is not known: {each.remedy}." for each in unknown)
    return Phrase("".join(said))


def fact_of(check: Check, name: str, value: float) -> Fact:
    """A number in the unit of a check."""
    if check.unit == "ns":
        return time(name, value)
    return share(name, value) if check.unit == "share" else Fact(name, round(value), "count")


def _figure(check: Check) -> Fact:
    return fact_of(check, check.name, check.figure or 0)


def _holds(check: Check) -> Phrase:
    text = _HOLDS[check.name]
    if check.name == fitness.PROCESSORS_ALONE and check.inferred:
        return Phrase("each thread may use a processor of its own")
    return phrase(text, figure=_figure(check)) if "{" in text else Phrase(text)


_FAILS: Final = {
    fitness.LONG_ENOUGH: "it lasts only {figure}, less than {bound}",
    fitness.REPEATED: "it repeats itself only {times}",
    fitness.PROCESSORS_ALONE: (
        "ranks probably shared processors: {by}they were on one for only {figure} of their "
        "computing (sleeping or reading files looks the same)"
    ),
    fitness.CALLERS_KNOWN: "callers are known for only {figure} of the calls",
    fitness.CHEAP: "recording took about {figure} of the time",
    fitness.NOTHING_DROPPED: "{losses} of records met",
    fitness.CLOCKS_IN_ORDER: "clocks disagree: events are up to {figure} before their cause",
    fitness.OPENMP_SEEN: "threads of OpenMP ran, and none was recorded",
}
_FAILS_WHOLLY: Final = {
    fitness.REPEATED: "nothing repeats in it",
    fitness.CALLERS_KNOWN: "callers are not known",
    fitness.CLOCKS_IN_ORDER: "messages arrive before they are sent, so clocks disagree",
}
"""The same where the figure is 0, or nobody measured it."""


def fails(check: Check) -> Phrase:
    """What is wrong where a check does not hold."""
    if check.name == fitness.PROCESSORS_ALONE and check.inferred:
        return phrase(
            "ranks probably shared processors: there are only {figure} of one for each thread "
            "(inferred from those that they may use)",
            figure=_figure(check),
        )
    if not check.figure and check.name in _FAILS_WHOLLY:
        return Phrase(_FAILS_WHOLLY[check.name])
    count = round(check.figure or 0)
    return phrase(
        _FAILS[check.name],
        figure=_figure(check),
        bound=time(f"bound of {check.name}", check.bound),
        times=counted(count, "time"),
        losses=counted(count, "loss", nouns="losses"),
        by=f"by {check.by} " if check.by else "",
    )
