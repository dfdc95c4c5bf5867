"""What ``burstline compare`` shows: how alike profiles are, then where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from math import isnan
from typing import Final

from burstline.comparison import Comparison, verdict
from burstline.errors import plural
from burstline.quantities import format_share
from burstline.show.blocks import Block, Facts, Heading, Lines
from burstline.show.pictures.comparison import comparison_plot, letter
from burstline.show.views import Figure, Rows, View
from burstline.values import PATH, SHARE, Column, Table, ratio
from burstline.waits import WAITS

_MAIN: Final = ("time", "comp", "mpi", "omp_time")
_MOST_COLUMNS: Final = 6
_LEAST: Final = 0.0005  # of the time: less would be printed as 0.0%
_MOST_PAIRS: Final = 10
_REMAPPED: Final = "a report of Scalasca does after cube_remap2 -d -o NEW.cubex OLD.cubex"
_SCORE: Final = ratio(3, absent="n/a")
_SHARE: Final = SHARE._replace(absent="n/a")
_COLUMNS: Final = ("a", "b", "metric", "call_path", "share_a", "share_b")


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonView(View):
    """How alike profiles are, with the `top` differences of those least alike."""

    result: Comparison
    top: int = 10

    def rows(self) -> Rows:
        """All differences of all pairs, largest first."""
        return _COLUMNS, (
            (
                *(self.result.names[which] for which in pair[:2]),
                each.metric,
                " > ".join(each.call_path),
                *each.shares,
            )
            for pair in self.result.pairs
            for each in self.result.differences(pair)
        )

    def figures(self) -> Mapping[str, Figure]:
        """Scores, and what call paths have of computation and of waiting."""
        return {"comparison": lambda form: comparison_plot(self.result, form=form)}

    def blocks(self) -> Iterator[Block]:
        """The verdict, names, scores, differences, and what could not be compared."""
        result = self.result
        yield Facts([("verdict", verdict(result)), *map(self._name, range(len(result.names)))])
        if len(result.pairs) > 1:
            yield from self._pairs()
        yield self._metrics()
        yield from self._differences()
        yield from self._incomparable()

    def _name(self, number: int) -> tuple[str, str]:
        name, runs = self.result.names[number], self.result.runs[number]
        modelled = self.result.modelled[number]
        if modelled is not None and modelled[1] >= _LEAST:
            share = format_share(modelled[1]).strip()
            name += f" ({share} of its ticks were not counted: calls of OpenMP)"
        score = self.result.run_to_run[number]
        if score is None:
            return letter(number), name
        alike = f"which agree with each other by {format_share(score)} or more"
        alike = "which are equal in that" if score == 1 else alike
        return letter(number), f"{name}: mean of {runs}, {alike}"

    def _pairs(self) -> Iterator[Block]:
        pairs = sorted(self.result.pairs, key=lambda pair: pair.j_mc)
        yield Table(
            [Column("PAIR"), Column("J", _SCORE)],
            [[" ".join(map(letter, pair[:2])), pair.j_mc] for pair in pairs[:_MOST_PAIRS]],
            title="J of metrics and call paths, the least first",
        )
        if len(pairs) > _MOST_PAIRS:
            yield Lines([f"  and {plural(len(pairs) - _MOST_PAIRS, 'pair')} that agree better"])

    def _metrics(self) -> Table:
        """Of the pairs with the first, if all are; else of the one that is least alike."""
        result = self.result
        is_star = all(pair.first == 0 for pair in result.pairs)
        has_room = is_star and len(result.pairs) < _MOST_COLUMNS
        pairs = result.pairs if has_room else (result.least,)
        members = sorted({which for pair in pairs for which in pair[:2]})
        listed = [*_MAIN, *(name for pair in WAITS.items() for name in pair)]
        rows = []
        for metric in dict.fromkeys(listed):
            shares = [result.of_time.get(metric, ())[which : which + 1] for which in members]
            if not any(share >= _LEAST for one in shares for share in one):
                continue
            title = result.titles[metric]
            rows.append(
                [
                    f"delays: {title}" if metric.startswith("delay") else title,
                    metric,
                    *(pair.j_c.get(metric) for pair in pairs),
                    *(None if isnan(share) else share for one in shares for share in one),
                ]
            )
        scores = [f"J {letter(pair.second)}" for pair in pairs] if len(pairs) > 1 else ["J"]
        return Table(
            [
                *(Column("METRIC"), Column("NAME")),
                *(Column(score, _SCORE) for score in scores),
                *(Column(f"%T {letter(which)}", _SHARE) for which in members),
            ],
            rows,
            title="By metric: how alike call paths share it (J), and its part of the time (%T)",
            left=2,
        )

    def _differences(self) -> Iterator[Block]:
        least = self.result.least
        a, b = map(letter, least[:2])
        rows = [
            [*each.shares, each.metric, each.call_path]
            for each in islice(self.result.differences(), self.top)
            if abs(each.shares[0] - each.shares[1]) >= _LEAST
        ]
        if rows:
            yield Table(
                [
                    *(Column(f"%T {which}", SHARE, 7) for which in (a, b)),
                    *(Column("METRIC"), Column("CALL PATH", PATH)),
                ],
                rows,
                title=f"Where {a} and {b} differ most: metrics without those below them, by "
                "call path alone",
                left=4,
            )

    def _incomparable(self) -> Iterator[Block]:
        result, least = self.result, self.result.least
        facts = [
            ("time alone", f"{name} divides its time into no kinds: {_REMAPPED}")
            for name in result.timeless
        ]
        a, b = map(letter, least[:2])
        elsewhere = result.elsewhere()
        if max(elsewhere) >= _LEAST:
            first, second = map(format_share, elsewhere)
            text = f"those of one alone hold {first} of the time of {a}, {second} of {b}"
            facts.append(("call paths", text))
        missing = result.missing()
        for which in least[:2]:
            names = [
                f"{metric} ({format_share(result.of_time[metric][which])})"
                for metric in result.metrics
                if missing.get(metric) == which and result.of_time[metric][which] >= _LEAST
            ]
            if names:
                facts.append((f"only in {letter(which)}", ", ".join(names)))
        if facts:
            yield Heading("What has no counterpart")
            yield Facts(facts)
