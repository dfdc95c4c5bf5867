"""Numbers of OTF2 itself: references, paradigms, groups, roles of regions, collectives."""

from __future__ import annotations

from typing import Final

NOWHERE: Final = 0xFFFFFFFF
"""A reference to nothing, in 32 bits."""
MPI: Final = 4
"""The paradigm MPI."""
NO_ROOT: Final = 0xFFFFFFFF
"""In place of a root: there is none."""
COMM_LOCATIONS, COMM_GROUP, COMM_SELF = 4, 5, 6
"""Groups of all locations of a paradigm, of some of them, and of nobody: of a process alone."""
COLLECTIVE_OPERATIONS: Final = (
    "Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv",
    "Alltoall", "Alltoallv", "Alltoallw", "Allreduce", "Reduce", "Reduce_scatter", "Scan",
    "Exscan", "Reduce_scatter_block",
)  # fmt: skip
"""Without the prefix of MPI; numbers behind these create and destroy handles."""
ROLES: Final = (
    "unknown", "function", "wrapper", "loop", "code", "parallel", "sections", "section",
    "workshare", "single", "single_sblock", "master", "critical", "critical_sblock", "atomic",
    "barrier", "implicit_barrier", "flush", "ordered", "ordered_sblock", "task", "task_create",
    "taskwait", "coll_one2all", "coll_all2one", "coll_all2all", "coll_other", "file_io",
    "point2point", "rma", "data_transfer", "artificial", "thread_create", "thread_wait", "task",
    "allocate", "deallocate", "reallocate",
)  # fmt: skip

PERIODS: Final = "periods of the sampling"
"""The attribute of a sample that says how many periods it stands for."""
