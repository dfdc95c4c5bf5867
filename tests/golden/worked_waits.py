"""The worked examples of delay costs and the critical path, each with its printed numbers.

All ranks are in `main` from the start, and in MPI_Init from 0 to 1. A row of a location is
region, enter, leave and what happens inside. One unit of the page is a million stamps.
"""

from __future__ import annotations

from oracles import event_lists as el

UNIT = 1_000_000
ROLES = {
    "main": (1, 2),
    "MPI_Init": (1, el.MPI),
    "MPI_Finalize": (1, el.MPI),
    "MPI_Send": (el.POINT2POINT, el.MPI),
    "MPI_Recv": (el.POINT2POINT, el.MPI),
    "MPI_Allreduce": (el.ALL2ALL, el.MPI),
    "parallel": (el.PARALLEL, el.OPENMP),
    "for": (3, el.OPENMP),
    "implicit barrier": (el.IMPLICIT_BARRIER, el.OPENMP),
}


def program(rows_of_ranks, end):
    """An event list of ranks without threads that are in `main` until an end each."""
    events = Events(len(rows_of_ranks), 1)
    for location, (rows, last) in enumerate(zip(rows_of_ranks, end, strict=True)):
        events.add("E", location, 0, "main")
        for region, enter, leave, *inside in [("MPI_Init", 0, 1), *rows]:
            events.add("E", location, enter, region)
            for letters, *values in inside:
                events.add(letters, location, enter if letters in "SB" else leave, *values)
            events.add("L", location, leave, region)
        events.add("L", location, last, "main")
    return events.case()


class Events:
    """A list of events under construction."""

    def __init__(self, ranks, threads):
        self.ranks, self.threads, self.rows, self.regions = ranks, threads, [], []

    def add(self, letters, location, time, *values):
        """Append an event; regions are named."""
        if letters in ("E", "L"):
            name = values[0]
            if name not in self.regions:
                self.regions.append(name)
            values = (self.regions.index(name),)
        self.rows.append([letters, location, round(time * UNIT), *values])

    def case(self):
        """The list as the reference data has it."""
        regions = [
            {"id": k, "name": name, "otf2_role": role, "otf2_paradigm": paradigm}
            for k, name in enumerate(self.regions)
            for role, paradigm in [ROLES.get(name, (1, 2))]
        ]
        return {
            "ranks": self.ranks, "threads": self.threads, "regions": regions,
            "events": self.rows,
        }  # fmt: skip


def send(start, end, peer):
    """A blocking send."""
    return "MPI_Send", start, end, ("S", peer, 0, 8)


def receive(start, end, peer):
    """A blocking receive."""
    return "MPI_Recv", start, end, ("V", peer, 0, 8)


def allreduce(start, end):
    """A reduction over all ranks."""
    return "MPI_Allreduce", start, end, ("B",), ("C", 11, -1, 8, 8)


A1 = program(
    [[("foo", 1, 9), send(10, 10.5, 1)], [("foo", 1, 5), receive(6, 11, 0)]], end=(10.5, 11)
)
A2 = program(
    [
        [("foo", 1, 9), ("bar", 9, 11), send(11, 11.5, 1)],
        [("foo", 1, 5), ("baz", 5, 8), receive(8, 12, 0)],
    ],
    end=(11.5, 12),
)
A3 = program(
    [
        [("foo", 1, 9), send(9, 9.5, 1)],
        [("foo", 1, 4), receive(4, 10, 0), ("bar", 10, 12), send(12, 12.5, 2)],
        [("foo", 1, 4), ("bar", 4, 5), receive(5, 13, 1)],
    ],
    end=(9.5, 12.5, 13),
)
B = program(
    [
        [("A", 1, 4), ("B", 4, 11), allreduce(11, 12)],
        [("A", 1, 4), ("B", 4, 8), allreduce(8, 12)],
        [("A", 1, 3), ("B", 3, 7), allreduce(7, 12.5)],
        [("A", 1, 6), ("B", 6, 9), allreduce(9, 12)],
    ],
    end=(12, 12, 12.5, 12),
)
_C = [
    [("X", 1, 3), receive(3, 6, 1), ("Y", 6, 10), allreduce(10, 11)],
    [("X", 1, 5), send(5, 5.5, 0), ("Y", 5.5, 7), allreduce(7, 11)],
    [("X", 1, 3), ("Y", 3, 4), allreduce(4, 11)],
]
C = program(_C, end=(11, 11, 11))
C_WITH_END = program(
    [
        [*rows, ("Z", 11, end), ("MPI_Finalize", end, 15)]
        for rows, end in zip(_C, (12, 11.5, 14), strict=True)
    ],
    end=(15.5, 15.5, 15.5),
)


