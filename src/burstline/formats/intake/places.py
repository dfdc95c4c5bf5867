"""Where processes and locations are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from burstline.schema import UNKNOWN

if TYPE_CHECKING:
    from burstline.columns import Integers


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Who is who among locations, processes and ranks."""

    process: Integers  # (locations,) process of each location
    # (processes,) place of each process in the run
    application: Integers
    rank: Integers
    # how wrong the comparison of two clocks may be; None if they are not compared
    accuracy_ns: int | None

    def process_of(self, location: Integers, rank: Integers) -> Integers:
        """The process of a rank in the application of a location, -1 without one."""
        if not len(location):
            return np.zeros(0, np.int64)
        span = int(self.rank.max()) + 1
        wanted = self.application[self.process[location]] * span + rank
        known = self.application * span + self.rank
        at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        found = (known[at] == wanted) & (rank >= 0) & (rank < span)
        return np.where(found, at, UNKNOWN)
