"""Scalability of runs relative to the first one, and why it is lost.

    traces ── a fold each ──► efficiency, work counted in useful bursts ──► ratios with run 1

Each trace is measured by itself and let go before the next one is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from burstline.columns import NO_VALUE, coded, numpy_columns
from burstline.efficiency.factors import Efficiency
from burstline.efficiency.ideal_network import with_communication
from burstline.efficiency.useful_time import BURST_COLUMNS, CALL_COLUMNS, UsefulTime
from burstline.errors import NotEnoughDataError, ParameterError, plural
from burstline.model import COLLECTIVES, FINALIZES, INITS, POLL_GAP_NS, Trace, waiting_in
from burstline.values import Contract, Documented

SCALINGS: Final = ("strong", "weak")
"""Whether runs solve the same problem, or one that grows with their threads."""

_INSTRUCTIONS: Final = ("papi_tot_ins", "instructions")
_CYCLES: Final = ("papi_tot_cyc", "cycles", "cpu-cycles")
_WORK: Final = ("ir_tot_ins",)
# What may be compared, the best first: all runs must have counted it.
_KINDS: Final = ((_INSTRUCTIONS, _CYCLES), (_INSTRUCTIONS,), (_WORK,))
_RECORD: Final = (
    "To have them: burstline record `counters=PAPI_TOT_INS,PAPI_TOT_CYC`; where the processor "
    "has no counters, burstline cc and record `counters=work` count the program's statements"
)
_ALIKE: Final = 0.1  # of amounts that are called the same
_GROWN: Final = 1.5  # of threads, that tells strong from weak scaling


class CountedWork(NamedTuple):
    """What was counted in the useful bursts whose counters are all known; empty if nothing."""

    counters: tuple[str, ...] = ()  # of instructions, or work; of cycles, if there is one
    counts: tuple[int, ...] = ()  # of each of them
    time_ns: int = 0  # useful time of these bursts

    @property
    def rates(self) -> tuple[float, ...]:
        """What each counter counted in a ns."""
        return tuple(count / self.time_ns for count in self.counts)


class _Measured(NamedTuple):
    """What comparing runs needs of one."""

    path: str
    calls: Counter[str]  # by operation
    functions: frozenset[str]  # of the call paths
    efficiency: Efficiency
    threads: int
    useful_ns: int
    work: tuple[CountedWork, ...]  # by kind


@dataclass(frozen=True, slots=True)
class ScaledRun(Documented):
    """One run beside the first."""

    path: str
    efficiency: Efficiency
    threads: int  # ranks, and their further threads that compute
    useful_ns: int  # of all threads
    work: CountedWork  # empty if the runs have no counter in common
    # parts of the parallel efficiency; ratios with the first run, above 1 where this one is
    # better; `global`; None if not computable
    factors: Mapping[str, float | None]

    @property
    def ranks(self) -> int:
        """How many ranks it has."""
        return len(self.efficiency.ranks)

    @property
    def share(self) -> float:
        """The part of the useful time whose counters are known."""
        return min(1.0, self.work.time_ns / max(self.useful_ns, 1))

    @property
    def _counters(self) -> dict[str, Any] | None:
        counts = dict(zip(self.work.counters, self.work.counts, strict=True))
        made = {"counts": counts, "time_ns": self.work.time_ns, "share": self.share}
        return made if counts else None

    CONTRACT: ClassVar[Contract] = (
        *("path", "ranks", "threads"),
        ("efficiency", (("**", "efficiency"), ("**", "factors"))),
        *("useful_ns", ("counters", "_counters")),
    )


@dataclass(frozen=True, slots=True)
class Scalability(Documented):
    """Runs of a program, compared with the first.

    Attributes
    ----------
    runs : tuple of ScaledRun
        Each run, in the order given: its `efficiency`, `factors` by name, and the `work`
        that was counted.
    scaling : {'strong', 'weak'}
        Whether useful time and instructions are compared in total, or per thread.
    warnings : tuple of str
        Why runs may not be comparable.
    not_computable : tuple of (tuple of str, str)
        Names of factors that are None, and the reason.
    """

    runs: tuple[ScaledRun, ...]
    scaling: str
    warnings: tuple[str, ...]
    not_computable: tuple[tuple[tuple[str, ...], str], ...]

    CONTRACT: ClassVar[Contract] = (
        *("runs", "scaling", "warnings"),
        (
            "not_computable",
            lambda self: [
                {"metric": name, "reason": reason}
                for names, reason in self.not_computable
                for name in names
            ],
        ),
    )


def scalability(
    traces: Iterable[Trace],
    *,
    scaling: str = SCALINGS[0],
    full: bool = False,
    poll_gap_ns: int = POLL_GAP_NS,
) -> Scalability:
    """How runs of a program scale, compared with the first of them.

    As POP defines it [1]_ [2]_: computation scalability is the useful time of the first run
    by that of another, and the product of three ratios: instructions of the first by those of
    the other, instructions per cycle, and cycles per time, of the other by those of the first.
    Global efficiency is parallel efficiency times computation scalability.

    Parameters
    ----------
    traces : iterable of Trace
        The runs. Each is let go before the next one is taken.
    scaling : {'strong', 'weak'}
        Whether all runs solve the same problem, so that totals are compared, or one that grows
        with the ranks, so that means per thread are.
    full : bool
        Whether the efficiency of communication is split, as :func:`burstline.summarise` does.
    poll_gap_ns : int
        Failed polls that a source only sums up are waiting where they are less than this apart.

    Returns
    -------
    Scalability
        The runs with their factors, and why they may not be comparable.

    Raises
    ------
    ParameterError
        If there is no run, or no such scaling.
    NotEnoughDataError
        If no application of a run calls MPI.

    Notes
    -----
    Useful time is that of the parallel efficiency, and what further threads compute in
    constructs of OpenMP. Instructions and cycles are those of the processor that all runs
    counted, else work that a compiler put in (``IR_TOT_INS``). They are taken from bursts
    without failed polls and gaps, and hold for all useful time: wrong where the rest computes
    something else. O(calls + bursts) time, one batch of memory, but for `full`.

    References
    ----------
    .. [1] Performance Optimisation and Productivity (POP), Standard Metrics for Parallel
       Performance Analysis, https://co-design.pop-coe.eu/metrics/.
    .. [2] C. Rosas, J. Giménez, J. Labarta, Scalability Prediction for Fundamental
       Performance Factors, Supercomputing Frontiers and Innovations 1(2), 2014,
       DOI 10.14529/jsfi140201.

    Examples
    --------
    Two ranks compute 60 ns each where one computed 100 ns.

    >>> from burstline.testing import trace_of
    >>> ends = "0 enter MPI_Init | 0 leave | {0} enter MPI_Finalize | {0} leave"
    >>> one = trace_of(f"ranks 1 | 0 | {ends.format(100)}")
    >>> two = trace_of(f"ranks 2 | 0 | {ends.format(60)} | 1 | {ends.format(60)}")
    >>> _, run = scalability([one, two]).runs
    >>> round(run.factors["computation_scalability"], 3)
    0.833
    """
    if scaling not in SCALINGS:
        raise ParameterError(f"scaling is one of {', '.join(SCALINGS)}, got {scaling!r}")
    # A map, unlike a loop, does not hold on to a trace while the next one is read.
    measured = [*map(partial(_measure_run, full=full, poll_gap_ns=poll_gap_ns), traces)]
    if not measured:
        raise ParameterError("there is no run to compare")
    for number, run in enumerate(measured, 1):
        if run.efficiency.parallel is None:
            raise NotEnoughDataError(f"run {number} ({run.path}): {run.efficiency.reason}")
    in_all = [all(run.work[kind].counts for run in measured) for kind in range(len(_KINDS))]
    kind = in_all.index(True) if any(in_all) else None
    runs = tuple(_compare_run(run, measured[0], kind, scaling) for run in measured)
    return Scalability(
        runs,
        scaling,
        (*_other_programs(measured), *_cut_runs(measured), *_other_scaling(runs, scaling)),
        tuple(_not_computable(measured, kind)),
    )


def _measure_run(trace: Trace, *, full: bool, poll_gap_ns: int) -> _Measured:
    useful = UsefulTime(trace)
    calls: Counter[str] = Counter()
    for batch in trace.batches("calls", CALL_COLUMNS):
        useful.add(batch)
        codes, names = coded(batch["operation"])
        counts = np.bincount(codes, minlength=len(names)).tolist()
        calls.update({name: n for name, n in zip(names, counts, strict=True) if n})
    (application,) = trace.arrays("locations", "application")
    is_cpu = np.array([kind == "cpu" for kind in trace.locations["kind"].to_pylist()], bool)
    counted = np.isin(application, useful.applications()) & is_cpu
    chosen = [_chosen_counters(trace.counter_names, kind) for kind in _KINDS]
    every = dict.fromkeys(name for counters in chosen for name in counters)
    time_ns = np.zeros(len(counted), np.int64)
    sums = [np.zeros(1 + len(counters), object) for counters in chosen]  # exact in any size
    for batch in trace.batches("bursts", (*BURST_COLUMNS, *every)):
        location, start, end, gap = numpy_columns(
            batch, "location", "start_ns", "end_ns", "gap_ns"
        )
        waiting = waiting_in(batch, poll_gap_ns)
        useful.add_bursts(batch, waiting)
        inside = useful.has(batch) & counted[location]
        length = np.maximum(end - start - gap - waiting, 0)
        np.add.at(time_ns, location[inside], length[inside])
        for counters, total in zip(chosen, sums, strict=True):
            values = numpy_columns(batch, *counters)
            known = inside & (gap == 0) & (waiting == 0)
            for column in values:
                known &= column != NO_VALUE
            total += [int(column[known].sum()) for column in (length, *values)]
    efficiency = useful.result()
    if full:
        efficiency = with_communication(efficiency, trace, poll_gap_ns)
    others = time_ns[counted & ~useful.first_threads]
    return _Measured(
        path=trace.metadata.get("path", ""),
        calls=calls,
        functions=frozenset(trace.call_paths["function"].to_pylist()),
        efficiency=efficiency,
        threads=len(efficiency.ranks) + int(np.count_nonzero(others)),
        useful_ns=sum(efficiency.useful_ns) + int(others.sum()),
        work=tuple(
            CountedWork(counters, (*total[1:],), total[0])
            if counters and min(total) > 0
            else CountedWork()
            for counters, total in zip(chosen, sums, strict=True)
        ),
    )


def _chosen_counters(names: Sequence[str], kind: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The counter for each quantity of a kind; empty if one of them has none."""
    chosen = [
        next((name for name in names if name.rpartition(":")[2].lower() in wanted), "")
        for wanted in kind
    ]
    return tuple(chosen) if all(chosen) else ()


