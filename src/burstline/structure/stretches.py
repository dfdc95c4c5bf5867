"""Stretches of calls, and how long they take: of lanes of one kind, equal but for the times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from burstline.columns import UNKNOWN, Integers


class Times(NamedTuple):
    """When the stretches of each lane were, and what they took together."""

    total_ns: Integers  # (lanes,)
    start_ns: Integers  # of the first; 0 of lanes without any
    end_ns: Integers  # of the last

    @classmethod
    def of_all(cls, parts: Sequence[Times]) -> Times:
        """Those of the lanes of all parts."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))


class Stretches(NamedTuple):
    """Stretches from when one call is entered until another is entered, or left."""

    of_lane: Integers  # (lanes,) the set of stretches of each, -1 for none
    # (sets,) the first and the last call of each stretch, counted on its lane
    sets: Sequence[tuple[Integers, Integers]]
    to_leave: bool

    def of_lanes(self, lanes: slice) -> Stretches:
        """Those of some lanes."""
        used, number = np.unique(self.of_lane[lanes], return_inverse=True)
        missing = int(used[:1].tolist() == [UNKNOWN])
        sets = [self.sets[each] for each in used[missing:].tolist()]
        return Stretches(number.reshape(-1) - missing, sets, self.to_leave)

    def times(self, lane_begin: Integers, enter_ns: Integers, leave_ns: Integers) -> Times:
        """How long they took, by when all calls of the lanes were entered and left."""
        found = np.zeros((3, len(self.of_lane)), np.int64)
        ends_ns = leave_ns if self.to_leave else enter_ns
        for lane, (number, begin) in enumerate(
            zip(self.of_lane.tolist(), lane_begin.tolist(), strict=False)
        ):
            if number != UNKNOWN:
                first, last = self.sets[number]
                starts, ends = enter_ns[begin + first], ends_ns[begin + last]
                found[:, lane] = (ends - starts).sum(), starts[0], ends[-1]
        return Times(*found)
