"""What each rank spends its time on: parts that add up to the time of the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from burstline.answers.values import RankTime
from burstline.columns import Integers, Mask
from burstline.efficiency import RankParts
from burstline.model import INITS
from burstline.summary import Summary
from burstline.waits import WAITS, Waits, ends_of

_IN_MPI: Final = tuple(name for name in WAITS if name.startswith("mpi_"))
_IN_OPENMP: Final = ("omp_time", "omp_idle_threads")


def per_rank(summary: Summary, waits: Waits | None = None) -> tuple[RankTime, ...]:
    """What the threads of each rank spend the time of the run on.

    The five times of a rank add up, to the nanosecond, to the length of
    ``Summary.baseline`` times the threads of the rank, where all are known.

    Parameters
    ----------
    summary : Summary
        Of the trace.
    waits : Waits, optional
        Of the same trace, by the physical clock. Without, what is waiting is not known.

    Returns
    -------
    tuple of RankTime
        Ranks of the applications that call MPI, in order, ns.

    Notes
    -----
    What is waited where nothing was recorded counts as not recorded. Linear in call paths times
    locations.

    Examples
    --------
    >>> from burstline import summarise
    >>> from burstline.testing import trace_of
    >>> init = "10 enter MPI_Init | 30 leave"
    >>> trace = trace_of(f"ranks 1 | 0 | {init} | 40 enter MPI_Barrier | 90 leave")
    >>> [rank] = per_rank(summarise(trace))
    >>> rank.whole_ns, rank.computing_ns, rank.init_finalize_ns, rank.not_recorded_ns
    (60, 10, 0, 0)
    """
    if waits is None or waits.unit != "ns":
        return tuple(_rank_time(parts, None) for parts in summary.rank_parts)
    kept = ~ends_of(waits.profile)
    in_mpi = _times(waits, _IN_MPI, kept)
    functions = waits.profile.call_paths["function"].to_pylist()
    kept[[row for row, end in waits.places.ends.items() if functions[end] in INITS]] = False
    in_openmp = _times(waits, _IN_OPENMP, kept)
    return tuple(
        _rank_time(parts, [int(each[[*parts.locations]].sum()) for each in (in_mpi, in_openmp)])
        for parts in summary.rank_parts
    )


def _times(waits: Waits, metrics: tuple[str, ...], kept: Mask) -> Integers:
    """The sum of some metrics by location, but for what lies outside of the run."""
    total = np.zeros(waits.profile.locations.num_rows, np.int64)
    for name in metrics:
        if name in waits.profile.stored:
            total += waits.profile.exclusive(name)[kept].sum(axis=0)
    return total


def _rank_time(parts: RankParts, waited: Sequence[int] | None) -> RankTime:
    """The time of a rank by what it waited in MPI and in OpenMP, if that is known."""
    computing = parts.outside_ns if len(parts.locations) == 1 else None
    waiting = transferring = None
    if waited is not None:
        # What is waited in gaps of the trace was not recorded.
        in_mpi, in_openmp = min(waited[0], parts.mpi_ns), min(waited[1], parts.outside_ns)
        computing, transferring = parts.outside_ns - in_openmp, parts.mpi_ns - in_mpi
        waiting = in_mpi + parts.polling_ns + in_openmp
    which = parts.application, parts.rank, len(parts.locations), parts.whole_ns
    ends = parts.init_finalize_ns, parts.not_recorded_ns
    return RankTime(*which, computing, waiting, transferring, *ends)
