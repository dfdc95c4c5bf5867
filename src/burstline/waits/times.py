"""Time by what it was spent on: the tree of times, idle threads, counts."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import Floats, Integers, Mask
from burstline.model import COLLECTIVES
from burstline.synchronisation import Sync
from burstline.waits.metrics import PARENTS
from burstline.waits.severities import Severities

_NAMES: Final = {
    "mpi_init_exit": "Init Init_thread Initialized Finalize Finalized",
    "mpi_mgmt_file": "File_open File_close File_delete File_seek File_seek_shared "
    "File_set_view File_set_size File_preallocate File_sync",
    "mpi_mgmt_win": "Win_create Win_create_dynamic Win_allocate Win_allocate_shared Win_free",
}
_BY_NAME: Final = {
    f"MPI_{name}": metric for metric, names in _NAMES.items() for name in names.split()
}
_COMMUNICATORS: Final = tuple(
    f"MPI_{name}"
    for name in ("Cart_", "Cartdim_get", "Comm_", "Dims_create", "Dist_graph_", "Graph_",
                 "Graphdims_get", "Intercomm_", "Topo_test")
)  # fmt: skip
_BY_ROLE: Final = {
    "barrier": "mpi_sync_collective",
    "point2point": "mpi_point2point",
    "one2all": "mpi_collective",
    "all2one": "mpi_collective",
    "all2all": "mpi_collective",
    "other collective": "mpi_collective",
    "rma": "mpi_rma_communication",
    "file io": "mpi_io",
}
_OPENMP: Final = {
    "barrier": "omp_ebarrier",
    "implicit barrier": "omp_ibarrier",
    "critical": "omp_critical",
    "atomic": "omp_critical",
    "ordered": "omp_ordered",
    "taskwait": "omp_taskwait",
    "flush": "omp_flush",
}
_LOCKS: Final = frozenset(
    f"omp_{verb}{nest}_lock"
    for verb in ("set", "unset", "init", "destroy", "test")
    for nest in ("", "_nest")
)


class Nodes:
    """The call tree as columns: parents, categories, and what is in a parallel region."""

    def __init__(self, table: pa.Table) -> None:
        self.parent: Integers = table["parent"].fill_null(-1).to_numpy().astype(np.int64)
        columns = (table[name].to_pylist() for name in ("function", "paradigm", "role"))
        rows = list(zip(*columns, strict=True))
        self.category = [_category_of(*row) for row in rows]
        # The outermost parallel region that a node is or is in, -1 outside.
        self.parallel = np.full(len(rows), -1, np.int64)
        for node, (_, _, role) in enumerate(rows):
            above = self.parent[node]
            if above >= 0 and self.parallel[above] >= 0:
                self.parallel[node] = self.parallel[above]
            elif role == "parallel":
                self.parallel[node] = node

    def __len__(self) -> int:
        return len(self.parent)

    def inclusive(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values of call paths with all below them."""
        whole = values.copy()
        for node in range(len(whole) - 1, 0, -1):
            if self.parent[node] >= 0:
                whole[self.parent[node]] += whole[node]
        return whole

    def chains(self) -> dict[str, Mask]:
        """Which nodes count for each metric below `execution`, by their category."""
        chosen: dict[str, Mask] = {}
        for node, category in enumerate(self.category):
            metric = category
            while metric not in {"", "execution"}:
                chosen.setdefault(metric, np.zeros(len(self), bool))[node] = True
                metric = PARENTS.get(metric, "")
        return chosen


def _category_of(name: str, paradigm: str, role: str) -> str:
    """The lowest metric of the time tree that a node's time counts for; empty: computation."""
    if name == "TRACE BUFFER FLUSH":
        return "overhead"
    if paradigm == "openmp":
        return "omp_lock_api" if name in _LOCKS else _OPENMP.get(role, "")
    if paradigm != "mpi":
        return ""
    if name.startswith(_COMMUNICATORS) or name.endswith(("_port", "_name")):
        return "mpi_mgmt_comm"
    if name.startswith(("MPI_Wait", "MPI_Test")):
        return "mpi_point2point"
    return _BY_NAME.get(name, _BY_ROLE.get(role, "mpi"))


def add_time_tree(
    sync: Sync, nodes: Nodes, severities: Severities, visits: Integers, measured: Integers
) -> None:
    """Add times of all kinds, from the time of each call path alone, and visits."""
    severities.add_dense("visits", visits)
    idle = _add_idle(sync, nodes, measured, severities) if len(sync.teams.fork_location) else 0
    severities.add_dense("time", measured + idle)
    is_overhead = np.array([category == "overhead" for category in nodes.category], bool)
    busy = measured.copy()
    busy[is_overhead] = 0
    severities.add_dense("overhead", measured - busy)
    severities.add_dense("execution", busy)
    rows, management = severities.rows("omp_management")
    comp = busy.copy()
    comp[rows] -= management
    for metric, chosen in nodes.chains().items():
        if metric == "overhead":
            continue
        part = np.flatnonzero(chosen)
        if PARENTS[metric] == "execution":
            comp[part] = 0
        severities.add_rows(metric, part, busy[part])
    in_openmp = nodes.chains().get("omp_time", np.zeros(len(nodes), bool))
    severities.add_rows("omp_time", rows[~in_openmp[rows]], management[~in_openmp[rows]])
    severities.add_dense("comp", comp)