def _compare_run(run: _Measured, first: _Measured, kind: int | None, scaling: str) -> ScaledRun:
    work, base = (CountedWork() if kind is None else one.work[kind] for one in (run, first))
    efficiency = run.efficiency
    names = ("computation", "instruction", "ipc", "frequency", "speed")
    ratios: dict[str, float | None] = dict.fromkeys(names)
    product: float | None = None
    if run.useful_ns and first.useful_ns and efficiency.parallel is not None:
        computation = first.useful_ns / run.useful_ns
        computation *= run.threads / first.threads if scaling == "weak" else 1
        product = efficiency.parallel * computation
        ratios["computation"] = computation
        gains = [ours / theirs for ours, theirs in zip(work.rates, base.rates, strict=True)]
        if gains:
            ratios |= {"instruction": computation / gains[0], "speed": gains[0]}
        if len(gains) > 1:
            ratios |= {"ipc": gains[0] / gains[1], "frequency": gains[1]}
    factors = {
        **efficiency.factors,
        "global": product,
        **{f"{name}_scalability": ratio for name, ratio in ratios.items()},
    }
    return ScaledRun(run.path, efficiency, run.threads, run.useful_ns, work, factors)


def _other_programs(runs: Sequence[_Measured]) -> Iterator[str]:
    """Which runs look like another program than the first, or do another number of steps."""
    first = runs[0]
    for number, run in enumerate(runs[1:], 2):
        has_paths = bool(first.functions and run.functions)
        noun = "functions" if has_paths else "operations of MPI"
        ours, theirs = (
            one.functions if has_paths else frozenset(one.calls) for one in (run, first)
        )
        if 2 * len(ours & theirs) < len(ours | theirs):
            yield (
                f"run {number} shares {len(ours & theirs)} of {len(ours | theirs)} {noun} with "
                "run 1: it may be another program"
            )
            continue
        steps, expected = (
            sum(one.calls[name] for name in COLLECTIVES) / len(one.efficiency.ranks)
            for one in (run, first)
        )
        if abs(steps - expected) > _ALIKE * max(steps, expected):
            yield (
                f"run {number} makes {steps:,.0f} collective calls a rank, run 1 "
                f"{expected:,.0f}: if it does another number of steps, times do not compare "
                "(`loop` and `iterations` take as many of each)"
            )


