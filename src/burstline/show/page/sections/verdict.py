"""The answers, worst thing first, on one screen: each with a small picture."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from burstline.answers import (
    FACTORS,
    GOOD,
    PROCESSORS_ALONE,
    Answer,
    Fact,
    Known,
    Sentence,
    Trust,
    leaves_of,
    overview,
    place_shares,
    text_of,
)
from burstline.columns import sums_by, to_numpy
from burstline.quantities import format_ns
from burstline.show.page import charts
from burstline.show.page.html import Html, join, link, number_text, scale, share_text, tag
from burstline.show.page.kinds import parts_of
from burstline.show.page.report import Missing, Report, Section, found
from burstline.show.page.sections.code import step_columns
from burstline.timeline import KIND_OF_WAIT, KINDS, LineTimes
from burstline.values import TIME
from burstline.waits import Waits, costs_of

Target = Callable[[Fact], str]
"""Where on the page more is told of a fact."""

NAME: Final = "verdict"
LABEL: Final = "Verdict"
EMPTY: Final = "There is no verdict"
_RESULTS: Final = ("structure", "waits", "steps", "lines")
_MORE: Final = {
    "headline": ("structure", "code"),
    "time step": ("structure", "code"),
    "efficiency": ("info --full", "factors"),
    "waits": ("waits", "kinds"),
    "cause": ("waits", "causes"),
    "advice": ("info", "coverage"),
}
"""What tells more of the numbers of an answer: a command, and a place of the page."""
_OF_FACTS: Final = {
    "computing": "times", "mean computing": "times", "baseline": "times",
    "shortest step": "steps", "longest step": "steps", "drift": "steps",
    "caused by the rank": "pairs", "waited by the rank": "pairs",
}  # fmt: skip
"""And of single numbers."""
_PLACES: Final = {
    "times": ("ranks", "line"), "factors": ("ranks", "waits"), "steps": ("code", "steps"),
    "kinds": ("waits", "waits"), "pairs": ("waits", "waits"), "causes": ("waits", "waits"),
}  # fmt: skip
"""The section that a place is in, and the result without which it is not there."""
_MOST: Final = 4
_FEW: Final = 3
_TIMES: Final = "\N{MULTIPLICATION SIGN} "
_BAR: Final = 128
_LEAST_WHOLE: Final = 10
"""Above, a number over a column has no digits behind the point."""


def section(report: Report) -> Section:
    """The largest loss, what the run is spent on, and the answers to five questions."""
    results = {name: getattr(report, name) for name in _RESULTS}
    known = Known(
        report.summary,
        report.verdict.checks,
        missing={
            name: each.reason for name, each in results.items() if isinstance(each, Missing)
        },
        **{name: found(each) for name, each in results.items()},
    )
    said = overview(known)
    targets = _Targets(report)
    rows = [_row(each, report, targets) for each in said.answers]
    title = linked(said.headline, targets.of("headline"), targets.command("headline"))
    return Section(
        title,
        join(
            _strip(known.lines), tag("dl", *rows, class_="verdict"), _trust(said.trust, targets)
        ),
        report.verdict.as_dict()
        | {
            "headline": [each.as_dict() for each in said.headline],
            "answers": [each.as_dict() for each in said.answers],
            "kinds_ns": known.lines and dict(known.lines.kinds),
            "whole_ns": known.lines and known.lines.whole_ns,
        },
    )


class _Targets:
    """Where on the page numbers lead, as far as that is there."""

    def __init__(self, report: Report) -> None:
        self._path = shlex.quote(report.source.paths[0]) if report.source.paths else "TRACE"
        self._there = {
            name for name, (_, result) in _PLACES.items()
            if not isinstance(getattr(report, result), Missing)
        }  # fmt: skip
        waits = found(report.waits)
        if waits is not None:
            self._there -= set() if waits.delays.num_rows else {"pairs"}
            self._there -= set() if costs_of(waits) else {"causes"}
            self._there -= set() if waits.instances.num_rows else {"kinds"}
        lines = found(report.lines)
        places = () if lines is None or found(report.structure) is None else lines.places
        self._sites: dict[tuple[str | None, int | None], str] = {
            (each.file, each.line): f"site-{each.sites[0]}"
            for each in reversed(places)
            if each.sites and each.line is not None
        }

    def command(self, answer: str) -> str:
        """The command that prints the numbers of an answer."""
        return f"burstline {_MORE[answer][0]} {self._path}"

    def place(self, name: str) -> str:
        """A place of the page, or the section that it would be in."""
        return name if name in self._there or name not in _PLACES else _PLACES[name][0]

    def of(self, answer: str) -> Callable[[Fact], str]:
        """Where the facts of an answer lead: to their line of the program, or by their name."""

        def target(fact: Fact) -> str:
            if fact.name in _OF_FACTS:
                return self.place(_OF_FACTS[fact.name])
            if fact.place is not None:
                site = self._sites.get((fact.place.file, fact.place.line))
                if site is not None:
                    return site
            return self.place(_MORE[answer][1])

        return target


def _row(answer: Answer, report: Report, targets: _Targets) -> Html:
    """A question, its answer with what is told beside, and a small picture."""
    command, target = targets.command(answer.name), targets.of(answer.name)
    picture = _PICTURES[answer.name](report)
    cap, shown = picture or (None, None)
    notes = linked(answer.notes, target, command)
    shown_command = tag("code", f"burstline {_MORE[answer.name][0]}", title=command)
    return tag(
        "div",
        tag("dt", answer.question, shown_command),
        tag(
            "dd",
            tag("p", linked(answer.sentences, target, command, strong=True)),
            tag("p", notes, class_="more") if notes else None,
            class_="answer",
        ),
        tag("dd", tag("span", cap, class_="cap"), shown, class_="picture") if cap else None,
    )


def _strip(lines: LineTimes | None) -> Html | None:
    """What all of the time is spent on, as one bar with its legend."""
    if lines is None or not lines.whole_ns:
        return None
    shares = {
        name: share_text(value / lines.whole_ns) for name, value in lines.kinds.items() if value
    }
    return tag(
        "div",
        charts.stack(lines.kinds, lines.whole_ns, 1200, 28, "What all rank time is spent on"),
        charts.legend(shares),
        class_="strip",
    )


def _trust(checks: Sequence[Trust], targets: _Targets) -> Html:
    """One line: what was checked, what was found, and what helps where a check fails."""
    command = targets.command("advice")
    shown = []
    for each in sorted(checks, key=lambda trust: trust.check.passed is not False):
        bound = f"({each.bound.text})"
        if each.check.passed is None and not each.found.text:
            parts = [tag("b", each.name), ": ", each.remedy]
        else:
            figure = link("coverage", each.found.text, title=command)
            parts = [tag("b", each.name), " ", figure, " ", bound]
        is_alarm = each.check.passed is False
        if is_alarm:
            parts = ["! ", *parts, ": ", each.remedy]
        shown.append(
            tag("span", *parts, class_="alarm" if is_alarm else None, title=each.remedy or None)
        )
    return tag("p", *shown, class_="trust")


Picture = tuple[str, Html] | None


def _steps(report: Report) -> Picture:
    steps, line = found(report.steps), found(report.line)
    if steps is None or line is None or not len(steps.iteration):
        return None
    columns = step_columns(steps, line)
    longest = max(sum(each.parts.values()) for each in columns)
    unit = scale(TIME, [_LEAST_WHOLE * longest])

    def told(ns: float) -> str:
        is_large = ns >= _LEAST_WHOLE * unit[0]
        return f"{ns / unit[0]:.0f}" if is_large else number_text(ns, TIME, unit)

    first, last = columns[0].number, int(steps.iteration.max())
    chart = charts.columns(columns, 332, 84, told, axis=False, target="step")
    which = f"steps {first} to {last}" if last > first else f"step {first}"
    return f"Mean duration of {which}, {unit[1]}", chart


def _factors(report: Report) -> Picture:
    summary = report.summary
    if summary.efficiency.parallel is None:
        return None
    parallel, factors = leaves_of(summary, found(report.waits))
    worst = min(factors, key=lambda each: factors[each], default="")
    bar = _BAR if len(factors) <= _FEW else _BAR * 2 // 3
    rows = [
        (
            _TIMES * bool(number) + FACTORS[name],
            charts.bar(value, bar, worst=name == worst and value < GOOD),
            share_text(value),
        )
        for number, (name, value) in enumerate(factors.items())
    ]
    rows.append(("= parallel efficiency", charts.bar(parallel, bar), share_text(parallel)))
    return "Efficiency factors", _mini(rows)


def _pairs(report: Report) -> Picture:
    """Who waits for whom, by kind of wait."""
    waits = found(report.waits)
    if waits is None or not waits.instances.num_rows:
        return None
    pairs = _pair_times(waits)
    if not pairs:
        return None
    most = max(sum(parts.values()) for parts in pairs.values())
    rows = [
        (
            f"rank {waiting} for rank {late}",
            charts.stack(parts, most, 150, 10),
            format_ns(round(sum(parts.values()))),
        )
        for (waiting, late), parts in pairs.items()
    ]
    return "Largest waits by pair of ranks", _mini(rows)


def _pair_times(waits: Waits) -> dict[tuple[int, int], Mapping[str, float]]:
    """The pairs of ranks that wait longest for each other, with their waits by kind."""
    table = waits.instances
    ranks = to_numpy(waits.profile.locations["rank"]).astype(np.int64)
    names = table["metric"].to_pylist()
    kinds = np.array([KIND_OF_WAIT.get(name, 0) for name in names], np.int64)
    place, cause, length = (
        to_numpy(table[name]).astype(np.int64)
        for name in ("location", "cause_location", "wait_ns")
    )
    kept = cause >= 0
    waiting, late = ranks[place[kept]], ranks[cause[kept]]
    count = int(ranks.max(initial=0)) + 1
    pair, row = np.unique(waiting * count + late, return_inverse=True)
    times = sums_by((row, kinds[kept]), length[kept], (len(pair), len(KINDS)))
    order = np.argsort(-times.sum(axis=1), kind="stable")[:_MOST]
    return {divmod(int(pair[k]), count): parts_of(times[k]) for k in order.tolist()}


def _causes(report: Report) -> Picture:
    """What late ranks did, by place."""
    waits = found(report.waits)
    costs = None if waits is None else costs_of(waits)
    if waits is None or costs is None:
        return None
    by_place = (costs.computing + costs.in_mpi).sum(axis=1).tolist()
    rows = [
        (name, charts.bar(share, 40), share_text(share))
        for name, share in place_shares(waits, by_place, _MOST)
    ]
    return "What late ranks did meanwhile", _mini(rows, kind="mini long")


def _processor(report: Report) -> Picture:
    on = report.summary.processor
    if on is None or not on.elapsed_ns:
        return None
    [check] = [each for each in report.verdict.checks if each.name == PROCESSORS_ALONE]
    share, bound = check.figure or 0, check.bound
    rows = [("of all computing", charts.bar(share, _BAR, tick=bound), share_text(share))]
    return f"Share of time on a processor, by {on.counter}", _mini(rows)


def _mini(rows: Sequence[tuple[str, Html, str]], kind: str = "mini") -> Html:
    """A small table: a name, a bar, and its number."""
    shown = (
        tag("tr", tag("th", name, scope="row", title=name), tag("td", bar), tag("td", number))
        for name, bar, number in rows
    )
    return tag("table", tag("tbody", *shown), class_=kind)


_PICTURES: Final[Mapping[str, Callable[[Report], Picture]]] = {
    "time step": _steps,
    "efficiency": _factors,
    "waits": _pairs,
    "cause": _causes,
    "advice": _processor,
}


def linked(
    sentences: Iterable[Sentence], target: Target, command: str, *, strong: bool = False
) -> Html:
    """Sentences whose numbers lead to their places, and name the command that prints them."""
    parts: list[Html] = []
    for each in sentences:
        if parts:
            parts.append(join(" "))
        text, begin = each.sentence, 0
        for fact in each.facts:
            told = text_of(fact)
            at = text.find(told, begin)
            if at < 0:
                continue
            number = link(target(fact), told, title=command)
            if strong:
                number, strong = tag("b", number), False
            parts += [join(text[begin:at]), number]
            begin = at + len(told)
        parts.append(join(text[begin:]))
    return join(*parts)
