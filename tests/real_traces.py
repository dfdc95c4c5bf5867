"""Which real traces are enough where each costs seconds, and what each of them adds."""

from __future__ import annotations

from pathlib import Path

TELLING = {
    "idrun_run1": "polls (MPI_Test) and MPI_Waitany, on ranks of which each does other work",
    "lulesh_8r_s4_i10_pie_aslr": "call paths whose ids differ by rank for the same line",
    "npb_ft_S_4r": "MPI_Comm_split, and collectives with a root",
    "npb_is_S_4r": "MPI_Alltoallv: sizes that differ by rank",
    "tealeaf_cg64_4r": "MPI_Waitall, and functions that the compiler inlined",
    "toy_t1_nested2": "MPI_Sendrecv: two messages of one call",
    "toy_waits_4": "MPI_Ssend, and waits that were planted",
}
"""Whole programs; the others have more rows, but no record of another kind."""


def telling(folder: Path) -> list[Path]:
    """Whole programs, each for what it adds, and all fixtures.

    The fixtures add OpenMP as old and as new versions write it, counters of several sets,
    two applications, one-sided calls, persistent requests, and lines out of order.
    """
    programs = [folder / f"{name}.prv.gz" for name in TELLING]
    return [*programs, *sorted((folder / "fixtures").glob("*.prv"))]
