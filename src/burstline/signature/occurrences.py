"""The occurrences of phases in the events of a process."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from burstline.columns import AnyIntegers, Integers


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """Stretches of events in the order of time, of which none overlaps another."""

    phase: AnyIntegers  # (occurrences,) place of its phase in `names`
    begin: Integers  # (occurrences,) boundary at which it begins, and ends
    end: Integers
    names: tuple[str, ...]  # (phases,)
    similarity: float | None = None  # the least ratio of work in a phase, if that was compared

    @property
    def weights(self) -> Integers:
        """How often each phase occurs, (phases,)."""
        return np.bincount(self.phase, minlength=len(self.names))

    def durations(self, boundaries: Integers) -> Integers:
        """How long each occurrence lasts, ns, by the boundaries of its process."""
        return boundaries[self.end] - boundaries[self.begin]

    @property
    def once(self) -> int:
        """How many phases occur once: fragments, if they are many."""
        return int(np.count_nonzero(self.weights == 1))
