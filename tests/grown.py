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
        lines += [before[rank], _barrier(100 + rank)]
        lines += ["1000000000 enter MPI_Finalize | 1000000010 leave"]
    return [f"ranks {n}", *lines]


def threads(n):
    lines = [f"ranks 1 threads {n}", *_ends(_barrier(10), ranks=1)]
    return lines + [
        f"0.{thread} | 10 enter work | {20 + thread} leave" for thread in range(1, n)
    ]


def calls(n):
    """Turns of one loop."""
    turns = []
    for at in range(10, 10 + 100 * n, 100):
        turns += [
            f"{at} enter MPI_Sendrecv path 0 | {at} send to {{other}} tag 1 bytes 8",
            f"{at + 20} receive from {{other}} tag 1 bytes 8 | {at + 20} leave",
            _barrier(at + 60, path=" path 1"),
        ]
    paths = (f"path {number} main file a.c line {line}" for number, line in ((0, 9), (1, 12)))
    return ["ranks 2", *paths, *_ends(*turns)]


def call_path_depth(n):
    paths = ["path 0 main file a.c line 1"]
    paths += [
        f"path {k} f{k % 7} under {k - 1} file a.c line {k % 13 + 1}" for k in range(1, n)
    ]
    ends = (_barrier(at, path=f" path {path}") for at, path in ((10, n - 1), (20, 0)))
    return ["ranks 2", *paths, *_ends(*ends)]


def call_paths(n):
    paths = ["path 0 main file a.c line 1"]
    paths += [f"path {k} f{k} under 0 file a.c line {k}" for k in range(1, n)]
    return ["ranks 2", *paths, *_ends(*_barriers(range(n)))]


def unnamed_sites(n):
    """Calls without a path, each on a communicator of its own."""
    groups = [f"communicator {k} members 0 1 kind group" for k in range(1, n)]
    turns = (_barrier(10 + 10 * k, comm=k) for k in range(1, n))
    return ["ranks 2", *groups, *_ends(*turns)]


def region_depth(n):
    into = [f"{10 + k} enter f{k % 7}" for k in range(n)]
    out = [f"{9999999 + k} leave" for k in range(n)]
    return ["ranks 2", *_ends(*into, _barrier(9999900), *out)]


def names(n):
    """Regions, types and values of events, parameters, gaps and communicators."""
    regions = (f"{10 + 10 * k} enter f{k} | {15 + 10 * k} leave" for k in range(n))
    types = (f"{10**6 + k} tell parameter name P{k} value 1" for k in range(n))
    values = (f"{2 * 10**6 + k} tell parameter name P value {k + 1}" for k in range(n))
    late = 3 * 10**6
    gaps = (f"{late + 10 * k}..{late + 5 + 10 * k} gap flush" for k in range(n))
    return [
        "ranks 2",
        *(f"communicator {k} members {k % 2} kind group" for k in range(1, n)),
        *_ends(*regions, *types, *values, *gaps, _barrier(10**7)),
    ]


def counters(n):
    declared = [f"counter C{k} type {42000100 + k}" for k in range(n)]
    read = " ".join(f"C{k}={k}" for k in range(n))
    begin, end = f"10 enter MPI_Barrier {read} | 10 begin", f"20 end | 20 leave {read}"
    return ["ranks 2", *declared, *_ends(f"{begin} | {end}")]


def loops(n):
    """Loops one after another, each of three turns of two calls."""
    paths = [f"path {k} main file a.c line {k + 1}" for k in range(2 * n)]
    order = [k + j for k in range(0, 2 * n, 2) for _ in range(3) for j in range(2)]
    return ["ranks 2", *paths, *_ends(*_barriers(order))]


def loop_depth(n):
    """Loops inside loops, each of which turns once more without those in it."""
    paths = [f"path {k} main file a.c line {k + 1}" for k in range(2 * n)]
    order = [*range(n)]
    for k in range(n - 1, -1, -1):
        order += [2 * n - 1 - k, k, 2 * n - 1 - k]
    return ["ranks 2", *paths, *_ends(*_barriers(order))]


def _barriers(order):
    return (_barrier(10 + 10 * at, path=f" path {k}") for at, k in enumerate(order))


def _send(at, tag, request=""):
    told = f"send to {{other}} tag {tag} bytes 8{request}"
    return f"{at} enter MPI_{'Is' if request else 'S'}end | {at} {told} | {at + 1} leave"


