"""What the runs showed: times by mode, and profiles by clock, compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

import burstline
from burstline import Profile
from burstline.comparison import Comparison
from experiments.clocks.runs import ALL_CLOCKS, MODES, Configuration, Mode, Seconds, Site

PHYSICAL: Final = "tsc"
LOGICAL: Final = ("lt_1", "lt_loop", "lt_bb", "lt_stmt", "lt_hwctr")
CLOCKS: Final = (PHYSICAL, *LOGICAL)
FOR_TIME: Final = (
    Configuration("MiniFE", "elements", ("48", "16", "40"), 2, 1),
    Configuration("LULESH", "cube", ("30", "60", "1"), 1, 2),
    Configuration("TeaLeaf", "grid", ("600", "3", "50"), 1, 2),
)
"""Their ranks and threads have a core each, where there are two."""
FOR_PROFILES: Final = (
    Configuration("MiniFE-1", "elements", ("48", "8", "25"), 2, 1),
    Configuration("MiniFE-2", "elements", ("48", "8", "25"), 2, 2),
    Configuration("LULESH-1", "cube", ("40", "6", "1"), 8, 2),
    Configuration("LULESH-2", "cube", ("40", "6", "0"), 8, 2),
    Configuration("TeaLeaf-1", "grid", ("1000", "1", "30"), 1, 2),
    Configuration("TeaLeaf-2", "grid", ("1000", "1", "30"), 2, 2),
    Configuration("TeaLeaf-3", "grid", ("1000", "1", "30"), 4, 2),
    Configuration("TeaLeaf-4", "grid", ("1000", "1", "30"), 8, 1),
)
_LEFT_OUT: Final = ("MPI_Init_thread", "MPI_Finalize")
"""They take longer than programs as short as ours."""


@dataclass(frozen=True, slots=True)
class Results:
    """Times and comparisons of all configurations."""

    configurations: dict[str, Configuration] = field(default_factory=dict)
    seconds: dict[str, dict[str, list[Seconds]]] = field(default_factory=dict)
    comparisons: dict[str, Comparison] = field(default_factory=dict)

    def overhead(self, name: str, mode: str, phase: str, kind: int = 1) -> float:
        """What a mode takes more, in % of the unrecorded run: the least times of all turns.

        `kind` is 0 of wall time, 1 of CPU time. `lt_hwctr` reads as many counters as `lt_stmt`.
        Least, as what others do on the machine only ever adds.
        """
        recorded = self.least(name, mode.replace("lt_hwctr", "lt_stmt"), phase, kind)
        return 100 * (recorded / self.least(name, "unrecorded", phase, kind) - 1)

    def least(self, name: str, mode: str, phase: str, kind: int) -> float:
        """The least wall or CPU time of a phase in seconds."""
        return min(run[phase][kind] for run in self.seconds[name][mode])

    def score(self, name: str, clock: str, metric: str | None = None) -> float:
        """J of metrics and call paths against physical time, or J_C of a metric; 0 without."""
        pair = self.comparisons[name].pairs[LOGICAL.index(clock)]
        return pair.j_mc if metric is None else pair.j_c.get(metric, 0.0)

    def run_to_run(self, name: str, clock: str) -> float:
        """The least J of two repetitions."""
        score = self.comparisons[name].run_to_run[CLOCKS.index(clock)]
        return 1.0 if score is None else score

    def of_time(self, name: str, clock: str, metric: str) -> float:
        """What a metric takes of the time, in %T."""
        shares = self.comparisons[name].of_time.get(metric)
        return 0.0 if shares is None else 100 * shares[CLOCKS.index(clock)]

    def of_metric(self, name: str, clock: str, metric: str, *functions: str) -> float:
        """What lies in call paths through any of some functions, in %M."""
        comparison = self.comparisons[name]
        if metric not in comparison.by_call_path:
            return 0.0
        inside = np.array(
            [bool({step.partition("@")[0] for step in path} & {*functions})
             for path in _paths(comparison)]
        )  # fmt: skip
        shares = comparison.by_call_path[metric][CLOCKS.index(clock)]
        return 100 * float(shares[inside].sum())

    def by_function(self, name: str, metric: str, most: int = 4) -> dict[str, list[float]]:
        """The functions with most of a metric, and what each has by clock, in %M."""
        comparison = self.comparisons[name]
        shares = comparison.by_call_path.get(metric, np.zeros((len(CLOCKS), 0)))
        sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0] * len(CLOCKS))
        for path, values in zip(_paths(comparison), 100 * shares.T, strict=False):
            sums[innermost(path)] = [
                a + float(b) for a, b in zip(sums[innermost(path)], values, strict=True)
            ]
        first = sorted(sums, key=lambda function: -max(sums[function]))[:most]
        return {function: sums[function] for function in first if max(sums[function]) >= 0.05}


def _paths(comparison: Comparison) -> list[tuple[str, ...]]:
    return [comparison.path(row) for row in range(len(comparison.call_paths))]


def innermost(path: tuple[str, ...]) -> str:
    """The last function of the program in a call path."""
    names = [step.partition("@")[0] for step in path]
    return next(
        (name for name in reversed(names) if not name.startswith(("MPI_", "!$", ".omp"))), ""
    )


def measured(site: Site, repetitions: int, say: Callable[[str], None]) -> Results:
    """The results of all runs, modes in turns."""
    results = Results()
    for configuration in (*FOR_TIME, *_table_two()):
        modes = MODES if configuration in FOR_TIME else ("unrecorded", "tsc")
        say(f"time of {configuration}")
        turns: dict[str, list[Seconds]] = {mode: [] for mode in modes}
        for _ in range(repetitions):
            for mode in modes:
                turns[mode].append(site.record(configuration, MODES[mode])[0])
        results.configurations[configuration.name] = configuration
        results.seconds[configuration.name] = turns
    for configuration in FOR_PROFILES:
        say(f"profiles of {configuration}")
        profiles: dict[str, list[Profile]] = {clock: [] for clock in CLOCKS}
        for _ in range(repetitions):
            for recorded, clocks in ((MODES[PHYSICAL], (PHYSICAL,)), (ALL_CLOCKS, LOGICAL)):
                for clock, profile in _profiles(site, configuration, recorded, clocks):
                    profiles[clock].append(profile)
        results.configurations[configuration.name] = configuration
        results.comparisons[configuration.name] = burstline.compare(
            *profiles.values(), names=CLOCKS
        )
    return results


def _table_two() -> Iterator[Configuration]:
    for configuration in FOR_PROFILES:
        if configuration.program == "grid":
            yield replace(configuration, words=("600", "1", "60"))


def _profiles(
    site: Site, configuration: Configuration, mode: Mode, clocks: tuple[str, ...]
) -> Iterator[tuple[str, Profile]]:
    trace = burstline.read(site.record(configuration, mode)[1], raw=False)
    for clock in clocks:
        waits = burstline.wait_states(trace, clock="physical" if clock == PHYSICAL else clock)
        yield clock, without_ends(waits.profile)


def without_ends(profile: Profile) -> Profile:
    """A profile without MPI_Init and MPI_Finalize."""
    rows = range(profile.call_paths.num_rows)
    left_out = [row for row in rows if {*profile.path(row)} & {*_LEFT_OUT}]
    stored = {}
    for name, values in profile.stored.items():
        is_kept = ~np.isin(values.call_paths, left_out)
        stored[name] = replace(
            values, call_paths=values.call_paths[is_kept], values=values.values[is_kept]
        )
    return replace(profile, stored=stored)
