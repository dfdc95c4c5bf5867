"""One clock for all processes: that of rank 0, as samples at begin and end estimate it.

A sample says what the clock of rank 0 showed at a moment of the local clock, give or take
half a round trip. Processes of one node read one clock, so the sample with the shortest
round trip serves all of them; where their samples contradict each other, each has its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

import numpy as np

from burstline.columns import Integers
from burstline.formats.intake import Defects
from burstline.formats.raw.files.layout import LATEST, Kind
from burstline.formats.raw.processes.processes import RecordedProcess

_STEEPEST: Final = 1e-3


@dataclass(frozen=True, slots=True)
class OffsetEstimate:
    """One estimate: the local moment, rank 0's clock minus it, and the round trip, in ns."""

    time_ns: int
    offset_ns: int
    trip_ns: int


@dataclass(frozen=True, slots=True)
class Correction:
    """What is added to the times of a process."""

    # at this moment, this much
    time_ns: int = 0
    offset_ns: int = 0
    drift: float = 0.0  # and this much more per nanosecond since
    accuracy_ns: int = 0  # how wrong the sum may be

    def apply(self, time_ns: Integers) -> Integers:
        """Local times as those of rank 0, in the same order, within what a clock can show."""
        since = time_ns - self.time_ns
        drifted = np.clip(np.rint(since * self.drift), -LATEST, LATEST).astype(np.int64)
        return np.clip(time_ns + self.offset_ns + drifted, -LATEST, LATEST)


def corrections(processes: Sequence[RecordedProcess], defects: Defects) -> list[Correction]:
    """Find how the clock of each process is corrected."""
    samples = [_best_samples(process, defects) for process in processes]
    if not processes:
        return []
    first = processes[0]
    result = [Correction()] * len(processes)
    order = sorted(range(len(processes)), key=lambda number: processes[number].host)
    for host, group in groupby(order, key=lambda number: processes[number].host):
        numbers = list(group)
        shared = _samples_of_node([samples[number] for number in numbers])
        for number in numbers:
            compared = shared or samples[number]
            if host == first.host and all(abs(s.offset_ns) <= s.trip_ns for s in compared):
                continue
            if compared:
                result[number] = _correction_by(compared, defects)
                continue
            here = processes[number].files[0]
            defects.note("clock_not_compared", "loss", f"{here.path.name} on {host}")
            result[number] = _by_time_of_day(processes[number], first)
    return result


def _best_samples(process: RecordedProcess, defects: Defects) -> list[OffsetEstimate]:
    best: dict[int, OffsetEstimate] = {}
    for file in process.files:
        for record in file.records[file.outline.of(Kind.CLOCK)]:
            time, there, trip = (int(record[name]) for name in ("time", "b", "c"))
            if max(time, there, trip) >= LATEST:
                defects.note("clock_sample_absurd", "loss", file.path.name)
                continue
            shortest = best.get(int(record["op"]))
            if shortest is None or trip < shortest.trip_ns:
                best[int(record["op"])] = OffsetEstimate(time, there - time, trip)
    return sorted(best.values(), key=lambda sample: sample.time_ns)


def _samples_of_node(samples: Sequence[list[OffsetEstimate]]) -> list[OffsetEstimate]:
    """The best samples of a node; none if its processes contradict each other."""
    shared = []
    for position in range(2):
        every = [own[position] for own in samples if len(own) > position]
        if not every:
            break
        best = min(every, key=lambda sample: sample.trip_ns)
        if any(abs(s.offset_ns - best.offset_ns) > s.trip_ns + best.trip_ns for s in every):
            return []
        shared.append(best)
    return shared


def _correction_by(samples: Sequence[OffsetEstimate], defects: Defects) -> Correction:
    begin, end = samples[0], samples[-1]
    accuracy = max(sample.trip_ns for sample in samples) // 2
    span = end.time_ns - begin.time_ns
    drift = (end.offset_ns - begin.offset_ns) / span if span > 0 else 0.0
    if abs(drift) > _STEEPEST:
        text = f"{drift:.3g} between samples at {begin.time_ns} and {end.time_ns} ns"
        defects.note("clock_drift_absurd", "loss", text)
        accuracy, drift = max(accuracy, abs(end.offset_ns - begin.offset_ns)), 0.0
    return Correction(begin.time_ns, begin.offset_ns, drift, accuracy)


def _by_time_of_day(process: RecordedProcess, first: RecordedProcess) -> Correction:
    here, there = process.files[0], first.files[0]
    times: list[Any] = [here.start_realtime_ns, here.start_ns]
    times += [there.start_realtime_ns, there.start_ns]
    if not all(0 < time < LATEST for time in times):
        return Correction()
    offset = (times[0] - times[1]) - (times[2] - times[3])
    return Correction(offset_ns=offset)