def open_requests(n):
    """Receives, sends and collectives that are begun, and ended by one call."""
    late, end = 10**7, 2 * 10**7
    posts = [
        f"{10 + k} enter MPI_Irecv | {10 + k} post request {k} | {11 + k} leave"
        for k in range(n)
    ]
    sends = [_send(late + k, k % 3, f" request {n + k}") for k in range(n)]
    begins = [
        f"{late + n + k} enter MPI_Iallreduce | {late + n + k} begin request {2 * n + k}"
        f" | {late + n + 1 + k} leave"
        for k in range(n)
    ]
    sent = [f"{end + 1} sent request {n + k}" for k in range(n)]
    got = [
        f"{end + 1} receive from {{other}} tag {k % 3} bytes 8 request {k}" for k in range(n)
    ]
    ended = [f"{end + 1} end request {2 * n + k} sent 8 received 8" for k in range(n)]
    wait = f"{end} enter MPI_Waitall"
    return [
        "ranks 2",
        *_ends(*posts, *sends, *begins, wait, *sent, *got, *ended, f"{end + 9} leave"),
    ]


def tags(n):
    """Messages that are received in the opposite order of their sends."""
    late = 10**7
    receives = [
        f"{late + k} enter MPI_Recv | {late + k} receive from {{other}} tag {n - 1 - k} bytes 8"
        f" | {late + k} leave"
        for k in range(n)
    ]
    return ["ranks 2", *_ends(*(_send(10 + k, k) for k in range(n)), *receives)]


def incomplete(n):
    """Sends that nobody receives, and collectives that one rank makes half of."""
    lines = ["ranks 3"]
    for rank in range(3):
        lines += [f"{rank} | 0 enter MPI_Init | 5 leave"]
        lines += [_send(10 + k, k).format(other=(rank + 1) % 3) for k in range(n)]
        lines += [_barrier(10**6 + 10 * k) for k in range(n if rank else n // 2)]
        lines += ["1000000000 enter MPI_Finalize | 1000000010 leave"]
    return lines


def nested_teams(n):
    region = ["region parallel paradigm openmp role parallel type 60002 value 1"]
    into = [f"{10 + k} fork 1 | {10 + k} enter parallel" for k in range(n)]
    out = [f"{99999 + k} leave | {99999 + k} join" for k in range(n)]
    return ["ranks 1", *region, *_ends(*into, *out, ranks=1)]


def teams(n):
    """Teams one after another, locks of each thread, and turns that both take at one lock."""
    declared = [
        f"region {role} paradigm openmp role {role} type {kind} value {value}"
        for role, kind, value in (
            ("parallel", 60002, 1),
            ("team", 60002, 2),
            ("implicit_barrier", 60004, 27),
            ("critical", 60004, 30),
        )
    ]
    outer, inner = [], []
    for k in range(n):
        at = 10 + 20 * k
        end = f"{at + 8} leave | {at + 9} team end {k + 1}"
        begin = f"{at + 1} team begin {k + 1}"
        outer += [f"{at} fork 2 | {at} enter parallel | {begin}"]
        outer += [f"{at + 2} enter implicit_barrier | {end} | {at + 9} leave | {at + 9} join"]
        inner += [f"{begin} | {at + 5} enter implicit_barrier | {end}"]
    late, later = 10**6, 2 * 10**6
    alone = [
        f"{late + 4 * k} acquire {k + 2} | {late + 2 + 4 * k} release {k + 2}" for k in range(n)
    ]

    def turns(begin):
        return [
            f"{at} enter critical | {at + begin} acquire 1 | {at + begin + 1} release 1"
            f" | {at + begin + 2} leave"
            for at in range(later, later + 8 * n, 8)
        ]

    first, second = [*outer, *alone, *turns(1)], [*inner, *alone, *turns(3)]
    return ["ranks 1 threads 2", *declared, *_ends(*first, ranks=1), "0.1", *second]


DIMENSIONS = {
    name: made
    for name, made in list(globals().items())
    if callable(made) and not name.startswith("_")
}
"""Of each dimension, the lines of a trace that has so many of it, in the text form."""

SMALLER = {"threads": 50, "counters": 50, "loops": 50, "loop_depth": 50}
"""What takes long in larger sizes, or does not fit: OTF2 holds 255 counters."""
