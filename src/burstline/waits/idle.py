"""Why threads of a process idle: what its first thread does in the meantime.

A worker idles as long as its process is in no parallel region. Then the first thread computes
alone, or is in MPI, where it may wait for another rank: that rank's doings keep both idle.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

import numpy as np

from burstline.columns import Mask
from burstline.model import Profile
from burstline.waits.metrics import exclusive_or_zero

_LEAST_OF_PLACE: Final = 0.1
"""What is said of a place makes up at least so much of what it costs."""


class Keeping(Enum):
    """How a place keeps threads idle."""

    ALONE = "the first thread of their process computes there"
    IN_MPI = "the first thread of their process is in MPI there, and waits for nobody"
    LATE = "the first thread of their process waits in MPI for a rank that is there"
    NARROW = "the parallel region there has fewer threads than the process"


@dataclass(frozen=True, slots=True)
class Keeper:
    """The place that keeps threads idle for longest, of the rank that does."""

    rank: int
    of_rank: float  # the share of all idle time that the rank accounts for, 0..1
    place: int  # call path
    of_place: float  # the share of the place
    keeping: frozenset[Keeping]  # how the place does it


def keeper(profile: Profile, left_out: Mask) -> Keeper | None:
    """Who keeps threads idle for longest, and where; None where nothing tells."""
    is_mpi = np.array([[each == "mpi"] for each in profile.call_paths["paradigm"].to_pylist()])
    direct, late, narrow, idle = (
        np.where(left_out[:, None], 0.0, exclusive_or_zero(profile, metric))
        for metric in (
            "delay_ompidle", "delay_ompidle_longterm", "omp_limited_parallelism",
            "omp_idle_threads",
        )
    )  # fmt: skip
    costs = {
        Keeping.ALONE: np.where(is_mpi, 0, direct),
        Keeping.IN_MPI: np.where(is_mpi, direct, 0),
        Keeping.LATE: late,
        Keeping.NARROW: narrow,
    }
    every = sum(costs.values(), np.zeros(direct.shape))
    whole = max(every.sum(), idle.sum())
    if not every.any():
        return None
    ranks = profile.locations["rank"].to_numpy()
    by_rank = np.bincount(ranks, every.sum(axis=0))
    rank = int(by_rank.argmax())
    by_place = every[:, ranks == rank].sum(axis=1)
    place = int(by_place.argmax())
    parts = {how: values[place, ranks == rank].sum() for how, values in costs.items()}
    keeping = {how for how, part in parts.items() if part >= _LEAST_OF_PLACE * by_place[place]}
    shares = float(by_rank[rank] / whole), float(by_place[place] / whole)
    return Keeper(rank, shares[0], place, shares[1], frozenset(keeping))