def _team():
    events = Events(1, 2)
    events.add("E", 0, 0, "main")
    events.add("F", 0, 10, 2)
    for location, enter, end in ((0, 10, 20), (1, 11, 15)):
        events.add("TB", location, enter, 0)
        events.add("E", location, enter, "parallel")
        events.add("E", location, enter, "for")
        events.add("L", location, end, "for")
        events.add("E", location, end, "implicit barrier")
        events.add("L", location, 20, "implicit barrier")
        events.add("L", location, 20, "parallel")
        events.add("TE", location, 20, 0)
    events.add("J", 0, 20)
    events.add("L", 0, 20, "main")
    return events.case()


D = _team()

# What the page prints: {metric: {(location, last region of the call path): value}}. The
# metrics that are named are complete; an empty one has no severity.
EXAMPLES = {
    "A1": (A1, {
        "mpi_latesender": {(1, "MPI_Recv"): 4},
        "delay_latesender": {(0, "foo"): 4},
        "delay_latesender_longterm": {},
    }),
    "A2": (A2, {
        "mpi_latesender": {(1, "MPI_Recv"): 3},
        "delay_latesender": {(0, "foo"): 2, (0, "bar"): 1},
    }),
    "A3": (A3, {
        "mpi_latesender": {(1, "MPI_Recv"): 5, (2, "MPI_Recv"): 7},
        "delay_latesender": {(1, "MPI_Recv"): 1, (1, "bar"): 1, (0, "foo"): 5},
        "delay_latesender_longterm": {(0, "foo"): 5},
        "delay": {(1, "MPI_Recv"): 1, (1, "bar"): 1, (0, "foo"): 10},
        "mpi_wait_indirect_latesender": {(2, "MPI_Recv"): 5},
        "mpi_wait_propagating_ls": {(1, "MPI_Recv"): 5},
    }),
    "B": (B, {
        "mpi_wait_nxn": {
            (1, "MPI_Allreduce"): 3, (2, "MPI_Allreduce"): 4, (3, "MPI_Allreduce"): 2,
        },
        "mpi_nxn_completion": {(2, "MPI_Allreduce"): 0.5},
        "delay_n2n": {(0, "A"): 1, (0, "B"): 8},
    }),
    "C": (C, {
        "mpi_latesender": {(0, "MPI_Recv"): 2},
        "mpi_wait_nxn": {(1, "MPI_Allreduce"): 3, (2, "MPI_Allreduce"): 6},
        "delay_n2n": {(0, "MPI_Recv"): 1.5, (0, "Y"): 5.5},
        "delay_latesender": {(1, "X"): 2},
        "delay_n2n_longterm": {(1, "X"): 2},
        "delay": {(0, "MPI_Recv"): 1.5, (0, "Y"): 5.5, (1, "X"): 4},
    }),
    "D": (D, {
        "omp_ibarrier_wait": {(1, "implicit barrier"): 5},
        "omp_fork": {(1, "parallel"): 1},
        "delay_ompbarrier": {(0, "for"): 5},
    }),
    "critical path of C": (C_WITH_END, {
        "critical_path": {
            (2, "Z"): 3, (2, "MPI_Allreduce"): 1, (0, "Y"): 4, (0, "MPI_Recv"): 1, (1, "X"): 4,
            (1, "MPI_Init"): 1,
        },
        "critical_imbalance_impact": {
            (0, "MPI_Recv"): 17 / 12, (0, "Y"): 47 / 12, (1, "X"): 2.75, (2, "Z"): 35 / 12,
        },
    }),
}  # fmt: skip
TOTALS_OF_C = {
    "critical_path": 14,
    "critical_path_activities": 26,
    "non_critical_path_activities": 5,
    "critical_imbalance_impact": 11,
}
