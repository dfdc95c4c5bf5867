"""What the machine decides in a run, not the program: stamps of all clocks may differ by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from burstline.columns import AnyIntegers, Mask, begins_run, coded
from burstline.model import Trace
from burstline.values import Contract, Documented

POLLS: Final = (
    "MPI_Test", "MPI_Testany", "MPI_Testall", "MPI_Testsome", "MPI_Iprobe", "MPI_Improbe",
    "MPI_Request_get_status", "MPI_Request_get_status_any", "MPI_Request_get_status_all",
    "MPI_Request_get_status_some",
)  # fmt: skip
"""Operations that are called until something is done: how often, the machine decides."""
FIRST_COMES: Final = ("MPI_Waitany", "MPI_Waitsome", "MPI_Probe", "MPI_Mprobe")
"""Operations that return what is there first, if the program left that open."""


@dataclass(frozen=True, slots=True)
class MachineOrder(Documented):
    """How much of a run is in an order that the machine decides.

    Whether a receive was of any source is no part of a trace, only whom it came from. So
    `rivals` is a bound: without receives of any source none of them is decided by the machine.
    """

    polls: dict[str, int]  # calls by operation that ask whether something is done
    first_comes: dict[str, int]  # calls by operation that return what is there first
    locks: int  # acquisitions of locks that several threads take
    calls: int  # of MPI, in all
    regions: int  # of OpenMP and of functions, in all
    rivals: int  # messages that a receive of any source could take in place of another rank's
    messages: int  # in all

    @property
    def calls_share(self) -> float:
        """The share of such calls in those of MPI, 0..1."""
        chosen = sum(self.polls.values()) + sum(self.first_comes.values())
        return chosen / self.calls if self.calls else 0.0

    @property
    def locks_share(self) -> float:
        """Acquisitions of locks by regions of all threads, 0..1."""
        return self.locks / self.regions if self.regions else 0.0

    CONTRACT: ClassVar[Contract] = (
        *("polls", "first_comes", "calls_share", "locks", "locks_share", "rivals"),
        ("rivals_share", lambda self: self.rivals / self.messages if self.messages else 0.0),
    )


def machine_order(trace: Trace) -> MachineOrder:
    """What the machine decided in a trace."""
    codes, names = coded(trace.table("calls")["operation"])
    counts = dict(zip(names, np.bincount(codes, minlength=len(names)).tolist(), strict=True))
    polls, first = (
        {name: counts[name] for name in names if name in chosen and counts[name]}
        for chosen in (POLLS, FIRST_COMES)
    )
    return MachineOrder(
        polls, first, _shared_locks(trace), len(codes), trace.rows("regions"),
        _rival_messages(trace), trace.rows("messages"),
    )  # fmt: skip


def _rival_messages(trace: Trace) -> int:
    """Messages to a rank of which others send it some with the same tag."""
    sender, receiver, *envelope = trace.arrays(
        "messages", "sender_location", "receiver_location", "communicator", "tag"
    )
    if not len(sender):
        return 0
    process = trace.arrays("locations", "process")[0]
    return int(np.count_nonzero(_of_several(process[sender], process[receiver], *envelope)))


def _shared_locks(trace: Trace) -> int:
    """Acquisitions of locks that several threads of a process take."""
    location, lock = trace.arrays("locks", "location", "lock")
    if not len(lock):
        return 0
    process = trace.arrays("locations", "process")[0][location]
    return int(np.count_nonzero(_of_several(location, process, lock)))


def _of_several(who: AnyIntegers, *keys: AnyIntegers) -> Mask:
    """Rows whose keys are those of rows of others, too."""
    order = np.lexsort((who, *keys))
    starts = begins_run(*(key[order] for key in keys))
    group = np.cumsum(starts) - 1
    changes = np.flatnonzero(begins_run(who[order]) & ~starts)
    is_shared = np.zeros(int(group[-1]) + 1, bool)
    is_shared[group[changes]] = True
    rows = np.zeros(len(who), bool)
    rows[order] = is_shared[group]
    return rows
