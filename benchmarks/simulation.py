"""When everything happens in a few iterations of a made-up program, over all ranks.

::

    ranks, iterations  ->  seconds of every call's entry and exit  ->  their order

Each iteration, a rank exchanges halos with both neighbours on a ring and takes part
in an Allreduce. What makes it believable is that nothing is completed before its
cause: a Waitall ends after both neighbours' sends began, an Allreduce after everyone
arrived.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

CALLS: Final = ("Irecv", "Irecv", "Isend", "Isend", "Waitall", "Allreduce")
STAMPS: Final = 2 * len(CALLS)
"""Stamps of one rank in one iteration: the entry and the exit of each call."""

IRECV_EXIT: Final = (1, 3)
"""Stamp at which the receive from the left, from the right, has been posted."""
ISEND_ENTRY: Final = (4, 6)
"""Stamp at which the send to the right, to the left, is entered."""
WAITALL_ENTRY: Final = 8
WAITALL_EXIT: Final = 9
ALLREDUCE_ENTRY: Final = 10

_BURST_NS = 900_000.0
_CALL_NS = 3_000.0
_LATENCY_NS = 4_000.0


@dataclass(frozen=True, slots=True)
class Schedule:
    """The order of all stamps of some iterations.

    Attributes
    ----------
    order : ndarray of int64, shape (iterations, ranks, stamps)
        Place of each stamp among all of them; all places differ.
    gaps_ns : ndarray of float64, shape (iterations * ranks * stamps,)
        Time from each place's predecessor, in nanoseconds; the first from the start.
    """

    order: npt.NDArray[np.int64]
    gaps_ns: npt.NDArray[np.float64]


def simulate(ranks: int, iterations: int, rng: np.random.Generator) -> Schedule:
    """Let the made-up program run for a few iterations.

    Parameters
    ----------
    ranks : int
        Ranks on the ring, at least 2.
    iterations : int
        How many iterations.
    rng : numpy.random.Generator
        Where the noise comes from.

    Returns
    -------
    Schedule
        All stamps in order.
    """
    load = rng.uniform(0.7, 1.3, size=ranks)
    now = np.zeros(ranks)
    stamps = np.empty((iterations, ranks, STAMPS))
    for iteration in range(iterations):
        now = _iterate(stamps[iteration], now, load, rng)
    flat = stamps.reshape(-1)
    in_order = np.argsort(flat, kind="stable")
    order = np.empty(len(flat), np.int64)
    order[in_order] = np.arange(len(flat))
    gaps_ns = np.diff(flat[in_order], prepend=0.0)
    return Schedule(order.reshape(stamps.shape), gaps_ns)


def _iterate(
    stamps: npt.NDArray[np.float64],
    now: npt.NDArray[np.float64],
    load: npt.NDArray[np.float64],
    rng: np.random.Generator,
) -> npt.NDArray[np.float64]:
    """Fill one iteration's stamps; return when each rank is through."""
    ranks = len(now)

    def moment(mean_ns: float) -> npt.NDArray[np.float64]:
        return mean_ns * rng.lognormal(0.0, 0.4, size=ranks)

    now = now + load * moment(_BURST_NS)
    for stamp in range(WAITALL_ENTRY + 1):
        stamps[:, stamp] = now
        now = now + moment(_CALL_NS)
    from_left = np.roll(stamps[:, ISEND_ENTRY[0]], 1)
    from_right = np.roll(stamps[:, ISEND_ENTRY[1]], -1)
    arrived = np.maximum(from_left, from_right) + moment(_LATENCY_NS)
    stamps[:, WAITALL_EXIT] = np.maximum(now, arrived)
    stamps[:, ALLREDUCE_ENTRY] = stamps[:, WAITALL_EXIT] + load * moment(_BURST_NS)
    everyone_there = stamps[:, ALLREDUCE_ENTRY].max()
    stamps[:, ALLREDUCE_ENTRY + 1] = everyone_there + moment(_LATENCY_NS)
    return stamps[:, ALLREDUCE_ENTRY + 1].copy()
