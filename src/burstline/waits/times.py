"""Time by what it was spent on: the tree of times, idle threads, counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import Floats, Integers, Mask
from burstline.model import COLLECTIVES
from burstline.synchronisation import Sync
from burstline.waits.absence import OFF_PROCESSOR
from burstline.waits.metrics import PARENTS
from burstline.waits.severities import Contributions, Severities

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


_COMPUTES: Final = ("", "off_processor")


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

    @property
    def computes(self) -> Mask:
        """Which are outside of MPI and of OpenMP's own, where it may be off the processor."""
        return np.array([each in _COMPUTES for each in self.category], bool)

    def inclusive(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values of call paths with all below them."""
        whole = values.copy()
        for node in range(len(whole) - 1, 0, -1):
            if self.parent[node] >= 0:
                whole[self.parent[node]] += whole[node]
        return whole


def chains_of(category: Sequence[str]) -> dict[str, Integers]:
    """Which rows of some categories count for each metric below `execution`."""
    chosen: dict[str, list[int]] = {}
    for row, lowest in enumerate(category):
        metric = lowest
        while metric not in {"", "comp", "execution", "time"}:
            chosen.setdefault(metric, []).append(row)
            metric = PARENTS.get(metric, "")
    return {metric: np.array(rows) for metric, rows in chosen.items()}


def _category_of(name: str, paradigm: str, role: str) -> str:
    """The lowest metric of the time tree that a node's time counts for; empty: computing."""
    if name == "TRACE BUFFER FLUSH":
        return "overhead"
    if paradigm == "openmp":
        return "omp_lock_api" if name in _LOCKS else _OPENMP.get(role, "")
    if paradigm != "mpi":
        return "off_processor" if name.startswith(OFF_PROCESSOR) else ""
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
    management = severities.rows("omp_management")
    for metric, rows, values in kinds_of_time(nodes.category, measured, management):
        severities.add_rows(metric, rows, values)


def kinds_of_time(
    category: Sequence[str], spent: Integers, management: tuple[Integers, Integers]
) -> Iterator[tuple[str, Integers, Integers]]:
    """Each metric below `time`, the rows that count for it, and what they add, in any columns.

    A row spent time of one category; some rows managed teams for a part of it.
    """
    chains, every = chains_of(category), np.arange(len(category))
    busy = spent.copy()
    busy[chains.pop("overhead", every[:0])] = 0
    yield "overhead", every, spent - busy
    yield "execution", every, busy
    rows, managed = management
    comp = busy.copy()
    comp[rows] -= managed
    for metric, counted in chains.items():
        if PARENTS[metric] == "execution":
            comp[counted] = 0
        yield metric, counted, busy[counted]
    outside = ~np.isin(rows, chains.get("omp_time", every[:0]))
    yield "omp_time", rows[outside], managed[outside]
    yield "comp", every, comp


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
    messages, calls, members = sync.messages, sync.calls, sync.collectives
    size = messages["sent_bytes"]
    for side, call, bytes_ in (
        ("send", messages.send, "bytes_sent"), ("recv", messages.receive, "bytes_rcvd"),
    ):  # fmt: skip
        rows = Contributions.entered(calls, call)
        severities.count(f"comms_{side}", rows, size > 0)
        severities.count(f"syncs_{side}", rows, size <= 0)
        severities.count(bytes_, rows, size)
    names = np.array([name in COLLECTIVES for name in sync.operations] or [False], bool)
    chosen = np.repeat(
        names[members.operation] & (members.operation >= 0), np.diff(members.begin)
    )
    rows = Contributions.entered(calls, members.call[chosen])
    sent, received = (members[name][chosen] for name in ("sent_bytes", "received_bytes"))
    sends, receives = sent > 0, received > 0
    for metric, which in (
        ("comms_cxch", sends & receives),
        ("comms_csrc", sends & ~receives),
        ("comms_cdst", ~sends & receives),
        ("syncs_coll", ~sends & ~receives),
    ):
        severities.count(metric, rows, which)
    severities.count("bytes_cout", rows, sent)
    severities.count("bytes_cin", rows, received)
