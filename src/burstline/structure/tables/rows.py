"""Rows of a loop table: the columns that all statistics of iterations are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from burstline.columns import Integers, Mask

_FEWEST_WHOLE: Final = 2


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What each iteration of a loop cost, on each lane that executed it."""

    loop: int  # number of the loop
    method: str  # how the loop was found
    # (rows,) who executed it, lane after lane
    lane: Integers
    location: Integers
    rank: Integers
    # (rows,) which entry into the loop it belongs to, counted from 0 on its lane
    entry: Integers
    # (rows,) which iteration it is, counted from 1 on its lane over all entries, as
    # ``--iterations`` counts
    iteration: Integers
    # (rows,) whether it lasts until the next one begins; else it is the last of its entry, and
    # lacks what was computed after its last call
    whole: Mask
    # (rows,) when it began and how long it lasted
    start_ns: Integers
    duration_ns: Integers
    calls: Integers  # (rows,) MPI calls in it
    # (rows,) time in MPI calls, outside them, and outside them in gaps; their sum is the
    # duration
    mpi_ns: Integers
    useful_ns: Integers
    unwatched_ns: Integers
    # (rows,) each counter over the computation between its calls;
    # :data:`burstline.schema.NO_VALUE` where it was not read throughout
    counters: dict[str, Integers]

    def __len__(self) -> int:
        return len(self.lane)

    @property
    def counted(self) -> Mask:
        """Rows that statistics are made of: whole iterations, or all if hardly any is."""
        enough = np.count_nonzero(self.whole) >= _FEWEST_WHOLE
        return self.whole if enough else np.ones(len(self), bool)
