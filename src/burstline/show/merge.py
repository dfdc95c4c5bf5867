"""What ``burstline merge`` says: what matched, what did not and why, and what was gained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline.merge import STAGES, compare, values_of
from burstline.schema import NO_VALUE
from burstline.show.plain import print_csv, print_json
from burstline.show.units import format_ns, format_share, plural

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from burstline.merge import BurstTable, CounterQuality, Fusion, Matching
    from burstline.trace import Trace

_PATTERNS: Final = 10
_NONE: Final = STAGES[0]


@dataclass(frozen=True, slots=True, eq=False)
class MergeReport:
    """What is said of a merge.

    Attributes
    ----------
    paths : tuple of str
        The runs.
    matching, fused
        What was found.
    alone : tuple of tuple of int
        For each run, its threads that not all runs have, and bursts on them.
    quality : dict of str to CounterQuality
        Of each counter that several runs have.
    """

    paths: tuple[str, ...]
    matching: Matching
    fused: Fusion
    alone: tuple[tuple[int, int], ...]
    quality: dict[str, CounterQuality]

    @classmethod
    def of(
        cls,
        paths: Sequence[Path],
        traces: Sequence[Trace],
        tables: Sequence[BurstTable],
        matching: Matching,
        fused: Fusion,
    ) -> MergeReport:
        """Collect what is to be said."""
        places = [_threads(trace) for trace in traces]
        shared = set.intersection(*places)
        alone = [
            (len(own - shared), trace.rows("bursts") - int(bursts))
            for own, trace, bursts in zip(places, traces, matching.bursts, strict=True)
        ]
        quality = {}
        for counter in dict.fromkeys(one.counter for one in fused.counters):
            runs = fused.runs_with(counter)
            if len(runs) > 1:
                values = values_of(tables, fused, counter)
                first = runs.index(fused.base) if fused.base in runs else 0
                quality[counter] = compare(
                    counter, values, base=first, present=values != NO_VALUE
                )
        return cls(tuple(map(str, paths)), matching, fused, tuple(alone), quality)

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON output says it."""
        matching, fused = self.matching, self.fused
        names = dict.fromkeys(one.counter for one in fused.counters)
        return {
            "method": matching.method,
            "base": matching.base,
            "call_paths": matching.has_paths,
            "loops": matching.has_loops,
            "runs": [self._run(run) for run in range(matching.runs)],
            "counters": {name: self._counter(name) for name in names},
            "unmatched": [
                {"before": before, "after": after, "bursts": counts}
                for before, after, counts in self.unmatched()
            ],
        }

    def _run(self, run: int) -> dict[str, Any]:
        matching = self.matching
        threads, bursts = self.alone[run]
        return {
            "path": self.paths[run],
            "bursts": int(matching.bursts[run]),
            "matched": int(matching.matched[run]),
            "match_rate": float(matching.match_rate[run]),
            "time_coverage": float(matching.time_coverage[run]),
            "by_stage": self.by_stage(run),
            "threads_alone": threads,
            "bursts_alone": bursts,
        }

    def by_stage(self, run: int) -> dict[str, int]:
        """How many bursts of a run each stage matched."""
        counts = self.matching.by_stage[run].tolist()
        return {
            name: count for name, count in zip(STAGES, counts, strict=True) if name != _NONE
        }

    def _counter(self, name: str) -> dict[str, Any]:
        fused = self.fused
        found: dict[str, Any] = {
            "runs": fused.runs_with(name),
            "divergent": fused.is_divergent(name),
            "columns": [one.column for one in fused.counters if one.counter == name],
        }
        if name in self.quality:
            told = self.quality[name].as_dict()
            kept = ("correlation", "relative_difference", "below_30", "verdict")
            found |= {key: told[key] for key in kept}
        return found

    def unmatched(self) -> list[tuple[str, str, list[int]]]:
        """The patterns of unmatched bursts with their number in each run, most first."""
        table, runs = self.matching.patterns, range(self.matching.runs)
        counts = np.stack(
            [
                table[f"bursts_{run}"].to_numpy() - table[f"matched_{run}"].to_numpy()
                for run in runs
            ],
            axis=1,
        )
        names = zip(
            table["before"].cast("string").to_pylist(),
            table["after"].cast("string").to_pylist(),
            counts.tolist(),
            strict=True,
        )
        found = [(before or "", after or "", row) for before, after, row in names if any(row)]
        return sorted(found, key=lambda one: -sum(one[2]))


