"""How long analyses of more and more processes take, and the classes of processes they tell."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import burstline
from burstline import Trace
from burstline.signature import Coordination, Events, epas, events_of, pas2p
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
    coordination: Coordination
    seconds: dict[str, float]  # of finding the events, and of this and the phases, by method

    def per_process_s(self, method: str) -> float:
        """The time of a process's part; the published analysis runs all parts side by side."""
        return self.seconds[method] / self.processes

    @property
    def collectives(self) -> int:
        """Those of the published global analysis."""
        return self.coordination.agreements + self.coordination.decisions

    @property
    def modelled_s(self) -> float:
        """What its messages and collectives take, by a model: a latency for each hop."""
        hops = math.ceil(math.log2(self.processes)) * self.collectives
        return LATENCY_S * (self.coordination.messages / self.processes + hops)


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
        analysis = _analysis(program.name, processes, store)
        told = list(_classes(site, program, processes, store)) if program.irregular else []
        yield analysis, told


def variation(values: Sequence[float]) -> float:
    """The coefficient of variation, as published: of all processes' counts."""
    return statistics.stdev(values) / statistics.mean(values) if len(values) > 1 else 0.0


def _recorded(site: Site, program: Program, processes: int, shorter: int) -> Path:
    built = site.build(program, program.base)
    words = [f"mpirun.{program.base.mpi}", "-n", str(processes), built]
    words += [str(program.crowded_size), str(max(program.crowded_steps // shorter, 1))]
    return site.record(words, f"{program.name}.{processes}-ranks.store")


def _analysis(program: str, processes: int, store: Path) -> Analysis:
    """Both methods on a trace that is in memory: the least time of some repeats."""
    trace = burstline.read(store)
    repeats = [_once(trace, processes) for _ in range(_REPEATS)]
    events, coordination, _ = repeats[0]
    counts = [events.count(process) for process in range(processes)]
    return Analysis(
        program,
        processes,
        float((events.finalize_ns - events.init_ns).max()) / 1e9,
        sum(path.stat().st_size for path in store.rglob("*") if path.is_file()),
        max(counts),
        sum(counts),
        coordination,
        {part: min(seconds[part] for *_, seconds in repeats) for part in (*TIMED, "events")},
    )


def _once(trace: Trace, processes: int) -> tuple[Events, Coordination, dict[str, float]]:
    """The events, what the global analysis coordinates, and the time of each method."""
    begun = time.process_time()
    events = events_of(trace)
    read = time.process_time()
    for process in range(processes):
        epas(events, process)
    alone = time.process_time()
    _, coordination = pas2p(trace, events)
    together = time.process_time()
    seconds = {"epas": alone - begun, "pas2p": together - alone + read - begun}
    seconds["events"] = read - begun
    return events, coordination, seconds


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
