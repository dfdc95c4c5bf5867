"""A line in a buffer of Python alone, then barriers for ever."""

from __future__ import annotations


def main() -> None:
    """Print, and never end."""
    import mpi4py

    mpi4py.rc.thread_level = "serialized"
    from mpi4py import MPI

    print("kept")
    while True:
        MPI.COMM_WORLD.Barrier()


if __name__ == "__main__":
    main()
