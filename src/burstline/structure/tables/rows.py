"""Rows of a loop table: the columns that everything said about iterations is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from burstline.columns import Integers, Mask

_FEWEST_WHOLE: Final = 2


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What each iteration of a loop cost, on each lane that executed it.

    Attributes
    ----------
    loop : int
        Number of the loop.
    method : str
        How the loop was found.
    lane, location, rank : ndarray of int64, shape (rows,)
        Who executed it, lane after lane.
    entry : ndarray of int64, shape (rows,)
        Which entry into the loop it belongs to, counted from 0 on its lane.
    iteration : ndarray of int64, shape (rows,)
        Which iteration it is, counted from 1 on its lane over all entries, as ``--iterations``
        counts.
    whole : ndarray of bool, shape (rows,)
        Whether it lasts until the next one begins; else it is the last of its entry, and
        lacks what was computed after its last call.
    start_ns, duration_ns : ndarray of int64, shape (rows,)
        When it began and how long it lasted.
    calls : ndarray of int64, shape (rows,)
        MPI calls in it.
    mpi_ns, useful_ns, unwatched_ns : ndarray of int64, shape (rows,)
        What it was spent on: in MPI calls, outside them, and outside them while nobody
        watched. They sum up to its duration.
    counters : dict of str to ndarray of int64, shape (rows,)
        Each counter over the computation between its calls;
        :data:`burstline.schema.NO_VALUE` where it was not read throughout.
    """

    loop: int
    method: str
    lane: Integers
    location: Integers
    rank: Integers
    entry: Integers
    iteration: Integers
    whole: Mask
    start_ns: Integers
    duration_ns: Integers
    calls: Integers
    mpi_ns: Integers
    useful_ns: Integers
    unwatched_ns: Integers
    counters: dict[str, Integers]

    def __len__(self) -> int:
        return len(self.lane)

    @property
    def counted(self) -> Mask:
        """Rows that statistics are made of: whole iterations, or all if hardly any is."""
        enough = np.count_nonzero(self.whole) >= _FEWEST_WHOLE
        return self.whole if enough else np.ones(len(self), bool)
