"""The collective operations of OTF2, by the numbers that its records hold."""

from __future__ import annotations

from typing import Final

NO_ROOT: Final = 0xFFFFFFFF
"""In place of a root: there is none."""
COLLECTIVE_OPERATIONS: Final = (
    "Barrier",
    "Bcast",
    "Gather",
    "Gatherv",
    "Scatter",
    "Scatterv",
    "Allgather",
    "Allgatherv",
    "Alltoall",
    "Alltoallv",
    "Alltoallw",
    "Allreduce",
    "Reduce",
    "Reduce_scatter",
    "Scan",
    "Exscan",
    "Reduce_scatter_block",
)
"""Without the prefix of MPI; numbers behind these create and destroy handles."""
