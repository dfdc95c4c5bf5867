"""What holds of the waits of any trace, however it was cut, damaged or skewed."""

from __future__ import annotations

import numpy as np

from burstline.waits import METRICS

COSTS = (
    "latesender", "latereceiver", "barrier", "n21", "12n", "n2n", "ompbarrier",
)  # fmt: skip
WAITS = (
    "mpi_latesender", "mpi_latereceiver", "mpi_barrier_wait", "mpi_earlyreduce",
    "mpi_latebroadcast", "mpi_wait_nxn", "omp_ebarrier_wait", "omp_ibarrier_wait",
)  # fmt: skip
ROUNDED = ("delay", "performance_impact", "critical", "waitstates", "mpi_wait_")
COUNTED_ELSEWHERE = ("comms", "syncs")  # a wait in MPI_Wait, of what another call sent


def broken_laws(trace, waits):
    """The laws that the waits of a trace break, in words."""
    profile = waits.profile
    values = {name: profile.exclusive(name) for name in profile.stored}
    nothing = np.zeros((profile.call_paths.num_rows, profile.locations.num_rows), np.int64)

    def of(name):
        return values.get(name, nothing)

    broken = [f"{name} is negative" for name, each in values.items() if (each < 0).any()]
    below = {}
    for metric in METRICS:
        if metric.name in values and not metric.parent.startswith(COUNTED_ELSEWHERE):
            below.setdefault(metric.parent, []).append(metric.name)
    for parent, children in below.items():
        rounding = len(children) if parent.startswith(ROUNDED) else 0
        if parent and (of(parent) - sum(map(of, children)) < -rounding).any():
            broken.append(f"{parent} is less than {' + '.join(children)}")
    if (of("execution") + of("omp_idle_threads") + of("overhead") != of("time")).any():
        broken.append("time is not execution, idle threads and overhead")
    costs = sum(of(f"delay_{name}") + of(f"delay_{name}_longterm") for name in COSTS)
    if costs.sum() > sum(map(of, WAITS)).sum() + np.count_nonzero(costs) + 8:
        broken.append("delays cost more than is waited")
    return [*broken, *_uneven_processes(trace, of("time").sum(axis=0))]


def _uneven_processes(trace, time_ns):
    """Processes with teams whose threads have not all as much time as the first."""
    process, thread, kind = trace.arrays("locations", "process", "thread", "kind")
    for each in np.unique(trace.arrays("teams", "process")[0]):
        threads = np.flatnonzero((process == each) & (kind == 0))
        [first] = threads[thread[threads] == 0]
        if (abs(time_ns[threads] - time_ns[first]) > 1).any():
            yield f"threads of process {each} have {time_ns[threads].tolist()} ns"
