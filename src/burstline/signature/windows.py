"""What a signature run measures: windows, early occurrences of phases, up to a cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from burstline.columns import Integers, Mask, ordinal_within
from burstline.signature.events import Events, Occurrences
from burstline.signature.model import Phase, Process

ENOUGH: Final = 4
"""Occurrences that tell the time of a phase, the first included; one of a rare phase."""
MOST: Final = 200
"""Windows of a phase, spread over the early part."""
COVERED: Final = 0.8
"""Part of the time of relevant phases whose phases a signature run meets at least."""


def early_end(
    found: Occurrences, boundaries: Integers, span_ns: int, is_relevant: Mask, within: float
) -> int:
    """When enough of a process was met, ns: not before a share `within` of its time."""
    wanted = int(boundaries[0]) + round(within * span_ns)
    turn = ordinal_within(found.phase)
    weight = found.weights
    # Who waits for the last of three occurrences is near the end of the run.
    needed = np.where(weight >= 2 * ENOUGH, ENOUGH, 1)
    met = np.flatnonzero(turn == needed[found.phase] - 1)
    met = met[is_relevant[found.phase[met]]]
    if not len(met):
        return wanted
    when = boundaries[found.end[met]]
    total = np.bincount(found.phase, found.durations(boundaries), len(found.names))
    total = total[found.phase[met]]
    order = np.argsort(when, kind="stable")
    covered = np.cumsum(total[order])
    enough = int(np.searchsorted(covered, COVERED * covered[-1]))
    return max(wanted, int(when[order][enough]))


def windows_of(found: Occurrences, is_relevant: Mask, cut: int, most: int = MOST) -> Integers:
    """Which occurrences are measured: before the cut, without the first one of each phase.

    Of a phase that is met only once that one is; of more than `most`, some that are spread.
    """
    early = np.flatnonzero((found.end <= cut) & is_relevant[found.phase])
    turn = ordinal_within(found.phase[early])
    there = np.bincount(found.phase[early], minlength=len(found.names))[found.phase[early]]
    usable = early[(turn > 0) | (there == 1)]
    turn = ordinal_within(found.phase[usable])
    there = np.bincount(found.phase[usable], minlength=len(found.names))[found.phase[usable]]
    spread = (turn + 1) * most // there > turn * most // there
    return usable[spread | (there <= most)]


def process_up_to(
    events: Events, number: int, found: Occurrences, relevant: Mask, cut: int, *, most: int
) -> Process:
    """The signature of a process that stops at a cut, by the times of a run."""
    boundaries = events.boundaries(number)
    begin, end = boundaries[found.begin], boundaries[found.end]
    late = np.maximum(end - np.maximum(begin, boundaries[cut]), 0)
    duration = end - begin
    sums = [
        np.bincount(found.phase, values, len(found.names))
        for values in (
            found.end - found.begin,
            duration,
            late,
            late / np.maximum(duration, 1) + (duration == 0) * (found.begin >= cut),
        )
    ]
    phases = tuple(
        Phase(name, n, events_in / n, round(total), round(late_ns), late_n, is_relevant)
        for name, n, events_in, total, late_ns, late_n, is_relevant in zip(
            found.names,
            *(each.tolist() for each in (found.weights, *sums, relevant)),
            strict=True,
        )
    )
    chosen = windows_of(found, relevant, cut, most)
    counts = np.unique(np.concatenate([found.begin[chosen], found.end[chosen], [cut]]))
    counts = counts[counts > 0]
    return Process(
        rank=int(events.ranks[number]),
        events=events.count(number),
        cut=cut,
        span_ns=int(events.spans()[number]),
        early_ns=int(boundaries[cut] - boundaries[0]),
        phases=phases,
        phase=found.phase[chosen].astype(np.int64),
        begin=found.begin[chosen],
        end=found.end[chosen],
        base_ns=duration[chosen],
        counts=counts,
        hashes=events.hashes(number)[counts],
    )


def mean_process(runs: Sequence[Process]) -> Process:
    """A process by the mean times of base runs that make the same calls; windows by medians."""
    first = runs[0]
    if len(runs) == 1:
        return first
    phases = tuple(
        of_runs[0]._replace(
            total_ns=round(np.mean([each.total_ns for each in of_runs])),
            late_ns=round(np.mean([each.late_ns for each in of_runs])),
            late_weight=float(np.mean([each.late_weight for each in of_runs])),
        )
        for of_runs in zip(*(run.phases for run in runs), strict=True)
    )
    # A window of microseconds that was disturbed in one run would lie off in the mean of all.
    base_ns = np.median([run.base_ns for run in runs], axis=0).astype(np.int64)
    spans, early = ([getattr(run, name) for run in runs] for name in ("span_ns", "early_ns"))
    return replace(
        first,
        span_ns=round(np.mean(spans)),
        early_ns=round(np.mean(early)),
        phases=phases,
        base_ns=base_ns,
    )
