"""What ``burstline merge`` says: what matched, what did not and why, and what was gained."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from burstline import merge
from burstline.errors import plural, readable
from burstline.merge import STAGES, BurstTable, CounterQuality, Fusion, Matching
from burstline.model import NO_VALUE, Trace
from burstline.quantities import format_ns, format_share
from burstline.show.blocks import Block, Facts, Lines
from burstline.show.pictures.matching import merge_plot
from burstline.show.views import Figure, Rows, View
from burstline.values import COUNT, SHARE, Column, Table, Value, ratio, table_of

_PATTERNS: Final = 10
_QUALITY: Final = ("correlation", "relative_difference", "below_30", "of_total", "verdict")


@dataclass(frozen=True, slots=True, eq=False)
class MergeView(View):
    """What is said of a merge."""

    result: Matching
    fused: Fusion
    paths: tuple[str, ...]
    traces: tuple[Trace, ...]
    alone: tuple[tuple[int, int], ...]  # of each run, threads that not all have, their bursts
    quality: dict[str, CounterQuality]  # of each counter that several runs have
    least: float = 0.0  # match rate from which on a merge is written
    rank: int = 0  # the one to draw

    @classmethod
    def of(
        cls,
        paths: Sequence[Path],
        traces: Sequence[Trace],
        tables: Sequence[BurstTable],
        matching: Matching,
        fused: Fusion,
        *,
        least: float = 0.0,
        rank: int = 0,
    ) -> MergeView:
        """Collect what is to be said."""
        places = [_threads(trace) for trace in traces]
        shared = set.intersection(*places)
        alone = [
            (len(threads - shared), trace.rows("bursts") - int(bursts))
            for threads, trace, bursts in zip(places, traces, matching.bursts, strict=True)
        ]
        quality = {}
        for name in dict.fromkeys(one.counter for one in fused.counters):
            runs = fused.runs_with(name)
            if len(runs) > 1:
                values, is_in = merge.values_of(tables, fused, name), fused.base in runs
                base, present = runs.index(fused.base) if is_in else 0, values != NO_VALUE
                quality[name] = merge.compare(name, values, base=base, present=present)
        names = tuple(map(readable, paths))
        return cls(matching, fused, names, tuple(traces), tuple(alone), quality, least, rank)

    def figures(self) -> Mapping[str, Figure]:
        """The bursts of a rank that are the same."""
        files = [Path(path).name for path in self.paths]
        names = [file.removesuffix(".gz").removesuffix(".prv") for file in files]
        drawn = self.traces, self.result, names, self.rank
        return {"matches": lambda form: merge_plot(*drawn, form=form)}

    def rows(self) -> Rows:
        """A row per run."""
        heads = ["path", "base", "bursts", "matched", "match_rate", "time_coverage"]
        heads += self.by_stage(0)
        runs = [self._run(run) for run in range(self.result.runs)]
        rows = [
            run | run["by_stage"] | {"base": number == self.result.base}
            for number, run in enumerate(runs)
        ]
        return heads, ([row[head] for head in heads] for row in rows)

    def document(self) -> dict[str, Any]:
        """All but the bursts."""
        matching, fused = self.result, self.fused
        names = dict.fromkeys(one.counter for one in fused.counters)
        return {
            "method": matching.method,
            "base": matching.base,
            "min_match_rate": self.least,
            "call_paths": matching.has_paths,
            "loops": matching.has_loops,
            "runs": [self._run(run) for run in range(matching.runs)],
            "counters": {name: self._counter(name) for name in names},
            "unmatched": [
                {"before": before, "after": after, "bursts": counts}
                for before, after, counts in self.unmatched()
            ],
        }

    def blocks(self) -> Iterator[Block]:
        """What was matched how, in each run; the counters; and what did not match."""
        matching, runs = self.result, range(self.result.runs)
        how = f"{matching.method}, {'with' if matching.has_paths else 'without'} call paths"
        how += ", with loops" if matching.has_loops else ""
        base = f"run {matching.base + 1}, {self.paths[matching.base]}"
        least = f"{format_share(self.least)} of a run's bursts in the base (`min_match_rate`)"
        yield Facts([("method", how), ("base", base), ("written from", least)])
        several = matching.runs > 2  # of two, what one has in common is what the base has
        stages = [name for name in STAGES if any(self.by_stage(run).get(name) for run in runs)]
        cells: dict[Column, Callable[[int], object]] = {
            Column("RUN"): lambda run: run + 1,
            Column("TRACE"): lambda run: self.paths[run],
            Column("BURSTS", COUNT): lambda run: matching.bursts[run],
            Column("MATCHED", COUNT): lambda run: matching.matched[run],
            Column("RATE", SHARE): lambda run: _share(matching.match_rate[run]),
        }
        if several:
            cells[Column("IN BASE", SHARE)] = lambda run: _share(matching.base_rate[run])
        cells[Column("OF TIME", SHARE)] = lambda run: _share(matching.time_coverage[run])
        for name in stages:
            cells[Column(name.upper(), COUNT)] = lambda run, name=name: self.by_stage(run)[name]  # type: ignore[misc]
        yield table_of(runs, cells, "Runs", left=2)
        yield _counters(self)
        yield from _unmatched(self)

    def _run(self, run: int) -> dict[str, Any]:
        matching = self.result
        threads, bursts = self.alone[run]
        return {
            "path": self.paths[run],
            "bursts": int(matching.bursts[run]),
            "matched": int(matching.matched[run]),
            "match_rate": float(matching.match_rate[run]),
            "base_rate": float(matching.base_rate[run]),
            "time_coverage": float(matching.time_coverage[run]),
            "cut": bool(matching.is_cut[run]),
            "by_stage": self.by_stage(run),
            "threads_alone": threads,
            "bursts_alone": bursts,
        }

    def by_stage(self, run: int) -> dict[str, int]:
        """How many bursts of a run each stage matched."""
        counts = self.result.by_stage[run].tolist()
        return dict(zip(STAGES[1:], counts[1:], strict=True))

    def _counter(self, name: str) -> dict[str, Any]:
        fused = self.fused
        document: dict[str, Any] = {
            "runs": fused.runs_with(name),
            "divergent": fused.is_divergent(name),
            "columns": [one.column for one in fused.counters if one.counter == name],
        }
        if name in self.quality:
            quality = self.quality[name].as_dict()
            figures = quality["details"] | quality
            document |= {key: figures[key] for key in _QUALITY}
        return document

    def unmatched(self) -> list[tuple[str, str, list[int]]]:
        """The patterns of unmatched bursts with their number in each run, most first."""
        table, runs = self.result.patterns, range(self.result.runs)
        before, after = (table[name].cast("string").to_pylist() for name in ("before", "after"))
        bursts, matched = (
            np.stack([table[f"{name}_{run}"].to_numpy() for run in runs], axis=1)
            for name in ("bursts", "matched")
        )
        patterns = zip(before, after, (bursts - matched).tolist(), strict=True)
        unmatched = [(one or "", other or "", row) for one, other, row in patterns if any(row)]
        return sorted(unmatched, key=lambda pattern: -sum(pattern[2]))


def _threads(trace: Trace) -> set[tuple[int, ...]]:
    columns = trace.arrays("locations", "application", "rank", "thread")
    offsets = trace.offsets("bursts")
    has = offsets[1:] > offsets[:-1]
    return {tuple(key) for key in np.stack(columns, axis=1)[has[: len(columns[0])]].tolist()}


def _share(share: float) -> Value:
    """A share of which 100 % means all."""
    if 0.99 <= share < 1:
        return Value(min(share, 0.9999), SHARE._replace(digits=2))
    return Value(float(share), SHARE)


def _counters(report: MergeView) -> Block:
    rows = []
    for one in report.fused.counters:
        quality = report.quality.get(one.counter) if one.column == one.counter else None
        cells: list[object] = [""] * 4
        if quality is not None:
            shares = (quality.relative_difference, quality.of_total)
            values = (Value(quality.correlation, ratio(4)), *(Value(s, SHARE) for s in shares))
            cells = [*values, quality.verdict]
        rows.append([one.column, ", ".join(str(run + 1) for run in sorted(one.runs)), *cells])
    if not rows:
        return Lines(["", "  no run has a counter: there is nothing to add"])
    heads = ("COUNTER", "OF RUN", "CORRELATION", "DIFFERENCE", "OF TOTAL", "VERDICT")
    return Table(list(map(Column, heads)), rows, "Counters", left=2)


def _unmatched(report: MergeView) -> Iterator[Block]:
    matching, runs = report.result, range(report.result.runs)
    found = report.unmatched()
    if found:
        rows = [
            [before or None, after or None, *counts]
            for before, after, counts in found[:_PATTERNS]
        ]
        heads = [Column("AFTER"), Column("BEFORE")]
        heads += [Column(f"RUN {run + 1}", COUNT) for run in runs]
        yield Table(heads, rows, "Bursts that did not match", left=2)
        if len(found) > _PATTERNS:
            yield Lines([f"  and {plural(len(found) - _PATTERNS, 'pattern')} more"])
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
        yield Lines(["", *lines])