def _add_idle(sync: Sync, nodes: Nodes, measured: Integers, severities: Severities) -> Integers:
    """Threads idle where only the first one of a process works: by (call path, location)."""
    idle = np.zeros_like(measured)
    limited = np.zeros_like(measured)
    serial = nodes.parallel < 0
    inside = np.flatnonzero(~serial)
    in_region = np.zeros_like(measured)
    np.add.at(in_region, nodes.parallel[inside], measured[inside])
    for master, workers in process_threads(sync):
        idle[np.ix_(serial, workers)] += measured[serial, master][:, None]
        missing = np.maximum(0, in_region[:, [master]] - in_region[:, workers])
        limited[:, workers] += missing
        idle[:, workers] += missing
    severities.add_dense("omp_limited_parallelism", limited)
    severities.add_dense("omp_idle_threads", idle)
    return idle


def process_threads(sync: Sync) -> list[tuple[int, Integers]]:
    """The first thread and the other threads of each process that has several."""
    cpus = np.flatnonzero(sync.is_cpu)
    order = cpus[np.lexsort((sync.thread[cpus], sync.process[cpus]))]
    groups = np.split(order, np.flatnonzero(np.diff(sync.process[order])) + 1)
    return [(int(group[0]), group[1:]) for group in groups if len(group) > 1]


def add_imbalance(sync: Sync, nodes: Nodes, severities: Severities, visits: Integers) -> None:
    """Add computation above and below the mean of each call path, as CubeLib does."""
    comp = severities["comp"]
    computes = comp.any(axis=1)
    masters = np.flatnonzero(sync.thread == 0)
    cpus = np.flatnonzero(sync.is_cpu)
    for places, inside in ((masters, nodes.parallel < 0), (cpus, nodes.parallel >= 0)):
        chosen = np.flatnonzero(inside & computes)
        part = comp[np.ix_(chosen, places)]
        visited = visits[np.ix_(chosen, places)] > 0
        if not part.size:
            continue
        mean = part.mean(axis=1, keepdims=True)
        difference = part - mean
        single = visited.sum(axis=1, keepdims=True) == 1
        for metric, value in {
            "imbalance": np.abs(difference),
            "imbalance_above": np.maximum(difference, 0),
            "imbalance_below": np.maximum(-difference, 0),
            "imbalance_above_single": np.where(single & visited, mean * (len(places) - 1), 0),
            "imbalance_below_singularity": np.where(single & ~visited, mean, 0),
            "imbalance_below_bypass": np.where(~visited, mean, 0),
        }.items():
            whole: Floats = np.zeros((len(chosen), comp.shape[1]))
            whole[:, places] = value
            severities.add_rows(metric, chosen, whole)


def add_counts(sync: Sync, severities: Severities) -> None:
    """Add counts of transfers and of synchronisations, which have no payload, and bytes."""
    messages, calls = sync.messages, sync.calls
    size = messages["sent_bytes"]
    ones = np.ones(len(size), np.int64)
    for side, call, location in (
        ("send", messages.send, messages["sender_location"]),
        ("recv", messages.receive, messages["receiver_location"]),
    ):
        node, start = calls.node[call], calls.enter_ns[call]
        for kind, rows in (("comms", size > 0), ("syncs", size <= 0)):
            severities.add(
                f"{kind}_{side}", node[rows], location[rows], ones[rows], start[rows],
                is_count=True,
            )  # fmt: skip
        metric = {"send": "bytes_sent", "recv": "bytes_rcvd"}[side]
        severities.add(metric, node, location, size, start, is_count=True)
    members = sync.collectives
    names = np.array([name in COLLECTIVES for name in sync.operations] or [False], bool)
    chosen = np.repeat(
        names[members.operation] & (members.operation >= 0), np.diff(members.begin)
    )
    node, location = calls.node[members.call], members["location"]
    start = calls.enter_ns[members.call]
    sends, receives = members["sent_bytes"] > 0, members["received_bytes"] > 0
    for metric, which in (
        ("comms_cxch", sends & receives),
        ("comms_csrc", sends & ~receives),
        ("comms_cdst", ~sends & receives),
        ("syncs_coll", ~sends & ~receives),
    ):
        rows = which & chosen
        ones = np.ones(int(rows.sum()), np.int64)
        severities.add(metric, node[rows], location[rows], ones, start[rows], is_count=True)
    for metric, column in (
        ("bytes_cout", members["sent_bytes"]), ("bytes_cin", members["received_bytes"]),
    ):  # fmt: skip
        severities.add(
            metric, node[chosen], location[chosen], column[chosen], start[chosen], is_count=True
        )