def _cut_runs(runs: Sequence[_Measured]) -> Iterator[str]:
    """Which runs lack an end that another has."""
    for names in (INITS, FINALIZES):
        ranks = [len(run.efficiency.ranks) for run in runs]
        lacking = [
            max(0, count - sum(run.calls[name] for name in names))
            for run, count in zip(runs, ranks, strict=True)
        ]
        if lacking == ranks:
            continue  # all are parts of runs
        for number, (missing, count) in enumerate(zip(lacking, ranks, strict=True), 1):
            if missing:
                yield (
                    f"run {number} was cut: {missing:,} of {plural(count, 'rank')} "
                    f"{'has' if missing == 1 else 'have'} no {names[0]}, so that only "
                    "a part of it is compared"
                )


def _other_scaling(runs: Sequence[ScaledRun], scaling: str) -> Iterator[str]:
    """Which runs look as if they scaled in the other way."""
    for number, run in enumerate(runs[1:], 2):
        grown = run.threads / runs[0].threads
        what, ratio = "as many instructions", run.factors["instruction_scalability"]
        if ratio is None:
            what, ratio = "as much useful time", run.factors["computation_scalability"]
        if ratio is None or 1 / _GROWN < grown < _GROWN:
            continue
        if scaling == "strong" and abs(ratio * grown - 1) < _ALIKE:
            yield (
                f"a thread of run {number} has {what} as one of run 1: if the problem grows "
                "with the ranks, compare with `scaling=weak`"
            )
        elif scaling == "weak" and abs(ratio / grown - 1) < _ALIKE:
            yield (
                f"run {number} has {what} in all as run 1: if both solve the same problem, "
                "compare with `scaling=strong`"
            )


def _not_computable(
    runs: Sequence[_Measured], kind: int | None
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Factors that no counter tells, and why."""
    split = ("ipc_scalability", "frequency_scalability")
    if kind is None:
        counted = []
        for number, run in enumerate(runs, 1):
            counters = next((work.counters for work in run.work if work.counts), ["none"])
            counted.append(f"run {number}: {' and '.join(counters)}")
        reason = f"the runs have no counter of instructions in common ({', '.join(counted)})"
        yield ("instruction_scalability", *split, "speed_scalability"), f"{reason}. {_RECORD}"
    elif len(_KINDS[kind]) == 1:
        reason = "the runs have no counter of cycles in common, so that both are one: speed"
        yield split, f"{reason}. {_RECORD}"
