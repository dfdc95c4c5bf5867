"""A line in a buffer of Python alone, then barriers for ever."""

import mpi4py

mpi4py.rc.thread_level = "serialized"
from mpi4py import MPI  # noqa: E402 -- which initializes

print("kept")
while True:
    MPI.COMM_WORLD.Barrier()
