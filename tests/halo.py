"""A program whose ranks exchange after each stretch of work: a long one makes others wait."""

from __future__ import annotations

from burstline.testing import trace_of

HALO = """
    ranks 2
    path 0 main file main.c line 9
    path 1 main file main.c line 16
    path 2 exchange_halo under 1 file halo.c line 7
    path 3 exchange_halo under 1 file halo.c line 11
"""


def halo(works, *, text=HALO):
    """Ranks that exchange after each stretch of work; works[rank] is how long it takes."""
    lines, steps = [text], 4
    for rank, work in enumerate(works):
        step = max(works) + 10
        lines.append(f"{rank} | 0 enter MPI_Barrier path 0 | 0 begin | 10 end | 10 leave")
        for k in range(steps):
            begin, end = 10 + k * step + work, 10 + (k + 1) * step
            lines.append(
                f"{rank} | {begin} enter MPI_Isend path 2 | {begin} send to {1 - rank} bytes 8 "
                f"| {begin + 1} leave | {begin + 2} enter MPI_Recv path 3 "
                f"| {end} receive from {1 - rank} bytes 8 | {end} leave"
            )
    return trace_of("\n".join(lines))
