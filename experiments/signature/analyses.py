"""How long analyses of more and more processes take, and the classes of processes they tell."""

from __future__ import annotations

import math
import statistics
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import burstline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from experiments.signature.runs import Program, Site

PROCESSES: Final = (2, 4, 8, 16)
TIMED: Final = ("epas", "pas2p")
LATENCY_S: Final = 2e-6
"""Of a message between two processes, in the model of the published global analysis."""
_REPEATS: Final = 3


@dataclass(frozen=True, slots=True)
class Analysis:
    """A trace of a program, and how long analyses of it took on one core."""

    program: str
    processes: int
    actual_s: float
    trace_bytes: int
    events: int  # of the process that has most
    all_events: int
    messages: int
    collectives: int
    seconds: dict[str, float]

    def per_process_s(self, method: str) -> float:
        """The time of a process's part; the published analysis runs all parts side by side."""
        return self.seconds[method] / self.processes

    @property
    def synchronised(self) -> int:
        """Collectives of the published global analysis: those of the program, and one a tick.

        There are at least as many ticks as events of any process.
        """
        return self.collectives + self.events

    @property
    def modelled_s(self) -> float:
        """What its messages and collectives take, by a model: a latency for each hop."""
        hops = math.ceil(math.log2(self.processes)) * self.synchronised
        return LATENCY_S * (self.messages / self.processes + hops)


@dataclass(frozen=True, slots=True)
class ProcessClass:
    """Processes that have the same phases, and how well their own signatures predict them."""

    program: str
    processes: int
    method: str
    ranks: tuple[int, ...]
    phases: float
    coverage: float
    errors: tuple[float, ...]


def analyses(
    site: Site, program: Program, *, shorter: int, say: Callable[[str], None]
) -> Iterator[tuple[Analysis, list[ProcessClass]]]:
    """For each number of processes, the times of analyses, and the classes if irregular."""
    for processes in PROCESSES:
        say(f"{program.name}: analysing {processes} processes")
        store = _recorded(site, program, processes, shorter)
        trace = burstline.read(store)
        summary = site.document("info", store.name)
        counts = Counter(trace.calls["location"].to_pylist())
        seconds = {
            method: min(_seconds(trace, method) for _ in range(_REPEATS)) for method in TIMED
        }
        analysis = Analysis(
            program.name,
            processes,
            summary["efficiency"]["runtime_ns"] / 1e9,
            sum(path.stat().st_size for path in store.rglob("*") if path.is_file()),
            max(counts.values()),
            sum(counts.values()),
            summary["messages"]["matched"],
            summary["collectives"],
            seconds,
        )
        told = list(_classes(site, program, processes, store)) if program.irregular else []
        yield analysis, told


def variation(values: Sequence[float]) -> float:
    """The coefficient of variation, as published: of all processes' counts."""
    return statistics.stdev(values) / statistics.mean(values) if len(values) > 1 else 0.0


def _recorded(site: Site, program: Program, processes: int, shorter: int) -> Path:
    built = site.build(program, program.base)
    words = [f"mpirun.{program.base.mpi}", "-n", str(processes), built]
    words += [str(program.crowded_size), str(max(program.crowded_steps // shorter, 1))]
    return site.record(words, f"{program.name}.{processes}.store")


def _seconds(trace: burstline.Trace, method: str) -> float:
    before = time.perf_counter()
    burstline.phases(trace, method=method)
    return time.perf_counter() - before


def _classes(
    site: Site, program: Program, processes: int, store: Path
) -> Iterator[ProcessClass]:
    for method in ("loops", "epas"):
        document: dict[str, Any] = site.document("phases", store.name, "--method", method)
        by_rank = {process["rank"]: process for process in document["processes"]}
        for ranks in document["classes"]:
            members = [by_rank[rank] for rank in ranks]
            yield ProcessClass(
                program.name,
                processes,
                method,
                tuple(ranks),
                statistics.mean(each["relevant"] for each in members),
                statistics.mean(each["coverage"] for each in members),
                tuple(each["error"] for each in members),
            )
