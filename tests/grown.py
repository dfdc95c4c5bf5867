"""Traces that are large in one dimension, and small in all others."""

from __future__ import annotations


def _ends(*told, ranks=2):
    """Tell of ranks that do the same between MPI_Init and MPI_Finalize; {r} is the rank."""
    lines = []
    for rank in range(ranks):
        lines += [f"{rank} | 0 enter MPI_Init | 5 leave"]
        lines += [line.format(r=rank, other=(rank + 1) % ranks) for line in told]
        lines += ["1000000000 enter MPI_Finalize | 1000000010 leave"]
    return lines


def _barrier(at, comm=0, path=""):
    where = f" comm {comm}" * bool(comm)
    return f"{at} enter MPI_Barrier{path} | {at} begin | {at + 5} end{where} | {at + 5} leave"


def ranks(n):
    around = "10 enter MPI_Send | 10 send to {other} tag 1 bytes 8 | 20 leave"
    before = [
        f"30 enter MPI_Recv | 40 receive from {(r - 1) % n} tag 1 bytes 8 | 40 leave"
        for r in range(n)
    ]
    lines = []
    for rank in range(n):
        lines += [f"{rank} | 0 enter MPI_Init | 5 leave", around.format(other=(rank + 1) % n)]
        lines += [
            before[rank],
            _barrier(100 + rank),
            "1000000000 enter MPI_Finalize | 1000000010 leave",
        ]
    return [f"ranks {n}", *lines]


def calls(n):
    """Turns of one loop."""
    turns = []
    for at in range(10, 10 + 100 * n, 100):
        turns += [
            f"{at} enter MPI_Sendrecv path 0 | {at} send to {{other}} tag 1 bytes 8",
            f"{at + 20} receive from {{other}} tag 1 bytes 8 | {at + 20} leave",
            _barrier(at + 60, path=" path 1"),
        ]
    return [
        "ranks 2",
        "path 0 main file a.c line 9",
        "path 1 main file a.c line 12",
        *_ends(*turns),
    ]


def call_path_depth(n):
    paths = ["path 0 main file a.c line 1"]
    paths += [
        f"path {k} f{k % 7} under {k - 1} file a.c line {k % 13 + 1}" for k in range(1, n)
    ]
    return [
        "ranks 2",
        *paths,
        *_ends(_barrier(10, path=f" path {n - 1}"), _barrier(20, path=" path 0")),
    ]


def call_paths(n):
    paths = ["path 0 main file a.c line 1"]
    paths += [f"path {k} f{k} under 0 file a.c line {k}" for k in range(1, n)]
    return [
        "ranks 2",
        *paths,
        *_ends(*(_barrier(10 + 10 * k, path=f" path {k}") for k in range(n))),
    ]


def unnamed_sites(n):
    """Calls without a path, each on a communicator of its own."""
    groups = [f"communicator {k} members 0 1 kind group" for k in range(1, n)]
    turns = (_barrier(10 + 10 * k, comm=k) for k in range(1, n))
    return ["ranks 2", *groups, *_ends(*turns)]


DIMENSIONS = {
    name: made
    for name, made in list(globals().items())
    if callable(made) and not name.startswith("_")
}
"""Of each dimension, the lines of a trace that has so many of it, in the text form."""
