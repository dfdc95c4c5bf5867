"""Windows: the early occurrences of phases that a signature run measures."""

from __future__ import annotations

from typing import Final

import numpy as np

from burstline.columns import Integers, Mask, ordinal_within
from burstline.signature.occurrences import Occurrences

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
    weight = np.bincount(found.phase, minlength=len(found.names))
    # Who waits for the last of three occurrences is near the end of the run.
    needed = np.where(weight >= 2 * ENOUGH, ENOUGH, 1)
    met = np.flatnonzero(turn == needed[found.phase] - 1)
    met = met[is_relevant[found.phase[met]]]
    if not len(met):
        return wanted
    when = boundaries[found.end[met]]
    duration = boundaries[found.end] - boundaries[found.begin]
    total = np.bincount(found.phase, duration, len(found.names))[found.phase[met]]
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
