"""What the machine decides in a run, not the program: stamps of all clocks may differ by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline.columns import coded

if TYPE_CHECKING:
    from burstline.trace import Trace

POLLS: Final = (
    "MPI_Test", "MPI_Testany", "MPI_Testall", "MPI_Testsome", "MPI_Iprobe", "MPI_Improbe",
    "MPI_Request_get_status",
)  # fmt: skip
"""Operations that are called until something is done: how often, the machine decides."""
FIRST_COMES: Final = ("MPI_Waitany", "MPI_Waitsome", "MPI_Probe", "MPI_Mprobe")
"""Operations that return what is there first, if the program left that open."""


@dataclass(frozen=True, slots=True)
class MachineOrder:
    """How much of a run is in an order that the machine decides.

    Which message a receive of any source took is no part of a trace: only whom it came from.
    """

    polls: dict[str, int]  # calls by operation that ask whether something is done
    first_comes: dict[str, int]  # calls by operation that return what is there first
    locks: int  # acquisitions of locks that several threads take
    calls: int  # of MPI, in all
    regions: int  # of OpenMP and of functions, in all

    @property
    def calls_share(self) -> float:
        """The share of such calls in those of MPI, 0..1."""
        chosen = sum(self.polls.values()) + sum(self.first_comes.values())
        return chosen / self.calls if self.calls else 0.0

    @property
    def locks_share(self) -> float:
        """Acquisitions of locks by regions of all threads, 0..1."""
        return self.locks / self.regions if self.regions else 0.0

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return {
            "polls": self.polls,
            "first_comes": self.first_comes,
            "calls_share": self.calls_share,
            "locks": self.locks,
            "locks_share": self.locks_share,
        }


def machine_order(trace: Trace) -> MachineOrder:
    """What the machine decided in a trace."""
    codes, names = coded(trace.table("calls")["operation"])
    counts = dict(zip(names, np.bincount(codes, minlength=len(names)).tolist(), strict=True))
    polls, first = (
        {name: counts[name] for name in names if name in chosen and counts[name]}
        for chosen in (POLLS, FIRST_COMES)
    )
    return MachineOrder(polls, first, _shared_locks(trace), len(codes), trace.rows("regions"))


def _shared_locks(trace: Trace) -> int:
    """Acquisitions of locks that several threads of a process take."""
    location, lock = trace.arrays("locks", "location", "lock")
    if not len(lock):
        return 0
    process = trace.arrays("locations", "process")[0][location]
    [takers, where] = np.unique(
        np.stack([process, lock, location]), axis=1, return_inverse=True
    )
    pairs, pair = np.unique(takers[:2], axis=1, return_inverse=True)
    several = np.bincount(pair.reshape(-1), minlength=pairs.shape[1]) > 1
    return int(np.count_nonzero(several[pair.reshape(-1)][where.reshape(-1)]))
