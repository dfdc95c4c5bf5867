"""Section 1: the metrics of wait states, delay costs and the critical path, slow and obvious.

``severities(case)`` follows the definitions literally on a list of events (see
:mod:`oracles.event_lists`). The parts are read in this order:

1. ``event_lists``: what happens on each location (section 0);
2. ``wait_states``: wait states and synchronisation points (1.2 to 1.4, 3.1);
3. ``delays``: what causes them, and the critical path (1.5, 3 and 4);
4. here: time, remapping, categories and counts (1.1, 1.6 to 1.8), and the tree of metrics.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

from oracles import delays
from oracles import event_lists as el
from oracles.wait_states import wait_states

# A metric of the tree that is nothing but the sum of its children (section 1).
SUMS = {
    "mpi_wait_direct": ("mpi_wait_direct_latesender", "mpi_wait_direct_latereceiver"),
    "mpi_wait_indirect": ("mpi_wait_indirect_latesender", "mpi_wait_indirect_latereceiver"),
    "waitstates_direct_vs_indirect": ("mpi_wait_direct", "mpi_wait_indirect"),
    "mpi_wait_propagating": ("mpi_wait_propagating_ls", "mpi_wait_propagating_lr"),
    "mpi_wait_terminal": ("mpi_wait_terminal_ls", "mpi_wait_terminal_lr"),
    "waitstates_propagating_vs_terminal": ("mpi_wait_propagating", "mpi_wait_terminal"),
    **{f"delay_{T}_aggregate": (f"delay_{T}", f"delay_{T}_longterm") for T in delays.TYPES},
    "delay_p2p": tuple(f"delay_{T}_aggregate" for T in delays.MESSAGES),
    "delay_collective": tuple(f"delay_{T}_aggregate" for T in delays.COLLECTIVES),
    "delay_mpi": ("delay_p2p", "delay_collective"),
    "delay_omp": ("delay_ompbarrier_aggregate", "delay_ompidle_aggregate"),
    "delay": ("delay_mpi", "delay_omp"),
    "syncs_p2p": ("syncs_send", "syncs_recv"),
    "syncs": ("syncs_p2p", "syncs_coll"),
    "comms_p2p": ("comms_send", "comms_recv"),
    "comms_coll": ("comms_cxch", "comms_csrc", "comms_cdst"),
    "comms": ("comms_p2p", "comms_coll"),
    "bytes_p2p": ("bytes_sent", "bytes_rcvd"),
    "bytes_coll": ("bytes_cout", "bytes_cin"),
    "bytes": ("bytes_p2p", "bytes_coll"),
    "performance_impact_criticalpath": (
        "critical_path_activities",
        "critical_imbalance_impact",
    ),
    "performance_impact": ("performance_impact_criticalpath", "non_critical_path_activities"),
}

MANAGEMENT = {
    "mpi_init_exit": {"Init", "Init_thread", "Initialized", "Finalize", "Finalized"},
    "mpi_mgmt_file": {
        "File_open", "File_close", "File_delete", "File_seek", "File_seek_shared",
        "File_set_view", "File_set_size", "File_preallocate", "File_sync",
    },
    "mpi_mgmt_win": {
        "Win_create", "Win_create_dynamic", "Win_allocate", "Win_allocate_shared", "Win_free",
    },
}  # fmt: skip
COMMUNICATOR_CALLS = (
    "Cart_", "Cartdim_get", "Comm_", "Dims_create", "Dist_graph_", "Graph_", "Graphdims_get",
    "Intercomm_", "Topo_test",
)  # fmt: skip
WAITS = (
    "mpi_latesender", "mpi_latereceiver", "mpi_earlyreduce", "mpi_earlyscan",
    "mpi_latebroadcast", "mpi_wait_nxn", "mpi_barrier_wait", "mpi_finalize_wait",
    "omp_ebarrier_wait", "omp_ibarrier_wait", "omp_lock_contention_critical",
    "omp_lock_contention_api",
)  # fmt: skip
BY_ROLE = {
    el.BARRIER: "mpi_sync_collective", el.POINT2POINT: "mpi_point2point",
    el.ONE2ALL: "mpi_collective", el.ALL2ONE: "mpi_collective", el.ALL2ALL: "mpi_collective",
    el.OTHER_COLLECTIVE: "mpi_collective", el.RMA: "mpi_rma_communication",
}  # fmt: skip
OPENMP_BY_ROLE = {
    el.BARRIER: "omp_ebarrier", el.IMPLICIT_BARRIER: "omp_ibarrier",
    el.CRITICAL: "omp_critical", el.ATOMIC: "omp_critical", el.ORDERED: "omp_ordered",
    el.TASKWAIT: "omp_taskwait", el.FLUSH: "omp_flush",
}  # fmt: skip
LOCK_CALLS = {
    f"omp_{verb}{nest}_lock"
    for verb in ("set", "unset", "init", "destroy", "test")
    for nest in ("", "_nest")
}


def severities(case, *, like_scalasca=False):
    """All metrics: {metric: {(location, call path): value}}, exclusive by call path.

    A metric includes its children. Times have the unit of the stamps and are exact: an int,
    or a Fraction where something was divided. ``like_scalasca`` adds the oddities of 2.6.
    """
    program = el.read(case)
    replay = wait_states(program, like_scalasca=like_scalasca)
    values = replay.values
    explained = delays.explanations(replay)
    delays.add_delay_costs(replay, explained)
    delays.add_propagation(replay, explained)
    add_complements(values)
    add_time(program, values)
    delays.add_critical_path(replay, busy_time(values))
    add_counts(replay)
    if program.teams:
        add_idle_threads(program, values)
    add_time_tree(values)
    if program.teams:  # as all of the remapper: a run of MPI alone has no such metric
        add_load_imbalance(program, values)
    for metric, children in SUMS.items():
        for child in children:
            for place, value in values[child].items():
                values[metric][place] += value
    return named(values)


def named(values):
    """The same with call paths as text, without zeros."""
    table = {}
    for metric, places in values.items():
        rows = defaultdict(int)
        for (location, path), value in places.items():
            rows[location, "/".join(region.name for region in path)] += value
        table[metric] = {place: value for place, value in rows.items() if value}
    return table


# --- 1.1 time and visits --------------------------------------------------------------------


def add_time(program, values):
    """Add exclusive times and visits; fork and join parts lie at the parallel region."""
    for location in program.locations:
        for _, path, time in program.times[location]:
            values["time"][location, path] += time
        for visit in program.visits[location]:
            values["visits"][location, visit.path] += 1


def busy_time(values):
    """Time without all waiting and overhead of OpenMP, before the remapper (4, imbalance).

    Oracle: unlike in u, Early Scan is left out here, and all of a worker's time counts.
    """
    busy = defaultdict(int, values["time"])
    for metric in (*WAITS, "omp_management"):
        for place, value in values[metric].items():
            busy[place] -= value
    return {place: t for place, t in busy.items() if category(place[1][-1]) != "omp_ordered"}


def add_complements(values):
    """Add direct and terminal waits: what is not indirect, and what is not propagated (1.5)."""
    for wait, short in (("latesender", "ls"), ("latereceiver", "lr")):
        for place, value in values[f"mpi_{wait}"].items():
            indirect = values[f"mpi_wait_indirect_{wait}"].get(place, 0)
            propagating = values[f"mpi_wait_propagating_{short}"].get(place, 0)
            values[f"mpi_wait_direct_{wait}"][place] = value - indirect
            values[f"mpi_wait_terminal_{short}"][place] = value - propagating


# --- 1.6 remapper ---------------------------------------------------------------------------


def add_idle_threads(program, values):
    """Let workers idle while only the first thread works: all locations last equally long."""
    measured = dict(values["time"])
    for master in program.masters:
        workers = range(master + 1, master + program.threads)
        of_regions = defaultdict(lambda: defaultdict(int))
        for (location, path), time in measured.items():
            if location != master and location not in workers:
                continue
            depth = next((k for k, r in enumerate(path) if r.role == el.PARALLEL), None)
            if depth is not None:
                of_regions[path[: depth + 1]][location] += time
            elif location == master:
                for worker in workers:
                    add_idle(values, worker, path, time)
        for path, total in of_regions.items():
            for worker in workers:
                limited = total[master] - total[worker]
                if limited > 0:
                    values["omp_limited_parallelism"][worker, path] += limited
                    add_idle(values, worker, path, limited)


def add_idle(values, location, path, time):
    """Add idle time, which is time as well."""
    values["omp_idle_threads"][location, path] += time
    values["time"][location, path] += time


def add_load_imbalance(program, values):
    """Add the heuristic of the remapper: computation above or below the average of a path."""
    for path in {path for _, path in values["comp"]}:
        parallel = any(region.role == el.PARALLEL for region in path)
        places = [
            (where, path) for where in (program.locations if parallel else program.masters)
        ]
        comp = [values["comp"].get(place, 0) for place in places]
        visited = [bool(values["visits"].get(place, 0)) for place in places]
        average = Fraction(sum(comp), len(comp))
        for place, time, was_here in zip(places, comp, visited, strict=True):
            difference = time - average
            side = "above" if difference > 0 else "below"
            values["imbalance"][place] += abs(difference)
            values[f"imbalance_{side}"][place] += abs(difference)
            if sum(visited) == 1:
                if was_here:
                    values["imbalance_above_single"][place] += average * (len(comp) - 1)
                else:
                    values["imbalance_below_singularity"][place] += average
            if not was_here:
                values["imbalance_below_bypass"][place] += average


# --- 1.7 categories -------------------------------------------------------------------------


def category(region):
    """The lowest category of the time tree that the name and role of a region give, or None."""
    if region.paradigm == el.MPI:
        return mpi_category(region.role, region.name.removeprefix("MPI_"))
    if region.paradigm == el.OPENMP:
        named = "omp_lock_api" if region.name in LOCK_CALLS else None
        return named or OPENMP_BY_ROLE.get(region.role)
    return "overhead" if region.name in {"TRACE BUFFER FLUSH", "TRACING"} else None


def mpi_category(role, name):
    """The category of an MPI function; many, such as Wtime, are in `mpi` itself only."""
    for metric, names in MANAGEMENT.items():
        if name in names:
            return metric
    if name.startswith(COMMUNICATOR_CALLS) or name.endswith(("_port", "_name")):
        return "mpi_mgmt_comm"
    if name.startswith(("Wait", "Test")):
        return "mpi_point2point"
    return BY_ROLE.get(role, "mpi_io" if name.startswith("File_") else "mpi")


# The parent of each metric of the tree below `execution`.
PARENTS = {
    "mpi_init_exit": "mpi_management", "mpi_mgmt_comm": "mpi_management",
    "mpi_mgmt_file": "mpi_management", "mpi_mgmt_win": "mpi_management",
    "mpi_management": "mpi", "mpi_sync_collective": "mpi_synchronization",
    "mpi_synchronization": "mpi", "mpi_point2point": "mpi_communication",
    "mpi_collective": "mpi_communication", "mpi_rma_communication": "mpi_communication",
    "mpi_communication": "mpi", "mpi_io": "mpi", "omp_ebarrier": "omp_barrier",
    "omp_ibarrier": "omp_barrier", "omp_barrier": "omp_synchronization",
    "omp_critical": "omp_synchronization", "omp_lock_api": "omp_synchronization",
    "omp_ordered": "omp_synchronization", "omp_taskwait": "omp_synchronization",
    "omp_synchronization": "omp_time", "omp_management": "omp_time", "omp_flush": "omp_time",
}  # fmt: skip


def add_time_tree(values):
    """Add execution, computation, MPI and OpenMP time: all without idle threads."""
    for place, time in list(values["time"].items()):
        busy = time - values["omp_idle_threads"].get(place, 0)
        metric = category(place[1][-1])
        if metric == "overhead":
            values["overhead"][place] += busy
            continue
        values["execution"][place] += busy
        elsewhere = values["omp_management"].get(place, 0)
        values["omp_time"][place] += elsewhere
        while metric is not None:
            values[metric][place] += busy
            elsewhere = busy
            metric = PARENTS.get(metric)
        values["comp"][place] += busy - elsewhere


# --- 1.8 counts -----------------------------------------------------------------------------


def add_counts(replay):
    """Add counts of transfers and synchronisations (no payload) and sums of bytes."""
    for m in el.messages(replay.program):
        kind = "comms" if m.sent_bytes else "syncs"
        replay.add(f"{kind}_send", m.S, 1)
        replay.add(f"{kind}_recv", m.R, 1)
        replay.add("bytes_sent", m.S, m.sent_bytes)
        replay.add("bytes_rcvd", m.R, m.sent_bytes)
    for collective in el.collectives(replay.program):
        for m in collective.members:
            kinds = {
                (True, True): "comms_cxch",
                (True, False): "comms_csrc",
                (False, True): "comms_cdst",
                (False, False): "syncs_coll",
            }
            replay.add(kinds[m.sent > 0, m.received > 0], m.visit, 1)
            replay.add("bytes_cout", m.visit, m.sent)
            replay.add("bytes_cin", m.visit, m.received)
