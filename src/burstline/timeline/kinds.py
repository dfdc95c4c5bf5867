"""What time is spent on: the kinds that a timeline tells apart."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np

from burstline.columns import AnyIntegers, Mask, mask_at
from burstline.model import FINALIZES, INITS
from burstline.synchronisation import Sync
from burstline.waits import Nodes


class Kind(IntEnum):
    """A kind of time, in the order in which pictures stack them."""

    COMPUTING = 0
    TRANSFER = 1
    OTHER_MPI = 2
    OPENMP = 3
    IO = 4
    BLOCKED = 5
    COLLECTIVE = 6
    THREADS = 7
    LATE_RECEIVER = 8
    LATE_SENDER = 9
    IDLE = 10
    ENDS = 11
    NOT_RECORDED = 12


KINDS: Final = tuple(kind.name.lower() for kind in Kind)
"""Names of the kinds, by code.

``computing``: outside of MPI and of OpenMP's own. ``transfer``: the rest of a call that is
known to communicate, without its wait. ``other_mpi``: calls that wait for nobody.
``openmp``: OpenMP's own, without waits. ``io``: calls of MPI on files. ``blocked``: calls that
may wait, of which the trace does not tell for whom. ``collective``: until the last rank comes,
or the root. ``threads``: until the last thread comes, or a lock is free. ``late_receiver``,
``late_sender``: until the other side comes. ``idle``: a thread in no team, while its process
has one thread at work. ``ends``: MPI_Init and MPI_Finalize. ``not_recorded``: nobody watched.
"""

KIND_OF_WAIT: Final = {
    "mpi_latesender": Kind.LATE_SENDER,
    "mpi_latereceiver": Kind.LATE_RECEIVER,
    "mpi_earlyreduce": Kind.COLLECTIVE,
    "mpi_earlyscan": Kind.COLLECTIVE,
    "mpi_latebroadcast": Kind.COLLECTIVE,
    "mpi_wait_nxn": Kind.COLLECTIVE,
    "mpi_barrier_wait": Kind.COLLECTIVE,
    "omp_ebarrier_wait": Kind.THREADS,
    "omp_ibarrier_wait": Kind.THREADS,
    "omp_lock_contention_critical": Kind.THREADS,
    "omp_lock_contention_api": Kind.THREADS,
}
"""The kind of time of each metric whose single waits are known."""

_MAY_WAIT: Final = tuple(
    f"MPI_{name}"
    for name in (
        "Send", "Ssend", "Rsend", "Sendrecv", "Sendrecv_replace", "Recv", "Mrecv", "Probe",
        "Mprobe", "Wait", "Waitall", "Waitany", "Waitsome", "Barrier", "Bcast", "Reduce",
        "Allreduce", "Alltoall", "Alltoallv", "Alltoallw", "Gather", "Gatherv", "Scatter",
        "Scatterv", "Allgather", "Allgatherv", "Scan", "Exscan", "Reduce_scatter",
        "Reduce_scatter_block", "Neighbor_allgather", "Neighbor_allgatherv",
        "Neighbor_alltoall", "Neighbor_alltoallv", "Neighbor_alltoallw", "Win_fence",
        "Win_start", "Win_complete", "Win_wait", "Win_lock", "Win_lock_all", "Win_unlock",
        "Win_unlock_all", "Win_flush", "Win_flush_all", "Win_flush_local",
        "Win_flush_local_all",
    )
)  # fmt: skip
"""Calls that return only when another rank has done something."""


def kinds_of_nodes(nodes: Nodes) -> AnyIntegers:
    """The kind of each call path's own time; of those in MPI before their calls are asked."""
    return np.array(
        [_kind_of(category) for category in nodes.category] or [Kind.COMPUTING], np.uint8
    )


def _kind_of(category: str) -> Kind:
    if category in ("", "off_processor"):
        return Kind.COMPUTING
    if category == "overhead":
        return Kind.NOT_RECORDED  # the trace was written, and the program stood still
    if category.startswith("omp"):
        return Kind.OPENMP
    if category == "mpi_init_exit":
        return Kind.ENDS
    return Kind.IO if category in ("mpi_io", "mpi_mgmt_file") else Kind.OTHER_MPI


def kinds_of_calls(sync: Sync) -> AnyIntegers:
    """The kind of each call of MPI but for its wait; of calls of files OTHER_MPI."""
    kind = np.full(len(sync.calls.node), Kind.OTHER_MPI, np.uint8)
    may_wait = sync.mask_of(*_MAY_WAIT)
    kind[may_wait] = Kind.BLOCKED
    kind[may_wait & _communicates(sync)] = Kind.TRANSFER
    kind[sync.mask_of(*INITS, *FINALIZES)] = Kind.ENDS
    return kind


def _communicates(sync: Sync) -> Mask:
    """Calls that are known to complete a message or a collective, with all that take part."""
    messages, members = sync.messages, sync.collectives.call
    done = messages.done[messages.done_known & (messages.done >= 0)]
    known = np.concatenate([messages.receive, members[members >= 0], done])
    return mask_at(known, len(sync.calls.node))