def _threads(trace: Trace) -> set[tuple[int, ...]]:
    """The threads of a trace that have bursts."""
    columns = trace.arrays("locations", "application", "rank", "thread")
    offsets = trace.offsets("bursts")
    has = offsets[1:] > offsets[:-1]
    return {tuple(key) for key in np.stack(columns, axis=1)[has[: len(columns[0])]].tolist()}


def print_merge(report: MergeReport, form: str) -> None:
    """Print what was merged."""
    document = report.as_dict()
    if form == "json":
        print_json(document)
    elif form == "csv":
        heads = ["path", "base", "bursts", "matched", "match_rate", "time_coverage"]
        stages = list(report.by_stage(0))
        rows = [
            [run["path"], number == report.matching.base, *(run[key] for key in heads[2:])]
            + [run["by_stage"][stage] for stage in stages]
            for number, run in enumerate(document["runs"])
        ]
        print_csv([*heads, *stages], rows)
    else:
        _print_terminal(report)


def _print_terminal(report: MergeReport) -> None:
    from burstline.show import terminal  # noqa: PLC0415 -- loads rich

    matching = report.matching
    runs = range(matching.runs)
    how = f"{matching.method}, {'with' if matching.has_paths else 'without'} call paths"
    how += ", with loops" if matching.has_loops else ""
    base = f"run {matching.base + 1}, {report.paths[matching.base]}"
    terminal.print_facts([("method", how), ("base", base)])
    stages = [name for name in STAGES if any(report.by_stage(run).get(name) for run in runs)]
    rows = [
        [
            str(run + 1),
            report.paths[run],
            f"{matching.bursts[run]:,}",
            f"{matching.matched[run]:,}",
            _share(matching.match_rate[run]),
            _share(matching.time_coverage[run]),
            *(f"{report.by_stage(run)[name]:,}" for name in stages),
        ]
        for run in runs
    ]
    heads = ["RUN", "TRACE", "BURSTS", "MATCHED", "RATE", "OF TIME", *map(str.upper, stages)]
    terminal.print_table(heads, rows, title="Runs", left=2)
    _print_counters(report)
    _print_unmatched(report)


def _share(share: float) -> str:
    """Format a share so that 100 % means all."""
    if 0.99 <= share < 1:
        return f"{min(100 * share, 99.99):.2f} %"
    return format_share(float(share))


def _print_counters(report: MergeReport) -> None:
    from burstline.show import terminal  # noqa: PLC0415 -- loads rich

    rows = []
    for one in report.fused.counters:
        quality = report.quality.get(one.counter)
        is_first = one.column == one.counter
        runs = ", ".join(str(run + 1) for run in sorted(one.runs))
        if quality is None or not is_first:
            said = ["", "", ""]
        else:
            said = [
                "-" if quality.correlation is None else f"{quality.correlation:.4f}",
                "-"
                if quality.relative_difference is None
                else format_share(quality.relative_difference),
                quality.verdict,
            ]
        rows.append([one.column, runs, *said])
    if not rows:
        terminal.print_lines(["", "  no run has a counter: there is nothing to add"])
        return
    heads = ["COUNTER", "OF RUN", "CORRELATION", "DIFFERENCE", "VERDICT"]
    terminal.print_table(heads, rows, title="Counters", left=2)


def _print_unmatched(report: MergeReport) -> None:
    from burstline.show import terminal  # noqa: PLC0415 -- loads rich

    matching, runs = report.matching, range(report.matching.runs)
    found = report.unmatched()
    if found:
        rows = [
            [before or "-", after or "-", *(f"{count:,}" for count in counts)]
            for before, after, counts in found[:_PATTERNS]
        ]
        heads = ["AFTER", "BEFORE", *(f"RUN {run + 1}" for run in runs)]
        terminal.print_table(heads, rows, title="Bursts that did not match", left=2)
        if len(found) > _PATTERNS:
            terminal.print_lines([f"  and {plural(len(found) - _PATTERNS, 'pattern')} more"])
    lines = []
    for run in runs:
        missing = int(matching.bursts[run] - matching.matched[run])
        if missing:
            time = int(matching.time_ns[run] - matching.matched_ns[run])
            lines.append(
                f"  run {run + 1} did what no other run did in {plural(missing, 'burst')}, "
                f"{format_ns(time)} in all"
            )
        threads, bursts = report.alone[run]
        if threads:
            lines.append(
                f"  run {run + 1} alone has {plural(threads, 'thread')} "
                f"with {plural(bursts, 'burst')}: not all runs have them"
            )
    if lines:
        terminal.print_lines(["", *lines])
